"""Tags: names for a sequence. Those that the store makes by itself go by themselves, too."""

import re
from collections.abc import Sequence
from typing import Any

from memoranda.domain.clock import Clock, iso
from memoranda.domain.errors import Conflict, NotFound
from memoranda.domain.scope import Scope
from memoranda.domain.travel import AUTOMATIC, Tag, TagPage
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders
from memoranda.ledger.feed import newest

_COLUMNS = "name, scope, seq, at, actor, note, automatic"
_NEWEST_FIRST = "seq desc, at desc, length(name) desc, name desc, scope desc"
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_REASON = 32


class Tags:
    """The tags of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, name: str, *, scope: Scope, actor: str, note: str = "") -> Tag:
        """Name what is there now."""

        def job(connection: Connection) -> Tag:
            if _own(connection, name, scope) is not None:
                raise Conflict(
                    f"there is a tag {name} in {scope} already", hint="Choose another name, or remove that one first."
                )
            tag = Tag(name, scope.path, newest(connection), self._clock.now(), actor, note)
            return _insert(connection, tag)

        return self._database.write(job)

    def add_automatic(self, why: str, *, scope: Scope, actor: str, kept: int) -> Tag:
        """Name what is there now after what is about to be done; only the newest of these are kept."""

        def job(connection: Connection) -> Tag:
            at = self._clock.now()
            second = re.sub(r"[-:]", "", iso(at)[:19]).replace("T", "-")
            reason = _NOT_IN_A_NAME.sub("-", why.lower()).strip("-")[:_LONGEST_REASON]
            name = _next_name(connection, f"{AUTOMATIC}{reason}-{second}", scope)
            tag = _insert(connection, Tag(name, scope.path, newest(connection), at, actor, automatic=True))
            connection.execute(
                f"""
                delete from tag where scope = :scope and automatic = 1 and name <> :name and name not in (
                    select name from tag where scope = :scope and automatic = 1 and name <> :name
                    order by {_NEWEST_FIRST} limit :others
                )
                """,  # noqa: S608
                {"scope": scope.path, "name": name, "others": max(kept, 1) - 1},
            )
            return tag

        return self._database.write(job)

    def page(self, scope: Scope, *, limit: int, offset: int) -> TagPage:
        """Of this scope and those above that it sees, newest first."""
        names, values = placeholders("scope", scope.chain())
        with self._database.read() as connection:
            rows = connection.execute(
                f"select {_COLUMNS} from tag where scope in ({names}) order by {_NEWEST_FIRST} "  # noqa: S608
                "limit :limit offset :offset",
                {**values, "limit": limit, "offset": offset},
            ).fetchall()
            total = connection.execute(
                f"select count(*) from tag where scope in ({names})",  # noqa: S608
                values,
            ).fetchone()
        return TagPage(tuple(_to_tag(row) for row in rows), int(total[0]) if total else 0)

    def find(self, name: str, scope: Scope) -> Tag | None:
        """The tag of that name, of the nearest scope that has one."""
        with self._database.read() as connection:
            for path in scope.chain():
                found = _own(connection, name, Scope(path))
                if found is not None:
                    return found
        return None

    def automatic_before(self, why: str, *, scope: Scope, sequence: int) -> Tag | None:
        """The newest that the store made by itself for this, in this very scope, before a sequence."""
        beginning = f"{AUTOMATIC}{why}-"
        with self._database.read() as connection:
            row = connection.execute(
                f"select {_COLUMNS} from tag where scope = :scope and automatic = 1 and seq < :sequence "  # noqa: S608
                f"and name >= :beginning and name < :beyond order by {_NEWEST_FIRST} limit 1",
                {"scope": scope.path, "sequence": sequence, "beginning": beginning, "beyond": beginning + "~"},
            ).fetchone()
        return None if row is None else _to_tag(row)

    def remove(self, name: str, *, scope: Scope) -> Tag:
        """The name goes; nothing that was kept does."""

        def job(connection: Connection) -> Tag:
            tag = _own(connection, name, scope)
            if tag is None:
                raise NotFound(f"there is no tag {name[:64]!r} in {scope}", hint="`tags` shows which there are.")
            connection.execute(
                "delete from tag where scope = :scope and name = :name", {"scope": scope.path, "name": name}
            )
            return tag

        return self._database.write(job)


def _own(connection: Connection, name: str, scope: Scope) -> Tag | None:
    row = connection.execute(
        f"select {_COLUMNS} from tag where scope = :scope and name = :name",  # noqa: S608
        {"scope": scope.path, "name": name},
    ).fetchone()
    return None if row is None else _to_tag(row)


def _next_name(connection: Connection, wanted: str, scope: Scope) -> str:
    """The name, with a number behind it that is higher than any so far when several fall into one second."""
    rows: list[Any] = connection.execute(
        "select name from tag where scope = :scope and name >= :wanted and name < :beyond",
        {"scope": scope.path, "wanted": wanted, "beyond": wanted + "~"},
    ).fetchall()
    counts = [int(name.removeprefix(wanted).removeprefix("-") or 1) for (name,) in rows]
    return f"{wanted}-{max(counts) + 1}" if counts else wanted


def _insert(connection: Connection, tag: Tag) -> Tag:
    connection.execute(
        f"insert into tag ({_COLUMNS}) values (:name, :scope, :sequence, :at, :actor, :note, :automatic)",  # noqa: S608
        {**tag._asdict(), "automatic": int(tag.automatic)},
    )
    return tag


def _to_tag(row: Sequence[Any]) -> Tag:
    return Tag(*row)._replace(automatic=bool(row[-1]))
