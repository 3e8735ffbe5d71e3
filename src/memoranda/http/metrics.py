"""Metrics for Prometheus: counts and times of doors, and how the store stands. Never a scope, an id or a text.

Every label comes from a closed list: what is not in it is `other`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    exposition,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memoranda.domain.candidate import REFUSALS
from memoranda.domain.errors import MemorandaError
from memoranda.domain.pack import PackAbstention, PackReceipt
from memoranda.domain.receipt import CaptureReceipt, RecallReceipt

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ABSTENTIONS = (
    "no query",
    "trivial prompt",
    "only small words",
    "nothing to search",
    "nothing happened then",
    "nothing may speak unasked",
    "nothing cleared the bar",
    *(reason for reason in get_args(PackAbstention) if reason),
)
_OTHER = "other"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Standing(NamedTuple):
    """How the store stands at the moment when somebody asks."""

    live: int
    """Memories that may be recalled."""
    lag: int
    """Events that the index has not followed yet."""
    owed: bool = False
    """Whether an erasure is not finished: its bytes are in files still."""


class Serving(NamedTuple):
    """How this process stands among those that serve the store."""

    leads: bool
    """Whether it is the one that does the upkeep."""
    connections: int | None = None
    """To the database server, for reading; None when the store is a file."""
    idle: int = 0
    waiting: int = 0


def reason_of(abstained: str) -> str:
    """One of the reasons that are known; whatever else it says is not shown."""
    return abstained if abstained in ABSTENTIONS else _OTHER


class Metrics:
    """What one server counts, in a registry of its own."""

    def __init__(
        self,
        standing: Callable[[], Standing] | None = None,
        *,
        busy: Callable[[], int] | None = None,
        serving: Callable[[], Serving] | None = None,
    ) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(_Now(standing, busy, serving))
        self._requests = self._counter("requests", "Requests that were answered.", "door", "method", "status")
        self._seconds = Histogram(
            "memoranda_request_seconds",
            "Time until a request was answered.",
            ["door"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._recalls = self._counter("recalls", "Recalls that were done.")
        self._packs = self._counter("packs", "Packs that were made, also empty ones.")
        self._hits = self._counter("hits", "Memories that recalls gave back.")
        self._abstentions = self._counter("abstentions", "Recalls and packs that gave nothing, by reason.", "reason")
        self._degraded = self._counter("degraded", "Recalls and captures that had to do without something.")
        self._captured = self._counter("captured", "Memories that captures kept, or that wait for a yes.", "outcome")
        self._refused = self._counter("capture_refused", "What captures left out, by reason.", "reason")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"memoranda_{name}", about, labels, registry=self.registry)

    def request(self, *, door: str, method: str, status: int, seconds: float) -> None:
        """One request. `door` is a name from the table of doors, or a word of the server's own."""
        self._requests.labels(door, method if method in METHODS else _OTHER, str(status)).inc()
        self._seconds.labels(door).observe(seconds)

    def receipt(self, receipt: object) -> None:
        """What a recall, a pack or a capture did; other receipts are not counted."""
        if isinstance(receipt, RecallReceipt):
            self._recalls.inc()
            self._hits.inc(receipt.returned)
            self._degraded.inc(bool(receipt.degraded))
            self._abstained(receipt.abstained)
        elif isinstance(receipt, PackReceipt):
            self._packs.inc()
            self._abstained(receipt.abstained)
        elif isinstance(receipt, CaptureReceipt):
            self._degraded.inc(bool(receipt.degraded))
            for outcome in ("kept", "reinforced", "waiting"):
                self._captured.labels(outcome).inc(len(getattr(receipt, outcome)))
            for reason, count in receipt.refused.items():
                self._refused.labels(reason if reason in REFUSALS else _OTHER).inc(count)

    def _abstained(self, reason: str) -> None:
        if reason:
            self._abstentions.labels(reason_of(reason)).inc()

    def shown(self) -> tuple[bytes, str]:
        """What Prometheus reads, and its content type."""
        return exposition.generate_latest(self.registry), exposition.CONTENT_TYPE_PLAIN_0_0_4


class _Now(Collector):
    """What is not counted along the way but looked at when somebody asks."""

    def __init__(
        self,
        standing: Callable[[], Standing] | None,
        busy: Callable[[], int] | None,
        serving: Callable[[], Serving] | None,
    ) -> None:
        self._standing = standing
        self._busy = busy
        self._serving = serving

    def collect(self) -> Iterator[Metric]:
        if self._busy is not None:
            yield GaugeMetricFamily("memoranda_busy", "Requests that are worked on or wait.", value=self._busy())
        if self._serving is not None:
            yield from self._told(self._serving())
        if self._standing is None:
            return
        try:
            standing = self._standing()
        except (MemorandaError, OSError):
            # A scrape goes on without the two: that they are missing is what an alarm can look for.
            yield _up(0)
            return
        yield _up(1)
        yield GaugeMetricFamily("memoranda_memories_live", "Memories that may be recalled.", value=standing.live)
        yield GaugeMetricFamily("memoranda_index_lag", "Events that the index has yet to follow.", value=standing.lag)
        about = "Whether bytes of what was erased are in files still."
        yield GaugeMetricFamily("memoranda_erasure_unfinished", about, value=standing.owed)

    def _told(self, serving: Serving) -> Iterator[Metric]:
        yield GaugeMetricFamily("memoranda_leader", "Whether this process does the upkeep.", value=serving.leads)
        if serving.connections is None:
            return
        pool = GaugeMetricFamily(
            "memoranda_database_connections", "Reading connections to the database server.", labels=["state"]
        )
        pool.add_metric(["open"], serving.connections)
        pool.add_metric(["idle"], serving.idle)
        pool.add_metric(["waited_for"], serving.waiting)
        yield pool

    def describe(self) -> list[Metric]:
        """Nothing is looked at before the store is served."""
        return []


def _up(value: int) -> Metric:
    return GaugeMetricFamily("memoranda_store_up", "Whether the store answers.", value=value)
