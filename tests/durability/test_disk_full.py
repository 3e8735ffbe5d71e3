"""No space left: a clear error, reads go on, nothing acknowledged is lost, and writes work again afterwards."""

import os
import shutil
import subprocess
from contextlib import suppress

import pytest

from memoranda.domain.errors import LedgerFull, NotFound
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


def _mounted(tmp_path, size):
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small tmpfs needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    try:
        run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a tmpfs cannot be mounted here: {error}")
    return folder


@pytest.fixture
def small_disk(tmp_path):
    folder = _mounted(tmp_path, "6m")
    try:
        yield folder
    finally:
        run("umount", "-l", folder)


def test_a_disk_that_is_full(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 3_000_000)
    _fill(small_disk / "store.db", 0, ballast.unlink)


def test_letting_go_works_on_a_full_disk(tmp_path):
    folder = _mounted(tmp_path, "32m")
    try:
        path = folder / "store.db"
        with open_store(path, embedder="none") as memory:
            kept = [memory.remember(f"Thing number {number} is in the cellar.") for number in range(20)]
            assert (folder / "store.db-reserve").stat().st_size == 1 << 20
            memory.recall("thing in the cellar")
            with open(folder / "ballast", "wb", buffering=0) as ballast, suppress(OSError):
                while ballast.write(bytes(4096)):
                    pass
            with pytest.raises(LedgerFull):
                memory.remember_many(f"One more thing, {number}, " + "x" * 4000 for number in range(1000))
            memory.forget(kept[0])
            assert memory.get(kept[0]).state == "forgotten"
            gone = memory.erase(kept[1])
            assert gone.receipt.state in ("purged", "deleted")
            with pytest.raises(NotFound):
                memory.get(kept[1])
    finally:
        run("umount", "-l", folder)
