"""Names of options, and what they are unless somebody chooses."""

from __future__ import annotations

from typing import Final

DOMAIN: Final = "memoranda"
STORE_FOLDER: Final = "memoranda"
STORE_FILE: Final = "home.db"
EXPORTS: Final = "exports"

CONF_MODE: Final = "mode"
MODE_EMBEDDED: Final = "embedded"
MODE_SERVER: Final = "server"
CONF_URL: Final = "url"
CONF_TOKEN: Final = "token"  # noqa: S105 the name of a field
CONF_HOME: Final = "home"
DEFAULT_HOME: Final = "home"

CONF_AGENT: Final = "agent"
CONF_CAPTURE: Final = "capture_mode"
CONF_RECALL: Final = "recall"
CONF_SCOPE: Final = "scope_by"
CONF_LANGUAGE: Final = "language"
CONF_CHILDREN: Final = "children"
CONF_CHILDREN_MODE: Final = "children_mode"
CONF_GUESTS: Final = "guests"
CONF_GUESTS_MODE: Final = "guests_mode"

CAPTURE_MODES: Final = ("off", "explicit", "strict", "broad", "review")
SCOPES: Final = ("person", "area", "home")
LANGUAGES: Final = ("auto", "en", "pl")
CHILDREN_MODES: Final = ("own", "explicit", "recall", "off")
GUESTS_MODES: Final = ("home", "recall", "off")
KINDS: Final = ("fact", "preference", "decision", "entity", "episode", "note")

DEFAULT_OPTIONS: Final = {
    CONF_AGENT: "conversation.home_assistant",
    CONF_CAPTURE: "strict",
    CONF_RECALL: True,
    CONF_SCOPE: "person",
    CONF_LANGUAGE: "auto",
    CONF_CHILDREN: [],
    CONF_CHILDREN_MODE: "explicit",
    CONF_GUESTS: [],
    CONF_GUESTS_MODE: "recall",
}
