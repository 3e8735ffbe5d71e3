"""Contract suites: subclass one in your tests, give it the fixture it asks for, and pytest runs the rest.

What they check is what the pipeline and the index rely on. They do not judge how good an answer is.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoranda.domain.errors import ProviderError
from memoranda.domain.memory import STATES
from memoranda.domain.ports import Candidate, Embedder, Index, IndexAnswer, IndexEntry, IndexQuery, Meaning, Role
from memoranda.testing.context_contract import (
    ABOVE,
    BESIDE,
    HERE,
    IndexContextContract,
    OpenIndex,
    entry,
    in_files,
    vector_of,
)

_TEXTS = ("Anna prefers short answers.", "The boiler manual is in the cellar.", "灯在书房。", "Zażółć gęślą jaźń")


class EmbedderContract:
    """For an `Embedder`: needs a fixture `embedder`. Set `key` to the one that it was given, if any."""

    key = ""

    def calls(self) -> int:
        """How often the service behind it was asked so far. Override it to have laziness checked."""
        return 0

    def test_there_is_one_row_for_each_text(self, embedder: Embedder) -> None:
        assert len(_rows(embedder, *_TEXTS)) == len(_TEXTS)

    def test_a_single_text_has_a_single_row(self, embedder: Embedder) -> None:
        assert len(_rows(embedder, _TEXTS[0])) == 1

    def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forth = _rows(embedder, *_TEXTS)
        back = _rows(embedder, *reversed(_TEXTS))
        for row, same in zip(forth, reversed(back), strict=True):
            assert _cosine(row, same) > 0.999

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        first, second = _rows(embedder, *_TEXTS[:2])
        assert _cosine(first, second) < 0.999

    def test_every_row_has_the_same_dimensions(self, embedder: Embedder) -> None:
        lengths = {row.size for row in [*_rows(embedder, *_TEXTS), *_rows(embedder, _TEXTS[0], role="query")]}
        assert len(lengths) == 1
        assert embedder.dimensions in (None, *lengths)

    def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        assert _cosine(*_rows(embedder, _TEXTS[0], _TEXTS[0])) > 0.999
        assert _cosine(*_rows(embedder, _TEXTS[0]), *_rows(embedder, _TEXTS[0])) > 0.999

    def test_vectors_are_finite_and_not_zero(self, embedder: Embedder) -> None:
        for row in _rows(embedder, *_TEXTS):
            assert np.isfinite(row).all()
            assert np.any(row)

    def test_a_query_finds_its_document(self, embedder: Embedder) -> None:
        documents = _rows(embedder, *_TEXTS)
        for place, text in enumerate(_TEXTS):
            (query,) = _rows(embedder, text, role="query")
            assert int(np.argmax([_cosine(query, document) for document in documents])) == place

    def test_the_name_and_the_fingerprint_need_no_call_and_do_not_change(self, embedder: Embedder) -> None:
        before = (embedder.name, embedder.fingerprint)
        assert all(before)
        assert self.calls() == 0
        _rows(embedder, _TEXTS[0])
        assert (embedder.name, embedder.fingerprint) == before

    def test_the_key_is_not_shown(self, embedder: Embedder) -> None:
        shown = f"{embedder.name} {embedder.fingerprint} {embedder!r} {embedder!s}"
        assert not self.key or self.key not in shown

    def test_a_lone_surrogate_is_embedded_or_refused(self, embedder: Embedder) -> None:
        _embedded_or_refused(embedder, "half \ud83d of a pair")

    def test_a_huge_text_is_embedded_or_refused(self, embedder: Embedder) -> None:
        _embedded_or_refused(embedder, "long " * 20_000)

    def test_it_may_be_closed_twice(self, embedder: Embedder) -> None:
        _rows(embedder, _TEXTS[0])
        embedder.close()
        embedder.close()


def _rows(embedder: Embedder, *texts: str, role: Role = "document") -> list[NDArray[np.float64]]:
    return [np.asarray(row, dtype=np.float64) for row in embedder.embed(list(texts), role)]


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _embedded_or_refused(embedder: Embedder, text: str) -> None:
    with suppress(ProviderError):
        assert len(_rows(embedder, text)) == 1


class IndexContract(IndexContextContract):
    """For an `Index`: needs a fixture `open_index`, which opens the same index anew each time it is called, and
    `other_index`, which does so with another one.

    The fixtures close what they opened. Vectors of 64 dimensions are given to it.
    """

    def test_an_empty_index_finds_nothing(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.sequence == 0
        assert _ask(index, "lamp").candidates == ()
        assert (index.counts().entries, index.counts().vectors) == (0, 0)

    def test_what_was_applied_is_found_by_both_lanes(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.apply(put=_SENTENCES, drop=(), sequence=4)
        assert index.sequence == 4
        first = _ask(index, "boiler manual").candidates[0]
        assert first.number == 2
        assert (first.lexical_rank, first.semantic_rank) == (1, 1)
        assert 0.5 < first.coverage <= 1.5
        assert first.cosine is not None
        assert 0.4 < first.cosine <= 1.001

    def test_each_lane_answers_alone(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        by_words = index.search(IndexQuery((HERE,), text="boiler"))
        assert _numbers(by_words) == [2]
        assert by_words.candidates[0].cosine is None
        by_meaning = index.search(IndexQuery((HERE,), vector=vector_of("boiler manual")))
        assert by_meaning.candidates[0].number == 2
        assert by_meaning.candidates[0].lexical_rank is None

    def test_an_entry_without_a_vector_is_found_by_words_and_has_no_cosine(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "a bare lamp", vector=False), entry(2, "a boiler")], drop=(), sequence=2)
        found = {candidate.number: candidate for candidate in _ask(index, "lamp").candidates}
        assert found[1].cosine is None
        assert found[1].semantic_rank is None
        assert _ask(index, "lamp").with_vector == 1
        assert index.missing_vectors(10) == (1,)

    def test_what_was_put_aside_is_never_found_again(self, open_index: OpenIndex) -> None:
        index, other = open_index(), open_index()
        crowd = [entry(number, f"the lamp {number}") for number in range(1, 1_101)]
        index.apply(put=crowd, drop=(), sequence=1)
        assert _numbers(_ask(other, "the lamp 7"))
        for gone in ([7, 77, 9_999], range(100, 700), [900]):
            index.apply(put=(), drop=gone, sequence=None, at_once=False)
            for reader in (index, other, open_index()):
                assert not set(_numbers(_ask(reader, "the lamp 7 77 100 699 900"))) & set(gone)
                assert not reader.holds(gone)
        index.optimize()
        assert index.counts().entries == 1_100 - 2 - 600 - 1
        index.apply(put=[entry(7, "the lamp 7 again")], drop=(), sequence=None)
        assert 7 in _numbers(_ask(other, "the lamp 7 again"))
        index.apply(put=(), drop=range(1, 1_101), sequence=2, at_once=False)
        assert index.counts().entries == 0
        assert not _numbers(_ask(other, "the lamp"))

    def test_what_was_dropped_is_gone(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        index.apply(put=(), drop=[2, 77], sequence=5)
        assert 2 not in _numbers(_ask(index, "boiler manual"))
        assert index.holds([1, 2, 3, 77]) == {1, 3}
        assert index.sequence == 5

    def test_an_entry_replaces_the_one_of_the_same_number(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        index.apply(put=[entry(2, "the sailing boat")], drop=(), sequence=5)
        assert _numbers(index.search(IndexQuery((HERE,), text="boiler"))) == []
        assert _numbers(index.search(IndexQuery((HERE,), text="sailing"))) == [2]
        assert index.counts().entries == len(_SENTENCES)

    def test_an_entry_may_move_to_another_scope(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "the lamp")], drop=(), sequence=1)
        assert _numbers(_ask(index, "lamp")) == [1]
        index.apply(put=[entry(1, "the lamp", scope=BESIDE)], drop=(), sequence=2)
        assert _numbers(_ask(index, "lamp")) == []
        assert _numbers(_ask(index, "lamp", scopes=(BESIDE,))) == [1]

    def test_only_the_scopes_asked_for_are_searched(self, open_index: OpenIndex) -> None:
        index = open_index()
        scopes = (HERE, ABOVE, BESIDE, "home/ann", "home/anna/diary", "home/anna-2")
        index.apply(
            put=[entry(number, "the lamp", scope=scope) for number, scope in enumerate(scopes, start=1)],
            drop=(),
            sequence=1,
        )
        assert sorted(_numbers(_ask(index, "lamp", scopes=(HERE, ABOVE)))) == [1, 2]
        assert _ask(index, "lamp", scopes=(HERE, ABOVE)).searched == 2
        assert _numbers(_ask(index, "lamp", scopes=("nowhere",))) == []

    def test_nothing_of_another_scope_is_felt_in_a_score(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        before = _ask(index, "boiler manual lamp").candidates
        index.apply(put=[entry(100 + n, "boiler boiler lamp", scope=BESIDE) for n in range(50)], drop=(), sequence=5)
        assert _ask(index, "boiler manual lamp").candidates == before

    def test_scope_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp", scope=BESIDE) for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert _numbers(_ask(index, "lamp", pool=1)) == [60]

    def test_state_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp", state="forgotten") for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert _numbers(_ask(index, "lamp", pool=1)) == [60]
        assert len(_ask(index, "lamp", pool=100, states=frozenset({"forgotten"})).candidates) == 59
        assert len(_ask(index, "lamp", pool=100, states=frozenset(STATES)).candidates) == 60

    def test_validity_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        past = [entry(n, "lamp lamp lamp", valid_until=1_000) for n in range(1, 30)]
        future = [entry(n, "lamp lamp lamp", valid_from=1_001) for n in range(30, 60)]
        index.apply(put=[*past, *future, entry(60, "a lamp in some corner")], drop=(), sequence=1)
        assert _numbers(_ask(index, "lamp", pool=1, now=1_000)) == [60]
        assert len(_ask(index, "lamp", now=999).candidates) == 30
        assert len(_ask(index, "lamp", now=1_001).candidates) == 31
        assert len(_ask(index, "lamp", now=None).candidates) == 60

    def test_allow_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp") for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert _numbers(_ask(index, "lamp", pool=1, allow=frozenset({60, 61}))) == [60]
        assert _numbers(_ask(index, "lamp", allow=frozenset())) == []

    def test_the_best_is_not_lost_among_many_equals_and_equals_come_in_order(self, open_index: OpenIndex) -> None:
        index = open_index()
        equals = [entry(n, "there was a lamp in some corner") for n in range(1, 12)]
        index.apply(put=[*equals, entry(12, "lamp lamp")], drop=(), sequence=1)
        by_words = index.search(IndexQuery((HERE,), text="lamp", pool=3))
        assert [candidate.number for candidate in by_words.candidates] == [12, 1, 2]
        by_meaning = index.search(IndexQuery((HERE,), vector=vector_of("lamp"), pool=3))
        assert [candidate.number for candidate in by_meaning.candidates] == [12, 1, 2]

    def test_the_tail_of_the_query_stands_over_what_is_held(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        tail = (entry(2, "the sailing boat"), entry(9, "a fresh lamp"), entry(10, "a hidden boat", scope=BESIDE))
        answer = _ask(index, "sailing boat", tail=tail)
        assert answer.candidates[0].number == 2
        assert 10 not in _numbers(answer)
        assert _numbers(index.search(IndexQuery((HERE,), text="boiler", tail=tail))) == []
        assert 9 in _numbers(_ask(index, "fresh lamp", tail=tail))
        assert index.holds([9, 10]) == frozenset()

    def test_the_tail_gives_the_scores_that_applying_it_would_give(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES[:2], drop=(), sequence=2)
        overlaid = _ask(index, "manual lamp", tail=tuple(_SENTENCES[2:]))
        index.apply(put=_SENTENCES[2:], drop=(), sequence=4)
        assert overlaid.candidates == _ask(index, "manual lamp").candidates

    def test_hidden_numbers_do_not_come_back(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        assert 2 not in _numbers(_ask(index, "boiler manual", hidden=frozenset({2})))

    def test_what_one_applies_the_other_finds_at_once(self, open_index: OpenIndex) -> None:
        one, other = open_index(), open_index()
        assert _numbers(_ask(other, "lamp")) == []
        one.apply(put=[entry(1, "the lamp")], drop=(), sequence=1)
        assert _numbers(_ask(other, "lamp")) == [1]
        other.apply(put=[entry(2, "another lamp")], drop=(), sequence=2)
        assert sorted(_numbers(_ask(one, "lamp"))) == [1, 2]
        one.apply(put=(), drop=[1], sequence=3)
        assert _numbers(_ask(other, "lamp")) == [2]
        assert (one.sequence, other.sequence) == (3, 3)

    def test_every_thread_finds_what_was_applied_before(self, open_index: OpenIndex) -> None:
        from concurrent.futures import ThreadPoolExecutor

        index = open_index()
        for number in range(1, 8):
            # A fresh thread each time: what another thread saw last must not stand in its way.
            with ThreadPoolExecutor(1) as pool:
                index.apply(put=[entry(number, f"the lamp {number}")], drop=(), sequence=number)
                found = pool.submit(_ask, index, "lamp").result()
            assert len(found.candidates) == number

    def test_a_stale_follower_changes_nothing(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.apply(put=[entry(1, "the lamp")], drop=(), sequence=5, after=0)
        assert not index.apply(put=[entry(2, "the boat")], drop=[1], sequence=9, after=4)
        assert index.sequence == 5
        assert index.holds([1, 2]) == {1}
        assert index.apply(put=[entry(2, "the boat")], drop=(), sequence=6, after=5)

    def test_without_a_sequence_it_stays_where_it_is(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "the lamp", vector=False)], drop=(), sequence=7)
        assert index.missing_vectors(5) == (1,)
        index.apply(put=[entry(1, "the lamp")], drop=(), sequence=None, after=7)
        assert index.sequence == 7
        assert index.missing_vectors(5) == ()

    def test_a_vector_may_come_later_and_makes_no_entry_of_its_own(self, open_index: OpenIndex) -> None:
        index = open_index()
        for number in range(1, 10):
            index.apply(put=[entry(number, f"lamp {number}", vector=False)], drop=(), sequence=number)
        index.optimize()
        index.apply(put=[entry(10, "lamp 10", vector=False)], drop=(), sequence=10)
        meanings = {number: Meaning(vector_of(f"lamp {number}")) for number in (2, 10, 77)}
        assert index.add_meanings(meanings, cheap_only=False) == {2, 10}
        assert index.missing_vectors(99) == (1, 3, 4, 5, 6, 7, 8, 9)
        assert index.holds([77]) == frozenset()
        answer = index.search(IndexQuery((HERE,), vector=vector_of("lamp 2")))
        assert {candidate.number for candidate in answer.candidates} == {2, 10}

    def test_missing_vectors_are_told_oldest_first_and_bounded(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(n, f"lamp {n}", vector=n == 2) for n in (5, 3, 2, 9)], drop=(), sequence=1)
        assert index.missing_vectors(10) == (3, 5, 9)
        assert index.missing_vectors(2) == (3, 5)

    def test_counts_are_counted(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(n, f"lamp {n}", vector=n % 2 == 0) for n in range(1, 21)], drop=(), sequence=1)
        index.apply(put=[entry(1, "lamp one")], drop=[2, 3], sequence=2)
        counts = index.counts()
        assert (counts.entries, counts.vectors) == (18, 10)
        assert counts.bytes == sum(Path(name).stat().st_size for name in index.files())

    def test_how_the_entries_lie_makes_no_difference(self, open_index: OpenIndex, other_index: OpenIndex) -> None:
        index, other = open_index(), other_index()
        wanted = _many(60)
        index.apply(put=wanted, drop=(), sequence=60)
        for at in range(0, 60, 7):  # the same by small steps, with detours
            part = wanted[at : at + 7]
            other.apply(put=[entry(each.number, "something else first") for each in part], drop=(), sequence=at)
            other.apply(put=[*part, entry(500 + at, "soon dropped lamp")], drop=(), sequence=None)
            other.apply(put=(), drop=[500 + at], sequence=None)
        for query in _QUERIES:
            assert _ask(index, query) == _ask(other, query)
        before = [_ask(other, query) for query in _QUERIES]
        other.optimize()
        assert [_ask(other, query) for query in _QUERIES] == before
        assert [_ask(other_index(), query) for query in _QUERIES] == before

    def test_optimize_reports_its_progress(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_many(30), drop=(), sequence=30)
        told: list[tuple[int, int]] = []
        index.optimize(lambda done, total: told.append((done, total)))
        assert told
        assert told[-1][0] == told[-1][1]

    def test_what_was_dropped_leaves_no_bytes_behind(self, open_index: OpenIndex) -> None:
        index = open_index()
        kept = _many(40)
        gone = [entry(99, "the canary zyxwvut sang qwertzy in xanadu yesterday evening")]
        index.apply(put=[*kept[:20], *gone], drop=(), sequence=1)
        index.apply(put=kept[20:], drop=(), sequence=2)
        index.scrub()
        before = [Path(name).read_bytes() for name in index.files()]
        index.apply(put=(), drop=[99], sequence=3)
        residues = index.residues(gone)
        assert any(needle in content for needle in residues for content in before), "they must be findable at all"
        assert index.scrub()
        assert not in_files(index, residues)

    def test_what_was_replaced_and_then_dropped_leaves_no_bytes_behind(self, open_index: OpenIndex) -> None:
        index = open_index()
        gone = [entry(99, "the canary zyxwvut sang qwertzy in xanadu yesterday evening")]
        index.apply(put=[*_many(40), *gone], drop=(), sequence=1)
        index.optimize()
        index.apply(put=[entry(99, "only a finch")], drop=(), sequence=2)
        index.apply(put=(), drop=[99], sequence=3)
        residues = index.residues(gone)
        assert index.scrub()
        assert residues
        assert not in_files(index, residues)

    def test_what_others_share_is_no_residue(self, open_index: OpenIndex) -> None:
        index = open_index()
        text = "the canary zyxwvut sang qwertzy in xanadu yesterday evening"
        gone = [entry(1, text)]
        index.apply(put=[*gone, entry(2, text, scope=BESIDE), entry(3, "the finch")], drop=(), sequence=1)
        index.apply(put=(), drop=[1], sequence=2)
        assert index.scrub()
        assert not in_files(index, index.residues(gone)), "what is still kept elsewhere proves nothing"
        index.optimize()
        index.scrub()
        assert not in_files(index, index.residues(gone))

    def test_rewriting_changes_no_answer(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_many(30), drop=[3, 4], sequence=30)
        before = [_ask(index, query) for query in _QUERIES]
        index.rewrite()
        assert [_ask(index, query) for query in _QUERIES] == before

    def test_any_text_may_be_asked_and_kept(self, open_index: OpenIndex) -> None:
        index = open_index()
        strange = [
            "",
            " ",
            "\0",
            "NEAR(",
            '"',
            "a* OR NOT (b",
            "\u202e",
            "🫖🫖",
            "灯",
            "x" * 100_000,
            "\ud800 lamp",
            "-- ;",
        ]
        index.apply(put=[entry(n, text or "-") for n, text in enumerate(strange, start=1)], drop=(), sequence=1)
        for text in strange:
            assert isinstance(_ask(index, text or "-"), IndexAnswer)

    def test_it_may_be_closed_twice_and_opened_again(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=_SENTENCES, drop=(), sequence=4)
        before = _ask(index, "boiler manual")
        index.close()
        index.close()
        assert _ask(open_index(), "boiler manual") == before


_SENTENCES = [
    entry(1, "Anna reads by the lamp in the bedroom."),
    entry(2, "The boiler manual is in the cellar."),
    entry(3, "Bob likes tea with milk."),
    entry(4, "Die Lampe steht im Flur, the lamp."),
]
_WORDS = ("lamp", "boiler", "manual", "tea", "milk", "cellar", "bedroom", "window", "garden", "bicycle", "train")
_QUERIES = ("lamp", "boiler manual", "tea with milk", "the doctor on monday", "bicycle garden window train")


def _many(count: int) -> list[IndexEntry]:
    texts = [
        " ".join(_WORDS[(number * step + step) % len(_WORDS)] for step in range(1, 4 + number % 5)) + f" {number}"
        for number in range(1, count + 1)
    ]
    return [entry(number, text) for number, text in enumerate(texts, start=1)]


def _ask(index: Index, text: str, *, scopes: tuple[str, ...] = (HERE,), **more: Any) -> IndexAnswer:
    return index.search(IndexQuery(scopes, text=text, vector=vector_of(text), **more))


def _numbers(answer: IndexAnswer) -> list[int]:
    """What a search by words proposes; what only points into some direction is left out."""
    return [candidate.number for candidate in answer.candidates if _meant(candidate)]


def _meant(candidate: Candidate) -> bool:
    return candidate.coverage > 0 or (candidate.cosine or 0.0) > 0.5
