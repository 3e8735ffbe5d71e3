"""No space left: a clear error, reads go on, nothing acknowledged is lost, and writes work again afterwards."""

import os
import shutil
import subprocess

import pytest

from support import answer, child, end, open_store, tell

from .conftest import run


def _fill(path, limit, free):
    filler = child("filler", path, limit)
    try:
        full = answer(filler)
        assert full["error"] == "LedgerFull", full
        assert "space" in full["hint"]
        assert len(full["acknowledged"]) > 20
        reads = answer(filler)
        assert reads["listed"] == len(full["acknowledged"])
        assert reads["got"]
        assert reads["first"]
        assert reads["newest"], "what was acknowledged last must be recalled, with or without space"
        assert answer(filler)["error"] == "LedgerFull"
        free()
        tell(filler, "there is space again")
        after = answer(filler)
        assert after["found"]
        assert after["verified"]
        filler.communicate(timeout=30)
        assert filler.returncode == 0
    finally:
        end(filler)
    with open_store(path, embedder="hashed:words") as memory:
        assert memory.admin.verify().ok
        there = {each.id for each in memory.list(limit=1000, states=())}
        assert there == {*full["acknowledged"], *after["kept"]}
    print(f"\nfull after {len(full['acknowledged'])} memories, 0 lost; while full: {reads['degraded']}")


def test_a_file_that_may_not_grow(path):
    _fill(path, 1_500_000, lambda: None)


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small tmpfs needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    try:
        run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a tmpfs cannot be mounted here: {error}")
    try:
        yield folder
    finally:
        run("umount", "-l", folder)


def test_a_disk_that_is_full(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 3_000_000)
    _fill(small_disk / "store.db", 0, ballast.unlink)
