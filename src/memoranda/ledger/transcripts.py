"""`Transcripts`: conversations kept word for word, with the summaries that stand for a part of them.

A compaction replaces nothing: it adds a summary and marks exactly the messages that the summary stands for. It is
committed only when those are still as they were read, so that of two at once one does nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock
from memoranda.domain.conversation import Conversation, KeptMessage, Status
from memoranda.domain.errors import Ambiguous, Conflict, NotFound
from memoranda.domain.ids import new_id
from memoranda.domain.message import Message
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash
from memoranda.domain.tokens import message_tokens
from memoranda.ledger import claims, messages
from memoranda.ledger.connection import Connection
from memoranda.ledger.database import Database
from memoranda.ledger.dialect import placeholders
from memoranda.ledger.feed import number_in
from memoranda.ledger.message_feed import ERASED as ERASED
from memoranda.ledger.message_feed import MessageFeed
from memoranda.ledger.messages import NewMessage, Row
from memoranda.ledger.streaming import streamed

_MOST_ACTIVE = 5_000
_EVER = 1 << 62


class Stale(Conflict):
    """Somebody else compacted this conversation meanwhile; look again."""


class Kept(NamedTuple):
    """What an append did: how many were new, how many the host had handed over before."""

    row: Row
    added: tuple[int, ...]
    known: int
    sequence: int


class NewSummary(NamedTuple):
    """A summary that is to be kept, with the numbers of what it stands for."""

    text: str
    tokens: int
    place: int
    at: int
    stands_for: Mapping[int, str]
    """The numbers of what it was made of, and the hashes of the texts that were read."""
    metadata: Mapping[str, Any]


class Transcripts:
    """The conversations of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.feed = MessageFeed(database)

    # -- keeping --

    def append(
        self,
        name: str,
        new: Sequence[NewMessage],
        *,
        scope: Scope,
        actor: str,
        metadata: Mapping[str, Any] | None = None,
        unless_private: bytes = b"",
    ) -> Kept:
        """Keep all of them or none, at the end of the conversation, which is made when it is not there yet."""

        def job(connection: Connection) -> Kept:
            if unless_private and _is_private(connection, unless_private, scope):
                raise Conflict("this conversation is private: nothing of it is kept")
            at = self._clock.now()
            row = self._ensured(connection, name, scope, at=at, metadata=metadata)
            place = messages.last_place(connection, row.number)
            added: list[int] = []
            for each in new:
                number = messages.append(connection, row.number, place + 1, each)
                if number is not None:
                    place += 1
                    added.append(number)
            sequence = 0
            if added:
                claims.done_now(connection)  # the same words may well be said twice
                if row.conversation.archived:
                    self._set_status(connection, row, "archived", "active", "restored", actor=actor)
                # By when it was said: what is imported was not said now.
                connection.execute(
                    """
                    update conversation
                    set created_at = case when created_at > :first then :first else created_at end,
                        updated_at = case when updated_at < :last or :new = 1 then :last else updated_at end,
                        archived_at = null
                    where number = :number
                    """,
                    {
                        "first": min(at, *(each.at for each in new)),
                        "last": min(at, max(each.at for each in new)),
                        "new": row.conversation.messages == 0,
                        "number": row.number,
                    },
                )
                sequence = messages.write_event(connection, "appended", row, added[0], added[-1], at=at, actor=actor)
            fresh = messages.find(connection, (scope.path,), row.conversation.id)
            assert fresh is not None
            return Kept(fresh, tuple(added), len(new) - len(added), sequence)

        return self._database.write(job)

    def _ensured(
        self, connection: Connection, name: str, scope: Scope, *, at: int, metadata: Mapping[str, Any] | None
    ) -> Row:
        found = messages.find(connection, (scope.path,), name)
        if found is None:
            connection.execute(
                """
                insert into conversation (id, scope, name, created_at, updated_at)
                values (:id, :scope, :name, :at, :at)
                """,
                {"id": new_id(), "scope": scope.path, "name": name, "at": at},
            )
            found = messages.find(connection, (scope.path,), name)
            assert found is not None
        if metadata:
            joined = {**found.conversation.metadata, **metadata}
            connection.execute(
                "update conversation set metadata = :metadata where number = :number",
                {"metadata": json.dumps(joined, ensure_ascii=False, sort_keys=True), "number": found.number},
            )
        return found

    # -- compaction --

    def claim(self, row: Row, *, for_ms: int) -> int:
        """Say that a costly summary is being made, so that nobody else pays for the same one. Ends by itself.

        Until when, to be brought to `release`; 0 when somebody else has claimed it.
        """

        def job(connection: Connection) -> int:
            now = self._clock.now()
            connection.execute(
                "update conversation set compacting_until = :until where number = :number and compacting_until <= :now",
                {"until": now + for_ms, "number": row.number, "now": now},
            )
            return now + for_ms if connection.changes() else 0

        return self._database.write(job)

    def release(self, row: Row, until: int) -> None:
        """The costly summary is made, or was given up. A claim that somebody took after ours ran out stays."""
        self._database.write(
            lambda connection: connection.execute(
                "update conversation set compacting_until = 0 where number = :number and compacting_until = :until",
                {"number": row.number, "until": until},
            )
        )

    def compact(self, row: Row, summary: NewSummary, *, actor: str) -> KeptMessage:
        """Let the summary stand for exactly these, which must all still be active; Stale when they are not."""

        def job(connection: Connection) -> KeptMessage:
            wanted = summary.stands_for
            self._check_active(connection, row, wanted)
            at = self._clock.now()
            # The mark comes first: only one summary may be active, and the earlier one is among these.
            for number in sorted(wanted):
                connection.execute("update message set status = 'compacted' where number = :number", {"number": number})
            written = connection.execute(
                """
                insert into message (id, conversation, place, role, text, at, tokens, status, kind, metadata,
                                     content_hash)
                values (:id, :conversation, :place, 'system', :text, :at, :tokens, 'active', 'summary', :metadata,
                        :content_hash)
                returning number
                """,
                {
                    "id": new_id(), "conversation": row.number, "place": summary.place, "text": summary.text,
                    "at": summary.at, "tokens": summary.tokens,
                    "metadata": json.dumps(dict(summary.metadata), ensure_ascii=False, sort_keys=True),
                    "content_hash": content_hash(summary.text),
                },
            ).fetchone()  # fmt: skip
            assert written is not None
            own = int(written[0])
            for number in sorted(wanted):
                connection.execute(
                    "update message set stood_for_by = :own where number = :number", {"own": own, "number": number}
                )
            messages.write_event(connection, "compacted", row, own, own, at=at, actor=actor)
            return messages.load(connection, (row.conversation.scope,), (own,))[own][1]

        return self._database.write(job)

    @staticmethod
    def _check_active(connection: Connection, row: Row, wanted: Mapping[int, str]) -> None:
        """Whether all of these, and every active summary among them, are as they were read: nothing of what was
        erased meanwhile may come back in a summary."""
        rows = connection.execute(
            "select number, kind, content_hash from message where conversation = :conversation and status = 'active'",
            {"conversation": row.number},
        )
        found = {int(number): (kind, digest) for number, kind, digest in rows}
        same = all(number in found and found[number][1] == digest for number, digest in wanted.items())
        if not wanted or not same or any(kind == "summary" and n not in wanted for n, (kind, _) in found.items()):
            raise Stale("another compaction of this conversation came first, or its messages have changed")

    # -- reading --

    def find(self, name: str, *, scopes: Sequence[str]) -> Row:
        with self._database.read() as connection:
            found = messages.find(connection, scopes, name)
        if found is None:
            raise NotFound(f"there is no conversation {name!r} here", hint="`memoranda conversation list` shows them.")
        return found

    def listed(self, scope: Scope, *, archived: bool, limit: int, offset: int) -> tuple[tuple[Conversation, ...], int]:
        """One page, and how many there are."""
        with self._database.read() as connection:
            rows = messages.listed(connection, scope, archived=archived, limit=limit, offset=offset)
            return tuple(row.conversation for row in rows), messages.counted(connection, scope, archived=archived)

    def of_scopes(self, scopes: Sequence[str]) -> list[Row]:
        """All conversations of exactly these scopes."""
        with self._database.read() as connection:
            return messages.of_scopes(connection, scopes)

    def below(self, scope: Scope) -> list[Row]:
        with self._database.read() as connection:
            return messages.below(connection, scope)

    def talked_in(self, *, more_than: int) -> list[Row]:
        """Every conversation of the store with more active messages than this."""
        with self._database.read() as connection:
            return [row for row in messages.everything(connection) if row.conversation.active > more_than]

    def active(self, row: Row) -> list[KeptMessage]:
        with self._database.read() as connection:
            return messages.active(connection, row.number, most=_MOST_ACTIVE)

    def oldest_active(self, row: Row) -> list[KeptMessage]:
        """The oldest that are active, with the summary; of a very long conversation only a part."""
        with self._database.read() as connection:
            return messages.active(connection, row.number, most=_MOST_ACTIVE, oldest=True)

    @staticmethod
    def has_more(active: Sequence[KeptMessage]) -> bool:
        """Whether these were only a part of what is active."""
        return len(active) >= _MOST_ACTIVE

    def page(self, row: Row, *, after: int, limit: int, status: str = "") -> list[KeptMessage]:
        with self._database.read() as connection:
            return messages.page(connection, row.number, after=after, limit=limit, status=status)

    def stood_for(self, summary: KeptMessage) -> list[KeptMessage]:
        with self._database.read() as connection:
            return messages.stood_for(connection, summary.number)

    def message(self, reference: str, *, scopes: Sequence[str]) -> tuple[Row, KeptMessage]:
        """One message by the beginning of its id."""
        listed, values = placeholders("scope", tuple(scopes))
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(
                f"""
                select number from message where id >= :id and id < :beyond
                  and conversation in (select number from conversation where scope in ({listed})) limit 2
                """,  # noqa: S608
                {**values, "id": reference, "beyond": reference + "~"},
            ).fetchall()
            if len(rows) > 1:
                raise Ambiguous(f"several messages begin with {reference}", hint="Give more of the id.")
            if not rows or len(reference) < 4:
                raise NotFound(f"there is no message {reference!r} here", hint="Give its id, or how it begins.")
            return messages.load(connection, scopes, (int(rows[0][0]),))[int(rows[0][0])]

    def load(self, numbers: Sequence[int], *, scopes: Sequence[str]) -> dict[int, tuple[Row, KeptMessage]]:
        with self._database.read() as connection:
            return messages.load(connection, scopes, numbers)

    def around(self, row: Row, place: int, *, before: int, after: int) -> list[KeptMessage]:
        with self._database.read() as connection:
            return messages.around(connection, row.number, place, before=before, after=after)

    def numbers_that_fit(
        self, *, scopes: Sequence[str], row: Row | None, since: int | None, until: int | None, role: str
    ) -> frozenset[int]:
        """Numbers of what was said by this role, in this conversation, from then till then; empty means any."""
        listed, values = placeholders("scope", tuple(scopes))
        with self._database.read() as connection:
            rows = connection.execute(
                f"""
                select number from message
                where conversation in (select number from conversation where scope in ({listed}))
                  and (:row = 0 or conversation = :row) and (:role = '' or role = :role)
                  and at >= :since and at <= :until
                """,  # noqa: S608
                {
                    **values,
                    "row": 0 if row is None else row.number,
                    "role": role,
                    "since": -_EVER if since is None else since,
                    "until": _EVER if until is None else until,
                },
            )
            return frozenset(int(each[0]) for each in rows)

    def oldest_between(
        self, *, scopes: Sequence[str], row: Row | None, since: int, until: int, limit: int
    ) -> tuple[int, ...]:
        """Numbers of the first that was said from then till then."""
        listed, values = placeholders("scope", tuple(scopes))
        with self._database.read() as connection:
            rows = connection.execute(
                f"""
                select number from message
                where conversation in (select number from conversation where scope in ({listed}))
                  and (:row = 0 or conversation = :row) and kind = 'message' and at >= :since and at <= :until
                order by at, number limit :limit
                """,  # noqa: S608
                {**values, "row": 0 if row is None else row.number, "since": since, "until": until, "limit": limit},
            )
            return tuple(int(each[0]) for each in rows)

    # -- working memory, private conversations --

    def working(self, row: Row) -> str:
        with self._database.read() as connection:
            found = connection.execute(
                "select working from conversation where number = :number", {"number": row.number}
            ).fetchone()
        return str(found[0]) if found else ""

    def set_working(self, name: str, text: str, *, scope: Scope) -> None:
        """One text of a conversation, replaced whole; no compaction touches it."""

        def job(connection: Connection) -> None:
            at = self._clock.now()
            row = self._ensured(connection, name, scope, at=at, metadata=None)
            connection.execute(
                "update conversation set working = :text, working_at = :at where number = :number",
                {"text": text, "at": at, "number": row.number},
            )

        self._database.write(job)

    def is_private(self, digest: bytes, *, scope: Scope) -> bool:
        with self._database.read() as connection:
            return _is_private(connection, digest, scope)

    def keep_private(self, name: str, digest: bytes, *, scope: Scope) -> None:
        """From now on nothing of this conversation is kept; only the digest of its name is."""

        def job(connection: Connection) -> None:
            if messages.find(connection, (scope.path,), name) is not None:
                raise Conflict(
                    f"{name!r} has messages here already", hint="Erase it first: memoranda conversation erase NAME."
                )
            connection.execute(
                "insert into private_conversation (scope, digest) values (:scope, :digest) on conflict do nothing",
                {"scope": scope.path, "digest": digest},
            )

        self._database.write(job)

    # -- letting go --

    def set_archived(self, row: Row, archived: bool, *, actor: str) -> None:
        """Put a conversation away, or bring it back. Nothing of it is lost."""

        def job(connection: Connection) -> None:
            at = self._clock.now()
            connection.execute(
                "update conversation set archived_at = :archived_at, updated_at = :at where number = :number",
                {"archived_at": at if archived else None, "at": at, "number": row.number},
            )
            if archived:
                self._set_status(connection, row, "active", "archived", "archived", actor=actor)
            else:
                self._set_status(connection, row, "archived", "active", "restored", actor=actor)

        self._database.write(job)

    def _set_status(
        self, connection: Connection, row: Row, before: Status, after: Status, action: str, *, actor: str
    ) -> None:
        connection.execute(
            "update message set status = :after where conversation = :conversation and status = :before",
            {"after": after, "conversation": row.number, "before": before},
        )
        # Also what was summed up before is searched only when asked for.
        for first, last in _runs(messages.numbers(connection, row.number)):
            messages.write_event(connection, action, row, first, last, at=self._clock.now(), actor=actor)

    def numbers(self, rows: Sequence[Row]) -> list[int]:
        """Of every message of these conversations."""
        with self._database.read() as connection:
            return [number for row in rows for number in messages.numbers(connection, row.number)]

    def texts(self, wanted: Callable[[int], bool] = lambda _: True) -> Iterator[str]:
        """Everything written into messages whose number is wanted."""
        with self._database.read() as connection:
            yield from messages.texts(connection, wanted)

    def names(self, rows: Sequence[Row] | None = None) -> Iterator[str]:
        """Names, metadata and working memory of conversations: of these, or of all."""
        wanted = None if rows is None else {row.number for row in rows}
        with self._database.read() as connection:
            for number, *columns in streamed(connection, "select number, name, working, metadata from conversation"):
                if wanted is None or number in wanted:
                    yield from (str(column) for column in columns if column not in ("", "{}"))

    def erase(self, rows: Sequence[Row], *, actor: str) -> int:
        """Delete these conversations with all that belongs to them; the sequence afterwards."""

        def job(connection: Connection) -> int:
            at = self._clock.now()
            for row in rows:
                gone = messages.numbers(connection, row.number)  # here: somebody may have just said more
                connection.execute("delete from conversation where number = :number", {"number": row.number})
                for first, last in _runs(gone):
                    messages.write_event(connection, "erased", row, first, last, at=at, actor=actor)
            return number_in(connection, "select coalesce(max(seq), 0) from message_event")

        return self._database.write(job)

    def redact(
        self,
        row: Row,
        replaced: Mapping[int, str],
        *,
        working: str | None,
        without_metadata: bool = False,
        actor: str,
    ) -> None:
        """Put other words in place of some messages' own; tool calls and metadata of those go, too."""

        def job(connection: Connection) -> None:
            at = self._clock.now()
            for number, text in replaced.items():
                connection.execute(
                    """
                    update message
                    set text = :text, tool_calls = '[]', metadata = '{}', speaker = '', tokens = :tokens,
                        content_hash = :content_hash
                    where number = :number
                    """,
                    {
                        "text": text,
                        "tokens": message_tokens(Message("system", text)),
                        "content_hash": content_hash(text),
                        "number": number,
                    },
                )
                connection.execute("delete from message_vector where number = :number", {"number": number})
            if working is not None:
                connection.execute(
                    "update conversation set working = :working where number = :number",
                    {"working": working, "number": row.number},
                )
            if without_metadata:
                connection.execute(
                    "update conversation set metadata = '{}' where number = :number", {"number": row.number}
                )
            for first, last in _runs(sorted(replaced)):
                messages.write_event(connection, "redacted", row, first, last, at=at, actor=actor)

        self._database.write(job)


def _is_private(connection: Connection, digest: bytes, scope: Scope) -> bool:
    found = connection.execute(
        "select 1 from private_conversation where scope = :scope and digest = :digest",
        {"scope": scope.path, "digest": digest},
    ).fetchone()
    return found is not None


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Numbers that follow one another, as first and last."""
    start = previous = None
    for number in numbers:
        if previous is None or number != previous + 1:
            if start is not None and previous is not None:
                yield start, previous
            start = number
        previous = number
    if start is not None and previous is not None:
        yield start, previous
