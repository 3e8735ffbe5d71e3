"""Choosing: which sayings fit into the room that there is, without saying anything twice."""

from collections import Counter
from collections.abc import Iterable, Sequence

from memoranda.conversations.salience import ASIDE, FIRST, LEAST, REST, Saying, weights
from memoranda.domain.tokens import estimated_tokens

BETWEEN = " / "
"""Between two sentences of one message that do not follow one another."""
# Where there is more of everything than room: neither decisions nor mere likings crowd out facts.
_FIRST_SHARE = 0.75
_LIKING_SHARE = 0.4
# Sentences that are merely about the subject are not worth filling a whole summary with.
_REST_SHARE = 0.5
# An assistant has many numbers to give, and few that a person will want back.
_ASIDE_SHARE = 0.6
_SAME = 0.7
_CORRECTED = 0.7
_CLEARLY = 3


class Chosen:
    """Sayings that were taken so far, and the room that they leave."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.used = 0
        self._taken: dict[int, Saying] = {}
        self._by_stem: dict[str, set[int]] = {}
        self._sources: Counter[int] = Counter()
        self.covered: set[str] = set()

    @property
    def sayings(self) -> list[Saying]:
        """In the order of the conversation."""
        return [self._taken[order] for order in sorted(self._taken)]

    def take(self, saying: Saying, *, within: float | None = None) -> bool:
        """Take it when there is room and it says something new."""
        left = (self.room if within is None else within) - self.used
        if saying.tokens > left or saying.order in self._taken:
            return False
        cost = self._cost(saying)
        if cost > left:
            return False
        replaced = []
        for other in self._like(saying):
            earlier, later = sorted((other, saying), key=lambda each: each.order)
            if _corrects(later, earlier):
                if later is other:
                    return False
                replaced.append(other)
            elif saying.particulars <= other.particulars and _same(saying, other):
                return False
        for other in replaced:
            self._drop(other)
        self._taken[saying.order] = saying
        self._sources[saying.source] += 1
        self.covered |= saying.particulars
        self.used += cost
        for stem in saying.stems:
            self._by_stem.setdefault(stem, set()).add(saying.order)
        return True

    def _cost(self, saying: Saying) -> int:
        """What quoting it adds: sentences of one message share a line."""
        shared = self._sources[saying.source] > 0
        return estimated_tokens(BETWEEN + saying.text if shared else f"{_named(saying.who)}{saying.text}\n")

    def _like(self, saying: Saying) -> Iterable[Saying]:
        shared = Counter(order for stem in saying.stems for order in self._by_stem.get(stem, ()))
        return [self._taken[order] for order, both in shared.items() if both * 2 >= len(saying.stems)]

    def _drop(self, saying: Saying) -> None:
        del self._taken[saying.order]
        for stem in saying.stems:
            self._by_stem[stem].discard(saying.order)
        self._sources[saying.source] -= 1
        self.used -= saying.tokens


def choose(sayings: Sequence[Saying], chosen: Chosen) -> None:
    """Take what weighs most, as long as there is room."""
    weight = weights(sayings)
    ranked = sorted(
        (each for each in sayings if each.level <= REST),
        key=lambda each: (each.level, -weight.get(each.order, 0.0), -each.order),
    )
    for each in ranked:
        if each.level == FIRST:
            liking = "decision" not in each.marks and not each.particulars
            chosen.take(each, within=chosen.room * (_LIKING_SHARE if liking else _FIRST_SHARE))
        elif each.particulars - chosen.covered:
            chosen.take(each, within=chosen.room * _ASIDE_SHARE if each.level == ASIDE else None)
    for each in ranked:
        if each.level == FIRST:
            chosen.take(each)
        elif each.level < REST or len(each.stems) >= LEAST:
            chosen.take(each, within=chosen.room * _REST_SHARE)


def lines_of(sayings: Iterable[Saying]) -> tuple[str, ...]:
    """The lines of a gist: what one message or line said stands together, in its own words."""
    lines: list[str] = []
    before: Saying | None = None
    for each in sayings:
        if before is not None and before.source == each.source:
            # Half a pair of backticks must not find its other half in the next sentence.
            follows = each.order == before.order + 1 and lines[-1].count("`") % 2 == 0
            lines[-1] += (" " if follows else BETWEEN) + each.text
        else:
            lines.append(_named(each.who) + each.text)
        before = each
    return tuple(lines)


def _named(who: str) -> str:
    return f"{who}: " if who else ""


def _alike(one: Saying, other: Saying) -> float:
    both = len(one.stems & other.stems)
    return both / (len(one.stems) + len(other.stems) - both) if both else 0.0


def _same(one: Saying, other: Saying) -> bool:
    return _alike(one, other) >= _SAME and ("negation" in one.marks) == ("negation" in other.marks)


def _corrects(later: Saying, earlier: Saying) -> bool:
    """Clearly the same matter, told anew by the same one."""
    return (
        "correction" in later.marks
        and later.who == earlier.who
        and earlier.ids <= later.ids
        and bool(earlier.particulars) == bool(later.particulars)
        and len(later.stems & earlier.stems) >= max(_CLEARLY, _CORRECTED * len(earlier.stems))
    )
