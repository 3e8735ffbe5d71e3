"""Accidents of a mirror: lines that are lost, crashes, files that change under it, and several at once."""

import threading

import pytest

from documents.mirror.editing import edit, live, snapshot, without_line
from memoranda import Conflict, Refused
from memoranda.service.mirror_files import Folder, alone
from memoranda.service.mirror_notes import lock_of

# -- accidents --


def test_many_lines_gone_at_once_need_a_yes(memory, folder, facts, sync):
    for number in range(8):
        memory.remember(f"Number {number}.", kind="fact")
    memory.remember("A note.")
    sync()
    facts.unlink()
    with pytest.raises(Refused, match="8 memories"):
        sync()
    assert sync("preview").asks == 8
    assert len(live(memory)) == 9
    assert len(sync(confirm=True).ids("forget")) == 8
    assert live(memory) == ["A note."]


def test_a_folder_without_any_of_its_files_needs_a_yes(memory, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    facts.unlink()
    with pytest.raises(Refused):
        sync()
    assert live(memory) == ["One."]


def test_lost_files_are_written_again_by_an_export(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("A note.")
    sync()
    before = snapshot(folder)
    for file in folder.rglob("*.md"):
        file.unlink()
    with pytest.raises(Refused) as caught:
        sync()
    assert "--export-only" in caught.value.hint
    done = sync("export")
    assert (done.written, done.refused, done.asks) == (("home/anna/facts.md", "home/anna/notes.md"), (), 0)
    assert snapshot(folder) == before
    assert sync().steps == ()


def test_an_export_does_not_undo_that_a_line_was_moved(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    memory.remember("A note.")
    sync()
    line = next(line for line in facts.read_text(encoding="utf-8").split("\n") if "One." in line)
    without_line(facts, "One.")
    notes = folder / "home/anna/notes.md"
    notes.write_text(f"{notes.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    done = sync("export")
    assert (done.written, len(done.refused)) == ((), 2)
    facts.unlink()
    without_line(notes, "A note.")
    done = sync("export")
    assert (done.written, len(done.refused)) == ((), 2)
    assert sync(confirm=True).counts == {"supersede": 1, "forget": 2}


def test_a_crash_after_the_edits_and_before_the_files_is_harmless(memory, facts, sync, monkeypatch):
    one = memory.remember("One.", kind="fact")
    two = memory.remember("Two.", kind="fact")
    memory.remember("Three.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")
    without_line(facts, "Two.")
    facts.write_text(facts.read_text(encoding="utf-8") + "- Four.\n", encoding="utf-8")

    def crash(*_args, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            sync()
    assert live(memory) == ["Four.", "Three.", "Uno."]
    done = sync()
    assert done.steps == ()
    assert live(memory) == ["Four.", "Three.", "Uno."]
    assert (memory.get(one).state, memory.get(two).state) == ("superseded", "forgotten")
    assert all(each.confidence == 1.0 for each in memory.list())


def test_a_crash_between_the_files_and_the_state_is_harmless(memory, facts, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    sync()
    memory.remember("Two.", kind="fact")
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sync()
    without_line(facts, "One.")
    done = sync()
    assert done.steps == ()
    assert live(memory) == ["One.", "Two."]
    without_line(facts, "One.")
    assert sync().counts == {"forget": 1}


def test_what_is_written_while_it_runs_is_taken_too(memory, facts, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")
    replace, saved = Folder.replace, []

    def save_first(folder, place, content, *, expected):
        if not saved:
            saved.append(True)
            edit(facts, "Uno.", "Eins.")
            facts.write_text(facts.read_text(encoding="utf-8") + "- Zwei.\n", encoding="utf-8")
        return replace(folder, place, content, expected=expected)

    monkeypatch.setattr(Folder, "replace", save_first)
    done = sync()
    assert done.counts == {"supersede": 2, "remember": 1}
    assert live(memory) == ["Eins.", "Zwei."]


def test_a_file_that_never_rests_is_given_up_with_nothing_lost(memory, facts, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    sync()
    memory.remember("Two.", kind="fact")
    replace = Folder.replace

    def save_first(folder, place, content, *, expected):
        facts.write_bytes(facts.read_bytes() + b"\n")
        return replace(folder, place, content, expected=expected)

    monkeypatch.setattr(Folder, "replace", save_first)
    with pytest.raises(Conflict, match="kept changing"):
        sync()
    assert live(memory) == ["One.", "Two."]


def test_two_mirrors_at_once_wait_for_one_another(memory, sync, monkeypatch):
    memory.remember("One.", kind="fact")
    monkeypatch.setattr("memoranda.service.mirror_files._PATIENCE_SECONDS", 0.1)
    done = []
    with alone(lock_of(memory._engine)):
        with pytest.raises(Conflict, match="another process"):
            sync()
        monkeypatch.setattr("memoranda.service.mirror_files._PATIENCE_SECONDS", 20.0)
        waiting = threading.Thread(target=lambda: done.append(sync()))
        waiting.start()
    waiting.join()
    assert len(done[0].written) == 1


def test_several_at_once_take_every_edit_once(memory, facts, sync):
    kept = memory.remember("One.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")
    new = [f"New line {number}." for number in range(20)]
    facts.write_text(facts.read_text(encoding="utf-8") + "".join(f"- {text}\n" for text in new), encoding="utf-8")
    receipts = []
    said = [f"Said meanwhile {number}." for number in range(20)]
    threads = [threading.Thread(target=lambda: receipts.append(sync())) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: [memory.remember(text, kind="fact") for text in said]))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    receipts.append(sync())
    assert sum(len(done.steps) for done in receipts) == 21
    assert live(memory) == sorted([*new, *said, "Uno."])
    assert memory.get(kept).state == "superseded"
    assert all(each.confidence == 1.0 for each in memory.list())
    assert all(text in facts.read_text(encoding="utf-8") for text in live(memory))
