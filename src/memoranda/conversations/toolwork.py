"""What an assistant did with its tools, one line for a call: its name, the arguments that matter, and a short result.

Longer results are not quoted: they are the tool's words and nobody's in the conversation.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memoranda.conversations.sentences import plain_line
from memoranda.domain.message import Message, ToolCall

_MOST_ARGUMENTS = 5
_LONGEST_VALUE = 60
_LONGEST_RESULT = 80
_LONGEST_JSON = 20_000
_OF_NO_NEWS = frozenset({"ok", "success", "true", "done", "null", "none", "{}", "[]", '""', '{"ok": true}'})
_FAILURE = re.compile(r"\b(?:error|exception|failed|failure|denied|refused|not found|timed? ?out|traceback)\b", re.I)
_LOOKING = re.compile(
    r"(?:^|[._-])(?:get|list|read|search|find|fetch|query|view|show|grep|glob|ls|cat|status)(?:[._-]|$)", re.I
)


class Deed(NamedTuple):
    """One call of a tool, as a line."""

    text: str
    source: int
    failed: bool
    looking: bool
    """Whether it changed nothing, by its name."""


def deeds(messages: Sequence[Message]) -> Iterator[Deed]:
    """The calls of these messages, with what came of them."""
    waiting: dict[str, list[tuple[int, ToolCall]]] = {}
    answered: dict[tuple[int, int], str] = {}
    calls: list[tuple[int, int, ToolCall]] = []
    for source, message in enumerate(messages):
        for number, call in enumerate(message.tool_calls):
            waiting.setdefault(call.id, []).append((len(calls), call))
            calls.append((source, number, call))
        if message.role == "tool" and waiting.get(message.tool_call_id):
            # An id that is used again belongs to the nearest call before its result.
            place, _ = waiting[message.tool_call_id].pop()
            answered[calls[place][:2]] = message.text
    for source, number, call in calls:
        result = answered.get((source, number), "")
        failed = _FAILURE.search(result[:400]) is not None
        yield Deed(
            f"{plain_line(call.name)[:80]}({_arguments(call.arguments)}){_outcome(result, failed)}",
            source,
            failed,
            _LOOKING.search(call.name) is not None,
        )


def _outcome(result: str, failed: bool) -> str:
    line = plain_line(result[: 4 * _LONGEST_RESULT])
    if not line or line.casefold().rstrip(".!") in _OF_NO_NEWS:
        return ""
    if len(line) <= _LONGEST_RESULT:
        return f" → {line}"
    return f" → {_cut(line, _LONGEST_RESULT)}" if failed else ""


def _arguments(written: str) -> str:
    try:
        given = json.loads(written) if len(written) <= _LONGEST_JSON else None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        line = plain_line(written[: 4 * _LONGEST_VALUE])
        return "" if line == "{}" else _cut(line, _LONGEST_VALUE)
    # Short values are ids, numbers and switches; a long one is a text that the tool was given.
    said = [(name, _value(value)) for name, value in given.items() if value not in (None, "", [], {})]
    chosen = sorted(range(len(said)), key=lambda place: (len(said[place][1]) > _LONGEST_VALUE // 2, place))
    kept = sorted(chosen[:_MOST_ARGUMENTS])
    return ", ".join(f"{plain_line(str(said[place][0]))[:40]}={said[place][1]}" for place in kept)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(plain_line(text[: 4 * _LONGEST_VALUE]), _LONGEST_VALUE)


def _cut(line: str, most: int) -> str:
    """Between words where there are some: half a number would be another one."""
    if len(line) <= most:
        return line
    return line[: max(line.rfind(" ", 0, most), line.rfind(",", 0, most), 0)].rstrip(" ,") + "…"
