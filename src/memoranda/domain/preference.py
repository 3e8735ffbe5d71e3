"""Preferences: what is preferred, and when. One value for each (scope, category, key, context)."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.contexts import Circumstance, applies, conditions
from memoranda.domain.fact import confidence_at, place, shown
from memoranda.domain.memory import Memory


class Preference(NamedTuple):
    """One preference, with the confidence that it has now."""

    memory: Memory
    confidence: float

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def category(self) -> str:
        return self.memory.about

    @property
    def key(self) -> str:
        return self.memory.attribute

    @property
    def value(self) -> Any:
        """The value as JSON gives it back; the text when it was given none."""
        return self.memory.text if self.memory.value is None else self.memory.value

    @property
    def context(self) -> str:
        return self.memory.context

    @property
    def learned_from(self) -> str:
        """What taught us this; the channel when nobody has said."""
        return self.memory.source_ref or self.memory.source

    def as_json(self) -> dict[str, Any]:
        """The preference for programs, in the words of the view `preferences`."""
        return {
            "id": self.id,
            "category": self.category,
            "key": self.key,
            "value": self.value,
            "context": self.context,
            "confidence": self.confidence,
            "learned_from": self.learned_from,
            "trust": self.memory.trust,
            "created_at": iso(self.memory.created_at),
            "updated_at": iso(self.memory.updated_at),
            "scope": self.memory.scope,
        }


def as_preferences(memories: Iterable[Memory], now: int) -> tuple[Preference, ...]:
    """Preferences with their confidence now: trusted ones first, then the surest, then the newest."""
    found = [Preference(memory, confidence_at(memory, now)) for memory in memories]
    return tuple(sorted(found, key=lambda each: place(each.memory, each.confidence)))


def resolved(preferences: Sequence[Preference], now: Circumstance) -> tuple[Preference, ...]:
    """The one of each category and key that applies now, the surest first.

    More conditions beat fewer, so any beat none; then the nearer scope, the surer, the newer.
    """
    best: dict[tuple[str, str], Preference] = {}
    for each in sorted(preferences, key=_precedence):
        if (each.category, each.key) not in best and applies(each.context, now):
            best[each.category, each.key] = each
    return tuple(sorted(best.values(), key=lambda each: (-each.confidence, each.id)))


def _precedence(preference: Preference) -> tuple[int, int, float, int, str]:
    memory = preference.memory
    # Only scopes of one chain are seen together: the longer path is the nearer scope.
    specific, near = len(conditions(memory.context)), len(memory.scope)
    return -specific, -near, -preference.confidence, -memory.updated_at, memory.id


def sentence(category: str, key: str, value: Any, context: str) -> str:
    """A preference in words, when nobody has put it into words."""
    when = f" ({context.replace('+', ', ').replace('_', ' ')})" if context else ""
    return f"{category}, {key.replace('_', ' ')}: {shown(value)}{when}"
