"""The commands `profile`, `facts` and `preferences`: text, JSON, exit codes."""

import json

import pytest


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    """Where the people are."""
    monkeypatch.setenv("MEMORANDA_TIME_ZONE", "Europe/Warsaw")


@pytest.fixture
def shown(run):
    """What a command prints as JSON; it must succeed."""

    def runner(*argv):
        code, out, err = run(*argv, "--json")
        assert code == 0, out + err
        return json.loads(out)

    return runner


# -- profile --


def test_a_profile_is_set_shown_and_taken_apart(run, shown):
    assert run("profile", "set", "name", "Anna")[0] == 0
    assert run("profile", "set", "traits", "reads at night", "creative")[0] == 0
    assert run("profile", "add", "notes", "-", stdin="has a dog")[0] == 0
    code, out, _ = run("profile")
    assert code == 0
    assert [line.split(None, 1) for line in out.splitlines()[:4]] == [
        ["name", "Anna"],
        ["traits", "reads at night"],
        ["traits", "creative"],
        ["notes", "has a dog"],
    ]
    assert run("profile", "remove", "traits", "creative")[0] == 0
    profile = shown("profile", "show")
    assert list(profile) == ["name", "traits", "preferences", "notes", "updated_at", "recent"]
    assert profile["traits"] == ["reads at night"]


def test_a_keyed_entry_and_its_history(run):
    run("profile", "set", "preferences", "tea", "--key", "drink")
    _, out, _ = run("profile", "set", "preferences", "coffee", "--key", "drink")
    assert "Recent preference update (drink): now coffee; previously tea" in out
    assert run("profile", "remove", "preferences", "--key", "drink")[1].strip() == "(empty)"


def test_what_changed_lately_is_beside_the_profile_for_programs(run, shown):
    run("profile", "set", "preferences", "tea", "--key", "drink")
    changed = shown("profile", "set", "preferences", "coffee", "--key", "drink")
    told = ["Recent preference update (drink): now coffee; previously tea"]
    assert changed["recent"] == shown("profile")["recent"] == told
    # The shape that other plugins read stays as it is.
    assert list(changed["profile"]) == ["name", "traits", "preferences", "notes", "updated_at"]
    assert list(shown("profile", "context")["session_profile"]) == list(changed["profile"])


def test_a_command_without_an_action_takes_the_options_of_its_first(run, shown):
    run("profile", "set", "name", "Ben", "--speaker", "ben")
    assert shown("profile", "--speaker", "ben")["name"] == "Ben"
    assert shown("profile", "--speaker", "ben", "--as-of", "2020-01-01")["name"] == ""
    assert shown("profile")["name"] == ""
    run("facts", "add", "light.office", "location", "attic")
    run("facts", "add", "light.hall", "location", "cellar")
    assert [each["entity_id"] for each in shown("facts", "--about", "light.hall")["facts"]] == ["light.hall"]
    assert len(shown("facts", "--limit", "1")["facts"]) == 1
    assert len(shown("facts")["facts"]) == 2
    run("preferences", "set", "climate", "range", "18")
    assert len(shown("preferences", "--category", "climate")["preferences"]) == 1
    assert shown("preferences", "--category", "lighting")["preferences"] == []


def test_an_option_before_an_action_is_never_lost(run, shown):
    code, _, err = run("profile", "--speaker", "ben", "set", "name", "Ben")
    assert code == 2
    assert "memoranda profile set ... --speaker" in err
    run("profile", "set", "name", "Anna")
    assert run("facts", "--limit", "1", "ask", "lamp")[0] == 2
    assert shown("profile")["name"] == "Anna"
    assert run("profile", "nothing")[0] == 2
    assert run("profile", "--nothing")[0] == 2


def test_the_help_says_that_setting_a_list_replaces_all_of_it(run):
    _, out, _ = run("profile", "set", "--help")
    assert "all others are forgotten" in " ".join(out.split())
    assert "--speaker" in run("profile", "--help")[1]


def test_the_profile_of_a_speaker_is_another(shown):
    shown("profile", "set", "name", "Alice", "--speaker", "alice")
    assert shown("profile", "show", "--speaker", "alice")["name"] == "Alice"
    assert shown("profile", "show")["name"] == ""
    context = shown("profile", "context", "hello there", "--speaker", "alice", "--name", "Alice")
    assert context["speaker"] == {"id": "alice", "name": "Alice"}
    assert context["speaker_profile"]["name"] == "Alice"


def test_an_export_is_json_and_of_this_scope(run):
    run("profile", "set", "name", "Anna")
    run("--scope", "home/ben", "profile", "set", "name", "Ben")
    code, out, _ = run("profile", "export")
    assert code == 0
    assert [each["profile"]["name"] for each in json.loads(out)["profiles"]] == ["Anna"]


def test_what_does_not_speak_is_told(run):
    code, out, err = run("profile", "add", "traits", "gullible", "--source", "assistant")
    assert (code, out.strip()) == (0, "(empty)")
    assert "untrusted" in err


def test_mistakes_are_told_with_the_next_step(run):
    run("profile", "set", "name", "Anna")
    assert run("profile", "remove", "traits", "nothing")[0] == 3
    assert run("profile", "set", "age", "40")[0] == 2
    code, _, err = run("profile", "set", "name", "Anna", "Maria")
    assert code == 2
    assert "quotes" in err
    code, out, _ = run("profile", "set", "name", "x", "--key", "y", "--json")
    assert code == 2
    assert json.loads(out)["error"]["hint"]


# -- facts --


def test_a_fact_is_kept_looked_up_and_asked_for(run, shown):
    kept = shown("facts", "add", "light.office", "nickname", "the reading lamp")
    assert kept["receipt"]["outcome"] == "created"
    run("facts", "add", "cover.garage_door", "purpose", "--text", "This door lets the car in")
    assert run("facts", "lookup", "my reading lamp")[1] == "light.office\n"
    assert [fact["entity_id"] for fact in shown("facts", "about", "reading lamp")["facts"]] == ["light.office"]
    answer = shown("facts", "ask", "what do I know about the garage?")
    assert [fact["content"] for fact in answer["facts"]] == ["This door lets the car in"]
    assert answer["receipt"]["by_subject"] == [answer["facts"][0]["id"]]
    _, out, _ = run("facts", "ask", "what do I know about the garage?")
    assert out.split("\t")[1:] == ["1.00", "user_stated", "cover.garage_door", "This door lets the car in\n"]


def test_facts_are_listed_superseded_and_forgotten(run, shown):
    run("facts", "add", "light.office", "location", "first floor")
    run("facts", "add", "light.office", "location", "second floor", "--basis", "observed")
    run("facts", "add", "light.office", "location", "attic", "--many")
    assert len(shown("facts")["facts"]) == 2
    assert {fact["source"] for fact in shown("facts", "list")["facts"]} == {"learned", "user_stated"}
    assert run("facts", "forget", "light.office", "location", "attic")[1].startswith("forgotten ")
    assert len(shown("facts", "forget", "light.office")) == 1
    assert run("facts")[1] == "(nothing is known)\n"
    assert run("facts", "forget", "light.office")[0] == 3


def test_names_that_fit_nothing_or_two_things(run):
    run("facts", "add", "light.left", "nickname", "bed lamp")
    code, _, err = run("facts", "lookup", "the moon")
    assert code == 3
    assert "facts add" in err
    run("facts", "add", "light.right", "nickname", "bed lamp")
    assert run("facts", "lookup", "bed lamp")[0] == 2
    assert run("facts", "add", "light.right", "profile.name", "x")[0] == 2


# -- preferences --


def test_a_preference_is_kept_and_resolved(run, shown):
    run("preferences", "set", "lighting", "brightness", "80%")
    run("preferences", "set", "lighting", "brightness", "40%", "--context", "after_sunset", "--learned-from", "Anna")
    run("preferences", "set", "climate", "range", '{"low": 18}')
    resolve = ("preferences", "resolve", "lighting", "brightness", "--now")
    assert run(*resolve, "2026-01-16T11:00:00Z")[1] == "80%\n"
    assert run(*resolve, "2026-01-16T19:00:00Z")[1] == "40%\n"
    assert run(*resolve, "2026-01-16T19:00:00Z", "--flag", "before_sunset")[1] == "80%\n"
    assert shown("preferences", "get", "climate", "range")["value"] == {"low": 18}
    every = shown("preferences", "resolve", "--now", "2026-01-16T19:00:00Z")["preferences"]
    assert {each["key"]: each["value"] for each in every} == {"brightness": "40%", "range": {"low": 18}}
    assert "Anna" in run("preferences", "list", "--category", "lighting")[1]


def test_a_preference_is_forgotten(run, shown):
    run("preferences", "set", "lighting", "brightness", "80%")
    run("preferences", "set", "lighting", "brightness", "10%", "--context", "guests")
    assert len(shown("preferences", "forget", "lighting", "brightness", "--context", "guests")) == 1
    assert len(shown("preferences")["preferences"]) == 1
    assert run("preferences", "get", "lighting", "brightness", "--context", "guests")[0] == 3
    assert run("preferences", "resolve", "lighting", "nothing")[0] == 3
    assert run("preferences", "forget", "lighting", "nothing")[0] == 3
    assert run("preferences", "set", "lighting", "x", "1", "--context", "25:00-26:00")[0] == 2


@pytest.mark.parametrize("context", ["bogus context!!", "place:", "weekday+"])
def test_a_context_that_can_never_hold_is_refused(run, path, context):
    code, _, err = run("preferences", "set", "lighting", "brightness", "40%", "--context", context)
    assert code == 2
    assert "weekday" in err


def test_a_flag_like_a_known_word_is_kept_and_asked_about(run, shown):
    slip = ("preferences", "set", "lighting", "brightness", "40%", "--context", "after_sunsett")
    code, out, err = run(*slip)
    assert (code, out.startswith("remembered ")) == (0, True)
    assert "did you mean after_sunset?" in err
    assert shown("preferences")["preferences"][0]["context"] == "after_sunsett"
    code, out, err = run(*slip, "--json")
    assert (json.loads(out)["receipt"]["outcome"], "did you mean" in err) == ("reinforced", True)
    assert run("preferences", "set", "lighting", "brightness", "40%", "--context", "guests")[2] == ""


def test_what_was_erased_comes_back_only_when_asked_for(run):
    run("facts", "add", "light.office", "location", "attic")
    assert run("erase", "--about", "light.office", "--yes")[0] == 0
    assert run("facts", "add", "light.office", "location", "attic")[0] == 4
    assert run("facts", "add", "light.office", "location", "attic", "--even-if-erased")[0] == 0


def test_a_store_is_made_by_keeping_and_not_by_looking(run, path):
    for command in (("profile",), ("facts",), ("preferences",)):
        assert run(*command)[0] == 3
    assert not path.exists()
