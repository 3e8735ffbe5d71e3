"""What a table of the index holds: a row for each entry, and one that says how far the index is.

No text is in it: words are hashes, the names of scopes are hashes. The packed entry (`body`) is what is scored; the
other columns are what LanceDB filters by and proposes from.
"""

import base64
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.ports import IndexEntry, Meaning
from memoranda.index.lancedb.filters import ScopeCode
from memoranda.index.proposals import signed
from memoranda.index.segment import Packed, packed_meaning
from memoranda.index.tokens import VERSION as TOKENS_VERSION

pa: Any = import_module("pyarrow")

FORMAT = f"1.{TOKENS_VERSION}"
STANDING = -1
"""The number of the row that says how far the index is; the ledger's numbers are above zero."""
_REPEATED = 8
# Compressed, nothing that was erased could be recognised in a file.
_PLAIN = {"lance-encoding:compression": "none"}
_FIELDS: tuple[tuple[str, Any], ...] = (
    ("number", pa.int64()),
    ("scope", pa.int64()),
    ("witness", pa.int64()),
    ("stamp", pa.int64()),
    ("state", pa.uint8()),
    ("valid_from", pa.int64()),
    ("valid_until", pa.int64()),
    ("occurred", pa.int64()),
    ("conversation", pa.int64()),
    ("length", pa.int32()),
    ("vectored", pa.bool_()),
    ("terms", pa.list_(pa.int64())),
    ("words", pa.string()),
    ("body", pa.binary()),
)
NAMES = tuple(name for name, _ in _FIELDS)


class Standing(NamedTuple):
    """How far the index is, and what is owed to those whose entries left it."""

    fingerprint: str
    sequence: int = 0
    mark: str = ""
    owed: int = 0
    """Entries that were erased and whose bytes may still lie in the files."""
    aside: int = 0
    """Entries that left and whose bytes leave with the next optimising."""
    commits: int = 0
    """How often it was written since it was last seen to."""
    form: str = FORMAT

    def to_bytes(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> "Standing":
        try:
            standing = cls(**json.loads(body))
        except (TypeError, ValueError) as error:
            raise LedgerDamaged("the index does not say how far it is") from error
        if standing.form != FORMAT:
            raise LedgerDamaged("the index has another format and has to be built again")
        return standing


class Serving(NamedTuple):
    """Which generation of an index serves, 0 for none, and the last that ever did: no number is used twice."""

    generation: int = 0
    last: int = 0

    def to_bytes(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> "Serving":
        try:
            return cls(**json.loads(body))
        except (TypeError, ValueError) as error:
            raise LedgerDamaged("it is not said which index serves") from error


class Row(NamedTuple):
    """One entry as it is written."""

    scope: ScopeCode
    packed: Packed
    vector: Any = None

    @classmethod
    def of(cls, entry: IndexEntry) -> "Row":
        meaning = entry.meaning
        return cls(ScopeCode.of(entry.scope), Packed.of(entry), None if meaning is None else meaning.vector)

    def with_meaning(self, meaning: Meaning) -> "Row":
        scale, vector, pieces = packed_meaning(meaning)
        return self._replace(
            packed=self.packed._replace(scale=scale, vector=vector, pieces=pieces), vector=meaning.vector
        )


def schema(width: int = 0) -> Any:
    """The columns; that of the vectors only when their width is known."""
    fields = [pa.field(name, kind, metadata=_PLAIN if name in ("words", "body") else None) for name, kind in _FIELDS]
    return pa.schema([*fields, vector_field(width)] if width else fields)


def vector_field(width: int) -> Any:
    return pa.field("vector", pa.list_(pa.float16(), width))


def to_table(rows: Sequence[Row], standing: Standing | Serving, width: int = 0) -> Any:
    """Rows and the standing, to be written together."""
    packed = [row.packed for row in rows]
    # Only whether it is the same matters: a number that never comes twice, also after a step back.
    stamp = secrets.randbits(62)
    columns: dict[str, list[Any]] = {
        "number": [each.number for each in packed],
        "scope": [row.scope.code for row in rows],
        "witness": [row.scope.witness for row in rows],
        "stamp": [stamp] * len(rows),
        "state": [each.state for each in packed],
        "valid_from": [each.valid_from for each in packed],
        "valid_until": [each.valid_until for each in packed],
        "occurred": [each.occurred for each in packed],
        "conversation": [signed(each.conversation) for each in packed],
        "length": [each.length for each in packed],
        "vectored": [each.scale > 0 for each in packed],
        "terms": [each.terms.view(np.int64) for each in packed],
        "words": [_words(each) for each in packed],
        "body": [each.to_bytes() for each in packed],
    }
    last: Mapping[str, Any] = {"number": STANDING, "stamp": stamp, "body": standing.to_bytes()}
    arrays = [pa.array([*columns[name], last.get(name)], kind) for name, kind in _FIELDS]
    if width:
        arrays.append(_vectors(rows, width))
    return pa.Table.from_arrays(arrays, schema=schema(width))


def _vectors(rows: Sequence[Row], width: int) -> Any:
    fits = [row.packed.scale > 0 and row.vector is not None and len(row.vector) == width for row in rows]
    values = np.zeros((len(rows) + 1, width), np.float16)
    for place, row in enumerate(rows):
        if fits[place]:
            values[place] = np.asarray(row.vector, np.float32)
    there = pa.array([not fit for fit in (*fits, False)])
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), width, mask=there)


@lru_cache(maxsize=65_536)
def token(form: int) -> str:
    """A form of a word as the full-text index knows it: letters, digits, plus and slash."""
    return base64.b64encode(form.to_bytes(8, "little"))[:11].decode()


def _words(packed: Packed) -> str:
    pairs = zip(packed.terms.tolist(), packed.counts.tolist(), strict=True)
    return " ".join(word for term, count in pairs for word in [token(term)] * min(count, _REPEATED))


def unpacked(table: Any) -> list[Packed]:
    """The packed entries of what was read; needs `number` and `body`."""
    bodies = table["body"].to_pylist()
    return [Packed.from_bytes(number, body) for number, body in zip(table["number"].to_pylist(), bodies, strict=True)]


def to_rows(table: Any) -> Iterable[Row]:
    """What was read, to be written again; needs `number`, `scope`, `witness` and `body`."""
    codes = zip(table["scope"].to_pylist(), table["witness"].to_pylist(), strict=True)
    for (code, witness), packed in zip(codes, unpacked(table), strict=True):
        yield Row(ScopeCode(code, witness), packed)
