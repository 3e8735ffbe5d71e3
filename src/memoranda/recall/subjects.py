"""Subjects: which things, and which kinds of memory, a query names."""

import re
from collections.abc import Iterable

from memoranda.domain.memory import Kind
from memoranda.domain.text import normal_form

_WORD = re.compile(r"[^\W_]+(?:[._:/@-]+[^\W_]+)*")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST_WORDS = 64
_KIND_WORDS: dict[Kind, str] = {
    "decision": "decision decisions decide decided agreed choose chose decyzja decyzje zdecydowaliśmy postanowiliśmy "
    "ustaliliśmy 决定 決定 entschieden decidido décidé",
    "preference": "preference preferences prefer prefers preferred favourite favorite preferencje wolę woli "
    "ulubiony ulubiona ulubione 偏好 喜好 喜欢 喜歡 bevorzugt prefiere préfère",
}
_KINDS: tuple[tuple[Kind, frozenset[str]], ...] = tuple(
    (kind, frozenset(words.split())) for kind, words in _KIND_WORDS.items()
)


def named_subjects(query: str, aliases: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Subjects that the query names by an alias, of pairs of subject and alias; and every identifier in it."""
    asked = normal_form(query)
    words = _WORD.findall(asked)[:_MOST_WORDS]
    spaced = f" {' '.join(words)} "
    found = {word for word in _WORD.findall(query)[:_MOST_WORDS] if not word.isalnum()}
    for subject, alias in aliases:
        name = normal_form(alias)
        if len(name) > 1 and (
            name in asked if _UNSPACED.search(name) else f" {' '.join(_WORD.findall(name))} " in spaced
        ):
            found.add(subject)
    return frozenset(found)


def named_kinds(query: str) -> frozenset[Kind]:
    """Kinds of memory that the query asks for by name."""
    asked = normal_form(query)
    words = set(_WORD.findall(asked))
    return frozenset(
        kind
        for kind, names in _KINDS
        if names & words or any(_UNSPACED.match(name) and name in asked for name in names)
    )
