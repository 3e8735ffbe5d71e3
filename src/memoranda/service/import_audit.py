"""The audit before an import: what is in a file, what of it would be kept, and why the rest would not."""

from collections import Counter
from collections.abc import Callable

from memoranda.domain.importing import Unread
from memoranda.domain.memory import Memory
from memoranda.domain.moving import Audit, Dedupe, LeftOut, LeftRecord
from memoranda.service.import_turning import Left, Turned

_MOST_TOLD = 50
_MOST_OWNERS = 100
_LONGEST_NAME = 80
# Nothing is wrong with these; they are counted, and need no line each.
_ORDINARY: frozenset[LeftOut] = frozenset({"unread", "known", "same", "repeated", "foreign"})


class Auditor:
    """Counts records one by one. `stands` says how a memory stands to what is kept already."""

    def __init__(self, *, dedupe: Dedupe, whole: bool, stands: Callable[[Memory], str]) -> None:
        self._dedupe = dedupe
        self._whole = whole
        self._stands = stands
        self._ids: set[tuple[str, str]] = set()
        self._said: set[int] = set()
        self._total = self._quarantined = 0
        self._left: Counter[LeftOut] = Counter()
        self._counts: dict[str, Counter[str]] = {
            name: Counter() for name in ("junk", "owners", "scopes", "kinds", "states")
        }
        self._unread: list[Unread] = []
        self._troubles: list[LeftRecord] = []
        self._times: tuple[int, int] | None = None

    def add(self, item: Turned | Left) -> None:
        """One record, turned and screened, or left out before."""
        self._total += 1
        if item.owner:
            self._counts["owners"][item.owner[:_LONGEST_NAME]] += 1
        found = item if isinstance(item, Left) else self._left_out(item)
        if found is not None:
            self._note(found)
            return
        assert isinstance(item, Turned)
        memory = item.memory
        self._quarantined += memory.trust == "quarantined"
        for name, value in (("scopes", memory.scope), ("kinds", memory.kind), ("states", memory.state)):
            self._counts[name][value] += 1
        at = memory.created_at
        self._times = (at, at) if self._times is None else (min(self._times[0], at), max(self._times[1], at))

    def result(self) -> Audit:
        """All that was found."""
        shown: dict[str, dict[str, int]] = {
            name: dict(counted.most_common(_MOST_OWNERS)) for name, counted in self._counts.items()
        }
        left: dict[LeftOut, int] = dict(self._left)
        return Audit(
            total=self._total,
            readable=self._total - left.get("unread", 0),
            take=self._total - sum(left.values()),
            left_out=left,
            quarantined=self._quarantined,
            unread=tuple(self._unread),
            troubles=tuple(self._troubles),
            oldest=None if self._times is None else self._times[0],
            newest=None if self._times is None else self._times[1],
            **shown,
        )

    def _left_out(self, item: Turned) -> Left | None:
        if self._dedupe != "none" and self._is_repeated(item.memory):
            return Left(item.place, "repeated", "", item.owner)
        standing = self._stands(item.memory)
        for reason in _STANDING:
            if standing == reason:
                return Left(item.place, reason, "", item.owner)
        return None

    def _is_repeated(self, memory: Memory) -> bool:
        """Whether it was in the file before. Of an export of ours, each id is a memory of its own."""
        reference = (memory.scope, memory.id)
        repeated = reference in self._ids
        self._ids.add(reference)
        if not self._whole and self._dedupe == "id_text" and memory.state == "live":
            said = hash(
                (memory.content_hash, memory.scope, memory.about, memory.attribute, memory.context, memory.speaker,
                 memory.trust)
            )  # fmt: skip
            repeated = repeated or said in self._said
            self._said.add(said)
        return repeated

    def _note(self, left: Left) -> None:
        self._left[left.reason] += 1
        if left.reason == "junk":
            self._counts["junk"][left.detail] += 1
        if left.reason == "unread" and len(self._unread) < _MOST_TOLD:
            self._unread.append(Unread(left.place, left.detail))
        if left.reason not in _ORDINARY and len(self._troubles) < _MOST_TOLD:
            self._troubles.append(LeftRecord(left.place, left.reason, left.detail))


_STANDING: tuple[LeftOut, ...] = ("known", "same", "forgotten", "erased")
