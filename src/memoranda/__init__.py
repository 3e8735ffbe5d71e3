"""Long-term memory for AI agents and assistants.

import memoranda

with memoranda.open("home.db", scope="home/anna") as memory:
    memory.remember("Anna prefers short answers.", kind="preference")
    found = memory.recall("how long should answers be?")

Names are loaded when they are first used: a command that a host starts for every turn pays only for what it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoranda import aio as aio
    from memoranda.client.connecting import connect as connect
    from memoranda.config import Settings as Settings
    from memoranda.domain.backup import BackedUp as BackedUp
    from memoranda.domain.backup import Restored as Restored
    from memoranda.domain.conversation import Appended as Appended
    from memoranda.domain.conversation import Compacted as Compacted
    from memoranda.domain.conversation import Conversation as Conversation
    from memoranda.domain.conversation import ConversationPage as ConversationPage
    from memoranda.domain.conversation import KeptMessage as KeptMessage
    from memoranda.domain.document import DocumentHit as DocumentHit
    from memoranda.domain.document import DocumentStatus as DocumentStatus
    from memoranda.domain.document import Excerpt as Excerpt
    from memoranda.domain.document import Source as Source
    from memoranda.domain.document import Synced as Synced
    from memoranda.domain.draft import Draft as Draft
    from memoranda.domain.errors import Ambiguous as Ambiguous
    from memoranda.domain.errors import ConfigError as ConfigError
    from memoranda.domain.errors import Conflict as Conflict
    from memoranda.domain.errors import IndexRefused as IndexRefused
    from memoranda.domain.errors import InvalidInput as InvalidInput
    from memoranda.domain.errors import KeyMissing as KeyMissing
    from memoranda.domain.errors import KeyUnwanted as KeyUnwanted
    from memoranda.domain.errors import KeyWrong as KeyWrong
    from memoranda.domain.errors import LedgerDamaged as LedgerDamaged
    from memoranda.domain.errors import LedgerError as LedgerError
    from memoranda.domain.errors import LedgerFull as LedgerFull
    from memoranda.domain.errors import LedgerLocked as LedgerLocked
    from memoranda.domain.errors import LedgerNewer as LedgerNewer
    from memoranda.domain.errors import LedgerUnavailable as LedgerUnavailable
    from memoranda.domain.errors import MemorandaError as MemorandaError
    from memoranda.domain.errors import NotFound as NotFound
    from memoranda.domain.errors import ProviderError as ProviderError
    from memoranda.domain.errors import ProviderMissing as ProviderMissing
    from memoranda.domain.errors import ProviderRejected as ProviderRejected
    from memoranda.domain.errors import ProviderUnavailable as ProviderUnavailable
    from memoranda.domain.errors import Refused as Refused
    from memoranda.domain.errors import ServiceRejected as ServiceRejected
    from memoranda.domain.errors import StoreMoved as StoreMoved
    from memoranda.domain.fact import Fact as Fact
    from memoranda.domain.fact import FactsFound as FactsFound
    from memoranda.domain.governance import Drift as Drift
    from memoranda.domain.memory import Memory as Memory
    from memoranda.domain.message import Message as Message
    from memoranda.domain.message import ToolCall as ToolCall
    from memoranda.domain.message import assistant as assistant
    from memoranda.domain.message import user as user
    from memoranda.domain.migrating import Migrated as Migrated
    from memoranda.domain.migrating import MigrationPlan as MigrationPlan
    from memoranda.domain.mirror import Mirrored as Mirrored
    from memoranda.domain.mirror import MirrorReceipt as MirrorReceipt
    from memoranda.domain.moving import Exported as Exported
    from memoranda.domain.moving import Imports as Imports
    from memoranda.domain.pack import Pack as Pack
    from memoranda.domain.pack import PackItem as PackItem
    from memoranda.domain.pack import PackReceipt as PackReceipt
    from memoranda.domain.preference import Preference as Preference
    from memoranda.domain.profile import Profile as Profile
    from memoranda.domain.profile import ProfileChanged as ProfileChanged
    from memoranda.domain.receipt import CaptureReceipt as CaptureReceipt
    from memoranda.domain.receipt import HitReceipt as HitReceipt
    from memoranda.domain.receipt import RecallReceipt as RecallReceipt
    from memoranda.domain.results import Captured as Captured
    from memoranda.domain.results import Changed as Changed
    from memoranda.domain.results import Erasure as Erasure
    from memoranda.domain.results import Hit as Hit
    from memoranda.domain.results import Listing as Listing
    from memoranda.domain.results import Recall as Recall
    from memoranda.domain.results import Remembered as Remembered
    from memoranda.domain.results import Replay as Replay
    from memoranda.domain.results import Revision as Revision
    from memoranda.domain.results import Stats as Stats
    from memoranda.domain.results import Verification as Verification
    from memoranda.domain.results import WhyNot as WhyNot
    from memoranda.domain.retention import SubjectReport as SubjectReport
    from memoranda.domain.travel import RolledBack as RolledBack
    from memoranda.domain.travel import Tag as Tag
    from memoranda.service.memory import LongTermMemory as LongTermMemory
    from memoranda.service.migrating import migrate as migrate
    from memoranda.service.opening import open as open  # noqa: A004 memoranda.open() is how it reads
    from memoranda.service.restoring import restore as restore

from memoranda.domain import version as _version

__version__ = _version.__version__

_ERRORS = (
    "Ambiguous ConfigError Conflict IndexRefused InvalidInput KeyMissing KeyUnwanted KeyWrong LedgerDamaged "
    "LedgerError LedgerFull LedgerLocked LedgerNewer LedgerUnavailable MemorandaError NotFound ProviderError "
    "ProviderMissing ProviderRejected ProviderUnavailable Refused ServiceRejected StoreMoved"
)
_RESULTS = "Captured Changed Erasure Hit Listing Recall Remembered Replay Revision Stats WhyNot"
_PACKS = "Pack PackItem PackReceipt"
_RECEIPTS = "CaptureReceipt HitReceipt RecallReceipt"
_MESSAGES = "Message ToolCall assistant user"
_CONVERSATIONS = "Appended Compacted Conversation ConversationPage KeptMessage"
_DOCUMENTS = "DocumentHit DocumentStatus Excerpt Source Synced"
_HOMES = {
    **dict.fromkeys(_ERRORS.split(), "memoranda.domain.errors"),
    **dict.fromkeys(_RESULTS.split(), "memoranda.domain.results"),
    **dict.fromkeys(_PACKS.split(), "memoranda.domain.pack"),
    **dict.fromkeys(_RECEIPTS.split(), "memoranda.domain.receipt"),
    **dict.fromkeys(_MESSAGES.split(), "memoranda.domain.message"),
    **dict.fromkeys(_CONVERSATIONS.split(), "memoranda.domain.conversation"),
    **dict.fromkeys(_DOCUMENTS.split(), "memoranda.domain.document"),
    **dict.fromkeys(["MirrorReceipt", "Mirrored"], "memoranda.domain.mirror"),
    **dict.fromkeys(["Fact", "FactsFound"], "memoranda.domain.fact"),
    **dict.fromkeys(["Migrated", "MigrationPlan"], "memoranda.domain.migrating"),
    **dict.fromkeys(["Profile", "ProfileChanged"], "memoranda.domain.profile"),
    "BackedUp": "memoranda.domain.backup",
    "Restored": "memoranda.domain.backup",
    "Exported": "memoranda.domain.moving",
    "Imports": "memoranda.domain.moving",
    "RolledBack": "memoranda.domain.travel",
    "Tag": "memoranda.domain.travel",
    "Drift": "memoranda.domain.governance",
    "SubjectReport": "memoranda.domain.retention",
    "Verification": "memoranda.domain.results",
    "Draft": "memoranda.domain.draft",
    "LongTermMemory": "memoranda.service.memory",
    "Memory": "memoranda.domain.memory",
    "Preference": "memoranda.domain.preference",
    "Settings": "memoranda.config",
    "connect": "memoranda.client.connecting",
    "migrate": "memoranda.service.migrating",
    "open": "memoranda.service.opening",
    "restore": "memoranda.service.restoring",
}

__all__ = [
    "Ambiguous",
    "Appended",
    "BackedUp",
    "CaptureReceipt",
    "Captured",
    "Changed",
    "Compacted",
    "ConfigError",
    "Conflict",
    "Conversation",
    "ConversationPage",
    "DocumentHit",
    "DocumentStatus",
    "Draft",
    "Drift",
    "Erasure",
    "Excerpt",
    "Exported",
    "Fact",
    "FactsFound",
    "Hit",
    "HitReceipt",
    "Imports",
    "IndexRefused",
    "InvalidInput",
    "KeptMessage",
    "KeyMissing",
    "KeyUnwanted",
    "KeyWrong",
    "LedgerDamaged",
    "LedgerError",
    "LedgerFull",
    "LedgerLocked",
    "LedgerNewer",
    "LedgerUnavailable",
    "Listing",
    "LongTermMemory",
    "MemorandaError",
    "Memory",
    "Message",
    "Migrated",
    "MigrationPlan",
    "MirrorReceipt",
    "Mirrored",
    "NotFound",
    "Pack",
    "PackItem",
    "PackReceipt",
    "Preference",
    "Profile",
    "ProfileChanged",
    "ProviderError",
    "ProviderMissing",
    "ProviderRejected",
    "ProviderUnavailable",
    "Recall",
    "RecallReceipt",
    "Refused",
    "Remembered",
    "Replay",
    "Restored",
    "Revision",
    "RolledBack",
    "ServiceRejected",
    "Settings",
    "Source",
    "Stats",
    "StoreMoved",
    "SubjectReport",
    "Synced",
    "Tag",
    "ToolCall",
    "Verification",
    "WhyNot",
    "aio",
    "assistant",
    "connect",
    "migrate",
    "open",
    "restore",
    "user",
]


def __getattr__(name: str) -> Any:
    if name == "aio":
        return import_module("memoranda.aio")
    if name not in _HOMES:
        raise AttributeError(f"module 'memoranda' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
