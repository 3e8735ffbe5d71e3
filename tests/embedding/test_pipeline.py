"""The pipeline around an embedder that the test scripts; no clock runs and nobody sleeps."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import (
    ConfigError,
    ProviderError,
    ProviderMissing,
    ProviderRejected,
    ProviderUnavailable,
    ServiceRejected,
)
from memoranda.embedding.pipeline import EmbeddingPipeline, Skipped
from memoranda.embedding.preparation import MARKER, batches, clamp, clean, estimated_tokens
from memoranda.testing.servers import hashed_vector

ANY_TEXT = st.text(st.characters(), max_size=80)


class Clock:
    def __init__(self):
        self.now = 100.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class Scripted:
    """Answers as the script says, one entry for a call: an error to raise, or a function of the texts."""

    name = "scripted:test"
    fingerprint = "scripted:test|prep1|8"

    def __init__(self, *script, dimensions=8):
        self.script = list(script)
        self.dimensions = dimensions
        self.calls = []
        self.closed = 0

    def embed(self, texts, role):
        self.calls.append((tuple(texts), role))
        step = self.script.pop(0) if self.script else None
        if isinstance(step, Exception):
            raise step
        return step(texts) if step else [hashed_vector(text, 8) for text in texts]

    def close(self):
        self.closed += 1


class Picky(Scripted):
    """Refuses any batch with a bad text in it."""

    def embed(self, texts, role):
        rows = super().embed(texts, role)
        if any("bad" in text for text in texts):
            raise ProviderRejected("scripted: too long")
        return rows


def down(**extra):
    return ProviderUnavailable("scripted: status 503", **extra)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def around(clock):
    def make(embedder, **settings):
        defaults = {"sleep": clock.sleep, "monotonic": clock, "random": lambda: 0.5}
        return EmbeddingPipeline(embedder, **(defaults | settings))

    return make


def is_unit(outcome):
    return (
        isinstance(outcome, np.ndarray)
        and outcome.dtype == np.float32
        and abs(float(np.linalg.norm(outcome)) - 1) < 1e-6
    )


# --- clamp


@given(ANY_TEXT, st.integers(8, 40), st.data())
def test_clamped_text_keeps_head_and_tail_and_never_exceeds_the_limit(text, limit, data):
    head = data.draw(st.integers(0, limit - len(MARKER) - 1))
    clamped = clamp(text, limit=limit, head=head)
    cleaned = clean(text)
    assert len(clamped) == min(limit, len(cleaned))
    assert clamped == clamp(text, limit=limit, head=head) == clamp(clamped, limit=limit, head=head)
    if len(cleaned) > limit:
        assert clamped.startswith(cleaned[:head] + MARKER)
        assert cleaned.endswith(clamped[head + len(MARKER) :])
    else:
        assert clamped == cleaned


@given(st.text(st.characters(codec=None), max_size=40))
def test_cleaned_text_is_always_valid_unicode(text):
    clean(text).encode()


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined():
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("a\ud83d\ude00b") == "a😀b"
    assert clean("plain") == "plain"


def test_the_model_sees_the_clamped_text(around):
    embedder = Scripted()
    around(embedder, clamp_chars=20, head_chars=5).embed(["head!" + "x" * 100 + "the tail!!"], "document")
    assert embedder.calls == [(("head!\n...\nthe tail!!",), "document")]


def test_a_head_that_leaves_no_room_is_refused():
    with pytest.raises(ConfigError):
        EmbeddingPipeline(Scripted(), clamp_chars=100, head_chars=95)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
def test_an_empty_text_is_skipped_without_a_call(around, text):
    embedder = Scripted()
    assert around(embedder).embed([text], "document") == [Skipped("empty text")]
    assert embedder.calls == []


def test_outcomes_are_in_the_order_of_the_texts(around):
    first, empty, second, again = around(Scripted()).embed(["one", " ", "two", "one"], "document")
    assert empty == Skipped("empty text")
    assert is_unit(first)
    assert is_unit(second)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


def test_no_texts_are_no_outcomes_and_no_call(around):
    embedder = Scripted()
    assert around(embedder).embed([], "query") == []
    assert embedder.calls == []


# --- cache


def test_a_text_is_asked_for_once(around):
    embedder = Scripted()
    pipeline = around(embedder)
    pipeline.embed(["one", "two", "one"], "document")
    pipeline.embed(["two", "one", "three"], "document")
    assert [texts for texts, _ in embedder.calls] == [("one", "two"), ("three",)]


def test_a_query_and_a_document_are_different_entries(around):
    embedder = Scripted()
    pipeline = around(embedder)
    pipeline.embed(["one"], "document")
    pipeline.embed(["one"], "query")
    assert [role for _, role in embedder.calls] == ["document", "query"]


def test_the_cache_is_bounded_and_the_oldest_leaves_first(around):
    embedder = Scripted()
    pipeline = around(embedder, cache_entries=2)
    pipeline.embed(["one"], "document")
    pipeline.embed(["two"], "document")
    pipeline.embed(["one"], "document")
    pipeline.embed(["three"], "document")
    embedder.calls.clear()
    pipeline.embed(["one", "three"], "document")
    assert embedder.calls == []
    pipeline.embed(["two"], "document")
    assert embedder.calls


@pytest.mark.parametrize("clamped_first", [False, True])
def test_a_forgotten_text_leaves_the_cache_in_every_role(around, clamped_first):
    embedder = Scripted()
    pipeline = around(embedder, clamp_chars=20, head_chars=5)
    text = "a long text that has to be clamped"
    for role in ("query", "document"):
        pipeline.embed([text, "other"], role)
    embedder.calls.clear()
    pipeline.forget([clamp(text, limit=20, head=5) if clamped_first else text])
    pipeline.embed(["other"], "query")
    assert embedder.calls == []
    for role in ("query", "document"):
        pipeline.embed([text], role)
    assert len(embedder.calls) == 2


def test_a_text_forgotten_while_it_is_embedded_does_not_come_back(around):
    embedder = Scripted()
    pipeline = around(embedder)

    def erased_meanwhile(texts):
        pipeline.forget(texts)
        return [hashed_vector(text, 8) for text in texts]

    embedder.script = [erased_meanwhile]
    pipeline.embed(["secret"], "document")
    pipeline.embed(["secret"], "document")
    assert len(embedder.calls) == 2


def test_clear_empties_the_cache(around):
    embedder = Scripted()
    pipeline = around(embedder)
    pipeline.embed(["one"], "document")
    pipeline.clear()
    pipeline.embed(["one"], "document")
    assert len(embedder.calls) == 2


def test_what_was_skipped_is_not_cached(around):
    embedder = Scripted(lambda texts: [[0.0] * 8])
    pipeline = around(embedder)
    assert pipeline.embed(["one"], "document") == [Skipped("a zero vector")]
    assert is_unit(pipeline.embed(["one"], "document")[0])


def test_a_vector_handed_out_cannot_spoil_the_cache(around):
    (vector,) = around(Scripted()).embed(["one"], "document")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 9


def test_many_threads_get_the_same_vectors(around):
    pipeline = around(Scripted(), cache_entries=8)
    expected = {f"text {n}": pipeline.embed([f"text {n}"], "document")[0] for n in range(20)}
    wrong = []

    def work(offset):
        for n in range(60):
            text = f"text {(n * 7 + offset) % 20}"
            if not np.array_equal(pipeline.embed([text], "document")[0], expected[text]):
                wrong.append(text)
            if n % 10 == 0:
                pipeline.forget([text])

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- batches


def test_tokens_are_estimated_by_script():
    assert estimated_tokens("") == 0
    assert estimated_tokens("abcd") == 1
    assert estimated_tokens("abcde") == 2
    assert estimated_tokens("灯在书房") == 4


@given(st.lists(ANY_TEXT, max_size=30), st.integers(1, 30), st.integers(1, 6))
def test_batches_keep_the_order_and_both_limits(texts, tokens, items):
    grouped = list(batches(texts, tokens=tokens, items=items))
    assert [text for batch in grouped for text in batch] == texts
    for batch in grouped:
        assert 1 <= len(batch) <= items
        assert len(batch) == 1 or sum(map(estimated_tokens, batch)) <= tokens
    for batch, following in pairwise(grouped):
        assert len(batch) == items or sum(map(estimated_tokens, [*batch, following[0]])) > tokens


def test_the_embedder_is_asked_in_batches(around):
    embedder = Scripted()
    outcomes = around(embedder, batch_items=2, batch_tokens=4).embed(["aaaa", "bbbb", "cccc", "d" * 16], "document")
    assert [texts for texts, _ in embedder.calls] == [("aaaa", "bbbb"), ("cccc",), ("d" * 16,)]
    assert all(map(is_unit, outcomes))


# --- retries


def test_a_passing_failure_is_tried_again_with_growing_delays(around, clock):
    pipeline = around(Scripted(down(), down()))
    assert is_unit(pipeline.embed(["one"], "document")[0])
    assert clock.slept == [0.5, 1.0]


def test_the_delay_stops_growing(around, clock):
    around(Scripted(*[down()] * 7), tries=8).embed(["one"], "document")
    assert clock.slept == [0.5, 1, 2, 4, 8, 8, 8]


@pytest.mark.parametrize(("drawn", "delay"), [(0.0, 0.4), (1.0, 0.6)])
def test_the_delay_varies_by_a_fifth(around, clock, drawn, delay):
    around(Scripted(down()), random=lambda: drawn).embed(["one"], "document")
    assert clock.slept == [pytest.approx(delay)]


def test_tries_are_counted(around, clock):
    embedder = Scripted(down(), down(), down())
    assert around(embedder).embed(["one"], "document") == [Skipped("scripted: status 503")]
    assert len(embedder.calls) == 3
    assert len(clock.slept) == 2


@pytest.mark.parametrize(("told", "delay"), [(2.5, 2.5), (0.1, 0.5), (3600.0, 60.0)])
def test_the_service_says_when_to_come_back_within_a_minute(around, clock, told, delay):
    around(Scripted(down(retry_after=told))).embed(["one"], "document")
    assert clock.slept == [delay]


@pytest.mark.parametrize("error", [ProviderMissing("no package"), ProviderError("odd"), ServiceRejected("no key")])
def test_what_will_not_pass_is_not_tried_again(around, clock, error):
    embedder = Scripted(error)
    one, two = around(embedder).embed(["one", "two"], "document")
    assert one.reason == two.reason == f"{error} ({error.hint})"
    assert len(embedder.calls) == 1
    assert clock.slept == []


def test_what_is_not_a_providers_error_propagates(around):
    with pytest.raises(ZeroDivisionError):
        around(Scripted(ZeroDivisionError())).embed(["one"], "document")


# --- one bad text


def test_one_bad_text_does_not_take_the_others_with_it(around):
    embedder = Picky()
    texts = [f"good {n}" for n in range(63)]
    texts.insert(40, "bad")
    outcomes = around(embedder).embed(texts, "document")
    assert outcomes[40] == Skipped("scripted: too long")
    assert all(is_unit(outcome) for place, outcome in enumerate(outcomes) if place != 40)
    assert len(embedder.calls) == 13  # the whole, then two halves six times over


def test_only_bad_texts_are_all_skipped(around):
    outcomes = around(Picky()).embed(["bad 1", "bad 2", "bad 3"], "document")
    assert outcomes == [Skipped("scripted: too long")] * 3


def test_a_bad_text_does_not_cool_the_service_down(around):
    pipeline = around(Picky())
    pipeline.embed(["bad"], "query")
    assert is_unit(pipeline.embed(["good"], "query")[0])


def test_a_refused_key_is_asked_about_once_not_for_each_text(around):
    embedder = Scripted(ServiceRejected("scripted: the key was refused", hint="Set SCRIPTED_KEY."))
    outcomes = around(embedder).embed(["one", "two", "three"], "document")
    assert outcomes == [Skipped("scripted: the key was refused (Set SCRIPTED_KEY.)")] * 3
    assert len(embedder.calls) == 1


# --- reasons


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("my PIN is 4821", "invalid input: 'my PIN is 4821'"),
        ("PIN 4821", 'input "PIN 4821" is not valid'),
        ("Anna's  diary,\nall of it", "cannot embed: Anna's diary, all"),
    ],
)
def test_a_reason_never_repeats_the_text(around, text, message):
    (outcome,) = around(Scripted(ProviderRejected(message))).embed([text], "document")
    assert outcome.reason.startswith("scripted:test: ProviderRejected")
    assert not any(word in outcome.reason for word in text.split() if len(word) > 3)


def test_a_reason_is_short_and_on_one_line(around):
    (outcome,) = around(Scripted(ProviderRejected("status\n400 " * 100))).embed(["Zażółć gęślą jaźń"], "document")
    assert len(outcome.reason) == 200
    assert "\n" not in outcome.reason


# --- the deadline of a query


def test_a_query_is_not_retried_past_its_deadline(around, clock):
    embedder = Scripted(down(), down(), down())
    outcome = around(embedder, query_deadline=1.2).embed(["one"], "query")
    assert outcome == [Skipped("scripted: status 503")]
    assert clock.slept == [0.5]
    assert len(embedder.calls) == 2


def test_a_query_does_not_wait_as_long_as_it_is_told(around, clock):
    assert around(Scripted(down(retry_after=30))).embed(["one"], "query") == [Skipped("scripted: status 503")]
    assert clock.slept == []


def test_an_embedder_that_can_is_told_how_long_it_may_take(around, clock):
    class Bounded(Scripted):
        def embed_within(self, texts, role, *, seconds):
            allowed.append(seconds)
            return self.embed(texts, role)

    allowed = []
    pipeline = around(Bounded(down()), query_deadline=5)
    pipeline.embed(["one"], "query")
    assert allowed == [5, 4.5]
    pipeline.embed(["two"], "document")
    assert len(allowed) == 2


def test_a_slow_service_leaves_the_rest_of_a_query_without_vectors(around, clock):
    def slow(texts):
        clock.now += 6
        return [hashed_vector(text, 8) for text in texts]

    first, second = around(Scripted(slow), batch_items=1).embed(["one", "two"], "query")
    assert is_unit(first)
    assert second == Skipped("out of time: a query may take 5 s")


# --- cooling down


@pytest.mark.parametrize("role", ["query", "document"])
def test_a_dead_service_is_left_alone_for_a_while(around, clock, role):
    embedder = Scripted(*[down()] * 3)
    pipeline = around(embedder)
    pipeline.embed(["one"], "document")
    embedder.calls.clear()

    clock.now += 29
    assert pipeline.embed(["two"], role) == [Skipped("cooling down after: scripted: status 503")]
    assert embedder.calls == []

    clock.now += 2
    assert is_unit(pipeline.embed(["two"], role)[0])


def test_the_rest_of_the_batches_is_not_tried_on_a_dead_service(around):
    embedder = Scripted(*[down()] * 3)
    first, second = around(embedder, batch_items=1).embed(["one", "two"], "document")
    assert first == Skipped("scripted: status 503")
    assert second == Skipped("cooling down after: scripted: status 503")
    assert len(embedder.calls) == 3


def test_a_success_ends_the_cooling(around, clock):
    pipeline = around(Scripted(*[down()] * 3))
    pipeline.embed(["one"], "document")
    clock.now += 31
    pipeline.embed(["two"], "query")
    clock.now -= 30
    assert is_unit(pipeline.embed(["three"], "query")[0])


def test_the_cache_answers_while_the_service_is_dead(around):
    pipeline = around(Scripted(None, *[down()] * 3))
    pipeline.embed(["one"], "query")
    pipeline.embed(["two"], "query")
    one, two = pipeline.embed(["one", "two"], "query")
    assert is_unit(one)
    assert two.reason.startswith("cooling down")


def test_a_service_that_asks_for_longer_is_left_alone_for_longer(around, clock):
    embedder = Scripted(down(retry_after=50))
    pipeline = around(embedder, tries=1)
    pipeline.embed(["one"], "query")
    clock.now += 45
    assert pipeline.embed(["one"], "query")[0].reason.startswith("cooling down")


# --- vectors


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([0.0] * 8, "a zero vector"),
        ([float("nan")] + [1.0] * 7, "a vector that is not finite"),
        ([float("inf")] + [1.0] * 7, "a vector that is not finite"),
        ([None] * 8, "a vector that is not finite"),
        ([1.0] * 7, "wrong dimensions: expected 8, got 7"),
        ([1.0] * 9, "wrong dimensions: expected 8, got 9"),
        ([], "not a vector of numbers"),
        (["a"] * 8, "not a vector of numbers"),
        ("AACAPwAAgD8=", "not a vector of numbers"),
        ([[1.0] * 8], "not a vector of numbers"),
        ([10**400] * 8, "not a vector of numbers"),
        ({"values": [1.0]}, "not a vector of numbers"),
    ],
)
def test_what_is_no_vector_is_skipped_and_its_neighbours_are_not(around, row, reason):
    embedder = Scripted(lambda texts: [[1.0] * 8, row, [2.0] * 8])
    first, spoilt, last = around(embedder).embed(["one", "two", "three"], "document")
    assert spoilt == Skipped(reason)
    assert is_unit(first)
    assert is_unit(last)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_vectors_is_worth_none(around, count):
    outcomes = around(Scripted(lambda texts: [[1.0] * 8] * count)).embed(["one", "two"], "document")
    assert outcomes == [Skipped(f"wrong number of vectors: expected 2, got {count}")] * 2


def test_dimensions_are_learnt_from_the_first_answer(around):
    embedder = Scripted(lambda texts: [[1.0] * 5], lambda texts: [[1.0] * 6], dimensions=None)
    pipeline = around(embedder)
    assert pipeline.dimensions is None
    assert is_unit(pipeline.embed(["one"], "document")[0])
    assert pipeline.dimensions == 5
    assert pipeline.embed(["two"], "document") == [Skipped("wrong dimensions: expected 5, got 6")]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=6))
def test_an_outcome_is_a_unit_vector_or_skipped(row):
    (outcome,) = EmbeddingPipeline(Scripted(lambda texts: [row], dimensions=None)).embed(["one"], "document")
    assert isinstance(outcome, Skipped) or is_unit(outcome)
    assert isinstance(outcome, Skipped) == (not np.isfinite(row).all() or not np.any(row))


def test_a_numpy_array_is_as_good_as_lists(around):
    embedder = Scripted(lambda texts: np.full((2, 8), 3, dtype=np.float16))
    assert all(map(is_unit, around(embedder).embed(["one", "two"], "document")))


def test_identity_is_the_embedders_own_and_close_closes_it(around):
    embedder = Scripted()
    pipeline = around(embedder)
    assert (pipeline.name, pipeline.fingerprint, pipeline.dimensions) == ("scripted:test", "scripted:test|prep1|8", 8)
    pipeline.close()
    pipeline.close()
    assert embedder.closed == 2
