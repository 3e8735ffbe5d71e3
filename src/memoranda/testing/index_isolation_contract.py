"""The contract of an index for its filters: scope, state, validity and `allow`, inside the search, before any limit.

`IndexContract` contains it.
"""

from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexQuery, Times
from memoranda.index.probe import probe
from memoranda.testing.index_entries import (
    ABOVE,
    BESIDE,
    DIMENSIONS,
    HERE,
    SENTENCES,
    IndexSuite,
    OpenIndex,
    ask,
    entry,
    numbers,
    vector_of,
)

# Each of them is another scope, whatever a pattern, a quote, a case or a normal form would make of it.
ODD_SCOPES = (
    "a", "A", "a_b", "axb", "a%", "a%b", "a*", "a?", "[a]", "a'b", "a''b", 'a"b', "a\\b", "a--b", "a;b", "a/b", "a/b/c",
    "a/b0", "a/bc", "a b", "a ", " a", "a:b", "a@b+c~d.e", "ą", "a\u0328", "É", "E\u0301", "灯", "燈", "🫖", "🫖/🫖",
    "null", "NULL", "0", "00", "1e0", "' or '1'='1", "a\nb", "x" * 255 + "1", "x" * 255 + "2",
)  # fmt: skip


class IndexIsolationContract(IndexSuite):
    """For an `Index`: needs the fixtures `open_index` and `other_index`."""

    def test_an_entry_may_move_to_another_scope(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "the lamp")], drop=(), sequence=1)
        assert numbers(ask(index, "lamp")) == [1]
        index.apply(put=[entry(1, "the lamp", scope=BESIDE)], drop=(), sequence=2)
        assert numbers(ask(index, "lamp")) == []
        assert numbers(ask(index, "lamp", scopes=(BESIDE,))) == [1]

    def test_only_the_scopes_asked_for_are_searched(self, open_index: OpenIndex) -> None:
        index = open_index()
        scopes = (HERE, ABOVE, BESIDE, "home/ann", "home/anna/diary", "home/anna-2")
        index.apply(
            put=[entry(number, "the lamp", scope=scope) for number, scope in enumerate(scopes, start=1)],
            drop=(),
            sequence=1,
        )
        assert sorted(numbers(ask(index, "lamp", scopes=(HERE, ABOVE)))) == [1, 2]
        assert ask(index, "lamp", scopes=(HERE, ABOVE)).searched == 2
        assert numbers(ask(index, "lamp", scopes=("nowhere",))) == []

    def test_nothing_of_another_scope_is_felt_in_a_score(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        before = ask(index, "boiler manual lamp").candidates
        index.apply(put=[entry(100 + n, "boiler boiler lamp", scope=BESIDE) for n in range(50)], drop=(), sequence=5)
        assert ask(index, "boiler manual lamp").candidates == before

    def test_scope_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp", scope=BESIDE) for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert numbers(ask(index, "lamp", pool=1)) == [60]

    def test_state_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp", state="forgotten") for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert numbers(ask(index, "lamp", pool=1)) == [60]
        assert len(ask(index, "lamp", pool=100, states=frozenset({"forgotten"})).candidates) == 59
        assert len(ask(index, "lamp", pool=100, states=frozenset(STATES)).candidates) == 60

    def test_validity_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        past = [entry(n, "lamp lamp lamp", valid_until=1_000) for n in range(1, 30)]
        future = [entry(n, "lamp lamp lamp", valid_from=1_001) for n in range(30, 60)]
        index.apply(put=[*past, *future, entry(60, "a lamp in some corner")], drop=(), sequence=1)
        assert numbers(ask(index, "lamp", pool=1, now=1_000)) == [60]
        assert len(ask(index, "lamp", now=999).candidates) == 30
        assert len(ask(index, "lamp", now=1_001).candidates) == 31
        assert len(ask(index, "lamp", now=None).candidates) == 60

    def test_allow_comes_before_the_limit(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "lamp lamp lamp") for n in range(1, 60)]
        index.apply(put=[*crowd, entry(60, "there was once a lamp in some corner")], drop=(), sequence=1)
        assert numbers(ask(index, "lamp", pool=1, allow=frozenset({60, 61}))) == [60]
        assert numbers(ask(index, "lamp", allow=frozenset())) == []

    def test_the_tail_of_the_query_stands_over_what_is_held(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        tail = (entry(2, "the sailing boat"), entry(9, "a fresh lamp"), entry(10, "a hidden boat", scope=BESIDE))
        answer = ask(index, "sailing boat", tail=tail)
        assert answer.candidates[0].number == 2
        assert 10 not in numbers(answer)
        assert numbers(index.search(IndexQuery((HERE,), text="boiler", tail=tail))) == []
        assert 9 in numbers(ask(index, "fresh lamp", tail=tail))
        assert index.holds([9, 10]) == frozenset()

    def test_the_tail_gives_the_scores_that_applying_it_would_give(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES[:2], drop=(), sequence=2)
        overlaid = ask(index, "manual lamp", tail=tuple(SENTENCES[2:]))
        index.apply(put=SENTENCES[2:], drop=(), sequence=4)
        assert overlaid.candidates == ask(index, "manual lamp").candidates

    def test_hidden_numbers_do_not_come_back(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        assert 2 not in numbers(ask(index, "boiler manual", hidden=frozenset({2})))

    def test_a_thousand_better_ones_of_a_sibling_stand_in_nobodys_way(self, open_index: OpenIndex) -> None:
        index = open_index()
        crowd = [entry(n, "boiler manual", scope=BESIDE, occurred_at=5) for n in range(1, 1_001)]
        mine = entry(2_000, "somebody once mentioned the boiler and, I think, some manual of it", occurred_at=5)
        index.apply(put=[*crowd, mine], drop=(), sequence=1)
        for _ in range(2):
            found = ask(index, "boiler manual", pool=1, times=Times(((1, 9),)), subjects=frozenset({7, 2_000}))
            (only,) = found.candidates
            assert (only.number, only.lexical_rank, only.semantic_rank, only.structured_rank) == (2_000, 1, 1, 1)
            assert (found.searched, found.with_vector) == (1, 1)
            index.optimize()

    def test_nothing_is_allowed_by_an_empty_allow(self, open_index: OpenIndex) -> None:
        index = open_index()
        talk = [entry(n, "the lamp", conversation="talk", occurred_at=n) for n in range(1, 9)]
        index.apply(put=talk[:6], drop=(), sequence=1)
        nobody: frozenset[int] = frozenset()
        for query in (
            IndexQuery((HERE,), text="lamp", allow=nobody),
            IndexQuery((HERE,), vector=vector_of("lamp"), allow=nobody),
            IndexQuery((HERE,), times=Times(((1, 9),), ((1, 1),)), allow=nobody),
            IndexQuery((HERE,), subjects=frozenset({1, 2}), allow=nobody),
            IndexQuery((HERE,), text="lamp", vector=vector_of("lamp"), allow=nobody, tail=tuple(talk)),
        ):
            answer = index.search(query)
            assert answer.candidates == ()
            assert (answer.searched, answer.with_vector) == (0, 0)

    def test_without_a_scope_nothing_is_found(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        assert ask(index, "lamp", scopes=()).candidates == ()
        assert ask(index, "lamp", scopes=("",)).candidates == ()
        assert index.extent(()) is None

    def test_without_a_state_nothing_is_found(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4)
        assert ask(index, "lamp", states=frozenset()).candidates == ()

    def test_odd_names_of_scopes_are_no_patterns_and_no_two_are_the_same(self, open_index: OpenIndex) -> None:
        index = open_index()
        put = [entry(n, "the lamp", scope=scope, occurred_at=n) for n, scope in enumerate(ODD_SCOPES, start=1)]
        index.apply(put=put, drop=(), sequence=1)
        for _ in range(2):
            for number, scope in enumerate(ODD_SCOPES, start=1):
                assert [each.number for each in ask(index, "lamp", scopes=(scope,)).candidates] == [number], scope
                assert index.extent((scope,)) == (number, number), scope
            index.optimize()
        assert len(ask(index, "lamp", scopes=ODD_SCOPES).candidates) == len(ODD_SCOPES)
        index.apply(put=(), drop=[2], sequence=2)
        assert not ask(index, "lamp", scopes=(ODD_SCOPES[1],)).candidates
        assert ask(index, "lamp", scopes=(ODD_SCOPES[0],)).candidates

    def test_thousands_of_scopes_are_kept_apart(self, open_index: OpenIndex) -> None:
        index = open_index()
        scopes = [f"bot/group-{n}" for n in range(1, 3_001)]
        put = [entry(n, "the lamp of the house", scope=scope) for n, scope in enumerate(scopes, start=1)]
        index.apply(put=put, drop=(), sequence=1)
        for number in (1, 10, 100, 1_000, 2_999, 3_000):
            answer = ask(index, "lamp", scopes=(scopes[number - 1], "bot"))
            assert [each.number for each in answer.candidates] == [number]
            assert answer.searched == 1
        assert index.counts().entries == len(scopes)

    def test_a_pool_larger_than_what_is_there_gives_all_of_it_and_no_more(self, open_index: OpenIndex) -> None:
        index = open_index()
        put = [entry(n, f"the lamp {n}", scope=HERE if n % 2 else BESIDE) for n in range(1, 1_201)]
        index.apply(put=put, drop=(), sequence=1)
        answer = ask(index, "lamp", pool=100_000)
        assert {each.number for each in answer.candidates} == set(range(1, 1_201, 2))
        assert {each.lexical_rank for each in answer.candidates} == set(range(1, 601))
        assert {each.semantic_rank for each in answer.candidates} == set(range(1, 601))

    def test_thousands_may_be_allowed_or_hidden(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(n, "the lamp") for n in range(1, 201)], drop=(), sequence=1)
        allowed = frozenset(range(150, 40_000))
        assert numbers(ask(index, "lamp", pool=500, allow=allowed)) == list(range(150, 201))
        hidden = frozenset(range(3, 40_000))
        assert numbers(ask(index, "lamp", pool=500, hidden=hidden)) == [1, 2]
        assert numbers(ask(index, "lamp", pool=500, hidden=hidden, allow=allowed)) == []

    def test_the_probe_lets_it_pass_and_leaves_nothing_behind(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=SENTENCES, drop=(), sequence=4, mark="four")
        before = ask(index, "boiler manual"), index.counts()[:2], index.standing
        for dimensions in (DIMENSIONS, None):
            probe(index, dimensions=dimensions)
            assert (ask(index, "boiler manual"), index.counts()[:2], index.standing) == before

    def test_the_probe_lets_an_empty_index_pass(self, open_index: OpenIndex) -> None:
        index = open_index()
        probe(index, dimensions=None)
        probe(index, dimensions=DIMENSIONS)
        assert index.counts()[:2] == (0, 0)
        assert index.standing == (0, "")
