"""JSON lines and tables of any program, with a mapping of their names to ours.

Options name the field of theirs for each of ours (`text=content`, `created_at=meta.ts`); names that are well known need
none. What has no name of ours goes into the metadata.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from memoranda.domain.clock import MAX_MS, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import KINDS, STATES, json_size
from memoranda.importers.json_pieces import LONGEST_RECORD, records
from memoranda.importers.told import importance_of

# Ours, and what others call it; the first that a record has is taken.
_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("text", "content", "memory", "fact", "note", "body", "message", "value"),
    "id": ("id", "_id", "uuid", "key", "memory_id"),
    "kind": ("kind", "type", "category", "memory_type"),
    "about": ("about", "subject", "entity", "entity_id"),
    "attribute": ("attribute", "predicate", "fact_type"),
    "value": (),
    "context": ("context",),
    "importance": ("importance", "score", "weight", "priority"),
    "confidence": ("confidence",),
    "speaker": ("speaker", "author", "sender", "sender_name"),
    "conversation": ("conversation", "conversation_id", "session", "session_id", "thread_id"),
    "tags": ("tags", "labels", "keywords"),
    "lang": ("lang", "language"),
    "metadata": ("metadata", "meta"),
    "state": ("state", "status"),
    "superseded_by": ("superseded_by", "replaced_by"),
    "created_at": ("created_at", "createdat", "created", "timestamp", "ts", "time", "date", "inserted_at"),
    "updated_at": ("updated_at", "updatedat", "updated", "modified", "modified_at"),
    "occurred_at": ("occurred_at", "happened_at", "event_time"),
    "valid_from": ("valid_from",),
    "valid_until": ("valid_until", "expires_at", "expiration_date"),
    "owner": ("owner", "user_id", "user", "userid", "user_key", "agent_id", "scope", "namespace"),
}
_TIMES = ("created_at", "updated_at", "occurred_at", "valid_from", "valid_until")
_WORDS = ("id", "about", "attribute", "context", "speaker", "conversation", "lang", "superseded_by", "owner")
_SETTINGS = ("encoding", "delimiter", "records", "rest", "importance_scale")
_DROPPED = frozenset({"embedding", "embeddings", "vector", "vectors"})
_KINDS = {
    "preferences": "preference",
    "facts": "fact",
    "decisions": "decision",
    "entities": "entity",
    "event": "episode",
}
_STATES = {"active": "live", "deleted": "forgotten", "obsolete": "superseded", "inactive": "archived"}

_HEAD = 65_536
_MOST_JSON = 64 << 20
_MOST_REST = 8_000
_LONGEST_INDEX = 9
_NO_DELIMITERS = '"\r\n\0'
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class _Choice(NamedTuple):
    """The options, read once: which field of theirs each of ours is, and how the file is written."""

    fields: Mapping[str, str]
    encoding: str
    delimiter: str
    records: str
    rest: bool
    scale: float


class JsonLines:
    """One JSON object on each line; or one JSON list of them."""

    name = "jsonl"
    title = "JSON lines, or a JSON list, of any program; name its fields with --map text=..."

    def reads(self, path: Path) -> bool:
        if path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
            return False
        head = _head(path)
        if head.lstrip()[:1] == "[":
            told = head.casefold()
            return head.lstrip()[1:].lstrip()[:1] == "{" and any(f'"{name}"' in told for name in _NAMES["text"])
        with suppress(ValueError, RecursionError):
            record = json.loads(head.lstrip().partition("\n")[0])
            return isinstance(record, dict) and any(name in _folded(record) for name in _NAMES["text"])
        return False

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        choice = _chosen(options)
        if choice.records:
            for number, record in enumerate(_listed(path, choice), 1):
                yield _imported(record, f"record {number}", choice)
            return
        if _head(path, choice.encoding).lstrip()[:1] == "[":
            with _opened(path, choice.encoding) as file:
                for found in records(_Recoded(file), under=()):
                    yield found if isinstance(found, Unread) else _imported(found.value, found.place, choice)
            return
        for number, line in _lines(path, choice):
            if number == 1 and line == "{":
                raise InvalidInput(
                    f"{path.name} is one JSON document, not JSON lines",
                    hint="Name the list of records in it with --option records=path.to.list.",
                )
            record = line if isinstance(line, Unread) else _parsed(line, f"line {number}")
            yield record if isinstance(record, Unread) else _imported(record, f"line {number}", choice)


class Table:
    """A table with a header: comma, semicolon or tab between its fields."""

    name = "csv"
    title = "a CSV or TSV file with a header; name its columns with --map text=..."

    def reads(self, path: Path) -> bool:
        if path.suffix.lower() not in (".csv", ".tsv"):
            return False
        head = _head(path)
        columns = head.partition("\n")[0].split(_delimiter(head))
        return any(name.strip().strip('"').casefold() in _NAMES["text"] for name in columns)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[Imported | Unread]:
        choice = _chosen(options)
        delimiter = choice.delimiter or _delimiter(_head(path, choice.encoding))
        if csv.field_size_limit() < LONGEST_RECORD:
            csv.field_size_limit(LONGEST_RECORD)
        with _opened(path, choice.encoding) as file:
            rows = csv.reader(file, delimiter=delimiter, strict=False)
            try:
                header = [name.strip() for name in next(rows, [])]
            except csv.Error as error:
                raise InvalidInput(
                    f"the first line of {path.name} names no columns: {error}",
                    hint="Write the names of the columns there.",
                ) from error
            if not header or (choice.fields.get("text") or "") not in ("", *header):
                raise InvalidInput(
                    f"{path.name} has no such column", hint=f"Its columns: {', '.join(header)[:300] or 'none'}."
                )
            while True:
                place = f"line {rows.line_num + 1}"
                try:
                    row = next(rows)
                except StopIteration:
                    return
                except csv.Error as error:
                    yield Unread(place, str(error))
                    continue
                if any(row):
                    yield _row(header, row, place, choice)


def _row(header: list[str], row: list[str], place: str, choice: _Choice) -> Imported | Unread:
    if len(row) > len(header) and any(row[len(header) :]):
        return Unread(place, f"{len(row)} fields under {len(header)} columns")
    if any("\udc80" <= char <= "\udcff" for char in "".join(row)):
        return Unread(place, "not text in this encoding")
    record: dict[str, Any] = {name: each for name, each in zip(header, row, strict=False) if each != ""}
    return _imported(record, place, choice)


# -- files --


def _head(path: Path, encoding: str = "") -> str:
    """The first characters; nothing when it cannot be read as text."""
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD)
    except OSError:
        return ""
    chosen = encoding or _encoding(raw)
    return "" if b"\0" in raw and chosen.startswith("utf-8") else raw.decode(chosen, errors="replace")


def _encoding(raw: bytes) -> str:
    return next((name for mark, name in _BOMS if raw.startswith(mark)), "utf-8")


def _opened(path: Path, encoding: str) -> IO[str]:
    with path.open("rb") as file:
        chosen = encoding or _encoding(file.read(4))
    # What is not text in this encoding spoils its own line and no other.
    errors = "surrogateescape" if chosen.startswith("utf-8") else "replace"
    return path.open(encoding=chosen, errors=errors, newline="")


class _Recoded:
    """A text as bytes in UTF-8, whatever it was written in."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        return self._file.read(size).encode(errors="surrogatepass")


def _delimiter(head: str) -> str:
    first = head.partition("\n")[0]
    return max(",;\t|", key=first.count)


def _lines(path: Path, choice: _Choice) -> Iterator[tuple[int, str | Unread]]:
    """Lines with their numbers; one that is too long is told and passed over."""
    with _opened(path, choice.encoding) as file:
        number = 0
        while line := file.readline(LONGEST_RECORD):
            number += 1
            if len(line) >= LONGEST_RECORD and not line.endswith("\n"):
                while (more := file.readline(LONGEST_RECORD)) and not more.endswith("\n"):
                    pass
                yield number, Unread(f"line {number}", f"longer than {LONGEST_RECORD:,} characters")
            elif line.strip():
                yield number, line.strip()


def _parsed(line: str, place: str) -> Any:
    if any("\udc80" <= char <= "\udcff" for char in line):
        return Unread(place, "not text in this encoding")
    try:
        return json.loads(line)
    except ValueError:
        return Unread(place, "not JSON")
    except RecursionError:
        return Unread(place, "nested too deeply")


def _listed(path: Path, choice: _Choice) -> Iterator[Any]:
    if path.stat().st_size > _MOST_JSON:
        raise InvalidInput(f"{path.name} is larger than {_MOST_JSON >> 20} MB", hint="Write it as JSON lines.")
    with _opened(path, choice.encoding) as file:
        try:
            whole = json.load(file)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path.name} is not JSON", hint="Write it anew; it may have been cut.") from error
    found = _at(whole, choice.records)
    if not isinstance(found, list):
        raise InvalidInput(
            f"there is no list of records in {path.name}", hint="Name it with --option records=path.to.list."
        )
    return iter(found)


# -- records --


def _chosen(options: Mapping[str, str]) -> _Choice:
    unknown = sorted(set(options) - set(_NAMES) - set(_SETTINGS))
    if unknown:
        raise InvalidInput(
            f"{unknown[0][:40]!r} is no option here", hint=f"Use: {', '.join(chain(_NAMES, _SETTINGS))}."
        )
    return _Choice(
        {name: theirs for name, theirs in options.items() if name in _NAMES},
        _known_encoding(options.get("encoding", "")),
        _known_delimiter(options.get("delimiter", "")),
        options.get("records", ""),
        options.get("rest", "keep") == "keep",
        _positive(options.get("importance_scale", "1")),
    )


def _known_encoding(name: str) -> str:
    try:
        # Some that Python knows are none for a whole file, or cannot pass over what they do not know.
        bytes(range(256)).decode(name or "utf-8", "replace")
    except (LookupError, ValueError) as error:
        raise InvalidInput(
            f"encoding: {name[:20]!r} cannot be used", hint="Use utf-8, utf-16, cp1252 or the like."
        ) from error
    return name


def _known_delimiter(given: str) -> str:
    delimiter = given.replace("\\t", "\t")[:1]
    if delimiter and delimiter in _NO_DELIMITERS:
        raise InvalidInput(f"delimiter: {delimiter!r} cannot stand between fields", hint="Use , ; | or \\t.")
    return delimiter


def _positive(scale: str) -> float:
    with suppress(ValueError):
        if 0 < float(scale) < MAX_MS:
            return float(scale)
    raise InvalidInput(f"importance_scale: {scale[:20]!r} is no number above 0", hint="Use 5, 10 or 100.")


def _imported(record: Any, place: str, choice: _Choice) -> Imported | Unread:
    if not isinstance(record, dict):
        return Unread(place, "not a JSON object")
    names = _folded(record)
    used: set[str] = set()
    found = {ours: _field(record, names, ours, choice, used) for ours in _NAMES}
    text = found.pop("text")
    if not isinstance(text, str) or not text.strip():
        return Unread(place, "no text in it")
    try:
        times: dict[str, Any] = {
            name: None if found[name] in (None, "") else _moment(found[name], name) for name in _TIMES
        }
    except InvalidInput as error:
        return Unread(place, str(error).partition(":")[0] + " is no moment")
    words: dict[str, Any] = {name: _word(found[name]) for name in _WORDS}
    kind = _KINDS.get(str(found["kind"]).casefold(), str(found["kind"]).casefold())
    state = _STATES.get(str(found["state"]).casefold(), str(found["state"]).casefold())
    return Imported(
        text,
        place=place,
        kind=next((each for each in KINDS if each == kind), None),
        state=next((each for each in STATES if each == state), "live"),
        value=found["value"],
        importance=_importance(found["importance"], choice.scale),
        confidence=_share(found["confidence"], 1.0),
        tags=_tags(found["tags"]),
        metadata=_metadata(found["metadata"], record, used, keep_rest=choice.rest),
        **words,
        **times,
    )


def _folded(record: Mapping[str, Any]) -> dict[str, str]:
    """Names in small letters, and as they stand."""
    return {name.casefold().replace(" ", "_").replace("-", "_"): name for name in reversed(list(record))}


def _field(record: Mapping[str, Any], names: Mapping[str, str], ours: str, choice: _Choice, used: set[str]) -> Any:
    if ours in choice.fields:
        theirs = choice.fields[ours]
        used.add(theirs if theirs in record else theirs.partition(".")[0])
        return record[theirs] if theirs in record else _at(record, theirs)
    for name in _NAMES[ours]:
        if name in names and names[name] not in used and names[name] not in choice.fields.values():
            used.add(names[name])
            return record[names[name]]
    return None


def _at(value: Any, path: str) -> Any:
    """What stands at a dotted path; None when nothing does."""
    for part in path.split("."):
        if isinstance(value, list):
            is_index = part.isascii() and part.isdigit() and len(part) <= _LONGEST_INDEX and int(part) < len(value)
            value = value[int(part)] if is_index else None
        elif isinstance(value, Mapping):
            value = value.get(part)
        else:
            return None
    return value


def _word(value: Any) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)


def _moment(value: Any, name: str) -> int:
    """ISO-8601, or a number: seconds, milliseconds, microseconds or nanoseconds, told by how large it is."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return to_ms(value, name=name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e20:
        raise InvalidInput(f"{name}: not a moment")
    ms = value * 1000
    while ms > MAX_MS:
        ms /= 1000
    return int(ms)


def _share(value: Any, scale: float) -> float | None:
    """A number from 0 to 1; what is none is left out rather than the memory."""
    with suppress(TypeError, ValueError, OverflowError):
        share = float(value) / scale
        return share if 0.0 <= share <= 1.0 else None
    return None


def _importance(value: Any, scale: float) -> float | None:
    """On the scale that was named; without one, as it is written."""
    return importance_of(value) if scale == 1.0 else _share(value, scale)


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value) if value.startswith("[") else value
    parts = value.replace(";", ",").split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        return ()
    return tuple(tag for tag in (_word(part).strip()[:64] for part in parts) if tag)[:64]


def _metadata(own: Any, record: Mapping[str, Any], used: set[str], *, keep_rest: bool) -> Mapping[str, Any] | None:
    if isinstance(own, str):
        with suppress(ValueError, RecursionError):
            own = json.loads(own)
    told = dict(own) if isinstance(own, dict) else {}
    rest = {name: value for name, value in record.items() if name not in used and name.casefold() not in _DROPPED}
    with suppress(TypeError, ValueError, RecursionError):
        if keep_rest and json_size({**rest, **told}) <= _MOST_REST:
            return {**rest, **told} or None
    return told or None
