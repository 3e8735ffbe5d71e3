"""`Message`: one turn of a conversation as a host hands it over. Kept only when it is appended to a conversation.

`messages_from` gives one message for each that was given; `spread` gives them as a conversation keeps them, with every
result of a tool as a message of its own; `message_in` finds the message in a line of a host's transcript.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

from memoranda.domain.clock import Moment, iso, to_ms
from memoranda.domain.errors import InvalidInput

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)
_ROLE_NAMES: dict[str, Role] = {
    **{role: role for role in ROLES},
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "toolresult": "tool",
    "tool_result": "tool",
}
MOST_CALLS = 256
MOST_ARGUMENTS = 1_000_000
CUT = "… [cut]"
_LONGEST_NAME = 512
# Milliseconds of 1970 and seconds of the year 5138 look alike; nobody talks in either.
_SECONDS = 100_000_000_000
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_CALL_BLOCKS = frozenset({"tool_use", "toolCall", "tool_call"})
_RESULT_BLOCK = "tool_result"
_MARKS = {
    **dict.fromkeys(("image", "image_url", "input_image"), "[image]"),
    **dict.fromkeys(("audio", "input_audio"), "[audio]"),
    **dict.fromkeys(("document", "file", "input_file"), "[file]"),
}
_SAYING = ("content", "text", "tool_calls", "function_call")
_ENVELOPES = ("user", "assistant", "message")
# Written by the host in the name of the user: notes of its own, other agents, summaries.
_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isVirtual", "textNotTyped")


class ToolCall(NamedTuple):
    """A tool that an assistant wanted to use. The message that answers it has its id as `tool_call_id`."""

    id: str
    name: str
    arguments: str = "{}"
    """JSON, as the model wrote it: it may not even be valid."""

    def as_json(self) -> dict[str, Any]:
        """In the form of OpenAI's messages, which most hosts take."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


class Message(NamedTuple):
    """Who spoke, and what. `id` is the host's own name for it, if it has one."""

    role: Role
    text: str
    speaker: str = ""
    at: int | None = None
    id: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    """Which call of an earlier message this is the result of."""

    def as_json(self) -> dict[str, Any]:
        """In the form that `messages_from` reads back. What is empty is left out."""
        shown = {
            "speaker": self.speaker,
            "at": None if self.at is None else iso(self.at),
            "id": self.id,
            "tool_calls": [call.as_json() for call in self.tool_calls],
            "tool_call_id": self.tool_call_id,
        }
        return {"role": self.role, "content": self.text, **{key: value for key, value in shown.items() if value}}


def user(text: str, *, speaker: str = "", at: Moment | None = None, id: str = "") -> Message:  # noqa: A002
    """What a person said."""
    return _message("user", text, speaker, at, id)


def assistant(text: str, *, speaker: str = "", at: Moment | None = None, id: str = "") -> Message:  # noqa: A002
    """What the agent answered."""
    return _message("assistant", text, speaker, at, id)


def messages_from(given: Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages as hosts have them: ours, or `{"role", "content"}` with a text or a list of blocks.

    One for each, in their order. Results of tools that stand inside a message of the user are no words of theirs.
    """
    return tuple(_read(place, each) for place, each in enumerate(_several(given)))


def spread(given: Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages as a conversation keeps them; from one that is given come none, one or several.

    Every result of a tool is a message of its own, before the words beside it. Thinking is left out, an image is
    `[image]`, and a message in which nothing remains is no message. Of several with one id, the second is `id#2`.
    A role or a time that cannot be read is refused: as a system's words, or as said now, it would tell something else.
    """
    return tuple(part for place, each in enumerate(_several(given)) for part in _parts(place, each))


# -- lines of transcripts --


def is_message(found: Mapping[str, Any]) -> bool:
    """Whether an object is one message."""
    return isinstance(found.get("role"), str) and any(key in found for key in _SAYING)


def message_in(line: Any) -> dict[str, Any] | None:
    """The message in a line of a transcript: the line itself, or what its envelope holds; None when nobody said it."""
    if not isinstance(line, Mapping):
        return None
    if is_message(line):
        return dict(line)
    inner = line.get("message")
    if line.get("type") not in _ENVELOPES or not isinstance(inner, Mapping) or not isinstance(inner.get("role"), str):
        return None
    if any(line.get(flag) for flag in _NOT_SAID) or (inner["role"] == "user" and not _is_by_a_person(line)):
        return None
    # The inner id is that of a request: several lines may share it.
    name = line.get("uuid", line.get("id"))
    at = line.get("timestamp", inner.get("timestamp"))
    return {**inner, "id": name if isinstance(name, str) else "", "timestamp": at}


def _is_by_a_person(line: Mapping[str, Any]) -> bool:
    """Whether a host says of a prompt nothing else: what its agents and tasks report comes in the user's name, too."""
    origin = line.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return kind in (None, "human") and line.get("promptSource") != "system"


# -- one message --


def _several(given: Any) -> Iterable[Any]:
    if isinstance(given, str | Mapping | Message) or not isinstance(given, Iterable):
        raise InvalidInput("a list of messages is expected", hint='Pass [{"role": "user", "content": "..."}].')
    return given


def _read(place: int, given: Any, *, strict: bool = False) -> Message:
    """One message. What is kept word for word is read strictly; what is only looked at, as far as it goes: there, one
    odd message must not stop a conversation, and a role that nobody knows has no say."""
    if isinstance(given, Message):
        calls, answers = _checked_calls(given.tool_calls), _name(given.tool_call_id)
        return _message(given.role, given.text, given.speaker, given.at, given.id, calls, answers)
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"message {place}: an object is expected, not {type(given).__name__}",
            hint='A message is {"role": "user", "content": "..."}.',
        )
    if "role" not in given:
        raise InvalidInput(f"message {place} has no role", hint=f"Use one of: {', '.join(ROLES)}.")
    name = str(given["role"]).casefold().strip()
    at = given.get("at", given.get("timestamp"))
    if strict and name not in _ROLE_NAMES:
        raise InvalidInput(f"message {place}: {name[:40]!r} is no role", hint=f"Use one of: {', '.join(ROLES)}.")
    if strict and at is not None and _moment(at) is None:
        raise InvalidInput(
            f"message {place}: {str(at)[:40]!r} is no time", hint="Write it as 2026-03-01T12:00:00Z, or leave it out."
        )
    role = _ROLE_NAMES.get(name, "system")
    content = _content_of(given)
    return _message(
        role,
        _content(content),
        str(given.get("speaker", given.get("name", "")) or ""),
        _moment(at),
        given.get("id", "") or "",
        tuple(_calls(given, content)[:MOST_CALLS]) if role == "assistant" else (),
        _answered(given, legacy=name == "function") if role == "tool" else "",
    )


def _parts(place: int, given: Any) -> list[Message]:
    whole = _read(place, given, strict=True)
    parts = [whole]
    if not isinstance(given, Message):
        content = _content_of(given)
        if _is_list(content):
            parts = [_result(block, whole) for block in content if _type(block) == _RESULT_BLOCK]
            parts.append(whole._replace(text=_clean(_shown(content))))
        if len(whole.tool_calls) == MOST_CALLS and (more := len(_calls(given, content)) - MOST_CALLS):
            parts[-1] = parts[-1]._replace(text=f"{parts[-1].text}\n\n[{more} more calls were cut]".strip())
    kept = [part for part in parts if part.text.strip() or part.tool_calls or part.tool_call_id]
    return [
        part._replace(id=f"{part.id[: _LONGEST_NAME - 8]}#{number}") if part.id and number > 1 else part
        for number, part in enumerate(kept, start=1)
    ]


def _result(block: Mapping[str, Any], whole: Message) -> Message:
    content = block.get("content")
    text = _shown(content) if _is_list(content) else _as_text(content)
    return Message("tool", _clean(text), "", whole.at, whole.id, (), _name(block.get("tool_use_id")))


def _moment(at: Any) -> int | None:
    """When it was said, as far as that can be read: a number of seconds or milliseconds, or a date."""
    if isinstance(at, float) or (isinstance(at, int) and not isinstance(at, bool) and 0 < at < _SECONDS):
        at = round(at * 1000) if 0 < at < _SECONDS else None
    try:
        return None if at is None else to_ms(at, name="at")
    except InvalidInput:
        return None


# -- contents --


def _content_of(given: Mapping[str, Any]) -> Any:
    return given.get("content", given.get("text", ""))


def _content(content: Any) -> str:
    """The words of a content: blocks that are not text are no words of anybody's."""
    if _is_list(content):
        blocks = [block for block in content if isinstance(block, str) or _is_text_block(block)]
        return "\n\n".join(block if isinstance(block, str) else block["text"] for block in blocks)
    return "" if content is None else content


def _shown(content: Sequence[Any]) -> str:
    """The words of blocks, with a mark where something stood that is not text but was shown."""
    shown: list[str] = []
    for block in content:
        if isinstance(block, str):
            shown.append(block)
        elif _is_text_block(block):
            shown.append(block["text"])
        elif mark := _MARKS.get(_type(block)):
            shown.append(mark)
    return "\n\n".join(shown)


def _is_text_block(block: Any) -> bool:
    return _type(block, unsaid="text") in _TEXT_BLOCKS and isinstance(block.get("text"), str)


def _type(block: Any, *, unsaid: str = "") -> str:
    """What a block says that it is; nothing for what is no block."""
    return str(block.get("type", unsaid)) if isinstance(block, Mapping) else ""


def _is_list(content: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(content, Sequence) and not isinstance(content, str)


# -- calls of tools --


def _calls(given: Mapping[str, Any], content: Any) -> list[ToolCall]:
    """OpenAI's `tool_calls`, its older `function_call`, and blocks of the content. Some hosts give a call twice."""
    listed = given.get("tool_calls")
    found = list(listed) if _is_list(listed) else []
    if _is_list(content):
        found += [block for block in content if _type(block) in _CALL_BLOCKS]
    if isinstance(old := given.get("function_call"), Mapping):
        found.append({"id": old.get("name"), "function": old})  # it has no id: its result is found by the name
    calls: dict[tuple[str, int], ToolCall] = {}
    for place, each in enumerate(found):
        if (call := _call(each)) is not None:
            calls.setdefault((call.id, 0 if call.id else place), call)
    return list(calls.values())


def _call(given: Any) -> ToolCall | None:
    if not isinstance(given, Mapping):
        return None
    inner = next((given[key] for key in ("function", "custom") if isinstance(given.get(key), Mapping)), given)
    name = _name(inner.get("name"))
    if not name:
        return None
    arguments: Any = next((inner[key] for key in ("arguments", "input", "args") if inner.get(key) is not None), {})
    return ToolCall(_name(given.get("id", given.get("call_id"))), name, _cut(_clean(_as_text(arguments))))


def _answered(given: Mapping[str, Any], *, legacy: bool) -> str:
    """Which call a message of a tool answers."""
    return _name(given.get("tool_call_id") or given.get("toolCallId") or (given.get("name") if legacy else ""))


def _checked_calls(calls: Any) -> tuple[ToolCall, ...]:
    if not isinstance(calls, tuple) or not all(isinstance(call, ToolCall) for call in calls):
        raise InvalidInput("the calls of a message are a tuple of ToolCall", hint="Pass ToolCall(id, name, arguments).")
    return tuple(_calls({"tool_calls": [call.as_json() for call in calls]}, "")[:MOST_CALLS])


def _as_text(value: Any) -> str:
    """A text as it is; anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "[unreadable]"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_ARGUMENTS else text[:MOST_ARGUMENTS] + CUT


def _name(value: Any) -> str:
    return _clean(value)[:_LONGEST_NAME] if isinstance(value, str) else ""


def _message(
    role: Role,
    text: Any,
    speaker: Any,
    at: Any,
    name: Any,
    calls: tuple[ToolCall, ...] = (),
    answers: str = "",
) -> Message:
    """A message whose parts are what they should be. Bad characters are replaced: a host cannot unsay them."""
    if role not in ROLES:
        raise InvalidInput(f"{str(role)[:40]!r} is no role", hint=f"Use one of: {', '.join(ROLES)}.")
    if not isinstance(text, str) or not isinstance(speaker, str):
        raise InvalidInput("the content and the speaker of a message are text", hint="Pass strings.")
    return Message(
        role,
        _clean(text),
        _clean(speaker).strip()[:_LONGEST_NAME],
        None if at is None else to_ms(at, name="at"),
        _clean(str(name))[:_LONGEST_NAME],
        calls,
        answers,
    )


def _clean(text: str) -> str:
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
