"""Particulars: the numbers and the ids of a text, which a summary has to keep and a model must not invent.

A number is anything with a digit: a date, a time, an amount, a version. An id is a name that only one thing has:
`light.office`, `person:anna`, PROJ-123, a path, an address, what stands in backticks.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from memoranda.domain.conversation import Gist
from memoranda.domain.message import Message

# Chinese, Japanese and Korean are written up against numbers and ids, so their letters end a run, too.
_RUN = re.compile("[^\\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff0f\uff1a-\uff65]+")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_AROUND = "\"'“”„‘’«»‹›()[]{}<>,;:!?.*…`|=~_"
_LONGEST = 200
_HAN_NUMBER = re.compile("[〇零一二两三四五六七八九十百千万]{1,12}[点时月日号年块元円岁歳度％]")
_ENTITY = re.compile(r"[a-z][a-z0-9_]+[.:][a-z][a-z0-9_]+")
_CORE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_GROUPED = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_UNIT = re.compile(r"[^\W\d_]+")


def particulars(text: str) -> frozenset[str]:
    """The numbers and ids of a text, in small letters."""
    # Two sentences that a summary put side by side may have half a pair of backticks each.
    quotations = _QUOTED.findall(text) if "`" in text else ()
    found = {_normal(quoted) for quoted in quotations if " / " not in quoted}
    for run in _RUN.findall(text):
        if len(run) <= _LONGEST and (name := _particular(run)):
            found.add(name)
    if not text.isascii():
        found.update(_HAN_NUMBER.findall(text))
    return frozenset(found)


def ids(found: Iterable[str]) -> frozenset[str]:
    """Those that name a thing and are no mere number."""
    return frozenset(each for each in found if sum(char.isalpha() for char in each) > 3 or not _CORE.search(each))


def borne_out(gist: Gist, messages: Sequence[Message], earlier: Gist) -> tuple[Gist, int]:
    """The gist without the lines whose numbers or ids occur in nothing that was said, and how many those were.

    Only these are looked for: a line of mere words passes, whatever it says.
    """
    said = _said(messages, earlier)
    text = "\n".join(said)
    known = frozenset(core for each in said for core in _cores(each))

    @cache
    def occurs(particular: str) -> bool:
        return _occurs(particular, text, known)

    def true(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line in lines if all(map(occurs, particulars(line))))

    kept = Gist(true(gist.points), true(gist.actions), true(gist.open_items))
    return kept, sum(len(each) for each in gist) - sum(len(each) for each in kept)


@lru_cache(maxsize=8_192)
def _particular(run: str) -> str:
    """The particular that a run of letters is; empty when it is an ordinary word."""
    name = run.strip(_AROUND)
    if not any(char.isalnum() for char in name):
        return ""
    if name.isalpha():
        return _normal(run.rstrip(_AROUND)) if run[0] in "#@" and name[1:].isalpha() else ""
    is_one = any(char.isdecimal() for char in name) or _is_id(name)
    return _normal(name) if is_one else ""


def _is_id(name: str) -> bool:
    if "://" in name or (name[0] in "#@" and len(name) > 2) or name.startswith("--"):
        return True
    if "@" in name[1:-1] or "_" in name[1:-1]:
        return True
    if "/" in name:
        return name[0] in "/~." or name.count("/") > 1 or "." in name.rpartition("/")[2]
    return _ENTITY.fullmatch(name) is not None


def _normal(name: str) -> str:
    return name.casefold() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()


def _said(messages: Sequence[Message], earlier: Gist) -> list[str]:
    said = [line for part in earlier for line in part]
    for message in messages:
        said += (message.text, message.speaker)
        said += (f"{call.name} {call.arguments}" for call in message.tool_calls)
    return [_normal(each) for each in said]


def _occurs(particular: str, text: str, known: frozenset[str]) -> bool:
    """Whether it was said, as it stands or, when it is a number with a unit, in another way to write the number."""
    place = text.find(particular)
    while place >= 0:
        if not (_in_word(text, place - 1, particular[0]) or _in_word(text, place + len(particular), particular[-1])):
            return True
        place = text.find(particular, place + len(particular))
    cores = _cores(particular)
    is_number = bool(cores) and all(len(unit) <= 3 for unit in _UNIT.findall(particular)) and "_" not in particular
    has_code = re.search(r"[^\W\d_]-\d|^[a-z]{2,}\d", particular) is not None
    return is_number and not has_code and cores <= known


def _in_word(text: str, place: int, edge: str) -> bool:
    """Whether the character there makes a longer word or number of what ends with `edge`."""
    if not 0 <= place < len(text) or not text[place].isascii():
        return False
    return text[place].isalnum() and edge.isalnum() and text[place].isdecimal() == edge.isdecimal()


def _cores(text: str) -> frozenset[str]:
    return frozenset(_GROUPED.sub("", core) for core in _CORE.findall(text))
