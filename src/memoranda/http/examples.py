"""One request for each door that takes a body, as people would write it."""

from typing import Any

_LAMP = "light.bedroom_lamp"
_TURN = [
    {"role": "user", "content": "Please remember that I leave at seven."},
    {"role": "assistant", "content": "I will wake you at six."},
]

EXAMPLES: dict[str, dict[str, Any]] = {
    "remember": {"text": "Anna prefers short answers.", "kind": "preference"},
    "remember_many": {"drafts": [{"text": "Anna reads by the desk lamp."}, {"text": "Ben is allergic to nuts."}]},
    "erase": {"about": _LAMP, "mode": "preview"},
    "archive": {"reason": "no longer used"},
    "forget": {"reason": "sold the lamp"},
    "restore": {},
    "recall": {"query": "which lamp does she read by?", "limit": 5},
    "pack": {"query": "Turn on my reading lamp, please.", "budget": 800},
    "why_not": {"query": "which lamp does she read by?", "reference": "hjqq9p24"},
    "replay": {
        "receipt": {
            "sequence": 12,
            "scopes": ["home/anna"],
            "request": {"query": "which lamp?", "now": 1_794_821_723_727},
            "digest": "7ad12fb3e991b493",
        }
    },
    "capture": {"messages": _TURN, "conversation": "kitchen"},
    "mirror": {"path": "/srv/notes/anna", "mode": "preview"},
    "profile.update": {"name": "Anna", "traits": ["reads at night"]},
    "profile.set": {"field": "name", "value": "Anna"},
    "profile.add": {"field": "traits", "value": "reads at night"},
    "profile.remove": {"field": "traits", "value": "reads at night"},
    "profile.context": {"query": "which lamp?", "speaker": "anna"},
    "facts.add": {"about": _LAMP, "attribute": "nickname", "value": "reading lamp"},
    "facts.ask": {"question": "what is the reading lamp?"},
    "facts.forget": {"about": _LAMP, "attribute": "nickname"},
    "preferences.set": {
        "category": "lighting",
        "key": "evening_brightness",
        "value": "40%",
        "context": "after_sunset",
    },
    "preferences.forget": {"category": "lighting", "key": "evening_brightness"},
    "conversations.append": {"messages": _TURN, "conversation": "kitchen"},
    "conversations.compact": {"conversation": "kitchen"},
    "conversations.search": {"query": "when do I leave?"},
    "conversations.set_working": {"conversation": "kitchen", "text": "Packing for the trip."},
    "conversations.keep_private": {"conversation": "diary"},
    "conversations.archive": {"conversation": "kitchen"},
    "conversations.restore": {"conversation": "kitchen"},
    "conversations.erase": {"conversation": "kitchen"},
    "documents.add": {"path": "/srv/notes", "pattern": "**/*.md"},
    "documents.remove": {"name": "notes"},
    "documents.sync": {"full": False},
    "documents.rebuild": {},
    "documents.search": {"query": "where is the boiler manual?"},
    "documents.cold": {"query": "where is the boiler manual?", "hits": 0},
    "review.accept": {"trust": "trusted"},
    "review.reject": {},
    "admin.rebuild": {},
    "admin.optimize": {},
    "admin.maintain": {"dry_run": True},
    "admin.verify": {},
    "admin.doctor": {},
    "tokens.create": {"name": "kitchen bot", "role": "writer", "scope": "home/anna", "days": 90},
    "tokens.revoke": {},
}

PARAMETERS: dict[str, str] = {
    "reference": "hjqq9p24",
    "subject": _LAMP,
    "name": "the reading lamp",
    "category": "lighting",
    "key": "evening_brightness",
    "conversation": "kitchen",
    "summary": "36p8cyya",
    "path": "house.md",
    "after": "2026-03-01",
    "before": "2026-03-31",
}
"""A value for each parameter of a path or a query that has to be given."""
