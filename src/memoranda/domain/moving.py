"""Moving house: what an export and an import did, in ids, counts and digests. Never what a memory says."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import iso
from memoranda.domain.importing import Unread
from memoranda.domain.memory import Memory

FORMAT = "memoranda-export"
VERSION = 1

ExportFormat = Literal["jsonl", "json"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
Dedupe = Literal["none", "id", "id_text"]
DEDUPES: tuple[Dedupe, ...] = get_args(Dedupe)
ImportMode = Literal["now", "preview", "validate"]
IMPORT_MODES: tuple[ImportMode, ...] = get_args(ImportMode)
Signed = Literal["", "here", "elsewhere", "broken"]
"""Whether an export of ours is signed: not at all (or it is none of ours), by this very store, by another one, or in a
way that does not fit what it says."""
Vouch = Literal["", "kept", "untrusted", "trusted"]
VOUCHES: tuple[Vouch, ...] = get_args(Vouch)
Foreign = Literal["refuse", "map", "here"]
FOREIGN: tuple[Foreign, ...] = get_args(Foreign)
Junk = Literal["leave", "keep"]
JUNK: tuple[Junk, ...] = get_args(Junk)

LeftOut = Literal[
    "unread",  # not what the format says
    "too long",
    "foreign",  # somebody else's, and nobody said where to put it
    "secret",
    "injection",  # refused where the settings say so; otherwise it is taken and quarantined
    "junk",
    "repeated",  # the same again in the same file
    "known",  # this very memory is here
    "same",  # its words are here
    "forgotten",  # somebody let go of it, and it is not taken back unasked
    "erased",
]
LEFT_OUT: tuple[LeftOut, ...] = get_args(LeftOut)


class ExportManifest(NamedTuple):
    """What an export says of itself, before anything else."""

    scope: str
    below: bool
    redacted: bool
    made_at: int
    memories: int
    digest: str
    """Of all that the memories say and are, as they were written out: equal to that of the scope they came from when
    nothing was redacted, and to that of an empty scope which has taken them in."""
    states: Mapping[str, int]
    kind: str = ""
    """Only of this kind, when it is not empty."""
    limit: int | None = None
    """No more than so many, the oldest first."""

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            **self._asdict(),
            "made_at": iso(self.made_at),
            "states": dict(self.states),
        }


def signed_words(manifest: Mapping[str, Any], *, sha256: str, memories: int) -> bytes:
    """What is signed of an export: what it says of itself, and the digest of its lines."""
    said = {"manifest": manifest, "memories": memories, "sha256": sha256}
    return f"{FORMAT}\n".encode() + json.dumps(said, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


class Redacted(NamedTuple):
    """A memory of which something was blacked out: in which fields, and what sort of secret it was."""

    id: str
    fields: tuple[str, ...]
    rules: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "fields": list(self.fields), "rules": list(self.rules)}


class ExportReceipt(NamedTuple):
    """What was written: the manifest, the file's own digest, and what was blacked out, the first thousand by id."""

    manifest: ExportManifest
    bytes: int
    sha256: str
    redactions: tuple[Redacted, ...]
    redacted_memories: int

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        shown.update(manifest=self.manifest.as_json(), redactions=[each.as_json() for each in self.redactions])
        return shown


class Exported(NamedTuple):
    """An export that lies where it was asked for."""

    path: str
    format: ExportFormat
    receipt: ExportReceipt

    @property
    def memories(self) -> int:
        return self.receipt.manifest.memories

    @property
    def digest(self) -> str:
        return self.receipt.manifest.digest

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "format": self.format, "receipt": self.receipt.as_json()}


class Carried(NamedTuple):
    """A memory of an export of ours, whole, and where it stands in the file. `root` is the scope it was made from."""

    memory: Memory
    place: str
    root: str


class LeftRecord(NamedTuple):
    """One record that is left out, where it stands, and why."""

    place: str
    reason: str
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Audit(NamedTuple):
    """What a file holds, before any of it is taken in. After an interruption, of what is left of it.

    `take` is how many would be kept, `left_out` how many would not, by reason. `troubles` and `unread` are the first
    fifty of what there is to look at; `owners` says whose the records are there, and how many.
    """

    total: int = 0
    readable: int = 0
    take: int = 0
    left_out: Mapping[LeftOut, int] = {}
    quarantined: int = 0
    junk: Mapping[str, int] = {}
    unread: tuple[Unread, ...] = ()
    troubles: tuple[LeftRecord, ...] = ()
    owners: Mapping[str, int] = {}
    scopes: Mapping[str, int] = {}
    kinds: Mapping[str, int] = {}
    states: Mapping[str, int] = {}
    oldest: int | None = None
    newest: int | None = None

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        for name in ("left_out", "junk", "owners", "scopes", "kinds", "states"):
            shown[name] = dict(shown[name])
        shown.update(
            unread=[each._asdict() for each in self.unread],
            troubles=[each.as_json() for each in self.troubles],
            oldest=None if self.oldest is None else iso(self.oldest),
            newest=None if self.newest is None else iso(self.newest),
        )
        return shown


class ImportRun(NamedTuple):
    """One import, finished or not. Its id is the batch by which it is undone. `place` is how many records were seen."""

    id: str
    scope: str
    format: str
    place: int
    counts: Mapping[str, int]
    started_at: int
    updated_at: int
    finished_at: int | None = None
    undone: bool = False
    """Whether the whole of it was taken back."""

    @property
    def taken(self) -> int:
        """How many were kept so far."""
        return self.counts.get(TAKEN, 0)

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "counts": dict(self.counts),
            "started_at": iso(self.started_at),
            "updated_at": iso(self.updated_at),
            "finished_at": None if self.finished_at is None else iso(self.finished_at),
        }


TAKEN = "taken"
QUARANTINED = "quarantined"


class Imports(NamedTuple):
    """What an import found and did. Without a run nothing was written: it was only looked at, or nothing was new."""

    format: str
    mode: ImportMode
    scope: str
    audit: Audit
    run: ImportRun | None = None
    resumed: bool = False
    """Whether it went on with an import that had been interrupted; the counts of the run are of both."""
    tag: str = ""
    """The automatic tag that names the state before."""
    trust: Vouch = ""
    """How far it was believed: what was asked for, or what follows from where it comes from."""
    signed: Signed = ""

    @property
    def taken(self) -> int:
        """How many were kept, in all."""
        return 0 if self.run is None else self.run.taken

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "audit": self.audit.as_json(),
            "run": None if self.run is None else self.run.as_json(),
            "taken": self.taken,
        }
