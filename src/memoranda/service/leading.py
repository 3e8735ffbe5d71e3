"""`Leadership`: of all who serve one store, on whatever machine, one leads. No vote: whoever holds the name does."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memoranda.domain.errors import MemorandaError
from memoranda.ledger.answers import LEADER
from memoranda.service.store import Store

if TYPE_CHECKING:
    from memoranda.ledger.holding import Holding


class Leadership:
    """Whether this server leads those of its store. Looked at again and again: what a database server holds for us is
    lost with the session."""

    def __init__(self, store: Store, *, told: Callable[[bool], None] = lambda leads: None) -> None:
        self._store = store
        self._told = told
        self._held: Holding | None = None

    @property
    def leads(self) -> bool:
        """Whether it did when that was last looked at."""
        return self._held is not None

    def look(self) -> bool:
        """Take the lead if nobody has it, or keep it; whether we have it now."""
        before = self.leads
        if self._held is not None and not self._held.is_ours():
            self._let_go()
        if self._held is None:
            try:
                self._held = self._store.take(LEADER)
            except (MemorandaError, OSError):  # the store is closed, or its folder is gone
                self._held = None
        if self.leads != before:
            self._told(self.leads)
        return self.leads

    def close(self) -> None:
        """Let another lead. May be called twice."""
        if self.leads:
            self._let_go()
            self._told(False)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
        self._held = None
