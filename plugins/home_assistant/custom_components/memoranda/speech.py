"""What the agent says by itself, and how it tells a question from a command. English and Polish."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from .happened import Happening

_PHRASES = {
    "en": {
        "saved": "I'll remember that.",
        "known": "I already remember that.",
        "waits": "I noted that, and it waits for a review.",
        "memory": "From memory: {}",
        "happened": "From the history: {}",
        "quiet": "The history shows nothing between {} and {}.",
        "change": "{when} {name}: {state}",
    },
    "pl": {
        "saved": "Zapisane!",
        "known": "To już pamiętam.",
        "waits": "Zanotowane, czeka na zatwierdzenie.",
        "memory": "Z pamięci: {}",
        "happened": "Z historii: {}",
        "quiet": "Historia nie pokazuje nic między {} a {}.",
        "change": "{when} {name}: {state}",
    },
}
_STATES = {
    "pl": {"on": "włączone", "off": "wyłączone", "open": "otwarte", "closed": "zamknięte", "home": "w domu",
           "not_home": "poza domem", "locked": "zamknięte na klucz", "unlocked": "otwarte z klucza"},
}  # fmt: skip
# A question that memory may answer: what, who, where. Not "is the light on?", which is the house's to answer, and not
# "could you turn on the lamp?", which is a command.
_QUESTION = re.compile(
    r"^\W*(?:and |so |hey |hej |a )?(?!how about|what about|why don|why not|jak by|może by)(?:"
    r"what|which|who|whose|whom|where|when|why|how|do i|did i|do you (?:know|remember)|"
    r"co|czego|czym|kto|kogo|komu|jak\w*|któr\w+|gdzie|kiedy|dlaczego|czemu|ile|czy (?:ja|wolę|lubię|pamiętasz|wiesz)|"
    r"was|wer|wen|wem|wo|wann|warum|wie|welche[nrs]?|qué|quién|cuál|dónde|cuándo|cómo|quel\w*|qui|où|quand|comment"
    r")\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:happen(?:s|ed|ing)?|went on|been going on|działo|dzieje|stało|wydarzyło|zdarzyło|passiert|geschehen|"
    r"pasó|passé)\b",
    re.IGNORECASE,
)
_MOST_TOLD = 10


def language_of(option: str, spoken: str | None) -> str:
    """The language of an answer: the chosen one, or that of the turn, as far as it is known here."""
    chosen = (spoken or "en") if option == "auto" else option
    short = chosen.split("-")[0].lower()
    return short if short in _PHRASES else "en"


def phrase(language: str, key: str, *parts: str) -> str:
    return _PHRASES[language][key].format(*parts)


def is_question(text: str) -> bool:
    """Whether it asks something that memory may know."""
    return _QUESTION.match(text) is not None


def is_all_of(said: str, kept: Sequence[str]) -> bool:
    """Whether what was kept is most of what was said: then nothing else was asked for."""
    return sum(len(text.split()) for text in kept) * 2 > len(said.split())


def asks_what_happened(text: str) -> bool:
    """Whether it asks for events in the house."""
    return is_question(text) and _HAPPENED.search(text) is not None


def from_memory(language: str, texts: Sequence[str]) -> str:
    return phrase(language, "memory", " ".join(_sentence(text) for text in texts))


def from_history(language: str, happenings: Sequence[Happening], start: datetime, end: datetime) -> str:
    """What happened, the newest last; or that nothing did."""
    if not happenings:
        return phrase(language, "quiet", f"{start:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}")
    return phrase(language, "happened", "; ".join(lines(language, happenings[-_MOST_TOLD:])) + ".")


def lines(language: str, happenings: Sequence[Happening]) -> list[str]:
    states = _STATES.get(language, {})
    form = _PHRASES[language]["change"]
    return [
        form.format(when=f"{each.when:%H:%M}", name=each.name, state=states.get(each.state, each.state))
        for each in happenings
    ]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
