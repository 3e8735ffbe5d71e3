"""SQL for erasing: which memories are meant, what else may say the same, and the key that signs the statement."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.statement import Asked
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row
from memoranda.ledger.streaming import streamed

_BELOW = "(scope = :scope or (scope > :below and scope < :beyond))"
_SAME = ("about", "speaker", "source", "source_ref", "kind")
# Where people, or programs for them, write words beside memories and messages.
_WORDS = (
    "select name from tag union select note from tag union select actor from tag",
    "select text from miss where text <> '' union select reason from miss",
    "select name from operation union select actor from operation",
    "select rationale from grading union select method from grading",
    "select format from import_run union select counts from import_run",
    "select trouble from upkeep union select receipt from upkeep",
)
# What is selected, how one of them is emptied, and whether only if it says what was erased.
_WORDY = (
    (
        "select scope, name, note from tag where note <> ''",
        "update tag set note = '' where scope = :one and name = :other",
        True,
    ),
    ("select seq, seq, reason from event where reason <> ''", "update event set reason = '' where seq = :one", True),
    (
        "select scope, digest, text from miss where text <> ''",
        "update miss set text = '' where scope = :one and digest = :other",
        False,
    ),
)
_VECTORS = "select substr(body, 1, :length) from vector union all select substr(body, 1, :length) from message_vector"


class Counted(NamedTuple):
    """What hangs on some memories."""

    revisions: int = 0
    events: int = 0
    vectors: int = 0


class Erasing:
    """What the tables know that matters when something is erased."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- what is meant --

    def matching(self, scope: Scope, asked: Asked, talks: Sequence[str]) -> list[tuple[int, Memory]]:
        """Memories of this very scope, or with those below it, that fit all that is asked for; `talks` are the names
        of the conversation."""
        where, values = inside(scope, below=asked.below, column="m.scope")
        parts = [where]
        more: dict[str, Any] = {}
        for name in _SAME:
            if value := getattr(asked, name):
                parts.append(f"m.{name} = :{name}")
                more[name] = value
        if asked.conversation:
            names = [f"talk_{place}" for place in range(len(talks))]
            parts.append(f"m.conversation in ({', '.join(f':{name}' for name in names)})")
            more |= dict(zip(names, talks, strict=True))
        happened = "coalesce(m.occurred_at, m.created_at)"
        for condition, name in ((f"{happened} >= ", "time_after"), (f"{happened} < ", "time_before")):
            if getattr(asked, name) is not None:
                parts.append(f"{condition}:{name}")
                more[name] = getattr(asked, name)
        statement = f"select {SELECTED} from memory m where {' and '.join(parts)} order by m.number"  # noqa: S608
        with self._database.read() as connection:
            return [from_row(row) for row in connection.execute(statement, {**values, **more})]

    def with_ids(self, ids: Iterable[str]) -> list[tuple[int, Memory]]:
        """Those of these ids that are there, whatever their scope: for who has them from the store itself."""
        found: list[tuple[int, Memory]] = []
        with self._database.read() as connection:
            for listed, values in in_parts("id", tuple(ids)):
                statement = f"select {SELECTED} from memory m where m.id in ({listed})"  # noqa: S608
                found += (from_row(row) for row in connection.execute(statement, values))
        return found

    def scopes_of(self, messages: Iterable[str]) -> list[str]:
        """Scopes of the conversations that have messages with these ids."""
        found: set[str] = set()
        with self._database.read() as connection:
            for listed, values in in_parts("id", tuple(messages)):
                statement = f"""
                    select distinct c.scope from conversation c join message m on m.conversation = c.number
                    where m.id in ({listed})
                """  # noqa: S608
                found.update(str(scope) for (scope,) in connection.execute(statement, values))
        return sorted(found)

    def counted(self, numbers: Sequence[int]) -> Counted:
        """Revisions, events and vectors of these memories."""
        sums = [0, 0, 0]
        with self._database.read() as connection:
            for listed, values in in_parts("number", numbers):
                row: Any = connection.execute(
                    f"""
                    select (select count(*) from revision where number in ({listed})),
                           (select count(*) from revision r join event e on e.seq = r.seq
                            where r.number in ({listed})),
                           (select count(*) from vector where number in ({listed}))
                    """,  # noqa: S608
                    values,
                ).fetchall()[0]  # all of it: a statement that is not at its end keeps the log pinned
                sums = [known + int(more) for known, more in zip(sums, row, strict=True)]
        return Counted(*sums)

    # -- what else says it --

    def clear_words(self, scopes: Iterable[str], says_it: Callable[[str], bool]) -> int:
        """In these scopes and below, empty the notes of tags and the reasons of events that say it, and the queries
        that found nothing, whatever they say; how many."""
        found: list[tuple[str, dict[str, Any]]] = []
        with self._database.read() as connection:
            for path in dict.fromkeys(scopes):
                for selected, updated, asks in _WORDY:
                    rows: list[Any] = connection.execute(f"{selected} and {_BELOW}", _inside(path)).fetchall()
                    found += (
                        (updated, {"one": one, "other": other})
                        for one, other, text in rows
                        if not asks or says_it(str(text))
                    )

        def job(connection: Connection) -> None:
            for statement, values in found:
                connection.execute(statement, values)

        if found:  # a disk may be full, and nothing to be done here
            self._database.write(job)
        return len(found)

    def drop_below(self, scope: Scope) -> None:
        """Tags, queries that found nothing and refused proposals of a scope and of those below it."""
        tables = ("tag", "miss", "dismissal")
        with self._database.read() as connection:
            counts = [
                number
                for table in tables
                for (number,) in connection.execute(
                    f"select count(*) from {table} where {_BELOW}",  # noqa: S608
                    _inside(scope.path),
                )
            ]

        def job(connection: Connection) -> None:
            for table in tables:
                connection.execute(f"delete from {table} where {_BELOW}", _inside(scope.path))  # noqa: S608

        if any(counts):
            self._database.write(job)

    def words(self) -> Iterator[str]:
        """What is written in the tables that hold neither memories nor messages."""
        with self._database.read() as connection:
            for statement in _WORDS:
                yield from (str(row[0]) for row in streamed(connection, statement) if row[0])

    def vectors(self, length: int) -> Iterator[bytes]:
        """How every vector begins."""
        with self._database.read() as connection:
            for row in streamed(connection, _VECTORS, {"length": length}):
                yield bytes(row[0])

    # -- signing --

    def signing_key(self) -> str:
        """The private key of this store; empty when it has none yet."""
        with self._database.read() as connection:
            return _signing_key(connection)

    def keep_signing_key(self, made: str) -> str:
        """The private key of this store: this one, unless it has one."""

        def job(connection: Connection) -> str:
            connection.execute(
                "insert into store (key, value) values ('signing', :value) on conflict (key) do nothing",
                {"value": made},
            )
            return _signing_key(connection)

        return self.signing_key() or self._database.write(job)


def _signing_key(connection: Connection) -> str:
    row = connection.execute("select value from store where key = 'signing'").fetchone()
    return "" if row is None else str(row[0])


def _inside(path: str) -> dict[str, str]:
    # '0' is the character after '/': a range, so that `bot-1` never reaches `bot-10`.
    return {"scope": path, "below": path + "/", "beyond": path + "0"}
