"""What cannot be kept or asked is refused with a hint, and nothing is stored."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

import memoranda
from memoranda import (
    InvalidInput,
    Settings,
)
from support import open_store

BAD_DRAFTS = {
    "empty": {"text": ""},
    "blank": {"text": " \n\t "},
    "too long": {"text": "x" * 8_001},
    "NUL": {"text": "a\0b"},
    "surrogate": {"text": "half \ud83d of a pair"},
    "not text": {"text": 7},
    "bytes": {"text": b"bytes"},
    "kind": {"text": "x", "kind": "rumour"},
    "empty kind": {"text": "x", "kind": ""},
    "source": {"text": "x", "source": "nobody"},
    "basis": {"text": "x", "basis": "guessed"},
    "after_erase": {"text": "x", "after_erase": "maybe"},
    "about too long": {"text": "x", "about": "y" * 513},
    "about NUL": {"text": "x", "about": "a\0"},
    "about None": {"text": "x", "about": None},
    "speaker surrogate": {"text": "x", "speaker": "\udc00"},
    "importance": {"text": "x", "importance": 1.5},
    "importance NaN": {"text": "x", "importance": float("nan")},
    "importance text": {"text": "x", "importance": "high"},
    "confidence": {"text": "x", "confidence": -0.1},
    "confidence NaN": {"text": "x", "confidence": float("nan")},
    "confidence bool": {"text": "x", "confidence": True},
    "value NaN": {"text": "x", "value": float("nan")},
    "value object": {"text": "x", "value": object()},
    "value NUL": {"text": "x", "value": "a\0b"},
    "value surrogate": {"text": "x", "value": {"k": "\ud800"}},
    "value too long": {"text": "x", "value": "y" * 16_001},
    "value too deep": {"text": "x", "value": json.loads("[" * 500 + "]" * 500)},
    "metadata list": {"text": "x", "metadata": [1]},
    "metadata keys": {"text": "x", "metadata": {1: 2}},
    "metadata infinite": {"text": "x", "metadata": {"a": float("inf")}},
    "tags text": {"text": "x", "tags": "home"},
    "tags empty": {"text": "x", "tags": [""]},
    "tags many": {"text": "x", "tags": [str(number) for number in range(65)]},
    "tags not text": {"text": "x", "tags": [1]},
    "date": {"text": "x", "occurred_at": "yesterday"},
    "date 31 February": {"text": "x", "valid_from": "2026-02-31"},
    "date before 1970": {"text": "x", "valid_from": "1950-01-01"},
    "date bool": {"text": "x", "valid_from": True},
    "date NaN": {"text": "x", "valid_until": float("nan")},
    "date huge": {"text": "x", "valid_until": 10**18},
    "ends before it begins": {"text": "x", "valid_from": 2_000, "valid_until": 1_000},
    "ends when it begins": {"text": "x", "valid_from": 2_000, "valid_until": 2_000},
    "supersedes no id": {"text": "x", "supersedes": "not an id"},
}


@pytest.mark.parametrize("wrong", BAD_DRAFTS.values(), ids=BAD_DRAFTS.keys())
def test_a_bad_draft_is_refused_with_a_hint_and_nothing_is_stored(memory, wrong):
    with pytest.raises(InvalidInput) as refused:
        memory.remember(**wrong)
    assert refused.value.hint
    assert isinstance(refused.value, ValueError)
    assert len(str(refused.value)) < 300
    assert memory.stats().total == 0
    assert memory.remember("the next one is fine").receipt.sequence == 1


def test_the_longest_text_is_kept_whole(memory):
    text = "ä" * 8_000
    assert memory.get(memory.remember(text)).text == text


def test_another_longest_text_may_be_set(path):
    with open_store(path, max_text=10) as memory:
        memory.remember("0123456789")
        with pytest.raises(InvalidInput, match="11 characters"):
            memory.remember("0123456789a")


BAD_SCOPES = [
    None, "", "*", "../x", "a/../b", "a//b", "a/", "/a", " a", "a b", "żółw", "a\0", "a\n", "\ud800", "%", "a/*", 7,
    b"a",     "a/" * 20 + "a", "x" * 257, ".", "..", "a/.", "-a", "a\\b", "a/\u202e",
]  # fmt: skip


@pytest.mark.parametrize("scope", BAD_SCOPES)
def test_a_bad_scope_fails_closed(path, memory, scope):
    with pytest.raises(InvalidInput) as refused:
        memoranda.open(path.with_name("other.db"), scope=scope, settings=Settings(embedder="none"))
    assert refused.value.hint
    assert not path.with_name("other.db").exists()
    with pytest.raises(InvalidInput):
        memory.within(scope)
    if scope:
        with pytest.raises(InvalidInput):
            memory.erase(scope=scope)


def test_the_scope_is_always_needed(path):
    with pytest.raises(TypeError):
        memoranda.open(path)


@pytest.mark.parametrize("limit", [0, -1, 1_001, 10_000, 2.5, "5", None, True])
def test_a_bad_limit_is_refused(face, limit):
    for ask in (lambda: face.recall("lamp", limit=limit), lambda: face.list(limit=limit)):
        with pytest.raises(InvalidInput):
            ask()


@pytest.mark.parametrize("offset", [-1, 2.5, "5", None, 10**30])
def test_a_bad_offset_is_refused(face, offset):
    with pytest.raises(InvalidInput):
        face.list(offset=offset)


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.list(kind="rumour"),
        lambda memory: memory.list(states=["lost"]),
        lambda memory: memory.list(about="\ud800"),
        lambda memory: memory.list(as_of="someday"),
        lambda memory: memory.recall("x", states=["lost"]),
        lambda memory: memory.recall("x", as_of="someday"),
        lambda memory: memory.recall("x", states=None),
        lambda memory: memory.recall("x", states="live"),
        lambda memory: memory.list(states="live"),
        lambda memory: memory.remember_many("not a list"),
        lambda memory: memory.remember_many(None),
        lambda memory: memory.remember_many([None]),
        lambda memory: memory.remember_many([{"text": "a dict"}]),
        lambda memory: memory.recall(None),
        lambda memory: memory.recall(7),
        lambda memory: memory.get(None),
        lambda memory: memory.get(7),
        lambda memory: memory.erase(mode="later", about="x"),
        lambda memory: memory.erase(about="\ud800"),
        lambda memory: memory.erase(speaker="a\0b"),
        lambda memory: memory.erase(about=7),
        lambda memory: memory.forget("0123456789abcdefghjk", reason="x" * 501),
        lambda memory: memory.forget("0123456789abcdefghjk", reason="\0"),
    ],
)
def test_a_bad_question_is_refused_in_our_own_words(face, ask):
    with pytest.raises(InvalidInput) as refused:
        ask(face)
    assert refused.value.hint


def test_no_states_means_all_of_them(face):
    kept = face.remember("the lamp stands in the hall")
    face.archive(kept)
    assert [each.id for each in face.list(states=())] == [kept.id]
    assert [hit.id for hit in face.recall("lamp", states=())] == [kept.id]


def test_a_bad_actor_is_refused_at_the_door(path):
    for actor in ("\ud800", "a\0", "x" * 513):
        with pytest.raises(InvalidInput):
            open_store(path, actor=actor)
    with open_store(path, actor="żaneta") as memory:
        assert memory.history(memory.remember("the lamp"))[0].event.actor == "żaneta"


def test_a_subject_is_found_as_it_was_written(face):
    kept = face.remember("the lamp", about=" light.office ", speaker=" anna ")
    assert kept.memory.about == "light.office"
    assert [each.id for each in face.list(about=" light.office ")] == [kept.id]
    assert [each.id for each in face.list(speaker="anna ")] == [kept.id]
    assert face.erase(about=" light.office ").ids == (kept.id,)


def test_dates_are_read_to_the_millisecond(face):
    moments = {
        "2026-03-01": 1_772_323_200_000,
        "2026-03-01T12:00:00Z": 1_772_366_400_000,
        "2026-03-01T12:00:00.001Z": 1_772_366_400_001,
        "2026-03-01T13:00:00.019+01:00": 1_772_366_400_019,
        datetime(2026, 3, 1, 12, 0, 0, 57_000, tzinfo=UTC): 1_772_366_400_057,
        datetime(2026, 3, 1, 14, 0, tzinfo=timezone(timedelta(hours=2))): 1_772_366_400_000,
        date(2026, 3, 1): 1_772_323_200_000,
        1_772_366_400_123: 1_772_366_400_123,
    }
    for given, expected in moments.items():
        kept = face.remember(f"it happened at {given}", occurred_at=given)
        assert kept.memory.occurred_at == expected
        assert face.get(kept).occurred_at == expected


def test_as_of_a_day_includes_the_whole_day(face, clock):
    kept = face.remember("the lamp is green")
    clock.advance(ms=86_399_999)
    face.forget(kept)
    clock.advance(ms=1)
    assert not face.list(as_of="2026-01-01"), "it was forgotten in the last millisecond of that day"
    assert [each.id for each in face.list(as_of="2026-01-01T12:00:00Z")] == [kept.id]
    assert face.list(as_of=0).total == 0
