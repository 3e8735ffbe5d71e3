"""Long-term memory for AI agents and assistants.

import memoranda

with memoranda.open("home.db", scope="home/anna") as memory:
    memory.remember("Anna prefers short answers.", kind="preference")
    found = memory.recall("how long should answers be?")
"""

from typing import TYPE_CHECKING, Any

from memoranda.config import Settings
from memoranda.domain.draft import Draft
from memoranda.domain.errors import (
    Ambiguous,
    ConfigError,
    Conflict,
    InvalidInput,
    LedgerDamaged,
    LedgerError,
    LedgerFull,
    LedgerLocked,
    LedgerNewer,
    MemorandaError,
    NotFound,
    ProviderError,
    ProviderMissing,
    ProviderRejected,
    ProviderUnavailable,
    Refused,
    ServiceRejected,
)
from memoranda.domain.memory import Memory
from memoranda.domain.results import Changed, Erasure, Hit, Listing, Recall, Remembered, Revision, Stats
from memoranda.service.memory import LongTermMemory, open  # noqa: A004 memoranda.open() is how it reads

if TYPE_CHECKING:
    from memoranda import aio

__version__ = "0.1.0"

__all__ = [
    "Ambiguous",
    "Changed",
    "ConfigError",
    "Conflict",
    "Draft",
    "Erasure",
    "Hit",
    "InvalidInput",
    "LedgerDamaged",
    "LedgerError",
    "LedgerFull",
    "LedgerLocked",
    "LedgerNewer",
    "Listing",
    "LongTermMemory",
    "MemorandaError",
    "Memory",
    "NotFound",
    "ProviderError",
    "ProviderMissing",
    "ProviderRejected",
    "ProviderUnavailable",
    "Recall",
    "Refused",
    "Remembered",
    "Revision",
    "ServiceRejected",
    "Settings",
    "Stats",
    "aio",
    "open",
]


def __getattr__(name: str) -> Any:
    """The async face is loaded when it is first asked for: a command that starts every turn has no time for it."""
    if name == "aio":
        import importlib

        return importlib.import_module("memoranda.aio")
    raise AttributeError(f"module 'memoranda' has no attribute {name!r}")
