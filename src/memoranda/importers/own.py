"""Exports of Memoranda itself, as JSON lines or as one JSON file. Everything is given back as it was written out."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import BASES, KINDS, SOURCES, STATES, TRUSTS, Memory, checked_choice
from memoranda.domain.moving import FORMAT, VERSION, Carried, signed_words
from memoranda.domain.scope import Scope

_HEAD = 4_096
_LONGEST_LINE = 1 << 20
_MOST_JSON = 512 << 20
_TIMES = ("created_at", "updated_at", "occurred_at", "valid_from", "valid_until")
_CHOICES: dict[str, tuple[str, ...]] = {
    "kind": KINDS, "state": STATES, "trust": TRUSTS, "source": SOURCES, "basis": BASES,
}  # fmt: skip
_HINT = "Export it again; `memoranda import --validate-only` says what can be read."
_scope = lru_cache(1_024)(Scope)
_CUT = "the end is missing: the file was cut"


class Seal(NamedTuple):
    """What was signed, by whom, and the signature; and the scope that it speaks of. Not checked."""

    words: bytes
    signer: str
    signature: str
    scope: str


class Reader:
    """Reads what `memoranda export` wrote."""

    name = "own"
    title = "an export of Memoranda, JSON lines or JSON"

    def reads(self, path: Path) -> bool:
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError:
            return False
        return f'"{FORMAT}"'.encode() in head.partition(b"\n")[0]

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        for item in self.carried(path):
            yield item if isinstance(item, Unread) else _projected(item.memory, item.place)

    def carried(self, path: Path) -> Iterator[Carried | Unread]:
        """Every memory, whole; then what is wrong with the file itself, if something is."""
        with path.open("rb") as file:
            first = file.readline(_LONGEST_LINE)
            manifest = _manifest(_parsed(first))
            if manifest is not None:
                yield from _lines(file, manifest)
                return
        yield from _document(path)

    def seal(self, path: Path) -> Seal | None:
        """What somebody signed of this file, as it is read here; None when nobody did. Reads it to its end."""
        with path.open("rb") as file:
            manifest = _manifest(_parsed(file.readline(_LONGEST_LINE)))
            if manifest is not None:
                lines = _Lines(file)
                count = sum(bool(line.strip()) for line, _ in lines)
                return _seal(manifest, lines.end, lines.digest, count)
        whole, manifest = _whole(path)
        hashed = hashlib.sha256()
        for record in whole["memories"]:
            _hash(hashed, record)
        return _seal(manifest, whole.get("end"), hashed.hexdigest(), len(whole["memories"]))


class _Lines:
    """The lines between the manifest and the end, each as it stands and as it was read; then the end, and the digest
    of all. One walk for who checks a signature and who takes the lines in, so that both see the same."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._hashed = hashlib.sha256()
        self.end: Any = None

    def __iter__(self) -> Iterator[tuple[bytes, Any]]:
        # One that is longer than any memory comes in pieces, none of which can be read.
        for line in iter(lambda: self._file.readline(_LONGEST_LINE), b""):
            record = _parsed(line)
            if isinstance(record, dict) and "end" in record and "id" not in record:
                self.end = record["end"]
                return
            self._hashed.update(line)
            yield line, record

    @property
    def digest(self) -> str:
        return self._hashed.hexdigest()


def _seal(manifest: Mapping[str, Any], end: Any, digest: str, count: int) -> Seal | None:
    if not isinstance(end, dict) or not isinstance(end.get("signature"), str):
        return None
    words = signed_words(manifest, sha256=digest, memories=count)
    return Seal(words, str(end.get("public_key")), end["signature"], str(manifest["scope"]))


def _lines(file: Any, manifest: Mapping[str, Any]) -> Iterator[Carried | Unread]:
    lines = _Lines(file)
    for number, (line, record) in enumerate(lines, 2):
        if line.strip():
            yield _carried(record, f"line {number}", str(manifest["scope"]))
    yield from _checked_end(lines.end, lines.digest)


def _whole(path: Path) -> tuple[dict[str, Any], Mapping[str, Any]]:
    if path.stat().st_size > _MOST_JSON:
        raise InvalidInput(
            f"{path.name} is larger than {_MOST_JSON >> 20} MB as one JSON file", hint="Export it as jsonl."
        )
    whole = _parsed(path.read_bytes())
    manifest = _manifest(whole.get("manifest")) if isinstance(whole, dict) else None
    if manifest is None or not isinstance(whole.get("memories"), list):
        raise InvalidInput(f"{path.name} is no export of Memoranda", hint=_HINT)
    return whole, manifest


def _document(path: Path) -> Iterator[Carried | Unread]:
    whole, manifest = _whole(path)
    hashed = hashlib.sha256()
    for number, record in enumerate(whole["memories"], 1):
        _hash(hashed, record)
        yield _carried(record, f"memory {number}", str(manifest["scope"]))
    yield from _checked_end(whole.get("end"), hashed.hexdigest())


def _hash(hashed: Any, record: Any) -> None:
    with suppress(RecursionError):  # none that we wrote is nested like this
        hashed.update(json.dumps(record, ensure_ascii=False).encode(errors="surrogatepass") + b"\n")


def _checked_end(end: Any, digest: str) -> Iterator[Unread]:
    if not isinstance(end, dict):
        yield Unread("the end", _CUT)
    elif end.get("sha256") != digest:
        yield Unread("the end", "something in the file was changed after it was written")


def _manifest(found: Any) -> Mapping[str, Any] | None:
    """What the file says of itself; None when it is none of ours."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return None
    if found.get("version") != VERSION:
        raise InvalidInput(
            f"this export has version {str(found.get('version'))[:20]}; this Memoranda reads version {VERSION}",
            hint="Upgrade: pip install --upgrade memoranda.",
        )
    Scope(found.get("scope", ""))
    return found


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _carried(record: Any, place: str, root: str) -> Carried | Unread:
    if not isinstance(record, dict):
        return Unread(place, "not a JSON object")
    try:
        return Carried(_memory(record), place, root)
    except InvalidInput as error:
        return Unread(place, str(error).partition(":")[0])
    except (TypeError, ValueError, KeyError):
        return Unread(place, "not a memory of ours")


def _memory(record: Mapping[str, Any]) -> Memory:
    """The record as it stands. What it says is checked by whoever keeps it."""
    fields: dict[str, Any] = {name: record[name] for name in Memory._fields if name in record}
    for name, choices in _CHOICES.items():
        if name in fields:
            checked_choice(fields[name], choices, name=name)
    for name in _TIMES:
        if fields.get(name) is not None:
            fields[name] = to_ms(fields[name], name=name)
    for name in ("tags", "media_refs"):
        fields[name] = tuple(fields.get(name, ()))
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        raise InvalidInput("metadata is no object")
    fields["metadata"] = MappingProxyType(metadata)
    for name in ("id", "text", "scope"):
        if not isinstance(fields.get(name), str):
            raise InvalidInput(f"{name} is missing")
    _scope(fields["scope"])
    return Memory(**fields)


def _projected(memory: Memory, place: str) -> Imported:
    shared = {name: getattr(memory, name) for name in Imported._fields if name in Memory._fields}
    return Imported(
        **{**shared, "superseded_by": memory.superseded_by or ""},
        place=place,
        owner=memory.scope,
    )
