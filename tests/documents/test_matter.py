"""What a document says of itself. Nothing in it is ever an error, and no document makes itself trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.documents.lines import lines_of
from memoranda.documents.matter import front_length, matter_of, trust_with
from memoranda.domain.clock import to_ms
from memoranda.domain.document import Matter


def day(text):
    return to_ms(text, name="day")


def told(front, *, path="memory/note.md", body="Text.\n"):
    return matter_of(path, f"---\n{front}\n---\n{body}")


def test_a_plain_document_says_nothing():
    assert matter_of("memory/note.md", "Just text.\n") == (Matter(), ())


def test_the_fields_of_a_front_matter_are_read():
    found = told(
        """\
# written by hand
title: "The boiler: a \\"manual\\""   # a remark
tags: [home, 'the cellar', "a, b", #cold]
date: 2026-03-01
trust: quarantined
other:
  nested: value
author: Anna # who else"""
    )
    assert found.matter == Matter(
        title='The boiler: a "manual"',
        tags=("home", "the cellar", "a, b", "cold"),
        dated=day("2026-03-01"),
        trust="quarantined",
    )
    assert found.notes == ()


@pytest.mark.parametrize(
    "front",
    [
        "tags:\n  - home\n  - cellar # cold",
        "tags:\n- home\n- 'cellar'",
        "tags: home, cellar",
        "tags: [home, cellar,]",
        "Tags: ['#home', \"cellar\"]",
    ],
)
def test_tags_are_read_in_each_way_that_people_write_them(front):
    assert told(front).matter.tags == ("home", "cellar")


def test_tags_are_bounded_and_each_is_there_once():
    assert told("tags: [a, b, a]").matter.tags == ("a", "b")
    many = told("tags:\n" + "\n".join(f"- t{n}" for n in range(100)))
    assert len(many.matter.tags) == 64
    assert many.notes == ("there are more than 64 tags",)


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-01",
        "'2026-03-01'",
        "2026-03-01T12:30:00Z",
        "2026-03-01 12:30",
        "2026/03/01",
        "2026-3-1",
        "2026-03-01 10:00:00 +0100",
    ],
)
def test_a_date_is_read_in_each_way_that_people_write_it(written):
    assert told(f"date: {written}").matter.dated == day("2026-03-01")


def test_the_day_that_it_is_about_comes_before_the_name_and_that_before_its_changes():
    name = "memory/2026-02-02.md"
    assert told("date: 2026-01-01\nupdated: 2026-03-03", path=name).matter.dated == day("2026-01-01")
    assert told("created: 2025-01-01\nupdated: 2026-03-03", path=name).matter.dated == day("2026-02-02")
    assert told("created: 2025-01-01\nupdated: 2026-03-03").matter.dated == day("2026-03-03")
    assert told("created: 2025-01-01").matter.dated == day("2025-01-01")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2026-03-01.md", "2026-03-01"),
        ("memory/2026-03-01-notes.md", "2026-03-01"),
        ("memory/notes-2026_03_01.md", "2026-03-01"),
        ("memory/20260301.md", "2026-03-01"),
        ("memory/202603011230 zettel.md", "2026-03-01"),
        ("memory/20260301T1230.md", "2026-03-01"),
        ("memory/2026.03.01.md", "2026-03-01"),
        ("memory/2026/03/01.md", "2026-03-01"),
        ("memory/2026-03-01/notes.md", "2026-03-01"),
        ("memory/2025-12-31/2026-03-01.md", "2026-03-01"),
        ("memory/2026-W09.md", "2026-02-23"),
    ],
)
def test_a_dated_name_dates_a_document(path, expected):
    assert matter_of(path, "Text.").matter.dated == day(expected)


@pytest.mark.parametrize(
    "path",
    [
        "notes.md",
        "2026-13-01.md",
        "2026-02-30.md",
        "2026-03_01.md",
        "12345678.md",
        "120260301.md",
        "2026-W60.md",
        "room-2026.md",
        "0001-01-01.md",
    ],
)
def test_a_name_without_a_day_dates_nothing(path):
    assert matter_of(path, "Text.").matter.dated is None


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.md", "USER.md", "memory/MEMORY.md"])
def test_what_is_evergreen_has_no_day(name):
    found = told("date: 2020-01-01", path=name).matter
    assert found.evergreen
    assert found.dated is None


@pytest.mark.parametrize("front", ["evergreen: true", "pinned: yes", "Pinned: 'on'"])
def test_a_document_can_say_that_it_does_not_age(front):
    found = told(front, path="2026-03-01.md").matter
    assert found.evergreen
    assert found.dated is None
    assert told("evergreen: false", path="2026-03-01.md").matter.dated is not None


def test_a_document_can_only_lower_its_trust():
    assert told("trust: trusted").matter.trust is None
    assert told("trust: trusted").notes == ("line 2: trust can only be lowered",)
    assert told("trust: Untrusted").matter.trust == "untrusted"
    assert told("trust: root").matter.trust is None
    assert trust_with("untrusted", None) == "untrusted"
    assert trust_with("untrusted", "trusted") == "untrusted"
    assert trust_with("trusted", "quarantined") == "quarantined"
    assert trust_with("quarantined", "untrusted") == "quarantined"


def test_what_is_not_understood_is_a_note_that_holds_no_text():
    found = told("date: whenever\npinned: perhaps\ntitle:\n  - a\n  - b\nsecret words\ntags: [a, b\ncreated: {a: 1}")
    assert found.matter == Matter()
    assert found.notes == (
        "line 7 is not understood",
        "line 8: tags is not understood",
        "line 9: created is not understood",
        "line 3: pinned is neither true nor false",
        "line 2: date is not a date",
        "line 4: title is a list where one value is expected",
    )


def test_the_first_heading_is_the_title_when_none_is_given():
    assert matter_of("a.md", "```\n# code\n```\n\n## Second\n\n# The boiler #\n").matter.title == "The boiler"
    assert told("title: Given", body="# Heading\n").matter.title == "Given"
    assert matter_of("a.md", "#hashtag\n\n    # code\n").matter.title == ""
    assert matter_of("a.md", "# C#\n").matter.title == "C#"
    assert matter_of("a.md", "# ##\n").matter.title == ""
    assert len(matter_of("a.md", "# " + "x" * 900).matter.title) == 200


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\na: b\n---\ntext", 3),
        ("---\r\na: b\r\n...\r\ntext", 3),
        ("---  \n# remark\n\na:\n---", 5),
        ("---\nA text between rules.\n---\n", 0),
        ("---\n---\n", 0),
        ("---\na: b\n", 0),
        ("\n---\na: b\n---\n", 0),
        ("----\na: b\n---\n", 0),
        ("---\na: b\n" + "x\n" * 300 + "---\n", 0),
        ("", 0),
    ],
)
def test_front_matter_is_what_stands_first_between_marks_and_begins_with_a_key(text, length):
    assert front_length(lines_of(text)) == length


WORDS = st.sampled_from(
    [
        "---",
        "...",
        "title:",
        "tags:",
        "tags: [",
        "date: ",
        "trust: trusted",
        "pinned: |",
        "- ",
        "  - x",
        '"',
        "'",
        "]",
        "#",
        ": ",
        "x",
        "2026-03-01",
    ]
)


@given(st.text(max_size=40), st.lists(WORDS | st.text(max_size=8), max_size=20).map("\n".join))
def test_no_document_is_an_error_or_makes_itself_trusted(path, front):
    for text in (front, f"---\na: b\n{front}\n---\ntext", f"---\n{front}"):
        found = matter_of(path, text)
        assert found.matter.trust in (None, "untrusted", "quarantined")
        assert len(found.matter.tags) <= 64
