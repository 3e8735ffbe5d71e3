"""Markdown into chunks with exact lines: pure, and the same text always gives the same chunks.

1. What stands before the text (front matter) is left out; its lines are counted.
2. Lines become units: a fence or a table that fits is one, a line that does not fit is several.
3. Units are packed until a chunk is full, or a heading begins that leaves no tiny chunk behind.
4. A full chunk ends at the best place of its second half: before a heading, a paragraph, an item, a line.
5. The next one begins with the last units of it, when no heading lies between them.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from memoranda.documents.lines import closes_fence, heading_of, lines_of, opens_fence
from memoranda.documents.long_lines import Piece, pieces_of
from memoranda.documents.matter import front_length
from memoranda.domain.document import Chunk
from memoranda.domain.errors import InvalidInput
from memoranda.domain.tokens import estimated_tokens

TOKENS = 400
OVERLAP = 80
_FEWEST_TOKENS = 16
_MOST_OF_A_TITLE = 120
_BYTES_OF_A_TOKEN = 4
# How good it is to begin a chunk here.
_NEVER, _ANYWHERE, _LINE, _ITEM, _PARAGRAPH, _HEADING, _HIGHER, _HIGHEST = range(8)
_LEVELS = {1: _HIGHEST, 2: _HIGHER}
_ITEM_MARK = re.compile(r"[ \t]{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_TABLE_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+")
_NO_TITLE = tuple("#>-*+|=`~ \t")

Count = Callable[[str], int]
"""Counts tokens. It must find no more in a text than in its lines, one by one and with their ends."""
# The level and the title of each heading above a place, and how many headings came before.
_Titles = tuple[tuple[int, str, int], ...]


class _Unit(NamedTuple):
    line: int
    last: int
    text: str
    cost: int
    begins: int
    section: int
    glued: bool = False
    """Whether it goes on in the line of the unit before it."""


def chunks(
    text: str, *, tokens: int = TOKENS, overlap: int = OVERLAP, count: Count = estimated_tokens
) -> tuple[Chunk, ...]:
    """The chunks of a document in order. Every line that is not blank is in one; none has more than so many tokens."""
    if tokens < _FEWEST_TOKENS:
        raise InvalidInput(f"tokens: {tokens} is too few for a chunk", hint=f"Give at least {_FEWEST_TOKENS}.")
    if not 0 <= overlap <= tokens // 2:
        raise InvalidInput(f"overlap: {overlap} does not fit", hint="Give 0 up to half of the tokens of a chunk.")
    lines = lines_of(text)
    reader = _Reader(lines, tokens, count)
    reader.read(front_length(lines))
    units = reader.units
    return tuple(_chunk(units[a:b], reader.sections) for a, b in _packed(units, tokens, overlap))


class _Reader:
    """Lines to units, from the first to the last."""

    def __init__(self, lines: Sequence[str], tokens: int, count: Count) -> None:
        self.sections: list[_Titles] = [()]
        self.units: list[_Unit] = []
        self._lines, self._tokens, self._count = lines, tokens, count
        self._after_heading = False
        self._after_blank = True

    def read(self, at: int) -> None:
        lines, count = self._lines, self._count
        blank = count("\n")
        while at < len(lines):
            line = lines[at]
            if not line or line.isspace():
                begins = _NEVER if self._after_heading else _PARAGRAPH
                cost = count(line + "\n") if line else blank
                self.units.append(_Unit(at + 1, at + 1, line, cost, begins, len(self.sections) - 1))
                self._after_blank = True
                at += 1
                continue
            end = self._end_of_block(at)
            begins = self._heading(line, lines[at + 1] if end == at + 2 else "") or self._begins(line, end > at + 1)
            self._after_heading = begins >= _HEADING
            self._after_blank = False
            self._add(at, end, begins)
            at = end

    def _end_of_block(self, at: int) -> int:
        """Where a fence, a table or an underlined heading that begins here ends; or the end of this line."""
        lines, line = self._lines, self._lines[at]
        end = at + 1
        marks = opens_fence(line) if "```" in line or "~~~" in line else ""
        if marks:
            while end < len(lines) and not (marks in lines[end] and closes_fence(lines[end], marks)):
                end += 1
            return min(end + 1, len(lines))
        following = lines[end] if end < len(lines) else ""
        if not following:
            return end
        if "|" in line and "|" in following and _TABLE_RULE.fullmatch(following):
            while end < len(lines) and "|" in lines[end]:
                end += 1
            return end
        return end + self._is_underlined(line, following)

    def _is_underlined(self, line: str, following: str) -> bool:
        alone = self._after_blank or self._after_heading
        return alone and _UNDERLINE.fullmatch(following) is not None and not line.startswith(_NO_TITLE)

    def _heading(self, line: str, following: str) -> int:
        """How good it is to begin with the heading that this is; 0 when it is none."""
        heading = heading_of(line) if "#" in line else None
        if heading is not None:
            return self._enter(*heading)
        if following and self._is_underlined(line, following):
            return self._enter(1 if "=" in following else 2, line.strip())
        return 0

    def _begins(self, line: str, is_block: bool) -> int:
        if self._after_heading:
            return _NEVER
        if self._after_blank or is_block:
            return _PARAGRAPH
        return _ITEM if _ITEM_MARK.match(line) else _LINE

    def _enter(self, level: int, title: str) -> int:
        upper = tuple(each for each in self.sections[-1] if each[0] < level)
        self.sections.append((*upper, (level, title[:_MOST_OF_A_TITLE], len(self.sections))))
        return _LEVELS.get(level, _HEADING)

    def _add(self, at: int, end: int, begins: int) -> None:
        """A block as one unit if it fits, else by lines."""
        if end == at + 1:
            self._add_line(at, begins)
            return
        costs = [self._count(line + "\n") for line in self._lines[at:end]]
        if sum(costs) <= self._tokens:
            text = "\n".join(self._lines[at:end])
            self.units.append(_Unit(at + 1, end, text, sum(costs), begins, len(self.sections) - 1))
            return
        for place, cost in enumerate(costs, at):
            self._add_line(place, begins, cost)
            begins = _LINE

    def _add_line(self, at: int, begins: int, cost: int | None = None) -> None:
        section, number, line = len(self.sections) - 1, at + 1, self._lines[at]
        pieces: tuple[Piece, ...] = ()
        if cost is None and self._will_not_fit(line):
            pieces = tuple(pieces_of(line, self._tokens, self._count))
            cost = sum(piece.cost for piece in pieces)
        elif cost is None:
            cost = self._count(line + "\n")
        if cost <= self._tokens:
            self.units.append(_Unit(number, number, line, cost, begins, section))
            return
        for piece in pieces or pieces_of(line, self._tokens, self._count):
            self.units.append(_Unit(number, number, piece.text, piece.cost, begins, section, piece.glued))
            begins = _ANYWHERE

    def _will_not_fit(self, line: str) -> bool:
        """A guess, so that what is long is not counted twice: as a whole and by its sentences."""
        return len(line) > self._tokens and len(line.encode(errors="surrogatepass")) > _BYTES_OF_A_TOKEN * self._tokens


def _packed(units: Sequence[_Unit], tokens: int, overlap: int) -> Iterator[tuple[int, int]]:
    """From which unit to which each chunk goes, the end not included, without blank ends."""
    before = [0, *accumulate(unit.cost for unit in units)]
    start = first = _past_blanks(units, 0)
    while start < len(units):
        end = _filled(units, before, first, start, tokens)
        stop = end
        while not units[stop - 1].text.strip():
            stop -= 1
        yield first, stop
        # What a chunk carries over is less than it held, or the next one would say nothing new.
        least = first + 1
        start = first = _past_blanks(units, end)
        if start < len(units) and units[start].begins < _HEADING:
            room = min(overlap, tokens - units[start].cost)
            section = units[start].section
            while first > least and before[start] - before[first - 1] <= room and units[first - 1].section == section:
                first -= 1
            first = _past_blanks(units, first)


def _past_blanks(units: Sequence[_Unit], at: int) -> int:
    while at < len(units) and not units[at].text.strip():
        at += 1
    return at


def _filled(units: Sequence[_Unit], before: Sequence[int], first: int, start: int, tokens: int) -> int:
    """Where the chunk ends that carries the units from `first` over and goes on with `start`."""
    end = start + 1
    while end < len(units) and before[end + 1] - before[first] <= tokens:
        if _is_new_start(units[end], before[end] - before[start], tokens):
            return end
        end += 1
    if end == len(units):
        return end
    full = before[end] - before[start]
    best, most = end, -1
    for place in range(end, start, -1):
        worth = _worth(units[place].begins, (before[place] - before[start]) / full)
        if worth > most:
            best, most = place, worth
    return best


def _worth(begins: int, share: float) -> int:
    """How good it is to end a chunk where this begins, when that leaves such a share of it."""
    return begins if share >= (0.25 if begins >= _HEADING else 0.5) else 0


def _is_new_start(unit: _Unit, held: int, tokens: int) -> bool:
    """Whether a heading begins a chunk though this one is not full: the higher it is, the sooner."""
    return unit.begins >= _HEADING and held >= tokens // (2 if unit.begins == _HEADING else 4)


def _chunk(units: Sequence[_Unit], sections: Sequence[_Titles]) -> Chunk:
    made = "".join(unit.text if unit.glued else "\n" + unit.text for unit in units)
    text = made if units[0].glued else made[1:]
    first, *others = dict.fromkeys(
        [unit.section for unit in units if unit.begins < _HEADING and unit.text.strip()] or [units[0].section]
    )
    titles = sections[first]
    for other in others:
        titles = _shared(titles, sections[other])
    heading = " > ".join(title for _, title, _ in titles if title)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return Chunk(units[0].line, units[-1].last, text, heading, digest)


def _shared(one: _Titles, other: _Titles) -> _Titles:
    """The titles above both."""
    upper = 0
    while upper < min(len(one), len(other)) and one[upper] == other[upper]:
        upper += 1
    return one[:upper]
