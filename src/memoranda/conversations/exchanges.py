"""What may never be torn apart: a tool call with its results, and a turn that begins with a person's words.

An exchange is an assistant's message with all results of its calls, wherever they stand, or any other message alone.
A turn is a user's message with all exchanges that begin before the next one. Nothing is chosen or left out here.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memoranda.domain.conversation import KeptMessage


class Exchange(NamedTuple):
    """Messages that are shown together or not at all, in the order of the conversation."""

    messages: tuple[KeptMessage, ...]
    unanswered: frozenset[str] = frozenset()
    """Ids of calls that have no result."""

    @property
    def open(self) -> bool:
        return bool(self.unanswered)

    @property
    def calls(self) -> bool:
        """Whether a tool was called in it."""
        return any(message.tool_calls for message in self.messages)

    @property
    def orphan(self) -> bool:
        """Whether it is a result whose call is not there: no model takes one."""
        return self.messages[0].role == "tool"

    @property
    def asked(self) -> bool:
        """Whether it is what a person said."""
        return self.messages[0].role == "user"


class Turn(NamedTuple):
    """A user's message and what follows it. Only the first of a conversation may begin with something else."""

    exchanges: tuple[Exchange, ...]

    @property
    def messages(self) -> tuple[KeptMessage, ...]:
        """In the order of the conversation, late results included."""
        return in_order(message for exchange in self.exchanges for message in exchange.messages)

    @property
    def asked(self) -> bool:
        return self.exchanges[0].asked

    @property
    def calls(self) -> bool:
        return any(exchange.calls for exchange in self.exchanges)

    @property
    def open(self) -> bool:
        return any(exchange.open for exchange in self.exchanges)


def order(message: KeptMessage) -> tuple[int, int]:
    """By what messages of one conversation are sorted."""
    return message.place, message.number


def in_order(messages: Iterable[KeptMessage]) -> tuple[KeptMessage, ...]:
    return tuple(sorted(messages, key=order))


def exchanges(messages: Sequence[KeptMessage]) -> tuple[Exchange, ...]:
    """The messages in their order, results put to their calls. One with the id of several calls is of the nearest."""
    groups: list[list[KeptMessage]] = []
    unanswered: list[set[str]] = []
    callers: dict[str, int] = {}
    for message in messages:
        place = callers.get(message.tool_call_id) if message.role == "tool" else None
        if place is None:
            place = len(groups)
            groups.append([])
            unanswered.append(set())
        else:
            unanswered[place].discard(message.tool_call_id)
        groups[place].append(message)
        for call in message.tool_calls:
            callers[call.id] = place
            unanswered[place].add(call.id)
    return tuple(Exchange(tuple(group), frozenset(calls)) for group, calls in zip(groups, unanswered, strict=True))


def turns(given: Iterable[Exchange]) -> tuple[Turn, ...]:
    """Exchanges by who asked for them: each user's message begins a turn."""
    groups: list[list[Exchange]] = []
    for exchange in given:
        if exchange.asked or not groups:
            groups.append([])
        groups[-1].append(exchange)
    return tuple(Turn(tuple(group)) for group in groups)
