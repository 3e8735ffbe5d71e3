"""The probe of an index: entries that no search may give back, put beside one that it must. An index that gives one of
them back, or loses the one among them, is refused before anything of anybody is asked of it.

Not a test of quality, and no proof: the contract of an index is that. Its words are random and say nothing of anybody.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import IndexRefused
from memoranda.domain.ids import new_id
from memoranda.domain.ports import Index, IndexAnswer, IndexEntry, IndexQuery, Meaning, Times

SCOPE = "memoranda.probe"
"""Below this, nothing is anybody's."""
_NOW = 1_000_000
_SPAN = Times(((_NOW, _NOW + 1),))
_CROWD = 100
_FEW = 12
_WIDE = 10_000
_GOOD_FOR_MS = 86_400_000
LOWEST = 1 << 61
"""No ledger reaches it. The numbers of a probe tell the second in which it began, and then are random."""
_SECOND = 1 << 28
_LONGEST_MS = 3_600_000
"""No probe takes so long: what is older was left by a process that ended inside of one."""
_random = SystemRandom()


@runtime_checkable
class Listed(Protocol):
    """An index that can be asked which numbers it holds."""

    def numbers_from(self, lowest: int) -> tuple[int, ...]:
        """The numbers of entries from this one on."""


class _Planted(NamedTuple):
    """What was put into the index: the one that is to be found, and why each of the others is not."""

    word: str
    wanted: int
    kept_out: Mapping[int, str]
    entries: tuple[IndexEntry, ...]
    query: IndexQuery

    @property
    def numbers(self) -> tuple[int, ...]:
        return (self.wanted, *self.kept_out)


def probe(index: Index, *, dimensions: int | None = None) -> None:
    """Raise IndexRefused when a filter of the search is missing, or comes after a limit.

    Asks every lane, with scope, state, validity, `allow`, `hidden` and `tail`; that of meaning only when the
    `dimensions` of its vectors are known. What it put is removed again; the sequence and the mark stay as they are.
    """
    planted = _planted(dimensions if dimensions is None or dimensions > 1 else None)
    left = _left_behind(index)
    try:
        index.apply(put=planted.entries, drop=left, sequence=None)
        for pool in (1, _WIDE):
            _look(planted, index.search(planted.query._replace(pool=pool)))
    finally:
        # Not at once: no byte of it is anybody's, and to write a large index anew for it would cost too much.
        index.apply(put=(), drop=planted.numbers, sequence=None, at_once=False)
    if index.holds(planted.numbers):
        raise _refused("does not let go of what was dropped")


def _left_behind(index: Index) -> tuple[int, ...]:
    """What a probe put that nobody will remove any more. That of one under way, in another process, is not."""
    if not isinstance(index, Listed):
        return ()
    newest = _first_of(SystemClock().now() - _LONGEST_MS)
    return tuple(number for number in index.numbers_from(LOWEST) if number < newest)


def _first_of(moment: int) -> int:
    """The lowest number of a probe that begins in this second."""
    return LOWEST + moment // 1_000 * _SECOND


def probe_once(index: Index, *, dimensions: int | None, serving: object, note: Path, now: int) -> None:
    """Probe an index unless this machine has found the very same one good within a day.

    A command that a host starts for every turn opens an index each time, and should not write to it each time.
    `serving` is what changes when another index serves; `note` is the file in which it is written down.
    """
    good = f"{type(index).__qualname__} {dimensions} {serving}"
    if not _was_good(note, good, now):
        probe(index, dimensions=dimensions)
        _write_down(note, good, now)


def _was_good(note: Path, good: str, now: int) -> bool:
    try:
        moment, _, of = note.read_text(encoding="utf-8").partition(" ")
        return of == good and 0 <= now - int(moment) < _GOOD_FOR_MS
    except (OSError, ValueError):
        return False


def _write_down(note: Path, good: str, now: int) -> None:
    """A note that cannot be written costs another probe the next time, and nothing else."""
    with suppress(OSError):
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = note.with_name(f"{note.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(f"{now} {good}")
        draft.replace(note)


def _planted(dimensions: int | None) -> _Planted:
    """Each group of entries is kept out by one filter alone, and every one of them is a better match."""
    scope, siblings = _scopes()
    word = f"zq{new_id()}"
    near, far = (None, None) if dimensions is None else _meanings(dimensions)
    first = _first_of(SystemClock().now()) + _random.randrange(_SECOND - 10 * _CROWD)
    numbers = iter(range(first, first + 10 * _CROWD))

    def better(count: int, where: str = scope, **fields: Any) -> list[IndexEntry]:
        made = IndexEntry(0, where, f"{word} {word}", meaning=near, conversation=word, occurred_at=_NOW)
        return [made._replace(number=next(numbers), **fields) for _ in range(count)]

    wanted = better(1, text=f"{word} and a quiet violin somewhere far away", meaning=far)
    groups = {
        "another scope": [each for sibling in siblings for each in better(_CROWD // len(siblings), sibling)],
        "another state": [*better(_FEW, state="forgotten"), *better(_FEW, state="superseded")],
        "another validity": [*better(_FEW, valid_until=_NOW), *better(_FEW, valid_from=_NOW + 1)],
        "what is not allowed": better(_FEW),
        "what is hidden": better(_FEW),
        "what the tail has replaced": better(_FEW),
    }
    shut = {each.number for each in groups["what is not allowed"]}
    everything = [*wanted, *(each for group in groups.values() for each in group)]
    query = IndexQuery(
        (scope,),
        text=word,
        vector=None if near is None else near.vector,
        now=_NOW,
        allow=frozenset(each.number for each in everything) - shut,
        times=_SPAN,
        subjects=frozenset(each.number for each in everything),
        # They have moved away: neither what is held nor what has come instead is in this scope.
        tail=tuple(each._replace(scope=siblings[0]) for each in groups["what the tail has replaced"]),
        hidden=frozenset(each.number for each in groups["what is hidden"]),
    )
    kept_out = {each.number: why for why, group in groups.items() for each in group}
    return _Planted(word, wanted[0].number, kept_out, tuple(everything), query)


def _scopes() -> tuple[str, tuple[str, ...]]:
    """A scope, and others that a pattern, a prefix, or a comparison without case would take for it."""
    one, other = new_id(), new_id()
    scope = f"{SCOPE}/p{one}_{other}"
    below, longer, alike, louder = f"{scope}/below", f"{scope}0", f"{SCOPE}/p{one}x{other}", f"{SCOPE}/P{one}_{other}"
    return scope, (longer, below, alike, louder, SCOPE)


def _meanings(dimensions: int) -> tuple[Meaning, Meaning]:
    """The very vector that is asked for, and one that is only somewhat like it."""
    near, far = np.zeros((2, dimensions), np.float32)
    near[0] = 1.0
    far[:2] = 0.6, 0.8
    return Meaning(near), Meaning(far)


def _look(planted: _Planted, answer: IndexAnswer) -> None:
    leaked = sorted({planted.kept_out.get(each.number, "what nobody put") for each in _others(planted, answer)})
    if leaked:
        raise _refused(f"gives back {', '.join(leaked)}")
    if not answer.candidates:
        raise _refused("loses what it should find: a filter comes after a limit, or what was put is not there yet")
    found = answer.candidates[0]
    ranks = {"words": found.lexical_rank, "structure": found.structured_rank}
    if planted.query.vector is not None:
        ranks["meaning"] = found.semantic_rank
    late = [lane for lane, rank in ranks.items() if rank != 1]
    if late:
        raise _refused(f"loses what it should find by {' and '.join(late)}: a filter comes after a limit there")
    if found.around is not None:
        raise _refused("tells of what stands beside a candidate and may not be seen")


def _others(planted: _Planted, answer: IndexAnswer) -> Iterable[Any]:
    return (each for each in answer.candidates if each.number != planted.wanted)


def _refused(why: str) -> IndexRefused:
    return IndexRefused(f"this index is not used: it {why}")
