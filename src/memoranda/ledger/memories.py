"""SQL for memories and their revisions. Every statement that finds a memory names the scopes it may look into."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import Ambiguous, InvalidInput, NotFound
from memoranda.domain.fact import HALF_LIFE_MS
from memoranda.domain.ids import is_id_or_prefix, is_whole_id
from memoranda.domain.looking import Order
from memoranda.domain.memory import Memory, State
from memoranda.domain.results import Event, Revision
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts, placeholders
from memoranda.ledger.looking import browsed
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import COLUMNS, REVISED, SELECTED, SELECTED_AS_REVISED, from_row, to_parameters
from memoranda.ledger.streaming import streamed

_INSERT = (
    f"insert into memory ({', '.join(COLUMNS)}) values ({', '.join(':' + name for name in COLUMNS)}) "  # noqa: S608
    "returning number"
)
_UPDATE = f"update memory set {', '.join(f'{name} = :{name}' for name in REVISED)} where number = :number"  # noqa: S608
_INSERT_REVISION = (
    f"insert into revision (seq, number, at, {', '.join(REVISED)}) "  # noqa: S608
    f"values (:seq, :number, :at, {', '.join(':' + name for name in REVISED)})"
)

_NOBODY = 0
"""The number that no memory has."""
_LITERAL = re.compile(r"[%_^]")
_ESCAPED = r"^\g<0>"


class Filter(NamedTuple):
    """What a listing asks for; empty means any."""

    kinds: tuple[str, ...] = ()
    states: tuple[State, ...] = ()
    sources: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    grades: tuple[str, ...] = ()
    about: str = ""
    attribute: str = ""
    speaker: str = ""
    conversation: str = ""
    text: str = ""
    """In the text, letter by letter, whatever the case."""
    context: str | None = None
    source_ref: str = ""
    here: bool = False
    """Of this very scope, not of those above it."""
    below: bool = False
    """Of this very scope and of those below it, not of those above it."""
    attribute_like: str = ""
    """The beginning of the attribute."""
    about_things: bool = False
    """Only what has a subject; profiles apart."""
    has_attribute: bool = False
    tags: tuple[str, ...] = ()
    """All of these."""
    time_after: int | None = None
    time_before: int | None = None
    importance_min: float | None = None
    as_of: int | None = None
    valid_at: int | None = None
    order: Order = "newest"


def insert(connection: Connection, memory: Memory) -> int:
    """A new row; its number."""
    row = connection.execute(_INSERT, to_parameters(memory)).fetchone()
    assert row is not None
    return int(row[0])


def record(
    connection: Connection,
    action: str,
    number: int,
    memory: Memory,
    *,
    at: int,
    actor: str,
    reason: str = "",
) -> int:
    """One event, and the revision that it leaves; the sequence."""
    sequence = write_event(connection, action, number, memory, at=at, actor=actor, reason=reason)
    revised = to_parameters(memory, REVISED)
    connection.execute(_INSERT_REVISION, {"seq": sequence, "number": number, "at": at, **revised})
    return sequence


def write_event(
    connection: Connection,
    action: str,
    number: int,
    memory: Memory,
    *,
    at: int,
    actor: str,
    reason: str = "",
) -> int:
    """One line of history; its sequence."""
    row = connection.execute(
        """
        insert into event (at, action, number, memory_id, scope, actor, reason)
        values (:at, :action, :number, :memory_id, :scope, :actor, :reason)
        returning seq
        """,
        {
            "at": at, "action": action, "number": number, "memory_id": memory.id, "scope": memory.scope,
            "actor": actor, "reason": reason,
        },
    ).fetchone()  # fmt: skip
    assert row is not None
    return int(row[0])


def update(connection: Connection, number: int, memory: Memory) -> None:
    """The row as it is now."""
    connection.execute(_UPDATE, {"number": number, **to_parameters(memory, REVISED)})


def find(connection: Connection, scope: Scope, reference: str) -> tuple[int, Memory]:
    """The one memory with this id, or this beginning of an id, that the scope can see."""
    names, values = placeholders("scope", scope.chain())
    return _find(connection, reference, f"m.scope in ({names})", values, scope)


def find_inside(connection: Connection, scope: Scope, reference: str, *, below: bool) -> tuple[int, Memory]:
    """The same of what this very scope keeps; with `below`, also of the scopes below it."""
    return _find(connection, reference, *inside(scope, below=below, column="m.scope"), scope)


def _find(
    connection: Connection, reference: str, where: str, values: dict[str, Any], scope: Scope
) -> tuple[int, Memory]:
    if not isinstance(reference, str) or not is_id_or_prefix(reference):
        raise InvalidInput(
            f"not an id: {str(reference)[:40]!r}",
            hint="An id has 20 characters; its first four or more will do.",
        )
    if is_whole_id(reference):
        condition = "m.id = :id"
    else:
        condition = "m.id >= :id and m.id < :id_end"
        values = {**values, "id_end": reference + "~"}
    rows = connection.execute(
        f"select {SELECTED} from memory m where {condition} and {where} order by m.id limit 9",  # noqa: S608
        {"id": reference, **values},
    ).fetchall()
    if not rows:
        raise NotFound(f"no memory {reference!r} in scope {scope}")
    if len(rows) > 1:
        ids = tuple(from_row(row)[1].id for row in rows)
        raise Ambiguous(f"{reference!r} is the beginning of {len(rows)} or more ids", candidates=ids)
    return from_row(rows[0])


def find_same(connection: Connection, memory: Memory) -> tuple[int, Memory] | None:
    """A live memory of exactly this scope, speaker, slot and trust that says the same.

    No index may look for the state: PostgreSQL's planner knows nothing of texts, and would walk through the scope.
    """
    row = connection.execute(
        f"""
        select {SELECTED} from memory m
        where m.content_hash = :content_hash and m.scope = :scope and m.state || '' = 'live'
          and m.about = :about and m.attribute = :attribute and m.context = :context
          and m.speaker = :speaker and m.trust = :trust
        order by m.number
        """,  # noqa: S608
        {
            name: getattr(memory, name)
            for name in ("content_hash", "scope", "about", "attribute", "context", "speaker", "trust")
        },
    ).fetchone()
    return None if row is None else from_row(row)


def in_slot(connection: Connection, memory: Memory) -> list[tuple[int, Memory]]:
    """Live memories of exactly this scope in the same slot, oldest first. What has no subject is its speaker's."""
    if not memory.attribute:
        return []
    # By the subject: many things have a location, but one thing has few attributes.
    whose = "m.about = :about and m.about <> '' and +m.attribute = :attribute"
    if not memory.about:
        whose = "m.attribute = :attribute and m.attribute <> '' and +m.about = '' and +m.speaker = :speaker"
    rows = connection.execute(
        f"""
        select {SELECTED} from memory m
        where {whose} and m.scope = :scope and +m.state = 'live' and m.context = :context
          and (m.kind = 'preference') = (:kind = 'preference')
        order by m.number
        """,  # noqa: S608
        {name: getattr(memory, name) for name in ("attribute", "scope", "about", "context", "speaker", "kind")},
    )
    return [from_row(row) for row in rows]


def was_forgotten(connection: Connection, memory: Memory) -> bool:
    """Whether this text is among what was forgotten in this scope and is not yet erased."""
    row = connection.execute(
        "select 1 from memory where content_hash = :content_hash and scope = :scope and state || '' = 'forgotten'",
        {"content_hash": memory.content_hash, "scope": memory.scope},
    ).fetchone()
    return row is not None


def load(connection: Connection, scope: Scope, numbers: Sequence[int], as_of: int | None) -> dict[int, Memory]:
    """These memories as the scope may see them now, or as they were at a moment. Others are left out."""
    loaded: dict[int, Memory] = {}
    for listed, values in in_parts("number", numbers):
        statement, more = _from_clause(as_of)
        for row in connection.execute(f"{statement} where m.number in ({listed})", {**values, **more}):
            number, memory = from_row(row)
            # Not in the statement: an engine may then walk the whole scope instead of the few numbers.
            if scope.sees(memory.scope):
                loaded[number] = memory
    return loaded


def browse(
    connection: Connection,
    scope: Scope,
    wanted: Filter,
    *,
    limit: int,
    offset: int,
    surest_at: int | None = None,
) -> tuple[list[Memory], int]:
    """One page of what the scope can see, and how many there are in all. In the order that is wanted; with a moment,
    trusted first, then what is surest at that moment."""
    condition, values = _condition(scope, wanted)
    statement, more = _from_clause(wanted.as_of)
    values.update(more)
    order, at = (_ordered(wanted), {}) if surest_at is None else _surest(wanted, surest_at)
    rows = connection.execute(
        f"{statement} where {condition} order by {order} limit :limit offset :offset",
        {**values, **at, "limit": limit, "offset": offset},
    ).fetchall()
    counted = statement.replace(statement[: statement.index(" from ")], "select count(*)")
    total = connection.execute(f"{counted} where {condition}", values).fetchone()
    return [from_row(row)[1] for row in rows], int(total[0]) if total else 0


def _ordered(wanted: Filter) -> str:
    if wanted.order == "importance":
        table = "m" if wanted.as_of is None else "r"
        return f"{table}.importance is null, {table}.importance desc, m.number desc"
    return "m.number" if wanted.order == "oldest" else "m.number desc"


def _surest(wanted: Filter, moment: int) -> tuple[str, dict[str, Any]]:
    """The order of `domain.fact.place`, so that a page is cut where the whole list would be."""
    table = "m" if wanted.as_of is None else "r"
    age = f"case when {table}.updated_at < :moment then :moment - {table}.updated_at else 0 end"
    faded = " ".join(
        f"when '{basis}' then round({table}.confidence * power(0.5, ({age}) / :{basis}), 6)" for basis in HALF_LIFE_MS
    )
    sure = f"case m.basis {faded} else {table}.confidence end"
    order = f"{table}.trust <> 'trusted', {sure} desc, {table}.updated_at desc, m.id"
    return order, {"moment": moment, **{str(basis): half_life for basis, half_life in HALF_LIFE_MS.items()}}


def numbers_that_fit(connection: Connection, scope: Scope, wanted: Filter) -> frozenset[int]:
    """All numbers that fit, for a search that must look only at these."""
    condition, values = _condition(scope, wanted)
    statement, more = _from_clause(wanted.as_of)
    chosen = statement.replace(statement[: statement.index(" from ")], "select m.number")
    return frozenset(int(row[0]) for row in connection.execute(f"{chosen} where {condition}", {**values, **more}))


def aliases(connection: Connection, scope: Scope, *, now: int) -> list[tuple[str, str]]:
    """(subject, what it is also called) of everything that the scope knows by another name from somebody trusted."""
    names, values = placeholders("scope", scope.chain())
    rows = connection.execute(
        # The plus keeps an engine from walking the whole scope by its state.
        "select about, coalesce(value, ''), text from memory where attribute in ('alias', 'nickname') "  # noqa: S608
        f"and attribute <> '' and scope in ({names}) and +state = 'live' and trust = 'trusted' and about <> '' "
        "and (valid_until is null or valid_until > :now) order by number desc limit 2000",
        {**values, "now": now},
    )
    return [(str(about), _plain(value) or str(text)) for about, value, text in rows]


def _plain(value: str) -> str:
    """A JSON text as text; nothing for any other value."""
    found = json.loads(value) if value else None
    return found if isinstance(found, str) else ""


def subjects_like(connection: Connection, scope: Scope, words: Sequence[str]) -> list[str]:
    """Subjects that have one of these words somewhere in their name, whatever is known of them; a bounded number."""
    if not words:
        return []
    names, values = placeholders("scope", scope.chain())
    patterns = {f"word_{place}": f"%{_LITERAL.sub(_ESCAPED, word)}%" for place, word in enumerate(words)}
    alike = " or ".join(f"about like :{name} escape '^'" for name in patterns)
    rows = connection.execute(
        f"select distinct about from memory where about <> '' and scope in ({names}) and ({alike}) "  # noqa: S608
        "order by about limit 1000",
        {**values, **patterns},
    )
    return [str(row[0]) for row in rows]


def numbers_about(connection: Connection, scope: Scope, subjects: Sequence[str]) -> frozenset[int]:
    """Numbers of everything about these subjects, the newest first when there are very many."""
    names, values = placeholders("scope", scope.chain())
    listed, more = placeholders("about", tuple(subjects))
    rows = connection.execute(
        f"select number from memory where about in ({listed}) and about <> '' and scope in ({names}) "  # noqa: S608
        "order by number desc limit 1000",
        {**values, **more},
    )
    return frozenset(int(row[0]) for row in rows)


def _from_clause(as_of: int | None) -> tuple[str, dict[str, Any]]:
    if as_of is None:
        return f"select {SELECTED} from memory m", {}  # noqa: S608
    return (
        f"select {SELECTED_AS_REVISED} from memory m join revision r on r.number = m.number and r.seq = "  # noqa: S608
        "(select max(seq) from revision where number = m.number and at <= :as_of)",
        {"as_of": as_of},
    )


def _condition(scope: Scope, wanted: Filter) -> tuple[str, dict[str, Any]]:
    changing = "m" if wanted.as_of is None else "r"
    if wanted.below:
        reached, values = inside(scope, below=True, column="m.scope")
    else:
        names, values = placeholders("scope", (scope.path,) if wanted.here else scope.chain())
        reached = f"m.scope in ({names})"
    parts = [reached]
    listings: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        (changing, "state", wanted.states),
        (changing, "kind", wanted.kinds),
        (changing, "trust", wanted.trust),
        ("m", "source", wanted.sources),
    )
    # The plus keeps an engine from walking the whole scope by its state when there is something that few have.
    plus = "+" if wanted.about or wanted.attribute or wanted.attribute_like or wanted.speaker else ""
    for table, column, members in listings:
        if members:
            listed, more = placeholders(column, members)
            parts.append(f"{plus}{table}.{column} in ({listed})")
            values.update(more)
    for place, tag in enumerate(wanted.tags):
        parts.append(f"exists (select 1 from json_each({changing}.tags) where value = :tag_{place})")  # noqa: S608
        values[f"tag_{place}"] = tag
    happened = "coalesce(m.occurred_at, m.created_at)"
    bounds: tuple[tuple[str, str, Any], ...] = (
        (f"{happened} >= :time_after", "time_after", wanted.time_after),
        (f"{happened} < :time_before", "time_before", wanted.time_before),
        (f"{changing}.importance >= :importance_min", "importance_min", wanted.importance_min),
    )
    for condition, name, bound in bounds:
        if bound is not None:
            parts.append(condition)
            values[name] = bound
    narrower, more = browsed(f"{changing}.importance", wanted.grades, "m.text", wanted.text)
    parts += narrower
    values.update(more)
    for name in ("about", "attribute", "speaker", "conversation", "source_ref"):
        if getattr(wanted, name):
            parts.append(f"m.{name} = :{name} and m.{name} <> ''")
            values[name] = getattr(wanted, name)
    if wanted.context is not None:
        parts.append("m.context = :context")
        values["context"] = wanted.context
    if wanted.attribute_like:
        parts.append("m.attribute >= :attribute_like and m.attribute < :attribute_end and m.attribute <> ''")
        values["attribute_like"] = wanted.attribute_like
        values["attribute_end"] = wanted.attribute_like + "\U0010ffff"
    flags = (
        (wanted.about_things, "m.about <> '' and m.attribute not like 'profile.%'"),
        (wanted.has_attribute, "m.attribute <> ''"),
    )
    parts += [condition for asked, condition in flags if asked]
    if wanted.valid_at is not None:
        parts.append(
            f"({changing}.valid_from is null or {changing}.valid_from <= :valid_at) and "
            f"({changing}.valid_until is null or {changing}.valid_until > :valid_at)"
        )
        values["valid_at"] = wanted.valid_at
    return " and ".join(parts), values


def history(connection: Connection, number: int) -> list[Revision]:
    """Every revision of one memory, oldest first."""
    rows = connection.execute(
        f"""
        select e.seq, e.at, e.action, e.memory_id, e.scope, e.actor, e.reason, {SELECTED_AS_REVISED}
        from revision r join event e on e.seq = r.seq join memory m on m.number = r.number
        where r.number = :number order by r.seq
        """,  # noqa: S608
        {"number": number},
    )
    return [Revision(Event(*row[:7]), from_row(row[7:])[1]) for row in rows]


def state_before(connection: Connection, number: int, state: State) -> State:
    """What a forgotten or archived memory was before: forgotten in the archive, it goes back to the archive."""
    row = connection.execute(
        """
        select state from revision
        where number = :number and state <> :state and state <> 'forgotten'
        order by seq desc limit 1
        """,
        {"number": number, "state": state},
    ).fetchone()
    return row[0] if row else "live"


def change(
    connection: Connection,
    number: int,
    memory: Memory,
    action: str,
    *,
    at: int,
    actor: str,
    reason: str = "",
    **fields: Any,
) -> tuple[Memory, int]:
    """Change fields of a memory: the row, its event and its revision."""
    changed = memory._replace(updated_at=at, **fields)
    update(connection, number, changed)
    return changed, record(connection, action, number, changed, at=at, actor=actor, reason=reason)


def select_below(connection: Connection, scope: Scope, *, about: str, speaker: str) -> list[tuple[int, Memory]]:
    """Memories of this very scope; without a subject or speaker, also of every scope below it."""
    if about or speaker:
        condition, values = "m.scope = :scope", {"scope": scope.path}
    else:
        # '0' is the character after '/': a range, so that the index is used and `bot-1` never reaches `bot-10`.
        condition = "(m.scope = :scope or (m.scope > :below and m.scope < :beyond))"
        values = {"scope": scope.path, "below": scope.path + "/", "beyond": scope.path + "0"}
    for name, value in (("about", about), ("speaker", speaker)):
        if value:
            condition += f" and m.{name} = :{name}"
            values[name] = value
    rows = connection.execute(f"select {SELECTED} from memory m where {condition} order by m.number", values)  # noqa: S608
    return [from_row(row) for row in rows]


def forgotten_before(connection: Connection, moment: int) -> list[tuple[int, Memory]]:
    """Forgotten at or before this moment."""
    rows = connection.execute(
        f"select {SELECTED} from memory m where m.state = 'forgotten' and m.updated_at <= :moment "  # noqa: S608
        "order by m.number",
        {"moment": moment},
    )
    return [from_row(row) for row in rows]


def lapsed(connection: Connection, moment: int, *, limit: int) -> list[tuple[int, Memory]]:
    """Live, but no longer valid at this moment."""
    rows = connection.execute(
        f"select {SELECTED} from memory m where m.state = 'live' and m.valid_until <= :moment "  # noqa: S608
        "order by m.number limit :limit",
        {"moment": moment, "limit": limit},
    )
    return [from_row(row) for row in rows]


def count_lapsed(connection: Connection, moment: int) -> int:
    row = connection.execute(
        "select count(*) from memory where state = 'live' and valid_until <= :moment", {"moment": moment}
    ).fetchone()
    return int(row[0]) if row else 0


def all_texts(connection: Connection, wanted: Callable[[int], bool]) -> Iterator[str]:
    """Everything people wrote into the memories whose number is wanted, for the proof of erasure."""
    statement = (
        "select number, text, about, attribute, value, context, source_ref, speaker, conversation, tags, metadata, "
        "media_refs from memory"
    )
    for row in streamed(connection, statement):
        if wanted(int(row[0])):
            yield from (str(part) for part in row[1:] if part)
    for row in streamed(connection, "select number, tags, metadata from revision"):
        if wanted(int(row[0])):
            yield from (str(part) for part in row[1:] if part)
    for row in streamed(connection, "select number, reason from event where reason <> ''"):
        if wanted(int(row[0])):
            yield str(row[1])
    if wanted(_NOBODY):
        # The words of the file itself: a subject called `profile` is in the name of a view, whoever is erased.
        for row in connection.execute(connection.dialect.own_schema):
            yield str(row[0])
