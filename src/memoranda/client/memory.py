"""`RemoteMemory`: the memory of a server, with the verbs of the embedded one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memoranda.client.calling import Caller
from memoranda.client.nouns import (
    RemoteAdmin,
    RemoteConsolidation,
    RemoteConversations,
    RemoteDocuments,
    RemoteFacts,
    RemoteGovernance,
    RemotePreferences,
    RemoteProfiles,
    RemoteRetention,
    RemoteReview,
    RemoteTokens,
    door_of,
    refuse_path,
    served,
)
from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import Refused
from memoranda.domain.memory import Kind, State
from memoranda.domain.scope import Scope
from memoranda.service.memory import LongTermMemory

if TYPE_CHECKING:
    from memoranda.domain.moving import Exported, ExportFormat
    from memoranda.domain.ports import Progress


@served("")
class RemoteMemory(LongTermMemory):
    """A `LongTermMemory` whose store is elsewhere: same verbs, same results, same errors. May be used from threads."""

    def __init__(self, caller: Caller, scope: Scope, *, owner: bool) -> None:
        # Nothing of the embedded one is set up: there is no engine here.
        self._caller = caller
        self._scope = scope
        self._owner = owner
        self.admin = RemoteAdmin(caller)
        self.profile = RemoteProfiles(caller)
        self.facts = RemoteFacts(caller)
        self.preferences = RemotePreferences(caller)
        self.conversations = RemoteConversations(caller)
        self.documents = RemoteDocuments(caller)
        self.review = RemoteReview(caller)
        self.governance = RemoteGovernance(caller)
        self.consolidation = RemoteConsolidation(caller)
        self.retention = RemoteRetention(caller)
        self.tokens = RemoteTokens(caller)

    @property
    def path(self) -> Path:
        """Refused: there is no file here."""
        refuse_path()

    @property
    def now(self) -> int:
        """The moment by this machine's clock, in milliseconds."""
        return SystemClock().now()

    def within(self, scope: str) -> "RemoteMemory":
        """The same server seen from a scope below this one. Costs nothing; closing it does nothing."""
        narrower = Scope(scope)
        if not self._scope.contains(narrower.path):
            raise Refused(
                f"{narrower} is not inside {self._scope}",
                hint=f"Give the whole path, beginning with {self._scope}/, or connect with another scope.",
            )
        return RemoteMemory(self._caller.within(narrower.path), narrower, owner=False)

    def export(
        self,
        path: str | Path,
        *,
        format: "ExportFormat" = "jsonl",  # noqa: A002 the word users know
        redact: bool = True,
        below: bool = False,
        states: Sequence[State] = (),
        kind: Kind | Literal[""] = "",
        limit: int | None = None,
        overwrite: bool = False,
        progress: "Progress | None" = None,
    ) -> "Exported":
        """Write what is kept in this scope into one file of this machine."""
        from memoranda.client.files import checked_target, save

        target = checked_target(path, overwrite=overwrite)
        asked = {
            "format": format, "redact": redact, "below": below, "states": states, "kind": kind, "limit": limit,
            "progress": progress,
        }  # fmt: skip
        exported, content = self._caller.call(door_of("export"), (path,), asked)
        save(target, content, overwrite=overwrite)
        done: Exported = exported._replace(path=str(target))
        return done

    def close(self) -> None:
        """Close the connections. May be called twice; does nothing on what `within` returned."""
        if self._owner:
            self._caller.transport.close()

    def __repr__(self) -> str:
        return f"<RemoteMemory {self._caller.transport.address} at {self.scope}>"
