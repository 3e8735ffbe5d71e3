"""Searching large scopes: LanceDB proposes rows, with every filter inside its query; our lanes score them exactly."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from memoranda.domain.ports import IndexAnswer
from memoranda.index.lancedb import filters
from memoranda.index.lancedb.filters import ScopeCode
from memoranda.index.lancedb.rows import token, unpacked
from memoranda.index.lancedb.tables import Table
from memoranda.index.lexical import Statistics
from memoranda.index.proposals import FAR, Asked, signed, unsigned
from memoranda.index.search import Told
from memoranda.index.segment import FOREVER, Packed

REFINE = 3
"""How many times the proposals of the vector index are looked at with their whole vectors."""
_PROBES = 64
_AT_ONCE = 8
_MOST_COUNTED = 4_096
_BODY = ("number", "body")


class Counted:
    """What was counted in one version of a table: to count it again would give the same."""

    def __init__(self) -> None:
        self._version = -1
        self._known: dict[tuple[str, str], Any] = {}

    def of(self, version: int) -> "Counted":
        """The same, of another version."""
        if version != self._version or len(self._known) > _MOST_COUNTED:
            self._version, self._known = version, {}
        return self

    def told(self, what: str, where: str, count: Callable[[], Any]) -> Any:
        """What is known of a condition; counted if nothing is."""
        known = self._known
        if (what, where) not in known:
            known[what, where] = count()
        return known[what, where]


def search_large(table: Table, asked: Asked, scopes: Collection[ScopeCode], counted: Counted) -> IndexAnswer:
    """Ask the engine for what may be the best of these scopes, and score it beside what is at hand."""
    return _Search(table, asked, scopes, counted).answer()


class _Search:
    def __init__(self, table: Table, asked: Asked, scopes: Collection[ScopeCode], counted: Counted) -> None:
        self._table = table
        self._asked = asked
        self._counted = counted
        self._witness = filters.witnessed(scopes)
        self._eligible = filters.all_of(
            (
                filters.scopes(scopes),
                "" if asked.any_state else filters.one_of("state", asked.states),
                self._validity(filters.scopes(scopes)),
            )
        )
        allow = asked.query.allow
        self._allowed = filters.all_of(
            (
                self._eligible,
                f"NOT ({filters.numbered(asked.replaced)})" if asked.replaced else "",
                "" if allow is None else filters.numbered(allow),
            )
        )

    def _validity(self, where: str) -> str:
        """That an entry is valid at the moment asked for; nothing where every entry is valid at any."""
        now = self._asked.query.now
        if now is None:
            return ""
        bounded = filters.all_of((where, f"valid_from > 0 OR valid_until < {filters.literal(int(FOREVER))}"))
        if not self._counted.told("bounded", where, lambda: self._table.count(bounded)):
            return ""
        return f"valid_from <= {filters.literal(now)} AND valid_until > {filters.literal(now)}"

    def answer(self) -> IndexAnswer:
        told = self._told()
        numbers = self._lexical(told) | self._semantic() | self._structured(told)
        rows = self._loaded(numbers)
        beside = self._beside(self._asked.standing_beside(rows)) - numbers
        return self._asked.answer(told, [*rows, *self._loaded(beside)])

    # -- what is told of everything that is eligible --

    def _told(self) -> Told:
        vectored = filters.all_of((self._allowed, "vectored"))
        jobs: list[Callable[[], Any]] = [
            self._how_many(self._allowed),
            self._how_many(vectored),
            lambda: self._counted.told("lengths", self._eligible, self._lengths),
            *(self._how_many(filters.all_of((self._eligible, filters.has_term(form)))) for form in self._asked.hashes),
        ]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            searched, with_vector, (entries, words), *frequencies = pool.map(lambda job: job(), jobs)
        statistics = self._without_replaced(Statistics(entries, words, tuple(frequencies)))
        return Told(statistics, searched, with_vector, self._began() if self._asked.counts_conversations else {})

    def _without_replaced(self, statistics: Statistics) -> Statistics:
        """Taken off what was counted: to keep thousands of numbers out of every count would cost far more."""
        if not self._asked.replaced:
            return statistics
        where = filters.all_of((self._eligible, self._witness, filters.numbered(self._asked.replaced)))
        for row in unpacked(self._table.rows(where, _BODY)):
            terms = set(row.terms.tolist())
            pairs = zip(self._asked.hashes, statistics.frequencies, strict=True)
            statistics = Statistics(
                statistics.entries - 1,
                statistics.words - row.length,
                tuple(often - (form in terms) for form, often in pairs),
            )
        return statistics

    def _lengths(self) -> tuple[int, int]:
        lengths = self._table.rows(self._eligible, ("length",))["length"].to_numpy()
        return len(lengths), int(lengths.sum())

    def _how_many(self, where: str) -> Callable[[], int]:
        return lambda: int(self._counted.told("entries", where, lambda: self._table.count(where)))

    def _began(self) -> Mapping[int, tuple[int, int]]:
        said = filters.all_of((self._allowed, "conversation <> 0"))
        found = self._table.rows(said, ("conversation", "occurred", "number"))
        columns = [found[name].to_numpy() for name in ("conversation", "occurred", "number")]
        order = np.lexsort((columns[2], columns[1], columns[0]))
        conversations, occurred, numbers = (column[order] for column in columns)
        distinct, first = np.unique(conversations, return_index=True)
        moments = zip(occurred[first].tolist(), numbers[first].tolist(), strict=True)
        return {unsigned(each): moment for each, moment in zip(distinct.tolist(), moments, strict=True)}

    # -- what each lane proposes --

    def _lexical(self, told: Told) -> set[int]:
        """What has the rarer words of the query."""
        telling = self._asked.telling(told.statistics)
        forms = [form for form, tells in zip(self._asked.hashes, telling.tolist(), strict=True) if tells]
        return self._by_words(forms, self._allowed)

    def _by_words(self, forms: Iterable[int], where: str) -> set[int]:
        words = " ".join(dict.fromkeys(token(form) for form in forms))
        if not words:
            return set()

        def job(handle: Any) -> Any:
            search = handle.search(words, query_type="fts", fts_columns="words").where(where, prefilter=True)
            return search.select(["number", "_score"]).limit(self._asked.room).to_arrow()

        return set(self._table.asked(job)["number"].to_pylist())

    def _semantic(self) -> set[int]:
        """What points the same way."""
        vector = self._asked.vector
        if vector is None or self._table.width() != len(vector):
            return set()

        def job(handle: Any) -> Any:
            search = handle.search(vector, vector_column_name="vector").distance_type("cosine")
            search = search.where(self._allowed, prefilter=True).nprobes(_PROBES).refine_factor(REFINE)
            return search.select(["number", "_distance"]).limit(self._asked.room).to_arrow()

        return set(self._table.asked(job)["number"].to_pylist())

    def _structured(self, told: Told) -> set[int]:
        """What happened then, or is about that: what has the words first, then in order of number."""
        asked = self._asked
        meant = [signed(each) for each in sorted(asked.meant(told.began))] if asked.counts_conversations else []
        wanted = [
            *(filters.within("occurred", start, until) for start, until in asked.spans),
            filters.one_of("conversation", meant) if meant else "",
            filters.numbered(asked.query.subjects) if asked.query.subjects else "",
        ]
        if not any(wanted):
            return set()
        where = filters.all_of((self._allowed, filters.any_of(wanted)))
        numbers = np.sort(self._table.rows(where, ("number",))["number"].to_numpy())[: asked.room]
        return set(numbers.tolist()) | self._by_words(asked.hashes, where)

    def _beside(self, pairs: Sequence[tuple[int, int]]) -> set[int]:
        """Numbers of what was said just before and after these, of what is allowed."""
        if not pairs:
            return set()
        conversations = sorted({signed(conversation) for conversation, _ in pairs})
        where = filters.all_of((self._allowed, filters.one_of("conversation", conversations)))
        found = self._table.rows(where, ("conversation", "number"))
        lines: dict[int, list[int]] = {}
        for conversation, number in zip(found["conversation"].to_pylist(), found["number"].to_pylist(), strict=True):
            lines.setdefault(unsigned(conversation), []).append(number)
        ordered = {conversation: np.sort(np.array(numbers, np.int64)) for conversation, numbers in lines.items()}
        beside: set[int] = set()
        for conversation, number in pairs:
            line = ordered.get(conversation)
            if line is not None:
                before, after = np.searchsorted(line, number, "left"), np.searchsorted(line, number, "right")
                beside.update(line[max(before - FAR, 0) : before].tolist(), line[after : after + FAR].tolist())
        return beside

    def _loaded(self, numbers: Collection[int]) -> list[Packed]:
        # Whoever proposed these had everything else in its condition.
        where = filters.all_of((self._eligible, self._witness))
        return [row for found in self._table.numbered(numbers, _BODY, where=where) for row in unpacked(found)]
