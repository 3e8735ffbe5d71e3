"""One sentence with several statements: each is judged by itself, and none is lost without being counted."""

import pytest

from memoranda import user
from memoranda.capture.candidates import found_in
from memoranda.domain.candidate import CAPTURE_MODES

JOINED = [
    ("My name is Anna and I prefer tea.", ["My name is Anna.", "I prefer tea."]),
    ("My name is Bob and I like climbing.", ["My name is Bob.", "I like climbing."]),
    ("My name is Anna, and my favourite colour is green.", ["My name is Anna.", "My favourite colour is green."]),
    ("My name is Anna, I live in Leeds and I prefer tea.", ["My name is Anna.", "I live in Leeds.", "I prefer tea."]),
    ("I live in Berlin and work as a nurse.", ["I live in Berlin.", "I work as a nurse."]),
    ("We live in Berlin and prefer tea.", ["We live in Berlin.", "We prefer tea."]),
    (
        "I live in Leeds and prefer tea and work as a nurse.",
        ["I live in Leeds.", "I prefer tea.", "I work as a nurse."],
    ),
    ("My wife and I prefer tea and my name is Bob.", ["My wife and I prefer tea.", "My name is Bob."]),
    ("Anna likes coffee and I like tea.", ["Anna likes coffee.", "I like tea."]),
    ("Mam na imię Anna i wolę herbatę.", ["Mam na imię Anna.", "Wolę herbatę."]),
    ("Mieszkam w Krakowie i pracuję jako pielęgniarka.", ["Mieszkam w Krakowie.", "Pracuję jako pielęgniarka."]),
    ("Mam na imię Jan, mieszkam w Łodzi i nie jem mięsa.", ["Mam na imię Jan.", "Mieszkam w Łodzi.", "Nie jem mięsa."]),
    ("Ich heiße Anna und ich mag Tee.", ["Ich heiße Anna.", "Ich mag Tee."]),
    ("Ich wohne in Berlin und arbeite als Pfleger.", ["Ich wohne in Berlin.", "Ich arbeite als Pfleger."]),
    ("Je m'appelle Anna et je préfère le thé.", ["Je m'appelle Anna.", "Je préfère le thé."]),
    ("Me llamo Anna y prefiero el té.", ["Me llamo Anna.", "Prefiero el té."]),
    ("Jmenuji se Anna a mám ráda čaj.", ["Jmenuji se Anna.", "Mám ráda čaj."]),
]


def found(text, mode="broad"):
    outcome = found_in(text, mode=mode)
    return [each.text for each in outcome.candidates], dict(outcome.refused)


@pytest.mark.parametrize(("text", "parts"), JOINED)
def test_each_statement_is_a_candidate_of_its_own(text, parts):
    assert found(text) == (parts, {})


@pytest.mark.parametrize("mode", [mode for mode in CAPTURE_MODES if mode != "off"])
@pytest.mark.parametrize(("text", "parts"), JOINED)
def test_a_statement_fares_alone_as_it_fares_joined(text, parts, mode):
    alone = [found_in(part, mode=mode) for part in parts]
    joined = found_in(text, mode=mode)
    assert joined.candidates == tuple(each for outcome in alone for each in outcome.candidates)
    assert sum(joined.refused.values()) == sum(sum(outcome.refused.values()) for outcome in alone)


@pytest.mark.parametrize(
    ("text", "kept", "refused"),
    [
        ("My name is Anna and my email is anna@example.com.", ["My name is Anna."], {"contact data": 1}),
        ("My name is Anna and I prefer tea today.", ["My name is Anna."], {"passing": 1}),
        ("I'm a nurse and live in Berlin.", ["I live in Berlin."], {"nothing to keep": 1}),
        ("My name is Anna and I prefer tea, can you recommend one?", ["My name is Anna", "I prefer tea"], {}),
    ],
)
def test_what_is_not_kept_of_a_sentence_is_counted_by_its_reason(text, kept, refused):
    assert found(text) == (kept, refused)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Remember that my name is Anna and I prefer tea.", ["My name is Anna.", "I prefer tea."]),
        ("My name is Anna and I prefer tea. Please remember that.", ["My name is Anna.", "I prefer tea."]),
        ("Zapamiętaj, że mam na imię Anna i wolę herbatę.", ["Mam na imię Anna.", "Wolę herbatę."]),
    ],
)
def test_what_was_asked_for_is_kept_statement_by_statement(text, parts):
    candidates = found_in(text, mode="explicit").candidates
    assert [(each.text, each.explicit) for each in candidates] == [(part, True) for part in parts]
    assert candidates[0].attribute == "name"
    assert candidates[1].kind == "preference"


@pytest.mark.parametrize(
    "text",
    [
        "I like tea and coffee.",
        "I like to read and to write.",
        "I like to live in Berlin and work as a nurse.",
        "I work between 5 and 6.",
        "My wife and I prefer tea.",
        "I love my wife and my dog.",
        "I love jazz and I love it live.",
        "I like it when I come home and my wife is at the door.",
        "I love rain, I love snow.",
        "Lubię kawę i herbatę.",
        "Lubię czytać i pisać.",
        "Lubię wieczory, kiedy pada i mam psa na kolanach.",
        "Ich mag Tee und Kaffee.",
    ],
)
def test_what_is_one_statement_stays_whole(text):
    assert found(text) == ([text], {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('She said "my name is Anna and I prefer tea".', "quotation"),
        ("My mum says I'm lazy and I hate mornings.", "quotation"),
        ("Mama mówi, że mam na imię Anna i wolę herbatę.", "quotation"),
        ("Is it true that my name is Anna and I prefer tea?", "question"),
        ("If I lived in Leeds and I liked tea, I prefer coffee.", "hypothetical"),
        ("Today I live in Leeds and I prefer tea.", "passing"),
    ],
)
def test_what_covers_a_sentence_covers_each_of_its_statements(text, reason):
    assert found(text) == ([], {reason: 1})


def test_a_new_home_leaves_the_work_that_was_said_with_the_old_one(memory):
    memory.capture([user("I live in Berlin and work as a nurse.")], mode="broad")
    memory.capture([user("I moved to Paris.")], mode="broad")
    assert sorted(each.text for each in memory.list()) == ["I moved to Paris.", "I work as a nurse."]
