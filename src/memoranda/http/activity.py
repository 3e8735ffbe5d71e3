"""What this server did lately, for those who look at it. Kept in memory, bounded; never a text or an id."""

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memoranda.domain.clock import Clock, iso
from memoranda.domain.pack import PackReceipt
from memoranda.domain.receipt import CaptureReceipt, RecallReceipt
from memoranda.http.metrics import reason_of

MOST = 10_000
_MINUTE_MS = 60_000
_LONGEST_MINUTES = 1_440
_TIMED = {
    "recall": ("recall", "mcp.recall", "mcp.memory_recall", "mcp.recall_memory"),
    "remember": ("remember", "mcp.remember", "mcp.memory_store"),
    "pack": ("pack",),
    "capture": ("capture",),
}
"""What is timed, and the doors at which it is done: agents come through tools of their own."""


class Done(NamedTuple):
    """One request that was answered."""

    at: int
    door: str
    scope: str
    """Where it worked; empty for what concerns no scope."""
    milliseconds: float
    status: int
    abstained: str = ""
    returned: int | None = None
    """Memories that a recall or a pack gave; None for what recalls nothing."""
    kept: int = 0
    refused: tuple[tuple[str, int], ...] = ()
    """What a capture left out, by reason."""

    @classmethod
    def of(cls, receipt: object, **known: Any) -> "Done":
        """With what a receipt tells."""
        if isinstance(receipt, RecallReceipt):
            known |= {"abstained": reason_of(receipt.abstained) if receipt.abstained else ""}
            known |= {"returned": receipt.returned}
        elif isinstance(receipt, PackReceipt):
            known |= {"abstained": reason_of(receipt.abstained) if receipt.abstained else ""}
            known |= {"returned": len(receipt.included)}
        elif isinstance(receipt, CaptureReceipt):
            known |= {"kept": len(receipt.kept), "refused": tuple(sorted(receipt.refused.items()))}
        return cls(**known)


class Activity:
    """The last 10,000 requests. Each caller is told of the scopes that it reaches, and of no other."""

    def __init__(self, clock: Clock, *, most: int = MOST) -> None:
        self._clock = clock
        self._since = clock.now()
        self._done: deque[Done] = deque(maxlen=most)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._done)

    def note(self, done: Done) -> None:
        """One more."""
        with self._lock:
            self._done.append(done)

    def summary(self, reaches: Callable[[str], bool], *, minutes: int = 60) -> dict[str, Any]:
        """Counts, times and shares of the last minutes, of the scopes that `reaches` says yes to."""
        asked = max(1, min(int(minutes), _LONGEST_MINUTES))
        now = self._clock.now()
        with self._lock:
            recent = [each for each in self._done if each.at > now - asked * _MINUTE_MS]
            complete = len(self._done) < (self._done.maxlen or 0)
        told = {scope: reaches(scope) for scope in {each.scope for each in recent}}
        seen = [each for each in recent if told[each.scope]]
        recalls = [each for each in seen if each.returned is not None]
        refused: Counter[str] = Counter()
        for each in seen:
            refused.update(dict(each.refused))
        return {
            "since": iso(self._since),
            "minutes": asked,
            "complete": complete or self._since > now - asked * _MINUTE_MS,
            "requests": len(seen),
            "errors": sum(each.status >= 500 for each in seen),
            "by_door": dict(sorted(Counter(each.door for each in seen).items())),
            "by_status": dict(sorted(Counter(str(each.status) for each in seen).items())),
            "times": {verb: _times(seen, verb) for verb in _TIMED},
            "abstained": {
                "recalls": len(recalls),
                "share": _share(sum(bool(each.abstained) for each in recalls), len(recalls)),
                "reasons": dict(sorted(Counter(each.abstained for each in recalls if each.abstained).items())),
            },
            "captured": {"kept": sum(each.kept for each in seen), "refused": dict(sorted(refused.items()))},
            "series": _series(seen, now=now, minutes=asked),
        }


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that so great a share is not above. Of an ordered list that is not empty."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _times(seen: Iterable[Done], verb: str) -> dict[str, Any]:
    """What was turned away says nothing of how long the work takes."""
    ordered = sorted(each.milliseconds for each in seen if each.door in _TIMED[verb] and each.status < 400)
    if not ordered:
        return {"count": 0, "p50": None, "p95": None, "p99": None}
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {"count": len(ordered), **{name: round(percentile(ordered, share), 3) for name, share in shares.items()}}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _series(seen: Sequence[Done], *, now: int, minutes: int) -> list[dict[str, Any]]:
    """One row for each minute in which something was done."""
    rows: dict[int, list[Done]] = {}
    for each in seen:
        rows.setdefault(each.at // _MINUTE_MS, []).append(each)
    first = now // _MINUTE_MS - minutes
    return [_row(minute, done) for minute, done in sorted(rows.items()) if minute >= first]


def _row(minute: int, done: Sequence[Done]) -> dict[str, Any]:
    recall = _times(done, "recall")
    return {
        "at": iso(minute * _MINUTE_MS),
        "requests": len(done),
        "errors": sum(each.status >= 500 for each in done),
        "recalls": sum(each.returned is not None for each in done),
        "abstained": sum(bool(each.abstained) for each in done),
        "recall_p50": recall["p50"],
        "recall_p95": recall["p95"],
        "remember_p95": _times(done, "remember")["p95"],
    }
