"""Between rows and `Memory`: one list of columns, one way in, one way out."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memoranda.domain.memory import Memory

# In the order of the table; `number` is the ledger's own and not part of a Memory.
COLUMNS = Memory._fields
# What may change in the life of a memory; each change leaves a row of these in `revision`.
REVISED = (
    "kind", "importance", "confidence", "trust", "state", "tags", "metadata", "updated_at",
    "valid_from", "valid_until", "superseded_by",
)  # fmt: skip
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_JSON = frozenset({"value", "tags", "metadata", "media_refs"})

SELECTED = "m.number, " + ", ".join(f"m.{name}" for name in COLUMNS)
# The same memory as a revision left it: what never changes from the memory, the rest from the revision.
SELECTED_AS_REVISED = "m.number, " + ", ".join(f"{'r' if name in REVISED else 'm'}.{name}" for name in COLUMNS)


def to_parameters(memory: Memory, columns: tuple[str, ...] = COLUMNS) -> dict[str, Any]:
    """Named parameters for an insert or an update."""
    parameters: dict[str, Any] = {}
    for name in columns:
        value = getattr(memory, name)
        parameters[name] = _to_json(value) if name in _JSON else value
    return parameters


def from_row(row: Sequence[Any]) -> tuple[int, Memory]:
    """The row's number and its memory. The row was selected with one of the two lists above."""
    values: dict[str, Any] = {}
    for name, value in zip(COLUMNS, row[1:], strict=True):
        values[name] = _from_json(name, value) if name in _JSON else value
    return int(row[0]), Memory(**values)


def _to_json(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return _ENCODER.encode(dict(value)) if value else "{}"
    if isinstance(value, tuple):
        return _ENCODER.encode(list(value)) if value else "[]"
    return _ENCODER.encode(value)


def _from_json(name: str, text: str | None) -> Any:
    if name == "value":
        return None if text is None else json.loads(text)
    if name == "metadata":
        return _NOTHING if text in (None, "{}") else MappingProxyType(json.loads(text or "{}"))
    return () if text in (None, "[]") else tuple(json.loads(text or "[]"))
