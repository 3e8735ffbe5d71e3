"""Values of upkeep: what one did and when, and what tidying up gained."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.results import IndexStatus


class UpkeepReceipt(NamedTuple):
    """One upkeep of a store, in numbers alone. `trouble` names the error that ended it, if any did."""

    at: int
    seconds: float
    trouble: str = ""
    counts: Mapping[str, int] = MappingProxyType({})

    @property
    def ok(self) -> bool:
        return not self.trouble

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": iso(self.at), "counts": dict(self.counts)}


class Optimized(NamedTuple):
    """The index before and after, and how much the files of the store took up."""

    before: IndexStatus
    after: IndexStatus
    bytes_before: int
    bytes_after: int
    rewritten: bool
    """Whether the ledger had so much free space that it was written anew."""
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "before": self.before.as_json(), "after": self.after.as_json()}
