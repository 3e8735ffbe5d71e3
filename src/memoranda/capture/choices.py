"""Choices: a correction that shares with what it corrects nothing but the predicate.

"Actually, I prefer coffee" corrects "I prefer tea", for both are drinks and only one is preferred. It corrects neither
"I prefer short answers" nor, when several things are liked, any of them. Whether there are several is not known here.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from memoranda.capture.saying import Saying
from memoranda.capture.vocabulary import Vocabulary

Predicate = Literal["", "choosing", "being", "gathering"]

_LONGEST_THING = 2
_LONGEST_RIVAL = 6


class Exchange(NamedTuple):
    """What stands in the place of what, where all other words agree."""

    shared: tuple[str, ...]
    now: tuple[str, ...]
    was: tuple[str, ...]


def chosen_anew(new: Saying, old: Saying, known: Vocabulary, *, told: bool, near: bool) -> Predicate:
    """By which predicate the new saying replaces the old one, if no other saying has it; empty when it does not."""
    cue = new.cue or ("change" if told else "")
    found = _exchange(new, old, known) if cue and not (new.negated or old.negated or old.ended) else None
    if found is None or max(len(found.now), len(found.was)) > _LONGEST_THING:
        return ""
    predicate = _predicate(found, new, known)
    if not predicate or known.many.intersection(found.shared) or (predicate == "gathering" and cue == "change"):
        return ""
    mine, theirs = _sorts(found.now, known), _sorts(found.was, known)
    if mine & theirs:
        # "Tea over coffee" has two drinks in it: which of them was exchanged is not for words to say.
        return "" if mine & theirs & _sorts(found.shared, known) else predicate
    if mine or theirs or predicate != "choosing" or not _nameless(found, known):
        return ""
    return predicate if near or cue == "withdrawal" else ""


def rivals(new: Saying, old: Saying, known: Vocabulary) -> bool:
    """Whether the old saying says the same of some other thing, of whatever sort."""
    found = _exchange(new, old, known)
    return found is not None and len(found.was) <= _LONGEST_RIVAL and bool(_predicate(found, new, known))


def _exchange(new: Saying, old: Saying, known: Vocabulary) -> Exchange | None:
    said, kept = ([word for word in each.core if word not in known.rather] for each in (new, old))
    shared = Counter(said) & Counter(kept)
    now, was = _apart(said, shared), _apart(kept, shared)
    # "Eistee" is a sort of "Tee", 绿茶 of 茶: narrower, not another.
    if not now or not was or not shared or "".join(now) in "".join(was) or "".join(was) in "".join(now):
        return None
    return Exchange(tuple(word for word in kept if word in shared), now, was)


def _apart(words: Sequence[str], shared: Counter[str]) -> tuple[str, ...]:
    """The words that are not shared, if they stand side by side."""
    left = shared.copy()
    places = []
    for place, word in enumerate(words):
        if left[word]:
            left[word] -= 1
        else:
            places.append(place)
    if not places or places[-1] - places[0] + 1 != len(places):
        return ()
    return tuple(words[places[0] : places[-1] + 1])


def _predicate(found: Exchange, new: Saying, known: Vocabulary) -> Predicate:
    shared = f" {' '.join(found.shared)} "
    if known.rather.intersection(new.core) or any(f" {phrase} " in shared for phrase in known.choosing):
        return "choosing"
    if any(shared == f" {phrase} " for phrase in known.being):
        return "being"
    return "gathering" if known.verbs.union(known.gathering).intersection(found.shared) else ""


def _sorts(words: Sequence[str], known: Vocabulary) -> frozenset[int]:
    """Of which sorts the things among some words are. What is written without spaces must be one word."""
    if len(words) > 1 and words[0] >= "\u3041" and all(len(word) == 1 for word in words):
        return frozenset()
    return frozenset().union(*(known.sorts.get(word, frozenset()) for word in words))


def _nameless(found: Exchange, known: Vocabulary) -> bool:
    """Whether nothing is known of both things but that they are things."""
    return not any(
        word[-1].isdigit() or word in known.times or word in known.unfit or word in known.links or word in known.light
        for word in (*found.now, *found.was)
    )
