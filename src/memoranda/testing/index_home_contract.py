"""The contract of the home of an index: which one serves, how another takes its place, and that only one is rebuilt."""

from collections.abc import Callable
from contextlib import suppress

from memoranda.domain.errors import Conflict
from memoranda.index.home import IndexHome, ServedIndex
from memoranda.testing.index_entries import BESIDE, HERE, SENTENCES, ask, entry, many, numbers
from memoranda.testing.raising import raises

OpenHome = Callable[[], IndexHome]
_SPACE = "hashed:words|1|64"
_OTHER_SPACE = "hashed:others|1|64"


class IndexHomeContract:
    """For an `IndexHome`: needs a fixture `open_home`, which gives the same home anew each time it is called, as
    another process would have it, and `other_home`, which does so with the home of another corpus of the same store.

    The fixtures close nothing: the suite closes the indexes that it opened.
    """

    def test_a_new_home_has_an_empty_index_of_the_space_that_is_asked_for(self, open_home: OpenHome) -> None:
        index = open_home().open(_SPACE)
        assert (index.standing, index.fingerprint, index.counts().entries) == ((0, ""), _SPACE, 0)
        index.close()

    def test_what_was_applied_is_there_for_whoever_opens_it(self, open_home: OpenHome) -> None:
        home = open_home()
        index = home.open(_SPACE)
        index.apply(put=SENTENCES, drop=(), sequence=4, mark="four")
        before = home.mark()
        others = (home.open(_SPACE), open_home().open(_OTHER_SPACE))
        for other in others:
            assert (other.standing, other.fingerprint) == ((4, "four"), _SPACE)
            assert ask(other, "boiler manual") == ask(index, "boiler manual")
        assert home.mark() == open_home().mark() == before
        _close(index, *others)

    def test_its_number_changes_when_anybody_applies(self, open_home: OpenHome) -> None:
        one, other = open_home().open(_SPACE), open_home().open(_SPACE)
        before = other.version()
        assert other.version() == before
        one.apply(put=SENTENCES, drop=(), sequence=4)
        assert other.version() != before
        _close(one, other)

    def test_what_is_begun_does_not_serve(self, open_home: OpenHome) -> None:
        home, other = open_home(), open_home()
        serving = _filled(home.open(_SPACE))
        before = home.mark()
        with home.rebuilding():
            begun = home.begin(_OTHER_SPACE)
            assert (begun.standing, begun.fingerprint, begun.counts().entries) == ((0, ""), _OTHER_SPACE, 0)
            begun.apply(put=[entry(9, "a sailing boat")], drop=(), sequence=9)
            seen = other.open(_SPACE)
            assert seen.sequence == 4
            assert numbers(ask(seen, "sailing boat")) == []
            assert numbers(ask(seen, "boiler manual"))
            assert other.mark() == before
        _close(serving, begun, seen)

    def test_after_a_swap_the_new_one_serves_and_the_old_one_is_gone(self, open_home: OpenHome) -> None:
        home, other = open_home(), open_home()
        serving = _filled(home.open(_SPACE))
        before = other.mark()
        with home.rebuilding():
            begun = home.begin(_OTHER_SPACE)
            begun.apply(put=[entry(9, "a sailing boat")], drop=(), sequence=9, mark="nine")
            serving.close()
            home.swap_to(begun)
            home.tidy()
        assert other.mark() != before
        assert other.mark() == home.mark()
        seen = other.open(_SPACE)
        assert (seen.standing, seen.fingerprint) == ((9, "nine"), _OTHER_SPACE)
        assert numbers(ask(seen, "sailing boat")) == [9]
        assert numbers(ask(seen, "boiler manual")) == []
        _close(begun, seen)

    def test_it_can_be_rebuilt_again_and_again(self, open_home: OpenHome) -> None:
        home = open_home()
        home.open(_SPACE).close()
        marks = {home.mark()}
        for step in range(1, 5):
            with home.rebuilding():
                begun = home.begin(_SPACE)
                begun.apply(put=many(step), drop=(), sequence=step)
                home.swap_to(begun)
                begun.close()
                home.tidy()
            marks.add(home.mark())
            seen = open_home().open(_SPACE)
            assert (seen.sequence, seen.counts().entries) == (step, step)
            seen.close()
        assert len(marks) == 5

    def test_what_an_interrupted_rebuild_left_is_not_in_the_next(self, open_home: OpenHome) -> None:
        home = open_home()
        serving = _filled(home.open(_SPACE))
        with suppress(RuntimeError), home.rebuilding():
            home.begin(_SPACE).apply(put=many(20), drop=(), sequence=20)
            raise RuntimeError
        with open_home().rebuilding():
            begun = open_home().begin(_SPACE)
            assert (begun.sequence, begun.counts().entries) == (0, 0)
            begun.close()
        home.tidy_if_idle()
        assert serving.sequence == 4
        assert numbers(ask(serving, "boiler manual"))
        serving.close()

    def test_only_one_rebuilds_at_a_time(self, open_home: OpenHome, other_home: OpenHome) -> None:
        home, other = open_home(), open_home()
        for each in (home, other_home()):
            each.open(_SPACE).close()
        with home.rebuilding():
            with raises(Conflict), other.rebuilding():
                pass
            with raises(Conflict), open_home().rebuilding():
                pass
            with other_home().rebuilding():
                pass
        with other.rebuilding(), raises(Conflict), home.rebuilding():
            pass

    def test_nobody_tidies_away_what_is_being_rebuilt(self, open_home: OpenHome) -> None:
        home = open_home()
        home.open(_SPACE).close()
        with home.rebuilding():
            begun = home.begin(_SPACE)
            begun.apply(put=SENTENCES, drop=(), sequence=4)
            open_home().tidy_if_idle()
            begun.apply(put=[entry(9, "a sailing boat")], drop=(), sequence=9)
            home.swap_to(begun)
            begun.close()
        seen = open_home().open(_SPACE)
        assert seen.counts().entries == len(SENTENCES) + 1
        seen.close()

    def test_tidying_a_home_changes_nothing_of_what_serves(self, open_home: OpenHome) -> None:
        home = open_home()
        home.tidy()
        serving = _filled(home.open(_SPACE))
        before = home.mark(), ask(serving, "boiler manual")
        home.tidy()
        home.tidy_if_idle()
        again = open_home().open(_SPACE)
        assert (home.mark(), ask(again, "boiler manual")) == before
        _close(serving, again)

    def test_what_is_discarded_is_gone(self, open_home: OpenHome) -> None:
        home = open_home()
        open_home().discard()
        _filled(home.open(_SPACE)).close()
        before = home.mark()
        open_home().discard()
        assert home.mark() != before
        empty = home.open(_OTHER_SPACE)
        assert (empty.standing, empty.fingerprint, empty.counts().entries) == ((0, ""), _OTHER_SPACE, 0)
        assert numbers(ask(empty, "boiler manual")) == []
        empty.close()

    def test_another_space_moves_in_only_where_there_are_no_vectors(self, open_home: OpenHome) -> None:
        index = open_home().open("none")
        index.apply(put=[entry(1, "the lamp", vector=False)], drop=(), sequence=1)
        index.adopt(_SPACE)
        assert index.fingerprint == _SPACE
        index.apply(put=[entry(2, "the boat")], drop=(), sequence=2)
        index.adopt(_OTHER_SPACE)
        assert index.fingerprint == _SPACE
        again = open_home().open("none")
        assert again.fingerprint == _SPACE
        assert numbers(ask(again, "lamp")) == [1]
        _close(index, again)

    def test_two_corpora_know_nothing_of_each_other(self, open_home: OpenHome, other_home: OpenHome) -> None:
        one, other = open_home().open(_SPACE), other_home().open(_SPACE)
        one.apply(put=[entry(1, "the lamp")], drop=(), sequence=7)
        other.apply(put=[entry(1, "the boiler", scope=BESIDE)], drop=(), sequence=2)
        assert (one.sequence, other.sequence) == (7, 2)
        assert numbers(ask(one, "lamp boiler", scopes=(HERE, BESIDE))) == [1]
        assert numbers(ask(other, "lamp", scopes=(HERE, BESIDE))) == []
        other.apply(put=(), drop=[1], sequence=3)
        assert numbers(ask(one, "lamp")) == [1]
        other.close()
        other_home().discard()
        assert numbers(ask(one, "lamp")) == [1]
        one.close()

    def test_every_file_of_what_serves_is_among_those_of_the_home(self, open_home: OpenHome) -> None:
        home = open_home()
        index = _filled(home.open(_SPACE))
        assert set(index.files()) <= set(home.files())
        index.close()


def _filled(index: ServedIndex) -> ServedIndex:
    index.apply(put=SENTENCES, drop=(), sequence=4)
    return index


def _close(*indexes: ServedIndex) -> None:
    for index in indexes:
        index.close()
