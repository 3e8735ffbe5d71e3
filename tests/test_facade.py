"""The verbs: what they promise, what they refuse, and what they say about it. On both faces where it matters."""

import asyncio
import dataclasses
import inspect
import json
import shutil
from datetime import UTC, date, datetime, timedelta, timezone

import apsw
import pytest

import memoranda
from memoranda import (
    Ambiguous,
    Conflict,
    Draft,
    InvalidInput,
    LedgerDamaged,
    LedgerError,
    LedgerNewer,
    MemorandaError,
    NotFound,
    Refused,
    Settings,
)
from memoranda.aio import AsyncAdmin, AsyncMemory
from memoranda.domain.ports import Candidate, IndexAnswer, IndexEntry
from memoranda.domain.scope import Scope
from memoranda.embedding import registry
from memoranda.service.admin import Admin
from memoranda.service.memory import LongTermMemory
from memoranda.testing.fakes import HashedEmbedder
from memoranda.testing.servers import EmbeddingServer
from support import SCOPE, as_pairs, open_store

VERBS = (
    "remember",
    "remember_many",
    "recall",
    "get",
    "list",
    "history",
    "stats",
    "archive",
    "forget",
    "restore",
    "erase",
)


class Awaited:
    """The async face, called as if it were the sync one: every shared behaviour below runs on both."""

    def __init__(self, runner, memory):
        self._runner = runner
        self._memory = memory
        self.scope = memory.scope

    def within(self, scope):
        return Awaited(self._runner, self._memory.within(scope))

    def __getattr__(self, verb):
        assert verb in VERBS
        return lambda *args, **kwargs: self._runner.run(getattr(self._memory, verb)(*args, **kwargs))


@pytest.fixture(params=["sync", "async"])
def face(request, path, clock):
    settings = Settings(embedder="none", follow=False)
    if request.param == "sync":
        with memoranda.open(path, scope=SCOPE, settings=settings, clock=clock) as memory:
            yield memory
        return
    with asyncio.Runner() as runner:

        async def opening():
            return await memoranda.aio.open(path, scope=SCOPE, settings=settings, clock=clock)

        memory = runner.run(opening())
        yield Awaited(runner, memory)
        runner.run(memory.close())


# -- remembering and asking --


def test_what_is_remembered_is_recalled(face):
    lamp = face.remember("Anna reads by light.bedroom_lamp.", about="light.bedroom_lamp")
    face.remember("Anna prefers short answers.", kind="preference")
    found = face.recall("which lamp does she read by?")
    assert found[0].id == lamp.id
    assert 0 < found[0].score <= 1
    assert found.receipt.returned == len(found)
    assert found.receipt.scopes == ("home/anna", "home")


def test_nothing_relevant_is_an_answer(face):
    empty = face.recall("anything")
    assert len(empty) == 0
    assert empty.receipt.abstained == "nothing to search"
    face.remember("Anna reads by the lamp.")
    none = face.recall("quarterly submarine taxes")
    assert list(none) == []
    assert none.receipt.abstained == "nothing cleared the bar"
    assert face.recall("   ").receipt.abstained == "no query"


def test_the_same_text_is_reinforced_not_kept_twice(face):
    first = face.remember("Anna reads by the lamp.", confidence=0.5, tags=["a"])
    again = face.remember("  anna reads by the LAMP", confidence=0.5, tags=["b"], importance=0.9)
    assert again.id == first.id
    assert again.receipt.outcome == "reinforced"
    assert again.memory.confidence == 0.6
    assert again.memory.tags == ("a", "b")
    assert again.memory.importance == 0.9
    assert face.stats().total == 1
    assert [revision.event.action for revision in face.history(first)] == ["remembered", "reinforced"]


def test_other_speakers_subjects_and_scopes_are_other_memories(face):
    ids = {
        face.remember("I like tea.").id,
        face.remember("I like tea.", speaker="bob").id,
        face.remember("I like tea.", about="tea").id,
        face.remember("I like tea.", source="assistant").id,
        face.within("home/anna/diary").remember("I like tea.").id,
    }
    assert len(ids) == 5


def test_a_correction_supersedes(face, clock):
    old = face.remember("Anna reads by light.bedroom_lamp.")
    before = clock.now()
    clock.advance(days=1)
    new = face.remember("Anna reads by light.desk_lamp now.", supersedes=old)
    assert new.receipt.superseded == old.id
    assert face.get(old).state == "superseded"
    assert face.get(old).superseded_by == new.id
    assert [hit.id for hit in face.recall("which lamp does Anna read by")] == [new.id]
    assert [hit.id for hit in face.recall("which lamp does Anna read by", as_of=before)] == [old.id]
    assert [each.id for each in face.list(as_of=before)] == [old.id]
    assert face.get(old, as_of=before).state == "live"
    with pytest.raises(NotFound):
        face.get(new, as_of=before)
    with pytest.raises(Conflict):
        face.remember("Anna reads in the dark.", supersedes=old)


def test_many_are_kept_together_or_not_at_all(face):
    kept = face.remember_many(["one thing", Draft("another thing", kind="fact")])
    assert [each.memory.kind for each in kept] == ["note", "fact"]
    assert face.remember_many([]) == ()
    with pytest.raises(InvalidInput):
        face.remember_many(["a third thing", ""])
    with pytest.raises(NotFound):
        face.remember_many([Draft("a fourth thing"), Draft("a fifth", supersedes="0123456789abcdefghjk")])
    assert face.stats().total == 2


def test_states_change_only_as_they_may(face):
    kept = face.remember("the lamp stands in the hall")
    with pytest.raises(Conflict):
        face.restore(kept)
    assert face.archive(kept, reason="spring cleaning").receipt.after == "archived"
    assert not face.recall("lamp")
    assert [each.id for each in face.list(states=["archived"])] == [kept.id]
    assert face.recall("lamp", states=["archived"])[0].id == kept.id
    with pytest.raises(Conflict):
        face.archive(kept)
    assert face.restore(kept).memory.state == "live"
    assert face.forget(kept).memory.state == "forgotten"
    for again in (face.forget, face.archive):
        with pytest.raises(Conflict):
            again(kept)
    assert face.restore(kept).memory.state == "live"
    actions = [revision.event.action for revision in face.history(kept)]
    assert actions == ["remembered", "archived", "restored", "forgotten", "restored"]
    assert face.history(kept)[1].event.reason == "spring cleaning"


def test_validity_is_kept_to(face, clock):
    now = clock.now()
    past = face.remember("the lamp was red", valid_until=now)
    future = face.remember("the lamp will be blue", valid_from=now + 1)
    present = face.remember("the lamp is green", valid_from=now, valid_until=now + 1)
    assert [hit.id for hit in face.recall("lamp")] == [present.id]
    assert [each.id for each in face.list()] == [present.id]
    assert face.list(states=()).total == 3
    clock.advance(ms=1)
    assert [hit.id for hit in face.recall("lamp")] == [future.id]
    assert {each.id for each in (past, present)} <= {each.id for each in face.list(states=())}


def test_what_is_said_again_after_its_end_is_found_again(face, clock):
    face.remember("Anna is on holiday.", valid_until=clock.now() + 1_000)
    clock.advance(days=10)
    assert not face.recall("holiday")
    again = face.remember("Anna is on holiday.")
    assert [hit.id for hit in face.recall("Anna holiday")] == [again.id]


def test_listing_filters_and_pages(face):
    for number in range(7):
        face.remember(f"item {number}", kind="fact" if number % 2 else "note", about="x" if number < 3 else "y")
    page = face.list(limit=3, offset=2)
    assert [each.text for each in page] == ["item 4", "item 3", "item 2"]
    assert page.total == 7
    assert [each.text for each in face.list(kind="fact", about="x")] == ["item 1"]
    assert len(face.list(offset=100)) == 0
    assert face.list(about="nothing").total == 0


def test_a_short_beginning_of_an_id_is_enough(face):
    kept = face.remember("the lamp")
    assert face.get(kept.id[:6]).id == kept.id
    with pytest.raises(NotFound):
        face.get("zzzz" if not kept.id.startswith("zzzz") else "yyyy")
    for wrong in ("abc", "", "ILLEGAL!", kept.id + "0", "%", "____", "*"):
        with pytest.raises(InvalidInput):
            face.get(wrong)


def test_an_ambiguous_beginning_names_the_candidates(memory, monkeypatch):
    ids = iter(["abcd" + "0" * 16, "abcd" + "1" * 16])
    monkeypatch.setattr("memoranda.domain.draft.new_id", lambda: next(ids))
    first, second = memory.remember("one"), memory.remember("two")
    with pytest.raises(Ambiguous) as told:
        memory.get("abcd")
    assert told.value.candidates == (first.id, second.id)
    assert memory.get("abcd1").id == second.id


# -- refusing what cannot be kept --

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


# -- scope and trust --


def test_recall_looks_upward_and_never_sideways(path):
    with open_store(path, "bot-1") as memory:
        scopes = [
            "bot-1",
            "bot-1/group-7",
            "bot-1/group-7/alice",
            "bot-1/group-70",
            "bot-1/group-7/al",
            "bot-1/x/alice",
        ]
        ids = {scope: memory.within(scope).remember(f"the secret word of {scope}").id for scope in scopes}
        alice = memory.within("bot-1/group-7/alice")
        visible = {ids[scope] for scope in scopes[:3]}
        assert {hit.id for hit in alice.recall("secret word", limit=50)} == visible
        assert {each.id for each in alice.list()} == visible
        assert alice.stats().by_scope.keys() == set(scopes[:3])
        assert {hit.id for hit in memory.recall("secret word", limit=50)} == {ids["bot-1"]}
    with open_store(path, "bot-10") as other:
        assert not other.recall("secret word")
        assert other.stats().total == 0


def test_a_foreign_id_is_as_unknown_as_one_that_never_was(path):
    with open_store(path, "home/bob") as bob:
        his = bob.remember("Bob's secret").id
    with open_store(path, "home/anna") as anna:
        never = "0123456789abcdefghjk"
        for verb in ("get", "history", "forget", "archive", "restore", "erase"):
            told = []
            for reference in (his, never):
                with pytest.raises(NotFound) as refused:
                    getattr(anna, verb)(reference)
                told.append((str(refused.value).replace(reference, "ID"), refused.value.hint))
            assert told[0] == told[1], verb
        with pytest.raises(NotFound):
            anna.remember("taken over", supersedes=his)
        with pytest.raises(NotFound):
            anna.get(his[:8])
    with open_store(path, "home/bob") as bob:
        assert bob.get(his).state == "live"


def test_what_belongs_above_cannot_be_changed_from_below(path):
    with open_store(path, "home") as home:
        shared = home.remember("the boiler manual is in the cellar", about="boiler", speaker="anna")
    with open_store(path, "home/anna") as anna:
        assert anna.get(shared).id == shared.id
        changes = (
            lambda: anna.forget(shared),
            lambda: anna.archive(shared),
            lambda: anna.erase(shared),
            lambda: anna.remember("it is in the attic", supersedes=shared),
        )
        for change in changes:
            with pytest.raises(Refused) as refused:
                change()
            assert "home" in refused.value.hint
        assert anna.erase(about="boiler").ids == ()
        assert anna.erase(speaker="anna").ids == ()
        assert anna.erase(query="boiler manual").ids == ()
        with pytest.raises(Refused):
            anna.erase(scope="home")
        with pytest.raises(Refused):
            anna.within("home/bob")
        with pytest.raises(Refused):
            anna.within("home")
        assert anna.stats().total == 1
    with open_store(path, "home") as home:
        assert home.get(shared).state == "live"


def test_the_index_proposes_and_the_ledger_disposes(path, monkeypatch):
    """An index that lies, or is behind, cannot show what may not be seen."""
    with open_store(path, "home") as memory:
        anna, bob = memory.within("home/anna"), memory.within("home/bob")
        his = bob.remember("the secret word of Bob")
        gone = anna.remember("the secret word that Anna forgot")
        over = anna.remember("the secret word of yesterday", valid_until=1_000)
        hers = anna.remember("the secret word of Anna")
        anna.forget(gone)
        everything = tuple(Candidate(number, 1.0, None, number, None) for number in range(1, 9))
        monkeypatch.setattr(memory._engine, "search", lambda query: IndexAnswer(everything, 8, 0))
        found = anna.recall("secret word", limit=10)
        assert [hit.id for hit in found] == [hers.id]
        assert sum(found.receipt.dropped.values()) == 7
        assert {his.id, gone.id, over.id}.isdisjoint(hit.id for hit in found)
        loaded = memory._engine.ledger.load(range(1, 9), scope=Scope("home/anna"))
        assert his.id not in {each.id for each in loaded.values()}


@pytest.mark.parametrize("source", ["assistant", "tool", "web", "import"])
def test_what_is_not_trusted_cannot_supersede_what_is(face, source):
    said = face.remember("Anna's code is 1234.")
    with pytest.raises(Refused):
        face.remember("Anna's code is 9999.", source=source, supersedes=said)
    assert face.stats().total == 1
    claimed = face.remember("Anna's code is 9999.", source=source)
    assert claimed.memory.trust == "untrusted"
    assert face.remember("Anna's code is 5678.", supersedes=claimed).receipt.superseded == claimed.id


def test_an_echo_of_the_assistant_does_not_reinforce_what_the_user_said(face):
    said = face.remember("Anna reads by the lamp.", confidence=0.5)
    echo = face.remember("Anna reads by the lamp.", source="assistant", tags=["sneaky"])
    assert echo.id != said.id
    assert face.get(said).confidence == 0.5
    assert face.get(said).tags == ()


# -- results --


def _results(memory):
    words = ("zanzibar", "quokka", "mulberry")
    kept = memory.remember(
        "zanzibar quokka mulberry",
        about="zanzibar",
        speaker="quokka",
        tags=["mulberry"],
        metadata={"zanzibar": "quokka"},
    )
    again = memory.remember("Zanzibar quokka mulberry!", about="zanzibar", speaker="quokka")
    recalled = memory.recall("zanzibar quokka")
    archived = memory.archive(kept, reason="mulberry season")
    restored = memory.restore(kept)
    shown = memory.erase(kept, mode="preview")
    listed, stats, history = memory.list(), memory.stats(), memory.history(kept)
    erased = memory.erase(kept)
    receipts = [each.receipt for each in (kept, again, recalled, archived, restored, shown, erased, recalled[0])]
    return (
        words,
        receipts,
        (kept, again, recalled, archived, listed, stats, history, shown, erased, recalled[0], kept.memory),
    )


def test_receipts_hold_no_word_of_the_memory_and_are_json(face):
    words, receipts, _ = _results(face)
    for receipt in receipts:
        told = json.dumps(receipt.as_json())
        for word in words:
            assert word not in told.casefold(), receipt
            assert word not in repr(receipt).casefold()


def test_results_are_frozen(face):
    _, receipts, results = _results(face)
    for result in (*receipts, *results):
        if isinstance(result, tuple) and not hasattr(result, "_fields"):
            continue
        names = getattr(result, "_fields", None) or getattr(result, "__slots__", None) or ["receipt"]
        for name in [*names, "receipt"]:
            if hasattr(result, name):
                with pytest.raises((AttributeError, TypeError, dataclasses.FrozenInstanceError)):
                    setattr(result, name, "changed")
    for kept in results[:2]:
        with pytest.raises(TypeError):
            kept.memory.metadata["zanzibar"] = "changed"


def test_results_are_json(face):
    kept = face.remember("the lamp", value={"on": [1, 2.5, None]}, metadata={"a": {"b": 1}}, valid_until="2027-01-01")
    shown = json.loads(json.dumps(kept.memory.as_json()))
    assert shown["valid_until"] == "2027-01-01T00:00:00.000Z"
    assert shown["value"] == {"on": [1, 2.5, None]}
    assert shown["grade"] == "unknown"
    for each in (face.stats(), face.history(kept)[0].event):
        assert json.dumps(each.as_json())


def test_what_was_returned_is_what_is_kept(face):
    given = {"list": [1, (2, 3)], "nested": {"a": []}}
    kept = face.remember("the lamp", value=(1, {2: "two"}), metadata=given, tags=["x", "x", " y "])
    given["list"].append("changed by the caller")
    assert kept.memory == face.get(kept)
    assert "changed" not in json.dumps(kept.memory.as_json())


def test_a_receipt_is_the_same_for_the_same_store(face):
    for number in range(20):
        face.remember(f"lamp {number} stands in room {number % 3}")
    first, second = face.recall("lamp in room 2", limit=7), face.recall("lamp in room 2", limit=7)
    assert first.receipt == second.receipt
    assert as_pairs(first) == as_pairs(second)
    for hit in first:
        assert hit.score == pytest.approx(sum(hit.receipt.parts.values()), abs=1e-6)
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)


# -- parity --


def test_the_async_face_has_the_same_verbs_and_signatures():
    for sync, other in ((LongTermMemory, AsyncMemory), (Admin, AsyncAdmin)):
        verbs = {
            name
            for name, member in inspect.getmembers(sync, inspect.isfunction)
            if not name.startswith("_") and name not in ("close", "within", "sweep_if_due")
        }
        assert verbs
        for name in verbs:
            assert inspect.iscoroutinefunction(getattr(other, name)), f"{other.__name__}.{name} is missing"
            assert inspect.signature(getattr(other, name)) == inspect.signature(getattr(sync, name))
    assert set(VERBS) <= set(dir(AsyncMemory))
    opening = inspect.signature(memoranda.aio.open).parameters
    assert list(opening) == list(inspect.signature(memoranda.open).parameters)


# -- the embedder --


def test_with_the_bundled_embedder_a_paraphrase_is_found(opened, model_cache):
    memory = opened(embedder="auto", cache=model_cache)
    wanted = memory.remember("The physician's appointment is on Monday.")
    memory.remember_many(["The boiler manual is in the cellar.", "Bob drinks his tea with milk."])
    found = memory.recall("when do I see the doctor?", limit=1)
    assert found[0].id == wanted.id
    assert found.receipt.lanes == ("lexical", "semantic")
    assert found.receipt.embedder == "use:m3"
    assert found.receipt.degraded == ()


def test_without_its_embedder_recall_goes_on_by_words_and_says_so(opened):
    server = EmbeddingServer(dimensions=48).start()
    url = server.openai_url
    server.close()
    memory = opened(embedder="compatible:some-model", embedder_url=url, query_timeout=0.3)
    memory.admin._engine.configured()._tries = 1
    kept = memory.remember("the boiler manual is in the cellar")
    found = memory.recall("boiler manual")
    assert [hit.id for hit in found] == [kept.id]
    assert found.receipt.lanes == ("lexical",)
    assert any("semantic lane off" in line for line in found.receipt.degraded)
    assert any("no vector" in line for line in found.receipt.degraded)
    assert "boiler" not in json.dumps(found.receipt.as_json())
    status = memory.admin.index_status()
    assert (status.vectors_missing, status.semantic_rows, status.lexical_rows) == (1, 0, 1)
    assert not memory.admin.doctor().ok
    assert memory.admin.verify().ok


@pytest.mark.parametrize("reopened", [True, False])
def test_vectors_that_could_not_be_made_are_made_when_the_embedder_is_back(opened, reopened):
    with EmbeddingServer(dimensions=48) as server:
        settings = {"embedder": "compatible:some-model", "embedder_url": server.openai_url}
        memory = opened(**settings)
        pipeline = memory._engine.configured()
        pipeline._tries = 1
        server.fail("server_error")
        kept = memory.remember("the boiler manual is in the cellar")
        assert memory.recall("boiler manual").receipt.degraded
        if reopened:
            memory.close()
            memory = opened(**settings)
        else:
            pipeline._cold = None  # the pause after a failure is over
        done = memory.admin.maintain()
        assert (done.vectors_made, done.vectors_missing) == (1, 0)
        found = memory.recall("boiler manual")
        assert found[0].id == kept.id
        assert found[0].receipt.semantic_rank == 1
        assert found.receipt.degraded == ()


def test_another_embedder_serves_only_after_a_rebuild_and_spaces_are_never_mixed(opened):
    first = opened(embedder="hashed:one")
    old = first.remember("the boiler manual is in the cellar")
    first.recall("boiler")
    first.close()

    memory = opened(embedder="hashed:two")
    fresh = memory.remember("the reading lamp stands in the hall")
    found = memory.recall("boiler manual")
    assert found[0].id == old.id
    assert found.receipt.embedder == "hashed:one"
    assert found[0].receipt.semantic_rank == 1
    assert memory.recall("reading lamp")[0].receipt.semantic_rank == 1
    status = memory.admin.index_status()
    assert status.rebuild_needed
    assert status.fingerprint.startswith("hashed:one")
    assert status.configured.startswith("hashed:two")
    assert (status.semantic_rows, status.vectors_missing) == (2, 0)
    assert not memory.admin.doctor().ok

    status = memory.admin.rebuild()
    assert not status.rebuild_needed
    assert status.fingerprint.startswith("hashed:two")
    assert (status.semantic_rows, status.vectors_missing) == (2, 0)
    found = memory.recall("reading lamp")
    assert (found.receipt.embedder, found[0].id) == ("hashed:two", fresh.id)
    assert found[0].receipt.parts["semantic"] > 0
    assert memory.admin.doctor().ok


class _Gone(HashedEmbedder):
    """Of a package that is no longer installed."""

    def __init__(self):
        super().__init__()
        self.name, self.fingerprint = "gone:words", "gone:words|1|64"


def test_when_the_embedder_of_the_index_is_not_there_any_more_the_semantic_lane_is_off(opened, monkeypatch):
    with monkeypatch.context() as installed:
        installed.setitem(registry._PROVIDERS, "gone", lambda model, settings: _Gone())
        first = opened(embedder="gone:words")
        kept = first.remember("the boiler manual is in the cellar")
        first.recall("boiler")
        first.close()
    memory = opened(embedder="hashed:words")
    found = memory.recall("boiler manual")
    assert [hit.id for hit in found] == [kept.id]
    assert found.receipt.lanes == ("lexical",)
    assert any("rebuild" in line for line in found.receipt.degraded)
    memory.admin.rebuild()
    assert memory.recall("boiler manual").receipt.lanes == ("lexical", "semantic")


def test_a_rebuild_can_be_interrupted_and_goes_on_where_it_stopped(opened):
    memory = opened(embedder="hashed:one")
    memory.remember_many([f"lamp {number} stands in room {number}" for number in range(300)])
    memory.recall("lamp")
    memory.close()

    memory = opened(embedder="hashed:two")
    told = []

    def interrupt(done, total):
        told.append((done, total))
        if done >= 128:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.admin.rebuild(interrupt)
    assert told[0] == (0, 300)
    assert memory.recall("lamp 7 room").receipt.embedder == "hashed:one", "the old one goes on serving"
    memory.close()

    memory = opened(embedder="hashed:two")
    embedder = memory._engine.configured()._embedder
    assert memory.admin.rebuild().semantic_rows == 300
    assert embedder.asked - 1 == 300 - 128, "what was done before is not done again (one more is the self-test)"
    assert memory.recall("lamp 7 room").receipt.embedder == "hashed:two"


def test_a_probe_that_a_crash_left_behind_is_not_counted_and_stops_nothing(opened):
    memory = opened(embedder="hashed:words")
    memory.recall("opens the index")
    memory._engine.index().apply(
        put=[IndexEntry(-7, "memoranda.probe/dead", "memoranda probe")], drop=(), sequence=None
    )
    kept = memory.remember("the boiler manual is in the cellar")
    assert memory.recall("boiler manual")[0].receipt.semantic_rank == 1
    assert [hit.id for hit in memory.recall("probe boiler")] == [kept.id]
    assert memory.admin.verify().ok
    status = memory.admin.index_status()
    assert (status.lexical_rows, status.semantic_rows, status.vectors_missing) == (1, 1, 0)


# -- files --


def test_files_are_private(opened, path):
    opened(embedder="hashed:words").remember("the lamp")
    assert path.stat().st_mode & 0o777 == 0o600
    for file in path.parent.glob("store.db-*"):
        assert not file.stat().st_mode & 0o077, file


def test_deleting_the_index_loses_nothing_and_changes_no_answer(opened, path):
    memory = opened(embedder="hashed:words")
    memory.remember_many(
        [f"lamp {number} of room {number % 7} is {'on' if number % 2 else 'off'}" for number in range(60)]
    )
    queries = ("lamp 7", "room 3 on", "which lamps are off", "room")
    before = [as_pairs(memory.recall(query, limit=20)) for query in queries]
    assert all(before)
    shutil.rmtree(path.with_name(path.name + "-index"))
    assert [as_pairs(memory.recall(query, limit=20)) for query in queries] == before, "with the process open"
    memory.close()
    shutil.rmtree(path.with_name(path.name + "-index"))
    again = opened(embedder="hashed:words")
    assert [as_pairs(again.recall(query, limit=20)) for query in queries] == before
    assert again.admin.verify().ok


@pytest.mark.parametrize("damage", ["garbage", "middle", "truncated", "empty"])
def test_a_damaged_index_is_replaced(opened, path, damage):
    memory = opened(embedder="hashed:words")
    memory.remember_many([f"lamp {number} stands in the hall" for number in range(50)])
    before = as_pairs(memory.recall("lamp 7"))
    memory.close()
    file = path.with_name(path.name + "-index") / "index-1.db"
    content = file.read_bytes()
    file.write_bytes(
        {
            "garbage": b"this is not a database " * 1_000,
            "middle": content[:20_000] + b"\xff" * (len(content) - 30_000) + content[-10_000:],
            "truncated": content[: len(content) // 2],
            "empty": b"",
        }[damage]
    )
    again = opened(embedder="hashed:words")
    assert as_pairs(again.recall("lamp 7")) == before
    kept = again.remember("a new lamp hangs over the stairs")
    assert again.recall("lamp over the stairs")[0].id == kept.id
    assert again.admin.verify().ok


def _closed_ledger(opened, path):
    memory = opened()
    memory.remember_many([f"lamp {number} " + "stands in the hall " * 20 for number in range(50)])
    memory.close()
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["garbage", "truncated", "head", "text"])
def test_a_damaged_ledger_is_refused_and_not_touched(opened, path, damage):
    content = _closed_ledger(opened, path)
    broken = {
        "garbage": b"\x00\xff" * 10_000,
        "truncated": content[: len(content) // 2 - 100],
        "head": b"X" * 100 + content[100:],
        "text": b"Dear diary, today I was not a database.\n" * 30,
    }[damage]
    path.write_bytes(broken)
    with pytest.raises(LedgerDamaged) as refused:
        opened()
    assert "backup" in refused.value.hint
    assert path.read_bytes() == broken


def test_a_ledger_that_lost_its_content_is_not_taken_for_a_new_one(opened, path):
    memory = opened()
    memory.remember("the lamp")
    memory.recall("lamp")
    memory.close()
    path.write_bytes(b"")
    with pytest.raises(LedgerDamaged, match="lost"):
        opened()
    assert path.read_bytes() == b""


def test_damage_inside_is_found_by_verify(opened, path):
    content = _closed_ledger(opened, path)
    at = content.find(b"lamp 7 ")
    path.write_bytes(content[:at] + b"LAMP 8 " + content[at + 7 :])
    memory = opened()
    verified = memory.admin.verify()
    assert not verified.ok
    assert any(check.fix for check in verified.checks if not check.ok)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_somebody_else_is_refused_and_not_touched(opened, path, mode):
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma journal_mode = {mode}").fetchall()
    connection.execute("create table theirs (x); insert into theirs values (1)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(LedgerDamaged, match="not a Memoranda ledger"):
        opened()
    assert path.read_bytes() == content
    assert {file.name for file in path.parent.iterdir()} == {path.name}


def test_a_newer_ledger_is_refused_and_not_touched(opened, path):
    _closed_ledger(opened, path)
    connection = apsw.Connection(str(path))
    connection.execute("insert into migration values ('m999_from_the_future', 1)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(LedgerNewer, match="m999"):
        opened()
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(LedgerError) as refused:
        open_store(tmp_path / "file" / "store.db")
    assert refused.value.hint


def test_the_schema_enforces_the_vocabularies(memory):
    memory.remember("the lamp")
    writer = memory._engine.ledger.database._writer
    for column in ("kind", "trust", "state", "source", "basis", "confidence", "importance"):
        with pytest.raises(apsw.ConstraintError):
            writer.execute(f"update memory set {column} = 'nonsense'")


def test_the_file_can_be_read_with_any_sqlite_tool(opened, path):
    memory = opened()
    memory.remember(
        "40 % in the evening", kind="preference", about="light", attribute="evening", value="40%", context="sunset"
    )
    memory.remember("Anna's nickname is Annie", kind="fact", about="person:anna", attribute="nickname")
    memory.close()
    connection = apsw.Connection(str(path))
    assert connection.execute("select category, key, value, context from preferences").fetchall() == [
        ("light", "evening", '"40%"', "sunset")
    ]
    assert connection.execute("select entity_id, fact_type, content, source from entity_facts").fetchall() == [
        ("person:anna", "nickname", "Anna's nickname is Annie", "user_stated")
    ]
    assert [row[0] for row in connection.execute("select action from memory_log")] == ["remembered"] * 2
    connection.close()


def test_every_error_is_one_of_ours(memory):
    for call in (lambda: memory.get("0123456789abcdefghjk"), lambda: memory.remember(""), lambda: memory.within("x")):
        with pytest.raises(MemorandaError):
            call()
