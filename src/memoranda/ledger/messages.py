"""SQL for conversations and messages. Every statement that finds a conversation names the scopes it may look into."""

import json
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from memoranda.domain.conversation import Conversation, KeptMessage
from memoranda.domain.message import ToolCall
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts, placeholders
from memoranda.ledger.streaming import streamed

_NOTHING = MappingProxyType[str, Any]({})
_SELECTED = """
    m.id, m.number, m.place, m.role, m.text, m.at, m.tokens, m.status, m.kind, m.speaker, m.host_id, m.tool_calls,
    m.tool_call_id, m.metadata, (select s.id from message s where s.number = m.stood_for_by)
"""
_ORDER = "m.place, m.kind desc, m.number"  # a summary before the message whose place it took
# Places are given one by one, so that the last one is the number of messages; the rest is read from an index alone.
_CONVERSATION = """
    select c.number, c.id, c.name, c.scope, c.created_at, c.updated_at, c.archived_at, c.metadata,
           (select coalesce(max(m.place), 0) from message m where m.conversation = c.number),
           (select count(*) from message m where m.conversation = c.number and m.status = 'active'),
           (select coalesce(sum(m.tokens), 0) from message m where m.conversation = c.number and m.status = 'active')
    from conversation c
"""
_ARCHIVED = {True: "is not null", False: "is null"}
IMPORTED = '{"imported":true}'
"""The metadata of a message that came from a transcript of somebody else's: it tells, but it is not vouched for."""


class Row(NamedTuple):
    """A conversation and the number by which the store knows it."""

    number: int
    conversation: Conversation


class NewMessage(NamedTuple):
    """A message that is to be kept, ready to be written."""

    id: str
    role: str
    text: str
    at: int
    tokens: int
    speaker: str
    host_id: str
    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str
    content_hash: str
    metadata: str = "{}"


def find(connection: Connection, scopes: Sequence[str], name: str) -> Row | None:
    """By its name or its id, in the first of these scopes that has it."""
    listed, values = placeholders("scope", tuple(scopes))
    rows = connection.execute(
        f"{_CONVERSATION} where c.scope in ({listed}) and (c.name = :name or c.id = :name)", {**values, "name": name}
    )
    found = sorted((_to_row(row) for row in rows), key=lambda row: list(scopes).index(row.conversation.scope))
    return found[0] if found else None


def listed(connection: Connection, scope: Scope, *, archived: bool, limit: int, offset: int) -> list[Row]:
    """Those that a scope sees, the one that was used last first."""
    names, values = placeholders("scope", scope.chain())
    rows = connection.execute(
        f"""
        {_CONVERSATION} where c.scope in ({names}) and c.archived_at {_ARCHIVED[archived]}
        order by c.updated_at desc, c.number desc limit :limit offset :offset
        """,
        {**values, "limit": limit, "offset": offset},
    )
    return [_to_row(row) for row in rows]


def counted(connection: Connection, scope: Scope, *, archived: bool) -> int:
    names, values = placeholders("scope", scope.chain())
    row = connection.execute(
        f"select count(*) from conversation where scope in ({names}) and archived_at {_ARCHIVED[archived]}",  # noqa: S608
        values,
    ).fetchone()
    return int(row[0]) if row else 0


def below(connection: Connection, scope: Scope) -> list[Row]:
    """All of a scope and of those below it."""
    rows = connection.execute(
        f"{_CONVERSATION} where c.scope = :scope or (c.scope > :below and c.scope < :beyond) order by c.number",
        {"scope": scope.path, "below": scope.path + "/", "beyond": scope.path + "0"},
    )
    return [_to_row(row) for row in rows]


def everything(connection: Connection) -> list[Row]:
    """All that are not archived, in every scope."""
    rows = connection.execute(f"{_CONVERSATION} where c.archived_at is null order by c.number")
    return [_to_row(row) for row in rows]


def of_scopes(connection: Connection, scopes: Sequence[str]) -> list[Row]:
    """All of exactly these scopes."""
    if not scopes:
        return []
    listed_scopes, values = placeholders("scope", tuple(scopes))
    rows = connection.execute(f"{_CONVERSATION} where c.scope in ({listed_scopes}) order by c.number", values)
    return [_to_row(row) for row in rows]


def append(connection: Connection, conversation: int, place: int, new: NewMessage) -> int | None:
    """A new row; its number, or None when the host's id is there already."""
    row = connection.execute(
        """
        insert into message (id, conversation, place, role, text, at, tokens, status, kind, speaker, host_id,
                             tool_calls, tool_call_id, metadata, content_hash)
        values (:id, :conversation, :place, :role, :text, :at, :tokens, 'active', 'message', :speaker, :host_id,
                :tool_calls, :tool_call_id, :metadata, :content_hash)
        on conflict do nothing returning number
        """,
        {
            **new._asdict(),
            "conversation": conversation,
            "place": place,
            "tool_calls": json.dumps([list(call) for call in new.tool_calls], ensure_ascii=False),
        },
    ).fetchone()
    return None if row is None else int(row[0])


def last_place(connection: Connection, conversation: int) -> int:
    row = connection.execute(
        "select coalesce(max(place), 0) from message where conversation = :conversation",
        {"conversation": conversation},
    ).fetchone()
    return int(row[0]) if row else 0


def write_event(connection: Connection, action: str, row: Row, first: int, last: int, *, at: int, actor: str) -> int:
    """One line of history for a run of messages; its sequence."""
    written = connection.execute(
        """
        insert into message_event (at, action, conversation, scope, first, last, actor)
        values (:at, :action, :conversation, :scope, :first, :last, :actor) returning seq
        """,
        {
            "at": at, "action": action, "conversation": row.number, "scope": row.conversation.scope,
            "first": first, "last": last, "actor": actor,
        },
    ).fetchone()  # fmt: skip
    assert written is not None
    return int(written[0])


def active(connection: Connection, conversation: int, *, most: int, oldest: bool = False) -> list[KeptMessage]:
    """The newest, or the oldest, that are active, in order; a summary and system prompts are always among them."""
    direction = "" if oldest else "desc"
    rows = connection.execute(
        f"""
        select {_SELECTED} from message m
        where m.conversation = :conversation and m.status = 'active'
          and (m.role = 'system' or m.number in (
              select number from message where conversation = :conversation and status = 'active'
              order by place {direction} limit :most))
        order by {_ORDER}
        """,  # noqa: S608
        {"conversation": conversation, "most": most},
    )
    return [to_message(row) for row in rows]


def page(connection: Connection, conversation: int, *, after: int, limit: int, status: str = "") -> list[KeptMessage]:
    """Messages from a place on, whatever became of them, or of one status. What shares a place is never torn apart."""
    rows = connection.execute(
        f"""
        select {_SELECTED} from message m
        where m.conversation = :conversation and m.place > :after and (:status = '' or m.status = :status)
          and m.place <= (select max(place) from (
              select place from message
              where conversation = :conversation and place > :after and (:status = '' or status = :status)
              order by place limit :limit))
        order by {_ORDER}
        """,  # noqa: S608
        {"conversation": conversation, "after": after, "limit": limit, "status": status},
    )
    return [to_message(row) for row in rows]


def stood_for(connection: Connection, summary: int) -> list[KeptMessage]:
    """What a summary stands for, directly."""
    rows = connection.execute(
        f"select {_SELECTED} from message m where m.stood_for_by = :summary order by {_ORDER}",  # noqa: S608
        {"summary": summary},
    )
    return [to_message(row) for row in rows]


def load(connection: Connection, scopes: Sequence[str], numbers: Sequence[int]) -> dict[int, tuple[Row, KeptMessage]]:
    """These messages with their conversations, as far as these scopes have them."""
    found: dict[int, tuple[Row, KeptMessage]] = {}
    owners: dict[int, Row] = {}
    for listed_numbers, values in in_parts("number", numbers):
        listed_scopes, more = placeholders("scope", tuple(scopes))
        rows: list[Any] = connection.execute(
            f"""
            select m.conversation, {_SELECTED} from message m
            where m.number in ({listed_numbers})
              and m.conversation in (select number from conversation where scope in ({listed_scopes}))
            """,  # noqa: S608
            {**values, **more},
        ).fetchall()
        for row in rows:
            if row[0] not in owners:
                owner: Any = connection.execute(
                    f"{_CONVERSATION} where c.number = :number", {"number": row[0]}
                ).fetchone()
                owners[row[0]] = _to_row(owner)
            found[int(row[2])] = (owners[row[0]], to_message(row[1:]))
    return found


def around(connection: Connection, conversation: int, place: int, *, before: int, after: int) -> list[KeptMessage]:
    """What stands about a place, summaries left out."""
    rows = connection.execute(
        f"""
        select * from (select {_SELECTED} from message m
            where m.conversation = :conversation and m.kind = 'message' and m.place <= :place
            order by m.place desc limit :before)
        union all
        select * from (select {_SELECTED} from message m
            where m.conversation = :conversation and m.kind = 'message' and m.place > :place
            order by m.place limit :after)
        """,  # noqa: S608
        {"conversation": conversation, "place": place, "before": before + 1, "after": after},
    )
    return sorted((to_message(row) for row in rows), key=lambda message: (message.place, message.number))


def numbers(connection: Connection, conversation: int) -> list[int]:
    """Of all messages of a conversation, in order."""
    rows = connection.execute(
        "select number from message where conversation = :number order by number", {"number": conversation}
    )
    return [int(row[0]) for row in rows]


def texts(connection: Connection, wanted: Callable[[int], bool] = lambda _: True) -> Iterator[str]:
    """Everything written into messages whose number is wanted."""
    for number, *columns in streamed(connection, "select number, text, speaker, tool_calls, metadata from message"):
        if wanted(int(number)):
            yield from (str(column) for column in columns if column not in ("", "[]", "{}"))


def to_message(row: Sequence[Any]) -> KeptMessage:
    """A row that was selected with the list above."""
    *plain, tool_calls, tool_call_id, metadata, stood_for_by = row
    calls = () if tool_calls == "[]" else tuple(ToolCall(*call) for call in json.loads(tool_calls))
    about = _NOTHING if metadata == "{}" else MappingProxyType(json.loads(metadata))
    return KeptMessage._make((*plain, calls, tool_call_id, about, stood_for_by or ""))


def _to_row(row: Sequence[Any]) -> Row:
    number, own_id, name, scope, created, updated, archived, metadata, messages, active_ones, tokens = row
    return Row(
        int(number),
        Conversation(
            id=own_id,
            name=name,
            scope=scope,
            created_at=created,
            updated_at=updated,
            messages=messages,
            active=active_ones,
            tokens=tokens,
            archived=archived is not None,
            metadata=_NOTHING if metadata == "{}" else MappingProxyType(json.loads(metadata)),
        ),
    )
