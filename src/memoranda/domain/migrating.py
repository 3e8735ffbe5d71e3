"""Results of moving a whole store to another engine, or another place: counts, digests, times. No memory text."""

from typing import Any, NamedTuple


class TableCopied(NamedTuple):
    """One table: how many rows, and the digest of them all, which both sides gave."""

    name: str
    rows: int
    digest: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class MigrationReceipt(NamedTuple):
    """What was copied and compared. Addresses are without passwords."""

    source: str
    target: str
    store: str
    """Tells stores apart; the same for a store, its backups, and where it was moved to."""
    sequence: int
    contents: str
    """The digest of everything that is not forgotten, as both sides gave it at `contents_sequence`."""
    contents_sequence: int
    tables: tuple[TableCopied, ...]
    bytes: int
    """What the target takes."""
    seconds: float
    held_seconds: float
    """How long nobody could write to the source."""
    followed: int
    """Rows that were copied again because they were changed meanwhile."""
    resumed: bool
    left_open: bool
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "rows": self.rows,
            "tables": [table.as_json() for table in self.tables],
            "notes": list(self.notes),
        }


class Migrated(NamedTuple):
    """A store that is in another place now."""

    target: str
    receipt: MigrationReceipt

    def as_json(self) -> dict[str, Any]:
        return {"target": self.target, "receipt": self.receipt.as_json()}


class MigrationPlan(NamedTuple):
    """What a migration would copy. Nothing was changed."""

    source: str
    target: str
    tables: tuple[TableCopied, ...]
    bytes: int
    """What the source takes now."""
    seconds: float
    """How long it will take, about."""
    resumes: bool
    """Whether a migration that was interrupted would go on."""

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def as_json(self) -> dict[str, Any]:
        listed = [{"name": table.name, "rows": table.rows} for table in self.tables]
        return {**self._asdict(), "rows": self.rows, "tables": listed}
