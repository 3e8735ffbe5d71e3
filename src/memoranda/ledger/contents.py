"""What a scope holds, as one digest: two that hold the same say the same, wherever and whenever they were written."""

import hashlib
import json
from collections.abc import Generator, Iterator
from typing import NamedTuple

from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.reach import inside
from memoranda.ledger.rows import SELECTED, from_row
from memoranda.ledger.streaming import streamed

_LEFT_OUT = ("updated_at", "grade")
"""When something was last touched is history, not content; a grade follows from the importance."""


class Contents(NamedTuple):
    """How many memories, and the digest of all that they say and are."""

    scope: str
    memories: int
    digest: str
    sequence: int

    def as_json(self) -> dict[str, object]:
        return self._asdict()


def line(memory: Memory) -> bytes:
    """One memory in the form that is hashed."""
    said = {name: value for name, value in memory.as_json().items() if name not in _LEFT_OUT}
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def walk(connection: Connection, scope: Scope | None, *, below: bool) -> Generator[Memory, None, None]:
    """Everything that is not forgotten in a scope, or in the whole store, the oldest first, then by ids."""
    condition, values = ("1 = 1", {}) if scope is None else inside(scope, below=below, column="m.scope")
    statement = (
        f"select {SELECTED} from memory m where {condition} and m.state <> 'forgotten' order by m.created_at, m.id"  # noqa: S608
    )
    for row in streamed(connection, statement, values):
        yield from_row(row)[1]


def digest_of(memories: Iterator[Memory]) -> tuple[int, str]:
    """How many, and their digest."""
    hashed = hashlib.sha256()
    count = 0
    for memory in memories:
        count += 1
        hashed.update(line(memory))
        hashed.update(b"\n")
    return count, hashed.hexdigest()
