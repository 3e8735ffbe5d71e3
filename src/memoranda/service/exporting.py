"""Export: what a scope holds, written into one file, line by line. Secrets are blacked out unless told otherwise."""

import errno
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, Literal, NamedTuple

from memoranda.domain.errors import InvalidInput, LedgerFull, MemorandaError, Refused
from memoranda.domain.memory import KINDS, STATES, Kind, Memory, State, checked_choice
from memoranda.domain.moving import (
    EXPORT_FORMATS,
    Exported,
    ExportFormat,
    ExportManifest,
    ExportReceipt,
    Redacted,
    signed_words,
)
from memoranda.domain.ports import Progress
from memoranda.domain.request import checked_limit
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash
from memoranda.ledger.contents import line
from memoranda.ledger.exporting import walked
from memoranda.service.engine import Engine
from memoranda.service.own_ids import is_own_id, without_own_ids
from memoranda.service.signing import public_half, public_key, signing_key
from memoranda.service.structured import checked_type
from memoranda.service.workroom import Workroom

_MOST_NAMED = 1_000
_MOST_EXPORTED = 1 << 40
_TELL_EVERY = 500
_WORDS = ("text", "about", "attribute", "context", "source_ref", "speaker", "conversation", "lang", "media_kind")
_JSON = ("value", "metadata", "tags", "media_refs")
_BLACKED_OUT = "[secret]"
EXPORTED: tuple[State, ...] = tuple(state for state in STATES if state != "forgotten")
"""What may leave the house. What was forgotten is gone for everybody but for who restores it."""


class _Body(NamedTuple):
    """The lines of an export, counted while they were written."""

    memories: int
    digest: str
    sha256: str
    states: Mapping[str, int]
    redactions: tuple[Redacted, ...]
    redacted: int


def export(
    engine: Engine,
    scope: Scope,
    path: str | Path,
    *,
    format: ExportFormat,  # noqa: A002 the word users know
    redact: bool,
    below: bool,
    states: Sequence[State],
    kind: Kind | Literal[""],
    limit: int | None,
    overwrite: bool,
    progress: Progress | None,
) -> Exported:
    """Write the file beside its place, then move it there: who looks sees all of it or nothing."""
    checked_choice(format, EXPORT_FORMATS, name="format")
    for name, flag in (("redact", redact), ("below", below), ("overwrite", overwrite)):
        checked_type(flag, bool, name=name, hint=f"Pass {name}=True or {name}=False.")
    if isinstance(states, str) or not isinstance(states, Sequence):
        raise InvalidInput("states are a list", hint="Pass states=['live'], or none for all that may be exported.")
    for state in states:
        checked_choice(state, EXPORTED, name="states")
    if kind != "":
        checked_choice(kind, KINDS, name="kind")
    if limit is not None:
        checked_limit(limit, most=_MOST_EXPORTED)
    target = _target(engine, path, overwrite=overwrite)
    made_at = engine.clock.now()
    with _writable(target.parent), _spool(target.parent) as spool, _part(engine, target) as file:
        chosen = walked(engine.ledger.database, scope, below=below, states=states or EXPORTED, kind=kind, limit=limit)
        with chosen as (total, memories):
            body = _written(spool, _told(memories, total, progress), format=format, redact=redact)
        manifest = ExportManifest(
            scope.path, below, redact, made_at, body.memories, body.digest, body.states, kind, limit
        )
        spool.seek(0)
        _bind(file, manifest.as_json(), spool, _end(engine, manifest, body), format=format)
        size, sha256 = _settled(file)
        if not overwrite:
            _refuse_existing(target)
        os.replace(file.name, target)
    return Exported(
        str(target), format, ExportReceipt(manifest, size, sha256, body.redactions, redacted_memories=body.redacted)
    )


# -- the file --


def _target(engine: Engine, path: str | Path, *, overwrite: bool) -> Path:
    try:
        target = Path(path).expanduser()
        target = target.parent.resolve() / target.name
        if "\0" in target.name:
            raise ValueError("there is a NUL byte in it")
        if target.is_dir() or not target.name:
            raise InvalidInput(f"{target} is a folder", hint="Give the path of a file, such as memories.jsonl.")
        if not target.parent.is_dir():
            raise InvalidInput(f"there is no folder {target.parent}", hint="Make it first.")
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        if isinstance(error, MemorandaError):
            raise
        raise InvalidInput(f"this cannot be the path of an export: {error}", hint="Give another path.") from error
    ledger = engine.ledger.path.resolve()
    if target.parent == ledger.parent and target.name.startswith(ledger.name):
        raise Refused(f"{target.name} is a name of the store's own files", hint="Give the export another name.")
    if not overwrite:
        _refuse_existing(target)
    return target


def _refuse_existing(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise Refused(
            f"{target} is there already",
            hint="Give another path, or pass overwrite=True (CLI: --overwrite).",
        )


def _spool(folder: Path) -> IO[bytes]:
    """A file without a name, for lines that must wait for the line before them."""
    return tempfile.TemporaryFile(dir=folder)


def _part(engine: Engine, target: Path) -> AbstractContextManager[IO[bytes]]:
    """A new file beside the target, of which the store knows should this be killed."""
    return Workroom(engine.ledger.path).beside(target)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, MemorandaError):
            raise
        kind = LedgerFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else InvalidInput
        raise kind(
            f"the export cannot be written into {folder} ({error.strerror or error})",
            hint="Check that there is space and that you may write there; nothing was left behind.",
        ) from error


def _bind(file: IO[bytes], manifest: Any, body: IO[bytes], end: Any, *, format: ExportFormat) -> None:  # noqa: A002
    first, last = _dumped(manifest), _dumped(end)
    if format == "json":
        file.write(b'{"manifest": ' + first + b', "memories": [\n')
        copyfileobj(body, file)
        file.write(b'\n], "end": ' + last + b"}\n")
        return
    file.write(first + b"\n")
    copyfileobj(body, file)
    file.write(b'{"end": ' + last + b"}\n")


def _end(engine: Engine, manifest: ExportManifest, body: _Body) -> dict[str, Any]:
    """What the lines came to, signed: so that this store knows its own words when they come back."""
    if engine.settings.read_only and not public_key(engine):  # nothing is made there, not even a key
        return {"sha256": body.sha256, "memories": body.memories}
    key = signing_key(engine)
    words = signed_words(manifest.as_json(), sha256=body.sha256, memories=body.memories)
    return {
        "sha256": body.sha256,
        "memories": body.memories,
        "public_key": public_half(key),
        "signature": key.sign(words).hex(),
    }


def _settled(file: IO[bytes]) -> tuple[int, str]:
    """On the disk; its size, and the digest of its bytes."""
    file.flush()
    os.fsync(file.fileno())
    with open(file.name, "rb") as written:
        hashed = hashlib.file_digest(written, "sha256")
        return written.tell(), hashed.hexdigest()


# -- the lines --


def _written(spool: IO[bytes], memories: Iterator[Memory], *, format: ExportFormat, redact: bool) -> _Body:  # noqa: A002
    contents, lines = hashlib.sha256(), hashlib.sha256()
    states: Counter[str] = Counter()
    redactions: list[Redacted] = []
    redacted = 0
    for memory in memories:
        shown = memory
        if redact:
            shown, told = _blacked_out(memory)
            redacted += told is not None
            if told is not None and len(redactions) < _MOST_NAMED:
                redactions.append(told)
        written = _dumped(shown.as_json())
        spool.write((b",\n" if format == "json" and states else b"") + written + (b"\n" if format == "jsonl" else b""))
        lines.update(written + b"\n")
        contents.update(line(shown) + b"\n")
        states[shown.state] += 1
    return _Body(
        states.total(), contents.hexdigest(), lines.hexdigest(), dict(states), tuple(redactions), redacted=redacted
    )


def _told(memories: Iterator[Memory], total: int, progress: Progress | None) -> Iterator[Memory]:
    done = 0
    for done, memory in enumerate(memories, 1):
        if progress and done % _TELL_EVERY == 0:
            progress(done, total)
        yield memory
    if progress:
        progress(done, done)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


# -- what is blacked out --


def _blacked_out(memory: Memory) -> tuple[Memory, Redacted | None]:
    """The memory without its secrets, and what sort they were; None when it has none."""
    from memoranda.capture.secrets import redacted, secrets

    changed: dict[str, Any] = {}
    rules: dict[str, None] = {}
    for name in _WORDS:
        part = getattr(memory, name)
        found = secrets(part) if part else ()
        if found:
            changed[name] = redacted(part)
            rules.update((each.rule, None) for each in found)
    for name in _JSON:
        part = getattr(memory, name)
        seen = without_own_ids(part) if name == "metadata" else part
        found = secrets(json.dumps(seen, ensure_ascii=False, default=dict)) if part else ()
        if found:
            changed[name] = _without(part, own=name == "metadata")
            rules.update((each.rule, None) for each in found)
    if not changed:
        return memory, None
    told = Redacted(memory.id, tuple(changed), tuple(rules))
    if "text" in changed:
        changed["content_hash"] = content_hash(changed["text"])
    return memory._replace(**changed), told


def _without(value: Any, *, own: bool) -> Any:
    """A value with its secrets taken out one by one; all of it, when they show only in the whole. `own` is metadata, in
    which ids stay."""
    from memoranda.capture.secrets import redacted, secrets

    def cleaned(part: Any, *, under: str = "") -> Any:
        if isinstance(part, str):
            return part if own and is_own_id(under, part) else redacted(part)
        if isinstance(part, Mapping):
            return {redacted(str(name)): cleaned(each, under=under or str(name)) for name, each in part.items()}
        if isinstance(part, list | tuple):
            return type(part)(cleaned(each, under=under) for each in part)
        return part

    clean = cleaned(value)
    if not secrets(json.dumps(without_own_ids(clean) if own else clean, ensure_ascii=False, default=dict)):
        return clean
    if isinstance(value, Mapping):
        return {"redacted": True}
    return () if isinstance(value, tuple) else _BLACKED_OUT
