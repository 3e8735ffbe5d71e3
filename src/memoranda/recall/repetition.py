"""Repetition: one thing that is kept as a sentence, as a preference and in a profile is shown once."""

import re
from collections.abc import Iterable, Sequence

from memoranda.domain.memory import Memory
from memoranda.domain.profile import BETWEEN_NOTES, is_entry
from memoranda.domain.results import Hit
from memoranda.domain.text import normal_form

_LOOKED_AT = 24
_STEM = 5
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_NO_WORDS = (
    "not no never don doesn didn won can't cannot nie nigdy bez nicht kein keine nunca ne pas jamais "
    "不 没 沒 别 非 ない"
)
_SMALL_WORDS = (
    "i my me the a an is are was be to of in on for and or with he she it his her we our you your user users "
    "ja mój moja moje się jest są to i w na do dla z ich mein meine ist und der die das je mon ma mes le la les est "
    "yo mi el los las es prefer prefers like likes wants want 我 的 是 了 喜 欢"
)
_NOT = frozenset(_NO_WORDS.split())
_SMALL = frozenset(_SMALL_WORDS.split())


class _Words:
    """A text as it is compared: the beginnings of its words, its numbers, and whether it says no."""

    __slots__ = ("no", "normal", "numbers", "stems")

    def __init__(self, text: str) -> None:
        self.normal = normal_form(text)
        words = _WORD.findall(self.normal)
        self.no = sum(word in _NOT for word in words) % 2
        self.numbers = frozenset(word for word in words if any(letter.isdigit() for letter in word))
        self.stems = frozenset(word[:_STEM] for word in words if word not in _SMALL and word not in _NOT)

    def says(self, other: "_Words", *, around: frozenset[str] = frozenset()) -> bool:
        """Whether it says what the other says and, but for what is around, nothing else."""
        same = (self.no, self.numbers) == (other.no, other.numbers)
        return same and bool(other.stems) and other.stems <= self.stems <= other.stems | around


def said_already(hits: Sequence[Hit]) -> frozenset[str]:
    """Ids of hits that say what a better one says. Hits come best first."""
    looked_at = [(hit, _Words(hit.memory.text)) for hit in hits[:_LOOKED_AT]]
    kept: list[tuple[Hit, _Words]] = []
    again: set[str] = set()
    for hit, words in looked_at:
        if any(_same(hit.memory, words, other.memory, others) for other, others in kept):
            again.add(hit.id)
        else:
            kept.append((hit, words))
    return frozenset(again)


def told_by(lines: Iterable[str], hits: Sequence[Hit]) -> frozenset[str]:
    """Ids of hits that one entry of these lines of a profile tells already."""
    entries = [_Words(entry) for line in lines for entry in line.partition(": ")[2].split(BETWEEN_NOTES)]
    return frozenset(
        hit.id for hit in hits if is_entry(hit.memory) or any(entry.says(_Words(hit.memory.text)) for entry in entries)
    )


def _same(one: Memory, words: _Words, other: Memory, others: _Words) -> bool:
    # Two sentences are two memories; what is kept in a slot may be kept as a sentence, too.
    if not (one.attribute or other.attribute) or (one.speaker and other.speaker and one.speaker != other.speaker):
        return False
    if _elsewhere(one, other):
        return False
    if words.normal == others.normal:
        return True
    return _told_in(one, other, others) or _told_in(other, one, words)


def _elsewhere(one: Memory, other: Memory) -> bool:
    """Whether each is about its own thing, or holds in its own circumstances."""
    things = [memory.about for memory in (one, other) if memory.about and not _by_key(memory)]
    contexts = [memory.context for memory in (one, other) if not is_entry(memory)]
    return len(set(things)) > 1 or (len(contexts) == 2 and all(contexts) and contexts[0] != contexts[1])


def _by_key(memory: Memory) -> bool:
    """Whether `about` is no thing but a profile or a category of preferences."""
    return is_entry(memory) or (memory.kind == "preference" and bool(memory.attribute))


def _told_in(structured: Memory, sentence: Memory, words: _Words) -> bool:
    """Whether a sentence says what a structured memory holds: its value, and a word of what it is the value of."""
    if not structured.attribute or (sentence.attribute and not is_entry(structured)) or structured.context:
        return False
    if is_entry(structured):
        return words.says(_Words(structured.text))
    value = _Words(str(structured.value)) if structured.value is not None else _Words(structured.text)
    key = _Words(f"{structured.about} {structured.attribute}".replace("_", " "))
    return words.says(value, around=key.stems) and bool(key.stems & words.stems)
