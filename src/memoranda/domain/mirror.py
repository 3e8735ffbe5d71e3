"""Results of `memory.mirror`: what was taken from the files of a mirror, what was not, and what was written."""

from typing import Any, Literal, NamedTuple, get_args

MirrorMode = Literal["sync", "preview", "export", "detach"]
MIRROR_MODES: tuple[MirrorMode, ...] = get_args(MirrorMode)
MirrorAction = Literal["supersede", "forget", "remember", "move", "conflict", "restore"]


class Trouble(NamedTuple):
    """Something in a file that was not taken, and why. Never text of the file."""

    file: str
    line: int
    id: str
    why: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class Step(NamedTuple):
    """One edit that was, or would be, taken: to which memory, and which one there is now."""

    action: MirrorAction
    file: str
    line: int
    id: str = ""
    now: str = ""

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


class MirrorReceipt(NamedTuple):
    """What a mirror took from its files and wrote into them. `asks` counts what would be forgotten, when that needs a
    yes; `refused` is what was not taken, `unreadable` what was left as it is."""

    mode: MirrorMode
    scope: str
    below: bool
    memories: int
    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    steps: tuple[Step, ...]
    refused: tuple[Trouble, ...]
    unreadable: tuple[Trouble, ...]
    asks: int = 0

    def ids(self, action: MirrorAction) -> tuple[str, ...]:
        """The memories that an action was done to; of what is new, the new ones."""
        new = action in ("remember", "conflict")
        return tuple(step.now if new else step.id for step in self.steps if step.action == action)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each action."""
        counted: dict[str, int] = {}
        for step in self.steps:
            counted[step.action] = counted.get(step.action, 0) + 1
        return counted

    def as_json(self) -> dict[str, Any]:
        shown = self._asdict()
        for name in ("steps", "refused", "unreadable"):
            shown[name] = [each.as_json() for each in shown[name]]
        shown.update(written=list(self.written), removed=list(self.removed), counts=self.counts)
        return shown


class Mirrored(NamedTuple):
    """A mirror after a run."""

    path: str
    receipt: MirrorReceipt

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "receipt": self.receipt.as_json()}
