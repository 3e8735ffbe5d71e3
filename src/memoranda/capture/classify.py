"""Classify: the kind, weight, subject and slot of a sentence that is to be kept.

Kinds in this order: preference, decision, entity, fact. The importance is a formula and never a guess at meaning.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from memoranda.capture.letters import small
from memoranda.capture.names import name_at
from memoranda.capture.signs import LATIN, languages_of
from memoranda.capture.tables import table
from memoranda.capture.triggers import fired, has, places
from memoranda.domain.candidate import Candidate
from memoranda.domain.memory import Kind

_THINGS = (
    "light switch cover sensor binary_sensor climate media_player lock fan vacuum camera person device_tracker scene "
    "script automation input_boolean input_number input_select input_text input_datetime input_button group zone "
    "weather sun alarm_control_panel humidifier water_heater button number select siren remote calendar todo timer "
    "counter lawn_mower valve update event image notify tts text assist_satellite"
).replace(" ", "|")
_IDENTIFIER = re.compile(
    rf"(?<![A-Za-z0-9_./@-])(?:(?:{_THINGS})\.[a-z0-9_]+|(?:person|contact|area|zone|room|device|camera|entity):[a-z0-9_.-]*[a-z0-9_])(?![A-Za-z0-9_@/-])"
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}")
_PHONE = re.compile(r"(?<![\w.])\+?\(?\d(?:[ ().-]{0,2}\d){7,14}(?![\w])")
_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_ITS_PLACE = "entityid"
_VALUE_END = re.compile(r"[,;!?()]|\.(?:\s|$)| - ")
_SLOTS = ("name", "home", "work", "birthday")
_BASE, _ASKED, _UNASKED, _FLOOR = 0.5, 0.3, -0.1, 0.5
# What somebody else likes is a preference too, once a person asks to keep it.
_KINDS: dict[str, Kind] = {
    "preference": "preference",
    "address": "preference",
    "order": "preference",
    "decision": "decision",
    "other": "preference",
    "reminder": "note",
}
_WEIGHTS: dict[Kind, float] = {"preference": 0.2, "decision": 0.3}


class Slot(NamedTuple):
    """What a sentence is about and which value it gives; empty where it says neither."""

    about: str = ""
    attribute: str = ""
    value: str | None = None


def importance_of(kind: Kind, *, explicit: bool) -> float:
    """How much a captured memory weighs. Nothing a person says of themselves is beneath notice."""
    weight = _BASE + _WEIGHTS.get(kind, 0.0) + (_ASKED if explicit else _UNASKED)
    return round(min(1.0, max(_FLOOR, weight)), 2)


def has_contact(text: str) -> bool:
    """Whether the text has an e-mail address or a telephone number in it."""
    return bool(_EMAIL.search(text) or _PHONE.search(_DATE.sub(" ", text)))


def classified(text: str, *, section: str, language: str, known: Callable[[str], str]) -> Candidate:
    """A sentence that is to be kept, with its kind, weight and slot. `section` is the heading that let it through."""
    explicit = section in ("request", "reminder")
    plain = small(text)
    slot = _slot(text, plain, known)
    kind = _kind(text, plain, slot, section)
    spoken = _language(plain, language)
    return Candidate(
        text=text,
        kind=kind,
        importance=importance_of(kind, explicit=explicit),
        explicit=explicit,
        lang=spoken,
        about=slot.about,
        attribute=slot.attribute,
        value=slot.value,
        corrects=bool(fired(plain, "otherwise", "denied")),
        rule=f"{language} {section}".strip(),
    )


def _kind(text: str, plain: str, slot: Slot, section: str) -> Kind:
    if section in ("preference", "address", "decision", "reminder"):
        return _KINDS[section]
    if section not in ("fact", "other"):
        for language, found in fired(plain, "preference", "address", "order", "decision", "other"):
            if not has(plain, "hypothetical", language):
                return _KINDS[found]
    if has_contact(text) or (_IDENTIFIER.search(text) and slot.attribute != "nickname"):
        return "entity"
    return "fact"


def _language(plain: str, language: str) -> str:
    """The language of the table that let it through, unless what is left is in another script."""
    languages = languages_of(plain)
    return language if not languages or (language in LATIN) == (languages[0] in LATIN) else languages[0]


def _slot(text: str, plain: str, known: Callable[[str], str]) -> Slot:
    identifier = _IDENTIFIER.search(text)
    if identifier:
        name = "" if fired(plain, "denied") else _nickname(text, identifier)
        return Slot(identifier[0], "nickname", name) if name else Slot(identifier[0])
    if about := known(text):
        return Slot(about)
    for language, section in fired(plain, *(f"slot {name}" for name in _SLOTS), "slot favourite"):
        place = next(places(plain, section, language), None)
        if place is None:
            continue
        taken = [place.span(number) for number in range(1, place.re.groups + 1) if place.start(number) >= 0]
        value = _value(text[slice(*taken[-1])], language) if taken else ""
        if section == "slot name" and not has(small(value), "no name", language):
            value = name_at(value)
        elif section == "slot name":
            continue
        if not value or has(small(value), "no thing", language) or has(_clause(plain, place), "denied", language):
            continue
        if section != "slot favourite":
            return Slot("", section.removeprefix("slot "), value)
        if len(taken) > 1:
            return Slot("", f"favourite {_noun(plain[slice(*taken[0])], language)}", value)
    return Slot()


def _value(text: str, language: str = "") -> str:
    """What a slot takes: to the end of its clause, without the next statement or a word of time."""
    ends = [end.start() for end in (_VALUE_END.search(text),) if end]
    ends += [end.start() for end in places(small(text), "value end", language)] if language else []
    return text[: min(ends, default=None)].strip(" .。\"'")


def _clause(plain: str, place: Any) -> str:
    """The clause in which a slot was found."""
    start = max(plain.rfind(mark, 0, place.start() + 1) for mark in ",;") + 1
    ends = [end for mark in ",;" if (end := plain.find(mark, place.start() + 1)) >= 0]
    return plain[start : min(ends, default=None)]


def _noun(noun: str, language: str) -> str:
    """What it is a favourite of, in English where the table knows the word, so that two languages share a slot."""
    for line in table(language).get("nouns", ()):
        words, _, english = line.partition(" = ")
        if noun in small(words).split("|"):
            return english
    return noun


def _nickname(text: str, identifier: re.Match[str]) -> str:
    """The name that the sentence gives to the thing, without its article; nothing when it says something else."""
    plain = small(text[: identifier.start()] + _ITS_PLACE + text[identifier.end() :])
    shift = len(_ITS_PLACE) - len(identifier[0])
    for language in languages_of(plain):
        for place in places(plain, "nickname", language):
            start, end = next(
                place.span(number) for number in range(1, place.re.groups + 1) if place.start(number) >= 0
            )
            if start > identifier.start():
                start, end = start - shift, end - shift
            name = _value(text[start:end])
            if name and len(name.split()) <= 6:
                return name
    return ""
