"""Session files that only grow, one JSON object to a line: OpenClaw's, and Claude Code's.

They are read twice: once for what hangs together with what, once for the messages.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from memoranda.conversations.transcripts.items import Bad, Item, LeftOut, Source, Why, short, spoken
from memoranda.conversations.transcripts.pieces import Record, lines, records
from memoranda.conversations.transcripts.tree import Branches, Link, Tree
from memoranda.domain.message import message_in

_SAID = ("user", "assistant", "tool", "system", "toolResult")
_SUMMARIES = ("compaction", "branch_summary", "compactionSummary", "branchSummary")
_MIRROR = "delivery-mirror"


class Line(NamedTuple):
    """What a line of a host is to us."""

    conversation: str
    message: dict[str, Any] | None = None
    why: Why = "record"
    """Why it is left out, when it has no message."""
    link: Link | None = None
    title: str = ""
    titles: str = ""
    """The id of a line whose conversation has the title, when it is not this one."""


class Host(Protocol):
    """Understands the lines of one file, in their order."""

    def line(self, value: Mapping[str, Any]) -> Line: ...


class OpenClaw:
    """`{"type": "session"}` first, then entries with `id` and `parentId`; version 1 has none. Ids are short."""

    def __init__(self, name: str) -> None:
        self._conversation = name
        self._said = ""

    def line(self, value: Mapping[str, Any]) -> Line:
        kind = value.get("type")
        if kind == "session":
            self._conversation, self._said = short(value.get("id")) or self._conversation, ""
            return Line(self._conversation)
        here = self._conversation
        link = self._link(value)
        if kind == "session_info":
            return Line(here, link=link, title=short(value.get("name")))
        message = message_in(value)
        role = message.get("role") if message is not None else ""
        if kind in _SUMMARIES or role in _SUMMARIES:
            return Line(here, why="summary", link=link)
        if message is None or role not in _SAID:
            return Line(here, why="meta" if kind in ("custom_message", "message") else "record", link=link)
        if isinstance(tool := message.get("toolName"), str):
            message["name"] = tool
        if role == "assistant":
            said = _words(message.get("content"))
            # A copy of what was sent to a channel; often, but not always, of what was just said.
            if message.get("model") == _MIRROR and said == self._said:
                return Line(here, why="repeated", link=link)
            self._said = said
        return Line(here, message, link=link)

    def _link(self, value: Mapping[str, Any]) -> Link | None:
        if not isinstance(name := value.get("id"), str) or not name:
            return None
        parent = value.get("parentId", False)
        # Unique in one session only.
        before = f"{self._conversation}\n{parent}" if isinstance(parent, str) else "" if parent is None else None
        return Link(f"{self._conversation}\n{name}", before, self._conversation)


class ClaudeCode:
    """`{"type": "user"}` or another, with `uuid`, `parentUuid` and `sessionId`; each block of an answer has a line.

    Several calls at once hang in a row, each with its result beside it; the next answer follows one of the results.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def line(self, value: Mapping[str, Any]) -> Line:
        kind = value.get("type")
        here = short(value.get("sessionId")) or self._name
        if kind == "summary":
            return Line(here, why="summary", title=short(value.get("summary")), titles=str(value.get("leafUuid")))
        if kind in ("custom-title", "ai-title"):
            return Line(here, title=short(value.get("customTitle", value.get("aiTitle"))))
        if value.get("isSidechain"):
            return Line(here, why="sidechain")
        boundary = value.get("subtype") == "compact_boundary"
        if boundary or value.get("isCompactSummary"):
            return Line(here, why="summary", link=_link(value, here, goes_on=True))
        message = message_in(value) if kind in ("user", "assistant") else None
        if message is None or value.get("isApiErrorMessage"):
            return Line(here, why="meta" if kind in ("user", "assistant") else "record", link=_link(value, here))
        return Line(here, message, link=_link(value, here, message))


def _link(
    value: Mapping[str, Any], conversation: str, message: Mapping[str, Any] | None = None, *, goes_on: bool = False
) -> Link | None:
    """`goes_on`: the host begins anew after a compaction, but the conversation does not."""
    if not isinstance(name := value.get("uuid"), str) or not name:
        return None
    parent = value.get("parentUuid", False)
    if parent is None and goes_on:
        parent = value.get("logicalParentUuid")
        before = parent if isinstance(parent, str) else None
    else:
        before = parent if isinstance(parent, str) else "" if parent is None else None
    if message is None:
        return Link(name, before, conversation, ends=False)
    inner = value.get("message")
    turn = inner.get("id") if isinstance(inner, Mapping) and message.get("role") == "assistant" else ""
    return Link(
        name,
        before,
        conversation,
        turn=turn if isinstance(turn, str) else "",
        answers=_has_result(message.get("content")),
    )


def _has_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") == "tool_result" for block in content
    )


def _words(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    words = [block.get("text") if isinstance(block, Mapping) else block for block in blocks]
    return "\n".join(each.strip() for each in words if isinstance(each, str))


# -- reading --


class _Plan(NamedTuple):
    """What the first reading found."""

    branches: Branches
    titles: dict[str, str]
    size: int


def read_session(source: Source, *, first: Host, second: Host) -> Iterator[Item]:
    """The messages of the branch that is shown. Each reading has a host of its own, since it remembers where it is."""
    plan = _planned(source, first)
    nth: dict[str, int] = {}
    with source() as stream:
        # What was added since the first reading is left to the next time.
        for found in records(lines(stream, stop=plan.size)):
            if isinstance(found, Bad):
                yield found
                continue
            if not isinstance(found.value, Mapping):
                yield Bad(found.place.number, "an object is expected", found.place.offset)
                continue
            line = second.line(found.value)
            why = _left_out(line, found, plan.branches)
            if why is not None or line.message is None:
                yield LeftOut(why or line.why, 1, *found.place)
                continue
            title = plan.titles.get(line.conversation, "")
            here = nth[line.conversation] = nth.get(line.conversation, 0) + 1
            yield from spoken(line.message, conversation=line.conversation, title=title, nth=here, place=found.place)


def _left_out(line: Line, found: Record, branches: Branches) -> Why | None:
    if line.message is None:
        return line.why
    if found.place.number in branches.repeated:
        return "repeated"
    return "branch" if found.place.number in branches.hidden else None


def _planned(source: Source, host: Host) -> _Plan:
    tree = Tree()
    titles: dict[str, str] = {}
    of_others: dict[str, str] = {}
    size = 0
    with source() as stream:
        for found in records(lines(stream)):
            size = found.offset if isinstance(found, Bad) else found.place.offset
            if isinstance(found, Bad) or not isinstance(found.value, Mapping):
                continue
            line = host.line(found.value)
            if line.link is not None:
                tree.add(found.place.number, line.link)
            if line.title and line.titles:
                of_others[line.titles] = line.title
            elif line.title:
                titles[line.conversation] = line.title
    # Summaries of other files are written here, too. A title that was given to this one goes before.
    named = {tree.conversation_of(name): title for name, title in of_others.items()}
    return _Plan(tree.branches(), {**named, **titles}, size)
