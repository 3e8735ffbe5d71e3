"""Shards: which of several stores keeps a scope. Decided by its root alone, so that no call ever needs two of them.

A root goes to the place in the list whose hash with it is the highest (rendezvous hashing, BLAKE2b). The hash is of
the place and not of the address: a store may move to another host, and a shard that is added at the end takes its
share of the roots from all others, while no root moves between those. A pin puts one root where it is told to be.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from memoranda.domain.address import address_of, is_address
from memoranda.domain.errors import ConfigError
from memoranda.domain.scope import Scope

_PIN = re.compile(r"(?P<root>[A-Za-z0-9][A-Za-z0-9_.:@+~-]*)=(?P<where>.+)", re.DOTALL)
_FEWEST = 2
OF_ALL = frozenset({"memoranda", "memoranda.admin", "memoranda.probe"})
"""Roots from which all shards are looked after. They are of the first."""
_HINT = 'Write shards = ["postgresql://one/db", "postgresql://two/db", "big-root=2"]: two addresses or more, then pins.'


class Shard(NamedTuple):
    """One store of several: its place in the list, from 1, and its address, which may hold a password."""

    place: int
    address: str

    @property
    def shown(self) -> str:
        """Its address for people: without a password."""
        return address_of(self.address).shown if is_address(self.address) else str(_file(self.address))

    @property
    def name(self) -> str:
        """What tells it from all other stores: the same with whatever password."""
        return address_of(self.address).digest if is_address(self.address) else str(_file(self.address))


class ShardMap(NamedTuple):
    """All shards of an installation, and the roots that are pinned to one of them."""

    shards: tuple[Shard, ...]
    pins: Mapping[str, int] = MappingProxyType({})

    @classmethod
    def of(cls, entries: Sequence[str]) -> "ShardMap":
        """From the setting: addresses in their order, and pins as `root=PLACE` or `root=ADDRESS`."""
        pinned = {entry: found for entry in entries if (found := _PIN.fullmatch(entry))}
        shards = tuple(
            Shard(place, entry) for place, entry in enumerate((each for each in entries if each not in pinned), 1)
        )
        places = {shard.name: shard.place for shard in shards}
        if len(shards) < _FEWEST or len(places) < len(shards):
            raise ConfigError("shards are two or more different addresses", hint=_HINT)
        pins: dict[str, int] = {}
        for found in pinned.values():
            root, where = found["root"], found["where"]
            place = int(where) if where.isdecimal() else places.get(Shard(0, where).name, 0)
            if not 1 <= place <= len(shards) or root in pins:
                raise ConfigError(f"shards: the pin of {root[:80]!r} names no shard, or is there twice", hint=_HINT)
            pins[root] = place
        return cls(shards, MappingProxyType(pins))

    def of_scope(self, scope: Scope) -> Shard:
        """The one shard that keeps this scope, all above it and all below it."""
        return self.of_root(root_of(scope.path))

    def of_root(self, root: str) -> Shard:
        """The shard of a root."""
        place = self.pins.get(root, 1 if root in OF_ALL else 0)
        return self.shards[place - 1] if place else max(self.shards, key=lambda shard: _weight(root, shard.place))

    def named(self, address: str) -> Shard | None:
        """The shard with this address, if it is one of them."""
        wanted = Shard(0, address).name
        return next((shard for shard in self.shards if shard.name == wanted), None)

    @property
    def digest(self) -> str:
        """Names this very list: its addresses in their order, and its pins. No password is in it."""
        told = "\n".join([*(shard.name for shard in self.shards), *(f"{a}={b}" for a, b in sorted(self.pins.items()))])
        return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


class ShardNote(NamedTuple):
    """What a store knows of the list that it belongs to."""

    digest: str
    place: int
    total: int
    """How many shards the list has."""


class ShardStatus(NamedTuple):
    """One shard as it stands. `trouble` says why it cannot be looked at; then nothing is counted."""

    place: int
    address: str
    roots: int = 0
    memories: int = 0
    live: int = 0
    fits: bool = False
    """Whether the store says that it belongs to this very list, at this very place."""
    strays: tuple[str, ...] = ()
    """Roots that are kept here and belong elsewhere by this list, some of them."""
    trouble: str = ""
    unused: bool = False
    """Whether it belongs to no list yet: it is taken in when a root of it is first asked for."""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "strays": list(self.strays)}


def root_of(path: str) -> str:
    """The first segment of a scope."""
    return path.partition("/")[0]


def _weight(root: str, place: int) -> bytes:
    return hashlib.blake2b(f"{place} {root}".encode(), digest_size=8, person=b"memoranda shard").digest()


def _file(address: str) -> Path:
    return Path(address).expanduser().absolute()
