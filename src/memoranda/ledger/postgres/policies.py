"""Row-level security by scope, as a second fence: rows outside of it are neither seen nor written.

Each transaction tells its fence (`ledger/fence.py`) in the setting `memoranda.fence`: the scopes that are seen, its
own first. Seen is what these scopes hold and everything below the first; written is the first and what is below it.
Without a fence a transaction has the whole store. The owner of the tables is bound, too; superusers are not.

Not fenced, each for a reason: `store`, `migration`, `space`, `pulse`, `writer` and `upkeep` are of nobody; `token` and
`answer` are looked up before it is known who asks; `mirror` has to show whose folder one is, so that no other scope
writes into it; the tables of an index, because full-text search cannot use its index behind a policy, and because
what an index proposes is loaded from fenced tables.
"""

from memoranda.domain.results import Check
from memoranda.ledger.connection import Connection

SETTING = "memoranda.fence"
SCOPED = (
    "memory", "event", "cursor", "counter", "conversation", "message_event", "tombstone", "private_conversation",
    "source", "operation", "tag", "miss", "dismissal", "import_run",
)  # fmt: skip
"""Tables with a scope in each row."""
HANGING = {
    "revision": "memory p where p.number = revision.number",
    "vector": "memory p where p.number = vector.number",
    "grading": "memory p where p.number = grading.number",
    "message": "conversation p where p.number = message.conversation",
    "message_vector": "message p where p.number = message_vector.number",
}
"""Tables whose rows belong to a row of another: inside of the fence if that one is."""

# Each in a subquery: worked out once for a statement, and not once for a row.
_TOLD = f"coalesce(current_setting('{SETTING}', true), '')"
_NONE = f"(select {_TOLD}) = ''"
_SEEN = f"scope = any ((select string_to_array({_TOLD}, ','))::text[])"
_OWN = f"split_part({_TOLD}, ',', 1)"
# '0' is the character after '/': a range, so that an index is used and `bot-1` never reaches `bot-10`.
_BELOW = f"(scope > (select {_OWN} || '/') and scope < (select {_OWN} || '0'))"
# What is counted for the store as a whole has no scope.
_OF_NOBODY = {"counter": "scope = ''"}


def statements() -> tuple[str, ...]:
    """What makes the fence. May be done again: the policies are made anew."""
    made = [_NEWEST]
    for table in SCOPED:
        beside = f" or {_OF_NOBODY[table]}" if table in _OF_NOBODY else ""
        made += _enforced(table)
        made.append(f"create policy fence_sees on {table} for select using ({_NONE} or {_SEEN} or {_BELOW}{beside})")
        made.append(f"create policy fence on {table} using ({_NONE} or scope = (select {_OWN}) or {_BELOW}{beside})")
    for table, parent in HANGING.items():
        made += _enforced(table)
        made.append(f"create policy fence on {table} using ({_NONE} or exists (select 1 from {parent}))")  # noqa: S608
    return tuple(made)


# The newest sequence is the store's, whoever asks. Not by the option `set` of a function: that needs a superuser.
_NEWEST = f"""
    create or replace function newest_event() returns bigint language plpgsql as $$
    declare
        told text := {_TOLD};
        found bigint;
    begin
        perform set_config('{SETTING}', '', true);
        select coalesce(max(seq), 0) into found from event;
        perform set_config('{SETTING}', told, true);
        return found;
    end $$
"""  # noqa: S608


def _enforced(table: str) -> list[str]:
    return [
        f"alter table {table} enable row level security",
        f"alter table {table} force row level security",
        f"drop policy if exists fence_sees on {table}",
        f"drop policy if exists fence on {table}",
    ]


def restore(connection: Connection) -> str:
    """Make the fence anew, in one transaction of its own; what was done."""
    connection.execute("begin")
    try:
        for statement in statements():
            connection.execute(statement)
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")
    return "row-level security was made anew"


def missing(connection: Connection) -> list[str]:
    """Tables that should have the fence and have not, or whose owner is not bound by it."""
    rows = connection.execute(
        """
        select c.relname from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relrowsecurity and c.relforcerowsecurity
          and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = 'fence')
        """
    )
    return sorted({*SCOPED, *HANGING} - {str(row[0]) for row in rows})


def check(connection: Connection) -> Check:
    """Whether the fence holds for who is connected, for `doctor`."""
    bypassing = connection.execute(
        "select 1 from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)"
    ).fetchone()
    if bypassing:
        fix = "Connect as a role of its own: create role memoranda login nosuperuser nobypassrls."
        return Check("fence", False, "row-level security does not hold for this role, which may bypass it", fix)
    unfenced = missing(connection)
    if unfenced:
        fix = "Run: memoranda doctor --fix"
        return Check("fence", False, f"no row-level security on {', '.join(unfenced)}", fix)
    return Check("fence", True, f"row-level security on {len(SCOPED) + len(HANGING)} tables")
