"""Triggers: the phrases of the language tables as patterns, made when first needed.

A phrase is a pattern of RE2, so that time is linear whatever a table or a text says. In a table

- `<name>` stands for what the heading `words` says about it, and `…` marks a place: where the kept text begins, or
  where the thing begins that is liked or decided; `<value>`, `<noun>` and `<title>` take a slot's value, its name, or
  a nickname;
- a phrase is found at the beginning of a clause; one that starts with `~` anywhere between words; with `^` only where
  the sentence begins; with `+` after words that ask for something, "can you please".

What it is not: a judgement. A sentence that has no trigger is not worth keeping; one that has may be a question.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import re2

from memoranda.capture.letters import small
from memoranda.capture.signs import LATIN, languages_of
from memoranda.capture.tables import phrases, table

_NAME = re.compile(r"<(\w+)>")
_MEMORY = 32 << 20
# What a phrase may take out of a sentence: the value of a slot, and what it is the value of.
_GROUPS = {
    "value": "(.+)",
    "noun": "([^ ,.;:!?]+(?: [^ ,.;:!?]+)?)",
    "title": "([^,.;:!?]+?)",
}


def fired(plain: str, *sections: str, around: str = "") -> list[tuple[str, str]]:
    """Which language and heading have a phrase in the text: the order of the headings, then of the languages."""
    found = [
        (language, headings[number])
        for language in languages_of(plain, around)
        for net, headings in (_net(language, sections),)
        if net is not None
        for number in net.Match(_as_read(plain, language)) or ()
    ]
    return sorted(found, key=lambda each: sections.index(each[1])) if len(found) > 1 else found


def has(plain: str, section: str, language: str) -> bool:
    """Whether the text has a phrase of this heading."""
    pattern = pattern_of(language, section)
    return pattern is not None and pattern.search(_as_read(plain, language)) is not None


def places(plain: str, section: str, language: str) -> Iterator[Any]:
    """Every match of the heading in the text, with its marked place as the first group that took part."""
    pattern = pattern_of(language, section)
    return iter(()) if pattern is None else pattern.finditer(_as_read(plain, language))


def marked(place: Any, otherwise: int) -> int:
    """Where the phrase that was found has its mark; `otherwise` when it has none."""
    return next(
        (place.start(number) for number in range(1, place.re.groups + 1) if place.start(number) >= 0), otherwise
    )


@cache
def pattern_of(language: str, section: str) -> Any:
    """One pattern for all phrases of a heading; None when the table has none."""
    source = _source(language, section)
    return re2.compile(_as_read(source, language), _options(language)) if source else None


@cache
def _net(language: str, sections: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """Several headings looked for in one go: most sentences have nothing, and are done with after one look."""
    headings = tuple(section for section in sections if _source(language, section))
    if not headings:
        return None, ()
    options = _options(language)
    options.never_capture = True
    net = re2.Set.SearchSet(options)
    for section in headings:
        net.Add(_as_read(_source(language, section), language))
    net.Compile()
    return net, headings


def _options(language: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    if language in LATIN:
        options.encoding = re2.Options.Encoding.LATIN1
    return options


def _as_read(plain: str, language: str) -> str | bytes:
    """A byte for a letter, where the small letters of a script allow it: patterns are made and run in half the time."""
    return plain.encode("latin-1", "replace") if language in LATIN else plain


@cache
def _source(language: str, section: str) -> str:
    words = _words(language)
    begin = words.get("begin", "")
    # Chinese and Japanese words have no edges, Korean ones have endings.
    edge = r"\b" if language in LATIN else ""
    kinds: dict[str, list[str]] = {}
    for phrase in phrases(section, language):
        lead = phrase[0] if phrase[0] in "~^+" else ""
        kinds.setdefault(lead, []).append(_written_out(phrase[len(lead) :], words, language))
    starts = {"": begin, "+": begin + words.get("ask", ""), "~": edge, "^": "^" + words.get("lead", "")}
    return "|".join(f"(?:{starts[lead]})(?:{'|'.join(found)})" for lead, found in kinds.items())


@cache
def _words(language: str) -> dict[str, str]:
    """What the names in the phrases of a language stand for; one may use those above it."""
    words = dict(_GROUPS)
    for line in table(language).get("words", ()):
        name, _, meaning = line.partition(" = ")
        words[name] = _NAME.sub(lambda used: words[used[1]], _without_groups(small(meaning)))
    return words


def _without_groups(pattern: str) -> str:
    """Brackets in a table only hold alternatives together; the places that count are marked."""
    return pattern.replace("(?:", "(").replace("(", "(?:")


def _written_out(phrase: str, words: dict[str, str], language: str) -> str:
    written = _without_groups(small(phrase.replace("…", "\0")))
    written = _NAME.sub(lambda used: f"(?:{words[used[1]]})", written)
    # A phrase that may end the sentence has seen to its edge itself.
    ends_in_word = (
        not written.endswith("$)") and written[-1].isascii() and (written[-1].isalnum() or written[-1] in ")?")
    )
    return (written + (r"\b" if ends_in_word and language in LATIN else "")).replace("\0", "()")
