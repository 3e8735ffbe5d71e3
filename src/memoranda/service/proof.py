"""The proof of an erasure: every byte of every file of the store is read, and nothing of the text may be in it.

Long texts are cut into pieces, because a database splits them over pages: any remainder of two pieces' length is
found. Pieces that other, kept memories also contain are left out, since finding those would prove nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memoranda.domain.receipt import FileScan
from memoranda.ledger.reading import chunks, is_readable

PIECE = 24
SHORTEST = 6
_CHUNK = 8 << 20
_KEY = 4
_FOLDERS = ("-index", "-transcripts", "-documents")


def pieces(texts: Iterable[str]) -> frozenset[bytes]:
    """Byte strings by which these texts are recognised. A text of fewer than six bytes cannot be told from chance."""
    found: set[bytes] = set()
    for text in texts:
        raw = text.encode("utf-8", "replace")
        if len(raw) < SHORTEST:
            continue
        if len(raw) <= 2 * PIECE:
            found.add(raw)
            continue
        found.update(raw[start : start + PIECE] for start in range(0, len(raw) - PIECE + 1, PIECE))
        found.add(raw[-PIECE:])
    return frozenset(found)


def kept_elsewhere(needles: frozenset[bytes], survivors: Iterable[str]) -> frozenset[bytes]:
    """Those needles that what is kept contains, too."""
    if not needles:
        return needles
    scanner = _Scanner(needles)
    shared: set[bytes] = set()
    for block in _blocks(survivors):
        shared |= scanner.found_in(block)
    return frozenset(shared)


def scan(files: Sequence[str], needles: frozenset[bytes]) -> tuple[FileScan, ...]:
    """Read each file to its end and count the needles that are in it. A file that vanished has nothing in it."""
    scanner = _Scanner(needles)
    scans = []
    for name in filter(is_readable, files):
        size = 0
        found: set[bytes] = set()
        overlap = b""
        try:
            for chunk in chunks(name, _CHUNK):
                size += len(chunk)
                found |= scanner.found_in(overlap + chunk)
                overlap = chunk[-scanner.longest :]
        except FileNotFoundError:
            continue
        path = Path(name)
        # The folders of a store have files of the same names.
        inside = path.parent.name.endswith(_FOLDERS)
        scans.append(FileScan(f"{path.parent.name}/{path.name}" if inside else path.name, size, len(found)))
    return tuple(scans)


def _blocks(texts: Iterable[str]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for text in texts:
        held.append(text.encode("utf-8", "replace"))
        size += len(held[-1])
        if size > _CHUNK:
            yield b"\0".join(held)
            held, size = [], 0
    yield b"\0".join(held)


class _Scanner:
    """Looks for many byte strings at once: the time does not depend on how many."""

    def __init__(self, needles: frozenset[bytes]) -> None:
        self.longest = max((len(needle) for needle in needles), default=1)
        self._by_key: dict[int, list[bytes]] = {}
        for needle in needles:
            self._by_key.setdefault(int.from_bytes(needle[:_KEY], "little"), []).append(needle)
        self._keys = np.fromiter(sorted(self._by_key), np.uint32, len(self._by_key))
        self._beginnings = np.zeros(1 << 16, np.bool_)
        self._beginnings[self._keys & 0xFFFF] = True

    def found_in(self, data: bytes) -> set[bytes]:
        if not self._by_key or len(data) < _KEY:
            return set()
        values: npt.NDArray[np.uint8] = np.frombuffer(data, np.uint8)
        pairs = values[:-1].astype(np.uint16)
        pairs |= values[1:].astype(np.uint16) << 8
        at = np.flatnonzero(self._beginnings[pairs[:-2]])
        keys = pairs[at].astype(np.uint32) | (pairs[at + 2].astype(np.uint32) << 16)
        hits = at[np.isin(keys, self._keys)]
        return {
            needle
            for place in hits.tolist()
            for needle in self._by_key[int.from_bytes(data[place : place + _KEY], "little")]
            if data.startswith(needle, place)
        }
