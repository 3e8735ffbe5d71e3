"""Who speaks, and where their memories are: below the home's scope, one scope each.

Whose turn it is comes from Home Assistant (the signed-in user, the room of a device), never from what was said.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr

from .const import (
    CONF_CAPTURE,
    CONF_CHILDREN,
    CONF_CHILDREN_MODE,
    CONF_GUESTS,
    CONF_GUESTS_MODE,
    CONF_SCOPE,
    DOMAIN,
)

# Other scopes below the home have a hyphen behind such a word: none of them can be a person's.
_PERSON_ID = re.compile(r"(?!area-|user-|person-)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Seat:
    """The place of one speaker: what they see and write, and how much is kept of what they say."""

    scope: str
    speaker: str
    capture: str
    may_recall: bool
    may_keep: bool


@callback
def seat_of(
    hass: HomeAssistant,
    options: Mapping[str, Any],
    home: str,
    *,
    user_id: str | None,
    device_id: str | None = None,
) -> Seat:
    """Where the one who speaks sits. Who is not known is a guest, and never sits in a person's place."""
    person = _person_of(hass, user_id)
    capture = str(options[CONF_CAPTURE])
    named = person.entity_id if person else ""
    if (person is None and user_id is None) or named in options[CONF_GUESTS]:
        return _guest(str(options[CONF_GUESTS_MODE]), capture, _shared(hass, options, home, device_id))
    own = f"{home}/{_segment(person, user_id)}"
    scope = own if options[CONF_SCOPE] == "person" else _shared(hass, options, home, device_id)
    speaker = "" if scope == own else own.rpartition("/")[2]
    if named in options[CONF_CHILDREN]:
        return _child(str(options[CONF_CHILDREN_MODE]), capture, scope, speaker, home)
    return Seat(scope, speaker, capture, may_recall=True, may_keep=True)


@callback
def seat_for_service(
    hass: HomeAssistant, options: Mapping[str, Any], home: str, *, user_id: str | None, person: str | None, shared: bool
) -> Seat:
    """Where a service reads and writes. A user reaches their own memories and the home's; automations, which have no
    user, may name a person."""
    if user_id is None:
        if person is None or shared:
            return Seat(home, "", str(options[CONF_CAPTURE]), may_recall=True, may_keep=True)
        state = hass.states.get(person)
        if state is None or state.domain != "person":
            raise ServiceValidationError(
                translation_domain=DOMAIN, translation_key="no_such_person", translation_placeholders={"person": person}
            )
        return Seat(f"{home}/{_segment(state, None)}", "", str(options[CONF_CAPTURE]), may_recall=True, may_keep=True)
    own = _person_of(hass, user_id)
    if person is not None and (own is None or own.entity_id != person):
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_your_memories")
    seat = seat_of(hass, options, home, user_id=user_id)
    if not shared:
        return seat
    return Seat(home, _segment(own, user_id), seat.capture, seat.may_recall, seat.may_keep)


def _guest(mode: str, capture: str, scope: str) -> Seat:
    return Seat(scope, "", capture, may_recall=mode != "off", may_keep=mode == "home")


def _child(mode: str, capture: str, scope: str, speaker: str, home: str) -> Seat:
    if mode in ("recall", "off"):
        return Seat(home, speaker, "off", may_recall=mode == "recall", may_keep=False)
    less = capture if mode == "own" or capture == "off" else "explicit"
    return Seat(scope, speaker, less, may_recall=True, may_keep=True)


def _shared(hass: HomeAssistant, options: Mapping[str, Any], home: str, device_id: str | None) -> str:
    """The scope of the room, where rooms have one and it is known; else the home's."""
    if options[CONF_SCOPE] != "area" or not device_id:
        return home
    device = dr.async_get(hass).async_get(device_id)
    area = ar.async_get(hass).async_get_area(device.area_id) if device and device.area_id else None
    return home if area is None else f"{home}/area-{_safe(area.id)}"


def _person_of(hass: HomeAssistant, user_id: str | None) -> State | None:
    if user_id is None:
        return None
    return next((each for each in hass.states.async_all("person") if each.attributes.get("user_id") == user_id), None)


def _segment(person: State | None, user_id: str | None) -> str:
    """By the person's lasting id, which a new name does not change."""
    if person is None:
        return f"user-{_safe(user_id or '')}"
    identity = str(person.attributes.get("id") or person.object_id)
    return identity if _PERSON_ID.fullmatch(identity) else f"person-{_digest(identity)}"


def _safe(identity: str) -> str:
    return identity if re.fullmatch(r"[A-Za-z0-9_]{1,64}", identity) else _digest(identity)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
