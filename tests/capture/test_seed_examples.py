"""The examples of the design documents, word for word, through the command line, each command a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memoranda

SOURCE = str(Path(memoranda.__file__).parents[1])


@pytest.fixture
def cli(path, model_cache, tmp_path):
    """Run `memoranda` as a process: what it printed, read as JSON."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    environment |= {
        "PYTHONPATH": SOURCE,
        "MEMORANDA_STORE": str(path),
        "MEMORANDA_SCOPE": "home/anna",
        "MEMORANDA_CACHE": str(model_cache),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "OPENBLAS_NUM_THREADS": "1",
    }

    def run(*words, stdin=None, plain=False):
        argv = [sys.executable, "-m", "memoranda", *words, *([] if plain else ["--json"])]
        done = subprocess.run(
            argv, input=stdin or "", capture_output=True, text=True, env=environment, timeout=60, check=False
        )
        assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if plain else json.loads(done.stdout)

    return run


def turn(*said):
    roles = ("user", "assistant")
    return json.dumps([{"role": roles[place % 2], "content": text} for place, text in enumerate(said)])


def texts(listing):
    return [each["text"] for each in listing["memories"]]


# -- S0: capture, recall, no duplicate --


def test_what_was_asked_for_in_polish_is_kept_found_and_not_kept_twice(cli):
    request = "Zapamiętaj że wolę szczegółowe odpowiedzi"
    kept = cli("capture", "-", "--conversation", "first", stdin=turn(request, "Zapisane!"))
    assert [(each["text"], each["kind"]) for each in kept["memories"]] == [
        ("Wolę szczegółowe odpowiedzi", "preference")
    ]
    assert texts(cli("list")) == ["Wolę szczegółowe odpowiedzi"]
    found = cli("recall", "odpowiedzi")
    assert [hit["memory"]["text"] for hit in found["hits"]] == ["Wolę szczegółowe odpowiedzi"]

    # A new session, another process: asked without a word in common but the verb.
    asked = cli("recall", "Co wolę?")
    assert [hit["memory"]["text"] for hit in asked["hits"]] == ["Wolę szczegółowe odpowiedzi"]
    assert "Wolę szczegółowe odpowiedzi" in cli("pack", "Co wolę?", plain=True)

    for conversation in ("first", "second"):
        again = cli("capture", "-", "--conversation", conversation, stdin=turn(request, "Zapisane!"))
        assert again["receipt"]["kept"] == []
    assert texts(cli("list")) == ["Wolę szczegółowe odpowiedzi"]


def test_the_hooks_of_a_host_do_the_same(cli):
    said = {"messages": json.loads(turn("Zapamiętaj że wolę szczegółowe odpowiedzi", "Zapisane!")), "conversation": "a"}
    after = cli("hook", "after-turn", stdin=json.dumps(said))
    assert [each["kind"] for each in after["kept"]] == ["preference"]
    before = cli("hook", "before-turn", stdin=json.dumps({"prompt": "Co wolę?", "conversation": "b"}))
    assert "Wolę szczegółowe odpowiedzi" in before["context"]
    assert before["degraded"] == []


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("Remember that I prefer tea.", "I prefer tea.", "preference"),
        ("zapisz: klucz jest w garażu", "Klucz jest w garażu", "fact"),
        ("I prefer dark mode.", "I prefer dark mode.", "preference"),
        ("Preferuję krótkie maile.", "Preferuję krótkie maile.", "preference"),
        ("Wolę herbatę od kawy.", "Wolę herbatę od kawy.", "preference"),
        ("I like long walks.", "I like long walks.", "preference"),
        ("Lubię długie spacery.", "Lubię długie spacery.", "preference"),
        ("I don't like loud music.", "I don't like loud music.", "preference"),
        ("Nie lubię głośnej muzyki.", "Nie lubię głośnej muzyki.", "preference"),
        ("Always answer in Polish.", "Always answer in Polish.", "preference"),
        ("Zawsze odpowiadaj krótko.", "Zawsze odpowiadaj krótko.", "preference"),
        ("I decided to buy an electric car.", "I decided to buy an electric car.", "decision"),
        ("Zdecydowałem, że kupuję rower.", "Zdecydowałem, że kupuję rower.", "decision"),
        ("We agreed to meet on Fridays.", "We agreed to meet on Fridays.", "decision"),
        ("Ustaliliśmy, że spotykamy się w piątki.", "Ustaliliśmy, że spotykamy się w piątki.", "decision"),
        ("Let's use PostgreSQL.", "Let's use PostgreSQL.", "decision"),
        ("Użyjmy PostgreSQL.", "Użyjmy PostgreSQL.", "decision"),
    ],
)
def test_every_trigger_of_the_first_document_is_heard(memory, said, text, kind):
    kept = memory.capture([memoranda.user(said)]).kept
    assert [(each.text, each.kind) for each in kept] == [(text, kind)]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("My name is Anna.", "Name: Anna"),
        ("Nazywam się Anna.", "Name: Anna"),
        ("I live in Warsaw.", "I live in Warsaw."),
        ("Mieszkam w Warszawie.", "Mieszkam w Warszawie."),
        ("My dog is called Rex.", "My dog is called Rex."),
    ],
)
def test_personal_facts_of_the_first_document_are_heard_when_capture_is_broad(memory, said, text):
    assert memory.capture([memoranda.user(said)], mode="strict").kept == ()
    kept = memory.capture([memoranda.user(said)], mode="broad", conversation="again").kept
    assert [(each.text, each.kind) for each in kept] == [(text, "fact")]


def test_a_name_that_was_told_is_in_the_profile_of_who_told_it(memory):
    memory.capture([memoranda.user("My name is Anna.", speaker="user_1")], mode="broad")
    assert memory.profile.get(speaker="user_1").name == "Anna"
    assert memory.profile.get().name == ""


# -- S1: facts about things, and preferences --


def test_the_fact_types_of_the_second_document(cli):
    examples = {
        "location": "The office light is in the home office on the second floor",
        "purpose": "This light is for reading",
        "preference": "User prefers this light at 40% brightness in the evening",
        "schedule": "This light should turn off at 11pm",
    }
    for attribute, text in examples.items():
        cli("facts", "add", "light.office", attribute, "--text", text)
    cli("facts", "add", "light.office", "nickname", "the reading lamp", "--text", "User calls this 'the reading lamp'")
    cli("facts", "add", "climate.main", "purpose", "--text", "This thermostat controls the main HVAC system")
    known = json.dumps(cli("facts", "about", "light.office"), ensure_ascii=False)
    for text in (*examples.values(), "the reading lamp"):
        assert text in known
    assert "HVAC" not in known
    assert "light.office" in json.dumps(cli("facts", "lookup", "the reading lamp"))


def test_what_a_user_calls_a_lamp_is_learned_from_a_turn_and_asked_in_another_process(cli):
    cli("capture", "--user", "Remember that the reading lamp is light.office.")
    assert "light.office" in json.dumps(cli("facts", "lookup", "the reading lamp"))
    cli("facts", "add", "cover.garage_door", "location", "at the back of the house")
    assert "cover.garage_door" in json.dumps(cli("facts", "ask", "what do I know about the garage?"))


def test_the_preferences_of_the_second_document(cli):
    cli("preferences", "set", "lighting", "evening_brightness", "40%", "--context", "after_sunset")
    cli("preferences", "set", "climate", "sleep_temperature", "68F", "--context", "nighttime")
    cli("preferences", "set", "notification", "urgent_only", "true", "--context", "nighttime")
    cli("preferences", "set", "lighting", "evening_brightness", "80%")
    evening = json.dumps(cli("preferences", "resolve", "lighting", "evening_brightness", "--flag", "after_sunset"))
    assert "40%" in evening
    assert "80%" not in evening
    listed = json.dumps(cli("preferences", "list", "--category", "lighting"))
    assert "40%" in listed
    assert "80%" in listed
    assert "68F" not in listed


def test_a_compacted_history_with_its_summary_is_captured_once(cli):
    """The summary in the form of the second document comes back as a message and adds nothing."""
    history = json.loads(turn("I prefer 40% brightness in the evening.", "Noted."))
    cli("capture", "-", "--conversation", "c", stdin=json.dumps(history))
    summary = (
        "[Conversation Summary - 2026-01-01T08:00Z to 2026-01-01T09:00Z]\n\nKey points discussed:\n"
        "- User asked about the lamp\n- Learned that light.office is used for reading\n"
        "- User preference: I prefer 40% brightness in the evening.\n\nActions taken:\n- Turned on light.office\n"
    )
    for role in ("system", "user", "assistant"):
        again = [{"role": role, "content": summary}, {"role": "user", "content": "Turn it off, please."}]
        cli("capture", "-", "--conversation", "c", stdin=json.dumps(again))
    assert texts(cli("list")) == ["I prefer 40% brightness in the evening."]


# -- S2: groups, speakers, profiles --


def test_the_context_of_the_third_document_has_its_shape(cli):
    cli("profile", "set", "traits", "creative", "analytical")
    cli("profile", "set", "preferences", "prefers detailed explanations")
    cli("profile", "set", "name", "Alice", "--speaker", "user_123")
    cli("profile", "set", "traits", "extroverted", "--speaker", "user_123")
    cli("profile", "set", "preferences", "likes humor", "--speaker", "user_123")
    cli("remember", "User mentioned a trip to Beijing last week", "--kind", "episode")
    context = cli("profile", "context", "How was the trip to Beijing?", "--speaker", "user_123", "--name", "Alice")
    assert context["speaker"] == {"id": "user_123", "name": "Alice"}
    assert set(context["session_profile"]) == {"name", "traits", "preferences", "notes", "updated_at"}
    assert context["session_profile"]["traits"] == ["creative", "analytical"]
    assert context["session_profile"]["preferences"] == ["prefers detailed explanations"]
    assert context["speaker_profile"]["name"] == "Alice"
    assert context["speaker_profile"]["traits"] == ["extroverted"]
    assert context["speaker_profile"]["preferences"] == ["likes humor"]
    assert context["episodes"] == [{"content": "User mentioned a trip to Beijing last week"}]
    assert cli("profile", "context", "")["speaker_profile"] is None


def test_a_correction_supersedes_the_older_episode(cli):
    cli("capture", "--user", "I prefer meetings on Mondays.", "--conversation", "a", "--speaker", "alice")
    cli("capture", "--user", "Actually, I prefer meetings on Tuesdays.", "--conversation", "a", "--speaker", "alice")
    assert texts(cli("list")) == ["Actually, I prefer meetings on Tuesdays."]
    assert "Monday" in json.dumps(cli("list", "--state", "superseded"))


def test_groups_do_not_hear_one_another(cli):
    cli("capture", "--user", "We decided to meet at the lake.", "--scope", "bot-1/group-a", "--speaker", "alice")
    assert texts(cli("list", "--scope", "bot-1/group-a")) == ["We decided to meet at the lake."]
    assert texts(cli("list", "--scope", "bot-1/group-b")) == []
    assert cli("recall", "Where do we meet?", "--scope", "bot-1/group-b")["hits"] == []
