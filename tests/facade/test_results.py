"""Results and receipts: frozen, JSON, and without a word of the memory."""

import dataclasses
import inspect
import json
import math

import pytest

import memoranda
from memoranda.aio import AsyncAdmin, AsyncMemory
from memoranda.service.admin import Admin
from memoranda.service.memory import LongTermMemory
from support import as_pairs

from .conftest import VERBS


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
    # A receipt holds the query, which is not memory text: so the query has other forms of its words.
    recalled = memory.recall("zanzi quokk mulber berry", policy="broad")
    assert recalled[0].id == kept.id
    why = memory.why_not("berry", kept)
    again_told = memory.replay(recalled.receipt)
    assert again_told.same
    archived = memory.archive(kept, reason="mulberry season")
    restored = memory.restore(kept)
    shown = memory.erase(kept, mode="preview")
    listed, stats, history = memory.list(), memory.stats(), memory.history(kept)
    erased = memory.erase(kept)
    receipts = [each.receipt for each in (kept, again, recalled, archived, restored, shown, erased, recalled[0], why)]
    return (
        words,
        receipts,
        (
            kept,
            again,
            recalled,
            archived,
            listed,
            stats,
            history,
            shown,
            erased,
            recalled[0],
            kept.memory,
            why,
            again_told,
        ),
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
        factors = math.prod(hit.receipt.factors.values())
        assert hit.score == pytest.approx(min(hit.receipt.relevance * factors, 1.0), abs=1e-5)
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)


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
