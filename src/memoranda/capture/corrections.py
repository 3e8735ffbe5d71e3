"""Corrections: whether a saying that says it corrects something corrects this one.

It must share what the old one is about and differ in what it says of it. A correction of something else is new.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memoranda.capture.reading import Word, core_of, words_of
from memoranda.capture.saying import Saying, rare
from memoranda.capture.vocabulary import BREAK, Vocabulary, vocabulary

_LONGEST_CHANGE = 6
_LONGEST_THING = 2
_LONGEST_DENIED = 8
_MOSTLY, _PARTLY = 0.5, 0.34
_FEWEST_SHARED = 2


class _Aligned(NamedTuple):
    """Two rows of words that begin and end alike: what is before, what changed, what comes after."""

    before: Sequence[str]
    now: Sequence[str]
    was: Sequence[str]
    after: Sequence[str]


def corrected(new: Saying, old: Saying, known: Vocabulary, *, told: bool, close: bool, same_about: bool) -> str:
    """Why the new saying, if it is a correction, corrects the old one; empty when it does not."""
    if new.ended:
        return "no longer" if _ends(new, old, known) else ""
    if told and new.negated and not old.negated and _same_things(new.core, old.core, known):
        return "the opposite"
    denied = _denied(new, known) if new.negated or told else None
    if denied is not None:
        rest, what = denied
        return "not this but that" if _denies(rest, what, old, known, same_about=same_about) else ""
    if not told:
        return ""
    if new.core == old.core:
        return "the opposite" if new.negated != old.negated else ""
    if new.negated != old.negated:
        return ""
    if sorted(new.core) == sorted(old.core):
        return "the other way round"
    if _changed(_aligned(new.core, old.core), known, close=close, same_about=same_about):
        return "corrected"
    if known.many.intersection(new.core) and not close:
        return ""
    return "corrected" if _mostly_shared(new, old, close=close, same_about=same_about) else ""


def _ends(new: Saying, old: Saying, known: Vocabulary) -> bool:
    """Whether the clause that says "no longer" says it of the old saying."""
    if old.ended or not old.core:
        return False
    for clause in new.clauses:
        core = core_of(clause)
        if any(word.sort == "no more" for word in clause) and (
            _same_things(core, old.core, known) or _same_but_prefix(core, old.core, known)
        ):
            return True
    if len(new.clauses) != 1 or old.negated:
        return False
    # In some languages verbs and nouns change their form when they are denied.
    if new.rare and new.rare == old.rare:
        light = known.light.intersection(new.core) - known.degrees
        return any(light == known.light.intersection(core) - known.degrees for core in _denied_with(old.core, known))
    shared = new.rare & old.rare
    return len(shared) >= _FEWEST_SHARED and len(shared) / max(len(new.rare), len(old.rare)) >= _MOSTLY


def _same_things(new: Sequence[str], old: Sequence[str], known: Vocabulary) -> bool:
    """Whether who denies the new words denies the old ones, however much they said."""
    said = [word for word in new if word not in known.degrees]
    return any(said == [word for word in core if word not in known.degrees] for core in _denied_with(old, known))


def _denied_with(old: Sequence[str], known: Vocabulary) -> tuple[Sequence[str], Sequence[str]]:
    return old, [known.denied.get(word, word) for word in old]


def _same_but_prefix(new: Sequence[str], old: Sequence[str], known: Vocabulary) -> bool:
    if len(new) != len(old):
        return False
    apart = [(one, other) for one, other in zip(new, old, strict=True) if one != other]
    return bool(apart) and all(any(one == prefix + other for prefix in known.prefixes) for one, other in apart)


def _aligned(new: Sequence[str], old: Sequence[str]) -> _Aligned:
    shortest = min(len(new), len(old))
    begin = 0
    while begin < shortest and new[begin] == old[begin]:
        begin += 1
    end = 0
    while end < shortest - begin and new[-1 - end] == old[-1 - end]:
        end += 1
    return _Aligned(new[:begin], new[begin : len(new) - end], old[begin : len(old) - end], new[len(new) - end :])


def _changed(row: _Aligned, known: Vocabulary, *, close: bool, same_about: bool) -> bool:
    """Whether one thing in the same place was exchanged for another of its sort."""
    if not (0 < len(row.now) <= _LONGEST_CHANGE and 0 < len(row.was) <= _LONGEST_CHANGE):
        return False
    # "I prefer tea in the morning": what comes after the thing says as well what it is about.
    led = bool(row.before) and row.before[-1] in known.verbs and bool(rare(row.after, known))
    subject = led or bool(rare(row.before, known))
    if _of_one_sort(row.now, row.was, known):
        return subject or close or same_about
    if row.now[0] in known.links or row.was[0] in known.links:
        # "On Friday" and "in room 5" answer different questions; "moved to Friday" and "on Thursday" the same.
        return subject and _of_one_sort(_without_link(row.now, known), _without_link(row.was, known), known)
    if (row.after and not led) or max(_length(row.now), _length(row.was)) > _LONGEST_THING:
        return False
    if _kind(row.now[0], known) != _kind(row.was[0], known) or not row.before:
        return False
    # After "likes" or "in" comes one thing; after "is" may come anything that can be said of it.
    last = row.before[-1]
    if last in known.verbs or (last in known.links and not known.many.intersection(row.before)):
        return subject or close or same_about
    return close and last not in known.light


def _kind(word: str, known: Vocabulary) -> str:
    if word[-1].isdigit():
        return "number"
    return "time" if word in known.times or word in known.unfit else "thing"


def _length(words: Sequence[str]) -> float:
    """In words; two characters are about one."""
    return sum(0.5 if word >= "\u3041" else 1.0 for word in words)


def _without_link(words: Sequence[str], known: Vocabulary) -> Sequence[str]:
    return words[1:] if words and words[0] in known.links else words


def _of_one_sort(now: Sequence[str], was: Sequence[str], known: Vocabulary) -> bool:
    if not now or len(now) != len(was):
        return False
    return all(
        one == other
        or (one[-1].isdigit() and other[-1].isdigit())
        or (one in known.times and other in known.times)
        or other in known.opposites.get(one, frozenset())
        for one, other in zip(now, was, strict=True)
    )


def _mostly_shared(new: Saying, old: Saying, *, close: bool, same_about: bool) -> bool:
    shared = new.rare & old.rare
    if not shared or not (new.rare - old.rare) or not (old.rare - new.rare):
        return False
    share = len(shared) / len(new.rare | old.rare)
    return share >= (_PARTLY if close or same_about else _MOSTLY) and (
        close or same_about or len(shared) > _FEWEST_SHARED
    )


def _denied(new: Saying, known: Vocabulary) -> tuple[Sequence[str], Sequence[str]] | None:
    """For "not X but Y": the saying without "not X but", and X."""
    words = [word for clause in new.clauses for word in (*clause, Word(BREAK, "break"))]
    texts = [word.text for word in words]
    for opening, closing in _contrasts(known.language, known.folded):
        for place in range(len(texts) - len(opening) + 1):
            begin = place + len(opening)
            if tuple(texts[place:begin]) != opening:
                continue
            for end in range(begin + 1, min(begin + _LONGEST_DENIED, len(texts) - len(closing)) + 1):
                if tuple(texts[end : end + len(closing)]) == closing:
                    rest = core_of((*words[:place], *words[end + len(closing) :]))
                    return rest, _without_link(core_of(words[begin:end]), known)
    return None


def _denies(rest: Sequence[str], what: Sequence[str], old: Saying, known: Vocabulary, *, same_about: bool) -> bool:
    """Whether the old saying said what is denied now, and something else stands in its place."""
    if old.negated or not rare(what, known) or not _within(what, old.core):
        return False
    row = _aligned(rest, old.core)
    if 0 < len(row.now) <= _LONGEST_CHANGE and _without_link(row.was, known) == what:
        return bool(row.before)
    # "It is not Thursday but Friday" names nothing else: then Thursday must be half of what was said.
    return len(rare(rest, known)) == 1 and (same_about or 2 * len(rare(what, known)) >= len(old.rare))


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return any(tuple(whole[place : place + len(part)]) == tuple(part) for place in range(len(whole) - len(part) + 1))


@cache
def _contrasts(language: str, folded: bool) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The words before X and after it in each way to say "not X but Y"."""
    known = vocabulary(language, folded=folded)
    found = []
    for line in known.contrasts:
        opening, _, closing = line.partition("X")
        opening = re.sub("Y", "", opening)
        found.append((_texts(opening, known), _texts(closing.partition("Y")[0], known) or (BREAK,)))
    return tuple(found)


def _texts(part: str, known: Vocabulary) -> tuple[str, ...]:
    return tuple(word.text for word in words_of(part, known))
