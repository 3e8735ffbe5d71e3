"""`Message`: one turn of a conversation as a host hands it over. Kept only when it is appended to a conversation."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.clock import Moment, to_ms
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
# Milliseconds of 1970 and seconds of the year 5138 look alike; nobody talks in either.
_SECONDS = 100_000_000_000
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})


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


def user(text: str, *, speaker: str = "", at: Moment | None = None, id: str = "") -> Message:  # noqa: A002
    """What a person said."""
    return _message("user", text, speaker, at, id)


def assistant(text: str, *, speaker: str = "", at: Moment | None = None, id: str = "") -> Message:  # noqa: A002
    """What the agent answered."""
    return _message("assistant", text, speaker, at, id)


def messages_from(given: Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages as hosts have them: ours, or `{"role", "content"}` with a text or a list of blocks."""
    if isinstance(given, str | Mapping | Message) or not isinstance(given, Iterable):
        raise InvalidInput("a list of messages is expected", hint='Pass [{"role": "user", "content": "..."}].')
    return tuple(_read(place, each) for place, each in enumerate(given))


def _read(place: int, given: Any) -> Message:
    if isinstance(given, Message):
        return _message(given.role, given.text, given.speaker, given.at, given.id)
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"message {place}: an object is expected, not {type(given).__name__}",
            hint='A message is {"role": "user", "content": "..."}.',
        )
    if "role" not in given:
        raise InvalidInput(f"message {place} has no role", hint=f"Use one of: {', '.join(ROLES)}.")
    # A host has roles of its own, and its own idea of a time: one odd message must not stop a conversation.
    role = _ROLE_NAMES.get(str(given["role"]).casefold(), "system")
    text = _content(given.get("content", given.get("text", "")))
    return _message(
        role,
        text,
        str(given.get("speaker", given.get("name", "")) or ""),
        _moment(given.get("at", given.get("timestamp"))),
        given.get("id", "") or "",
    )


def _moment(at: Any) -> int | None:
    """When it was said, as far as that can be read: a number of seconds or milliseconds, or a date."""
    if isinstance(at, float) or (isinstance(at, int) and not isinstance(at, bool) and 0 < at < _SECONDS):
        at = round(at * 1000) if 0 < at < _SECONDS else None
    try:
        return None if at is None else to_ms(at, name="at")
    except InvalidInput:
        return None


def _content(content: Any) -> str:
    """The words of a content: blocks that are not text are no words of anybody's."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        blocks = [block for block in content if isinstance(block, str) or _is_text_block(block)]
        return "\n\n".join(block if isinstance(block, str) else block["text"] for block in blocks)
    return "" if content is None else content


def _is_text_block(block: Any) -> bool:
    if not isinstance(block, Mapping) or block.get("type", "text") not in _TEXT_BLOCKS:
        return False
    return isinstance(block.get("text"), str)


def _message(role: Role, text: Any, speaker: Any, at: Any, name: Any) -> Message:
    """A message whose parts are what they should be. Bad characters are replaced: a host cannot unsay them."""
    if role not in ROLES:
        raise InvalidInput(f"{str(role)[:40]!r} is no role", hint=f"Use one of: {', '.join(ROLES)}.")
    if not isinstance(text, str) or not isinstance(speaker, str):
        raise InvalidInput("the content and the speaker of a message are text", hint="Pass strings.")
    return Message(
        role,
        _clean(text),
        _clean(speaker).strip()[:512],
        None if at is None else to_ms(at, name="at"),
        _clean(str(name))[:512],
    )


def _clean(text: str) -> str:
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
