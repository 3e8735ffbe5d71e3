"""The doors of a served memory: which verb of the facade is behind which method and path, and who may use it.

Routes, their description in OpenAPI, and the client are all made from this table and from the signatures of the
facade. There is no second list of parameters anywhere.
"""

import inspect
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.access import Role
from memoranda.domain.ports import Progress, Tokenizer
from memoranda.service.admin import Admin
from memoranda.service.consolidation import Consolidation
from memoranda.service.conversations import Conversations
from memoranda.service.documents import Documents
from memoranda.service.facts import Facts
from memoranda.service.governance import Governance
from memoranda.service.memory import LongTermMemory
from memoranda.service.preferences import Preferences
from memoranda.service.profile import Profiles
from memoranda.service.retention import Retention
from memoranda.service.review import Review
from memoranda.service.tokens import TokenBook
from memoranda.wire.shapes import hints_of

Method = Literal["GET", "POST", "PUT", "PATCH"]
Place = Literal["path", "query", "body"]

NOUNS: dict[str, type] = {
    "": LongTermMemory,
    "profile": Profiles,
    "facts": Facts,
    "preferences": Preferences,
    "conversations": Conversations,
    "documents": Documents,
    "review": Review,
    "governance": Governance,
    "consolidation": Consolidation,
    "retention": Retention,
    "admin": Admin,
    "tokens": TokenBook,
}
_IN_PATH = re.compile(r"{(\w+)}")
MOST = {"drafts": 1_000, "messages": 10_000}
"""How many of these one request brings: what is written together keeps all others from writing meanwhile."""
# What cannot be sent: a function that is told of progress travels as events, and the server knows who asks.
_STAYS = ("by",)


class Parameter(NamedTuple):
    """One argument of a verb, and where a request has it."""

    name: str
    type: Any
    required: bool
    default: Any
    place: Place
    positional: bool

    @property
    def most(self) -> int | None:
        """How many may be in it at once; None for any number."""
        return MOST.get(self.name)


class Door(NamedTuple):
    """One verb behind one method and path."""

    verb: str
    """Of the facade: `remember`, or with its noun, `profile.update`."""
    method: Method
    path: str
    role: Role
    whole: bool = False
    """Whether it concerns the whole store, so that only who reaches all of it may use it."""
    upload: str = ""
    """The argument that is a file, sent as the body."""
    folder: str = ""
    """The argument that is a path on the server's disk."""
    download: str = ""
    """The argument that is a file which the verb writes: what it wrote comes back beside the result, as `content`."""
    stays: tuple[str, ...] = ()
    """More arguments that are only of use on the caller's own machine."""

    @property
    def noun(self) -> str:
        return self.verb.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.verb.rpartition(".")[2]

    @property
    def writes(self) -> bool:
        """Whether something may be other than before; such a request may carry an idempotency key."""
        return self.role != "reader"

    @property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(NOUNS[self.noun], self.name)
        return found

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return _parameters(self)

    @property
    def callbacks(self) -> tuple[str, ...]:
        """The arguments that are told of progress; with any of them it is long work."""
        return _callbacks(self)

    @property
    def result(self) -> Any:
        """The type of what it gives."""
        return _result(self)

    @property
    def pages(self) -> bool:
        """Whether it gives one page of several."""
        return self.method == "GET" and {"limit", "offset"} <= {each.name for each in self.parameters}


@lru_cache(maxsize=256)
def _parameters(door: Door) -> tuple[Parameter, ...]:
    hints = hints_of(door.function)
    in_path = set(_IN_PATH.findall(door.path))
    otherwise: Place = "query" if door.method == "GET" or door.upload else "body"
    found = []
    for each in list(inspect.signature(door.function).parameters.values())[1:]:
        stays = (*_STAYS, *door.stays, door.upload, door.download)
        if each.name in stays or not _travels(hints[each.name]):
            continue
        required = each.default is inspect.Parameter.empty
        place: Place = "path" if each.name in in_path else otherwise
        positional = each.kind is not inspect.Parameter.KEYWORD_ONLY
        found.append(
            Parameter(each.name, hints[each.name], required, None if required else each.default, place, positional)
        )
    return tuple(found)


@lru_cache(maxsize=256)
def _callbacks(door: Door) -> tuple[str, ...]:
    hints = hints_of(door.function)
    return tuple(name for name, hint in hints.items() if name != "return" and Progress in (hint, *get_args(hint)))


@lru_cache(maxsize=256)
def _result(door: Door) -> Any:
    return hints_of(door.function).get("return", type(None))


def _travels(hint: Any) -> bool:
    return not {Progress, Tokenizer} & {hint, *get_args(hint)}


def _doors() -> tuple[Door, ...]:
    r: Role = "reader"
    w: Role = "writer"
    a: Role = "admin"
    return (
        Door("remember", "POST", "/v1/memories", w),
        Door("remember_many", "POST", "/v1/memories/batch", w),
        Door("list", "GET", "/v1/memories", r),
        Door("erase", "POST", "/v1/memories/erase", a),
        Door("forget_many", "POST", "/v1/memories/forget", a),
        Door("archive_many", "POST", "/v1/memories/archive", a),
        Door("verify_erasure", "POST", "/v1/memories/erase/verify", a, whole=True),
        Door("get", "GET", "/v1/memories/{reference}", r),
        Door("history", "GET", "/v1/memories/{reference}/history", r),
        Door("archive", "POST", "/v1/memories/{reference}/archive", w),
        Door("forget", "POST", "/v1/memories/{reference}/forget", w),
        Door("restore", "POST", "/v1/memories/{reference}/restore", w),
        Door("grade", "POST", "/v1/memories/{reference}/grade", a),
        Door("trust", "POST", "/v1/memories/{reference}/trust", a),
        Door("governance.gradings", "GET", "/v1/memories/{reference}/gradings", r),
        Door("recall", "POST", "/v1/recall", r),
        Door("pack", "POST", "/v1/pack", r),
        Door("why_not", "POST", "/v1/why-not", r),
        Door("replay", "POST", "/v1/replay", r),
        Door("capture", "POST", "/v1/capture", w),
        Door("stats", "GET", "/v1/stats", r),
        Door("timeline", "GET", "/v1/timeline", r),
        Door("growth", "GET", "/v1/growth", r),
        Door("scopes", "GET", "/v1/scopes", r),
        Door("mirror", "POST", "/v1/mirror", a, folder="path"),
        Door("contents", "GET", "/v1/contents", r),
        Door("tags", "GET", "/v1/tags", r),
        Door("tag", "POST", "/v1/tags", w),
        Door("untag", "POST", "/v1/tags/{name}/remove", w),
        Door("operations", "GET", "/v1/operations", r),
        Door("diff", "GET", "/v1/diff", r),
        Door("undo", "POST", "/v1/undo", a),
        Door("rollback", "POST", "/v1/rollback", a),
        Door("export", "POST", "/v1/export", r, download="path", stays=("overwrite",)),
        Door("import_memories", "POST", "/v1/import", a, upload="path"),
        Door("imports", "GET", "/v1/imports", r),
        Door("governance.regrade", "POST", "/v1/governance/regrade", a),
        Door("governance.drift", "GET", "/v1/governance/drift", r),
        Door("governance.audit", "GET", "/v1/governance/audit", a),
        Door("consolidation.proposals", "POST", "/v1/consolidation/proposals", r),
        Door("consolidation.accept", "POST", "/v1/consolidation/accept", a),
        Door("consolidation.dismiss", "POST", "/v1/consolidation/dismiss", a),
        Door("retention.report", "GET", "/v1/retention", r),
        Door("retention.apply", "POST", "/v1/retention/apply", a),
        Door("retention.subject", "POST", "/v1/retention/subject", a, stays=("path", "format")),
        Door("profile.get", "GET", "/v1/profile", r),
        Door("profile.update", "PATCH", "/v1/profile", w),
        Door("profile.set", "POST", "/v1/profile/set", w),
        Door("profile.add", "POST", "/v1/profile/add", w),
        Door("profile.remove", "POST", "/v1/profile/remove", w),
        Door("profile.lines", "GET", "/v1/profile/lines", r),
        Door("profile.context", "POST", "/v1/profile/context", r),
        Door("profile.export", "GET", "/v1/profile/export", r),
        Door("facts.add", "POST", "/v1/facts", w),
        Door("facts.list", "GET", "/v1/facts", r),
        Door("facts.about", "GET", "/v1/facts/about", r),
        Door("facts.lookup", "GET", "/v1/facts/lookup", r),
        Door("facts.ask", "POST", "/v1/facts/ask", r),
        Door("facts.forget", "POST", "/v1/facts/forget", w),
        Door("preferences.set", "PUT", "/v1/preferences", w),
        Door("preferences.list", "GET", "/v1/preferences", r),
        Door("preferences.get", "GET", "/v1/preferences/one", r),
        Door("preferences.resolve", "GET", "/v1/preferences/resolve", r),
        Door("preferences.resolve_all", "GET", "/v1/preferences/resolve-all", r),
        Door("preferences.forget", "POST", "/v1/preferences/forget", w),
        Door("conversations.list", "GET", "/v1/conversations", r),
        Door("conversations.get", "GET", "/v1/conversations/one", r),
        Door("conversations.append", "POST", "/v1/conversations/append", w),
        Door("conversations.window", "GET", "/v1/conversations/window", r),
        Door("conversations.compact", "POST", "/v1/conversations/compact", w),
        Door("conversations.messages", "GET", "/v1/conversations/messages", r),
        Door("conversations.between", "GET", "/v1/conversations/between", r),
        Door("conversations.expand", "GET", "/v1/conversations/expand", r),
        Door("conversations.search", "POST", "/v1/conversations/search", r),
        Door("conversations.import_transcript", "POST", "/v1/conversations/import", w, upload="path"),
        Door("conversations.working", "GET", "/v1/conversations/working", r),
        Door("conversations.set_working", "PUT", "/v1/conversations/working", w),
        Door("conversations.keep_private", "POST", "/v1/conversations/keep-private", w),
        Door("conversations.is_private", "GET", "/v1/conversations/private", r),
        Door("conversations.archive", "POST", "/v1/conversations/archive", w),
        Door("conversations.restore", "POST", "/v1/conversations/restore", w),
        Door("conversations.erase", "POST", "/v1/conversations/erase", a),
        Door("documents.list", "GET", "/v1/documents", r),
        Door("documents.add", "POST", "/v1/documents", a, folder="path"),
        Door("documents.remove", "POST", "/v1/documents/remove", a),
        Door("documents.sync", "POST", "/v1/documents/sync", w),
        Door("documents.rebuild", "POST", "/v1/documents/rebuild", a, whole=True),
        Door("documents.search", "POST", "/v1/documents/search", r),
        Door("documents.cold", "POST", "/v1/documents/cold", r),
        Door("documents.read", "GET", "/v1/documents/read", r),
        Door("documents.status", "GET", "/v1/documents/status", r),
        Door("review.list", "GET", "/v1/review", r),
        Door("review.get", "GET", "/v1/review/{reference}", r),
        Door("review.accept", "POST", "/v1/review/{reference}/accept", a),
        Door("review.reject", "POST", "/v1/review/{reference}/reject", a),
        Door("admin.index_status", "GET", "/v1/admin/index", a, whole=True),
        Door("admin.rebuild", "POST", "/v1/admin/rebuild", a, whole=True),
        Door("admin.optimize", "POST", "/v1/admin/optimize", a, whole=True),
        Door("admin.maintain", "POST", "/v1/admin/maintain", a, whole=True),
        Door("admin.upkeep", "GET", "/v1/admin/upkeep", a, whole=True),
        Door("admin.backup", "POST", "/v1/admin/backup", a, whole=True, stays=("path",)),
        Door("admin.backups", "GET", "/v1/admin/backups", a, whole=True),
        Door("admin.verify", "POST", "/v1/admin/verify", a, whole=True),
        Door("admin.doctor", "POST", "/v1/admin/doctor", a, whole=True),
        Door("tokens.list", "GET", "/v1/tokens", a),
        Door("tokens.create", "POST", "/v1/tokens", a),
        Door("tokens.revoke", "POST", "/v1/tokens/{reference}/revoke", a),
    )


DOORS: tuple[Door, ...] = _doors()
