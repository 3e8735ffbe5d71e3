"""Vectors of this process that were asked for lately, least recently used out first. Never on disk.

Keyed by a hash, so that it holds no text; `forget` makes erased text leave it, also text on its way in.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from memoranda.domain.ports import Role

Vector = NDArray[np.float32]
_Key = tuple[str, Role, bytes]
_ROLES: tuple[Role, ...] = get_args(Role)


class VectorCache:
    """Bounded, and safe to use from several threads."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._vectors: OrderedDict[_Key, Vector] = OrderedDict()
        self._lock = threading.Lock()
        self._purges = 0

    def get(self, texts: Iterable[str], *, fingerprint: str, role: Role) -> tuple[dict[str, Vector], int]:
        """The vectors that are here, by text; and the ticket to bring along to `put`."""
        found: dict[str, Vector] = {}
        with self._lock:
            for text in texts:
                key = _key(text, fingerprint, role)
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[text] = self._vectors[key]
            return found, self._purges

    def put(self, vectors: Mapping[str, Vector], *, fingerprint: str, role: Role, ticket: int) -> None:
        """Keep these, unless something was purged since the ticket was given: they might be what was erased."""
        with self._lock:
            if ticket != self._purges:
                return
            for text, vector in vectors.items():
                key = _key(text, fingerprint, role)
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._entries:
                self._vectors.popitem(last=False)

    def forget(self, texts: Iterable[str], *, fingerprint: str) -> None:
        """Remove these in every role."""
        keys = [_key(text, fingerprint, role) for text in texts for role in _ROLES]
        with self._lock:
            self._purges += 1
            for key in keys:
                self._vectors.pop(key, None)

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._purges += 1
            self._vectors.clear()


def _key(text: str, fingerprint: str, role: Role) -> _Key:
    return fingerprint, role, hashlib.blake2b(text.encode(), digest_size=16).digest()
