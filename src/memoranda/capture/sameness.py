"""Same, corrected, or new: what one saying is to another that was kept before.

Two sayings are one only when all their words agree, but for those that say nothing; how close their meanings are
never decides alone. To take two facts for one loses a fact; to keep a duplicate costs a line. Pure.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from memoranda.capture.choices import Predicate, chosen_anew, rivals
from memoranda.capture.corrections import corrected
from memoranda.capture.frames import Framed
from memoranda.capture.saying import Saying, sayings
from memoranda.capture.vocabulary import Vocabulary, fold
from memoranda.domain.text import normal_form

Relation = Literal["same", "duplicate", "supersedes", "different"]
CLOSE = 0.85
"""From this cosine of the bundled embedder on, words that hardly count may differ."""
NEAR = 0.55
"""From this one on, two things of which nothing is known may be of one sort, where only one of them is chosen."""
_FEWEST_SHARED = 2
_REMEMBERED = 4_096
_PART = re.compile(r"[^\W\d_]+")
# Only when nothing else is kept of which the same is said.
_ALONE: dict[Predicate, str] = {"choosing": "another choice", "being": "another state", "gathering": "another liking"}
_RANK: dict[Relation, int] = {"same": 0, "duplicate": 1, "supersedes": 2, "different": 3}


class Verdict(NamedTuple):
    """What the new saying is to the old one, and why, in a word or two."""

    relation: Relation
    reason: str


class Said(NamedTuple):
    """A saying with its slot and its speaker, as far as they are known."""

    text: str
    kind: str = ""
    about: str = ""
    attribute: str = ""
    value: Any = None
    context: str = ""
    corrects: bool = False
    """Whether it is known to correct something, whatever its words."""
    speaker: str = ""


def compared(new: Said, old: Said, *, closeness: float | None = None) -> Verdict:
    """What `new` is to `old`. `closeness` is their cosine by the bundled embedder, if it is known."""
    if new.speaker != old.speaker:
        return Verdict("different", "another speaker")
    apart = _other_slot(new, old)
    if apart:
        return Verdict("different", apart)
    if new.attribute and old.attribute and (new.value is not None or old.value is not None):
        return _same_slot(new, old)
    if _key(new.text) == _key(old.text):
        return Verdict("same", "text")
    later, earlier, known = sayings(new.text, old.text)
    close = closeness is not None and closeness >= CLOSE
    if known.folded and _one_word_in_other_letters(new.text, old.text, known.language):
        return Verdict("different", "other letters")
    alike = _alike(later, earlier, close=close)
    if alike:
        return Verdict("duplicate", alike)
    if "episode" in (new.kind, old.kind):
        return Verdict("different", "what happened stays")
    replaced = _replaced(new, old, later, earlier, known, closeness=closeness)
    if replaced:
        return Verdict("supersedes", replaced)
    return Verdict("different", _difference(later, earlier, known))


def choice(new: Said, others: Sequence[tuple[Said, float | None]]) -> tuple[int, Verdict] | None:
    """Which of several old sayings the new one repeats or replaces, and how; None when it is new."""
    found = [
        (_RANK[verdict.relation], -(closeness or 0.0), place, verdict)
        for place, (old, closeness) in enumerate(others)
        if (verdict := compared(new, old, closeness=closeness)).relation != "different"
    ]
    alone = [each for each in found if each[3].reason in _ALONE.values()]
    if alone and (len(alone) > 1 or _has_rivals(new, others, alone[0][2], alone[0][3])):
        found = [each for each in found if each not in alone]
    if not found:
        return None
    best = min(found, key=lambda each: each[:3])
    if best[3].relation == "duplicate" and (new.corrects or sayings(new.text, new.text)[0].cue):
        # Who goes back to what was said before takes back the one thing that was said since.
        since = [each for each in found if each[3].relation == "supersedes" and each[3].reason != _ALONE["gathering"]]
        best = since[0] if len(since) == 1 else best
    return best[2], best[3]


def _has_rivals(new: Said, others: Sequence[tuple[Said, float | None]], place: int, verdict: Verdict) -> bool:
    """Whether more is liked than what would be replaced: then the new liking is one more."""
    return verdict.reason == _ALONE["gathering"] and any(
        other.speaker == new.speaker and rivals(*sayings(new.text, other.text))
        for number, (other, _) in enumerate(others)
        if number != place
    )


def _other_slot(new: Said, old: Said) -> str:
    for name, one, other in (("about", new.about, old.about), ("attribute", new.attribute, old.attribute)):
        if one and other and _key(one) != _key(other):
            return f"another {name}"
    if new.attribute and old.attribute and _key(new.context) != _key(old.context):
        return "another context"
    return ""


def _same_slot(new: Said, old: Said) -> Verdict:
    """Both fill the same slot: the value decides, not the sentence around it. Without an about it is no slot."""
    if not (new.about and old.about):
        alike = _value(new.value) == _value(old.value) and _key(new.text) == _key(old.text)
        return Verdict("same", "text") if alike else Verdict("different", "nothing that both are about")
    if _value(new.value) != _value(old.value):
        return Verdict("supersedes", "same slot")
    if _key(new.text) == _key(old.text):
        return Verdict("same", "text")
    return Verdict("duplicate", "same slot and value")


def _alike(one: Saying, other: Saying, *, close: bool) -> str:
    """Why both say the same; empty when they may not."""
    if one.words and one.words == other.words:
        return "same words"
    if _same_frame(one, other) and one.frame and other.frame and not (one.frame.leads or other.frame.leads):
        mine, theirs = one.frame, other.frame
        if (mine.filling, mine.rest) == (theirs.filling, theirs.rest) and not (one.adds or other.adds):
            return "same frame"
    if close and one.skeleton == other.skeleton and len(one.skeleton) >= _FEWEST_SHARED:
        return "close, same telling words"
    return ""


def _one_word_in_other_letters(one: str, other: str, language: str) -> bool:
    """Who types without diacritics leaves out all of them; a single one may be another word: schon, schön."""
    if language == "en" or (one.isascii() and other.isascii()):
        return False
    mine, theirs = set(_PART.findall(_key(one))), set(_PART.findall(_key(other)))
    return len({fold(word) for word in mine - theirs} & {fold(word) for word in theirs - mine}) == 1


def _same_frame(one: Saying, other: Saying) -> bool:
    mine, theirs = one.frame, other.frame
    return mine is not None and theirs is not None and (mine.frame, mine.topic) == (theirs.frame, theirs.topic)


def _replaced(
    new: Said, old: Said, later: Saying, earlier: Saying, known: Vocabulary, *, closeness: float | None
) -> str:
    """Why the later saying takes the place of the earlier one; empty when it does not."""
    if later.adds:
        return ""
    if later.frame and earlier.frame and later.frame.single and _same_frame(later, earlier):
        mine, theirs = later.frame, earlier.frame
        part_of = set(mine.filling) <= set(theirs.filling) or set(theirs.filling) <= set(mine.filling)
        of_a_kind = (mine.rest, mine.filled) == (theirs.rest, theirs.filled)
        if of_a_kind and not part_of and not _only_one_named(new.text, mine, old.text, theirs):
            return "one of its kind"
    told = bool(later.cue) or later.ended or new.corrects
    reason = corrected(
        later,
        earlier,
        known,
        told=told,
        close=closeness is not None and closeness >= CLOSE,
        same_about=bool(new.about) and _key(new.about) == _key(old.about),
    )
    if reason or later.ended or (new.kind and old.kind and new.kind != old.kind):
        return reason
    near = closeness is not None and closeness >= NEAR
    return _ALONE.get(chosen_anew(later, earlier, known, told=told, near=near), "")


def _only_one_named(new: str, mine: Framed, old: str, theirs: Framed) -> bool:
    """Whether one is filled with a name and the other is not: "in Berlin" and "in a hurry" do not compete."""
    return new[:1].isupper() and old[:1].isupper() and _named(new, mine.filling) != _named(old, theirs.filling)


def _named(text: str, filling: Sequence[str]) -> bool:
    even = fold(text.casefold())
    return len(even) == len(text) and text[even.rfind(fold(filling[0])) :][:1].isupper()


def _difference(one: Saying, other: Saying, known: Vocabulary) -> str:
    """The first thing in which they differ, for whoever asks why they were not taken for one."""
    mine, theirs = set(one.words), set(other.words)
    apart = mine ^ theirs
    if any(word[-1].isdigit() for word in apart if word):
        return "other numbers"
    if (one.negated, one.ended) != (other.negated, other.ended):
        return "negation"
    if any(known.opposites.get(word, frozenset()) & (theirs - mine) for word in mine - theirs):
        return "opposites"
    if not mine & theirs:
        return "nothing in common"
    return "other words" if apart else "another order"


@lru_cache(maxsize=_REMEMBERED)
def _key(text: str) -> str:
    return normal_form(text)


def _value(value: Any) -> str:
    """A value in the form in which two are compared: 40 % is 40%, 40.0 is 40, and true is not 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        return json.dumps("".join(normal_form(value).split()))
    return json.dumps(value, sort_keys=True, default=repr)
