"""`IndexHome`: where an index lives, and which one serves now. A rebuild makes the next beside it, then swaps."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from memoranda.domain.ports import Index


class ServedIndex(Index, Protocol):
    """An index as a home opens it: with the space that it holds, and a number that changes with it."""

    @property
    def fingerprint(self) -> str:
        """The space of its vectors."""

    def version(self) -> int:
        """A number that changes when anybody commits; it means something only to the thread that asks."""

    def adopt(self, fingerprint: str) -> None:
        """Let another vector space move in. Only for an index that has no vectors."""


@runtime_checkable
class Rewinding(Protocol):
    """An index that keeps earlier versions of itself."""

    def step_back(self, is_known: Callable[[int, str], bool]) -> bool:
        """Go back to the newest sequence and mark that are known, if it still has them; whether it could."""


class IndexHealth(Protocol):
    """How an engine stands that keeps indexes of its own."""

    @property
    def unindexed(self) -> int:
        """Entries that its indexes do not have yet: they are found by looking at each."""

    @property
    def needs_optimizing(self) -> bool:
        """Whether that would be worth it now."""

    def __str__(self) -> str:
        """In a line."""


@runtime_checkable
class Examined(Protocol):
    """An index whose engine can be asked how it stands."""

    def health(self) -> IndexHealth:
        """Ask it."""


@runtime_checkable
class Remote(Protocol):
    """An index whose files may lie where no proof of erasure reads them."""

    @property
    def is_remote(self) -> bool:
        """Whether they do."""


class IndexHome(Protocol):
    """The home of the index of one corpus."""

    @property
    def path(self) -> Path:
        """A folder for it on this machine; it need not exist."""

    def mark(self) -> tuple[int, int]:
        """Changes when another index begins to serve, or it was removed."""

    def open(self, fingerprint: str) -> ServedIndex:
        """The index that serves; an empty one with this fingerprint when there is none."""

    def discard(self) -> None:
        """Throw away what serves now: it turned out to be damaged."""

    def rebuilding(self) -> AbstractContextManager[None]:
        """Only one process rebuilds at a time; another is told so at once (Conflict)."""

    def begin(self, fingerprint: str) -> ServedIndex:
        """A new, empty index that does not serve yet. What an earlier, interrupted rebuild left is removed."""

    def swap_to(self, index: ServedIndex) -> None:
        """Let this one serve from now on, and remove the one before."""

    def tidy(self) -> None:
        """Remove what an interrupted rebuild or swap left behind."""

    def tidy_if_idle(self) -> None:
        """Tidy, unless somebody is rebuilding just now."""

    def files(self) -> tuple[str, ...]:
        """Every file of it on this machine, for the proof of erasure."""
