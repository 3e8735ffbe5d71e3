"""An index that drops a filter, or filters too late, is refused when it is probed; a good one is not."""

import pytest

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import IndexRefused
from memoranda.domain.memory import STATES
from memoranda.index.embedded import EmbeddedIndex
from memoranda.index.probe import SCOPE, probe, probe_once
from memoranda.testing.index_entries import DIMENSIONS, SENTENCES

LARGE = 10_000


class Leaking:
    """The embedded index, but for what a subclass breaks."""

    def __init__(self, index):
        self._index = index
        self.applied = []

    def __getattr__(self, name):
        return getattr(self._index, name)

    def apply(self, **words):
        self.applied.append(words)
        return self._index.apply(**words)

    def every_scope(self):
        held = {each.scope for words in self.applied for each in words["put"]}
        return tuple(sorted(scope for scope in held if scope.startswith(SCOPE)))


class WithoutScopes(Leaking):
    def search(self, query):
        return self._index.search(query._replace(scopes=self.every_scope()))


class ScopesByPrefix(Leaking):
    def search(self, query):
        alike = tuple(scope for scope in self.every_scope() if scope.startswith(query.scopes))
        return self._index.search(query._replace(scopes=alike))


class ScopesWithoutCase(Leaking):
    def search(self, query):
        asked = {scope.casefold() for scope in query.scopes}
        return self._index.search(
            query._replace(scopes=tuple(each for each in self.every_scope() if each.casefold() in asked))
        )


class FiltersAfterTheLimit(Leaking):
    """Takes a few more than were asked for from every scope, then throws away what is of another one."""

    def search(self, query):
        few = query._replace(scopes=self.every_scope(), pool=min(query.pool * 10, LARGE))
        mine = {each.number for words in self.applied for each in words["put"] if each.scope in query.scopes}
        answer = self._index.search(few)
        return answer._replace(candidates=tuple(each for each in answer.candidates if each.number in mine))


class WithoutStates(Leaking):
    def search(self, query):
        return self._index.search(query._replace(states=frozenset(STATES)))


class WithoutValidity(Leaking):
    def search(self, query):
        return self._index.search(query._replace(now=None))


class WithoutAllow(Leaking):
    def search(self, query):
        return self._index.search(query._replace(allow=None))


class AllowsAfterTheLimit(Leaking):
    def search(self, query):
        answer = self._index.search(query._replace(allow=None))
        return answer._replace(candidates=tuple(each for each in answer.candidates if each.number in query.allow))


class ForgetsTheTail(Leaking):
    def search(self, query):
        return self._index.search(query._replace(tail=()))


class ForgetsWhatIsHidden(Leaking):
    def search(self, query):
        return self._index.search(query._replace(hidden=frozenset()))


class LeaksByMeaning(Leaking):
    """Only one lane is broken."""

    def search(self, query):
        everywhere = query._replace(scopes=self.every_scope(), text="", times=None, subjects=frozenset())
        leaked = self._index.search(everywhere).candidates
        answer = self._index.search(query)
        return answer._replace(candidates=(*answer.candidates, *leaked))


class LosesByMeaning(Leaking):
    """Only one lane filters too late."""

    def search(self, query):
        answer = self._index.search(query)
        late = tuple(each._replace(semantic_rank=None) for each in answer.candidates) if query.pool == 1 else None
        return answer if late is None else answer._replace(candidates=late)


class TellsOfNeighbours(Leaking):
    def search(self, query):
        told = {each.number: each for each in self._index.search(query._replace(scopes=self.every_scope())).candidates}
        answer = self._index.search(query)
        felt = tuple(
            each._replace(around=each.around or next(iter(told.values())).around) for each in answer.candidates
        )
        return answer._replace(candidates=felt)


class FindsNothing(Leaking):
    def search(self, query):
        answer = self._index.search(query)
        return answer._replace(candidates=())


class NeverDrops(Leaking):
    def apply(self, *, drop, **words):
        return super().apply(drop=(), **words)


BROKEN = {
    WithoutScopes: "another scope",
    ScopesByPrefix: "another scope",
    ScopesWithoutCase: "another scope",
    FiltersAfterTheLimit: "after a limit",
    WithoutStates: "another state",
    WithoutValidity: "another validity",
    WithoutAllow: "not allowed",
    AllowsAfterTheLimit: "after a limit",
    ForgetsTheTail: "tail",
    ForgetsWhatIsHidden: "hidden",
    LeaksByMeaning: "another scope",
    LosesByMeaning: "by meaning",
    TellsOfNeighbours: "beside",
    FindsNothing: "loses what it should find",
    NeverDrops: "let go",
}
BY_MEANING_ALONE = {LeaksByMeaning, LosesByMeaning}


@pytest.fixture
def index(tmp_path):
    opened = EmbeddedIndex(tmp_path / "one.db", fingerprint="hashed:words|1|64")
    opened.apply(put=SENTENCES, drop=(), sequence=4, mark="four")
    yield opened
    opened.close()


@pytest.mark.parametrize(("broken", "why"), BROKEN.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_a_broken_index_is_refused_and_cleaned_up(index, broken, why):
    with pytest.raises(IndexRefused, match=why) as refused:
        probe(broken(index), dimensions=DIMENSIONS)
    assert refused.value.hint
    assert not refused.value.retryable
    assert index.standing == (4, "four")
    assert broken is NeverDrops or index.counts()[:2] == (4, 4)


@pytest.mark.parametrize(
    "broken", [each for each in BROKEN if each not in BY_MEANING_ALONE], ids=lambda each: each.__name__
)
def test_words_and_structure_are_enough_to_be_refused(index, broken):
    with pytest.raises(IndexRefused, match=BROKEN[broken]):
        probe(broken(index), dimensions=None)


def test_a_good_index_is_not_refused_whatever_it_holds(index):
    for _ in range(5):
        for dimensions in (None, 1, 2, 3, DIMENSIONS, 1_536):
            probe(index, dimensions=dimensions)
    assert index.counts()[:2] == (4, 4)
    assert index.standing == (4, "four")


def test_a_probe_is_one_apply_and_two_searches_and_then_a_drop(index):
    counted = Leaking(index)
    searches = []
    counted.search = lambda query: searches.append(query.pool) or index.search(query)
    probe(counted, dimensions=DIMENSIONS)
    assert len(searches) == 2
    assert [(bool(words["put"]), bool(words["drop"])) for words in counted.applied] == [(True, False), (False, True)]
    assert all(words["sequence"] is None for words in counted.applied)


def test_what_it_puts_is_in_a_scope_of_its_own_and_under_numbers_that_no_memory_has(index):
    counted = Leaking(index)
    probe(counted, dimensions=None)
    put = counted.applied[0]["put"]
    assert all(each.scope == SCOPE or each.scope.startswith(SCOPE + "/") for each in put)
    assert min(each.number for each in put) >= 1 << 61
    assert max(each.number for each in put) < 1 << 63


def test_a_search_that_fails_is_cleaned_up_after(index):
    class Failing(Leaking):
        def search(self, query):
            raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        probe(Failing(index), dimensions=DIMENSIONS)
    assert index.counts()[:2] == (4, 4)


def test_what_was_found_good_is_not_probed_again_for_a_day(index, tmp_path):
    counted, note = Leaking(index), tmp_path / "kept" / "PROBED"

    def opened(now=1_000, serving=(1, 2), dimensions=None):
        before = len(counted.applied)
        probe_once(counted, dimensions=dimensions, serving=serving, note=note, now=now)
        return len(counted.applied) > before

    assert opened()
    assert not opened()
    assert not opened(now=999 + DAY_MS)
    assert opened(now=1_000 + DAY_MS)
    assert opened(now=5), "a clock that went back proves nothing"
    assert opened(serving=(1, 3))
    assert opened(serving=(1, 3), dimensions=8)
    note.write_bytes(b"\xff not a note")
    assert opened(serving=(1, 3), dimensions=8)
    assert [each.name for each in note.parent.iterdir()] == ["PROBED"]


def test_what_was_refused_is_probed_again(index, tmp_path):
    for _ in range(2):
        with pytest.raises(IndexRefused):
            probe_once(WithoutScopes(index), dimensions=None, serving=1, note=tmp_path / "PROBED", now=1)
    assert not (tmp_path / "PROBED").exists()


def test_a_note_that_cannot_be_written_is_no_trouble(index, tmp_path):
    (tmp_path / "kept").write_text("a file stands in the way")
    for _ in range(2):
        probe_once(index, dimensions=None, serving=1, note=tmp_path / "kept" / "PROBED", now=1)
