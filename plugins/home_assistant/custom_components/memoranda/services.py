"""Services, each with response data. A call reaches the caller's own memories and the home's."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import voluptuous as vol
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError, Unauthorized
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util

from .asking import shown, what_is_known
from .const import DOMAIN, EXPORTS, KINDS
from .household import Household, store_path
from .people import Seat
from .places import area_thing, entities_in, entity_thing, thing_meant, things_called, with_subjects
from .tools import household_of

if TYPE_CHECKING:
    from memoranda import LongTermMemory

_MOST = 1_000
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_WHOSE = {vol.Optional("person"): cv.entity_id, vol.Optional("shared", default=False): cv.boolean}
_THING = {
    vol.Exclusive("entity_id", "thing"): cv.entity_id,
    vol.Exclusive("area_id", "thing"): cv.string,
    vol.Exclusive("about", "thing"): cv.string,
}
_LIMIT = vol.All(vol.Coerce(int), vol.Range(min=1, max=_MOST))
_SHARE = vol.All(vol.Coerce(float), vol.Range(min=0, max=1))
_PROFILE_FIELDS = ("name", "traits", "preferences", "notes")

SCHEMAS = {
    "memory_list": {vol.Optional("kind"): vol.In(KINDS), vol.Optional("limit", default=50): _LIMIT},
    "memory_search": {vol.Required("query"): cv.string, vol.Optional("limit", default=10): _LIMIT},
    "memory_store": {
        vol.Required("text"): cv.string,
        vol.Optional("kind"): vol.In(KINDS),
        vol.Optional("importance", default=0.7): _SHARE,
        **_THING,
    },
    "memory_delete": {
        vol.Exclusive("id", "which"): cv.string,
        vol.Exclusive("query", "which"): cv.string,
        vol.Optional("confirm"): cv.string,
        vol.Optional("permanently", default=False): cv.boolean,
    },
    "remember_fact": {
        **_THING,
        vol.Required("attribute"): cv.string,
        vol.Required("value"): cv.string,
        vol.Optional("text"): cv.string,
        vol.Optional("until"): cv.datetime,
    },
    "what_do_you_know_about": _THING,
    "profile": {
        vol.Optional("action", default="get"): vol.In(("get", "set", "add", "remove")),
        vol.Optional("field"): vol.In(_PROFILE_FIELDS),
        vol.Optional("value"): cv.string,
    },
    "export": {
        vol.Optional("name"): cv.matches_regex(_FILE.pattern + "$"),
        vol.Optional("redact", default=True): cv.boolean,
    },
    "memory_review": {
        vol.Optional("action", default="list"): vol.In(("list", "accept", "reject")),
        vol.Optional("id"): cv.string,
        vol.Optional("limit", default=50): _LIMIT,
    },
}
_ANSWERS_ONLY = ("memory_list", "memory_search", "what_do_you_know_about")

Given = dict[str, Any]


@callback
def async_register_services(hass: HomeAssistant) -> None:
    for name, schema in SCHEMAS.items():
        hass.services.async_register(
            DOMAIN,
            name,
            _handler(hass, HANDLERS[name]),
            vol.Schema({**schema, **_WHOSE}),
            supports_response=SupportsResponse.ONLY if name in _ANSWERS_ONLY else SupportsResponse.OPTIONAL,
        )


def _handler(
    hass: HomeAssistant, handle: Callable[[Household, Seat, Given], Awaitable[Given]]
) -> Callable[[ServiceCall], Awaitable[ServiceResponse]]:
    async def call(service_call: ServiceCall) -> ServiceResponse:
        household = household_of(hass)
        given = dict(service_call.data)
        seat = household.seat_for_service(
            service_call.context.user_id, given.pop("person", None), shared=given.pop("shared")
        )
        await _must_be_admin(hass, service_call, household, seat, given)
        return await handle(household, seat, given)

    return call


async def _must_be_admin(
    hass: HomeAssistant, call: ServiceCall, household: Household, seat: Seat, given: Given
) -> None:
    """What is the home's is destroyed, or believed after all, by an administrator; automations are theirs."""
    lasting = given.get("permanently") or (call.service == "memory_review" and given["action"] == "accept")
    if not lasting or call.context.user_id is None or seat.scope != household.home:
        return
    user = await hass.auth.async_get_user(call.context.user_id)
    if user is None or not user.is_admin:
        raise Unauthorized(context=call.context)


async def _list(household: Household, seat: Seat, given: Given) -> Given:
    _must_tell(seat)

    def work(memory: LongTermMemory) -> Given:
        speaks = ("trusted", "untrusted")
        page = memory.list(kind=given.get("kind"), trust=speaks, limit=given["limit"])
        kinds = {kind: memory.list(kind=kind, trust=speaks, limit=1).total for kind in KINDS}
        return {
            "total": sum(kinds.values()),
            "by_kind": {kind: count for kind, count in kinds.items() if count},
            "memories": [shown(each) for each in page],
        }

    return await household.run(seat, work)


async def _search(household: Household, seat: Seat, given: Given) -> Given:
    _must_tell(seat)
    query = with_subjects(given["query"], things_called(household.hass, given["query"]))

    def work(memory: LongTermMemory) -> Given:
        found = memory.recall(query, limit=given["limit"], prefer_speaker=seat.speaker)
        return {"results": [shown(hit.memory, hit.score) for hit in found], "abstained": found.receipt.abstained}

    return await household.run(seat, work)


async def _store(household: Household, seat: Seat, given: Given) -> Given:
    _must_keep(seat)
    about = _subject(household.hass, given, needed=False)

    def work(memory: LongTermMemory) -> Given:
        from memoranda.service.words import kind_of

        kept = memory.remember(
            given["text"],
            kind=given.get("kind") or kind_of(given["text"]),
            importance=given["importance"],
            about=about,
            speaker=seat.speaker,
        )
        return {"id": kept.id, "outcome": kept.receipt.outcome, **shown(kept.memory)}

    return await _written(household, seat, work)


async def _delete(household: Household, seat: Seat, given: Given) -> Given:
    """By id; by query only without doubt, or when a candidate is confirmed. Hidden, unless it is to be destroyed."""
    _must_keep(seat)
    if not given.get("id") and not given.get("query"):
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="id_or_query")
    asked = {name: given[name] for name in ("query", "confirm") if given.get(name)}

    def work(memory: LongTermMemory) -> Given:
        from memoranda.tools import Tools

        if given.get("id"):
            chosen = memory.get(given["id"])
            if given["permanently"]:
                memory.erase(chosen)
            else:
                memory.forget(chosen, reason="deleted by a service")
            return {"deleted": chosen.id, "permanently": given["permanently"], "candidates": []}
        result = Tools(memory, source="user", speaker=seat.speaker).call("memory_forget", asked)
        if result.failed:
            raise ServiceValidationError(result.text)
        deleted = result.data.get("id")
        if deleted and given["permanently"]:
            memory.erase(deleted)
        return {
            "deleted": deleted,
            "permanently": bool(deleted) and given["permanently"],
            "candidates": result.data.get("candidates", []),
        }

    return await _written(household, seat, work)


async def _remember_fact(household: Household, seat: Seat, given: Given) -> Given:
    _must_keep(seat)
    about = _subject(household.hass, given, needed=True)
    until = None if given.get("until") is None else dt_util.as_utc(given["until"]).isoformat()

    def work(memory: LongTermMemory) -> Given:
        kept = memory.facts.add(
            about,
            given["attribute"],
            given["value"],
            text=given.get("text", ""),
            until=until,
            speaker=seat.speaker,
        )
        return {"id": kept.id, "about": about, "outcome": kept.receipt.outcome, "text": kept.memory.text}

    return await _written(household, seat, work)


async def _known(household: Household, seat: Seat, given: Given) -> Given:
    _must_tell(seat)
    hass = household.hass
    words = given.get("about", "")
    if given.get("entity_id"):
        things = [entity_thing(hass, given["entity_id"])]
    elif given.get("area_id"):
        things = [_area(hass, given["area_id"])]
    elif words:
        things = thing_meant(hass, words) or things_called(hass, words)
    else:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="about_what")
    subjects = [each for thing in things for each in dict.fromkeys((thing.subject, *entities_in(hass, thing.subject)))]
    asked = words or (things[0].names[0] if things[0].names else "")
    return await household.run(seat, lambda memory: what_is_known(memory, asked, subjects))


async def _profile(household: Household, seat: Seat, given: Given) -> Given:
    action = given["action"]
    if action == "get":
        _must_tell(seat)
        return await household.run(seat, lambda memory: memory.profile.get(speaker=seat.speaker).as_json())
    _must_keep(seat)
    if not given.get("field") or (action != "remove" and not given.get("value")):
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="field_and_value")

    def work(memory: LongTermMemory) -> Given:
        change = getattr(memory.profile, action)
        return change(given["field"], given.get("value", ""), speaker=seat.speaker).profile.as_json()

    return await _written(household, seat, work)


async def _export(household: Household, seat: Seat, given: Given) -> Given:
    """Into a file below the configuration folder; of the caller's own scope only."""
    _must_tell(seat)
    folder = store_path(household.hass).parent / EXPORTS
    name = given.get("name") or f"export-{dt_util.utcnow():%Y%m%d-%H%M%S}"

    def work(memory: LongTermMemory) -> Given:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Each seat's files have names of their own: nobody writes over what somebody else has exported.
        path = folder / f"{name}.{seat.scope.replace('/', '-')}.jsonl"
        exported = memory.export(path, redact=given["redact"], overwrite=True)
        return {"path": exported.path, "memories": exported.memories, "digest": exported.digest}

    return await household.run(seat, work)


async def _review(household: Household, seat: Seat, given: Given) -> Given:
    action = given["action"]
    if action == "list":
        _must_tell(seat)
        return await household.run(
            seat,
            lambda memory: {
                "waiting": [
                    {**shown(each), "why": memory.review.get(each).why}
                    for each in memory.review.list(limit=given["limit"])
                ]
            },
        )
    _must_keep(seat)
    if not given.get("id"):
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="id_needed")

    def work(memory: LongTermMemory) -> Given:
        decided = memory.review.accept(given["id"]) if action == "accept" else memory.review.reject(given["id"])
        return {"accepted" if action == "accept" else "rejected": decided.id}

    return await _written(household, seat, work)


HANDLERS = {
    "memory_list": _list,
    "memory_search": _search,
    "memory_store": _store,
    "memory_delete": _delete,
    "remember_fact": _remember_fact,
    "what_do_you_know_about": _known,
    "profile": _profile,
    "export": _export,
    "memory_review": _review,
}


async def _written(household: Household, seat: Seat, work: Callable[[LongTermMemory], Given]) -> Given:
    done = await household.run(seat, work)
    await household.changed(seat)
    return done


def _must_tell(seat: Seat) -> None:
    if not seat.may_recall:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_told")


def _must_keep(seat: Seat) -> None:
    if not seat.may_keep:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_kept")


@callback
def _subject(hass: HomeAssistant, given: Given, *, needed: bool) -> str:
    """What it is about: an entity, an area, or words, which the registries may know as one thing."""
    if given.get("entity_id"):
        return str(given["entity_id"])
    if given.get("area_id"):
        return _area(hass, given["area_id"]).subject
    words = str(given.get("about") or "").strip()
    if not words and needed:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="about_what")
    meant = thing_meant(hass, words) if words else []
    if len(meant) > 1:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="several_things",
            translation_placeholders={"name": words, "things": ", ".join(each.subject for each in meant)},
        )
    return meant[0].subject if meant else words


@callback
def _area(hass: HomeAssistant, area_id: str) -> Any:
    thing = area_thing(hass, area_id)
    if thing is None:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="no_such_area", translation_placeholders={"area": area_id}
        )
    return thing
