"""The proof of an erasure: every byte of every file of the store is read, and nothing of the text may be in it.

Long texts are cut into pieces, because a database splits them over pages: any remainder of two pieces' length is
found. Pieces that other, kept memories also contain are left out, since finding those would prove nothing.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoranda.domain.keys import Key
from memoranda.domain.receipt import FileScan
from memoranda.ledger.reading import chunks, is_readable
from memoranda.ledger.sealing import chunks as in_clear
from memoranda.ledger.sealing import fits, head, is_sealed

PIECE = 24
SHORTEST = 6
_CHUNK = 1 << 20
_FOLDERS = ("-index", "-transcripts", "-documents", "-backups", "-work")
_BLOCK = 1 << 17
"""What fits into the caches of a processor."""
_WIDTHS = (16, 8, SHORTEST)
_FIRST = 4
_GLANCE_BITS = 20
_SIEVE_BITS = 22
_SPREAD = np.uint32(0x9E3779B1)

U64 = npt.NDArray[np.uint64]
Places = npt.NDArray[np.intp]


class Pattern(NamedTuple):
    """One byte string that is looked for: hashes of its beginning, its length, and the mark that proves it."""

    glance: int
    beginning: int
    length: int
    mark: bytes


class Scanned(NamedTuple):
    """One file that was read to the last byte, with its hash at that moment."""

    file: str
    bytes: int
    found: int
    sha256: str
    path: str
    unread: bool = False
    """Encrypted with a key that is not known: nothing was found in it, and nothing proven."""

    @property
    def told(self) -> FileScan:
        return FileScan(self.file, self.bytes, self.found)


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
    scanner = Scanner.of(needles)
    shared: set[bytes] = set()
    for block in blocks(survivors):
        shared |= scanner.found_in(block)
    return frozenset(shared)


def scan(
    files: Sequence[str],
    needles: "frozenset[bytes] | Scanner",
    *,
    key: Key | None = None,
    read: Callable[[int], None] = lambda _: None,
) -> tuple[Scanned, ...]:
    """Read each file to its end and count what is in it. A file that vanished has nothing in it.

    Of an encrypted file what it says is looked at, and what lies on the disk is hashed. `read` is told how many bytes
    were read since it was last told.
    """
    scanner = needles if isinstance(needles, Scanner) else Scanner.of(needles)
    scans = []
    for name in filter(is_readable, files):
        try:
            scans.append(_read(name, scanner, key, read))
        except FileNotFoundError:
            continue
    return tuple(scans)


def _read(name: str, scanner: "Scanner", key: Key | None, read: Callable[[int], None]) -> Scanned:
    path = Path(name)
    sealed = is_sealed(head(path))
    unread = sealed and (key is None or not fits(path, key))
    looking = _Looking(scanner)
    for part in chunks(name, _CHUNK):
        looking.count(part)
        if not sealed:
            looking.look(part)
        read(len(part))
    for part in in_clear(name, _CHUNK, key=key) if sealed and not unread else ():
        looking.look(part)
    return looking.told(shown_name(name), path=name, unread=unread)


def scan_parts(name: str, parts: Iterable[bytes], scanner: "Scanner") -> Scanned:
    """The same for what is handed over part by part, however small the parts are."""
    looking = _Looking(scanner)
    held: list[bytes] = []
    size = 0
    for part in parts:
        looking.count(part)
        held.append(part)
        size += len(part)
        if size >= _CHUNK:
            looking.look(b"".join(held))
            held, size = [], 0
    looking.look(b"".join(held))
    return looking.told(name, path=name)


class _Looking:
    """One file on its way through the scanner."""

    def __init__(self, scanner: "Scanner") -> None:
        self._scanner = scanner
        self._found: set[bytes] = set()
        self._overlap = b""
        self._digest = hashlib.sha256()
        self._size = 0

    def count(self, part: bytes) -> None:
        """As it lies there."""
        self._size += len(part)
        self._digest.update(part)

    def look(self, part: bytes) -> None:
        """As it says."""
        joined = self._overlap + part
        self._found |= self._scanner.found_in(joined)
        self._overlap = joined[-self._scanner.longest :]

    def told(self, name: str, *, path: str, unread: bool = False) -> Scanned:
        return Scanned(name, self._size, len(self._found), self._digest.hexdigest(), path, unread)


def shown_name(name: str) -> str:
    """How a file is called in a receipt: the folders of a store have files of the same names."""
    path = Path(name)
    return f"{path.parent.name}/{path.name}" if path.parent.name.endswith(_FOLDERS) else path.name


def blocks(texts: Iterable[str]) -> Iterator[bytes]:
    """Texts joined to larger parts, so that few have to be looked at."""
    held: list[bytes] = []
    size = 0
    for text in texts:
        held.append(text.encode("utf-8", "replace"))
        size += len(held[-1])
        if size > _CHUNK:
            yield b"\0".join(held)
            held, size = [], 0
    yield b"\0".join(held)


class Hasher:
    """Hashes of how byte strings begin. With a key of its own, nobody else can compute them."""

    def __init__(self, key: bytes = b"") -> None:
        drawn = hashlib.blake2b(key, digest_size=16, person=b"beginnings").digest()
        # Odd, so that no bit is lost.
        self._first, self._second = (int.from_bytes(drawn[at : at + 8], "little") | 1 for at in (0, 8))

    def beginning(self, needle: bytes) -> int:
        """Of one byte string."""
        width = width_of(len(needle))
        first = int.from_bytes(needle[: min(width, 8)], "little")
        second = int.from_bytes(needle[8:width], "little")
        return (first * self._first + second * self._second) & ((1 << 64) - 1)

    def beginnings(self, windows: U64, at: Places, width: int) -> U64:
        """Of what begins at each of these places."""
        hashes = windows[at]
        if width < 8:
            hashes &= np.uint64((1 << 8 * width) - 1)
        hashes *= np.uint64(self._first)
        if width > 8:
            hashes += windows[at + 8] * np.uint64(self._second)
        return hashes


class Scanner:
    """Looks for many byte strings at once: the time hardly depends on how many."""

    def __init__(self, patterns: Iterable[Pattern], *, hasher: Hasher, mark: Callable[[bytes], bytes]) -> None:
        """`mark` makes of a byte string what proves that it is the one."""
        self._hasher = hasher
        self._mark = mark
        self._wanted: dict[int, dict[int, dict[int, set[bytes]]]] = {}
        self._glance = np.zeros(1 << _GLANCE_BITS, np.bool_)
        self.longest = 1
        self.count = 0
        for start, beginning, length, proof in patterns:
            by_beginning = self._wanted.setdefault(width_of(length), {})
            by_beginning.setdefault(beginning, {}).setdefault(length, set()).add(proof)
            self._glance[start] = True
            self.longest = max(self.longest, length)
            self.count += 1
        self._sieves = {width: _Sieve(found) for width, found in self._wanted.items()}

    @classmethod
    def of(cls, needles: Iterable[bytes]) -> "Scanner":
        """For byte strings that are known."""
        hasher = Hasher()
        patterns = (Pattern(glance(each), hasher.beginning(each), len(each), each) for each in needles)
        return cls(patterns, hasher=hasher, mark=lambda piece: piece)

    def found_in(self, data: bytes) -> set[bytes]:
        """The marks of all that is in there."""
        found: set[bytes] = set()
        if not self._wanted or len(data) < SHORTEST:
            return found
        # With zeros behind the end, the last places have windows, too.
        padded = np.frombuffer(data + bytes(2 * 8), np.uint8)
        windows = np.lib.stride_tricks.as_strided(padded[:8].view(np.uint64), (len(padded) - 7,), (1,), writeable=False)
        for start in range(0, len(data), _BLOCK):
            at = self._glanced(data, start)
            for width, sieve in self._sieves.items() if len(at) else ():
                left, hashes = sieve.kept(at, self._hasher.beginnings(windows, at, width))
                self._prove(data, left, hashes, self._wanted[width], found)
        return found

    def _glanced(self, data: bytes, start: int) -> Places:
        """The places of a block where the first four bytes may be those of something that is looked for."""
        block = data[start : start + _BLOCK + _FIRST - 1]
        found = []
        for shift in range(_FIRST):
            count = (len(block) - shift) // _FIRST
            values = np.frombuffer(block[shift : shift + count * _FIRST], np.uint32) * _SPREAD
            values >>= np.uint32(32 - _GLANCE_BITS)
            at = np.flatnonzero(self._glance.take(values))
            found.append(at * _FIRST + (start + shift))
        return np.concatenate(found)

    def _prove(
        self, data: bytes, at: Places, hashes: U64, wanted: Mapping[int, Mapping[int, set[bytes]]], found: set[bytes]
    ) -> None:
        for place, value in zip(at.tolist(), hashes.tolist(), strict=True):
            for length, marks in wanted[value].items():
                mark = self._mark(data[place : place + length])
                if mark in marks:
                    found.add(mark)


class _Sieve:
    """Lets through what has one of these hashes; most of the rest is held back by its first bits."""

    def __init__(self, hashes: Iterable[int]) -> None:
        self._hashes = np.array(sorted(hashes), np.uint64)
        self._shift = np.uint64(64 - _SIEVE_BITS)
        self._table = np.zeros(1 << _SIEVE_BITS, np.bool_)
        self._table[(self._hashes >> self._shift).astype(np.intp)] = True

    def kept(self, at: Places, hashes: U64) -> tuple[Places, U64]:
        """The places that are left, and their hashes."""
        likely = np.flatnonzero(self._table.take((hashes >> self._shift).astype(np.intp)))
        hashes = hashes[likely]
        places = np.searchsorted(self._hashes, hashes)
        places[places == len(self._hashes)] = 0
        same = self._hashes[places] == hashes
        return at[likely[same]], hashes[same]


def glance(needle: bytes) -> int:
    """A few bits of the first four bytes, by which most places of a file are passed over."""
    first = int.from_bytes(needle[:_FIRST], "little")
    return (first * int(_SPREAD) & 0xFFFFFFFF) >> (32 - _GLANCE_BITS)


def width_of(length: int) -> int:
    """Of how many bytes at the beginning the hash is made."""
    return next(width for width in _WIDTHS if length >= width)
