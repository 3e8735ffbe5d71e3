"""The command `consolidate`."""

import json

import pytest

from cli.conftest import run as run


@pytest.fixture
def filled(run):
    texts = ("Anna prefers short answers.", "Anna really prefers short answers.", "Anna lives in Warsaw.")
    for text in (*texts, "Anna lives in Krakow."):
        run("remember", text, "--kind", "fact")
    return run


def ids(run):
    return [each["id"] for each in json.loads(run("consolidate", "--json")[1])["proposals"]]


def test_without_options_it_shows_and_changes_nothing(filled):
    before = json.loads(filled("stats", "--json")[1])["sequence"]
    code, out, _ = filled("consolidate")
    assert code == 0
    assert out.count("supersede ") == 2
    assert "nothing was changed" in out
    assert json.loads(filled("stats", "--json")[1])["sequence"] == before


def test_a_memory_cannot_write_to_the_terminal(run):
    for text in ("Anna \x1b[31m red prefers tea.", "Really, Anna \x1b[31m red prefers tea."):
        run("remember", text, "--kind", "fact")
    code, out, _ = run("consolidate")
    assert (code, "\\u{1b}" in out, "\x1b" in out) == (0, True, False)


def test_accept_and_dismiss_by_id(filled):
    first, second = ids(filled)
    assert filled("consolidate", "--dismiss", first)[0] == 0
    assert ids(filled) == [second]
    code, out, _ = filled("consolidate", "--accept", second)
    assert (code, "superseded 1 memory" in out, "undo" in out) == (0, True, True)
    code, out, _ = filled("consolidate", "--accept", second)
    assert (code, "not taken" in out) == (6, True)


def test_what_was_left_is_told_by_the_exit_code_whichever_it_is(filled):
    first, second = ids(filled)
    assert filled("consolidate", "--dismiss", first, "bogus")[0] == 6
    assert filled("consolidate", "--accept", second, "bogus")[0] == 6


def test_accept_all_and_its_dry_run(filled):
    assert "would supersede 2" in filled("consolidate", "--accept-all", "--dry-run")[1]
    assert len(json.loads(filled("consolidate", "--accept-all", "--json")[1])["superseded"]) == 2
    assert "nothing to consolidate" in filled("consolidate", "--accept-all")[1]


def test_options_that_do_not_go_together_are_refused(filled):
    assert filled("consolidate", "--dry-run")[0] == 2
    assert filled("consolidate", "--accept-all", "--dismiss", "x")[0] == 2
