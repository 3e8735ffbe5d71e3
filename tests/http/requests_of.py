"""For every door a request that does something, aimed at what one tenant has."""

import copy
import json
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from tenants import SOURCE, SPEAKER, SUBJECT, TALK, Tenant, World

from memoranda.http.examples import EXAMPLES
from memoranda.http.own import OWN
from memoranda.wire.doors import DOORS, Door

TAG = "before"
QUESTION = "where is the lamp in the cellar?"
TRANSCRIPT = json.dumps({"messages": [{"role": "user", "content": "I keep the lamp in the cellar."}]}).encode()
_NEEDED: dict[str, dict[str, Any]] = {
    "facts.about": {"subject": SUBJECT},
    "facts.lookup": {"name": SUBJECT},
    "preferences.get": {"category": "lighting", "key": "evening"},
    "preferences.resolve": {"category": "lighting", "key": "evening"},
    "preferences.resolve_all": {"category": "lighting"},
    "timeline": {"below": "true"},
    "growth": {"below": "true"},
    "list": {"states": ""},
    "conversations.import_transcript": {"format": "openai", "conversation": "imported"},
    "import_memories": {"format": "jsonl", "trust": "trusted"},
    "diff": {"older": "0", "below": "true"},
    "operations": {"below": "true"},
    "contents": {"below": "true"},
    "governance.drift": {"below": "true"},
    "governance.audit": {"below": "true"},
    "retention.report": {"below": "true"},
}
_FILES = {"import_memories": b'{"text": "I keep the lamp in the cellar."}\n'}
_LAST = ("untag", "documents.remove", "conversations.erase", "erase")


class Target(NamedTuple):
    """One request without its scope."""

    method: str
    path: str
    query: dict[str, Any]
    body: Any

    def line(self, scope: str) -> str:
        """The request's target; `scope` is the raw piece of the query that names it."""
        parts = [part for part in (scope, urlencode(self.query, doseq=True)) if part]
        return self.path + ("?" + "&".join(parts) if parts else "")


def in_order() -> list[Door]:
    """What reads before what writes, and what destroys at the end: or there would be nothing to be shown."""
    roles = ("reader", "writer", "admin")
    return sorted(DOORS, key=lambda door: (door.verb in _LAST, roles.index(door.role)))


def target(door: Door, tenant: Tenant, world: World) -> Target:
    """What a door is asked, about something of this tenant's."""
    path = door.path.replace("{reference}", quote(_reference(door, tenant), safe="")).replace("{name}", TAG)
    if door.upload:
        return Target(door.method, path, _NEEDED[door.verb], _FILES.get(door.verb, TRANSCRIPT))
    if door.method == "GET":
        return Target(door.method, path, {**_required(door, tenant), **_NEEDED.get(door.verb, {})}, None)
    body = {**copy.deepcopy(EXAMPLES[door.verb]), **_aimed(door, tenant, world)}
    return Target(door.method, path, {}, body)


def own_targets() -> list[Target]:
    """What is the server's own and needs a token."""
    return [
        Target(own.method, own.path, {}, None if own.method == "GET" else {}) for own in OWN if own.role is not None
    ]


def _reference(door: Door, tenant: Tenant) -> str:
    if door.noun == "tokens":
        return tenant.token
    places = {"restore": 2, "review.accept": 3, "review.get": 4, "review.reject": 4, "grade": 1, "trust": 1}
    return tenant.memories[places.get(door.verb, 0)]


def _required(door: Door, tenant: Tenant) -> dict[str, Any]:
    values = {
        "conversation": TALK,
        "summary": tenant.summary,
        "path": f"{tenant.word}.md",
        "after": "2000-01-01",
        "before": "2100-01-01",
    }
    return {each.name: values[each.name] for each in door.parameters if each.required and each.name in values}


def _aimed(door: Door, tenant: Tenant, world: World) -> dict[str, Any]:
    names = {each.name for each in door.parameters}
    special: dict[str, dict[str, Any]] = {
        "erase": {"about": "", "speaker": SPEAKER, "mode": "now"},
        "replay": {"receipt": tenant.receipt},
        "why_not": {"query": QUESTION, "reference": tenant.memories[0]},
        "tokens.create": {"scope": tenant.scope, "role": "reader"},
        "documents.add": {"path": str(world.folder / tenant.word), "name": "more"},
        "documents.remove": {"name": SOURCE},
        "mirror": {"path": str(world.folder / f"mirror-{tenant.word}"), "mode": "export"},
        "facts.add": {"about": SUBJECT, "attribute": "nickname", "value": "reading lamp"},
        "facts.forget": {"about": SUBJECT, "attribute": "nickname"},
        "preferences.set": {"category": "lighting", "key": "evening", "value": "30%", "context": ""},
        "preferences.forget": {"category": "lighting", "key": "evening"},
        "conversations.keep_private": {"conversation": "a diary"},
        "tag": {"name": TAG},
        "undo": {"below": True, "mode": "preview"},
        "rollback": {"to": 0, "below": True, "mode": "preview"},
        "retention.subject": {"person": SPEAKER, "below": True, "include_above": True},
        "consolidation.proposals": {"below": True},
    }
    found = dict(special.get(door.verb, {}))
    if "query" in names and door.verb not in ("erase", "why_not"):
        found["query"] = QUESTION
    if "question" in names:
        found["question"] = QUESTION
    if "conversation" in names and "conversation" not in found and door.verb != "remember":
        found["conversation"] = TALK
    return found
