"""Which messages a summary shall stand for, and how it is written. Nothing is summed up or stored here.

Production taught others four things; each cost somebody a conversation:

1. Single flight: one compaction at a time for each conversation. (Who stores it sees to that.)
2. The earlier summary is folded into the new one. Otherwise they pile up and pin the tokens at the trigger.
3. The summary stands at the start of what it replaces, not at the end of the conversation.
4. The cut is snapped to a turn edge: what stays begins with a user, and no question is folded without its answer.

And: mark exactly the ids that were summarised, never "older than": a message may have come meanwhile.

What stays: system prompts, the last messages, open calls and all after them, and turns with tool calls as long as
they fit their share of the budget. Older ones are folded, as whole exchanges: if all of them stayed, an agent that
lives by its tools could never be compacted. A call that nobody answered for two turns is abandoned, not open, for
the same reason.

Progress: when what stays would set off the next compaction at once, because the recent part is huge, more is folded,
oldest first: turns with tool calls, then the recent part down to its last two turns, then finished exchanges inside
of these. The questions and the newest exchange always stay. Right after a compaction there is nothing to do.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memoranda.conversations.exchanges import exchanges, in_order, turns
from memoranda.domain.clock import iso, to_ms
from memoranda.domain.conversation import Gist, KeptMessage
from memoranda.domain.errors import InvalidInput
from memoranda.domain.tokens import message_tokens

SHARE = 0.7
KEEP = 10
LEAST = 20
TOOLS_SHARE = 0.25
_LAST_TURNS = 2
_SLACK = 0.25
"""The share of the budget between what stays and the trigger: the new summary, and what is said until the next one."""

_SECTIONS = ("Key points discussed:", "Actions taken:", "Open items:")
_HEADER = re.compile(r"\[Conversation Summary - (\S+) to (\S+)\]")
_BREAKS = re.compile("[\0-\x20\x7f-\xa0\u2028\u2029]+")
# Zero-width and bidirectional controls, annotations, tags, lone surrogates. Joiners stay: letters and emoji need them.
_HIDDEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


class Choice(NamedTuple):
    """What is to be summed up. When nothing is, `fold` is empty and `reason` says why."""

    fold: tuple[KeptMessage, ...] = ()
    """Oldest first, without `earlier`. Exactly these, and `earlier`, are stood for by the new summary."""
    earlier: KeptMessage | None = None
    """The active summary, which is folded in."""
    place: int = 0
    """Where the new summary stands."""
    start_at: int = 0
    end_at: int = 0
    reason: str = ""


def due(messages: Sequence[KeptMessage], *, budget: int, share: float | None = SHARE, most: int | None = None) -> str:
    """Why a compaction is due: `tokens` or `messages`; empty when it is not. None switches a trigger off."""
    _check_budget(budget)
    active = _active(messages)
    if share is not None and _tokens(active) >= share * budget:
        return "tokens"
    return "messages" if most is not None and len(_body(active)) > most else ""


def choose(
    messages: Sequence[KeptMessage],
    *,
    budget: int,
    keep: int = KEEP,
    least: int = LEAST,
    tools_share: float = TOOLS_SHARE,
    share: float | None = SHARE,
    most: int | None = None,
    asked: bool = False,
) -> Choice:
    """What a summary shall stand for now. `share` and `most` are those of the triggers: what stays is far below both.

    Fewer than `least` messages are left alone, unless it is asked for or their tokens set off the trigger.
    """
    _check_budget(budget)
    if keep < 1:
        raise InvalidInput(f"keep: at least 1 is expected, not {keep}", hint="10 to 20 messages are usual.")
    active = _active(messages)
    body = _body(active)
    if not asked and len(body) < least and (share is None or _tokens(active) < share * budget):
        return Choice(reason=f"fewer than {least} messages")

    parts = _Parts(body, keep)
    stays = parts.staying(tools_share * budget, most=len(body) if most is None else int(tools_share * most))
    if share is not None:
        prompts = _tokens(each for each in active if each.role == "system" and each.kind == "message")
        parts.thin_out(stays, most=(share - _SLACK) * budget - prompts)

    summaries = sorted((each for each in active if each.kind == "summary"), key=lambda each: each.number)
    fold = in_order([*summaries[:-1], *(message for message in body if message.number not in stays)])
    if not fold:
        return Choice(reason=f"only the last {keep} messages, open calls and recent tool calls are left")
    earlier = summaries[-1] if summaries else None
    every = [*fold, earlier] if earlier else fold
    spans = [_span(message) for message in every]
    return Choice(
        fold=fold,
        earlier=earlier,
        place=min(message.place for message in every),
        start_at=min(start for start, _ in spans),
        end_at=max(end for _, end in spans),
    )


class _Parts:
    """A conversation cut at a turn edge: the recent turns, and the older ones."""

    def __init__(self, body: tuple[KeptMessage, ...], keep: int) -> None:
        self._body = body
        self._turns = turns(exchanges(body))
        where = {message.number: place for place, message in enumerate(body)}
        self._starts = [where[turn.exchanges[0].messages[0].number] for turn in self._turns]
        self._last = max(0, len(self._turns) - _LAST_TURNS)
        opened = [place for place in range(self._last, len(self._turns)) if self._turns[place].open]
        self._edge = min([self._edge_before(len(body) - keep), *opened])

    def _edge_before(self, most: int) -> int:
        """The newest turn that begins there or before, if possible one that follows an answer.

        Where many talk and seldom anybody answers, an answer is not looked for further than as many messages as are
        kept: otherwise nothing would ever be folded.
        """
        edges = [place for place, start in enumerate(self._starts) if start <= most]
        newest = edges[-1] if edges else 0
        furthest = self._starts[newest] - (len(self._body) - most) if edges else 0
        for place in reversed(edges):
            start = self._starts[place]
            if start < furthest:
                break
            if start == 0 or self._body[start - 1].role != "user":
                return place
        return newest

    def staying(self, tools: float, *, most: int) -> dict[int, KeptMessage]:
        """By number: the recent part, whatever belongs to it, and turns with tool calls in so many tokens, at most so
        many messages."""
        start = self._starts[self._edge] if self._starts else 0
        recent = {message.number: message for message in self._body[start:]}
        stays = dict(recent)
        for turn in self._turns[: self._edge]:
            late = [each for each in turn.exchanges if any(message.number in recent for message in each.messages)]
            question = turn.exchanges[:1] if late else ()
            stays.update((message.number, message) for each in (*question, *late) for message in each.messages)
        for turn in reversed(self._turns[: self._edge]):
            if not any(each.calls and not each.open for each in turn.exchanges):
                continue
            older = [message for message in turn.messages if message.number not in recent]
            tools, most = tools - _tokens(older), most - len(older)
            if tools < 0 or most < 0:
                break
            stays.update((message.number, message) for message in turn.messages)
        return stays

    def thin_out(self, stays: dict[int, KeptMessage], *, most: float) -> None:
        """Takes more out of what stays while it is too much: turns before the last two, then exchanges inside of them.

        Either is brought well below the bound: otherwise the next message would be too much again.
        """
        tokens = _tokens(stays.values())
        for steps in (self._older_turns(), self._finished()):
            if tokens <= most:
                return
            for step in steps:
                if tokens <= most / 2:
                    return
                tokens -= _tokens(stays.pop(message.number) for message in step if message.number in stays)

    def _older_turns(self) -> Iterator[tuple[KeptMessage, ...]]:
        return (turn.messages for turn in self._turns[: self._last])

    def _finished(self) -> Iterator[tuple[KeptMessage, ...]]:
        """The exchanges of the last turns before the newest or an open one, without the questions."""
        every = [exchange for turn in self._turns[self._last :] for exchange in turn.exchanges]
        for exchange in every[:-1]:
            if exchange.open:
                return
            if not exchange.asked:
                yield exchange.messages


def _active(messages: Iterable[KeptMessage]) -> tuple[KeptMessage, ...]:
    return in_order(message for message in messages if message.status == "active")


def _body(active: Iterable[KeptMessage]) -> tuple[KeptMessage, ...]:
    return tuple(message for message in active if message.kind == "message" and message.role != "system")


def _tokens(messages: Iterable[KeptMessage]) -> int:
    return sum(message.tokens if message.tokens > 0 else message_tokens(message) for message in messages)


def _check_budget(budget: int) -> None:
    if budget < 1:
        raise InvalidInput(f"budget: tokens are expected, not {budget!r}", hint="32000 are usual.")


def _span(message: KeptMessage) -> tuple[int, int]:
    """From when to when it tells: a summary says it in its first line."""
    header = _HEADER.match(message.text) if message.kind == "summary" else None
    try:
        return (to_ms(header[1], name="start"), to_ms(header[2], name="end")) if header else (message.at, message.at)
    except InvalidInput:
        return message.at, message.at


# -- how a summary is written --


def rendered(gist: Gist, *, start_at: int, end_at: int) -> str:
    """A summary as it is kept and shown. Each statement is one line, so that none can imitate a heading."""
    blocks = [f"[Conversation Summary - {iso(start_at)} to {iso(end_at)}]"]
    for heading, lines in zip(_SECTIONS, gist, strict=True):
        cleaned = [line for line in map(one_line, lines) if line]
        if cleaned:
            blocks.append("\n".join([heading, *(f"- {line}" for line in cleaned)]))
    return "\n\n".join(blocks)


def parsed(text: str) -> Gist:
    """What a rendered summary says. Lines of a text that was not rendered here are taken for points."""
    sections: dict[str, list[str]] = {heading: [] for heading in _SECTIONS}
    current = sections[_SECTIONS[0]]
    for place, line in enumerate(text.split("\n")):
        if line in sections:
            current = sections[line]
        elif not (place == 0 and _HEADER.match(line)) and (said := one_line(line.removeprefix("- "))):
            current.append(said)
    return Gist(*(tuple(lines) for lines in sections.values()))


def one_line(text: str) -> str:
    """A statement without line ends, control characters and what does not show."""
    return _BREAKS.sub(" ", _HIDDEN.sub("", text)).strip()
