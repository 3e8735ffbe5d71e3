"""Letting go of many memories at once: what it would take, what was done, and the way back."""

from typing import Any, Literal, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.memory import Memory, State

BulkAction = Literal["forgotten", "archived"]
BulkMode = Literal["preview", "now"]
BULK_MODES: tuple[BulkMode, ...] = ("preview", "now")
MOST_SHOWN = 200
"""Memories that a preview shows; it names and counts all of them."""
MAY_GO: dict[BulkAction, tuple[State, ...]] = {
    "forgotten": ("live", "superseded", "archived", "expired"),
    "archived": ("live", "superseded", "expired"),
}
"""From which states it may be done."""


class BulkReceipt(NamedTuple):
    """How many were let go of together. Ids, never what they say."""

    action: BulkAction
    scope: str
    below: bool
    matched: int
    """How many fitted when they were looked for."""
    changed: int = 0
    left: int = 0
    """Fitted, and left as they are: somebody else changed them meanwhile."""
    tag: str = ""
    """The automatic tag of what was there before."""
    batch: str = ""
    sequence: int = 0
    erased_after: int | None = None
    """From then on what was forgotten is erased for good."""

    def as_json(self) -> dict[str, Any]:
        until = None if self.erased_after is None else iso(self.erased_after)
        return {**self._asdict(), "erased_after": until}


class BulkChange(NamedTuple):
    """What was, or would be, forgotten or archived together. `confirm` names exactly these."""

    preview: bool
    ids: tuple[str, ...]
    memories: tuple[Memory, ...]
    """The first of them, in a preview."""
    confirm: str
    receipt: BulkReceipt

    def as_json(self) -> dict[str, Any]:
        return {
            "preview": self.preview,
            "ids": list(self.ids),
            "memories": [memory.as_json() for memory in self.memories],
            "confirm": self.confirm,
            "receipt": self.receipt.as_json(),
        }
