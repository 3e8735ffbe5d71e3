"""What a mirror does not take from its files, and says so: secrets, prose, damaged ids, links, what is of elsewhere."""

import json

import pytest

from documents.mirror.editing import edit, live, snapshot

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
