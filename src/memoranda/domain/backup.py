"""Results around backups: what is in one, whether it is well, what came back, what is encrypted. No memory text."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import iso, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.results import Check

FORMAT = "memoranda.backup.v1"
Encrypted = Literal["no", "key", "passphrase", "yes"]
"""How a backup is encrypted: not at all, with its store's key, with a passphrase, or in a way that it does not say."""


class Figures(NamedTuple):
    """What a ledger holds, counted. `store` tells stores apart and says nothing else of them; `rows` is a digest of
    every row of every table, `contents` of the memories that are not forgotten (empty where nobody asked for it)."""

    store: str
    schema: str
    sequence: int
    rows: str
    contents: str
    counts: dict[str, int]


class Reached(NamedTuple):
    """Up to where the history of a store tells of erasures: sequences of events and of messages' events, a moment."""

    sequence: int = 0
    messages: int = 0
    at: int = 0

    def covers(self, other: "Reached") -> bool:
        """Whether everything up to there was seen to."""
        return all(mine >= theirs for mine, theirs in zip(self, other, strict=True))

    def joined(self, other: "Reached") -> "Reached":
        """The farther of both."""
        return Reached(*map(max, self, other))


class Manifest(NamedTuple):
    """What a backup says of itself."""

    made_at: int
    version: str
    encrypted: Encrypted
    figures: Figures
    cleaned: Reached = Reached()
    """Nothing is in it of what was erased up to here."""
    format: str = FORMAT

    def as_json(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "made_at": iso(self.made_at),
            "version": self.version,
            "encrypted": self.encrypted,
            "cleaned": list(self.cleaned),
            **self.figures._asdict(),
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "Manifest | None":
        """A manifest as it was written; None when it is not one of ours."""
        try:
            counts = {str(name): int(count) for name, count in said["counts"].items()}
            figures = Figures(
                str(said["store"]),
                str(said["schema"]),
                int(said["sequence"]),
                str(said["rows"]),
                str(said["contents"]),
                counts,
            )
            made_at = to_ms(str(said["made_at"]), name="made_at")
            encrypted = said["encrypted"]
            if said["format"] != FORMAT or encrypted not in ("no", "key", "passphrase"):
                return None
            return cls(made_at, str(said["version"]), encrypted, figures, Reached(*map(int, said.get("cleaned", ()))))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InvalidInput):
            return None


class BackupFile(NamedTuple):
    """A file in a folder of backups. `trouble` says why nothing is known of it, if so."""

    path: str
    bytes: int
    encrypted: Encrypted
    manifest: Manifest | None = None
    trouble: str = ""

    def as_json(self) -> dict[str, Any]:
        manifest = None if self.manifest is None else self.manifest.as_json()
        return {**self._asdict(), "manifest": manifest}


class BackupReceipt(NamedTuple):
    """What was written and checked. `removed` are older backups that went."""

    bytes: int
    sha256: str
    seconds: float
    manifest: Manifest
    checks: tuple[Check, ...]
    removed: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "manifest": self.manifest.as_json(),
            "checks": [check.as_json() for check in self.checks],
            "removed": list(self.removed),
        }


class BackedUp(NamedTuple):
    """A backup that was made, and found well."""

    path: str
    receipt: BackupReceipt

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "receipt": self.receipt.as_json()}


class BackupChecked(NamedTuple):
    """A backup that was looked at."""

    file: BackupFile
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {"ok": self.ok, "file": self.file.as_json(), "checks": [check.as_json() for check in self.checks]}


class BackupDifference(NamedTuple):
    """What a backup and a store say differently, by ids: memories that are not forgotten."""

    path: str
    backup: str
    store: str
    gone: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def same(self) -> bool:
        return self.backup == self.store

    def as_json(self) -> dict[str, Any]:
        listed = {name: list(getattr(self, name)) for name in ("gone", "new", "changed")}
        return {**self._asdict(), "same": self.same, **listed}


class RestoreReceipt(NamedTuple):
    """What came back. `erased` counts what a newer store had erased, and what therefore stayed away."""

    backup: str
    manifest: Manifest
    encrypted: bool
    erased: int
    seconds: float
    checks: tuple[Check, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "manifest": self.manifest.as_json(),
            "checks": [check.as_json() for check in self.checks],
            "notes": list(self.notes),
        }


class Restored(NamedTuple):
    """A store that was made from a backup."""

    path: str
    receipt: RestoreReceipt

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "receipt": self.receipt.as_json()}


class ResealReceipt(NamedTuple):
    """What a store held when its encryption was changed, and what has to be seen to by its owner."""

    encrypted: bool
    bytes: int
    seconds: float
    figures: Figures
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "figures": self.figures._asdict(), "notes": list(self.notes)}


class Resealed(NamedTuple):
    """A store that is encrypted now, or with another key, or no longer."""

    path: str
    receipt: ResealReceipt

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "receipt": self.receipt.as_json()}
