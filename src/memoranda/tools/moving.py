"""Tools that carry memories in and out as files: memory_export, memory_import, in the words of OpenClaw's engines.

What a model takes in is not trusted; what it writes out is this very scope, live, with secrets blacked out.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.memory import OPERATORS
from memoranda.domain.moving import FORMAT, Audit, ImportMode, Imports, LeftOut
from memoranda.domain.text import so_many
from memoranda.service.memory import LongTermMemory
from memoranda.service.workroom import Workroom
from memoranda.tools.caller import Caller
from memoranda.tools.files import Files
from memoranda.tools.results import ToolResult

Given = dict[str, Any]

_FAILED: tuple[LeftOut, ...] = ("unread", "too long", "secret", "injection")
_MOST_FAILURES = 20


def export(caller: Caller, given: Given) -> ToolResult:
    """Write what is kept in this very scope into a file of the caller's: createdAt ascending, then id."""
    memory = caller.within(given.get("scope"))
    records = sorted(
        _exported(memory, given), key=lambda each: (to_ms(each["createdAt"], name="createdAt"), each["id"])
    )
    records = records[: given.get("limit", len(records))]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    as_list = given["format"] == "json"
    text = "[\n" + ",\n".join(lines) + "\n]\n" if as_list else "".join(f"{line}\n" for line in lines)
    content = text.encode()
    _files(caller).write(given["outPath"], content)
    receipt = {
        "filters": {name: given[name] for name in ("scope", "category", "limit") if given.get(name)},
        "returned": len(records),
        "redact": given["redact"],
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    data = {"count": len(records), "outPath": given["outPath"], "format": given["format"], "receipt": receipt}
    return ToolResult(f"Exported {so_many(len(records), 'memory')}", {**data, "redact": given["redact"]})


def _exported(memory: LongTermMemory, given: Given) -> Iterator[Given]:
    """The facade's own export, in the words of the host."""
    wanted = "note" if given.get("category") == "other" else given.get("category")
    with _desk(memory) as folder:
        path = folder / "export.jsonl"
        memory.export(path, redact=given["redact"], states=("live",))
        with path.open(encoding="utf-8") as file:
            for line in islice(file, 1, None):
                record = json.loads(line)
                if "text" in record and record["trust"] != "quarantined" and wanted in (None, record["kind"]):
                    yield _in_their_words(record)


def _in_their_words(record: Mapping[str, Any]) -> Given:
    fields = {
        "id": record["id"],
        "text": record["text"],
        "category": record["kind"],
        "importance": record.get("importance"),
        "importance_label": record["grade"],
        "scope": record["scope"],
        "trust_tier": record["trust"],
        "source_kind": record["source"],
        **{name: record.get(name) for name in ("about", "attribute", "context", "speaker", "lang")},
        "createdAt": record["created_at"],
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def import_from(caller: Caller, given: Given) -> ToolResult:
    """Take in a file of the caller's. What is known already is skipped, what cannot be read is told by its place."""
    content = _files(caller).read(given["inPath"])
    mode: ImportMode = "validate" if given["validateOnly"] else "preview" if given["dryRun"] else "now"
    with _desk(caller.memory) as folder:
        path = folder / f"import.{given.get('format') or 'jsonl'}"
        path.write_bytes(_beginning(content, given.get("limit")))
        done = caller.within(given.get("scope")).import_memories(
            path,
            dedupe=given["dedupe"],
            mode=mode,
            # A model chooses the file, and nobody whom it speaks with has read it: only who runs the store vouches.
            trust="trusted" if caller.source in OPERATORS else "untrusted",
            foreign="here",
        )
    return _told(done, given)


def _told(done: Imports, given: Given) -> ToolResult:
    audit = done.audit
    failed = sum(audit.left_out.get(reason, 0) for reason in _FAILED)
    data: Given = {
        "dryRun": done.mode != "now",
        "imported": done.taken,
        "skipped": sum(audit.left_out.values()) - failed,
        "failed": failed,
        "failures": _failures(audit),
        "format": done.format,
    }
    if done.mode != "now":
        data["wouldImport"] = audit.take
    taken = (
        f"{so_many(audit.take, 'memory')} would be imported"
        if done.mode != "now"
        else f"Imported {so_many(done.taken, 'memory')}"
    )
    receipt = {
        "filters": {name: given[name] for name in ("scope", "limit", "dedupe") if given.get(name)},
        "mode": done.mode,
        "total": audit.total,
        "leftOut": dict(audit.left_out),
        "quarantined": audit.quarantined,
        "batch": "" if done.run is None else done.run.id,
        "tag": done.tag,
    }
    return ToolResult(f"{taken}, {data['skipped']} skipped, {failed} failed", {**data, "receipt": receipt})


def _failures(audit: Audit) -> list[Given]:
    """Where, and why; never what it says."""
    unread = [{"place": each.place, "reason": each.reason} for each in audit.unread]
    troubles = [{"place": each.place, "reason": each.reason} for each in audit.troubles if each.reason in _FAILED[1:]]
    return (unread + troubles)[:_MOST_FAILURES]


def _beginning(content: bytes, limit: int | None) -> bytes:
    """The first records, when only so many are wanted."""
    if limit is None:
        return content
    head = content[:4_096].lstrip()
    if f'"{FORMAT}"'.encode() in head.partition(b"\n")[0]:
        raise InvalidInput("an export of Memoranda is taken in as a whole", hint="Leave the limit out.")
    if not head.startswith(b"["):
        lines = (line for line in content.splitlines(keepends=True) if line.strip())
        return b"".join(islice(lines, limit))
    try:
        return json.dumps(json.loads(content)[:limit], ensure_ascii=False).encode(errors="surrogatepass")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the file is not JSON", hint="Write it anew; it may have been cut.") from error


@contextmanager
def _desk(memory: LongTermMemory) -> Iterator[Path]:
    """In the store's workroom, which erasures look through; a server's memory has none on this machine."""
    try:
        store = memory.path
    except Refused:
        with tempfile.TemporaryDirectory(prefix="memoranda-") as folder:
            yield Path(folder)
        return
    with Workroom(store).desk() as desk:
        yield desk


def _files(caller: Caller) -> Files:
    assert caller.files is not None  # or the tool is not offered
    return caller.files
