"""Sentences as a summary quotes them: where one ends, and how a long one becomes shorter without losing its sense.

It splits by marks and never by grammar. Code between fences is left out: nobody quotes it in a summary.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

_LONGEST = 400
_LIST_WORDS = 2
_CLOSING = "\"'”’»)\\]」』）"
# A narrow mark ends a sentence before a blank only; runs are taken whole, so that a line of dots costs no more.
_END = re.compile(rf"[。！？｡]++[{_CLOSING}]*+|(?<![.!?…])[.!?…]++[{_CLOSING}]*+(?=\s|$)")
_BULLET = re.compile(r"(?:[-*•·‣–—+>]|#{1,6}|\(?\d{1,2}[.)])\s+(?=\S)")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_CLAUSE_EDGE = re.compile(r"[,;:]\s+|\s[-–—]+\s|[，；：]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MONTH = re.compile(r"(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])")
_SHORT = """
    mr mrs ms dr prof st jr sr vs etc e.g i.e approx no nr inc ltd co dept fig vol np m.in tzn itd itp ul godz tys mln
    inż mgr tel str z.b d.h bzw usw ca evtl ggf inkl hr fr u.a sra srta ud p.ej pág núm av mme mlle env např tzv atd
    apod ing č
"""
_ABBREVIATIONS = frozenset(_SHORT.split())


def plain_line(text: str) -> str:
    """The text on one line, without characters that are not for reading."""
    return " ".join(_CONTROL.sub(" ", text).split())


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, each on one line, without bullets."""
    found: list[str] = []
    for line in _lines(text):
        bullet = _BULLET.match(line)
        found += _split(line[bullet.end() :] if bullet else line)
    return found


def shortened(sentence: str, needed: Callable[[str], bool]) -> str:
    """The sentence from its first needed clause to its last: one piece of it, word for word.

    What stands in brackets is not taken apart, and a list that follows a needed clause stays whole.
    """
    clauses = [sentence[start:end] for start, end in pairwise(_clause_edges(sentence))]
    wanted = [place for place, clause in enumerate(clauses) if needed(clause)]
    if not wanted:
        return sentence
    first, end = wanted[0], wanted[-1] + 1
    while end < len(clauses) and len(clauses[end].split()) <= _LIST_WORDS:
        end += 1
    if first == 0 and end == len(clauses):
        return sentence
    return "".join(clauses[first:end]).strip(" ,;:-–—，；：")


def _clause_edges(sentence: str) -> list[int]:
    edges, depth, seen = [0], 0, 0
    for edge in _CLAUSE_EDGE.finditer(sentence):
        between = sentence[seen : edge.end()]
        depth += sum(between.count(each) for each in "([{（") - sum(between.count(each) for each in ")]}）")
        seen = edge.end()
        if depth <= 0 and seen < len(sentence):
            edges.append(seen)
    return [*edges, len(sentence)]


def _lines(text: str) -> Iterator[str]:
    """Lines outside of fences, none longer than a sentence may be by far."""
    fenced = False
    for raw in text.splitlines():
        if _FENCE.match(raw):
            fenced = not fenced
            continue
        line = "" if fenced else plain_line(raw)
        while len(line) > 10 * _LONGEST:
            cut = line.rfind(" ", 9 * _LONGEST, 10 * _LONGEST)
            cut = cut if cut > 0 else 10 * _LONGEST
            yield line[:cut]
            line = line[cut:].lstrip()
        if line:
            yield line


def _split(line: str) -> Iterator[str]:
    start = 0
    for mark in _END.finditer(line):
        if _goes_on(line, start, mark):
            continue
        yield from _bounded(line[start : mark.end()])
        start = mark.end()
    yield from _bounded(line[start:])


def _bounded(sentence: str) -> Iterator[str]:
    """What has no marks at all is cut between words."""
    rest = sentence.strip()
    while len(rest) > _LONGEST:
        cut = rest.rfind(" ", _LONGEST // 2, _LONGEST)
        cut = cut if cut > 0 else _LONGEST
        yield rest[:cut]
        rest = rest[cut:].lstrip()
    if any(char.isalnum() for char in rest):
        yield rest


def _goes_on(line: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or an ordinal number."""
    if mark[0] != ".":
        return mark[0].startswith(("..", "…")) and line[mark.end() : mark.end() + 2].lstrip().islower()
    after = line[mark.end() : mark.end() + 5].lstrip()
    word = line[max(start, mark.start() - 20) : mark.start()].rpartition(" ")[2].lstrip("(\"'“„«")
    if not after or not word:
        return False
    if word.lower() in _ABBREVIATIONS or after[0].islower():
        return True
    if word.isdigit() and len(word) <= 2:
        return bool(_MONTH.match(after))
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    return is_initial or (after[0].isdigit() and word.isalpha() and len(word) <= 3)
