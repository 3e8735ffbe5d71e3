"""The contract of an index: what recall, the follower and an erasure rely on. How good an answer is, is not judged."""

from pathlib import Path

from memoranda.domain.ports import IndexAnswer, IndexQuery, Meaning
from memoranda.testing.context_contract import IndexContextContract
from memoranda.testing.index_entries import HERE, QUERIES, SENTENCES, OpenIndex, ask, entry, many, numbers, vector_of
from memoranda.testing.index_erasing_contract import IndexErasingContract
from memoranda.testing.index_following_contract import IndexFollowingContract
from memoranda.testing.index_isolation_contract import IndexIsolationContract


class IndexContract(IndexIsolationContract, IndexFollowingContract, IndexErasingContract, IndexContextContract):
    """For an `Index`: needs a fixture `open_index`, which opens the same index anew each time it is called, and
    `other_index`, which does so with another one.

    The fixtures close what they opened. Vectors of 64 dimensions are given to it. An index whose bytes do not lie
    plainly in its own files overrides `in_files`.
    """

    def test_an_empty_index_finds_nothing(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.sequence == 0
        assert ask(index, "lamp").candidates == ()
        assert (index.counts().entries, index.counts().vectors) == (0, 0)

    def test_what_was_applied_is_found_by_both_lanes(self, open_index: OpenIndex) -> None:
        index = open_index()
        assert index.apply(put=SENTENCES, drop=(), sequence=4)
        assert index.sequence == 4
        first = ask(index, "boiler manual").candidates[0]
        assert first.number == 2
        assert (first.lexical_rank, first.semantic_rank) == (1, 1)
        assert 0.5 < first.coverage <= 1.5
        assert first.cosine is not None
        assert 0.4 < first.cosine <= 1.001

    def test_each_lane_answers_alone(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        by_words = index.search(IndexQuery((HERE,), text="boiler"))
        assert numbers(by_words) == [2]
        assert by_words.candidates[0].cosine is None
        by_meaning = index.search(IndexQuery((HERE,), vector=vector_of("boiler manual")))
        assert by_meaning.candidates[0].number == 2
        assert by_meaning.candidates[0].lexical_rank is None

    def test_an_entry_without_a_vector_is_found_by_words_and_has_no_cosine(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "a bare lamp", vector=False), entry(2, "a boiler")], drop=(), sequence=2)
        found = {candidate.number: candidate for candidate in ask(index, "lamp").candidates}
        assert found[1].cosine is None
        assert found[1].semantic_rank is None
        assert ask(index, "lamp").with_vector == 1
        assert index.missing_vectors(10) == (1,)

    def test_an_entry_replaces_the_one_of_the_same_number(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        index.apply(put=[entry(2, "the sailing boat")], drop=(), sequence=5)
        assert numbers(index.search(IndexQuery((HERE,), text="boiler"))) == []
        assert numbers(index.search(IndexQuery((HERE,), text="sailing"))) == [2]
        assert index.counts().entries == len(SENTENCES)

    def test_the_best_is_not_lost_among_many_equals_and_equals_come_in_order(self, open_index: OpenIndex) -> None:
        index = open_index()
        equals = [entry(n, "there was a lamp in some corner") for n in range(1, 12)]
        index.apply(put=[*equals, entry(12, "lamp lamp")], drop=(), sequence=1)
        by_words = index.search(IndexQuery((HERE,), text="lamp", pool=3))
        assert [candidate.number for candidate in by_words.candidates] == [12, 1, 2]
        by_meaning = index.search(IndexQuery((HERE,), vector=vector_of("lamp"), pool=3))
        assert [candidate.number for candidate in by_meaning.candidates] == [12, 1, 2]

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
        files = index.files()  # what is kept in another program has none
        assert counts.bytes == sum(Path(name).stat().st_size for name in files) if files else counts.bytes > 0

    def test_how_the_entries_lie_makes_no_difference(self, open_index: OpenIndex, other_index: OpenIndex) -> None:
        index, other = open_index(), other_index()
        wanted = many(60)
        index.apply(put=wanted, drop=(), sequence=60)
        for at in range(0, 60, 7):  # the same by small steps, with detours
            part = wanted[at : at + 7]
            other.apply(put=[entry(each.number, "something else first") for each in part], drop=(), sequence=at)
            other.apply(put=[*part, entry(500 + at, "soon dropped lamp")], drop=(), sequence=None)
            other.apply(put=(), drop=[500 + at], sequence=None)
        for query in QUERIES:
            assert ask(index, query) == ask(other, query)
        before = [ask(other, query) for query in QUERIES]
        other.optimize()
        assert [ask(other, query) for query in QUERIES] == before
        assert [ask(other_index(), query) for query in QUERIES] == before

    def test_optimize_reports_its_progress(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=many(30), drop=(), sequence=30)
        told: list[tuple[int, int]] = []
        index.optimize(lambda done, total: told.append((done, total)))
        assert told
        assert told[-1][0] == told[-1][1]

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
            assert isinstance(ask(index, text or "-"), IndexAnswer)

    def test_it_may_be_closed_twice_and_opened_again(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        before = ask(index, "boiler manual")
        index.close()
        index.close()
        assert ask(open_index(), "boiler manual") == before
