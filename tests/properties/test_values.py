"""Laws that hold for all values: what is kept comes back, scopes never widen, no text breaks a search."""

import json
import math
import time
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda import Draft, InvalidInput
from memoranda.domain.clock import MAX_MS, iso, to_ms
from memoranda.domain.memory import BASES, KINDS, SOURCES
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash
from memoranda.index.tokens import document_terms, query_terms
from support import open_store

_ONCE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
visible = words.filter(lambda text: text.strip() and unicodedata.normalize("NFC", text).strip())
any_text = st.text(st.characters(exclude_categories=[]), max_size=200)
moments = st.integers(0, MAX_MS)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def drafts(draw):
    start, end = sorted(draw(st.lists(moments, min_size=2, max_size=2, unique=True)))
    return Draft(
        text=draw(visible),
        kind=draw(st.none() | st.sampled_from(KINDS)),
        about=draw(words),
        attribute=draw(words),
        value=draw(json_values),
        context=draw(words),
        importance=draw(st.none() | st.floats(0, 1)),
        confidence=draw(st.floats(0, 1)),
        source=draw(st.sampled_from(SOURCES)),
        source_ref=draw(words),
        basis=draw(st.sampled_from(BASES)),
        speaker=draw(words),
        conversation=draw(words),
        tags=draw(st.lists(visible.map(str.strip).filter(bool), max_size=5)),
        lang=draw(words),
        metadata=draw(st.none() | st.dictionaries(words, json_values, max_size=4)),
        occurred_at=draw(st.none() | moments),
        valid_from=draw(st.none() | st.just(start)),
        valid_until=draw(st.none() | st.just(end)),
    )


@settings(max_examples=25, deadline=None, suppress_health_check=_ONCE)
@given(given_drafts=st.lists(drafts(), min_size=1, max_size=4))
def test_every_value_comes_back_as_it_was_given(tmp_path_factory, given_drafts):
    path = tmp_path_factory.mktemp("values") / "store.db"
    with open_store(path, "all", secrets="allow", injection="allow") as memory:
        kept = [memory.within(f"all/{n}").remember_many([draft])[0] for n, draft in enumerate(given_drafts)]
    with open_store(path, "all", secrets="allow", injection="allow") as memory:
        for place, (draft, result) in enumerate(zip(given_drafts, kept, strict=True)):
            found = memory.within(f"all/{place}").get(result)
            assert found == result.memory
            assert found.text == unicodedata.normalize("NFC", draft.text)
            for name in ("about", "attribute", "context", "source_ref", "speaker", "conversation", "lang"):
                assert getattr(found, name) == unicodedata.normalize("NFC", getattr(draft, name)).strip()
            for name in ("source", "basis", "confidence", "importance", "occurred_at", "valid_from", "valid_until"):
                assert getattr(found, name) == getattr(draft, name)
            assert found.kind == (draft.kind or "note")
            assert found.value == draft.value
            assert dict(found.metadata) == (draft.metadata or {})
            assert list(found.tags) == list(dict.fromkeys(unicodedata.normalize("NFC", t).strip() for t in draft.tags))
            assert json.dumps(found.as_json())
        assert memory.admin.verify().ok


@given(moment=moments)
def test_a_moment_shown_is_read_back_to_the_millisecond(moment):
    assert to_ms(iso(moment), name="x") == moment


@given(text=any_text)
def test_any_text_is_kept_or_refused_and_nothing_else(text):
    try:
        kept = Draft(text).checked(Scope("home"), now=1, max_text=8_000)
    except InvalidInput:
        return
    assert kept.text.encode()
    assert kept.content_hash == content_hash(kept.text)


# -- scopes --

segments = st.sampled_from(["bot-1", "bot-10", "bot-1.x", "bot", "a", "a+", "a0", "A", "group-7", "x@y:z~"])
paths = st.lists(segments, min_size=1, max_size=4).map("/".join)


@given(one=paths, other=paths)
def test_a_scope_is_seen_from_itself_and_below_and_from_nowhere_else(one, other):
    here, there = Scope(one), Scope(other)
    parts, others = one.split("/"), other.split("/")
    above = parts[: len(others)] == others
    assert here.sees(other) is above
    assert here.contains(other) is (others[: len(parts)] == parts)
    assert here.sees(other) is there.contains(one)
    assert (other in here.chain()) is above
    assert here.chain()[0] == one
    assert len(here.chain()) == len(parts)
    if here.sees(other) and there.sees(one):
        assert here == there


def test_a_longer_name_is_not_below():
    assert not Scope("bot-10").sees("bot-1")
    assert not Scope("bot-1").contains("bot-10")
    assert not Scope("bot-1/alice").sees("bot-1/al")


@given(path=any_text)
def test_what_is_not_a_scope_is_refused(path):
    try:
        scope = Scope(path)
    except InvalidInput:
        return
    assert scope.path == path
    assert path.isascii()
    assert ".." not in path.split("/")
    assert all(path.split("/"))


@settings(max_examples=15, deadline=None, suppress_health_check=_ONCE)
@given(places=st.lists(paths, min_size=2, max_size=8, unique=True), here=paths)
def test_reading_looks_up_and_erasing_looks_down_and_neither_looks_aside(tmp_path_factory, places, here):
    path = tmp_path_factory.mktemp("scopes") / "store.db"
    ids = {}
    for place in places:
        with open_store(path, place) as memory:
            ids[place] = memory.remember("the same thing everywhere").id
    scope = Scope(here)
    with open_store(path, here) as memory:
        seen = {ids[place] for place in places if scope.sees(place)}
        assert {each.id for each in memory.list()} == seen
        assert {hit.id for hit in memory.recall("same thing everywhere", limit=50)} == seen
        assert memory.stats().total == len(seen)
        below = {ids[place] for place in places if scope.contains(place)}
        assert set(memory.erase(scope=here, mode="preview").ids) == below


# -- texts --

STRANGE = {
    "operators": 'lamp AND "NEAR( OR NOT -x* ^y: col:z {a b} (((',
    "sql": "'; drop table memory; --",
    "NUL": "lamp\0lamp",
    "surrogates": "\ud800 lamp \udfff\ud83d",
    "right to left": "\u202elamp\u202c مصباح שלום",
    "emoji": "🫖👩‍👩‍👧‍👦🏳️‍🌈" * 50,
    "combining": "l" + "\u0301" * 1_000 + "amp",
    "ligatures": "ﷺ" * 5_000,
    "dots": "." * 100_000,
    "slashes": "/" * 100_000,
    "tildes and dots": "~." * 50_000,
    "dashes": "a-" * 50_000,
    "underscores": "_" * 100_000,
    "paths": "/a" * 50_000,
    "one long word": "x" * 100_000,
    "words": "lamp boiler " * 9_000,
    "Han": "龍" * 100_000,
    "separators": "-._:/@\\#+~" * 10_000,
    "spaces": " " * 100_000,
    "nothing": "",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
def test_no_text_breaks_or_stalls_the_terms(text):
    began = time.process_time()
    document_terms(text)
    query_terms(text)
    assert time.process_time() - began < 3.0


@given(text=any_text)
def test_terms_of_any_text(text):
    counts, length = document_terms(text)
    assert length >= 1
    assert all(0 <= term < 2**64 for term in counts)
    asked = query_terms(text)
    assert all(set(term.hashes) <= counts.keys() for term in asked)
    assert all(math.isfinite(weight) and weight > 0 for term in asked for weight in term.weights)


@pytest.fixture(scope="module")
def lamps(tmp_path_factory):
    with open_store(tmp_path_factory.mktemp("lamps") / "store.db", embedder="hashed:words") as memory:
        memory.remember_many([f"lamp {number} stands in the hall" for number in range(20)])
        yield memory


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
def test_no_query_is_refused_for_its_characters(lamps, text):
    found = lamps.recall(text)
    assert len(found) <= 5
    if len(text.strip()) > 4_000:
        assert any("cut" in line for line in found.receipt.degraded)


@settings(max_examples=60, deadline=None)
@given(text=any_text)
def test_any_query_gives_scores_between_0_and_1_in_order(lamps, text):
    scores = [hit.score for hit in lamps.recall(text + " lamp 3", limit=20)]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
