"""How conversations look to people: who said what and when, what was summed up, and where there was silence.

What somebody said stands behind a bar on every line, so that no text can pretend to be a heading of ours.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memoranda.cli.output import SHORT_ID, Output, clean
from memoranda.domain.clock import iso
from memoranda.domain.conversation import CompactReceipt, Conversation, KeptMessage
from memoranda.domain.moments import span
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda.service.transcript_search import Found

SILENCE_MS = 600_000
_BAR = "  │ "
_LONGEST_ARGUMENTS = 200


class Line(NamedTuple):
    """One line; what a summary stands for is dimmed."""

    text: str
    dim: bool = False


def say(output: Output, lines: Iterable[Line]) -> None:
    """Print lines, dimmed where somebody is looking."""
    if not output.looked_at:
        for line in lines:
            output.line(clean(line.text))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for line in lines:
        console.print(Text(clean(line.text), style="dim" if line.dim else ""), soft_wrap=True)


def heading(conversation: Conversation) -> str:
    """One conversation in a line."""
    put_away = ", archived" if conversation.archived else ""
    counts = (
        f"{so_many(conversation.messages, 'message')}, {conversation.active} active, {conversation.tokens:,} tokens"
    )
    return f"{conversation.name} in {conversation.scope}: {counts}{put_away}"


def compaction_line(receipt: CompactReceipt) -> str:
    """What a compaction did, or why it did nothing."""
    if receipt.later:
        return "older messages are being summed up in the background"
    if not receipt.done:
        return f"nothing was summed up: {receipt.note}"
    folded = so_many(receipt.folded, "message") + (" and the earlier summary" if receipt.earlier else "")
    captured = f", {so_many(receipt.captured, 'memory')} captured" if receipt.captured else ""
    note = f" ({receipt.note})" if receipt.note else ""
    return (
        f"summed up {folded} into {receipt.summary[:SHORT_ID]}: {receipt.tokens_before:,} -> "
        f"{receipt.tokens_after:,} tokens, {receipt.summarizer}{captured}{note}"
    )


def transcript(
    messages: Iterable[KeptMessage], *, gap_ms: int = SILENCE_MS, hits: Sequence[int] = ()
) -> Iterator[Line]:
    """Messages one after the other; `hits` are the numbers of those that were found."""
    before: KeptMessage | None = None
    for message in messages:
        if before is not None and message.kind == before.kind == "message" and message.at - before.at >= gap_ms:
            yield silence(span(message.at - before.at))
        dim = message.status == "compacted"
        yield Line(_head(message, found=message.number in hits), dim)
        yield from (Line(f"{_BAR}{line}", dim) for line in _said(message))
        before = message


def silence(how_long: str = "") -> Line:
    """A pause that ends what belongs together."""
    return Line(f"      ... {f'{how_long} of ' if how_long else ''}silence ...", dim=True)


def _head(message: KeptMessage, *, found: bool) -> str:
    if message.kind == "summary":
        stands = message.metadata.get("messages")
        what = f"summary {message.id[:SHORT_ID]}" + (
            f" of {so_many(stands, 'message')}" if isinstance(stands, int) else ""
        )
    else:
        what = f"{message.role} {message.speaker}".strip()
    status = "" if message.status == "active" else f"  ({message.status})"
    return f"{'>' if found else ' '} #{message.place}  {iso(message.at)}  {what}{status}"


def _said(message: KeptMessage) -> Iterator[str]:
    if message.text:
        yield from message.text.splitlines()
    for call in message.tool_calls:
        arguments = call.arguments
        if len(arguments) > _LONGEST_ARGUMENTS:
            arguments = f"{arguments[:_LONGEST_ARGUMENTS]}..."
        yield f"calls {call.name} {arguments}"


def window_lines(
    messages: Sequence[KeptMessage], *, working: str, tokens: int, dropped: int, truncated: bool
) -> Iterator[Line]:
    """What a model should see now, and what was left out of it."""
    if working:
        yield Line("  working memory")
        yield from (Line(f"{_BAR}{line}") for line in working.splitlines())
    yield from transcript(messages)
    left = f"; {so_many(dropped, 'active message is', 'active messages are')} not shown" if dropped else ""
    cut = "; a text was cut" if truncated else ""
    yield Line(f"{tokens:,} tokens{left}{cut}")


def passages_lines(
    found: "Found", conversation: Callable[[str], Conversation], *, context: int, gap_ms: int
) -> Iterator[Line]:
    """Passages that were found, each with the silence at which it begins or ends."""
    for nth, passage in enumerate(found):
        owner = conversation(passage.conversation)
        more = ", cut" if passage.truncated else ""
        if nth:
            yield Line("")
        yield Line(f"{owner.name} in {owner.scope} (score {passage.score:.2f}{more})")
        hits = [place for place, message in enumerate(passage.messages) if message.number in passage.hits]
        first, last = passage.messages[0], passage.messages[-1]
        # Fewer around a hit than were asked for: there was a pause, or nothing more.
        whole = bool(hits) and not passage.truncated
        if whole and hits[0] < context and first.place > 1:
            yield silence()
        yield from transcript(passage.messages, gap_ms=gap_ms, hits=passage.hits)
        if whole and len(passage.messages) - 1 - hits[-1] < context and last.place < owner.messages:
            yield silence()
