"""Facts about things: what is known of a subject such as `light.office`, how sure it is now, and who says so.

Confidence is kept as it was last confirmed. What it is worth now is computed when it is read, never written back.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import DAY_MS, iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Basis, Memory
from memoranda.domain.profile import PREFIX, SEVERAL
from memoranda.domain.receipt import RecallReceipt
from memoranda.domain.row import Row
from memoranda.domain.text import normal_form

SOURCE_WORDS: dict[Basis, str] = {"stated": "user_stated", "observed": "learned", "inferred": "inferred"}
NAMES = ("nickname", "alias")
MANY = frozenset({*NAMES, "purpose", "note", "likes", "dislikes"})
"""Attributes of which a thing may have several."""
_SEVERAL = frozenset(PREFIX + field for field in SEVERAL)
COMMON = frozenset({*MANY, "location", "preference", "schedule"})

HALF_LIFE_MS: dict[Basis, float] = {"observed": 180.0 * DAY_MS, "inferred": 90.0 * DAY_MS}
"""In which time half of the confidence is gone; what was stated keeps it."""
_QUOTED = re.compile(r"[\"'“„‘«「『]([^\"'“”„‘’«»「」『』]{2,100})[\"'”“’»」』]")
_LONGEST_NAME = 100
_OWNER_WORDS = """
    the a an my our your his her their this that
    mój moja moje mojego mojej moją mojemu moim nasz nasza nasze naszego naszej naszą twój twoja twoje ten ta to tę tą
    der die das den dem mein meine meinen unser unsere ein eine le la les mon ma mes notre un une el los las mi mis
    nuestro nuestra una
"""
_OWNERS = frozenset(_OWNER_WORDS.split())
_OWNERS_UNSPACED = ("我的", "我们的", "我們的", "这个", "這個", "那个", "那個", "这盏", "那盏", "私の", "この", "その")


class Fact(NamedTuple):
    """One thing that is known, with the confidence that it has now."""

    memory: Memory
    confidence: float

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def about(self) -> str:
        return self.memory.about

    @property
    def attribute(self) -> str:
        return self.memory.attribute

    @property
    def value(self) -> Any:
        """What it says; the text when it was given no value."""
        return self.memory.text if self.memory.value is None else self.memory.value

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def source(self) -> str:
        """How it is known: `user_stated`, `learned` or `inferred`."""
        return SOURCE_WORDS[self.memory.basis]

    def as_json(self) -> dict[str, Any]:
        """The fact for programs, in the words of the view `entity_facts`."""
        memory = self.memory
        return {
            "id": memory.id,
            "entity_id": memory.about,
            "fact_type": memory.attribute,
            "content": memory.text,
            "value": memory.value,
            "source": self.source,
            "confidence": self.confidence,
            "trust": memory.trust,
            "created_at": iso(memory.created_at),
            "updated_at": iso(memory.updated_at),
            "valid_until": None if memory.valid_until is None else iso(memory.valid_until),
            "scope": memory.scope,
        }


class FactsReceipt(NamedTuple):
    """Which way found what, in ids: by a subject's name, by a nickname, and by recall, which has its own receipt."""

    returned: int
    subjects: int
    by_subject: tuple[str, ...]
    by_nickname: tuple[str, ...]
    by_recall: tuple[str, ...]
    recall: RecallReceipt

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = self._asdict()
        for name in ("by_subject", "by_nickname", "by_recall"):
            shown[name] = list(shown[name])
        return {**shown, "recall": self.recall.as_json()}


class FactsFound(Row[Fact]):
    """What is known of what was asked: what is about it first, then what else bears on it. Each once."""

    __slots__ = ("receipt",)
    receipt: FactsReceipt

    def __init__(self, facts: Sequence[Fact], receipt: FactsReceipt) -> None:
        object.__setattr__(self, "_items", tuple(facts))
        object.__setattr__(self, "receipt", receipt)

    def as_json(self) -> dict[str, Any]:
        return {"facts": [fact.as_json() for fact in self], "receipt": self.receipt.as_json()}


def confidence_at(memory: Memory, now: int) -> float:
    """How sure it is now: what was stated stays, what was observed or inferred fades until it is confirmed again."""
    half_life = HALF_LIFE_MS.get(memory.basis)
    if half_life is None:
        return memory.confidence
    age = max(0, now - memory.updated_at)
    return float(round(memory.confidence * 0.5 ** (age / half_life), 6))


def as_facts(memories: Sequence[Memory], now: int) -> tuple[Fact, ...]:
    """Facts with their confidence now: trusted ones first, then the surest, then the newest."""
    facts = [Fact(memory, confidence_at(memory, now)) for memory in memories]
    return tuple(sorted(facts, key=lambda each: place(each.memory, each.confidence)))


def place(memory: Memory, confidence: float) -> tuple[bool, float, int, str]:
    """Where it stands in a list, as the ledger orders it: trusted first, then the surest, then the newest."""
    return memory.trust != "trusted", -confidence, -memory.updated_at, memory.id


def checked_slot(about: str, attribute: str, *, what: tuple[str, str]) -> None:
    """A subject and an attribute must both be there, and a profile is not written through another door."""
    for text, name in zip((about, attribute), what, strict=True):
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(f"{name} is needed", hint=f"Give {name} at least one visible character.")
    refuse_reserved(attribute, what[1])


def refuse_reserved(attribute: str, name: str = "attribute") -> None:
    """A profile has its own limits and is written through its own door only."""
    if isinstance(attribute, str) and attribute.strip().casefold().startswith(PREFIX):
        raise InvalidInput(
            f"{name}: {attribute[:80]!r} belongs to the profile", hint="Use memory.profile (CLI: memoranda profile)."
        )


def common_attribute(attribute: str) -> str:
    """The attribute as it is kept: the usual ones in one spelling, any other as it was given."""
    folded = attribute.strip().casefold()
    return folded if folded in COMMON else attribute.strip()


def sentence(about: str, attribute: str, value: Any) -> str:
    """A fact in words, when nobody has put it into words."""
    return f"{about} {attribute.replace('_', ' ')}: {shown(value)}"


def shown(value: Any) -> str:
    """A value as people read it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def same_value(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same. 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def name_in(text: str) -> str | None:
    """The name that a sentence gives to a thing: the one that it quotes, or the whole when it is short."""
    quoted = _QUOTED.findall(text)
    if len(quoted) == 1:
        return str(quoted[0]).strip()
    return text.strip() if len(text.strip()) <= _LONGEST_NAME else None


def bare_name(name: str) -> str:
    """A name as it is compared: without the article or the owner before it."""
    bare = normal_form(name)
    for owner in _OWNERS_UNSPACED:
        if bare.startswith(owner) and len(bare) > len(owner):
            return bare.removeprefix(owner).strip()
    words = bare.split()
    while len(words) > 1 and words[0] in _OWNERS:
        words = words[1:]
    return " ".join(words)


_ID_PART = re.compile(r"[^\W_]+")
_SHORTEST_BEGINNING = 4
_LONG_WORD, _INFLECTED = 6, 2


def best_subjects(subjects: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The subjects that the words name best, by the parts of their names (`cover.garage_door` has `garage`).

    A subject that fewer of the words name stays only for a word that none of the best has.
    """
    named = {subject: frozenset(word for word in words if _has(subject, word)) for subject in subjects}
    ranked = sorted((subject for subject in named if named[subject]), key=lambda each: (-len(named[each]), each))
    if not ranked:
        return ()
    most = len(named[ranked[0]])
    covered = frozenset().union(*(named[subject] for subject in ranked if len(named[subject]) == most))
    return tuple(subject for subject in ranked if len(named[subject]) == most or named[subject] - covered)


def _has(subject: str, word: str) -> bool:
    """Whether a part of the subject's name is the word, or begins as it does: inflection is at the end."""
    for part in _ID_PART.findall(_without_marks(subject)):
        shorter = min(len(part), len(word))
        same = shorter if shorter < _LONG_WORD else max(_SHORTEST_BEGINNING, shorter - _INFLECTED)
        if part == word or (shorter >= _SHORTEST_BEGINNING and part[:same] == word[:same]):
            return True
        if not word.isascii() and word in part:
            return True
    return False


def _without_marks(text: str) -> str:
    """Without diacritics, as words are compared; identifiers seldom have them."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().replace("ł", "l"))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def holds_many(attribute: str) -> bool:
    """Whether the slot of an attribute holds several values; otherwise a new one takes the place of the old."""
    return attribute in MANY or attribute in _SEVERAL
