"""The contract of an index for what leaves it: never found again, and gone from its bytes when that is asked for.

`IndexContract` contains it.
"""

from memoranda.testing.index_entries import (
    BESIDE,
    QUERIES,
    SENTENCES,
    IndexSuite,
    OpenIndex,
    ask,
    entry,
    many,
    numbers,
)

_CANARY = "the canary zyxwvut sang qwertzy in xanadu yesterday evening"


class IndexErasingContract(IndexSuite):
    """For an `Index`: needs the fixtures `open_index` and `other_index`."""

    def test_what_was_put_aside_is_never_found_again(self, open_index: OpenIndex) -> None:
        index, other = open_index(), open_index()
        crowd = [entry(number, f"the lamp {number}") for number in range(1, 1_101)]
        index.apply(put=crowd, drop=(), sequence=1)
        assert numbers(ask(other, "the lamp 7"))
        for gone in ([7, 77, 9_999], range(100, 700), [900]):
            index.apply(put=(), drop=gone, sequence=None, at_once=False)
            for reader in (index, other, open_index()):
                assert not set(numbers(ask(reader, "the lamp 7 77 100 699 900"))) & set(gone)
                assert not reader.holds(gone)
        index.optimize()
        assert index.counts().entries == 1_100 - 2 - 600 - 1
        index.apply(put=[entry(7, "the lamp 7 again")], drop=(), sequence=None)
        assert 7 in numbers(ask(other, "the lamp 7 again"))
        index.apply(put=(), drop=range(1, 1_101), sequence=2, at_once=False)
        assert index.counts().entries == 0
        assert not numbers(ask(other, "the lamp"))

    def test_what_was_dropped_is_gone(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        index.apply(put=(), drop=[2, 77], sequence=5)
        assert 2 not in numbers(ask(index, "boiler manual"))
        assert index.holds([1, 2, 3, 77]) == {1, 3}
        assert index.sequence == 5

    def test_what_was_dropped_leaves_no_bytes_behind(self, open_index: OpenIndex, other_index: OpenIndex) -> None:
        index = open_index()
        kept = many(40)
        gone = [entry(99, _CANARY)]
        index.apply(put=[*kept[:20], *gone], drop=(), sequence=1)
        index.apply(put=kept[20:], drop=(), sequence=2)
        index.scrub()
        without = other_index()
        without.apply(put=kept, drop=(), sequence=1)
        assert self.in_files(index, without.residues(gone)), "they must be findable at all"
        index.apply(put=(), drop=[99], sequence=3)
        residues = index.residues(gone)
        assert index.scrub()
        assert residues
        assert not self.in_files(index, residues)

    def test_what_was_replaced_and_then_dropped_leaves_no_bytes_behind(self, open_index: OpenIndex) -> None:
        index = open_index()
        gone = [entry(99, _CANARY)]
        index.apply(put=[*many(40), *gone], drop=(), sequence=1)
        index.optimize()
        index.apply(put=[entry(99, "only a finch")], drop=(), sequence=2)
        index.apply(put=(), drop=[99], sequence=3)
        residues = index.residues(gone)
        assert index.scrub()
        assert residues
        assert not self.in_files(index, residues)

    def test_what_others_share_is_no_residue(self, open_index: OpenIndex) -> None:
        index = open_index()
        text = _CANARY
        gone = [entry(1, text)]
        index.apply(put=[*gone, entry(2, text, scope=BESIDE), entry(3, "the finch")], drop=(), sequence=1)
        index.apply(put=(), drop=[1], sequence=2)
        assert index.scrub()
        assert not self.in_files(index, index.residues(gone)), "what is still kept elsewhere proves nothing"
        index.optimize()
        index.scrub()
        assert not self.in_files(index, index.residues(gone))

    def test_rewriting_changes_no_answer(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=many(30), drop=[3, 4], sequence=30)
        before = [ask(index, query) for query in QUERIES]
        index.rewrite()
        assert [ask(index, query) for query in QUERIES] == before

    def test_what_was_dropped_leaves_no_pieces_of_words_behind(
        self, open_index: OpenIndex, other_index: OpenIndex
    ) -> None:
        index, without = open_index(), other_index()
        gone = entry(99, _CANARY, words=True)
        index.apply(put=[*many(20), gone], drop=(), sequence=1)
        without.apply(put=many(20), drop=(), sequence=1)
        index.optimize()
        index.scrub()
        pieces = set(without.residues([gone])) - set(without.residues([entry(99, _CANARY)]))
        assert self.in_files(index, sorted(pieces)), "they must be findable at all"
        index.apply(put=(), drop=[99], sequence=2)
        assert index.scrub()
        assert not self.in_files(index, [*index.residues([gone]), *pieces])
