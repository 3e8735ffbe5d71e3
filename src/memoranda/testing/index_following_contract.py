"""The contract of an index for who follows a ledger with it: several openings at once, none of which is in the way.

`IndexContract` contains it.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

from memoranda.domain.ports import Index
from memoranda.testing.index_entries import BESIDE, HERE, IndexSuite, OpenIndex, ask, entry, numbers


class IndexFollowingContract(IndexSuite):
    """For an `Index`: needs the fixture `open_index`."""

    def test_what_one_applies_the_other_finds_at_once(self, open_index: OpenIndex) -> None:
        one, other = open_index(), open_index()
        assert numbers(ask(other, "lamp")) == []
        one.apply(put=[entry(1, "the lamp")], drop=(), sequence=1)
        assert numbers(ask(other, "lamp")) == [1]
        other.apply(put=[entry(2, "another lamp")], drop=(), sequence=2)
        assert sorted(numbers(ask(one, "lamp"))) == [1, 2]
        one.apply(put=(), drop=[1], sequence=3)
        assert numbers(ask(other, "lamp")) == [2]
        assert (one.sequence, other.sequence) == (3, 3)

    def test_every_thread_finds_what_was_applied_before(self, open_index: OpenIndex) -> None:
        index = open_index()
        for number in range(1, 8):
            # A fresh thread each time: what another thread saw last must not stand in its way.
            with ThreadPoolExecutor(1) as pool:
                index.apply(put=[entry(number, f"the lamp {number}")], drop=(), sequence=number)
                found = pool.submit(ask, index, "lamp").result()
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

    def test_of_several_that_follow_at_once_one_is_faster(self, open_index: OpenIndex) -> None:
        openings = [open_index() for _ in range(3)]
        began = threading.Barrier(6)

        def follow(place: int) -> bool:
            began.wait()
            put = [entry(place + 1, "the lamp")]
            return openings[place % 3].apply(put=put, drop=(), sequence=100 + place, after=0, mark=f"at {place}")

        with ThreadPoolExecutor(6) as pool:
            outcomes = list(pool.map(follow, range(6)))
        assert sum(outcomes) == 1
        faster = outcomes.index(True)
        for index in openings:
            assert index.standing == (100 + faster, f"at {faster}")
            assert index.holds(range(1, 7)) == {faster + 1}

    def test_the_mark_comes_and_goes_with_the_sequence(self, open_index: OpenIndex) -> None:
        index, other = open_index(), open_index()
        assert index.standing == (0, "")
        index.apply(put=[entry(1, "the lamp")], drop=(), sequence=5, mark="at five")
        for each in (index, other, open_index()):
            assert each.standing == (5, "at five")
        index.apply(put=[entry(2, "the boat")], drop=(), sequence=None, mark="ignored")
        assert other.standing == (5, "at five")
        assert not index.apply(put=(), drop=(), sequence=9, after=4, mark="too late")
        assert other.standing == (5, "at five")
        index.apply(put=(), drop=(), sequence=6)
        assert other.standing == (6, "")

    def test_an_index_may_go_back(self, open_index: OpenIndex) -> None:
        index = open_index()
        index.apply(put=[entry(1, "the lamp")], drop=(), sequence=9)
        assert index.apply(put=(), drop=(), sequence=3, after=9)
        assert index.sequence == 3

    def test_who_searches_sees_all_of_an_apply_or_nothing(self, open_index: OpenIndex) -> None:
        index, reader = open_index(), open_index()
        pair = (entry(1, "the lamp"), entry(2, "the lamp"))
        index.apply(put=pair, drop=(), sequence=1)
        done = threading.Event()

        def move() -> None:
            try:
                for step in range(2, 42):
                    where = HERE if step % 2 else BESIDE
                    index.apply(put=[each._replace(scope=where) for each in pair], drop=(), sequence=step)
            finally:
                done.set()

        with ThreadPoolExecutor(1) as pool:
            moving = pool.submit(move)
            while not done.is_set():
                assert len(ask(reader, "lamp").candidates) in (0, 2)
            moving.result()
        assert len(ask(reader, "lamp", scopes=(HERE, BESIDE)).candidates) == 2

    def test_many_threads_apply_and_nothing_is_lost(self, open_index: OpenIndex) -> None:
        openings: list[Index] = [open_index(), open_index()]

        def put(place: int) -> None:
            for step in range(6):
                number = place * 100 + step + 1
                openings[place % 2].apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=None)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(put, range(4)))
        assert openings[0].counts().entries == 24
        assert len(numbers(ask(openings[1], "lamp"))) == 24
