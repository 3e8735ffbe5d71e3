"""Erase: delete everywhere, make the bytes leave the files, then prove that they have."""

import hashlib
from collections.abc import Sequence

from memoranda.domain.errors import LedgerError, LedgerLocked
from memoranda.domain.memory import Memory
from memoranda.domain.ports import IndexEntry
from memoranda.domain.receipt import EraseReceipt, FileScan
from memoranda.service.engine import Engine

_VECTOR_BYTES = 64
Chosen = Sequence[tuple[int, Memory]]


def confirmation(chosen: Chosen) -> str:
    """What a caller must bring back to erase exactly what it was shown."""
    listed = "\n".join(sorted(memory.id for _, memory in chosen))
    return hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()


def erase(engine: Engine, chosen: Chosen, *, actor: str) -> EraseReceipt:
    """Destroy these memories. `deleted` means gone from every answer, `purged` proven gone from every file."""
    from memoranda.service.proof import kept_elsewhere, pieces, scan

    ids = tuple(sorted(memory.id for _, memory in chosen))
    if not chosen:
        return EraseReceipt("purged", (), engine.ledger.sequence())
    numbers = frozenset(number for number, _ in chosen)
    texts = list(engine.ledger.texts(numbers.__contains__))
    engine.memories.catch_up(seconds=0)
    index_entries = _index_entries(engine, sorted(numbers))
    vectors = engine.ledger.feed.vector_bodies(sorted(numbers), _VECTOR_BYTES)
    sequence = engine.ledger.erase(chosen, actor=actor)
    engine.forget_cached([memory.spoken for _, memory in chosen])
    pending = _purge(engine)

    wanted = pieces(texts)
    shared = kept_elsewhere(wanted, engine.ledger.texts(lambda _: True))
    needles = (wanted - shared) | frozenset(engine.memories.index().residues(index_entries))
    needles |= engine.ledger.feed.without_kept_vectors(vectors, _VECTOR_BYTES)
    files = (*engine.ledger.files(), *engine.memories.folder.files())
    scanned = scan(files, needles)
    found = sum(each.found for each in scanned)
    rewritten = False
    if found and not pending:
        # Something lies in a page that is still in use, or in a file that no longer serves: write the files anew.
        pending = _write_anew(engine) or _purge(engine)
        rewritten = not pending
        scanned = scan(files, needles)
        found = sum(each.found for each in scanned)
    clean = not pending and not found
    return EraseReceipt(
        state="purged" if clean else "deleted",
        ids=ids,
        sequence=sequence,
        needles=len(needles),
        shared=len(shared),
        scanned=scanned,
        found=found,
        rewritten=rewritten,
        pending=pending or _remains(scanned),
    )


def _write_anew(engine: Engine) -> str:
    """The last resort; why it could not be done, if so."""
    try:
        engine.memories.folder.tidy_if_idle()
        engine.ledger.database.vacuum()
        engine.memories.index().rewrite()
    except LedgerError as error:
        return f"deleted, but remains were found and the files could not be written anew: {error}"
    return ""


def _remains(scanned: Sequence[FileScan]) -> str:
    names = ", ".join(each.file for each in scanned if each.found)
    return f"remains were found in {names}; remove what is not the store's own and look again" if names else ""


def _purge(engine: Engine) -> str:
    """Take it out of the index and empty the write-ahead logs; why that could not be done, if so."""
    try:
        engine.memories.release_retired()
        engine.memories.catch_up(seconds=0)
        if engine.memories.index().sequence < engine.ledger.sequence():
            return "the index is held by another process; run `memoranda maintain` when it has ended"
        if not engine.memories.index().scrub() or not engine.ledger.database.checkpoint():
            return "another process is reading the store; run `memoranda maintain` when it has ended"
    except LedgerLocked:
        return "another process holds the store; run `memoranda maintain` when it has ended"
    except LedgerError as error:
        return f"deleted, but the bytes are not gone yet: {error}"
    return ""


def _index_entries(engine: Engine, numbers: Sequence[int]) -> list[IndexEntry]:
    from memoranda.index.follower import entries

    put, _ = entries(engine.ledger.feed, numbers, engine.memories.space())
    return put
