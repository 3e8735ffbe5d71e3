"""Restoring: a store made from a backup, where there is none yet.

The backup is checked before, and what was written is checked before it becomes the store. An index is not in a backup:
it is made anew when it is first needed, from what the ledger holds.
"""

import time
from pathlib import Path
from typing import NamedTuple

from memoranda.config import Settings, load
from memoranda.domain.backup import Reached, Restored, RestoreReceipt
from memoranda.domain.clock import Clock, SystemClock, iso
from memoranda.domain.errors import Conflict, InvalidInput, LedgerDamaged, NotFound
from memoranda.domain.ports import Progress
from memoranda.domain.text import so_many
from memoranda.ledger import backup
from memoranda.ledger.connection import Connection
from memoranda.ledger.copying_files import to_server
from memoranda.ledger.database import make_folder
from memoranda.ledger.erased import Gone, gone
from memoranda.ledger.locking import Busy, held
from memoranda.ledger.opening import opened_server
from memoranda.ledger.replacing import alone, drop_derived, place, replace
from memoranda.service.backing_up import LOCK, erase_in, existing, finished, private, shred_beside, told, verify_backup
from memoranda.service.engine import Engine
from memoranda.service.keys import key_for, key_of

WORK = "-restoring"


class Buried(NamedTuple):
    """What a newer store has erased: by what it said, and by its ids."""

    tombstones: list[tuple[bytes, str, int]]
    gone: Gone


def restore(
    source: str | Path,
    store: str | Path | None = None,
    *,
    passphrase: str | None = None,
    tombstones_from: str | Path | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Restored:
    """Make a store from a backup. Only where there is none, or one in which nothing was ever kept.

    The store is encrypted when the settings name a key. `tombstones_from` is a newer store of the same origin: what
    was erased there does not come back.
    """
    began = time.monotonic()
    chosen = (settings or load()).changed({"store": None if store is None else str(store)})
    # Behind a link, so that nothing is written beside the link, and nothing in the place of it.
    path, origin = chosen.store_path(), existing(source)
    path = path.resolve() if path.is_symlink() else path
    buried = None if tombstones_from is None else chosen.changed({"store": str(tombstones_from)})
    if buried is not None and buried.store_address() is None and not buried.store_path().is_file():
        raise NotFound(
            f"there is no store at {buried.store_path()}", hint="Give the newer store, or leave the option out."
        )
    with told():
        open(origin, "rb").close()  # one that we may not read is told before anything is made
        make_folder(path.parent)
        try:
            with held(path.with_name(path.name + LOCK)):
                if chosen.store_address() is None:
                    _refuse_used(path, chosen)
                return _restored(origin, path, chosen, clock or SystemClock(), passphrase, buried, progress, began)
        except Busy as error:
            raise Conflict("another restore into this store is under way", hint="Wait until it is done.") from error


def _restored(
    origin: Path,
    path: Path,
    settings: Settings,
    clock: Clock,
    passphrase: str | None,
    buried: Settings | None,
    progress: Progress | None,
    began: float,
) -> Restored:
    # A key in the settings is for files: a backup has one, and what is written on the way to a server.
    address, files = settings.store_address(), settings.changed({"store": str(path)})
    checked = verify_backup(origin, settings=files, passphrase=passphrase)
    manifest = checked.file.manifest
    failed = [check for check in checked.checks if not check.ok]
    if failed or manifest is None:
        why = failed[0].detail if failed else "it has no manifest"
        raise LedgerDamaged(f"{origin.name} did not pass its check ({why})", hint="Take another backup.")
    stones = _erased_in(buried, clock, manifest.figures.store) if buried is not None else None
    work = path.with_name(path.name + WORK)
    key = key_of(files, work)
    shred_beside(work)
    private(work)
    erased = 0
    try:
        origin_key = key_for(origin, files, passphrase=passphrase)
        with backup.opened(origin, origin_key) as connection:
            backup.copy(connection, origin_key, work, key, progress=progress)
        if stones is not None:
            erased = erase_in(work, key, settings=files, clock=clock, erase=lambda engine: _buried(engine, stones))
        figures = manifest.figures
        if stones is not None:
            with backup.opened(work, key) as connection:
                figures = backup.figures(connection, contents="")
        checks = finished(work, key, None, figures)
        drop_derived(path)
        if address is None:
            _install(work, path, settings)
        else:
            busy = settings.busy_seconds
            to_server(work, key, address, path, clock=clock, busy_seconds=busy, progress=progress)
    finally:
        shred_beside(work)
    encrypted = key is not None and address is None
    notes = _notes(manifest.made_at, figures.counts, encrypted=encrypted, knows_erased=buried is not None)
    receipt = RestoreReceipt(
        str(origin), manifest, encrypted, erased, round(time.monotonic() - began, 3), checks, tuple(notes)
    )
    return Restored(str(path) if address is None else address.shown, receipt)


def _refuse_used(path: Path, settings: Settings) -> None:
    if not path.exists() or path.stat().st_size == 0:
        for suffix in ("-wal", "-journal"):
            log = path.with_name(path.name + suffix)
            if log.exists() and log.stat().st_size:
                raise Conflict(
                    f"{log.name} lies there, the log of a store that is gone",
                    hint="Move it away first, and keep it: it may hold the newest memories of that store.",
                )
        return
    # For writing, though nothing is written: only so does nothing stay behind of having looked.
    with backup.opened(path, key_for(path, settings, passphrase=None), write=True) as connection:
        unused = backup.is_unused(connection)
    if not unused:
        raise Conflict(f"{path} is a store with something in it", hint="Restore to another path. Nothing was changed.")


def _install(work: Path, path: Path, settings: Settings) -> None:
    """The new file takes the place of none, or of a store that nobody has open and in which there is nothing."""
    if not path.exists():
        place(work, path)
        return
    if path.stat().st_size == 0:
        replace(work, path)
        return
    with alone(path, key_for(path, settings, passphrase=None)) as connection:
        if not backup.is_unused(connection):
            raise Conflict(f"{path} has been written to meanwhile", hint="Restore to another path.")
        replace(work, path)


def _erased_in(newer: Settings, clock: Clock, store: str) -> Buried:
    path, address = newer.store_path(), newer.store_address()
    if address is None:
        with backup.opened(path, key_for(path, newer, passphrase=None), write=True) as connection:
            return _told_by(connection, str(path), store)
    database = opened_server(address, path, clock, busy_seconds=newer.busy_seconds, pool_size=1)
    try:
        with database.read() as reading:
            return _told_by(reading, address.shown, store)
    finally:
        database.close()


def _told_by(connection: Connection, shown: str, store: str) -> Buried:
    if backup.store_of(connection) != store:
        raise InvalidInput(
            f"{shown} is not the store that the backup was made from",
            hint="Tombstones of another store mean nothing here; give the newer one of the same origin.",
        )
    return Buried(backup.tombstones(connection), gone(connection, since=Reached()))


def _buried(engine: Engine, stones: Buried) -> int:
    """Erase what a newer store has erased, from this copy alone; how many memories."""
    from memoranda.service.erased_beside import erase_inside
    from memoranda.service.erasure import Doomed
    from memoranda.service.traces import Traces

    ledger = engine.ledger
    ledger.database.write(lambda connection: backup.add_tombstones(connection, stones.tombstones))
    with ledger.database.read() as connection:
        chosen = [(number, memory) for number, memory in backup.every(connection) if ledger.was_erased(memory)]
    return erase_inside(engine, Doomed.of(engine, chosen), Traces(), stones.gone, actor="restore").memories


def _notes(made_at: int, counts: dict[str, int], *, encrypted: bool, knows_erased: bool) -> list[str]:
    notes = []
    if not knows_erased:
        notes.append(
            f"what was erased after {iso(made_at)} is back: erase it again, or name the newer store (--tombstones-from)"
        )
    if counts.get("sources") or counts.get("mirrors"):
        sources, mirrors = so_many(counts.get("sources", 0), "source"), so_many(counts.get("mirrors", 0), "mirror")
        notes.append(
            f"{sources} of documents and {mirrors} known to it: "
            "their folders are those of the machine where the backup was made"
        )
    if counts.get("tokens"):
        tokens = so_many(counts["tokens"], "token is", "tokens are")
        notes.append(f"{tokens} in it: whoever has one that is not revoked is let in")
    if not encrypted:
        notes.append("the store is not encrypted")
    return notes
