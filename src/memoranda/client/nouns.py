"""The nouns of a served memory. Each is the embedded one with every verb behind a door of the server."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from memoranda.client.calling import Caller
from memoranda.domain.access import NewToken, Role, Token
from memoranda.domain.backup import BackupChecked, BackupDifference
from memoranda.domain.errors import Refused
from memoranda.domain.retention import SubjectFormat, SubjectReport
from memoranda.service.admin import Admin
from memoranda.service.consolidation import Consolidation
from memoranda.service.conversations import Conversations
from memoranda.service.documents import Documents
from memoranda.service.facts import Facts
from memoranda.service.governance import Governance
from memoranda.service.preferences import Preferences
from memoranda.service.profile import Profiles
from memoranda.service.retention import Retention
from memoranda.service.review import Review
from memoranda.service.tokens import Revoked
from memoranda.wire.doors import DOORS, Door

if TYPE_CHECKING:
    from memoranda.domain.document import Synced
    from memoranda.domain.ports import Progress
    from memoranda.domain.writeback import WriteBack
    from memoranda.service.document_watch import Watch

C = TypeVar("C", bound=type)
_DOORS = {door.verb: door for door in DOORS}


def door_of(verb: str) -> Door:
    """The door of one verb."""
    return _DOORS[verb]


def served(noun: str) -> Callable[[C], C]:
    """Put a door behind every verb of a class, but for those that it says itself. `noun` is empty for the memory."""

    def behind_doors(cls: C) -> C:
        for door in DOORS:
            if door.noun == noun and door.name not in vars(cls):
                setattr(cls, door.name, _verb(door))
        return cls

    return behind_doors


def _verb(door: Door) -> Callable[..., Any]:
    @functools.wraps(door.function)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._caller.call(door, args, kwargs)

    return call


class _Served:
    """Has a caller in place of an engine."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller


@served("profile")
class RemoteProfiles(_Served, Profiles):
    """`memory.profile` of a server."""


@served("facts")
class RemoteFacts(_Served, Facts):
    """`memory.facts` of a server."""


@served("preferences")
class RemotePreferences(_Served, Preferences):
    """`memory.preferences` of a server."""


@served("conversations")
class RemoteConversations(_Served, Conversations):
    """`memory.conversations` of a server. A transcript that is imported is a file of this machine."""


@served("documents")
class RemoteDocuments(_Served, Documents):
    """`memory.documents` of a server. Paths are those of its machine."""

    def watch(self, *, interval_minutes: float = 0.0, told: "Callable[[Synced], object] | None" = None) -> "Watch":
        """Refused: the server watches its folders by itself."""
        raise Refused("the folders are watched where they are", hint="The server does it: see server_watch.")


@served("review")
class RemoteReview(_Served, Review):
    """`memory.review` of a server."""


@served("admin")
class RemoteAdmin(_Served, Admin):
    """`memory.admin` of a server; for tokens that reach the whole store."""

    def verify_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupChecked:
        """Refused: backups lie on the machine of the server."""
        raise Refused("a backup is looked at where it lies", hint="Run there: memoranda backup verify FILE")

    def compare_backup(self, path: str | Path, *, passphrase: str | None = None) -> BackupDifference:
        """Refused: backups lie on the machine of the server."""
        raise Refused("a backup is looked at where it lies", hint="Run there: memoranda backup diff FILE")

    def sweep_if_due(self) -> None:
        """Nothing: upkeep is the business of the server."""


@served("governance")
class RemoteGovernance(_Served, Governance):
    """`memory.governance` of a server."""

    def write_back(
        self,
        path: str | Path,
        *,
        table: str = "memories",
        limit: int = 50,
        batch: int = 25,
        mode: Literal["now", "preview"] = "now",
        force: bool = False,
        force_fields: Sequence[str] = (),
        progress: "Progress | None" = None,
    ) -> "WriteBack":
        """Refused: the table is on the machine where its program runs."""
        raise Refused("a table is written to where it is", hint="Run there: memoranda openclaw writeback")


@served("consolidation")
class RemoteConsolidation(_Served, Consolidation):
    """`memory.consolidation` of a server."""


@served("retention")
class RemoteRetention(_Served, Retention):
    """`memory.retention` of a server. A report is written here, not there."""

    def subject(
        self,
        person: str,
        *,
        below: bool = False,
        include_above: bool = False,
        redact: bool = True,
        path: str | Path | None = None,
        format: SubjectFormat = "json",  # noqa: A002 the word users know
    ) -> SubjectReport:
        """Everything that this scope holds of one person; with `path`, as one file of this machine."""
        from memoranda.service.subject_report import written

        asked = {"below": below, "include_above": include_above, "redact": redact}
        report: SubjectReport = self._caller.call(_DOORS["retention.subject"], (person,), asked)
        return report if path is None else written(report, path, format)


class RemoteTokens(_Served):
    """`memory.tokens`: who is let in by the server. For admins, who give no more than they have."""

    def create(
        self, *, name: str = "", role: Role, scope: str, above: bool = False, days: int | None = None
    ) -> NewToken:
        """Make a token for a scope and those below it; for every scope of the store when `scope` is empty."""
        made: NewToken = self._called("create", name=name, role=role, scope=scope, above=above, days=days)
        return made

    def list(self, *, below: str = "") -> tuple[Token, ...]:
        """The tokens bound to a scope or to one below it, oldest first, with those that are no longer good."""
        found: tuple[Token, ...] = self._called("list", below=below)
        return found

    def revoke(self, reference: str) -> Revoked:
        """It opens nothing any more, nor do those that were made with it."""
        revoked: Revoked = self._called("revoke", reference)
        return revoked

    def _called(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        return self._caller.call(_DOORS[f"tokens.{verb}"], args, kwargs)


def refuse_path() -> NoReturn:
    """A served memory has no file here."""
    raise Refused("the store of a server is on its own machine", hint="Ask there: memoranda doctor")
