"""Consolidation, decided: which memories of one scope say the same, which contradict, and which one would stay. Pure.

To put two facts together loses one; to leave two of one costs a line. So whatever is not sure is left alone: what one
memory says and the one that stays does not, another day, another end, another slot.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS
from memoranda.domain.consolidation import MOST_MEMBERS, ProposalKind
from memoranda.domain.fact import holds_many
from memoranda.domain.lasting import ends_by_rule, without_end
from memoranda.domain.memory import MAX_TAGS, TRUSTS, UNVOUCHED, Memory, Trust, outranks
from memoranda.domain.profile import is_entry
from memoranda.domain.text import normal_form
from memoranda.governance.retention import lasts

REINFORCEMENT = 0.1
_LETTER: dict[ProposalKind, str] = {"duplicates": "d", "contradiction": "c"}
_KIND: dict[str, ProposalKind] = {letter: kind for kind, letter in _LETTER.items()}
_REFERENCE = re.compile(rf"([dc])(\d{{1,15}}(?:\.\d{{1,15}}){{1,{MOST_MEMBERS - 1}}})-([0-9a-f]{{16}})")
# True only when nothing else is kept of which the same is said, which nobody here can tell.
_UNSURE = frozenset({"another choice", "another state", "another liking"})
_WORD = re.compile(r"[^\W_]+(?:[.:,/-][^\W_]+)*")
_PARTS_OF_A_DAY = 3
_DIGITS = re.compile(r"\d+")
_LITTLE = 3
"""Words of so few letters are articles and the like."""


class Verdict(NamedTuple):
    """What a later saying is to an earlier one: same, duplicate, supersedes or different; and why."""

    relation: str
    reason: str


Compare = Callable[[Memory, Memory, float | None, bool], Verdict]
"""(later, earlier, closeness, whether the later is to be taken for a correction) -> what they are to each other."""


class Member(NamedTuple):
    """A memory that may be put together with others."""

    number: int
    memory: Memory
    said_at: int
    """When it was last said; not when somebody last graded it."""
    closeness: float | None = None
    """To the memory that is looked at; None when it is not known."""


class Found(NamedTuple):
    """Memories that may be put together: the one that would stay first."""

    kind: ProposalKind
    why: str
    members: tuple[Member, ...]


class Named(NamedTuple):
    """What the id of a proposal says."""

    kind: ProposalKind
    numbers: tuple[int, ...]
    """The one that stays first."""
    digest: str


def may_be_consolidated(memory: Memory) -> bool:
    """What waits for review is decided there, and a profile has its own door."""
    return memory.state == "live" and memory.trust != "quarantined" and not is_entry(memory)


# -- the same --


def duplicates(seed: Member, near: Sequence[Member], compare: Compare) -> Found | None:
    """Those among the neighbours that say what the seed says; None when there are none."""
    alike = [(seed, "")]
    for other in near:
        why = _same(seed, other, other.closeness, compare)
        if why:
            alike.append((other, why))
    group = [member for member, _ in alike[:MOST_MEMBERS]]
    stays = kept_of(group)
    left, whys = [stays], []
    for member, why in alike[:MOST_MEMBERS]:
        if member is stays:
            continue
        known = stays.closeness if member is seed else member.closeness if stays is seed else None
        # Each must say the same as the one that stays: what is alike in a row need not be alike at its ends.
        agreed = why if stays is seed else _same(stays, member, known, compare)
        if agreed and _covers(stays.memory, member.memory):
            left.append(member)
            whys.append(agreed)
    return Found("duplicates", _most_common(whys), tuple(left)) if whys else None


def kept_of(group: Sequence[Member]) -> Member:
    """The one that stays: of the most trusted those that say all that these say, then the surest, newest, longest.

    Trust comes first: however much more something untrusted says, it takes nobody's place.
    """
    most = min(TRUSTS.index(one.memory.trust) for one in group)
    trusted = [one for one in group if TRUSTS.index(one.memory.trust) == most]
    full = [one for one in trusted if all(_covers(one.memory, other.memory) for other in trusted)]
    return min(full or trusted, key=_place)


def _place(member: Member) -> tuple[float, int, int, int]:
    return -member.memory.confidence, -member.said_at, -len(member.memory.text), member.number


def _same(one: Member, other: Member, closeness: float | None, compare: Compare) -> str:
    """Why both say the same; empty when they may not."""
    if one.memory.scope != other.memory.scope or _other_time(one.memory, other.memory):
        return ""
    later, earlier = _in_order(one, other)
    verdict = compare(later.memory, earlier.memory, closeness, False)
    return verdict.reason if verdict.relation in ("same", "duplicate") else ""


def _in_order(one: Member, other: Member) -> tuple[Member, Member]:
    """The later first."""
    return (one, other) if (one.said_at, one.number) > (other.said_at, other.number) else (other, one)


def _other_time(one: Memory, other: Memory) -> bool:
    """Whether they hold at other times, or tell of other days: then the same words are two memories."""
    # An end that a rule gave says nothing about when something holds.
    ends = [None if ends_by_rule(each) else each.valid_until for each in (one, other)]
    if one.valid_from != other.valid_from or ends[0] != ends[1]:
        return True
    days = [each.occurred_at for each in (one, other)]
    if "episode" in (one.kind, other.kind):
        days = [each.created_at if each.occurred_at is None else each.occurred_at for each in (one, other)]
    first, second = days
    return first is not None and second is not None and first // DAY_MS != second // DAY_MS


def _covers(one: Memory, other: Memory) -> bool:
    """Whether nothing is lost of the slot, the day and the media of the other when only this one stays."""
    for name in ("about", "attribute", "context"):
        said = getattr(other, name)
        if said and normal_form(said) != normal_form(getattr(one, name)):
            return False
    if (
        other.value is not None
        and _json(one.value) != _json(other.value)
        and normal_form(_json(one.value)) != (normal_form(_json(other.value)))
    ):
        return False
    if other.occurred_at is not None and one.occurred_at is None:
        return False
    return set(other.media_refs) <= set(one.media_refs)


def _most_common(reasons: Sequence[str]) -> str:
    return max(sorted(set(reasons)), key=reasons.count)


# -- the contrary --


def contradiction(seed: Member, near: Sequence[Member], compare: Compare) -> Found | None:
    """What the seed, as the newest, takes back; None when it takes back nothing, or when something newer than it
    takes it back itself. What is trusted less takes nothing back."""
    group, whys = [seed], []
    for other in near:
        if other.memory.scope != seed.memory.scope:
            continue
        later, earlier = _in_order(seed, other)
        why = _contrary(later.memory, earlier.memory, other.closeness, compare)
        if not why:
            continue
        if later is other:
            return None
        if not outranks(other.memory.trust, seed.memory.trust):
            group.append(other)
            whys.append(why)
    return Found("contradiction", _most_common(whys), tuple(group[:MOST_MEMBERS])) if whys else None


def _contrary(later: Memory, earlier: Memory, closeness: float | None, compare: Compare) -> str:
    """Why both cannot be true; empty when they may."""
    plain = compare(later, earlier, closeness, False)
    if plain.relation == "supersedes":
        several = plain.reason == "same slot" and holds_many(later.attribute)
        return "" if several or plain.reason in _UNSURE else plain.reason
    if plain.relation != "different" or plain.reason not in ("negation", "opposites", "other numbers"):
        return ""
    # Nobody said that it is a correction. If it were one, would it correct this?
    told = compare(later, earlier, closeness, True)
    if told.relation != "supersedes":
        return ""
    if told.reason == "the opposite" or plain.reason == "opposites":
        return "the opposite"
    return "another number" if _only_last_number(later.text, earlier.text) else ""


def _only_last_number(one: str, other: str) -> bool:
    """Whether they differ in the number at their end and in nothing else: "room 1" and "room 2" at the beginning of
    a sentence are two rooms."""
    mine, theirs = (_parted(_WORD.findall(normal_form(text))) for text in (one, other))
    if not mine.telling or mine.telling != theirs.telling or mine.end == theirs.end:
        return False
    # A day is when something happened, not how much of it.
    return all(0 < len(_DIGITS.findall(" ".join(each.end))) < _PARTS_OF_A_DAY for each in (mine, theirs))


class _Parted(NamedTuple):
    """A sentence: the words that tell what it is about, with all numbers, and the number at its end."""

    telling: tuple[str, ...]
    end: tuple[str, ...]


def _parted(words: Sequence[str]) -> _Parted:
    cut = len(words)
    while cut and _has_digit(words[cut - 1]):
        cut -= 1
    telling = (word for word in words[:cut] if len(word) > _LITTLE or _has_digit(word))
    return _Parted(tuple(telling), tuple(words[cut:]))


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


# -- what would be done --


def least_trust(members: Sequence[Memory]) -> Trust:
    """The trust of the result: the least of what adds to it, and only what is trusted as much as the first does."""
    adding = [memory.trust for memory in members if memory.trust == members[0].trust]
    return TRUSTS[max(TRUSTS.index(trust) for trust in adding)]


def merged(members: Sequence[Memory]) -> Memory:
    """The first of several that say the same, as it is when the others are superseded by it: said so often, with the
    tags, the importance and the end by rule of all, or no end by rule when it must be remembered. What is trusted less
    adds nothing."""
    stays = members[0]
    adding = [memory for memory in members[1:] if memory.trust == stays.trust]
    if not adding:
        return stays
    known = [each.importance for each in (stays, *adding) if each.importance is not None]
    most = 1.0 if stays.trust == "trusted" else max(stays.confidence, UNVOUCHED)
    ends = [each.valid_until for each in (stays, *adding) if each.valid_until is not None and ends_by_rule(each)]
    together = stays._replace(
        tags=tuple(dict.fromkeys(tag for each in (stays, *adding) for tag in each.tags))[:MAX_TAGS],
        importance=max(known) if known else None,
        confidence=min(most, round(stays.confidence + REINFORCEMENT * len(adding), 6)),
        valid_until=max(ends) if ends and ends_by_rule(stays) else stays.valid_until,
    )
    return without_end(together) if lasts(together) else together


def named(found: Found, key: bytes) -> str:
    """The id of a proposal: its kind, the numbers of its members, and a digest that only this store can make."""
    numbers = ".".join(str(member.number) for member in found.members)
    return f"{_LETTER[found.kind]}{numbers}-{digest(found.kind, [each.memory for each in found.members], key)}"


def read_name(reference: str) -> Named | None:
    """What an id says; None when it is none."""
    parts = _REFERENCE.fullmatch(reference.strip())
    if parts is None:
        return None
    numbers = tuple(int(number) for number in parts[2].split("."))
    return Named(_KIND[parts[1]], numbers, parts[3]) if len(set(numbers)) == len(numbers) else None


def digest(kind: ProposalKind, members: Sequence[Memory], key: bytes) -> str:
    """Equal as long as the members are the same and say the same, in whatever order."""
    lines = sorted(
        _json([each.id, each.content_hash, each.kind, each.about, each.attribute, each.value, each.context, each.trust])
        for each in members
    )
    return hashlib.blake2b("\n".join([kind, *lines]).encode(), key=key, digest_size=8).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def settled(wanted: Named, members: Sequence[Member], key: bytes) -> Memory | str:
    """The one that stays as it is afterwards; or why the proposal is not taken."""
    found = [member.memory for member in members]
    if len(found) != len(wanted.numbers):
        return "some of it is gone"
    if len({memory.scope for memory in found}) != 1 or not all(map(may_be_consolidated, found)):
        return "it was settled meanwhile"
    if digest(wanted.kind, found, key) != wanted.digest:
        return "it is not what was proposed"
    if any(outranks(other.trust, found[0].trust) for other in found[1:]):
        return "what is trusted less supersedes nothing that is trusted more"
    if wanted.kind == "contradiction":
        newest = all(_in_order(members[0], other)[0] is members[0] for other in members[1:])
        return found[0] if newest else "an older one was said again meanwhile"
    return merged(found) if kept_of(members).number == members[0].number else "another one should stay by now"
