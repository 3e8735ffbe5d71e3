"""Whatever the umask, nobody else reads what belongs to a store."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.service.backing_up import back_up, opened_store, rewrite
from memoranda.service.keys import key_from_file
from memoranda.service.resealing import reseal
from memoranda.service.restoring import restore
from support import open_store


@pytest.fixture
def open_to_all():
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder):
    return {
        str(each.relative_to(folder)): oct(stat.S_IMODE(each.lstat().st_mode))
        for each in folder.rglob("*")
        if stat.S_IMODE(each.lstat().st_mode) != (0o700 if each.is_dir() else 0o600)
    }


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.usefixtures("open_to_all")
def test_folders_are_0700_and_files_0600(tmp_path, filled, clock, chosen, key_file, encrypted):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Here\n\nThe bilby digs.\n")
    given = {"key_file": key_file} if encrypted else {}
    home = tmp_path / "made" / "for" / "this"
    path = home / "store.db"
    filled(path, count=3, notes=notes, embedder="hashed:words", **given)
    settings = chosen(store=str(path), **given)
    with open_store(path, clock=clock, embedder="hashed:words", **given) as memory:
        memory.remember("The log is not empty.")
        memory.recall("log")
        memory.pack("log")
        memory.documents.search("bilby")
        memory.export(home / "out.jsonl")
        memory.mirror(home / "mirror")
        assert modes(tmp_path / "made") == {}
        assert list(home.glob("*-wal"))
    with opened_store(settings) as engine:
        made = back_up(engine)
        back_up(engine, passphrase="correct horse battery staple")
    rewrite(made.path, settings=settings, clock=clock, erase=lambda engine: engine.ledger.sequence())
    restore(made.path, home / "deeper" / "again.db", settings=settings)
    open_store(home / "deeper" / "again.db", **given).close()
    if not encrypted:
        reseal(path, before=None, after=key_from_file(Path(key_file)), settings=settings)
    assert modes(tmp_path / "made") == {}
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700


def test_nothing_heavy_is_loaded_to_open_a_store(tmp_path):
    code = (
        "import sys, memoranda\n"
        f"with memoranda.open({str(tmp_path / 'a.db')!r}, scope='a', embedder='none') as memory:\n"
        "    memory.remember('Light as ever.')\n"
        "heavy = {'numpy', 'rich', 'cryptography', 'memoranda.service.backing_up', 'memoranda.ledger.backup'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
