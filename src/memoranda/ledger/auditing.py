"""Who did what: the events of a timeline, each with the operation it was a part of, and what was done to tokens and
conversations."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.domain.governance import CONVERSATION_ACTIONS, TOKEN_ACTIONS, Audit, AuditEntry
from memoranda.domain.looking import MOST_EVENTS
from memoranda.domain.results import Event
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.looking import Happened, Overview
from memoranda.ledger.reach import inside

_LAST_MOMENT = 1 << 62


class _Operation(NamedTuple):
    first: int
    last: int
    name: str
    batch: str
    undoes: int | None


class Auditing:
    """The audit of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._overview = Overview(database)

    def page(self, scope: Scope, wanted: Happened, *, operation: str, below: bool) -> Audit:
        """One page, newest first. `operation` asks for what was done as a part of one of that name."""
        with self._database.read() as connection:
            if wanted.action in (*TOKEN_ACTIONS, *CONVERSATION_ACTIONS):
                return Audit(tuple(_done_beside(connection, scope, wanted, below=below)), None)
            found = self._happened(connection, scope, wanted, operation, below=below)
            page = found[: wanted.limit]
            more = len(found) > wanted.limit
            entries = list(_explained(connection, page))
            if not (operation or wanted.reference or wanted.action):
                begin = page[-1].at if more else 0
                end = _moment_of(connection, wanted.before)
                between = [
                    each for each in _done_beside(connection, scope, wanted, below=below) if begin <= each.at < end
                ]
                entries = sorted([*entries, *between], key=lambda each: each.at, reverse=True) if between else entries
        return Audit(tuple(entries), page[-1].sequence if more else None)

    def _happened(
        self, connection: Connection, scope: Scope, wanted: Happened, operation: str, *, below: bool
    ) -> list[Event]:
        """The events of the page, and one more if there is one."""
        asked = wanted._replace(limit=wanted.limit + 1)
        if not operation:
            return list(self._overview.timeline(scope, asked, below=below))
        found: list[Event] = []
        before = MOST_EVENTS if wanted.before is None else wanted.before
        for first, last in _ranges(connection, operation, before):
            if len(found) >= asked.limit:
                break
            if first >= before:
                continue
            # What comes after the operation is known to be none of it; the next one is looked for below.
            page = self._overview.timeline(
                scope, asked._replace(before=min(before, last + 1), limit=asked.limit - len(found)), below=below
            )
            inner = [event for event in page if event.sequence >= first]
            found += inner
            if len(inner) < len(page):
                before = page[len(inner)].sequence + 1
            elif page.next is None:
                break
            else:
                before = page.next
        return found


def _ranges(connection: Connection, name: str, before: int) -> Iterator[tuple[int, int]]:
    rows: list[Any] = connection.execute(
        "select first, last from operation where name = :name and first < :before order by first desc",
        {"name": name, "before": before},
    ).fetchall()
    return iter(rows)


def _explained(connection: Connection, events: Sequence[Event]) -> Iterator[AuditEntry]:
    """Each event with its operation; one alone has none."""
    if not events:
        return
    rows: list[Any] = connection.execute(
        # Operations do not overlap: only the one that began last before the oldest event may still hold it.
        "select first, last, name, batch, undoes from operation where first <= :newest and first >= "
        "coalesce((select max(first) from operation where first <= :oldest), 0) order by first desc",
        {"newest": events[0].sequence, "oldest": events[-1].sequence},
    ).fetchall()
    operations = iter([_Operation(*row) for row in rows])
    current = next(operations, None)
    for event in events:
        while current is not None and current.first > event.sequence:
            current = next(operations, None)
        part = current if current is not None and current.last >= event.sequence else None
        yield AuditEntry(
            at=event.at,
            action=event.action,
            scope=event.scope,
            actor=event.actor,
            reason=event.reason,
            sequence=event.sequence,
            memory_id=event.memory_id,
            operation=part.name if part else "",
            batch=part.batch if part else "",
            undoes=part.undoes if part else None,
        )


def _done_beside(connection: Connection, scope: Scope, wanted: Happened, *, below: bool) -> Iterator[AuditEntry]:
    """What was done to tokens and to conversations, newest first, as far as it is asked for."""
    happened = [
        *(_to_tokens(connection, scope, below=below) if wanted.action not in CONVERSATION_ACTIONS else ()),
        *(_to_conversations(connection, scope, wanted, below=below) if wanted.action not in TOKEN_ACTIONS else ()),
    ]
    for entry in sorted(happened, key=lambda each: each.at, reverse=True):
        in_time = (wanted.after or 0) <= entry.at <= (_LAST_MOMENT if wanted.until is None else wanted.until)
        if in_time and wanted.action in ("", entry.action) and wanted.actor in ("", entry.actor):
            yield entry


def _to_conversations(connection: Connection, scope: Scope, wanted: Happened, *, below: bool) -> Iterator[AuditEntry]:
    """Conversations that were put away, brought back, erased, or had something blanked in them."""
    condition, values = inside(scope, below=below, column="e.scope")
    names = {f"action_{place}": each.removeprefix("conversation_") for place, each in enumerate(CONVERSATION_ACTIONS)}
    rows: list[Any] = connection.execute(
        f"select e.at, e.action, e.scope, e.actor, coalesce(c.id, '') from message_event e "  # noqa: S608
        f"left join conversation c on c.number = e.conversation where {condition} "
        f"and e.action in ({', '.join(f':{name}' for name in names)}) and e.at >= :after order by e.seq desc",
        {**values, **names, "after": wanted.after or 0},
    ).fetchall()
    before: tuple[Any, ...] = ()
    for at, action, held, actor, identity in rows:
        # One that is done to several runs of messages is told once.
        entry = (at, action, held, actor, identity)
        if entry != before:
            yield AuditEntry(at, f"conversation_{action}", held, actor, conversation_id=identity)
        before = entry


def _to_tokens(connection: Connection, scope: Scope, *, below: bool) -> Iterator[AuditEntry]:
    """Tokens that were made for this scope, and revoked. Who revoked one is not known."""
    condition, values = inside(scope, below=below)
    rows: list[Any] = connection.execute(
        f"select id, scope, made_by, created_at, revoked_at from token where {condition} order by id",  # noqa: S608
        values,
    ).fetchall()
    for identity, held, made_by, created_at, revoked_at in rows:
        for at, action, actor in ((created_at, TOKEN_ACTIONS[0], made_by), (revoked_at, TOKEN_ACTIONS[1], "")):
            if at is not None:
                yield AuditEntry(at, action, held, actor, token_id=identity)


def _moment_of(connection: Connection, before: int | None) -> int:
    """When the page before this one ended."""
    if before is None:
        return _LAST_MOMENT
    row = connection.execute("select at from event where seq = :seq", {"seq": before}).fetchone()
    return _LAST_MOMENT if row is None else int(row[0])
