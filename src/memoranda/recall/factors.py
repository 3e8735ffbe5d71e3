"""Factors: what makes a memory weigh more or less, whatever was asked. Each is a pure function; 1 changes nothing."""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.memory import Grade, Kind, Memory

# What happened fades; what was decided or preferred, and what somebody is, does not.
FADING: frozenset[Kind] = frozenset({"episode"})
_FADED = 0.7
_GRADES: dict[Grade, float] = {"must_remember": 1.1, "nice_to_have": 1.05, "unknown": 1.0, "ignore": 0.9}
_UNSURE = 0.7
_SPEAKER = 1.12
_UPDATE = 1.08
_OUTDATED = 0.9
_REPEATED = 0.65
_KIND = 1.06
_EXACTNESS = {"identifier": 1.1, "phrase": 1.1, "all terms": 1.04}
# What lacks the identifier that was asked for, beside something that has it.
OTHER_IDENTIFIER = 0.4
UPDATE_TAGS = frozenset({"correction", "clarification", "fact-update", "profile-update", "preference-change"})


class Circumstances(NamedTuple):
    """What the factors depend on besides the memory."""

    now: int
    half_life_days: float = 30.0
    speaker: str = ""
    repeated: Collection[str] = ()
    kinds: Collection[Kind] = ()
    """Kinds that the query asks for by name."""
    exactness: Callable[[str], str] = lambda _: ""
    """How exactly a text has the query: `identifier`, `other identifier`, `phrase`, `all terms`, or not."""


def factors_of(memory: Memory, given: Circumstances) -> dict[str, float]:
    """Every factor that is not 1, by name."""
    named = {
        "recency": recency(memory, given),
        "importance": _GRADES[memory.grade],
        "confidence": _UNSURE + (1 - _UNSURE) * memory.confidence,
        "speaker": _SPEAKER if given.speaker and memory.speaker == given.speaker else 1.0,
        "kind": _KIND if memory.kind in given.kinds else 1.0,
        "update": update(memory),
        "repeat": _REPEATED if memory.id in given.repeated else 1.0,
        "exactness": _EXACTNESS.get(given.exactness(memory.text), 1.0),
    }
    return {name: round(value, 6) for name, value in named.items() if value != 1.0}


def recency(memory: Memory, given: Circumstances) -> float:
    """Halves in a half-life, towards a floor; only for kinds that fade."""
    if memory.kind not in FADING or given.half_life_days <= 0:
        return 1.0
    happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
    days = max(given.now - happened, 0) / DAY_MS
    return _FADED + (1 - _FADED) * math.pow(0.5, days / given.half_life_days)


def update(memory: Memory) -> float:
    """A correction beats what it corrects."""
    if memory.state == "superseded":
        return _OUTDATED
    return _UPDATE if UPDATE_TAGS.intersection(memory.tags) else 1.0
