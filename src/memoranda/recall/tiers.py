"""Tiers: which of the memories that bear on a query may come back, by grade, by trust and by source."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.domain.memory import Grade
from memoranda.domain.request import Mode
from memoranda.domain.results import Hit

# Asked for: from what was marked as worth it, down to what was marked as not, only as far as needed.
LADDER: tuple[tuple[str, frozenset[Grade]], ...] = (
    ("must+nice", frozenset({"must_remember", "nice_to_have"})),
    ("must+nice+unknown", frozenset({"must_remember", "nice_to_have", "unknown"})),
    ("must+nice+unknown+ignore", frozenset({"must_remember", "nice_to_have", "unknown", "ignore"})),
)
# A step down is also taken for something that is this much more relevant than the last one above.
_CLEARLY = 0.1
# Not asked for: a mix, so that what must be remembered does not crowd out the rest.
MUST_MOST, NICE_LEAST, UNKNOWN_MOST = 2, 2, 1
PER_SOURCE = 3

Fates = dict[str, str]


class Admitted(NamedTuple):
    """What may come back, best first; the tier that was reached; and why the others may not, by id."""

    hits: list[Hit]
    tier: str
    fates: Fates


def admitted(hits: Sequence[Hit], *, mode: Mode, limit: int, trust_named: bool) -> Admitted:
    """Trust first, then sources, then grades."""
    fates: Fates = {}
    allowed = list(hits) if trust_named else _trusted(hits, mode, fates)
    allowed = _spread(allowed, fates)
    if mode == "automatic":
        return Admitted(_mixed(allowed, limit, fates), "quota", fates)
    return _stepped(allowed, limit, fates)


def admissible(hits: Sequence[Hit], mode: Mode, *, trust_named: bool) -> int:
    """How many of these trust, sources and grades would let pass, if what is trusted is preferred."""
    trusted = [hit for hit in hits if trust_named or hit.memory.trust == "trusted"]
    return sum(mode == "asked" or hit.memory.grade != "ignore" for hit in _spread(trusted, {}))


def _trusted(hits: Sequence[Hit], mode: Mode, fates: Fates) -> list[Hit]:
    """What is not trusted speaks only when nothing trusted does, and never by itself."""
    trusted = [hit for hit in hits if hit.memory.trust == "trusted"]
    if not trusted and mode == "asked":
        return list(hits)
    reason = "untrusted, and nobody asked" if mode == "automatic" else "untrusted, and something trusted answers"
    fates.update((hit.id, reason) for hit in hits if hit.memory.trust != "trusted")
    return trusted


def _spread(hits: Sequence[Hit], fates: Fates) -> list[Hit]:
    """At most a few from one source."""
    taken: Counter[str] = Counter()
    kept = []
    for hit in hits:
        source = hit.memory.source_ref
        taken[source] += 1
        if source and taken[source] > PER_SOURCE:
            fates[hit.id] = "enough of its source"
        else:
            kept.append(hit)
    return kept


def _stepped(hits: Sequence[Hit], limit: int, fates: Fates) -> Admitted:
    """Down the ladder, until there is enough and nothing clearly better is left below."""
    here: list[Hit] = []
    for _, grades in LADDER:
        here = [hit for hit in hits if hit.memory.grade in grades]
        below = [hit for hit in hits if hit.memory.grade not in grades]
        if not below or (len(here) >= limit and below[0].score <= here[limit - 1].score + _CLEARLY):
            fates.update((hit.id, "its grade was not needed") for hit in below)
            break
    return Admitted(here, _reached(here), fates)


def _reached(hits: Sequence[Hit]) -> str:
    """The first step of the ladder that holds all of these."""
    there = {hit.memory.grade for hit in hits}
    return next(tier for tier, grades in LADDER if there <= grades)


def _mixed(hits: Sequence[Hit], limit: int, fates: Fates) -> list[Hit]:
    """Some of each grade; places that are left over go to the best of the rest. Never what was marked as noise."""
    noise = [hit for hit in hits if hit.memory.grade == "ignore"]
    fates.update((hit.id, "graded ignore, and nobody asked") for hit in noise)
    usable = [hit for hit in hits if hit.memory.grade != "ignore"]
    must = [hit for hit in usable if hit.memory.grade == "must_remember"][:MUST_MOST]
    nice = [hit for hit in usable if hit.memory.grade == "nice_to_have"][: max(limit - len(must), NICE_LEAST)]
    unknown = [hit for hit in usable if hit.memory.grade == "unknown"][:UNKNOWN_MOST]
    first = {hit.id for hit in [*must, *nice, *unknown][:limit]}
    spill = [hit for hit in usable if hit.id not in first][: max(limit - len(first), 0)]
    taken = first | {hit.id for hit in spill}
    fates.update((hit.id, "beyond the limit") for hit in usable if hit.id not in taken)
    return [hit for hit in usable if hit.id in taken]
