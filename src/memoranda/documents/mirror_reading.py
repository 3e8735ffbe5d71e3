"""The mirror read back: the list items of a file, each with its id if it has one, and what is no list item.

`read(rendered(page))` gives the same texts, to the character. Nothing of a file is dropped in silence: what cannot be
read is handed back as it is.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from memoranda.documents.mirror import FENCE, HEAD, HOW, UNREAD, Place, heading

_ID = r"[0-9abcdefghjkmnpqrstvwxyz]{20}"
# No pattern begins with spaces without end, and none tries the same characters twice: a file may be anybody's.
_COMMENT = re.compile(rf"<!--[ \t]*+m:({_ID})\b[^<>]*-->")
# Comments with an id that were damaged. A text of ours never has `<!--` in it; where that is lost, the id is whole.
_SCRAP = re.compile(r"<!--[ \t]*+m:[ \t]*+([0-9a-z]*+)(?:[^<>]*-->|[ \t]*+-{0,2}>?$)", re.IGNORECASE)
_UNOPENED = re.compile(rf"<?!?-{{0,2}}[ \t]{{0,4}}\bm:({_ID})(?:\b[^<>]{{0,500}}-->|[ \t]*+-{{0,2}}>?$)", re.IGNORECASE)
_BROKEN = re.compile(r"<!--[ \t]*m:", re.IGNORECASE)
_ITEM = re.compile(r"[-*+](?:[ \t]+|$)")
_ENTITY = re.compile(r"&#x([0-9a-f]{1,6});", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEAD = re.compile(rf"{re.escape(HEAD)} (\S+) (\S+) ([0-9a-f]{{12}}) -->[ \t]*$")
_HEAD_MARK = re.compile(r"( )([0-9a-f]{12})( -->)")
_LINE_AND_END = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BOM = "\ufeff"
_WIDEST_MARKER = 5
_LEAST_SCRAP = 6


class Item(NamedTuple):
    """One list item. `line` counts from 1; `lines` are the file's own, without their ends."""

    line: int
    lines: tuple[str, ...]
    text: str
    id: str = ""
    scrap: str | None = None
    """What is left of the id in a comment that was damaged; None when there is no such comment."""


class Block(NamedTuple):
    """Lines that are no list item. `ids` are of memories whose items seem to be in it."""

    line: int
    lines: tuple[str, ...]
    ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Reading(NamedTuple):
    """A file as it was read."""

    items: tuple[Item, ...] = ()
    blocks: tuple[Block, ...] = ()
    mark: str = ""
    """Which version of the file was edited; empty when its head is gone."""
    newline: str = "\n"
    bom: bool = False
    trouble: str = ""
    """Why nothing of the file was read; then it has no items, and one block with all of it."""

    @property
    def held(self) -> frozenset[str]:
        """Ids that stand in what was not read: nothing is known of what became of them."""
        return frozenset(each for block in self.blocks for each in block.ids)


def decoded(content: bytes, place: Place) -> Reading:
    """A file by its bytes."""
    try:
        return read(content.decode("utf-8"), place)
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
        return Reading(blocks=(_block(1, text.split("\n")),), trouble="it is not UTF-8")


def read(text: str, place: Place) -> Reading:
    """A file by its text."""
    ends = _LINE_END.search(text)
    newline = "\r\n" if ends is not None and ends[0] == "\r\n" else "\n"
    lines = _LINE_END.split(text.removeprefix(_BOM))
    if _is_merging(lines):
        return Reading(blocks=(_block(1, lines),), newline=newline, trouble="it has conflicts of a merge in it")
    items: list[Item] = []
    blocks: list[Block] = []
    ours = {UNREAD, heading(place), *HOW}
    mark = ""
    at = 0
    while at < len(lines):
        end = _end_of(lines, at)
        part = _without_blank_end(lines[at:end])
        found = _HEAD.match(lines[at])
        if found:
            mark = mark or found[3]
        elif _ITEM.match(lines[at]):
            items.append(_item(at + 1, part))
        elif part and lines[at].rstrip(" \t") not in ours:
            blocks.append(_block(at + 1, part))
        at = end
    return Reading(tuple(items), _together(blocks), mark, newline, text.startswith(_BOM))


def _is_merging(lines: Sequence[str]) -> bool:
    """Whether one side of a conflict begins somewhere, and the other one ends behind it."""
    left = iter(lines)
    return any(line.startswith("<<<<<<< ") for line in left) and any(line.startswith(">>>>>>> ") for line in left)


def without(text: str, items: Sequence[Item], *, mark: str) -> str:
    """A file without some of its items, and with another mark; every other character as it was."""
    going = {item.line + place for item in items for place in range(len(item.lines))}
    lines = [line for number, line in enumerate(_LINE_AND_END.findall(text), 1) if number not in going]
    return "".join(_HEAD_MARK.sub(rf"\g<1>{mark}\g<3>", line) if line.startswith(HEAD) else line for line in lines)


def _end_of(lines: Sequence[str], at: int) -> int:
    """The line behind the part that begins here: an item with what is indented below it, a fence, a comment, or one
    line."""
    first = lines[at]
    if _ITEM.match(first):
        return _behind_indented(lines, at + 1)
    fence = FENCE.match(first)
    if fence:
        return _behind(lines, at + 1, fence[0])
    if first.startswith("<!--") and "-->" not in first:
        return _behind(lines, at + 1, "-->", anywhere=True)
    return at + 1


def _behind_indented(lines: Sequence[str], at: int) -> int:
    end = at
    while at < len(lines):
        if lines[at].strip(" \t"):
            if lines[at][0] not in " \t":
                break
            end = at + 1
        at += 1
    return end


def _behind(lines: Sequence[str], at: int, closing: str, *, anywhere: bool = False) -> int:
    for place in range(at, len(lines)):
        if (closing in lines[place]) if anywhere else lines[place].startswith(closing):
            return place + 1
    return len(lines)


def _without_blank_end(lines: Sequence[str]) -> tuple[str, ...]:
    kept = list(lines)
    while kept and not kept[-1].strip(" \t"):
        kept.pop()
    return tuple(kept)


def _block(line: int, lines: Sequence[str]) -> Block:
    ids = tuple(dict.fromkeys(found for each in lines for found in _COMMENT.findall(each)))
    return Block(line, tuple(lines), ids)


def _together(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Lines that follow one another are one block."""
    runs: list[list[Block]] = []
    for block in blocks:
        last = runs[-1][-1] if runs else None
        if last is not None and last.line + len(last.lines) == block.line:
            runs[-1].append(block)
        else:
            runs.append([block])
    return tuple(_block(run[0].line, tuple(chain.from_iterable(block.lines for block in run))) for run in runs)


def _item(line: int, lines: tuple[str, ...]) -> Item:
    marker = _ITEM.match(lines[0])
    assert marker is not None
    width = len(marker[0]) if 2 <= len(marker[0]) <= _WIDEST_MARKER else 2
    shown = [lines[0][marker.end() :], *(_dedented(each, width) for each in lines[1:])]
    ids = [found for each in shown for found in _COMMENT.findall(each)]
    damaged = _SCRAP if ids or any(map(_SCRAP.search, shown)) else _UNOPENED
    scraps = [] if ids else [found for each in shown for found in damaged.findall(each)]
    texts = []
    for place, each in enumerate(shown):
        bare = _cut(damaged, _cut(_COMMENT, each)).rstrip(" \t")
        if place and not bare and bare != each.rstrip(" \t"):
            continue  # a comment that has a line of its own adds none to the text
        if _BROKEN.search(bare) and not ids:
            scraps = [""]  # nobody can say where it ends: it stays in the line, and is no id
        texts.append(_unescaped(bare if place else bare.lstrip(" \t")))
    return Item(line, lines, "\n".join(texts), ids[0] if ids else "", scraps[0].lower() if scraps else None)


def _cut(pattern: re.Pattern[str], line: str) -> str:
    """A line without what is found in it, and without the spaces before that."""
    kept = []
    at = 0
    for found in pattern.finditer(line):
        kept.append(line[at : found.start()].rstrip(" \t"))
        at = found.end()
    return "".join((*kept, line[at:]))


def fits(scrap: str | None, identity: str) -> bool:
    """Whether a damaged id is part of this one, or has it in it."""
    return scrap is not None and len(scrap) >= _LEAST_SCRAP and (scrap in identity or identity in scrap)


def _dedented(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _unescaped(line: str) -> str:
    return _ENTITY.sub(_char, line)


def _char(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    is_char = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_char else found[0]
