"""Conversations: keeping, what a model sees, summing up, importing, and searching what was said.

Appends stand beside a bare SQLite insert of the same texts with the same durability, in turn. Nothing is embedded while
it is kept. Searching is measured with and without the bundled embedder; how good it is, on a set of dialogues with
labelled evidence where it is to be had: is a turn that answers the question among the hits of the first five passages?
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import apsw

import memoranda
from bench.paths import log
from bench.stats import at, summary
from memoranda.evaluation.packs import Pack, is_pack, read_pack

SCOPE = "bench"
BATCHES = (1, 10, 100, 500)
MOST_BATCHES = 100
LENGTHS = (200, 1_000, 10_000)
WINDOWS = 50
IMPORTED = 5_000
IN_ONE = 50
"""Messages of one conversation, where many are searched."""
QUALITY = "locomo"
PASSAGES = 5
EMBEDDERS = ("none", "auto")

Line = dict[str, Any]


def measure(turns: Path, packs: Path, sizes: list[int], queries: int) -> dict[str, Any]:
    """All of it; `sizes` are numbers of messages to search, `queries` how often each store is asked."""
    texts = _texts(turns)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], list[Line]]] = {
            "append": lambda: _append(folder, texts),
            "lengths": lambda: _lengths(folder, texts),
            "import": lambda: _imports(folder, texts),
            "search": lambda: _searches(folder, texts, sizes, queries),
            "quality": lambda: _quality(folder, packs / QUALITY),
        }
        for part, call in parts.items():
            log(f"conversations: {part}")
            found[part] = call()
    return found


def _texts(turns: Path) -> list[str]:
    if not turns.exists():
        return [f"The bus to stop {number} was late again, and what did you do all day?" for number in range(5_000)]
    with turns.open(encoding="utf-8") as lines:
        return [turn[1].strip() for line in lines for turn in json.loads(line)["turns"] if turn[1].strip()]


def _open(path: Path, embedder: str = "none") -> memoranda.LongTermMemory:
    # Capture has a measure of its own.
    settings = memoranda.Settings(embedder=embedder, follow=False, capture_mode="off")
    return memoranda.open(path, scope=SCOPE, settings=settings)


def _talk(texts: list[str], *, start: int = 0) -> Iterator[memoranda.Message]:
    """Turns without end, each with an id of the host's own."""
    for number in count(start):
        text = texts[number % len(texts)]
        say = memoranda.assistant if number % 2 else memoranda.user
        yield say(text, id=f"m{number}")


def _working(texts: list[str]) -> Iterator[Line]:
    """The talk of an agent with its tools, without end: a question, a call, its result, an answer."""
    for number in count():
        question, answer = texts[2 * number % len(texts)], texts[(2 * number + 1) % len(texts)]
        call = {"id": f"k{number}", "type": "function", "function": {"name": "read_meter", "arguments": "{}"}}
        yield {"role": "user", "id": f"q{number}", "content": question}
        yield {"role": "assistant", "id": f"c{number}", "content": "", "tool_calls": [call]}
        yield {"role": "tool", "id": f"r{number}", "tool_call_id": f"k{number}", "content": f"{number * 7} kWh"}
        yield {"role": "assistant", "id": f"a{number}", "content": answer}


def _timed(call: Callable[[], Any]) -> int:
    started = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - started


# -- keeping --


def _append(folder: Path, texts: list[str]) -> list[Line]:
    """Messages a second in batches of several sizes, acknowledged one after the other."""
    rows: list[Line] = []
    bare = _Bare(folder / "bare.db")
    with _open(folder / "append.db") as memory:
        talk = _talk(texts)
        for size in BATCHES:
            batches = max(10, min(MOST_BATCHES, 5_000 // size))
            ours: list[int] = []
            theirs: list[int] = []
            for _ in range(batches):
                batch = list(islice(talk, size))
                keep = _appender(memory, batch, conversation=f"batches of {size}")
                ours.append(_timed(keep))
                theirs.append(_timed(lambda: bare.insert(batch)))  # noqa: B023
            rows.append(
                {
                    "batch": size,
                    "ours": size * batches / (sum(ours) / 1e9),
                    "bare": size * batches / (sum(theirs) / 1e9),
                    **summary(ours),
                }
            )
    bare.close()
    return rows


def _appender(memory: memoranda.LongTermMemory, batch: list[Any], *, conversation: str) -> Callable[[], Any]:
    return lambda: memory.conversations.append(batch, conversation=conversation, compact=False)


class _Bare:
    """The floor: id, role and text, in one table, with an fsync at each commit."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.execute("pragma journal_mode = wal; pragma synchronous = full").fetchall()
        self._connection.execute("create table message (id text primary key, role text, text text)")

    def insert(self, batch: list[memoranda.Message]) -> None:
        rows = [(message.id, message.role, message.text) for message in batch]
        with self._connection:
            self._connection.executemany("insert into message values (?, ?, ?)", rows)

    def close(self) -> None:
        self._connection.close()


# -- windows and summaries --


def _lengths(folder: Path, texts: list[str]) -> list[Line]:
    """By the length of a conversation: the first window, summing all of it up, then a window and one more message."""
    rows: list[Line] = []
    with _open(folder / "lengths.db") as memory:
        conversations = memory.conversations
        for name, said in (("talk", _talk), ("tools", _working)):
            for length in LENGTHS:
                called = f"{name} {length}"
                conversations.append(islice(said(texts), length), conversation=called, compact=False)
                before = _windows(memory, called)
                started = time.perf_counter_ns()
                receipt = conversations.compact(called).receipt
                took = time.perf_counter_ns() - started
                more = _talk(texts, start=length)
                one = [_timed(_appender(memory, [next(more)], conversation=called)) for _ in range(WINDOWS)]
                rows.append(
                    {
                        "what": name,
                        "messages": length,
                        "window_ms": before["p50_ms"],
                        "compact_ms": took / 1e6,
                        "folded": receipt.folded,
                        "tokens_before": receipt.tokens_before,
                        "tokens_after": receipt.tokens_after,
                        "window_after_ms": _windows(memory, called)["p50_ms"],
                        "append_after_ms": summary(one)["p50_ms"],
                    }
                )
    return rows


def _windows(memory: memoranda.LongTermMemory, name: str) -> dict[str, float]:
    return summary([_timed(lambda: memory.conversations.window(name)) for _ in range(WINDOWS)])


# -- importing --


def _imports(folder: Path, texts: list[str]) -> list[Line]:
    rows: list[Line] = []
    said = [(message.role, message.text) for message in islice(_talk(texts), IMPORTED)]
    for name, written in (
        ("openai", _openai(said)),
        ("openclaw", _openclaw(said)),
        ("claude_code", _claude_code(said)),
        ("chatgpt", json.dumps(_chatgpt(said))),
    ):
        file = folder / f"transcript-{name}"
        file.write_text(written if isinstance(written, str) else "\n".join(map(json.dumps, written)), encoding="utf-8")
        megabytes = file.stat().st_size / 1e6
        with _open(folder / f"import-{name}.db") as memory:
            first, again = (_imported(memory, file, name) for _ in range(2))
        rows.append(
            {
                "format": name,
                "megabytes": megabytes,
                "messages": first["added"],
                "seconds": first["seconds"],
                "again_seconds": again["seconds"],
                "added_again": again["added"],
            }
        )
    return rows


def _imported(memory: memoranda.LongTermMemory, file: Path, name: Any) -> Line:
    started = time.perf_counter_ns()
    found = memory.conversations.import_transcript(file, format=name)
    return {"seconds": (time.perf_counter_ns() - started) / 1e9, "added": found.added}


def _openai(said: list[Any]) -> list[Line]:
    return [{"role": role, "content": text} for role, text in said]


def _openclaw(said: list[Any]) -> list[Line]:
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-02-07T17:56:15.000Z"}
    lines = [
        {
            "type": "message",
            "id": f"{place:08x}",
            "parentId": f"{place - 1:08x}" if place else None,
            "timestamp": "2026-02-07T17:56:18.000Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for place, (role, text) in enumerate(said)
    ]
    return [head, *lines]


def _claude_code(said: list[Any]) -> list[Line]:
    return [
        {
            "type": role,
            "uuid": f"u{place}",
            "parentUuid": f"u{place - 1}" if place else None,
            "sessionId": "s",
            "timestamp": "2026-03-03T18:27:02.359Z",
            "message": {"role": role, "content": text},
        }
        for place, (role, text) in enumerate(said)
    ]


def _chatgpt(said: list[Any]) -> list[Line]:
    return [_chat(start, said[start : start + IN_ONE]) for start in range(0, len(said), IN_ONE)]


def _chat(start: int, said: list[Any]) -> Line:
    mapping = {
        f"n{place}": {
            "id": f"n{place}",
            "parent": f"n{place - 1}" if place else None,
            "message": {
                "id": f"n{place}",
                "author": {"role": role},
                "create_time": 1_762_383_600.0 + place,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
            },
        }
        for place, (role, text) in enumerate(said)
    }
    return {"title": "A chat", "conversation_id": f"c{start}", "mapping": mapping, "current_node": f"n{len(said) - 1}"}


# -- searching --


def _searches(folder: Path, texts: list[str], sizes: list[int], queries: int) -> list[Line]:
    """The same messages in a store without an embedder and in one with the bundled one, asked in turn."""
    rows: list[Line] = []
    # The beginning of something that was said, so that there is always something to find.
    asked = [" ".join(texts[number * 37 % len(texts)].split()[:8]) for number in range(queries)]
    stores = {name: _open(folder / f"search-{name}.db", name) for name in EMBEDDERS}
    talk, kept = _talk(texts), 0
    try:
        for size in sorted(sizes):
            while kept < size:
                batch = list(islice(talk, min(IN_ONE, size - kept)))
                for memory in stores.values():
                    memory.conversations.append(batch, conversation=f"c{kept}", compact=False)
                kept += len(batch)
            for name, memory in stores.items():
                log(f"conversations: {size:,} messages, embedder {name}")
                started = time.perf_counter_ns()
                memory.admin.maintain()
                followed = (time.perf_counter_ns() - started) / 1e9
                memory.conversations.search(asked[0])
                walls = [_timed(lambda: memory.conversations.search(query)) for query in asked]  # noqa: B023
                one = [_timed(lambda: memory.conversations.search(query, conversation="c0")) for query in asked[:40]]  # noqa: B023
                passages = [len(memory.conversations.search(query)) for query in asked[:40]]
                rows.append(
                    {
                        "embedder": name,
                        "messages": size,
                        "followed_seconds": followed,
                        **summary(walls),
                        "one_conversation_ms": summary(one)["p50_ms"],
                        "passages": sum(passages) / len(passages),
                    }
                )
    finally:
        for memory in stores.values():
            memory.close()
    return rows


def _quality(folder: Path, pack: Path) -> list[Line]:
    """Each session of a dialogue a conversation, each dialogue a scope."""
    if not is_pack(pack):
        return []
    read = read_pack(pack)
    rows: list[Line] = []
    for embedder in EMBEDDERS:
        with _open(folder / f"quality-{embedder}.db", embedder) as memory:
            _keep_dialogues(memory, read)
            memory.admin.maintain()
            rows.append({"embedder": embedder, **_asked(memory, read)})
    return rows


def _keep_dialogues(memory: memoranda.LongTermMemory, pack: Pack) -> None:
    for group, names in pack.groups.items():
        sessions: dict[str, list[memoranda.Message]] = {}
        for name in names:
            document = pack.documents[name]
            said = memoranda.user(document.text, speaker=document.speaker, at=document.time, id=name)
            sessions.setdefault(document.session, []).append(said)
        for session, messages in sessions.items():
            memory.within(f"{SCOPE}/{group}").conversations.append(messages, conversation=session, compact=False)


def _asked(memory: memoranda.LongTermMemory, pack: Pack) -> Line:
    any_hit = any_shown = every_hit = empty = hit = read = 0
    walls: list[int] = []
    for question in pack.questions:
        started = time.perf_counter_ns()
        found = memory.within(f"{SCOPE}/{question.group}").conversations.search(question.text, limit=PASSAGES)
        walls.append(time.perf_counter_ns() - started)
        shown = {message.host_id for passage in found for message in passage.messages}
        hits = {message.host_id for passage in found for message in passage.messages if message.number in passage.hits}
        any_hit += bool(question.gold & hits)
        every_hit += question.gold <= hits
        any_shown += bool(question.gold & shown)
        empty += not found
        hit += len(hits)
        read += len(shown)
    asked = len(pack.questions)
    return {
        "set": pack.name,
        "questions": asked,
        "any_hit": any_hit / asked,
        "every_hit": every_hit / asked,
        "any_shown": any_shown / asked,
        "nothing": empty / asked,
        "hits": hit / asked,
        "messages": read / asked,
        "p50_ms": at(walls, 0.5) / 1e6,
    }
