"""The forms in which a text is looked at: as it reads, and with what was pulled apart put together again.

Each form knows where its characters came from, so that what is found in it can be covered in the text as given.
"""

import re
import string
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# Nothing of it shows: controls, soft hyphen, fillers, zero-width and bidirectional controls, variation selectors, tags.
_INVISIBLE = re.compile(
    "[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# One for one, as East Asian text has them beside its own signs.
_FULL_WIDTH = re.compile("[\u3000\uff01-\uff5e]")
_HALF_WIDTH = {0x3000: " ", **{place: chr(place - 0xFEE0) for place in range(0xFF01, 0xFF5F)}}
# Letters and digits in circles, raised, in bold, in full width.
_STYLED = re.compile(
    "[\xaa\xb2\xb3\xb9\xba\u2070-\u209c\u2100-\u2188\u2460-\u24ff\ufb00-\ufb06\uff10-\uff5a\U0001d400-\U0001d7ff"
    "\U0001f100-\U0001f189]"
)
# Cyrillic and Greek letters that look like Latin ones, as they are used inside a Latin word.
_LOOK_ALIKE = str.maketrans(
    "аеорсухіјѕԁһԛԝАВЕЗКМНОРСТУХІЈЅαοινρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhqwABE3KMHOPCTYXIJSaoivptuxABEZHIKMNOPTYX",
)
_MIXED_WORD = re.compile("[A-Za-z0-9_][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][A-Za-z0-9_]")
_WORD = re.compile(r"\S+")
# "g h p _ 1 a": at least so many single characters in a row.
_SPELLED = re.compile(r"(?<!\S)\S(?:[ \t\u3000]{1,2}\S){7,}(?!\S)")
_BLANKS = re.compile(r"[ \t\u3000]+")
_LINE_END = re.compile(r"(?<=[A-Za-z0-9_+/-]{6})\\?\r?\n[ \t>|]{0,8}(?=[A-Za-z0-9_+/-]{4})")
_KEY_CHARACTERS = string.ascii_letters + string.digits + "_+/-"
_SCHEME_CHARACTERS = string.ascii_letters + string.digits + "+.-"
_LONGEST_SCHEME = 20
_ADDRESS_REST = re.compile(r"[^\s\"'<>]*")
_LONGEST_PART = 100
# Some signs are whole sentences when written out; no key hides in one.
_LONGEST_LETTER = 4


class Form(NamedTuple):
    """A text to look at. `starts[i]` and `ends[i]` say where in the given text character i came from.

    They are None where nothing was moved.
    """

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The same place in the given text."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def without(self, gaps: list[tuple[int, int]]) -> "Form":
        """The form with these places taken out."""
        gone = {place for start, end in gaps for place in range(start, end)}
        kept = [place for place in range(len(self.text)) if place not in gone]
        text = "".join(map(self.text.__getitem__, kept))
        if self.starts is None or self.ends is None:
            return Form(text, kept, [place + 1 for place in kept])
        return Form(text, list(map(self.starts.__getitem__, kept)), list(map(self.ends.__getitem__, kept)))


def plain(text: str) -> Form:
    """As it reads: compatibility characters are plain ones, what does not show is gone."""
    if text.isascii() and text.isprintable():
        return Form(text)
    shown = Form(text)
    if _INVISIBLE.search(text):
        shown = shown.without([found.span() for found in _INVISIBLE.finditer(text)])
    if _FULL_WIDTH.search(shown.text):
        shown = shown._replace(text=shown.text.translate(_HALF_WIDTH))
    if not shown.text.isascii() and not unicodedata.is_normalized("NFKC", shown.text):
        shown = _composed(shown)
    return _latin(shown)


def reads_otherwise(text: str) -> bool:
    """Whether letters or digits of its plain form may differ from those that are in it."""
    return bool(_INVISIBLE.search(text) or _MIXED_WORD.search(text) or _STYLED.search(text))


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where web addresses are: from the name of the scheme to the next blank or quotation mark."""
    end = 0
    for mark in ("://", "www."):
        at = text.find(mark)
        while at >= 0:
            before = text[max(end, at - _LONGEST_SCHEME) : at]
            start = at - len(before) + len(before.rstrip(_SCHEME_CHARACTERS))
            end = _ADDRESS_REST.match(text, at).end()  # type: ignore[union-attr]
            yield start, end
            at = text.find(mark, end)
        end = 0


def spelled(text: str) -> Form | None:
    """With "g h p _ 1" as one token; None when nothing is spelled out."""
    gaps = [
        (run.start() + gap.start(), run.start() + gap.end())
        for run in _SPELLED.finditer(text)
        for gap in _BLANKS.finditer(run[0])
    ]
    return Form(text).without(gaps) if gaps else None


def unbroken(text: str) -> Form | None:
    """With tokens that are broken over lines in one piece; None when there is none."""
    gaps = [found.span() for found in _LINE_END.finditer(text) if _is_inside_key(text, *found.span())]
    return Form(text).without(gaps) if gaps else None


def _composed(form: Form) -> Form:
    """NFKC, letter by letter: a letter and its marks are one."""
    text, starts, ends = [], [], []
    for start, end in _letters(form.text):
        first, last = form.span(start, end)
        for character in _nfkc(form.text[start:end]):
            text.append(character)
            starts.append(first)
            ends.append(last)
    return Form("".join(text), starts, ends)


def _letters(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(1, len(text)):
        # Nobody reads more marks than a few; a tower of them is cut, so that no letter is long.
        if text[place] < "\u0300" or not unicodedata.combining(text[place]) or place - start > 8:
            yield start, place
            start = place
    if text:
        yield start, len(text)


@lru_cache(4096)
def _nfkc(letter: str) -> str:
    return letter if letter.isascii() else unicodedata.normalize("NFKC", letter)[:_LONGEST_LETTER]


def _latin(form: Form) -> Form:
    """Look-alikes from other alphabets made Latin, in words that are Latin otherwise."""
    if form.text.isascii() or not _MIXED_WORD.search(form.text):
        return form
    text = _WORD.sub(lambda word: word[0].translate(_LOOK_ALIKE) if _MIXED_WORD.search(word[0]) else word[0], form.text)
    return form._replace(text=text)


def _is_inside_key(text: str, start: int, end: int) -> bool:
    """Whether a line ends between two pieces that may be one key: letters and digits on both sides, no word."""
    line = text[max(0, start - _LONGEST_PART) : start]
    next_line = text[end : end + _LONGEST_PART]
    before = line[len(line.rstrip(_KEY_CHARACTERS)) :]
    rest = next_line.lstrip(_KEY_CHARACTERS)
    after = next_line[: len(next_line) - len(rest)]
    ends = not rest or rest[0].isspace() or rest[0] in "\"'`.,;)="
    return ends and max(len(before), len(after)) > 9 and _is_mixed(before) and _is_mixed(after)


def _is_mixed(piece: str) -> bool:
    return not piece.isdigit() and not (piece[1:].islower() and piece.isalpha())
