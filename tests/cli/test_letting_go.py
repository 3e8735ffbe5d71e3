"""The commands forget-many and archive-many, and `show --gradings`."""

import json

import pytest


@pytest.fixture
def filled(run):
    run("remember", "Bob likes \x1b[31m coffee.", "--speaker", "bob", "--tag", "drinks")
    run("remember", "Bob lives in Rome.", "--speaker", "bob")
    run("remember", "Anna likes tea.", "--speaker", "anna", "--tag", "drinks")
    return run


def left(run):
    return json.loads(run("list", "--json")[1])["total"]


def test_it_shows_and_does_nothing_until_it_is_told_to(filled):
    code, out, err = filled("forget-many", "--speaker", "bob")
    assert (code, "would forget 2" in out, "\x1b" in out) == (4, True, False)
    assert "--confirm" in err
    assert (filled("forget-many", "--speaker", "bob", "--dry-run")[0], left(filled)) == (0, 3)
    code = json.loads(filled("forget-many", "--speaker", "bob", "--dry-run", "--json")[1])["confirm"]
    assert filled("forget-many", "--speaker", "bob", "--confirm", code)[0] == 0
    assert left(filled) == 1
    assert filled("undo")[0] == 0
    assert left(filled) == 3


def test_archived_together(filled):
    done = json.loads(filled("archive-many", "--tag", "drinks", "--yes", "--json")[1])
    assert (done["receipt"]["changed"], done["receipt"]["action"]) == (2, "archived")
    assert done["receipt"]["tag"].startswith("auto-archive-many-")
    assert left(filled) == 1


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("forget-many",), 2),
        (("forget-many", "--yes"), 2),
        (("forget-many", "--kind", "nonsense"), 2),
        (("forget-many", "--after", "tomorrowish"), 2),
        (("forget-many", "--speaker", "bob", "--dry-run", "--yes"), 2),
        (("forget-many", "--speaker", "bob", "--confirm", "0000"), 4),
        (("archive-many", "zzzzzzzz"), 3),
        (("forget-many", "--speaker", "nobody", "--yes"), 0),
    ],
)
def test_what_is_wrong_is_told_with_its_exit_code(filled, argv, code):
    found, _, err = filled(*argv)
    assert found == code
    assert left(filled) == 3
    assert bool(err) == bool(code)


def test_every_grade_of_a_memory_is_shown_with_who_and_why(run):
    run("remember", "Anna prefers tea over coffee, always.")
    found = json.loads(run("list", "--json")[1])["memories"][0]["id"]
    assert "graded        never" in run("show", found, "--gradings")[1]
    run("regrade")
    run("grade", found, "high", "--rationale", "she \x1b[31m says so")
    shown = run("show", found, "--gradings")[1]
    assert "was graded" in shown
    assert "heuristic-v1" in shown
    assert "says so" in shown
    assert "\x1b" not in shown
    told = json.loads(run("show", found, "--gradings", "--json")[1])
    assert [(each["method"], each["stands"]) for each in told["gradings"]] == [
        ("heuristic-v1", False),
        ("manual", True),
    ]
    assert run("show", found, "--gradings", "--as-of", "2026-01-01")[0] == 2
