"""What a write-back did: what we know of memories, written into the rows of OpenClaw's table that they came from."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput

WriteBackField = Literal["importance", "importance_label", "scope", "category", "trust_tier"]
FIELDS: tuple[WriteBackField, ...] = get_args(WriteBackField)
FORCED: tuple[WriteBackField, ...] = ("importance", "importance_label", "scope", "category")
"""What is overwritten when nobody says which. Trust is not among it: it has to be named, also to be filled in."""


class UnknownField(InvalidInput):
    """A field that is never written back."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name[:40]!r} is not a field that is written back", hint=f"Use: {', '.join(FIELDS)}.")
        self.allowed = FIELDS


class WriteBack(NamedTuple):
    """The receipt. Ids are those of the table; what a memory says is not in it."""

    dry_run: bool
    db: str
    table: str
    limit: int
    batch: int
    force: bool
    force_fields: tuple[WriteBackField, ...]
    checked: int
    updated: int
    overwritten: int
    """Rows in which something else stood before."""
    overwritten_fields: Mapping[WriteBackField, int]
    skipped: int
    missing_ids: tuple[str, ...]
    error_ids: tuple[str, ...]
    candidates: int
    """How many memories came from there; those beyond the limit were not looked at."""

    @property
    def ok(self) -> bool:
        """Whether everything was written that was to be written. A row that is gone is no error."""
        return not self.error_ids

    def as_json(self) -> dict[str, Any]:
        """In the names that programs around OpenClaw read."""
        return {
            "ok": self.ok,
            "dryRun": self.dry_run,
            "db": self.db,
            "table": self.table,
            "limit": self.limit,
            "batch": self.batch,
            "forceOverwrite": self.force,
            "forceFields": list(self.force_fields),
            "checked": self.checked,
            "updated": self.updated,
            "overwritten": self.overwritten,
            "overwrittenFields": dict(self.overwritten_fields),
            "skipped": self.skipped,
            "missing": len(self.missing_ids),
            "missingIds": list(self.missing_ids),
            "error_count": len(self.error_ids),
            "errorIds": list(self.error_ids),
        }


def checked_fields(names: Sequence[str]) -> tuple[WriteBackField, ...]:
    """Fields to overwrite, in our order; the usual ones when none is named."""
    if isinstance(names, str):
        raise InvalidInput("fields are a list of names, not one text", hint="Pass force_fields=['importance'].")
    for name in names:
        if name not in FIELDS:
            raise UnknownField(str(name))
    return tuple(name for name in FIELDS if name in names) or FORCED
