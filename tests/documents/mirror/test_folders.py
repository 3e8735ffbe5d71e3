"""The folder of a mirror: whose it is, what stays as it is, and what cannot be read or written."""

import json
import os
import stat

import pytest

from documents.mirror.editing import edit, live, snapshot
from memoranda import InvalidInput, Refused
from memoranda.domain.scope import Scope
from memoranda.service import mirroring
from memoranda.service.mirror_files import STATE
from memoranda.service.mirror_notes import known_mirrors

# -- the folder --


def test_a_folder_with_other_things_in_it_is_refused(memory, folder, sync):
    folder.mkdir()
    (folder / ".git").mkdir()
    sync()
    (folder / STATE).unlink()
    (folder / "thesis.md").write_text("mine", encoding="utf-8")
    with pytest.raises(Refused, match="other things"):
        sync()
    with pytest.raises(InvalidInput):
        mirroring.mirror(memory._engine, memory._scope, "a\0b")
    (folder / "thesis.md").rename(folder.parent / "file")
    with pytest.raises(Refused, match="not a folder"):
        mirroring.mirror(memory._engine, memory._scope, folder.parent / "file")


def test_a_mirror_of_another_store_or_scope_is_refused(memory, opened, clock, folder, sync):
    sync()
    other = opened("home/ben", clock=clock)
    with pytest.raises(Refused, match="home/anna"):
        mirroring.mirror(other._engine, other._scope, folder)
    state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    (folder / STATE).write_text(json.dumps({**state, "store": "other"}), encoding="utf-8")
    with pytest.raises(Refused, match="another store"):
        sync()


def test_line_ends_mode_and_other_files_stay_as_they_are(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    (folder / "README.md").write_text("- mine\n", encoding="utf-8")
    facts.write_bytes(b"\xef\xbb\xbf" + facts.read_bytes().replace(b"\n", b"\r\n"))
    facts.chmod(0o644)
    assert sync().written == ()
    facts.write_bytes(facts.read_bytes() + b"- Two\r\n  lines.\r\n")
    assert sync().counts == {"remember": 1}
    content = facts.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf<!--")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert stat.S_IMODE(facts.stat().st_mode) == 0o644
    assert live(memory) == ["One.", "Two\nlines."]
    assert (folder / "README.md").read_text(encoding="utf-8") == "- mine\n"
    assert not list(folder.rglob(".memoranda-*.tmp"))


def test_a_preview_changes_nothing_anywhere(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    assert sync("preview").steps == ()
    assert not folder.exists()
    assert not known_mirrors(memory._engine)
    sync()
    edit(facts, "One.", "Uno.")
    before, sequence = snapshot(folder), memory.stats().sequence
    assert sync("preview").counts == {"supersede": 1}
    assert (snapshot(folder), memory.stats().sequence) == (before, sequence)


def test_an_export_takes_nothing_and_leaves_edited_files_alone(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("A note.")
    sync()
    edit(facts, "One.", "Uno.")
    memory.remember("Another note.")
    done = sync("export")
    assert (done.steps, done.written) == ((), ("home/anna/notes.md",))
    assert [trouble.file for trouble in done.refused] == ["home/anna/facts.md"]
    assert "Uno." in facts.read_text(encoding="utf-8")
    assert live(memory) == ["A note.", "Another note.", "One."]
    assert sync().counts == {"supersede": 1}


def test_a_store_knows_its_mirrors_until_it_is_told_otherwise(memory, folder, sync):
    sync()
    assert known_mirrors(memory._engine) == (folder.resolve(),)
    sync("detach")
    assert known_mirrors(memory._engine) == ()
    assert folder.exists()


def test_only_its_own_scope_or_one_above_lets_go_of_a_mirror(memory, folder, sync):
    sync()
    for scope in ("home/ben", "home/anna/desk", "home/ann"):
        with pytest.raises(Refused, match="mirror of a scope"):
            mirroring.mirror(memory._engine, Scope(scope), folder, mode="detach")
        assert known_mirrors(memory._engine) == (folder.resolve(),)
    mirroring.mirror(memory._engine, Scope("home"), folder, mode="detach")
    assert known_mirrors(memory._engine) == ()


def test_a_preview_shows_what_would_be_refused(memory, facts, sync):
    memory.remember("One.", kind="fact")
    gone = memory.remember("Anna hides the key under the pot.", kind="fact")
    sync()
    memory.erase(gone.id)
    edit(facts, "One.", "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345.")
    more = "- Anna hides the key under the pot.\n- Harmless.\n- Also ghp_0123456789abcdefghijABCDEFGHIJ012345\n"
    facts.write_text(facts.read_text(encoding="utf-8") + more, encoding="utf-8")
    before, sequence = facts.read_bytes(), memory.stats().sequence
    shown = sync("preview")
    assert (facts.read_bytes(), memory.stats().sequence) == (before, sequence)
    done = sync()
    assert [step._replace(now="") for step in done.steps] == list(shown.steps)
    assert done.counts == {"remember": 1}
    assert shown.refused == done.refused
    assert len(done.refused) == 3


def test_progress_goes_up_to_its_end(memory, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("A note.")
    told = []
    sync(progress=lambda *each: told.append(each))
    assert told == [(1, 2), (2, 2)]
    edit(facts, "One.", "Uno.")
    told.clear()
    sync(progress=lambda *each: told.append(each))
    assert told == [(1, 3), (2, 3), (3, 3)]


# -- what cannot be written --


def test_a_folder_that_cannot_be_made_is_refused_and_not_noted(memory, tmp_path, monkeypatch):
    memory.remember("One.", kind="fact")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Refused, match="cannot be opened for writing") as caught:
        mirroring.mirror(memory._engine, memory._scope, tmp_path / "file" / "sub")
    assert "write to it" in caught.value.hint
    assert known_mirrors(memory._engine) == ()


def test_a_folder_that_may_not_be_written_to_is_refused_and_not_noted(memory, folder, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(Refused, match="cannot be opened for writing"):
        sync()
    assert known_mirrors(memory._engine) == ()
    assert not list(folder.iterdir())


def test_nothing_is_taken_from_a_file_that_could_not_be_written_afterwards(memory, folder, facts, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: path != facts.parent)
        assert sync("preview").counts == {"supersede": 1}
        with pytest.raises(Refused, match="home/anna cannot be opened for writing"):
            sync()
    assert live(memory) == ["One."]
    assert sync().counts == {"supersede": 1}


@pytest.mark.parametrize("call", ["open", "replace", "fsync"])
def test_a_disk_that_fails_is_told_and_the_next_run_goes_on(memory, facts, sync, monkeypatch, call):
    memory.remember("One.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")

    def fail(*_args, **_more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        real = os.open
        if call == "open":
            patch.setattr(os, "open", lambda path, *more: fail() if ".tmp" in str(path) else real(path, *more))
        else:
            patch.setattr(os, call, fail)
        with pytest.raises(Refused, match="No space left"):
            sync()
    assert live(memory) == ["Uno."]
    assert sync().steps == ()
    assert "Uno." in facts.read_text(encoding="utf-8")
    assert len(list(facts.parent.iterdir())) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_forgets_nothing(memory, folder, sync):
    memory.remember("One.", kind="fact")
    sync()
    (folder / "home/anna").chmod(0)
    try:
        with pytest.raises(Refused, match="cannot be read"):
            sync(confirm=True)
    finally:
        (folder / "home/anna").chmod(0o700)
    assert live(memory) == ["One."]
