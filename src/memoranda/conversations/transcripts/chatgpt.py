"""ChatGPT's export, `conversations.json`: a list of conversations, each a tree of messages with one that is current."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memoranda.conversations.transcripts.items import Bad, Item, LeftOut, Place, Source, Why, short, spoken
from memoranda.conversations.transcripts.pieces import entries, records

_THINKING = ("thoughts", "reasoning_recap")
_CONTEXTS = ("user_editable_context", "model_editable_context")
_SAID_AS_TEXT = ("text", "result")
_EVERYBODY = "all"


def read_chatgpt(source: Source, *, name: str) -> Iterator[Item]:
    """From the first message of each conversation to its current one."""
    with source() as stream:
        for found in records(entries(stream)):
            if isinstance(found, Bad):
                yield found
            elif not isinstance(found.value, Mapping) or not isinstance(found.value.get("mapping"), Mapping):
                yield Bad(found.place.number, "no conversation", found.place.offset)
            else:
                yield from _conversation(found.value, name=name, place=found.place)


class _Node(NamedTuple):
    id: str
    message: Mapping[str, Any]

    @property
    def role(self) -> str:
        author = self.message.get("author")
        return str(author.get("role")) if isinstance(author, Mapping) else ""

    @property
    def tool(self) -> str:
        """The tool that an assistant speaks to; empty when it speaks to everybody."""
        to = self.message.get("recipient", _EVERYBODY)
        return to if self.role == "assistant" and isinstance(to, str) and to != _EVERYBODY else ""


def _conversation(value: Mapping[str, Any], *, name: str, place: Place) -> Iterator[Item]:
    named = short(value.get("conversation_id")) or short(value.get("id"))
    conversation = named or (name if place.number == 1 else f"{name}#{place.number}")
    path = _path(value["mapping"], value.get("current_node"))
    called = ""
    shown: list[_Node] = []
    for node in path:
        if (why := _left_out(node)) is not None:
            yield LeftOut(why, 1, *place)
        else:
            shown.append(node)
    for nth, node in enumerate(shown, start=1):
        answered = nth < len(shown) and shown[nth].role == "tool"
        given = _given(node, call=node.id if node.tool and answered else "", answers=called)
        called = node.id if node.tool else called if node.role == "tool" else ""
        yield from spoken(given, conversation=conversation, title=short(value.get("title")), nth=nth, place=place)
    said = sum(isinstance(_message_of(node), Mapping) for node in value["mapping"].values())
    if said > len(path):
        yield LeftOut("branch", said - len(path), *place)


def _path(mapping: Mapping[str, Any], current: Any) -> list[_Node]:
    """The messages from the first to the current one. Without a current one, to the last that has none after it."""
    ends = [key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
    name = current if isinstance(current, str) and current in mapping else ends[-1] if ends else None
    path: list[_Node] = []
    seen: set[str] = set()
    while isinstance(name, str) and name not in seen and isinstance(node := mapping.get(name), Mapping):
        seen.add(name)
        if isinstance(message := _message_of(node), Mapping):
            path.append(_Node(name, message))
        name = node.get("parent")
    return path[::-1]


def _message_of(node: Any) -> Any:
    """Nodes without a message only hold the tree together."""
    return node.get("message") if isinstance(node, Mapping) else None


def _left_out(node: _Node) -> Why | None:
    content, metadata = node.message.get("content"), node.message.get("metadata")
    kind = content.get("content_type") if isinstance(content, Mapping) else ""
    if isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation"):
        return "meta"
    return "empty" if kind in _THINKING else "meta" if kind in _CONTEXTS else None


def _given(node: _Node, *, call: str, answers: str) -> dict[str, Any]:
    author = node.message.get("author")
    text = _text(node.message.get("content"))
    given = {
        "role": node.role,
        "content": "" if call else text,
        "name": author.get("name") if isinstance(author, Mapping) else "",
        "timestamp": node.message.get("create_time"),
        "id": node.id,
    }
    if call:
        given["tool_calls"] = [{"id": call, "function": {"name": node.tool, "arguments": text}}]
    if node.role == "tool":
        given["tool_call_id"] = answers
    return given


def _text(content: Any) -> str:
    if not isinstance(content, Mapping):
        return ""
    if isinstance(parts := content.get("parts"), list):
        return "\n\n".join(shown for part in parts if (shown := _part(part)))
    return next((content[key] for key in _SAID_AS_TEXT if isinstance(content.get(key), str)), "")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    if isinstance(text := part.get("text"), str):
        return text
    kind = str(part.get("content_type"))
    return "[image]" if kind.startswith("image") else "[audio]" if "audio" in kind else ""
