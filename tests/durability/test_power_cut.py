"""A power cut: a file system that stops at once and loses what was not flushed. Nothing acknowledged is lost.

The writer runs through the cut, so that any moment of a commit is hit. What it says afterwards does not count: the
machine would be off. (An fdatasync in flight at the cut may return as if it were well, also for a plain file.)
"""

import fcntl
import os
import random
import shutil
import struct
import subprocess
import time

import pytest

from support import child

from .conftest import Killer, run

pytestmark = pytest.mark.slow

_EXT4_IOC_SHUTDOWN = 0x8004587D
_NO_LOG_FLUSH = 2


class Disk:
    """An ext4 image on a loop device, which can be cut off."""

    def __init__(self, folder):
        self.image = folder / "disk.img"
        self.folder = folder / "disk"
        self.folder.mkdir()
        with self.image.open("wb") as image:
            image.truncate(96 << 20)
        run("mkfs.ext4", "-q", "-F", self.image)

    def mount(self):
        run("mount", "-o", "loop", self.image, self.folder)

    def cut(self):
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _EXT4_IOC_SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def unmount(self):
        for _ in range(50):
            if subprocess.run(["umount", self.folder], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        run("umount", "-l", self.folder)


@pytest.fixture
def disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("a power cut needs root: an ext4 image is mounted over a loop device")
    if not all(shutil.which(tool) for tool in ("mount", "umount", "mkfs.ext4")):
        pytest.skip("a power cut needs mount and mkfs.ext4")
    made = Disk(tmp_path)
    try:
        made.mount()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"an image cannot be mounted here: {error}")
    try:
        yield made
    finally:
        if os.path.ismount(made.folder):
            made.unmount()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("extras", ["recall", "erase"])
def test_nothing_acknowledged_is_lost_when_the_power_is_cut(disk, extras):
    killer = Killer(disk.folder / "store.db", extras)
    moments = random.Random(7)
    for cut in range(10):
        writer = child("writer", killer.path, f"{extras}{cut}", extras, 0)
        try:
            assert writer.stdout.readline()
            time.sleep(moments.uniform(0.3, 1.2))
            moment = time.monotonic()
            disk.cut()
        except OSError as error:
            pytest.skip(f"this file system cannot be cut off: {error}")
        finally:
            writer.kill()
            out, _ = writer.communicate(timeout=30)
        fresh = killer.account(out, until=moment)
        disk.unmount()
        disk.mount()
        killer.check(fresh)
    assert len(killer.acknowledged) > 10
    print(f"\n10 power cuts, {len(killer.acknowledged)} acknowledged, 0 lost, {len(killer.erased)} erased")
