"""Killed while text lies in clear on its way out or in: who comes next clears it away, and the proof looks there."""

import os
import subprocess
import tempfile

import pytest

import memoranda
from backup.test_interrupted import killed_at
from memoranda import Settings
from memoranda.domain.errors import MemorandaError
from memoranda.ledger.locking import held
from memoranda.ledger.replacing import shred
from memoranda.service.backing_up import back_up, opened_store, verify_backup
from memoranda.service.doctor import examine
from memoranda.service.workroom import Workroom
from support import open_store

pytestmark = pytest.mark.embedded_only("kills processes that have a file open")
WORDS = "Herons nest on the secret island of Anna."
PLAIN = {"embedder": "none", "follow": False}


@pytest.fixture
def kept(tmp_path):
    folder = tmp_path / "house"
    folder.mkdir()
    with open_store(folder / "store.db", sweep=False) as memory:
        memory.remember_many([WORDS, *(f"Heron number {number} nests on the lake." for number in range(600))])
    return folder / "store.db"


def in_clear(folder):
    """Files below a folder, not of the ledger, in which the words stand."""
    return [
        each
        for each in folder.rglob("*")
        if each.is_file() and not each.name.startswith("store.db") and WORDS.encode() in each.read_bytes()
    ]


def killed_in_the_middle(act):
    """Kill it once it has shown how far it is: everything that it has written lies there."""
    process = os.fork()
    if process == 0:
        try:
            act(lambda done, total: os.kill(os.getpid(), 9))
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(process, 0)[1])


def test_whatever_a_killed_export_left_is_gone_when_the_store_is_next_opened(kept, tmp_path):
    out = tmp_path / "elsewhere"
    out.mkdir()
    seen = False

    def act():
        with open_store(kept, sweep=False) as memory:
            memory.export(out / "out.jsonl", overwrite=True)

    for step in range(1, 200):
        if not killed_at(step, act):
            break
        seen = seen or any(each.name.endswith("memoranda-part") and each.stat().st_size for each in out.iterdir())
        assert all(each.stat().st_mode & 0o077 == 0 for each in out.iterdir())
        open_store(kept).close()
        assert [each.name for each in out.iterdir()] in ([], ["out.jsonl"])
        assert not Workroom(kept).files()
    assert seen, "there was something to clear away"
    assert WORDS in (out / "out.jsonl").read_text()


@pytest.mark.parametrize("by", ["opening", "the server", "maintain", "doctor", "erase"])
def test_everybody_clears_it_away(kept, by):
    killed = killed_in_the_middle(lambda stop: _export_on_a_desk(kept, stop))
    assert killed
    assert in_clear(kept.parent)
    settings = Settings(**PLAIN, store=str(kept), sweep=by == "opening")
    if by == "the server":
        from memoranda.service.store import Store

        Store.open(settings=settings).close()
    elif by == "doctor":
        lines = {check.name: check for check in examine(settings, memoranda.domain.clock.SystemClock()).checks}
        assert not lines["leftovers"].ok
        assert "--fix" in lines["leftovers"].fix
        assert examine(settings, memoranda.domain.clock.SystemClock(), fix=True).ok
    else:
        with memoranda.open(settings=settings, scope="home/anna") as memory:
            if by == "maintain":
                memory.admin.maintain()
            elif by == "erase":
                memory.erase(memory.recall("secret island")[0].id)
    assert not in_clear(kept.parent)
    assert not Workroom(kept).files()


def _export_on_a_desk(kept, stop):
    """As a download or `--out -` does."""
    with open_store(kept, sweep=False) as memory, Workroom(kept).desk() as desk:
        memory.export(desk / "content")
        stop(1, 1)


def _export_by_a_tool(kept, stop, files):
    from memoranda.tools import Tools

    class Out:
        def write(self, path, content):
            raise AssertionError("it is killed before")

    def words(record):
        stop(1, 1)

    with pytest.MonkeyPatch.context() as patch, open_store(kept, sweep=False) as memory:
        patch.setenv("TMPDIR", str(files))
        patch.setattr(tempfile, "tempdir", None)
        patch.setattr("memoranda.tools.moving._in_their_words", words)
        Tools(memory, toolset="openclaw", files=Out()).call("memory_export", {"outPath": "x.jsonl"})


def test_what_a_tool_exports_lies_in_the_workroom_and_is_cleared_away(kept, tmp_path):
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    assert killed_in_the_middle(lambda stop: _export_by_a_tool(kept, stop, elsewhere))
    assert not in_clear(elsewhere)
    assert in_clear(kept.parent)
    open_store(kept).close()
    assert not in_clear(kept.parent)
    assert not Workroom(kept).files()


def test_an_upload_lies_in_the_workroom_for_its_owner_alone(kept, monkeypatch):
    room = Workroom(kept)
    with room.holding("their.jsonl", WORDS.encode()) as path:
        assert path.read_bytes() == WORDS.encode()
        assert path.stat().st_mode & 0o777 == 0o600
        above = [each for each in path.parents if each.is_relative_to(room.folder)]
        assert {each.stat().st_mode & 0o777 for each in above} == {0o700}
        assert room.clear() == 0, "somebody is at it"
        assert room.left() == []
        assert path in room.files()
    assert not room.files()


@pytest.mark.parametrize("name", ["lock", "beside", "files"])
def test_whatever_a_file_is_called_it_is_nothing_to_the_room(kept, name, tmp_path):
    precious = tmp_path / ".precious.part"
    precious.write_text("mine")
    room = Workroom(kept)
    with room.holding(name, str(precious).encode()):
        assert precious not in room.files()
    room.clear()
    assert precious.read_text() == "mine"


def test_the_proof_finds_what_work_under_way_has_written_and_says_where(kept, tmp_path):
    with (
        Workroom(kept).beside(tmp_path / "out.jsonl") as part,
        memoranda.open(settings=Settings(**PLAIN, store=str(kept)), scope="home/anna") as memory,
    ):
        part.write(WORDS.encode())
        part.flush()
        done = memory.erase(memory.recall("secret island")[0].id)
        assert done.receipt.state == "deleted"
        assert "memoranda-part" in done.receipt.pending


def test_a_killed_backup_in_any_folder_is_cleared_away(kept, tmp_path):
    out = tmp_path / "usb"
    out.mkdir()

    def act(stop):
        with opened_store(Settings(**PLAIN, store=str(kept))) as engine:
            back_up(engine, out / "store.bak", progress=stop)

    assert killed_in_the_middle(act)
    assert [each.name for each in out.iterdir()] != []
    open_store(kept).close()
    assert list(out.iterdir()) == []


def test_a_backup_that_has_its_name_survives_the_clearing_of_its_first_one(kept):
    """Killed between giving a file its name and taking the first one away, both are one file."""
    settings = Settings(**PLAIN, store=str(kept))
    with opened_store(settings) as engine:
        made = back_up(engine).path
        first = os.path.join(os.path.dirname(made), f".{os.path.basename(made)}.part")
        os.link(made, first)
        back_up(engine)
    assert not os.path.exists(first)
    assert verify_backup(made, settings=settings).ok


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize("what", ["export", "backup"])
def test_on_a_full_disk_nothing_is_left(kept, tmp_path, what):
    with open_store(kept, sweep=False) as memory:
        memory.remember_many([f"Number {number} of many. " + "filling " * 60 for number in range(3_000)])
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        with open_store(kept, sweep=False) as memory:
            act = memory.export if what == "export" else memory.admin.backup
            with pytest.raises(MemorandaError) as refused:
                act(disk / "out.memoranda")
        assert "space" in f"{refused.value} {refused.value.hint}"
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_shredding_leaves_a_second_name_alone(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("words")
    os.link(one, two)
    shred(one)
    assert not one.exists()
    assert two.read_text() == "words"


def test_a_workroom_that_cannot_be_written_is_told_with_a_hint(kept):
    room = Workroom(kept)
    room.folder.write_text("in the way")
    with pytest.raises(MemorandaError) as refused, room.desk():
        pass
    assert refused.value.hint
    assert str(room.folder) in str(refused.value)


def test_who_comes_while_the_room_is_cleared_waits(kept):
    room = Workroom(kept)
    with room.desk() as desk:
        pass
    with held(room.folder / "lock"):
        assert room.clear() == 0
    with room.desk() as desk:
        (desk / "file").write_text("words")
    assert not room.files()
