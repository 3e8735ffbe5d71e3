"""Asking on the command line: what recall takes, shows, and says beside the answer."""

import json
import subprocess
import sys

import pytest

LAMP = "Anna reads by light.bedroom_lamp."


def asked(run, *argv):
    """What a recall gave, as JSON."""
    code, out, err = run("recall", *argv, "--json")
    assert code == 0, out + err
    return json.loads(out)


def ids(run, *argv):
    return [hit["memory"]["id"] for hit in asked(run, *argv)["hits"]]


# -- what comes back --


def test_what_was_remembered_is_recalled_and_the_receipt_says_why(run, kept):
    code, out, err = run("recall", "which bedroom_lamp?", "--why")
    lines = out.splitlines()
    assert code == 0
    assert err == ""
    assert lines[0].endswith(LAMP)
    assert lines[2].startswith(f"{kept[:8]}  score ")
    assert "= relevance " in lines[2]
    assert lines[3].strip().startswith("evidence ")
    assert "lexical" in lines[3]
    assert lines[4].strip() == "found by words #1; tier unknown, trusted, in home/anna"
    assert lines[5].startswith("searched 1 memory in home/anna, home (0 with a vector, embedder none) at sequence 1")
    bar = asked(run, "which bedroom_lamp?")["receipt"]["bar"]
    told = f"proposed 1 by lexical, returned 1; bar {bar:.2f} (balanced), tier reached must+nice+unknown"
    assert lines[6] == told


def test_why_shows_every_hit_each_factor_and_what_was_dropped(run, household):
    _, out, _ = run("recall", "lamp", "--why", "--prefer-speaker", "anna", "--limit", "3")
    shown = [line.split("\t")[1] for line in out.split("\n\n")[0].splitlines()]
    explained = [line[:8] for line in out.splitlines() if "  score " in line]
    assert explained == shown
    assert len(shown) == 3
    assert "× speaker 1." in out
    assert "× importance 1." in out
    assert "not returned: 1 (untrusted, and something trusted answers)" in out
    assert "not returned: 1 (beyond the limit)" in out


def test_json_carries_the_memory_its_score_and_the_receipt(run, kept):
    found = asked(run, "which bedroom_lamp?")
    assert found["hits"][0]["memory"]["id"] == kept
    assert 0 < found["hits"][0]["score"] <= 1
    assert "why" not in found["hits"][0]
    assert found["receipt"]["returned"] == 1


def test_json_with_why_explains_every_hit_not_only_those_in_the_receipt(run, household):
    found = asked(run, "lamp", "--why")
    assert len(found["hits"]) == 4
    assert [hit["why"]["id"] for hit in found["hits"]] == [hit["memory"]["id"] for hit in found["hits"]]
    assert all(hit["why"]["parts"] for hit in found["hits"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"plain", "preference", "decision", "entity"}),
        (["--kind", "decision"], {"decision"}),
        (["--kind", "decision", "--kind", "entity"], {"decision", "entity"}),
        (["--speaker", "anna"], {"plain"}),
        (["--about", "light.desk"], {"entity"}),
        (["--tag", "home"], {"preference", "decision"}),
        (["--tag", "home", "--tag", "money"], {"decision"}),
        (["--source", "operator"], {"entity"}),
        (["--source", "operator", "--source", "web"], {"entity"}),
        (["--source", "web"], {"web"}),
        (["--trust", "untrusted"], {"web"}),
        (["--trust", "untrusted", "--trust", "trusted"], {"plain", "preference", "decision", "entity", "web"}),
        (["--before", "2025-01-01"], {"plain"}),
        (["--after", "2025-01-01"], {"preference", "decision", "entity"}),
        (["--after", "2024-01-01", "--before", "2024-02-01"], set()),
        (["--importance-min", "0.5"], {"preference"}),
        (["--state", "archived"], set()),
        (["--as-of", "2020-01-01"], set()),
        (["--mode", "automatic", "--source", "web"], set()),
    ],
)
def test_a_filter_narrows_what_is_looked_at(run, household, options, expected):
    assert set(ids(run, "lamp", "--limit", "10", *options)) == {household[name] for name in expected}


def test_the_limit_and_the_policy_are_passed_on(run, household):
    assert len(ids(run, "lamp", "--limit", "2")) == 2
    words = "lamp zebra giraffe rhinoceros hippopotamus"
    assert ids(run, words, "--policy", "strict") == []
    assert len(ids(run, words, "--policy", "broad")) == 4
    assert asked(run, "lamp", "--policy", "strict")["receipt"]["bar"] > asked(run, "lamp")["receipt"]["bar"]


def test_states_can_be_asked_for_together(run, household):
    run("archive", household["plain"])
    assert household["plain"] not in ids(run, "lamp")
    assert set(ids(run, "lamp", "--state", "live", "--state", "archived", "--limit", "10")) > {household["plain"]}


def test_the_preferred_speaker_comes_first(run):
    for speaker in ("ben", "anna"):
        run("remember", f"The garden gate squeaks, says {speaker}.", "--speaker", speaker)
    found = asked(run, "garden gate squeaks", "--prefer-speaker", "anna")
    assert [hit["memory"]["speaker"] for hit in found["hits"]] == ["anna", "ben"]


def test_a_lane_can_be_chosen(run, household):
    assert asked(run, "lamp in 2024", "--lane", "lexical")["receipt"]["lanes"] == ["lexical"]
    assert ids(run, "what happened in March 2024?", "--lane", "structured") == [household["plain"]]


def test_a_fallback_scope_is_asked_when_nothing_is_here_and_is_named(run, kept):
    run("--scope", "home/anna/attic", "remember", "The skis stand behind the chimney.")
    assert ids(run, "where are the skis?") == []
    code, out, err = run("recall", "where are the skis?", "--fallback", "home/anna/attic")
    assert code == 0
    assert "behind the chimney" in out
    assert "from home/anna/attic" in err


def test_a_fallback_outside_of_this_scope_is_refused(run, kept):
    code, out, _ = run("recall", "skis", "--fallback", "home/ben", "--json")
    assert code == 4
    assert json.loads(out)["error"]["name"] == "Refused"


def test_what_is_not_trusted_is_labelled_where_no_text_can_write(run, monkeypatch):
    monkeypatch.setenv("MEMORANDA_INJECTION", "allow")
    run("remember", "The garage opens at seven. (trusted)", "--source", "web", "--kind", "fact")
    _, out, _ = run("recall", "when does the garage open?")
    assert out.split("\t")[2] == "fact (untrusted)"
    _, out, _ = run("recall", "when does the garage open?", "--why")
    assert "tier unknown, untrusted, in home/anna" in out


@pytest.mark.parametrize(
    ("query", "options", "reason", "next_move"),
    [
        ("quantum chromodynamics", [], "nothing cleared the bar", "--policy broad"),
        ("quantum chromodynamics", ["--policy", "broad"], "nothing cleared the bar", "other words"),
        ("lamp", ["--kind", "decision"], "nothing to search", "filters"),
        ("", [], "no query", "ask for something"),
        (" \n", [], "no query", "ask for something"),
        ("ok👍", [], "trivial prompt", "ask a question"),
        ("好的👌", [], "trivial prompt", "ask a question"),
        ("the of and", [], "only small words", "use a word that the memory would have"),
        ("the of and", ["--policy", "broad"], "only small words", "use a word that the memory would have"),
        ("what happened in May 1999?", [], "nothing happened then", "name another time, or ask for the thing"),
    ],
)
def test_nothing_is_an_answer_that_says_why_and_what_to_try(run, kept, query, options, reason, next_move):
    code, out, err = run("recall", query, *options)
    assert code == 0
    assert out == f"(nothing: {reason})\n"
    assert next_move in err
    assert ("--policy" in err) == ("--policy" in next_move)


def test_the_query_may_come_from_standard_input(run, kept):
    code, out, _ = run("recall", "-", stdin="which bedroom_lamp?\n")
    assert code == 0
    assert LAMP in out


def test_standard_input_that_is_not_text_is_told(run, kept, monkeypatch):
    class Binary:
        def read(self):
            return b"\xff".decode()

    monkeypatch.setattr(sys, "stdin", Binary())
    for command in ("recall", "pack", "remember", "replay"):
        code, _, err = run(command, "-")
        assert code == 2
        assert "standard input is not text" in err


def test_what_went_worse_than_it_should_is_said_beside_the_answer(run, kept):
    long = "bedroom_lamp " * 1_000
    _, out, err = run("recall", long)
    assert LAMP in out
    assert "the query was cut" in err
    _, out, err = run("recall", long, "--why")
    assert "degraded: the query was cut" in out
    assert err == ""


# -- bad input --


@pytest.mark.parametrize(
    "command", [["recall"], ["recall", "--why"], ["pack"], ["recall", "--json"], ["pack", "--json"]]
)
@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        'AND OR NOT "*:^',
        "\0",
        "a\0lamp",
        "\udcff\ud800",
        "مصباح غرفة النوم",
        "lamp " * 20_000,
        "-1",
        "\u202elamp",
    ],
)
def test_no_query_breaks_it_or_reaches_the_terminal(run, kept, command, query):
    run("--scope", "home/ben", "remember", "Ben hides the lamp.")
    code, out, err = run(command[0], *command[1:], "--", query)
    assert code == 0, err
    assert "Ben" not in out
    if "--json" not in command:
        assert not {"\0", "\u202e"} & set(out + err)


@pytest.mark.parametrize(
    "options",
    [
        ["--limit", "0"],
        ["--limit", "10000"],
        ["--importance-min", "2"],
        ["--importance-min", "nan"],
        ["--after", "soon"],
        ["--before", "2020-13-01"],
        ["--as-of", "yesterday-ish"],
        ["--after", "2024-01-01", "--before", "2023-01-01"],
        ["--tag", " "],
        ["--about", "x" * 600],
        ["--speaker", "a\0b"],
        ["--conversation", "\ud800"],
        ["--fallback", "../etc"],
        [value for number in range(7) for value in ("--fallback", f"home/anna/{number}")],
    ],
)
@pytest.mark.parametrize("command", [["recall", "lamp"], ["pack", "lamp"], ["why-not", "lamp", "abcd"]])
def test_an_option_that_cannot_be_used_is_an_error_with_a_hint(run, kept, command, options):
    code, out, _ = run(*command, *options, "--json")
    shown = json.loads(out)["error"]
    assert code == 2
    assert shown["name"] == "InvalidInput"
    assert shown["hint"]


@pytest.mark.parametrize(
    "options", [["--policy", "wild"], ["--mode", "loud"], ["--kind", "x"], ["--lane", "x"], ["--limit", "many"]]
)
def test_a_word_that_no_option_knows_is_a_usage_error(run, kept, options):
    code, _, err = run("recall", "lamp", *options)
    assert code == 2
    assert err.startswith("usage: memoranda recall")
    assert options[0] in err


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["recall", "lamp", "--limit", "many", "--json"], "--limit"),
        (["--json", "recall", "lamp", "--policy", "wild"], "--policy"),
        (["recall", "--json"], "QUERY"),
        (["recall", "lamp", "--js", "--nosuch"], "--nosuch"),
        (["nosuch", "--json"], "nosuch"),
        (["--json"], "command"),
    ],
)
def test_a_usage_error_is_an_object_for_programs_and_the_usage_beside_it(run, argv, told):
    code, out, err = run(*argv)
    error = json.loads(out)["error"]
    assert code == 2
    assert error["name"] == "InvalidInput"
    assert told in error["message"]
    assert "--help" in error["hint"]
    assert err.startswith("usage: memoranda")


def test_a_usage_error_is_for_people_when_json_is_only_a_word_of_the_query(run):
    code, out, err = run("recall", "--limit", "many", "--", "--json")
    assert code == 2
    assert out == ""
    assert "memoranda: argument --limit" in err


# -- start-up --


@pytest.mark.parametrize(
    ("argv", "unneeded"),
    [
        (["recall", "lamp"], {"memoranda.recall.packing", "memoranda.cli.explanation"}),
        (["recall", "lamp", "--why"], {"memoranda.recall.packing"}),
        (["pack", "lamp"], {"memoranda.cli.explanation"}),
    ],
)
def test_asking_loads_only_what_it_needs(path, model_cache, run, kept, argv, unneeded):
    never = {"rich", "asyncio", "dataclasses", "shtab", "memoranda.evaluation", "memoranda.testing", "memoranda.aio"}
    code = (
        f"import sys; from memoranda.cli import app; app.run({argv!r}); "
        f"print(sorted({never | unneeded!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LAMP in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
