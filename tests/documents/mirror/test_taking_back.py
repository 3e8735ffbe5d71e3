"""A folder and a store: what was edited goes back, what was kept is written, and nothing is lost."""

from functools import partial

from documents.mirror.editing import edit, live, snapshot, without_line
from memoranda.domain.memory import KINDS
from memoranda.service import mirroring
from memoranda.service.mirror_files import STATE
from support import quarantine

# -- writing --


def test_each_kind_has_a_file_and_a_second_run_changes_no_byte(memory, folder, sync):
    for kind in KINDS:
        memory.remember(f"A {kind}.", kind=kind)
    memory.profile.set("name", "Anna")
    done = sync()
    assert len(done.written) == 7
    assert sorted(path.name for path in (folder / "home/anna").iterdir()) == [
        "decisions.md", "entities.md", "episodes.md", "facts.md", "notes.md", "preferences.md", "profile.md",
    ]  # fmt: skip
    before = snapshot(folder)
    again = sync()
    assert (again.written, again.steps, again.unchanged) == ((), (), 7)
    assert snapshot(folder) == before


def test_only_what_is_live_and_may_speak_is_written(memory, facts, sync):
    memory.forget(memory.remember("Forgotten.", kind="fact"))
    memory.archive(memory.remember("Archived.", kind="fact"))
    quarantine(memory, memory.remember("Held back.", kind="fact"))
    old = memory.remember("Old.", kind="fact")
    memory.remember("New.", kind="fact", supersedes=old)
    sync()
    content = facts.read_text(encoding="utf-8")
    assert "New." in content
    for hidden in ("Forgotten", "Archived", "Held back", "Old."):
        assert hidden not in content


def test_scopes_below_are_written_when_asked_for_and_others_never(opened, clock, tmp_path):
    home = opened("home", clock=clock)
    for scope in ("home/anna", "home/Anna", "home/anna/desk"):
        home.within(scope).remember(f"Of {scope}.")
    home.remember("Of home.")
    opened("homes", clock=clock).remember("Beside.")
    anna = home.within("home/anna")
    mirroring.mirror(anna._engine, anna._scope, tmp_path / "one")
    assert sorted(path.parent.name for path in (tmp_path / "one").rglob("*.md")) == ["anna"]
    mirroring.mirror(home._engine, home._scope, tmp_path / "all", below=True)
    found = {path.relative_to(tmp_path / "all").as_posix() for path in (tmp_path / "all").rglob("*.md")}
    assert found == {"home/notes.md", "home/anna/notes.md", "home/=anna/notes.md", "home/anna/desk/notes.md"}
    assert mirroring.mirror(home._engine, home._scope, tmp_path / "all").receipt.below


def test_a_memory_that_left_the_store_leaves_its_file_and_an_empty_file_goes(memory, folder, facts, sync):
    kept = memory.remember("One.", kind="fact")
    sync()
    memory.forget(kept)
    assert sync().removed == ("home/anna/facts.md",)
    assert not facts.exists()
    assert not (folder / "home").exists()


def test_the_state_has_no_text_and_the_same_store_knows_it_again_elsewhere(memory, folder, sync, tmp_path):
    memory.remember("Anna hides the key under the pot.", kind="fact")
    sync()
    assert "pot" not in (folder / STATE).read_text(encoding="utf-8")
    folder.rename(tmp_path / "clone")
    done = mirroring.mirror(memory._engine, memory._scope, tmp_path / "clone").receipt
    assert (done.written, done.steps) == ((), ())


# -- taking back --


def test_a_changed_line_supersedes_and_keeps_what_the_memory_was_about(memory, facts, sync):
    old = memory.remember(
        "Anna reads by light.office.", kind="fact", about="light.office", tags=["lamp"], importance=0.9, speaker="anna"
    )
    sync()
    edit(facts, "light.office.", "light.desk — now.")
    done = sync()
    assert done.counts == {"supersede": 1}
    assert memory.get(old).state == "superseded"
    (new,) = memory.list()
    assert new.text == "Anna reads by light.desk — now."
    assert (new.about, new.tags, new.importance, new.speaker) == ("light.office", ("lamp",), 0.9, "anna")
    assert (new.source, new.trust, new.source_ref) == ("operator", "trusted", "mirror")
    assert new.id in facts.read_text(encoding="utf-8")
    assert sync().steps == ()


def test_a_removed_line_forgets_and_putting_it_back_restores(memory, facts, sync):
    kept = memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    sync()
    line = next(line for line in facts.read_text(encoding="utf-8").split("\n") if "One." in line)
    without_line(facts, "One.")
    assert sync().ids("forget") == (kept.id,)
    assert memory.get(kept).state == "forgotten"
    edit(facts, "- Two.", f"{line}\n- Two.")
    assert sync().ids("restore") == (kept.id,)
    assert memory.get(kept).state == "live"


def test_a_new_line_is_remembered_with_the_kind_of_its_file(memory, folder, sync):
    memory.remember("One.", kind="fact")
    sync()
    new = folder / "home/anna/preferences.md"
    new.write_text("- Anna prefers tea\n  with milk\n* and honey", encoding="utf-8")
    done = sync()
    assert done.counts == {"remember": 2}
    assert [each.text for each in memory.list(kind="preference")] == ["and honey", "Anna prefers tea\nwith milk"]
    assert "<!-- m:" in new.read_text(encoding="utf-8")
    assert sync().steps == ()


def test_moving_lines_about_in_a_file_changes_nothing(memory, facts, sync):
    for number in range(8):
        memory.remember(f"Number {number}.", kind="fact")
    sync()
    written = facts.read_bytes()
    lines = facts.read_text(encoding="utf-8").split("\n")
    facts.write_text("\n".join([*lines[:6], *reversed(lines[6:])]), encoding="utf-8")
    done = sync()
    assert done.steps == ()
    assert facts.read_bytes() == written


def test_swapped_texts_are_two_memories_still(memory, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    sync()
    edit(facts, "One.", "Three!")
    edit(facts, "Two.", "One.")
    edit(facts, "Three!", "Two.")
    sync()
    assert live(memory) == ["One.", "Two."]


def test_a_line_moved_to_another_file_changes_its_kind(memory, folder, facts, sync):
    old = memory.remember("Anna prefers tea.", kind="fact", about="tea")
    sync()
    facts.rename(folder / "home/anna/preferences.md")
    assert sync(confirm=True).ids("supersede") == (old.id,)
    (new,) = memory.list()
    assert (new.kind, new.text, new.about) == ("preference", "Anna prefers tea.", "tea")


def test_a_line_moved_to_another_scope_is_remembered_there_and_forgotten_here(opened, clock, tmp_path):
    home = opened("home", clock=clock)
    old = home.within("home/anna").remember("The lamp is broken.", about="lamp")
    run = partial(mirroring.mirror, home._engine, home._scope, tmp_path / "m", below=True)
    run()
    (tmp_path / "m/home/ben").mkdir()
    (tmp_path / "m/home/anna/notes.md").rename(tmp_path / "m/home/ben/notes.md")
    assert run(confirm=True).receipt.ids("move") == (old.id,)
    assert home.within("home/anna").get(old).state == "forgotten"
    (new,) = home.within("home/ben").list()
    assert (new.text, new.about, new.scope) == ("The lamp is broken.", "lamp", "home/ben")
    assert run().receipt.steps == ()


def test_a_copied_line_is_said_once_and_a_changed_copy_is_new(memory, facts, sync):
    kept = memory.remember("One.", kind="fact")
    sync()
    line = facts.read_text(encoding="utf-8").split("\n")[6]
    facts.write_text(
        facts.read_text(encoding="utf-8") + f"{line}\n{line.replace('One', 'Another')}\n", encoding="utf-8"
    )
    done = sync()
    assert done.counts == {"remember": 1}
    assert memory.get(kept).state == "live"
    assert live(memory) == ["Another.", "One."]
    assert facts.read_text(encoding="utf-8").count("One.") == 1


def test_what_an_edited_memory_had_before_is_not_screened_again(opened, clock, memory, facts, sync):
    looks_secret = {"ticket": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}
    opened(clock=clock, secrets="allow").remember("One.", kind="fact", metadata=looks_secret)
    sync()
    edit(facts, "One.", "Uno.")
    assert sync().counts == {"supersede": 1}
    assert memory.list()[0].metadata == looks_secret


def test_what_a_line_said_before_may_be_said_anew_elsewhere(memory, folder, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    edit(facts, "One.", "Uno.")
    (folder / "home/anna/notes.md").write_text("- One.\n", encoding="utf-8")
    assert sync().counts == {"supersede": 1, "remember": 1}
    assert [(each.kind, each.text) for each in memory.list()] == [("note", "One."), ("fact", "Uno.")]


def test_an_edited_fact_has_an_edited_value(memory, facts, sync):
    memory.facts.add("light.office", "nickname", "the reading lamp")
    memory.facts.add("light.office", "watts", 40)
    sync()
    edit(facts, "the reading lamp", "the desk lamp")
    edit(facts, "watts: 40", "watts: 60")
    sync()
    assert {fact.attribute: fact.value for fact in memory.facts.about("light.office")} == {
        "nickname": "the desk lamp",
        "watts": 60,
    }


def test_a_profile_is_edited_in_place_and_nothing_else(memory, folder, sync):
    memory.profile.set("name", "Anna")
    memory.profile.add("traits", "reads at night")
    sync()
    profile = folder / "home/anna/profile.md"
    edit(profile, "Name: Anna", "Name: Anna Maria")
    edit(profile, "reads at night", "reads in the morning")
    profile.write_text(profile.read_text(encoding="utf-8") + "- a new trait\n", encoding="utf-8")
    done = sync()
    assert done.counts == {"supersede": 2}
    assert len(done.refused) == 1
    assert (memory.profile.get().name, memory.profile.get().traits) == ("Anna Maria", ("reads in the morning",))
    assert "- a new trait\n" in profile.read_text(encoding="utf-8")


# -- both changed --


def test_what_was_edited_here_and_in_the_store_is_kept_twice_and_told(memory, facts, sync):
    old = memory.remember("The lamp is red.", kind="fact")
    sync()
    store = memory.remember("The lamp is blue.", kind="fact", supersedes=old)
    edit(facts, "red", "green")
    done = sync()
    (mine,) = done.ids("conflict")
    assert live(memory) == ["The lamp is blue.", "The lamp is green."]
    assert memory.get(mine).tags == ("conflict",)
    assert memory.get(mine).metadata["mirror"] == {"conflict_with": old.id}
    assert memory.get(store).state == "live"
    assert "conflict -->" in facts.read_text(encoding="utf-8")
    without_line(facts, "blue")
    assert sync().ids("forget") == (store.id,)
    assert live(memory) == ["The lamp is green."]


def test_an_edit_of_what_was_forgotten_meanwhile_is_kept(memory, facts, sync):
    old = memory.remember("The lamp is red.", kind="fact")
    sync()
    memory.forget(old)
    edit(facts, "red", "green")
    assert sync().counts == {"conflict": 1}
    assert live(memory) == ["The lamp is green."]
    assert memory.get(old).state == "forgotten"


def test_what_the_store_changed_is_written_when_nobody_edited_it(memory, facts, sync):
    old = memory.remember("The lamp is red.", kind="fact")
    sync()
    memory.remember("The lamp is blue.", kind="fact", supersedes=old)
    done = sync()
    assert (done.steps, done.refused) == ((), ())
    content = facts.read_text(encoding="utf-8")
    assert "blue" in content
    assert "red" not in content


def test_a_line_removed_here_and_corrected_in_the_store_stays_and_is_told(memory, facts, sync):
    old = memory.remember("The lamp is red.", kind="fact")
    memory.remember("Other.", kind="fact")
    sync()
    memory.remember("The lamp is blue.", kind="fact", supersedes=old)
    without_line(facts, "red")
    done = sync()
    assert [trouble.id for trouble in done.refused] == [old.id]
    assert "The lamp is blue." in live(memory)


def test_a_file_saved_from_an_older_version_forgets_nothing(memory, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    opened_in_an_editor = facts.read_bytes()
    memory.remember("Two.", kind="fact")
    sync()
    facts.write_bytes(opened_in_an_editor + b"- Three.\n")
    done = sync()
    assert done.counts == {"remember": 1}
    assert len(done.refused) == 1
    assert live(memory) == ["One.", "Three.", "Two."]


def test_without_a_state_nothing_is_forgotten_and_edits_are_taken(memory, folder, facts, sync):
    for number in range(3):
        memory.remember(f"Number {number}.", kind="fact")
    sync()
    for broken in (None, b"<<<<<<< HEAD\n", b"[]", b'{"files": {"home/anna/facts.md": 3}}'):
        if broken is None:
            (folder / STATE).unlink()
            (folder / STATE).write_bytes(b"")
        else:
            (folder / STATE).write_bytes(broken)
        without_line(facts, "Number 1.")
        edit(facts, "Number 2.", "Number 2!")
        done = sync()
        assert set(done.counts) == {"supersede"}
        assert "Number 1." in live(memory)
        edit(facts, "Number 2!", "Number 2.")
        sync()
