"""Beside the store: backups are written anew without what was erased, other copies are read, and what cannot be
touched is named, with what to do about it."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memoranda.config import secret
from memoranda.domain.backup import Reached
from memoranda.domain.errors import MemorandaError
from memoranda.domain.keys import Key
from memoranda.domain.ports import Progress
from memoranda.ledger.erased import Gone, gone, reached
from memoranda.ledger.erasing import Erasing
from memoranda.ledger.fence import lifted
from memoranda.service.engine import Engine
from memoranda.service.traces import Needles, Traces, kept
from memoranda.service.workroom import Workroom

if TYPE_CHECKING:
    from memoranda.domain.backup import BackupFile
    from memoranda.service.erasure import Doomed
    from memoranda.service.proof import Scanned, Scanner

# The documents are their owners' files, which stay; the rest is read as what it is.
_READ_ELSEWHERE = ("-index", "-transcripts", "-documents", "-backups")
_MARKS = (".", "-", "~")


class BackupsErased(NamedTuple):
    """What an erasure did to backups: which were read, how many were written anew, which could not be."""

    scanned: "tuple[Scanned, ...]" = ()
    rewritten: int = 0
    untouchable: tuple[str, ...] = ()
    """Why, and what to do."""

    @property
    def pending(self) -> tuple[str, ...]:
        """What is left to be done before it is gone everywhere."""
        remains = (f"remains were found in {each.file}; remove it" for each in self.scanned if each.found)
        unread = (f"{each.file} is encrypted with another key; remove it" for each in self.scanned if each.unread)
        return (*self.untouchable, *remains, *unread)


class Cleaned(NamedTuple):
    """One copy after its erasure: what must not be in it, the key to look, and how many memories went."""

    needles: frozenset[bytes]
    key: Key | None
    memories: int


class _NotOurs(Exception):
    """An encrypted backup that turns out to be another store's."""


def files_beside(engine: Engine, own: Sequence[str]) -> tuple[str, ...]:
    """Files that bear the store's name and are not its own: what was put aside, and what an interruption left."""
    from memoranda.service.backing_up import leftovers

    path = engine.ledger.path
    known = {os.path.abspath(name) for name in own}
    found = [
        file
        for each in sorted(path.parent.iterdir())
        if each.name.startswith(path.name) and each.name[len(path.name) :].startswith(_MARKS)
        for file in _files_of(each, path.name)
    ]
    found += (file for file in leftovers(engine.settings) if file.is_file())
    found += Workroom(path).files()
    return tuple(dict.fromkeys(str(file) for file in found if os.path.abspath(file) not in known))


def _files_of(entry: Path, store: str) -> Iterator[Path]:
    if entry.is_symlink() or entry.name.removeprefix(store) in _READ_ELSEWHERE:
        return
    if entry.is_dir():
        yield from sorted(file for file in entry.rglob("*") if file.is_file() and not file.is_symlink())
    elif entry.is_file():
        yield entry


def backups_of(engine: Engine) -> "tuple[list[BackupFile], list[str]]":
    """The backups of this store in the configured folder, and other files there that say nothing of whose they are."""
    from memoranda.service.backing_up import backups_in, store_id

    folder = engine.settings.backups_folder()
    if not folder.is_dir():
        return [], []
    own = store_id(engine)
    found = backups_in(folder)
    mine = [each for each in found if each.manifest is None or each.manifest.figures.store == own]
    unclear = [
        f"{each.path} cannot be read ({each.trouble}); remove it if it is yours" for each in mine if each.trouble
    ]
    return [each for each in mine if not each.trouble], unclear


def pending_backups(engine: Engine) -> tuple[str, ...]:
    """Backups of this store that may still have something that was erased since they were made."""
    backups, _ = backups_of(engine)
    if not backups:
        return ()
    with engine.ledger.database.read() as connection:
        now = reached(connection)
    return tuple(each.path for each in backups if not _cleaned_up_to(each).covers(now))


def _cleaned_up_to(backup: "BackupFile") -> Reached:
    return Reached() if backup.manifest is None else backup.manifest.cleaned


@lifted()
def erase_from_backups(
    engine: Engine,
    doomed: "Doomed",
    traces: Traces,
    needles: Needles,
    *,
    actor: str,
    cleaned: Progress,
) -> BackupsErased:
    """Write every backup in the configured folder anew without it, and read the new one to its end.

    What earlier erasures have left there goes as well: they may have been killed, or have had no passphrase. When
    nothing is erased now, only backups with something left are opened.
    """
    backups, untouchable = backups_of(engine)
    if not backups:
        return BackupsErased(untouchable=() if doomed.nothing else tuple(untouchable))
    with engine.ledger.database.read() as connection:
        now = reached(connection)
    if doomed.nothing:
        untouchable = []
        backups = [each for each in backups if not _cleaned_up_to(each).covers(now)]
    scanned: list[Scanned] = []
    rewritten = 0
    for place, backup in enumerate(backups):
        cleaned(place, len(backups))
        try:
            found = _clean_already(engine, doomed, backup, needles, now)
            if found is None:
                found = _rewritten(engine, doomed, backup, traces, now, actor=actor)
                rewritten += 1
            scanned += found
        except _NotOurs:
            continue
        except (MemorandaError, OSError) as error:
            if os.path.exists(backup.path):  # old ones are removed when a new one is made
                hint = getattr(error, "hint", "Check the file.")
                untouchable.append(
                    f"the backup {backup.path} may still have it: {error}. {hint} "
                    "Then run `memoranda maintain`, or remove the file"
                )
    return BackupsErased(tuple(scanned), rewritten, tuple(untouchable))


def _clean_already(
    engine: Engine, doomed: "Doomed", backup: "BackupFile", needles: Needles, now: Reached
) -> "list[Scanned] | None":
    """A plain backup that has neither the text nor the ids needs no other; None when it has, or may have."""
    from memoranda.service.backing_up import note_cleaned
    from memoranda.service.proof import scan

    if backup.encrypted != "no" or doomed.nothing or doomed.asked.filters or doomed.asked.in_scope:
        return None
    with engine.ledger.database.read() as connection:
        since = gone(connection, since=_cleaned_up_to(backup))
    mine = {(row.conversation.scope, row.number) for row in doomed.conversations}
    if not since.conversations.keys() <= mine:
        return None  # of those that went before, no id is known
    talks = (row.conversation.id for row in doomed.conversations)
    ids = {each.encode() for each in (*doomed.ids, *talks, *since.memories, *since.messages)}
    names = (backup.path, *_beside_backup(backup.path))
    scanned = list(scan(names, needles.lasting | ids))
    if any(each.found or each.unread for each in scanned):
        return None
    note_cleaned(backup.path, now, settings=engine.settings, sha256=scanned[0].sha256)
    return scanned


def _beside_backup(path: str) -> tuple[str, ...]:
    """What bears a backup's name: logs, and the index of somebody who opened it. Not the note, which we write."""
    from memoranda.ledger.replacing import beside

    return tuple(str(each) for each in beside(Path(path)) if each.name != f"{Path(path).name}.json")


def _rewritten(
    engine: Engine, doomed: "Doomed", backup: "BackupFile", traces: Traces, now: Reached, *, actor: str
) -> "list[Scanned]":
    from memoranda.service.backing_up import rewrite, store_id
    from memoranda.service.keys import PASSPHRASE
    from memoranda.service.proof import kept_elsewhere, scan

    def clean(inside: Engine) -> Cleaned:
        if store_id(inside) != store_id(engine):
            raise _NotOurs
        with engine.ledger.database.read() as connection:
            buried = gone(connection, since=Reached())
        return erase_inside(inside, doomed, traces, buried, actor=actor)

    cleaned, written = rewrite(
        backup.path,
        settings=engine.settings,
        clock=engine.clock,
        erase=clean,
        passphrase=secret(PASSPHRASE),
        cleaned=now,
    )
    # The salt stands in the file, which is another one now.
    key = None if cleaned.key is None else Key(cleaned.key.raw)
    # Nor does it prove anything that the backup was made when somebody said something.
    own = kept_elsewhere(cleaned.needles, [json.dumps(written.manifest.as_json())] if written.manifest else [])
    return list(scan((written.path, *_beside_backup(written.path)), cleaned.needles - own, key=key))


def erase_inside(engine: Engine, doomed: "Doomed", outside: Traces, buried: Gone, *, actor: str) -> Cleaned:
    """The same erasure in the ledger of a copy, which may have more of it than the store had; and what the store has
    erased before. Nothing beside the copy is touched."""
    from memoranda.service.erasure import Doomed, delete, gather
    from memoranda.service.proof import kept_elsewhere, pieces

    rows = Erasing(engine.ledger.database)
    memories = dict(rows.with_ids(buried.memories.union(doomed.ids)))
    talks = {row.conversation.id for row in doomed.conversations}
    scopes = {row.conversation.scope for row in doomed.conversations} | {scope for scope, _ in buried.conversations}
    conversations = {
        row.number: row
        for row in (engine.transcripts.of_scopes(tuple(scopes)) if scopes else ())
        if row.conversation.id in talks
        or buried.has_conversation(row.conversation.scope, row.number, engine.transcripts.numbers([row]))
    }
    if doomed.asked.filters or doomed.asked.in_scope:
        here = Doomed.chosen(engine, doomed.asked, home=doomed.home)
        memories |= dict(here.memories)
        conversations |= {row.number: row for row in here.conversations}
    inside = Doomed.of(
        engine,
        list(memories.items()),
        conversations=list(conversations.values()),
        asked=doomed.asked,
        home=doomed.home,
        messages=buried.messages,
    )
    traces = Traces()
    traces.texts += outside.texts
    traces.vectors |= outside.vectors
    gather(engine, inside, traces, with_index=False)
    delete(engine, inside, traces, actor=actor, with_index=False)
    wanted = pieces(traces.texts)
    needles = (wanted - kept_elsewhere(wanted, kept(engine))) | traces.vectors_gone(engine)
    return Cleaned(needles, engine.key, len(memories))


def backup_in_clear(engine: Engine, backup: "BackupFile", scanner: "Scanner") -> "tuple[Scanned, ...]":
    """Read one backup to its end, also when it is encrypted and its key is known, and what bears its name."""
    from memoranda.service.keys import PASSPHRASE, key_for
    from memoranda.service.proof import scan

    key = key_for(Path(backup.path), engine.settings, passphrase=secret(PASSPHRASE))
    return scan((backup.path, *_beside_backup(backup.path)), scanner, key=key)
