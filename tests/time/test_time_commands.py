"""The commands that go back in time."""

import json

import pytest


@pytest.fixture
def asked(run):
    """The JSON of a command that must succeed."""

    def asking(*argv):
        code, out, err = run(*argv, "--json")
        assert code == 0, err
        return json.loads(out)

    return asking


def test_tag_rollback_and_back(run, asked):
    asked("remember", "The herons are back.")
    then = asked("contents")
    code, out, _ = run("tag", "then", "--note", "all \x1b[31mwell")
    assert (code, out) == (0, "tagged then at sequence 1 in home/anna\n")
    asked("remember", "The pond is frozen.")
    code, out, _ = run("rollback", "then", "--dry-run")
    assert code == 0
    assert out.startswith("would roll back to then (sequence 1): 1 forgotten\n")
    code, out, _ = run("rollback", "then")
    assert code == 0
    assert out.startswith("rolled back to then (sequence 1): 1 forgotten\nwhat was there before: auto-rollback-")
    assert asked("contents")["digest"] == then["digest"]
    code, out, _ = run("undo")
    assert code == 0
    assert out.startswith("undid 3 (rollback): 1 brought back\n")
    code, out, err = run("tags")
    lines = out.splitlines()
    assert code == 0
    assert "auto-rollback-" in lines[0]
    assert lines[1].endswith("then\thome/anna\tall \\u{1b}[31mwell")
    assert "2 of 2 tags" in err
    assert asked("untag", "then")["name"] == "then"
    assert run("untag", "then")[0] == 3


def test_operations_and_undo_by_number(run, asked):
    first = asked("remember", "Anna reads by the bedroom lamp.")["memory"]["id"]
    asked("remember", "Anna reads by the desk lamp.", "--supersedes", first)
    code, out, err = run("operations", "--limit", "1")
    assert code == 0
    assert [line.split("\t")[0] for line in out.splitlines()] == ["2"]
    assert "2 memories" in out
    assert "--before 2" in err
    assert asked("operations", "--before", "2")["operations"][0]["first"] == 1
    done = asked("undo", "3", "--dry-run")
    assert done["preview"] is True
    assert done["receipt"]["target"] == 2
    assert run("undo", "3")[1].startswith("undid 2 (remember): 1 forgotten, 1 changed back\n")
    code, out, _ = run("operations")
    assert "undo of 2" in out
    assert "undone" in out
    code, out, err = run("undo", "2")
    assert (code, out) == (4, "")
    assert "undone already" in err
    assert run("undo", "nonsense")[0] == 2
    asked("undo")
    code, _, err = run("undo")
    assert code == 3
    assert "nothing to undo" in err


def test_undo_and_operations_show_what_they_are_about_without_obeying_it(run, asked):
    kept = asked("remember", "The herons\x1b[31m are back.")["memory"]["id"]
    assert run("operations")[1].endswith(f"\t{kept[:8]}\tlive\tThe herons\\u{{1b}}[31m are back.\n")
    assert f"\n  {kept[:8]}\tlive\tThe herons" in run("undo", "--dry-run")[1]
    out = run("undo")[1]
    assert f"\n  {kept[:8]}\tforgotten\tThe herons" in out
    assert "\x1b" not in out
    asked("remember", "word " * 100)
    assert max(map(len, run("undo")[1].splitlines())) < 120
    asked("remember", "The pond is frozen.")
    assert asked("operations")["operations"][0]["ids"] == [asked("list")["memories"][0]["id"]]


def test_a_rollback_of_nothing_does_not_invite_to_undo_something_else(run, asked):
    asked("remember", "The herons are back.")
    asked("tag", "then")
    assert "nothing of it to undo" in run("rollback", "then")[1]
    assert "undo" not in run("rollback", "then", "--dry-run")[1]


def test_a_conflict_says_what_to_do(run, asked):
    kept = asked("remember", "The herons are back.")["memory"]["id"]
    asked("archive", kept)
    code, _, err = run("undo", "1")
    assert code == 4
    assert kept in err
    assert "operations" in err


def test_diff_shows_what_changed_without_obeying_it(run, asked):
    kept = asked("remember", "The herons are back.")["memory"]["id"]
    gone = asked("remember", "The pond is frozen.")["memory"]["id"]
    asked("tag", "then")
    asked("remember", "The herons are back.", "--importance", "0.9")
    asked("forget", gone)
    asked("remember", "A bell\x07 rings.")
    code, out, err = run("diff", "then")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == f"~ {kept[:8]}\tchanged\tThe herons are back."
    assert "    importance: null -> 0.9" in lines
    assert f"- {gone[:8]}\tgone\tThe pond is frozen." in lines
    assert "\x07" not in out
    assert "1 added, 1 gone, 1 changed, 0 erased" in err
    page = asked("diff", "then", "--limit", "1")
    assert (page["added"], page["gone"], page["changed"], page["erased"]) == (1, 1, 1, 0)
    assert len(page["items"]) == 1
    assert "1 of 3 are shown" in run("diff", "then", "--limit", "1")[2]
    assert run("diff", "nothing")[0] == 3


def test_contents_in_a_line(run, asked):
    asked("remember", "The herons are back.")
    held = asked("contents", "--below")
    code, out, _ = run("contents")
    assert code == 0
    assert out == f"{held['digest']}\t1 memory\thome/anna\tsequence 1\n"
