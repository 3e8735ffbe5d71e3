"""What people call things: names and aliases of entities and areas, as Home Assistant's registries have them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

AREA = "area:"
_WORD = re.compile(r"[^\W_]+")
_ARTICLE_WORDS = "the a an my our your this that mój moja moje nasz nasza nasze ten ta to der die das"
_ARTICLES = frozenset(_ARTICLE_WORDS.split())
_SHORTEST_STEM = 4
_ENDING = 3
_MOST = 5
_MOST_IN_AREA = 40


@dataclass(frozen=True)
class Thing:
    """An entity or an area: the subject that facts are kept about, and what it is called."""

    subject: str
    names: tuple[str, ...]


@callback
def things_called(hass: HomeAssistant, text: str) -> list[Thing]:
    """The entities and areas that a text mentions by a name or an alias; longer names first, at most a few."""
    said = _words(text)
    found: list[tuple[int, Thing]] = []
    for thing in _things(hass):
        lengths = [len(words) for name in thing.names if (words := _words(name)) and _mentions(said, words)]
        if thing.subject in text or lengths:
            found.append((max(lengths, default=9), thing))
    found.sort(key=lambda each: (-each[0], each[1].subject))
    return [thing for _, thing in found[:_MOST]]


@callback
def thing_meant(hass: HomeAssistant, name: str) -> list[Thing]:
    """Those that are called exactly so."""
    wanted = [word for word in _words(name) if word not in _ARTICLES]
    return [
        thing
        for thing in _things(hass)
        if thing.subject == name.strip()
        or any(_same_words([word for word in _words(each) if word not in _ARTICLES], wanted) for each in thing.names)
    ]


@callback
def entity_thing(hass: HomeAssistant, entity_id: str) -> Thing:
    return Thing(entity_id, tuple(_entity_names(hass, entity_id)))


@callback
def area_thing(hass: HomeAssistant, area_id: str) -> Thing | None:
    area = ar.async_get(hass).async_get_area(area_id)
    return None if area is None else Thing(AREA + area.id, (area.name, *sorted(area.aliases)))


@callback
def entities_in(hass: HomeAssistant, subject: str) -> list[str]:
    """The entities of an area; of an entity, itself."""
    if not subject.startswith(AREA):
        return [subject]
    area_id = subject.removeprefix(AREA)
    registry = er.async_get(hass)
    found = [each.entity_id for each in er.async_entries_for_area(registry, area_id)]
    for device in dr.async_entries_for_area(dr.async_get(hass), area_id):
        found += [each.entity_id for each in er.async_entries_for_device(registry, device.id) if each.area_id is None]
    return sorted(set(found))[:_MOST_IN_AREA]


def _things(hass: HomeAssistant) -> Iterator[Thing]:
    for area in ar.async_get(hass).async_list_areas():
        yield Thing(AREA + area.id, (area.name, *sorted(area.aliases)))
    for state in hass.states.async_all():
        yield Thing(state.entity_id, tuple(_entity_names(hass, state.entity_id)))


def _entity_names(hass: HomeAssistant, entity_id: str) -> Iterator[str]:
    entry = er.async_get(hass).async_get(entity_id)
    if (state := hass.states.get(entity_id)) is not None:
        yield state.name
    if entry is not None:
        # Newer cores may keep a placeholder for the entity's own name among the aliases.
        yield from sorted(alias for alias in entry.aliases if isinstance(alias, str) and alias)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def _mentions(said: list[str], name: list[str]) -> bool:
    places = range(len(said) - len(name) + 1)
    return any(_same_words(said[place : place + len(name)], name) for place in places)


def _same_words(some: list[str], others: list[str]) -> bool:
    return bool(some) and len(some) == len(others) and all(map(_same, some, others))


def _same(one: str, other: str) -> bool:
    """The same word, whatever its ending: "garaż" and "garażu", "lampka" and "lampkę"."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    stem = max(_SHORTEST_STEM, len(short) - 2)
    return len(long) - len(short) <= _ENDING and len(short) >= stem and one[:stem] == other[:stem]


def with_subjects(text: str, things: Iterable[Thing]) -> str:
    """A prompt with the ids of what it mentions, so that what is kept about them is found."""
    subjects = [thing.subject for thing in things if thing.subject not in text]
    return f"{text} ({', '.join(subjects)})" if subjects else text
