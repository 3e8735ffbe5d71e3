"""The daily budget of a model: numbers and arithmetic. Who keeps the counts of a day is the service.

A call is paid for in advance with the most that it can cost, and settled when its real cost is known. A call
that failed is not paid back: nobody knows what the service counted.
"""

from typing import NamedTuple

# Said around each request by the service itself: roles, separators, the beginning of the answer.
_AROUND = 64


class Spent(NamedTuple):
    """Calls and tokens: of a day, or to be added to those of a day."""

    calls: int = 0
    tokens: int = 0


class Budget(NamedTuple):
    """The limits of a day. A limit of 0 is the switch that turns the model off."""

    calls: int
    tokens: int

    @property
    def off(self) -> bool:
        return self.calls <= 0 or self.tokens <= 0

    def allows(self, spent: Spent, *, tokens: int) -> bool:
        """Whether a call that may cost so much still fits into the day."""
        return not self.off and spent.calls < self.calls and spent.tokens + max(0, tokens) <= self.tokens


def reservation(tokens: int) -> Spent:
    """What is added to the counts before a call that may cost so much."""
    return Spent(1, max(0, tokens))


def settlement(reserved: Spent, real: Spent) -> Spent:
    """What is added after it, so that the real cost stands in the place of what was put aside. Often negative."""
    return Spent(real.calls - reserved.calls, real.tokens - reserved.tokens)


def most_tokens(*sent: str, answer: int) -> int:
    """The most tokens that a request can cost. No tokenizer makes more than one token of a byte."""
    return sum(len(text.encode("utf-8", "replace")) for text in sent) + answer + _AROUND
