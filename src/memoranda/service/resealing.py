"""Encrypting a store, decrypting it, or giving it another key. The store is closed meanwhile.

The ledger is written anew beside the old one, checked, and put in its place at once: whenever this is interrupted, the
one or the other is there, whole. What is derived from it is removed and made anew.
"""

import time
from pathlib import Path

from memoranda.config import Settings
from memoranda.domain.backup import Resealed, ResealReceipt
from memoranda.domain.errors import Conflict, KeyMissing, NotFound
from memoranda.domain.keys import Key
from memoranda.domain.ports import Progress
from memoranda.ledger import backup
from memoranda.ledger.locking import Busy, held
from memoranda.ledger.replacing import alone, drop_derived, replace
from memoranda.ledger.schema import refuse_foreign
from memoranda.ledger.sealing import head, is_sealed
from memoranda.service.backing_up import LOCK, backups_in, finished, private, shred_beside, told
from memoranda.service.keys import key_of

WORK = "-sealing"


def working_copy(path: Path) -> Path:
    """Where the new file is written. A key that is made from a passphrase is made for this one."""
    path = path.resolve()
    return path.with_name(path.name + WORK)


def refuse_encrypted(path: Path) -> None:
    """Before a key is made for nothing."""
    if is_sealed(head(path)):
        raise Conflict(f"{path.name} is encrypted already", hint="`memoranda rekey` gives it another key.")


def key_before(path: Path, settings: Settings) -> Key:
    """The key of a store that is encrypted now."""
    if not is_sealed(head(path)):
        raise Conflict(f"{path.name} is not encrypted", hint="`memoranda encrypt` encrypts it.")
    key = key_of(settings, path)
    if key is None:
        raise KeyMissing(f"{path.name} is encrypted")
    return key


def reseal(
    path: Path, *, before: Key | None, after: Key | None, settings: Settings, progress: Progress | None = None
) -> Resealed:
    """Write a closed store anew, with another key or none. Raises LedgerLocked when somebody has it open."""
    began = time.monotonic()
    if not path.is_file():
        raise NotFound(f"there is no store at {path}", hint="Check the path; nothing was made.")
    # Behind a link, so that the link stays one, and the file that it names is the one that is written anew.
    named, path = path, path.resolve()
    if before is None:
        refuse_encrypted(path)
    with told():
        try:
            with held(named.with_name(named.name + LOCK)):
                work = private(working_copy(path))
                try:
                    with alone(path, before) as connection:
                        refuse_foreign(connection)
                        figures = backup.figures(connection, contents="")
                        backup.copy(connection, before, work, after, progress=progress)
                        finished(work, after, None, figures)
                        # Before the swap: nobody may meet an index that its key does not open.
                        drop_derived(named)
                        drop_derived(path)
                        replace(work, path)
                finally:
                    shred_beside(work)
        except Busy as error:
            raise Conflict("a backup or a restore is under way", hint="Wait until it is done.") from error
    receipt = ResealReceipt(
        after is not None, path.stat().st_size, round(time.monotonic() - began, 3), figures, _notes(settings, after)
    )
    return Resealed(str(named), receipt)


def _notes(settings: Settings, after: Key | None) -> tuple[str, ...]:
    notes = ["the index is made anew at the next recall, and documents are read again at the next search"]
    folder = settings.backups_folder()
    older = len(backups_in(folder))
    if older:
        notes.append(f"{older} backups in {folder} are as they were made: with the key of then, or with none")
    if after is not None:
        notes.append(
            "what the disk held before was overwritten; an SSD, a snapshot or a copy elsewhere may still have it. "
            "Keep the key in a second place: without it nothing can be read"
        )
    return tuple(notes)
