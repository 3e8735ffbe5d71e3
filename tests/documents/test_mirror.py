"""A folder and a store: what was edited goes back, what was kept is written, and nothing is lost."""

import json
import os
import stat
import threading
from functools import partial

import pytest

from memoranda import Conflict, InvalidInput, Refused
from memoranda.domain.memory import KINDS
from memoranda.domain.scope import Scope
from memoranda.service import mirroring
from memoranda.service.mirror_files import STATE, Folder, alone
from memoranda.service.mirror_notes import known_mirrors, lock_of
from support import quarantine


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mirror"


@pytest.fixture
def sync(memory, folder):
    """Run the mirror of this test's store; its receipt."""

    def runner(mode="sync", **options):
        return mirroring.mirror(memory._engine, memory._scope, folder, mode=mode, **options).receipt

    return runner


@pytest.fixture
def facts(folder):
    return folder / "home" / "anna" / "facts.md"


def edit(file, old, new, count=1):
    content = file.read_bytes().decode()
    assert old in content
    file.write_bytes(content.replace(old, new, count).encode())


def without_line(file, words):
    lines = file.read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if words not in line]
    assert len(kept) == len(lines) - 1
    file.write_text("\n".join(kept), encoding="utf-8")


def live(memory):
    return sorted(each.text for each in memory.list(limit=1000))


def snapshot(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


# -- what is not taken --


def test_a_secret_is_refused_and_its_line_stays(memory, facts, sync):
    memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    sync()
    secret = "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345."
    edit(facts, "One.", secret)
    facts.write_text(facts.read_text(encoding="utf-8") + f"- Also: {secret}\n", encoding="utf-8")
    for _ in range(2):
        done = sync()
        assert [trouble.line > 0 for trouble in done.refused] == [True, True]
        assert "ghp_" not in json.dumps(done.as_json())
        assert live(memory) == ["One.", "Two."]
        assert facts.read_text(encoding="utf-8").count("ghp_") == 2
    edit(facts, secret, "Uno.")
    assert sync().counts == {"supersede": 1}


def test_two_refused_lines_of_one_memory_both_stay(memory, facts, sync):
    one = memory.remember("One.", kind="fact")
    sync()
    secrets = [f"The {word} key is ghp_0123456789abcdefghijABCDEFGHIJ01234{word}." for word in "ab"]
    edit(facts, "One.", f"{secrets[0]} <!-- m:{one.id} -->\n- {secrets[1]}")
    for _ in range(2):
        assert len(sync().refused) == 2
        assert [facts.read_text(encoding="utf-8").count(secret) for secret in secrets] == [1, 1]
    assert live(memory) == ["One."]


def test_a_refused_copy_of_a_line_does_not_take_the_place_of_the_line(memory, facts, sync):
    one = memory.remember("One.", kind="fact")
    sync()
    line = f"- One. <!-- m:{one.id} -->\n"
    edit(facts, line, line + line.replace("One.", "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345."))
    for _ in range(2):
        assert len(sync().refused) == 1
        assert line in facts.read_text(encoding="utf-8")
        assert "ghp_" in facts.read_text(encoding="utf-8")


def test_a_second_line_with_an_id_that_nobody_has_is_not_remembered_either(memory, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    lines = [f"- Foreign {word}. <!-- m:{'0' * 20} -->" for word in ("one", "two", "three")]
    facts.write_text("\n".join([facts.read_text(encoding="utf-8").rstrip(), *lines, ""]), encoding="utf-8")
    for _ in range(2):
        done = sync()
        assert (done.steps, [trouble.id for trouble in done.refused]) == ((), ["0" * 20] * 3)
        assert [line for line in facts.read_text(encoding="utf-8").split("\n") if "Foreign" in line] == lines
    assert live(memory) == ["One."]


def test_an_id_of_elsewhere_is_told_and_never_kept_here(opened, clock, memory, facts, sync):
    elsewhere = opened("home/ben", clock=clock).remember("Ben has a lamp.", kind="fact")
    memory.remember("One.", kind="fact")
    sync()
    line = f"- Ben has a lamp. <!-- m:{elsewhere.id} -->"
    facts.write_text(f"{facts.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    done = sync()
    assert [trouble.id for trouble in done.refused] == [elsewhere.id]
    assert live(memory) == ["One."]
    assert line in facts.read_text(encoding="utf-8")


def test_what_is_no_list_stays_in_the_file_and_is_told_once(memory, facts, sync):
    kept = memory.remember("One.", kind="fact")
    memory.remember("Two.", kind="fact")
    sync()
    line = next(line for line in facts.read_text(encoding="utf-8").split("\n") if "One." in line)
    edit(facts, line, f"Some prose.\n\n```\n- not an item\n```\n\n<!-- {line} -->")
    for told in (["Some prose.", "```", f"<!-- {line} -->"], []):
        before = facts.read_text(encoding="utf-8").split("\n")
        done = sync()
        assert [before[trouble.line - 1] for trouble in done.unreadable] == told
        assert done.steps == ()
        content = facts.read_text(encoding="utf-8")
        for part in ("Some prose.", "```\n- not an item\n```", f"<!-- {line} -->"):
            assert content.count(part) == 1
    assert memory.get(kept).state == "live"
    edit(facts, f"<!-- {line} -->", "")
    assert sync().ids("forget") == (kept.id,)


def test_all_lines_that_are_no_list_are_named_and_new_ones_also_below_those_that_were_told(memory, facts, sync):
    memory.remember("One.", kind="fact")
    sync()
    facts.write_text(facts.read_text(encoding="utf-8") + "\nSome prose\nof two lines.\n", encoding="utf-8")
    (told,) = sync("preview").unreadable
    assert (told.line, "lines 9 to 10" in told.why) == (9, True)
    assert sync().unreadable == (told,)
    assert sync().unreadable == ()
    facts.write_text(facts.read_text(encoding="utf-8") + "\nAnna likes tea.\n", encoding="utf-8")
    assert [facts.read_text(encoding="utf-8").split("\n")[each.line - 1] for each in sync().unreadable] == [
        "Anna likes tea."
    ]
    assert sync().unreadable == ()


def test_a_file_of_prose_alone_is_told_once(memory, folder, sync):
    sync()
    (folder / "home/anna").mkdir(parents=True)
    (folder / "home/anna/notes.md").write_text("Prose.\n", encoding="utf-8")
    assert len(sync().unreadable) == 1
    assert sync().unreadable == ()
    assert "Prose." in (folder / "home/anna/notes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda comment: comment[:14] + " -->",
        lambda comment: comment[:14],
        lambda comment: comment.replace("<!--", ""),
        lambda comment: comment.replace("<!--", "<!-"),
        lambda comment: comment.replace("-->", "->"),
        lambda comment: comment.replace("-->", ""),
        lambda comment: comment.upper(),
        lambda comment: comment.replace("m:", "m:x"),
        lambda comment: comment.replace("m:", "m:  "),
        lambda comment: comment[:7] + comment[12:],
    ],
)
@pytest.mark.parametrize("text", ["The lamp is red.", "The lamp is\nred", "```\nred\n```"])
def test_a_damaged_id_is_mended(memory, facts, sync, damage, text):
    old = memory.remember(text, kind="fact")
    memory.remember("Another.", kind="fact")
    sync()
    written = facts.read_bytes()
    comment = f"<!-- m:{old.id} -->"
    edit(facts, comment, damage(comment))
    done = sync()
    assert (done.steps, done.refused, facts.read_bytes()) == ((), (), written)
    edit(facts, comment, damage(comment))
    edit(facts, "red", "green")
    assert sync().ids("supersede") == (old.id,)
    assert live(memory) == sorted(["Another.", text.replace("red", "green")])
    assert sync().steps == ()


@pytest.mark.parametrize(
    "comment", ["<!-- m: -->", "<!-- m:zz -->", "<!-- m:zzzzzzzz -->", "<!-- m: the lamp", "<!--m"]
)
def test_a_line_with_an_id_that_nobody_can_tell_is_told_and_nothing_is_forgotten(memory, facts, sync, comment):
    old = memory.remember("The lamp is red.", kind="fact")
    memory.remember("Another.", kind="fact")
    sync()
    edit(facts, f"The lamp is red. <!-- m:{old.id} -->", f"The lamp is green. {comment}")
    if comment == "<!--m":
        assert sync().counts == {"remember": 1, "forget": 1}, "it has no sign of an id"
        return
    for _ in range(2):
        done = sync()
        assert done.steps == ()
        assert any("damaged" in trouble.why and trouble.line for trouble in done.refused)
        assert live(memory) == ["Another.", "The lamp is red."]
        assert f"- The lamp is green. {comment}\n" in facts.read_text(encoding="utf-8")
    edit(facts, f" {comment}", "")
    assert sync().counts == {"remember": 1}


def test_of_two_lines_that_a_damaged_id_fits_none_is_guessed(memory, facts, sync):
    kept = [memory.remember(f"Number {number}.", kind="fact") for number in range(2)]
    sync()
    for each in kept:
        edit(facts, f". <!-- m:{each.id} -->", f"! <!-- m:{each.id[:2]} -->")
    done = sync()
    assert done.steps == ()
    assert sum("damaged" in trouble.why for trouble in done.refused) == 2
    assert live(memory) == ["Number 0.", "Number 1."]


def test_files_that_are_none_of_this_mirror_are_told_and_left_alone(memory, folder, sync):
    memory.remember("One.", kind="fact")
    sync()
    others = ("fact.md", "home/=anna/ideas.md", "home/anna/desk/notes.md", "home/anna/fact.md", "home/ben/facts.md")
    for name in (*others, "README.md", "home/anna/todo.txt", ".obsidian/x.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("- Steal this.\n", encoding="utf-8")
    before = snapshot(folder)
    done = sync()
    assert [trouble.file for trouble in done.unreadable] == list(others)
    assert "home/ben" in done.unreadable[-1].why
    assert "--below" in done.unreadable[2].why
    assert snapshot(folder) == before
    assert live(memory) == ["One."]
    assert len(sync("preview").unreadable) == 5


@pytest.mark.parametrize("content", [b"- caf\xe9\n", b"<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n"])
def test_a_file_that_cannot_be_read_is_left_as_it_is(memory, facts, sync, content):
    memory.remember("One.", kind="fact")
    sync()
    facts.write_bytes(content)
    done = sync()
    assert len(done.unreadable) == 1
    assert (done.steps, facts.read_bytes()) == ((), content)
    assert live(memory) == ["One."]


def test_links_are_not_followed(memory, folder, facts, sync, tmp_path):
    memory.remember("One.", kind="fact")
    memory.remember("A note.")
    sync()
    outside = tmp_path / "outside.md"
    outside.write_text("- Steal this.\n", encoding="utf-8")
    facts.unlink()
    facts.symlink_to(outside)
    done = sync()
    assert len(done.unreadable) == 1
    (folder / "home/anna").rename(tmp_path / "away")
    (folder / "home/anna").symlink_to(tmp_path / "away")
    done = sync()
    assert (done.steps, done.written) == ((), ())
    assert done.unreadable
    assert live(memory) == ["A note.", "One."]
    assert outside.read_text(encoding="utf-8") == "- Steal this.\n"


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
