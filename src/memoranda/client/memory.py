"""`RemoteMemory`: the memory of a server, with the verbs of the embedded one."""

from pathlib import Path

from memoranda.client.calling import Caller
from memoranda.client.nouns import (
    RemoteAdmin,
    RemoteConversations,
    RemoteDocuments,
    RemoteFacts,
    RemotePreferences,
    RemoteProfiles,
    RemoteReview,
    RemoteTokens,
    refuse_path,
    served,
)
from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import Refused
from memoranda.domain.scope import Scope
from memoranda.service.memory import LongTermMemory


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

    def close(self) -> None:
        """Close the connections. May be called twice; does nothing on what `within` returned."""
        if self._owner:
            self._caller.transport.close()

    def __repr__(self) -> str:
        return f"<RemoteMemory {self._caller.transport.address} at {self.scope}>"
