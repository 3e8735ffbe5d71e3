"""What differs between SQL engines, in one place.

Statements elsewhere in this room are portable: named parameters, `on conflict`, `returning`, no engine's own
functions. Table definitions and views are written with the words below.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_AT_ONCE = 500


class Dialect(NamedTuple):
    """The words of one engine, put into table definitions. Never used for values."""

    name: str
    sequence: str
    number: str
    integer: str
    real: str
    blob: str
    json: str
    clustered: str
    time_as_text: str

    def ddl(self, template: str) -> str:
        """A table definition in this engine's words."""
        for word in ("sequence", "number", "integer", "real", "blob", "json", "clustered"):
            template = template.replace("{" + word + "}", getattr(self, word))
        while (start := template.find("{time:")) >= 0:
            end = template.index("}", start)
            column = template[start + len("{time:") : end]
            template = template[:start] + self.time_as_text.replace("COLUMN", column) + template[end + 1 :]
        return template


SQLITE = Dialect(
    name="sqlite",
    # AUTOINCREMENT: a sequence is never used twice, also after the newest rows were erased.
    sequence="integer primary key autoincrement",
    number="integer primary key autoincrement",
    integer="integer",
    real="real",
    blob="blob",
    json="text",
    # Rows in the order of their key, without an index beside them: one page less to write for each change.
    clustered=" without rowid",
    time_as_text="strftime('%Y-%m-%dT%H:%M:%fZ', COLUMN / 1000.0, 'unixepoch')",
)


def placeholders(name: str, values: Sequence[str] | Sequence[int]) -> tuple[str, dict[str, str | int]]:
    """`:name_0, :name_1` and their values, for an IN list. Only names reach the statement."""
    names = [f"{name}_{position}" for position in range(len(values))]
    return ", ".join(":" + each for each in names), dict(zip(names, values, strict=True))


def in_parts(name: str, values: Sequence[int] | Sequence[str]) -> Iterator[tuple[str, dict[str, str | int]]]:
    """The same for any number of values, some hundreds at a time."""
    for start in range(0, len(values), _AT_ONCE):
        yield placeholders(name, values[start : start + _AT_ONCE])
