"""What is asked of PostgreSQL about the large scopes of an index. Every filter stands inside of the statement.

Nothing is ranked here but by distance: which words count how much is decided by whoever asks.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.memory import STATES
from memoranda.index.postgres.rows import POSTING, Scope, fetch, numbers_of, word
from memoranda.index.postgres.tables import Tables
from memoranda.index.proposals import FAR, Asked, signed, unsigned
from memoranda.index.segment import F32, Packed
from memoranda.index.tokens import Term
from memoranda.ledger.connection import Connection

_LIVE = (STATES.index("live"),)
Numbers = npt.NDArray[np.int64]


class Postings(NamedTuple):
    """Rows that have forms of a term: their numbers and lengths, the place of the term, and which forms, a bit each."""

    numbers: Numbers
    lengths: npt.NDArray[np.float64]
    which: npt.NDArray[np.intp]
    forms: npt.NDArray[np.intp]

    @classmethod
    def of(cls, found: Sequence[tuple[int, bytes]]) -> "Postings":
        """From what the server joined, by the place of the term."""
        packed = np.frombuffer(b"".join(joined for _, joined in found), POSTING)
        counts = [len(joined) // POSTING.itemsize for _, joined in found]
        return cls(
            packed["number"].astype(np.int64),
            packed["length"].astype(np.float64),
            np.repeat(np.array([place for place, _ in found], np.intp), counts),
            packed["forms"].astype(np.intp),
        )

    def often(self, terms: Sequence[Term]) -> tuple[int, ...]:
        """How many rows have each form of each term."""
        widest = max((len(term.hashes) for term in terms), default=0)
        have = [np.bincount(self.which[(self.forms >> bit) & 1 == 1], minlength=len(terms)) for bit in range(widest)]
        return tuple(int(have[bit][place]) for place, term in enumerate(terms) for bit in range(len(term.hashes)))

    def worths(self, terms: Sequence[Term], forms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """What its forms together are worth, of each row; `forms` says what each form of each term is."""
        widest = max((len(term.hashes) for term in terms), default=0)
        sums = np.zeros((max(len(terms), 1), 1 << widest))
        begins = 0
        for place, term in enumerate(terms):
            for bit in range(len(term.hashes)):
                sums[place, (np.arange(1 << widest) >> bit) & 1 == 1] += forms[begins + bit]
            begins += len(term.hashes)
        return np.asarray(sums[self.which, self.forms], np.float64)


class Totals(NamedTuple):
    """How many rows, their words, and how many have a vector."""

    entries: int
    words: int
    vectors: int


class Asking:
    """One query to the tables, within one view of them."""

    def __init__(self, connection: Connection, tables: Tables, scopes: Sequence[Scope], asked: Asked) -> None:
        self._connection = connection
        self._tables = tables
        self._scopes = scopes
        self._asked = asked
        self._values: dict[str, Any] = {
            "scopes": [scope.id for scope in scopes],
            "roots": sorted({scope.root for scope in scopes}),
            "states": list(asked.states),
            "now": asked.query.now,
            "replaced": sorted(asked.replaced),
            "allow": sorted(asked.query.allow or ()),
        }

    def _seen(self, *, allowed: bool) -> str:
        """The filters, for a statement whose rows are those of one table."""
        return " and ".join([self._held(), *self._filters(allowed=allowed)])

    def _held(self) -> str:
        return f"scope = any(cast(:scopes as bigint[])){self._rooted()}"

    def _rooted(self, column: str = "root") -> str:
        return self._tables.of(f"{column} = any(cast(:roots as bigint[]))")

    def _filters(self, *, allowed: bool) -> list[str]:
        clauses = []
        if not self._asked.any_state:
            clauses.append("state = any(cast(:states as bigint[]))")
        if self._asked.query.now is not None:
            clauses.append("valid_from <= :now and :now < valid_until")
        if self._asked.replaced:
            clauses.append("number <> all(cast(:replaced as bigint[]))")
        if allowed and self._asked.query.allow is not None:
            clauses.append("number = any(cast(:allow as bigint[]))")
        return clauses

    def _fetch(self, statement: str, **more: Any) -> list[tuple[Any, ...]]:
        return fetch(self._connection, self._tables.filled(statement), {**self._values, **more})

    # -- counting --

    def totals(self, *, allowed: bool) -> Totals:
        """Of what is eligible, and if wanted of what is allowed alone."""
        narrowed = allowed and self._asked.query.allow is not None
        if narrowed or self._asked.states != _LIVE or self._is_timed():
            return self._counted(self._seen(allowed=allowed))
        gone = Totals(0, 0, 0)
        if self._asked.replaced:
            gone = self._counted(f"{self._held()} and state = 0 and number = any(cast(:replaced as bigint[]))")
        noted = Totals(
            sum(scope.live for scope in self._scopes),
            sum(scope.words for scope in self._scopes),
            sum(scope.vectors for scope in self._scopes),
        )
        return Totals(*(all_of_them - some for all_of_them, some in zip(noted, gone, strict=True)))

    def _is_timed(self) -> bool:
        return self._asked.query.now is not None and any(scope.timed for scope in self._scopes)

    def _counted(self, seen: str) -> Totals:
        (row,) = self._fetch(
            "select count(*), coalesce(sum(length), 0), count(*) filter (where dimensions > 0) "  # noqa: S608
            f"from {{entry}} where {seen}"
        )
        return Totals(*(int(value) for value in row))

    def began(self) -> dict[int, tuple[int, int]]:
        """When each conversation began, of what is allowed."""
        rows = self._fetch(
            "select distinct on (conversation) conversation, occurred, number from {entry} "  # noqa: S608
            f"where {self._seen(allowed=True)} and conversation <> 0 order by conversation, occurred, number"
        )
        return {unsigned(int(row[0])): (int(row[1]), int(row[2])) for row in rows}

    # -- words --

    def often(self) -> tuple[int, ...]:
        """How many eligible rows have each form of each term."""
        terms = self._asked.terms
        names = _forms(terms)
        counts = ", ".join(f"count(*) filter (where {name} = any(terms)) as often_{name}" for name in names)
        found = [[0] * len(term.hashes) for term in terms]
        for place, *often in self._by_term(range(len(terms)), counts):
            for bit in range(len(found[place])):
                found[place][bit] += int(often[bit])
        return tuple(each for counted in found for each in counted)

    def postings(self, places: Sequence[int]) -> Postings:
        """The eligible rows that have any form of the terms at these places."""
        names = _forms([self._asked.terms[place] for place in places])
        # Who has the first form has all of them: mostly one look at a row is enough.
        others = [f"case when {name} = any(terms) then {1 << bit} else 0 end" for bit, name in enumerate(names) if bit]
        forms = f"case when form_0 = any(terms) then {(1 << len(names)) - 1} else {' + '.join(others) or 0} end"
        joined = (
            f"string_agg(int8send(number) || int4send(length) || int2send(cast({forms} as smallint)), '') as joined"
        )
        rows = self._by_term(places, joined)
        return Postings.of([(int(place), bytes(packed)) for place, packed in rows if packed is not None])

    def _by_term(self, places: Sequence[int], told: str) -> list[tuple[Any, ...]]:
        """The place of each term in each scope, with what is told of the eligible rows that have any of its forms."""
        terms = self._asked.terms
        each = [(place, scope, terms[place].hashes) for place in places for scope in self._scopes]
        if not each:
            return []
        names = _forms([terms[place] for place in places])
        return self._fetch(
            f"""
            select term.place, found.*
            from unnest(cast(:places as bigint[]), {", ".join(f"cast(:{name} as bigint[])" for name in names)})
                as term (place, {", ".join(names)})
            cross join lateral (
                select {told} from {{entry}}
                where terms is not null and terms && array[{", ".join(names)}] and {self._seen(allowed=False)}
            ) as found
            order by term.place
            """,  # noqa: S608
            places=[place for place, _, _ in each],
            # A term that has fewer forms has its last one more than once.
            **{
                name: [word(scope.id, hashes[min(bit, len(hashes) - 1)]) for _, scope, hashes in each]
                for bit, name in enumerate(names)
            },
        )

    # -- meaning --

    def nearest(self, vector: F32, room: int) -> list[int]:
        """Of each scope the rows that are nearest, so many of each."""
        found: list[int] = []
        for scope in self._scopes:
            near = self._nearest_in(scope, vector, room, graph=True) if scope.near == len(vector) else []
            # A graph may end before it has found enough of what the filters let through: then everything is compared.
            if len(near) < min(room, scope.vectors):
                near = self._nearest_in(scope, vector, room, graph=False)
            found += near
        return found

    def _nearest_in(self, scope: Scope, vector: F32, room: int, *, graph: bool) -> list[int]:
        width = len(vector)
        # In a query of its own it is read once, not once for each row.
        distance = f"vector::halfvec({width:d}) <=> (select cast(:vector as halfvec({width:d})))"
        # A sum is not what the graph is ordered by: without it the planner takes the graph in small scopes, too.
        order = distance if graph else f"({distance}) + 0, number"
        if graph:
            reach = min(max(2 * room, 200), 1_000)
            self._connection.execute(
                "select set_config('hnsw.ef_search', :reach, true), "
                "set_config('hnsw.iterative_scan', 'strict_order', true)",
                {"reach": str(reach)},
            )
        held = f"scope = {scope.id:d}" + self._tables.of(f"root = {scope.root:d}")
        clauses = [held, f"vector_dims(vector) = {width:d}"]
        rows = self._fetch(
            f"select number from {{vector}} where {' and '.join([*clauses, *self._filters(allowed=True)])} "  # noqa: S608
            f"order by {order} limit :room",
            vector="[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]",
            room=room,
        )
        return [int(row[0]) for row in rows]

    # -- structure --

    def structured(self, meant: Collection[int]) -> Numbers:
        """Allowed rows that happened then, in a conversation that is meant, or are about what is named."""
        wanted = []
        values: dict[str, Any] = {}
        for place, (start, until) in enumerate(self._asked.spans):
            wanted.append(f"(occurred > 0 and occurred >= :start_{place} and occurred < :until_{place})")
            values |= {f"start_{place}": start, f"until_{place}": until}
        if meant:
            wanted.append("(conversation <> 0 and conversation = any(cast(:meant as bigint[])))")
            values["meant"] = [signed(conversation) for conversation in meant]
        if self._asked.query.subjects:
            wanted.append("number = any(cast(:subjects as bigint[]))")
            values["subjects"] = sorted(self._asked.query.subjects)
        if not wanted:
            return np.empty(0, np.int64)
        (row,) = self._fetch(
            "select string_agg(int8send(number), '') from {entry} "  # noqa: S608
            f"where {self._seen(allowed=True)} and ({' or '.join(wanted)})",
            **values,
        )
        return numbers_of(row[0])

    # -- rows --

    def rows(self, numbers: Collection[int]) -> list[Packed]:
        """The allowed ones of these."""
        found = self._fetch(
            "select number, body from {body} where number in (select number from {entry} "  # noqa: S608
            f"where number = any(cast(:numbers as bigint[])) and {self._seen(allowed=True)}) "
            f"{self._rooted()} order by number",
            numbers=sorted(numbers),
        )
        return [Packed.from_bytes(int(number), bytes(body)) for number, body in found]

    def beside(self, pairs: Sequence[tuple[int, int]], have: Collection[int]) -> list[Packed]:
        """What stands before and after these (conversation, number), of what is allowed, without what is at hand."""
        if not pairs:
            return []
        seen = self._seen(allowed=True)
        side = (
            f"select number from {{entry}} where conversation <> 0 and conversation = pair.conversation and {seen} "  # noqa: S608
            f"and number {{sign}} pair.number order by number {{direction}} limit {FAR:d}"
        )
        before = side.replace("{sign}", "<").replace("{direction}", "desc")
        after = side.replace("{sign}", ">").replace("{direction}", "asc")
        found = self._fetch(
            f"""
            with pair as (
                select * from unnest(cast(:conversations as bigint[]), cast(:numbers as bigint[]))
                    as pair (conversation, number)
            ), side as (
                select distinct near.number from pair cross join lateral (({before}) union all ({after})) as near
            )
            select body.number, body.body from {{body}} as body join side on side.number = body.number
            where body.number <> all(cast(:have as bigint[])){self._rooted("body.root")}
            order by body.number
            """,  # noqa: S608
            conversations=[signed(conversation) for conversation, _ in pairs],
            numbers=[number for _, number in pairs],
            have=sorted(have),
        )
        return [Packed.from_bytes(int(number), bytes(body)) for number, body in found]


def _forms(terms: Sequence[Term]) -> list[str]:
    """Names for as many forms as any of these terms has."""
    return [f"form_{bit}" for bit in range(max((len(term.hashes) for term in terms), default=0))]
