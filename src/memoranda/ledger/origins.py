"""Memories by where they came from: what another system's id is here."""

import json
from collections.abc import Sequence

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.database import Database
from memoranda.ledger.rows import SELECTED, from_row


def came_from(database: Database, scope: Scope, system: str, ids: Sequence[str]) -> list[Memory]:
    """What one scope has of a system (its source_ref is `SYSTEM:ID`), or has under one of these ids of its own.

    What changed last comes first. What is forgotten is not among it.
    """
    with database.read() as connection:
        rows = connection.execute(
            f"""
            select {SELECTED} from memory m
            where m.scope = :scope and m.state <> 'forgotten' and (
                (m.source_ref > :first and m.source_ref < :beyond)
                or m.id in (select value from json_each(:ids))
            )
            order by m.updated_at desc, m.id
            """,  # noqa: S608
            # ';' is the character after ':'.
            {"scope": scope.path, "first": f"{system}:", "beyond": f"{system};", "ids": json.dumps(list(ids))},
        ).fetchall()
    return [from_row(row)[1] for row in rows]
