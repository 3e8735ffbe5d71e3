"""Named migrations, forward only. Each runs in one transaction together with the record that it ran.

A file with a migration that we do not know was written by a newer Memoranda and is refused untouched.
"""

from typing import NamedTuple

from memoranda.domain.access import ROLES as ACCESS_ROLES
from memoranda.domain.clock import Clock
from memoranda.domain.conversation import MESSAGE_KINDS, STATUSES
from memoranda.domain.errors import LedgerDamaged, LedgerNewer
from memoranda.domain.memory import BASES, KINDS, SOURCES, STATES, TRUSTS
from memoranda.domain.message import ROLES
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import SQLITE

APPLICATION_ID = 0x4D454D4F  # "MEMO", in the header of the file


class Migration(NamedTuple):
    """One step of the schema."""

    name: str
    statements: tuple[str, ...]


def _one_of(column: str, choices: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return f"check ({column} in ({listed}))"


_ACTIONS = (
    "remembered", "reinforced", "superseded", "archived", "forgotten", "restored", "expired", "erased",
    "graded", "trusted", "revised",
)  # fmt: skip

_MESSAGE_ACTIONS = ("appended", "compacted", "archived", "restored", "redacted", "erased")

_FOUNDATION = Migration(
    "m001_foundation",
    (
        "create table store (key {text} primary key, value {text} not null)",
        f"""
        create table memory (
            number {{number}},
            id {{text}} not null unique,
            scope {{text}} not null check (scope <> ''),
            kind {{text}} not null {_one_of("kind", KINDS)},
            text {{text}} not null check (text <> ''),
            about {{text}} not null default '',
            attribute {{text}} not null default '',
            value {{json}},
            context {{text}} not null default '',
            importance {{real}} check (importance is null or importance between 0 and 1),
            confidence {{real}} not null default 1.0 check (confidence between 0 and 1),
            trust {{text}} not null {_one_of("trust", TRUSTS)},
            state {{text}} not null {_one_of("state", STATES)},
            source {{text}} not null {_one_of("source", SOURCES)},
            source_ref {{text}} not null default '',
            basis {{text}} not null {_one_of("basis", BASES)},
            speaker {{text}} not null default '',
            conversation {{text}} not null default '',
            tags {{json}} not null default '[]',
            lang {{text}} not null default '',
            metadata {{json}} not null default '{{}}',
            media_refs {{json}} not null default '[]',
            media_kind {{text}} not null default '',
            created_at {{integer}} not null,
            updated_at {{integer}} not null,
            occurred_at {{integer}},
            valid_from {{integer}},
            valid_until {{integer}},
            superseded_by {{text}},
            content_hash {{text}} not null
        )
        """,
        "create index memory_scope on memory (scope, state, number)",
        "create index memory_content on memory (content_hash, scope)",
        "create index memory_about on memory (about, scope) where about <> ''",
        "create index memory_attribute on memory (attribute, scope) where attribute <> ''",
        "create index memory_speaker on memory (speaker, scope) where speaker <> ''",
        "create index memory_forgotten on memory (updated_at) where state = 'forgotten'",
        f"""
        create table event (
            seq {{sequence}},
            at {{integer}} not null,
            action {{text}} not null {_one_of("action", _ACTIONS)},
            number {{integer}} not null,
            memory_id {{text}} not null,
            scope {{text}} not null,
            actor {{text}} not null default '',
            reason {{text}} not null default ''
        )
        """,
        f"""
        create table revision (
            number {{integer}} not null references memory (number) on delete cascade,
            seq {{integer}} not null references event (seq),
            at {{integer}} not null,
            kind {{text}} not null {_one_of("kind", KINDS)},
            importance {{real}},
            confidence {{real}} not null,
            trust {{text}} not null {_one_of("trust", TRUSTS)},
            state {{text}} not null {_one_of("state", STATES)},
            tags {{json}} not null,
            metadata {{json}} not null,
            updated_at {{integer}} not null,
            valid_from {{integer}},
            valid_until {{integer}},
            superseded_by {{text}},
            primary key (number, seq)
        ){{clustered}}
        """,
        "create table space (id {number}, fingerprint {text} not null unique, dimensions {integer} not null)",
        """
        create table vector (
            space {integer} not null references space (id),
            number {integer} not null references memory (number) on delete cascade,
            content_hash {text} not null,
            body {blob} not null,
            primary key (space, number)
        )
        """,
        "create index vector_number on vector (number)",
        """
        create table tombstone (
            digest {blob} not null,
            scope {text} not null,
            at {integer} not null,
            primary key (digest, scope)
        )
        """,
        """
        create view entity_facts as
        select id, about as entity_id, attribute as fact_type, text as content,
               case basis when 'stated' then 'user_stated' when 'observed' then 'learned' else 'inferred' end
                   as source,
               confidence, {time:created_at} as created_at, {time:updated_at} as updated_at,
               {time:valid_until} as valid_until, scope
        from memory
        where state = 'live' and about <> '' and kind <> 'preference'
        """,
        """
        create view preferences as
        select id, about as category, attribute as key, coalesce(value, text) as value, context, confidence,
               source as learned_from, {time:created_at} as created_at, {time:updated_at} as updated_at, scope
        from memory
        where state = 'live' and kind = 'preference'
        """,
        """
        create view memory_log as
        select seq, {time:at} as at, action, memory_id, scope, actor, reason from event
        """,
    ),
)

_CAPTURE = Migration(
    "m002_capture",
    (
        """
        create table cursor (
            scope {text} not null check (scope <> ''),
            conversation {blob} not null,
            tail {blob} not null,
            updated_at {integer} not null,
            primary key (scope, conversation)
        ){clustered}
        """,
        """
        create table counter (
            scope {text} not null,
            day {integer} not null,
            name {text} not null,
            number {integer} not null,
            primary key (scope, day, name)
        ){clustered}
        """,
        "create index memory_quarantined on memory (scope, number) where trust = 'quarantined'",
        "drop view entity_facts",
        """
        create view entity_facts as
        select id, about as entity_id, attribute as fact_type, text as content,
               case basis when 'stated' then 'user_stated' when 'observed' then 'learned' else 'inferred' end
                   as source,
               confidence, {time:created_at} as created_at, {time:updated_at} as updated_at,
               {time:valid_until} as valid_until, scope, trust
        from memory
        where state = 'live' and trust <> 'quarantined' and about <> '' and kind <> 'preference'
          and attribute not like 'profile.%'
        """,
        "drop view preferences",
        """
        create view preferences as
        select id, about as category, attribute as key, coalesce(value, text) as value, context, confidence,
               coalesce(nullif(source_ref, ''), source) as learned_from,
               {time:created_at} as created_at, {time:updated_at} as updated_at, scope, trust
        from memory
        where state = 'live' and trust <> 'quarantined' and kind = 'preference' and attribute not like 'profile.%'
        """,
        """
        create view profiles as
        select id, scope, speaker, substr(attribute, 9) as field, coalesce(value, text) as value, context as key,
               {time:created_at} as created_at, {time:updated_at} as updated_at
        from memory
        where state = 'live' and trust = 'trusted' and attribute like 'profile.%'
        """,
    ),
)

_CONVERSATIONS = Migration(
    "m003_conversations",
    (
        """
        create table conversation (
            number {number},
            id {text} not null unique,
            scope {text} not null check (scope <> ''),
            name {text} not null check (name <> ''),
            created_at {integer} not null,
            updated_at {integer} not null,
            archived_at {integer},
            working {text} not null default '',
            working_at {integer},
            compacting_until {integer} not null default 0,
            metadata {json} not null default '{}',
            unique (scope, name)
        )
        """,
        f"""
        create table message (
            number {{number}},
            id {{text}} not null unique,
            conversation {{integer}} not null references conversation (number) on delete cascade,
            place {{integer}} not null,
            role {{text}} not null {_one_of("role", ROLES)},
            text {{text}} not null,
            at {{integer}} not null,
            tokens {{integer}} not null,
            status {{text}} not null {_one_of("status", STATUSES)},
            kind {{text}} not null {_one_of("kind", MESSAGE_KINDS)},
            speaker {{text}} not null default '',
            host_id {{text}} not null default '',
            tool_calls {{json}} not null default '[]',
            tool_call_id {{text}} not null default '',
            metadata {{json}} not null default '{{}}',
            stood_for_by {{integer}} references message (number),
            content_hash {{text}} not null
        )
        """,
        "create index message_place on message (conversation, place)",
        "create index message_status on message (conversation, status, place, tokens)",
        "create unique index message_host on message (conversation, host_id) where host_id <> ''",
        "create unique index message_summary on message (conversation) where status = 'active' and kind = 'summary'",
        "create index message_stood_for on message (stood_for_by) where stood_for_by is not null",
        f"""
        create table message_event (
            seq {{sequence}},
            at {{integer}} not null,
            action {{text}} not null {_one_of("action", _MESSAGE_ACTIONS)},
            conversation {{integer}} not null,
            scope {{text}} not null,
            first {{integer}} not null,
            last {{integer}} not null,
            actor {{text}} not null default ''
        )
        """,
        """
        create table message_vector (
            space {integer} not null references space (id),
            number {integer} not null references message (number) on delete cascade,
            content_hash {text} not null,
            body {blob} not null,
            primary key (space, number)
        )
        """,
        "create index message_vector_number on message_vector (number)",
        """
        create table private_conversation (
            scope {text} not null,
            digest {blob} not null,
            primary key (scope, digest)
        ){clustered}
        """,
        """
        create table source (
            scope {text} not null check (scope <> ''),
            name {text} not null check (name <> ''),
            root {text} not null,
            patterns {json} not null,
            trust {text} not null,
            added_at {integer} not null,
            primary key (scope, name)
        ){clustered}
        """,
        "create table mirror (path {text} primary key, scope {text} not null, noted_at {integer} not null){clustered}",
        """
        create view conversations as
        select id, name, scope, {time:created_at} as created_at, {time:updated_at} as updated_at, metadata
        from conversation
        """,
        """
        create view messages as
        select m.id, c.id as conversation_id, m.role, m.text as content, {time:m.at} as timestamp,
               m.tokens as token_count, m.status, m.kind, m.status = 'compacted' as compacted, m.tool_calls,
               m.tool_call_id, c.scope
        from message m join conversation c on c.number = m.conversation
        order by m.conversation, m.place, m.number
        """,
    ),
)

_ACCESS = Migration(
    "m004_access",
    (
        f"""
        create table token (
            id {{text}} primary key,
            digest {{blob}} not null unique,
            name {{text}} not null default '',
            role {{text}} not null {_one_of("role", ACCESS_ROLES)},
            scope {{text}} not null default '',
            above {{integer}} not null default 0,
            created_at {{integer}} not null,
            expires_at {{integer}},
            revoked_at {{integer}},
            last_used_at {{integer}},
            made_by {{text}} not null default ''
        ){{clustered}}
        """,
        "create index token_scope on token (scope)",
        """
        create table answer (
            principal {text} not null,
            key {blob} not null,
            request {blob} not null,
            at {integer} not null,
            boot {text} not null,
            wiped {integer} not null default 0,
            status {integer},
            headers {json},
            body {text},
            primary key (principal, key)
        )
        """,
        "create index answer_at on answer (at)",
    ),
)

_ROOTS = Migration(
    "m005_roots",
    ("alter table source add column fixed {integer} not null default 0",),
)

_OPERATING = Migration(
    "m006_operating",
    (
        "create index event_scope on event (scope, seq)",
        """
        create table operation (
            first {integer} primary key,
            last {integer} not null,
            name {text} not null,
            batch {text} not null default '',
            scope {text} not null,
            at {integer} not null,
            actor {text} not null default '',
            undoes {integer}
        )
        """,
        "create index operation_scope on operation (scope, first)",
        "create index operation_batch on operation (batch) where batch <> ''",
        "create index operation_undoes on operation (undoes) where undoes is not null",
        """
        create table tag (
            scope {text} not null check (scope <> ''),
            name {text} not null check (name <> ''),
            seq {integer} not null,
            at {integer} not null,
            actor {text} not null default '',
            note {text} not null default '',
            automatic {integer} not null default 0,
            primary key (scope, name)
        ){clustered}
        """,
        """
        create table grading (
            seq {integer} primary key references event (seq),
            number {integer} not null references memory (number) on delete cascade,
            score {real} not null,
            label {text} not null,
            rationale {text} not null,
            method {text} not null,
            version {text} not null
        )
        """,
        "create index grading_number on grading (number, seq)",
        """
        create table miss (
            scope {text} not null check (scope <> ''),
            digest {blob} not null,
            reason {text} not null,
            text {text} not null default '',
            first_at {integer} not null,
            last_at {integer} not null,
            times {integer} not null,
            primary key (scope, digest)
        ){clustered}
        """,
        """
        create table dismissal (
            scope {text} not null check (scope <> ''),
            digest {blob} not null,
            at {integer} not null,
            primary key (scope, digest)
        ){clustered}
        """,
        """
        create table import_run (
            id {text} primary key,
            scope {text} not null check (scope <> ''),
            format {text} not null,
            digest {blob} not null,
            place {integer} not null default 0,
            counts {json} not null default '{}',
            started_at {integer} not null,
            updated_at {integer} not null,
            finished_at {integer}
        )
        """,
        "create index import_run_digest on import_run (digest, scope)",
        """
        create table upkeep (
            number {number},
            at {integer} not null,
            seconds {real} not null,
            trouble {text} not null default '',
            receipt {json} not null default '{}'
        )
        """,
    ),
)

MIGRATIONS: tuple[Migration, ...] = (_FOUNDATION, _CAPTURE, _CONVERSATIONS, _ACCESS, _ROOTS, _OPERATING)


def migrate(
    connection: Connection,
    clock: Clock,
    *,
    steps: tuple[Migration, ...] = MIGRATIONS,
) -> None:
    """Bring the file up to date, or refuse it. Safe when several processes open a new file at once."""
    if _pending(connection, steps):
        for step in steps:
            _apply(connection, clock, step)


def refuse_foreign(connection: Connection) -> list[Migration]:
    """Look at a file before anything is written to it; what is missing for it to be up to date."""
    return _pending(connection, MIGRATIONS)


def _pending(connection: Connection, steps: tuple[Migration, ...]) -> list[Migration]:
    tables = {row[0] for row in connection.execute("select name from sqlite_schema where type = 'table'")}
    if not tables:
        return list(steps)
    application = next(connection.execute("pragma application_id"))[0]
    if application != APPLICATION_ID or "migration" not in tables:
        raise LedgerDamaged(
            "this file is a database, but not a Memoranda ledger",
            hint="Give the path of a ledger, or of a file that does not exist yet. Nothing was overwritten.",
        )
    applied = {row[0] for row in connection.execute("select name from migration")}
    unknown = sorted(applied - {step.name for step in steps})
    if unknown:
        raise LedgerNewer(f"this ledger was written by a newer Memoranda (it has {unknown[-1]})")
    return [step for step in steps if step.name not in applied]


def _apply(connection: Connection, clock: Clock, step: Migration) -> None:
    connection.execute("begin immediate")
    try:
        connection.execute("create table if not exists migration (name text primary key, applied_at integer not null)")
        # Looked up again inside the transaction: another process may have just done it.
        done = connection.execute("select 1 from migration where name = :name", {"name": step.name}).fetchone()
        if not done:
            connection.execute(f"pragma application_id = {APPLICATION_ID}")
            for statement in step.statements:
                connection.execute(SQLITE.ddl(statement))
            connection.execute(
                "insert into migration (name, applied_at) values (:name, :at)",
                {"name": step.name, "at": clock.now()},
            )
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    connection.execute("commit")
