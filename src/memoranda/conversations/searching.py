"""Hits in transcripts, shown with what was said around them.

Two hits of one conversation whose surroundings touch are one passage. A silence ends what belongs together: what was
said an hour before is another talk, however near it stands. Which messages are hits was decided before.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memoranda.conversations.exchanges import in_order
from memoranda.domain.conversation import KeptMessage

_MARK = " [...]"
_SHORTEST = 80
"""Fewer characters of a message are not worth showing."""


class TranscriptHit(NamedTuple):
    """One message that was found, by its number."""

    number: int
    score: float
    conversation: str = ""


class Passage(NamedTuple):
    """A part of one conversation, in its order."""

    conversation: str
    messages: tuple[KeptMessage, ...]
    hits: tuple[int, ...]
    """The numbers of the messages that were found."""
    score: float
    """Of the best of them."""
    truncated: bool = False
    """Whether messages of it, or passages after it, were left out for want of room."""

    @property
    def characters(self) -> int:
        return sum(len(message.text) for message in self.messages)


Neighbours = Callable[[int, int], Sequence[KeptMessage]]
"""The message of this number with so many before and after it in its conversation; nothing if it is gone."""


def grouped(
    hits: Iterable[TranscriptHit],
    neighbours: Neighbours,
    *,
    context: int = 2,
    gap_ms: int = 600_000,
    most_chars: int = 16_000,
) -> tuple[Passage, ...]:
    """Passages around the hits, the best first and of equal ones the newest, in so many characters at most."""
    found: dict[str, list[Passage]] = defaultdict(list)
    best: dict[int, TranscriptHit] = {}
    for hit in hits:
        if hit.number not in best or hit.score > best[hit.number].score:
            best[hit.number] = hit
    for hit in best.values():
        around = _around(hit.number, in_order(neighbours(hit.number, context)), context=context, gap_ms=gap_ms)
        if around:
            found[hit.conversation].append(Passage(hit.conversation, around, (hit.number,), hit.score))
    passages = [joined for each in found.values() for joined in _joined(each, gap_ms=gap_ms)]
    passages.sort(key=lambda passage: (-passage.score, -passage.messages[-1].at, -passage.messages[-1].number))
    scores = {number: hit.score for number, hit in best.items()}
    return _bounded(passages, scores, most_chars)


def _around(number: int, messages: tuple[KeptMessage, ...], *, context: int, gap_ms: int) -> tuple[KeptMessage, ...]:
    """The hit with what was said near it, as far as the next silence."""
    middle = next((place for place, message in enumerate(messages) if message.number == number), None)
    if middle is None:
        return ()
    start = end = middle
    while start > 0 and middle - start < context and not _silent(messages[start - 1], messages[start], gap_ms):
        start -= 1
    while end + 1 < len(messages) and end - middle < context and not _silent(messages[end], messages[end + 1], gap_ms):
        end += 1
    return messages[start : end + 1]


def _silent(before: KeptMessage, after: KeptMessage, gap_ms: int) -> bool:
    return after.at - before.at >= gap_ms


def _joined(passages: list[Passage], *, gap_ms: int) -> list[Passage]:
    """Passages of one conversation, those that touch made one."""
    joined: list[Passage] = []
    for passage in sorted(passages, key=lambda each: (each.messages[0].place, each.messages[0].number)):
        if joined and _touch(joined[-1], passage, gap_ms=gap_ms):
            joined[-1] = _merged(joined[-1], passage)
        else:
            joined.append(passage)
    return joined


def _touch(one: Passage, next_: Passage, *, gap_ms: int) -> bool:
    last, first = one.messages[-1], next_.messages[0]
    return first.place <= last.place or (first.place == last.place + 1 and not _silent(last, first, gap_ms))


def _merged(one: Passage, other: Passage) -> Passage:
    messages = {message.number: message for message in (*one.messages, *other.messages)}
    hits = tuple(sorted({*one.hits, *other.hits}))
    return Passage(one.conversation, in_order(messages.values()), hits, max(one.score, other.score))


# -- room --


def _bounded(passages: Sequence[Passage], scores: dict[int, float], room: int) -> tuple[Passage, ...]:
    shown: list[Passage] = []
    for passage in passages:
        if passage.characters <= room:
            shown.append(passage)
            room -= passage.characters
            continue
        part = _part(passage, scores, room)
        if part:
            shown.append(part)
        elif shown:
            shown[-1] = shown[-1]._replace(truncated=True)
        break
    return tuple(shown)


def _part(passage: Passage, scores: dict[int, float], room: int) -> Passage | None:
    """The best hits of a passage that fit, then what stands nearest to them; the best one cut if it is too long."""
    hits = [message for message in passage.messages if message.number in passage.hits]

    def urgency(message: KeptMessage) -> tuple[int, float, int]:
        return min(abs(message.place - hit.place) for hit in hits), -scores.get(message.number, 0.0), message.number

    kept: list[KeptMessage] = []
    for message in sorted(passage.messages, key=urgency):
        if len(message.text) <= room:
            kept.append(message)
            room -= len(message.text)
        elif message.number in passage.hits and not kept and room >= _SHORTEST:
            kept.append(message._replace(text=message.text[: room - len(_MARK)] + _MARK))
            break
        else:
            break
    left = {message.number for message in kept}
    numbers = tuple(number for number in passage.hits if number in left)
    if not kept:
        return None
    best = max(scores[number] for number in numbers)
    return passage._replace(messages=in_order(kept), hits=numbers, score=best, truncated=True)
