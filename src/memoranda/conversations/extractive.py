"""The summarizer that needs no model: it quotes what matters, word for word, and leaves out the rest.

Decisions, wishes and corrections first, then facts with numbers or ids, then what the conversation is about. It never
says anything in its own words, so it cannot invent; what an earlier summary said competes with what is new.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memoranda.conversations.already import Already
from memoranda.conversations.choosing import BETWEEN, Chosen, choose, lines_of
from memoranda.conversations.particulars import borne_out
from memoranda.conversations.phrases import words_of
from memoranda.conversations.salience import LEAST, NOTHING, Reader, Saying, reader, stems_of
from memoranda.conversations.sentences import plain_line
from memoranda.conversations.toolwork import deeds
from memoranda.domain.conversation import Gist
from memoranda.domain.message import Message
from memoranda.domain.ports import Again, Summarized, never
from memoranda.domain.tokens import estimated_tokens

NAME = "extractive"
_ACTIONS_SHARE = 0.25
_OPEN_SHARE = 0.2
_LONGEST_NAME = 40
_VOICES = frozenset({"assistant", "system", "tool"})


class ExtractiveSummarizer:
    """Quotes, offline, in no time to speak of: `seconds` and `again` are for those who ask a service."""

    name = NAME

    def cost(self, messages: Sequence[Message], *, earlier: Gist, most_tokens: int) -> int:
        """Nothing is sent anywhere."""
        return 0

    def summarize(
        self, messages: Sequence[Message], *, earlier: Gist, most_tokens: int, seconds: float, again: Again = never
    ) -> Summarized:
        """What matters of these messages and of the earlier gist, in at most so many tokens."""
        return Summarized(extracted(messages, earlier=earlier, most_tokens=most_tokens))

    def close(self) -> None:
        """Nothing is held."""


def extracted(messages: Sequence[Message], *, earlier: Gist, most_tokens: int) -> Gist:
    """The gist of these messages after an earlier one, in their words, in at most so many tokens."""
    read = reader([message.text for message in messages if message.role == "user"] or [*earlier.points])
    names = {_name(message) for message in messages} | {"User", "Assistant"}
    kept = _earlier_sayings(earlier.points, read, names, before=len(earlier.open_items))
    wished = _earlier_sayings(earlier.open_items, read, names, before=0)
    said = _sayings(messages, read)
    acted = [each for each in said if _tells_a_deed(each)]
    work = _deeds(messages)
    still_open = _open_items([*wished, *said], [*acted, *_finished(said)], [each.text for each in work])
    open_lines, opened = _open_lines(still_open, most_tokens)
    done = _Done(earlier.actions, work, acted)
    share = round(most_tokens * _ACTIONS_SHARE)
    chosen = Chosen(most_tokens - _size(open_lines) - _size(done.lines(share)))
    told = opened | {each.order for each in acted}
    crowded_out = [each for each in still_open if each.source < 0]
    choose([each for each in (*kept, *crowded_out, *said) if each.order not in told], chosen)
    # What the points leave is room for deeds that had none.
    points = lines_of(chosen.sayings)
    left = most_tokens - _size(open_lines) - _size(points)
    return Gist(points, done.lines(left), open_lines)


def _name(message: Message) -> str:
    named = plain_line(message.speaker)[:_LONGEST_NAME].replace(":", "")
    if message.role == "user" and named.casefold() in _VOICES:
        return f"User {named}"  # who calls himself so does not speak as one
    return named or ("Assistant" if message.role == "assistant" else "User")


def _sayings(messages: Sequence[Message], read: Reader) -> list[Saying]:
    found: list[Saying] = []
    for source, message in enumerate(messages):
        if message.role in ("user", "assistant") and message.text:
            found += read(message.text, _name(message), message.role == "assistant", source)
    return found


def _earlier_sayings(lines: Iterable[str], read: Reader, names: set[str], *, before: int) -> list[Saying]:
    """Lines of an earlier gist as sayings again, by whoever they name."""
    every = tuple(lines)
    found: list[Saying] = []
    for place, line in enumerate(every):
        who, mark, rest = line.partition(": ")
        if not mark or who not in names:
            who, rest = "", line
        # What was said before all messages has a source below theirs.
        source = place - len(every) - before
        found += read(rest.replace(BETWEEN, "\n"), who, who == "Assistant", source)
    return found


def _tells_a_deed(saying: Saying) -> bool:
    if not saying.assistant or saying.question or saying.source < 0 or "done" not in saying.marks:
        return False
    return bool(saying.particulars) or (not saying.talk and len(saying.stems) >= 2 and saying.tokens <= 30)


def _finished(said: Iterable[Saying]) -> list[Saying]:
    return [each for each in said if not each.assistant and "finished" in each.marks and not each.question]


class _Work(NamedTuple):
    text: str
    source: int
    little: tuple[bool, bool]
    """How little it matters; the least of all sorts first."""


def _deeds(messages: Sequence[Message]) -> list[_Work]:
    return [_Work(deed.text, deed.source, (deed.looking, not deed.failed)) for deed in deeds(messages)]


def _open_items(said: Sequence[Saying], done: Sequence[Saying], work: Sequence[str]) -> list[Saying]:
    """What somebody meant to do and nobody has said to be done since; at the end, questions without an answer."""
    last_answer = max((each.source for each in said if each.assistant), default=-1)
    found = []
    since = Already((other.stems, other.order, other.source) for other in done)
    by_tools = Already((stems_of(text, words_of(text)), 0, 0) for text in work)
    for each in said:
        earlier = each.source < 0
        if not earlier and (each.assistant or each.level == NOTHING):
            continue
        unanswered = each.question and each.source > last_answer
        wanted = "open" in each.marks and not each.question and "decision" not in each.marks
        if not (unanswered or earlier or (wanted and len(each.stems) >= 2)):
            continue
        if since.covers(each.stems, after=each.order, apart_from=each.source):
            continue
        if not (earlier and by_tools.covers(each.stems)):
            found.append(each)
    return found


def _open_lines(found: Sequence[Saying], most_tokens: int) -> tuple[tuple[str, ...], set[int]]:
    """The newest that fit, questions last of all."""
    chosen = Chosen(round(most_tokens * _OPEN_SHARE))
    for each in sorted(found, key=lambda each: (each.question, -each.order)):
        if each.source < 0 or len(each.stems) >= LEAST or each.particulars or each.question:
            chosen.take(each)
    return lines_of(chosen.sayings), {each.order for each in chosen.sayings}


class _Done:
    """Deeds: of an earlier gist, of tools, and as the assistant told them."""

    def __init__(self, earlier: Sequence[str], work: Sequence[_Work], acted: Sequence[Saying]) -> None:
        found = [_Work(line, place - len(earlier), (False, True)) for place, line in enumerate(earlier)]
        found += work
        # What a tool call says already need not be said again.
        told, _ = borne_out(Gist(tuple(each.text for each in acted)), (), Gist(tuple(each.text for each in work)))
        again = frozenset(told.points)
        for each in acted:
            if not (each.particulars and each.text in again):
                found.append(_Work(each.text, each.source, (not each.particulars, True)))
        latest = {each.text: place for place, each in enumerate(found)}
        self._found = [found[place] for place in sorted(latest.values())]

    def lines(self, room: int) -> tuple[str, ...]:
        """In their order; what changed something or failed before what only looked, the newest first."""
        every = self._found
        kept: list[int] = []
        for place in sorted(range(len(every)), key=lambda place: (every[place].little, -every[place].source, -place)):
            cost = _size((every[place].text,))
            if cost <= room:
                room -= cost
                kept.append(place)
        return tuple(every[place].text for place in sorted(kept, key=lambda place: (every[place].source, place)))


def _size(lines: Iterable[str]) -> int:
    return sum(estimated_tokens(f"{line}\n") for line in lines)
