"""Backups: one file with everything that cannot be made anew, taken while others go on writing, and checked.

A backup is lossless and as sensitive as the store: texts, transcripts, tombstones, digests of tokens. What is derived,
such as an index, is not in it. Nothing half is ever taken for whole: a file gets its name when it has passed its check.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from memoranda.config import Settings
from memoranda.domain.backup import (
    BackedUp,
    BackupChecked,
    BackupDifference,
    BackupFile,
    BackupReceipt,
    Encrypted,
    Figures,
    Manifest,
    Reached,
)
from memoranda.domain.clock import Clock, SystemClock
from memoranda.domain.errors import (
    Conflict,
    InvalidInput,
    KeyWrong,
    LedgerDamaged,
    LedgerError,
    MemorandaError,
    NotFound,
    Refused,
)
from memoranda.domain.keys import Key
from memoranda.domain.ports import Progress
from memoranda.domain.results import Check
from memoranda.domain.version import __version__
from memoranda.ledger import backup
from memoranda.ledger.copying_files import as_usual, to_file
from memoranda.ledger.database import make_folder
from memoranda.ledger.erased import reached
from memoranda.ledger.fence import lifted
from memoranda.ledger.locking import Busy, held
from memoranda.ledger.replacing import alone, drop_derived, place, replace, shred, shred_database
from memoranda.ledger.sealing import head, is_sealed
from memoranda.service.engine import Engine
from memoranda.service.keys import from_passphrase, key_for, key_of
from memoranda.service.workroom import Workroom

T = TypeVar("T")
SUFFIX = ".memoranda"
LOCK = "-backing-up"
WORK = "-backing-up.db"
_NAMED = re.compile(r".+-\d{8}-\d{6}(?:-\d+)?" + re.escape(SUFFIX))
_LARGEST_MANIFEST = 1 << 20
_READ = 1 << 20
_PATIENCE_SECONDS = 120.0
"""How long an erasure waits for a backup, or for another erasure. They wait for nobody else."""


@contextmanager
def opened_store(settings: Settings, *, clock: Clock | None = None) -> Iterator[Engine]:
    """A store that is only backed up, or looked at: nothing is swept, and nobody works in the background."""
    path = settings.store_path()
    engine = Engine(path, settings, clock or SystemClock(), key=key_of(settings, path))
    try:
        yield engine
    finally:
        engine.close()


def back_up(
    engine: Engine, path: str | Path | None = None, *, passphrase: str | None = None, progress: Progress | None = None
) -> BackedUp:
    """Write a backup and check it. Without a path it goes to the folder of backups, where old ones are removed."""
    began = time.monotonic()
    with _writing(engine.ledger.path), told(), ExitStack() as stack:
        target = _target(engine, path)
        _shred_leftovers(engine)
        stack.enter_context(Workroom(engine.ledger.path).noted(target.with_name(f".{target.name}.part")))
        part = private(target.with_name(f".{target.name}.part"))
        key = engine.key
        how: Encrypted = "no" if key is None else "key"
        if passphrase is not None:
            key, how = from_passphrase(passphrase, part, name="the passphrase"), "passphrase"
        try:
            figures, cleaned = _copied(engine, part, key, progress)
            manifest = Manifest(engine.clock.now(), __version__, how, figures, cleaned)
            checks = finished(part, key, manifest, manifest.figures)
            size, digest = _published(part, target, manifest)
        finally:
            shred_database(part)
        removed = _pruned(engine, target) if path is None else ()
    receipt = BackupReceipt(size, digest, round(time.monotonic() - began, 3), manifest, checks, removed)
    return BackedUp(str(target), receipt)


def backups(engine: Engine) -> tuple[BackupFile, ...]:
    """What lies in the store's folder of backups, the newest first."""
    return tuple(backups_in(engine.settings.backups_folder()))


def backups_in(folder: Path) -> list[BackupFile]:
    """What lies in a folder of backups, the newest first."""
    found = [looked_at(path) for path in folder.glob(f"*{SUFFIX}") if path.is_file()] if folder.is_dir() else []
    return sorted(found, key=lambda each: (-(each.manifest.made_at if each.manifest else 0), each.path))


def looked_at(path: Path) -> BackupFile:
    """A file, as far as it says without a key what it is. Nothing in it is checked."""
    size = path.stat().st_size
    if is_sealed(head(path)):
        manifest = _beside(path)
        return BackupFile(str(path), size, manifest.encrypted if manifest else "yes", manifest)
    try:
        with backup.opened(path, None) as connection:
            manifest = backup.manifest_in(connection)
        said = _beside(path)
        if manifest is not None and said is not None and said.figures == manifest.figures:
            # It was read since, and had nothing that would have to go: only the note says so.
            manifest = manifest._replace(cleaned=manifest.cleaned.joined(said.cleaned))
    except MemorandaError as error:
        return BackupFile(str(path), size, "no", None, str(error))
    return BackupFile(str(path), size, "no", manifest, "" if manifest else "this is no backup")


def trouble_of(found: BackupFile) -> str:
    """Why nothing can be restored from a backup, as far as that shows without a key; empty when nothing is known to be
    wrong. Reads all of its bytes."""
    path = Path(found.path)
    if found.trouble:
        return found.trouble
    try:
        check = _check_bytes(path)
        if not check.ok or _said_beside(path).get("sha256") or found.encrypted != "no":
            return "" if check.ok else check.detail
        with backup.opened(path, None) as connection:  # no note lies beside it: it has to speak for itself
            checks = backup.check(connection, found.manifest.figures, contents=False) if found.manifest else ()
        return next((f"{each.name}: {each.detail}" for each in checks if not each.ok), "")
    except (MemorandaError, OSError) as error:
        return str(error)


def verify_backup(path: str | Path, *, settings: Settings, passphrase: str | None = None) -> BackupChecked:
    """Read all of a backup, and say whether it is what was written."""
    place_of = existing(path)
    with told():
        key = key_for(place_of, settings, passphrase=passphrase)
        file = looked_at(place_of)
        checks = [_check_bytes(place_of)]
        with _said_of_a_backup(passphrase), backup.opened(place_of, key) as connection:
            manifest = backup.manifest_in(connection)
            if manifest is None:
                raise InvalidInput(f"{place_of.name} is no backup", hint="Give a file that `memoranda backup` made.")
            checks += backup.check(connection, manifest.figures, contents=True)
    return BackupChecked(file._replace(manifest=manifest, encrypted=manifest.encrypted), tuple(checks))


@contextmanager
def _said_of_a_backup(passphrase: str | None) -> Iterator[None]:
    """What is wrong with a file, with the way out for who has a backup in his hands and no store."""
    try:
        yield
    except KeyWrong as error:
        if not passphrase:
            raise
        raise KeyWrong(
            f"{error}: the passphrase does not fit",
            hint="Give the passphrase that it was made with; that of another backup may be another.",
        ) from error
    except LedgerDamaged as error:
        raise LedgerDamaged(str(error), hint="Take another backup: this one is damaged, or none.") from error


def compare_backup(engine: Engine, path: str | Path, *, passphrase: str | None = None) -> BackupDifference:
    """What the store says otherwise than a backup: what is not forgotten, by its digest."""
    place_of = existing(path)
    with told():
        key = key_for(place_of, engine.settings, passphrase=passphrase)
        with backup.opened(place_of, key) as connection:
            then, before = backup.lines(connection), backup.contents_of(connection)
        with lifted(), engine.ledger.database.read() as connection:
            now, after = backup.lines(connection), backup.contents_of(connection)
    return BackupDifference(
        str(place_of),
        before,
        after,
        gone=tuple(sorted(then.keys() - now.keys())),
        new=tuple(sorted(now.keys() - then.keys())),
        changed=tuple(sorted(each for each in then.keys() & now.keys() if then[each] != now[each])),
    )


def rewrite(
    path: str | Path,
    *,
    settings: Settings,
    clock: Clock,
    erase: Callable[[Engine], T],
    passphrase: str | None = None,
    cleaned: Reached | None = None,
) -> tuple[T, BackupFile]:
    """Let somebody erase in a backup: a copy is opened as a store of its own, and takes the backup's place when it is
    found well. Raises KeyMissing or KeyWrong when the backup cannot be opened, LedgerLocked when somebody has it open.

    Nobody else writes or rewrites a backup of the store meanwhile. `cleaned` is up to where it then is clean.
    """
    old = existing(path).resolve()
    with _writing(settings.store_path(), patience=_PATIENCE_SECONDS), told():
        key = key_for(old, settings, passphrase=passphrase)
        work = private(old.with_name(f".{old.name}.rewriting-{os.urandom(4).hex()}"))
        try:
            # Whoever looked into it as a store and was killed left a log, which has to be in it first.
            with alone(old, key) as connection:
                manifest = backup.manifest_in(connection)
                if manifest is None:
                    raise InvalidInput(f"{old.name} is no backup", hint="Give a file that `memoranda backup` made.")
                backup.copy(connection, key, work, key, progress=None)
            result = erase_in(work, key, settings=settings, clock=clock, erase=erase)
            with backup.opened(work, key) as connection:
                figures = backup.figures(connection)
            _refuse_lost(old, manifest.figures, figures)
            clean = manifest.cleaned.joined(cleaned or Reached())
            manifest = manifest._replace(figures=figures, version=__version__, cleaned=clean)
            finished(work, key, manifest, manifest.figures)
            with alone(old, key):
                # Without its note for a moment, so that no note ever speaks of other bytes.
                _note_of(old).unlink(missing_ok=True)
                replace(work, old)
            for suffix in ("-journal", "-wal", "-shm"):
                shred(old.with_name(old.name + suffix))
            drop_derived(old)
            _noted(old, manifest)
        finally:
            shred_beside(work)
    return result, looked_at(old)


def _refuse_lost(old: Path, before: Figures, after: Figures) -> None:
    """An erasure leaves an event for each memory that went, and nothing else is less than it was."""
    gone = before.counts["memories"] - after.counts["memories"]
    well = after.store == before.store and after.sequence - before.sequence >= max(0, gone)
    if not well or any(after.counts[name] < before.counts[name] for name in ("events", "tombstones")):
        raise LedgerDamaged(
            f"{old.name} was not written anew: what came out is not the old one without what was erased",
            hint="Try again; the backup is as it was.",
        )


def note_cleaned(path: str | Path, cleaned: Reached, *, settings: Settings, sha256: str) -> None:
    """Write beside a plain backup that it was read and has nothing of what was erased up to there. Not when it is
    another file by now."""
    file = existing(path).resolve()
    with _writing(settings.store_path(), patience=_PATIENCE_SECONDS), told():
        manifest = looked_at(file).manifest
        if manifest is not None and _sha256(file) == sha256:
            _noted(file, manifest._replace(cleaned=manifest.cleaned.joined(cleaned)))


def erase_in(work: Path, key: Key | None, *, settings: Settings, clock: Clock, erase: Callable[[Engine], T]) -> T:
    """Open a copy as a store of its own, by words and with nobody in the background."""
    alone = {"store": str(work), "index_home": "embedded", "replicas": (), "shards": ()}
    chosen = settings.changed({**alone, "embedder": "none", "follow": False, "sweep": False})
    engine = Engine(work, chosen, clock, key=key)
    try:
        return erase(engine)
    finally:
        engine.close()


def store_id(engine: Engine) -> str:
    """By which a backup's manifest names this store."""
    with engine.ledger.database.read() as connection:
        return backup.store_of(connection)


def leftovers(settings: Settings) -> list[Path]:
    """What a killed backup, restore or change of the key left behind. It may hold text, and nothing that is needed."""
    store, folder = settings.store_path(), settings.backups_folder()
    beside = [path for name in (WORK, "-restoring", "-sealing") for path in store.parent.glob(f"{store.name}{name}*")]
    parts = [path for name in ("part", "rewriting") for path in folder.glob(f".*{SUFFIX}.{name}*")]
    return sorted({*beside, *parts})


def shred_beside(work: Path) -> None:
    """Nothing is left of a working copy and of what a store has beside it."""
    drop_derived(work)
    shred_database(work)
    for suffix in ("-reserve", "-shown", "-breaker"):
        work.with_name(work.name + suffix).unlink(missing_ok=True)


def existing(path: str | Path) -> Path:
    """A file that is there."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise NotFound(f"there is no backup at {found}", hint="`memoranda backup list` shows what there is.")
    return found


# -- writing --


@contextmanager
def _writing(store: Path, *, patience: float = 0.0) -> Iterator[None]:
    """One backup of a store at a time is written, or written anew: what another one left half can then be removed."""
    try:
        with held(store.with_name(store.name + LOCK), patience=patience):
            yield
    except Busy as error:
        raise Conflict(
            "another backup of this store is being made, or written anew", hint="Wait until it is done."
        ) from error


def _shred_leftovers(engine: Engine) -> None:
    """What was killed before it had its name. Only with names of this store's: others may use the same folder."""
    for path in leftovers(engine.settings):
        if path.name.startswith(f".{engine.ledger.path.stem}-") and path.is_file():
            shred(path)


@contextmanager
def told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = error.filename or "a backup"
        raise LedgerError(
            f"{what} could not be read or written ({error.strerror or error})",
            hint="Check the folder, its permissions and the space on its disk. The store is untouched.",
        ) from error


def _target(engine: Engine, path: str | Path | None) -> Path:
    if path is None:
        folder = engine.settings.backups_folder()
        make_folder(folder)
        moment = datetime.fromtimestamp(engine.clock.now() / 1000, UTC)
        name = f"{engine.ledger.path.stem}-{moment:%Y%m%d-%H%M%S}"
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(free for each in names if not (free := folder.absolute() / f"{each}{SUFFIX}").exists())
    target = Path(path).expanduser().absolute()
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent}", hint="Make it first.")
    target, ledger = target.parent.resolve() / target.name, engine.ledger.path.resolve()
    if target.parent == ledger.parent and target.name.startswith(ledger.name):
        raise Refused(f"{target.name} is a name of the store's own files", hint="Give the backup another name.")
    for each in (target, _note_of(target)):
        if os.path.lexists(each):
            raise Conflict(f"{each} is there already", hint="Give another name; a backup never overwrites anything.")
    return target


def private(path: Path) -> Path:
    """An empty file for its owner alone; what an interrupted run left there is gone."""
    shred_database(path)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def _copied(engine: Engine, part: Path, key: Key | None, progress: Progress | None) -> tuple[Figures, Reached]:
    """The ledger as it is at one moment: what it held then, and up to where it knew of erasures."""
    database = engine.ledger.database
    if database.dialect.name != "sqlite":
        with lifted(), database.read() as connection:
            to_file(connection, part, clock=engine.clock, key=key, progress=progress)
        return _held(part, key)
    direct = (engine.key is None) == (key is None)
    # Nothing in clear may reach the place of an encrypted backup: the first copy is made where the store itself is.
    first = part if direct else private(engine.ledger.path.with_name(engine.ledger.path.name + WORK))
    try:
        with database.read() as connection:
            figures = backup.figures(connection, contents="")
            backup.copy(connection, engine.key, first, key if direct else engine.key, progress=progress)
        if not direct:
            with backup.opened(first, engine.key) as connection:
                backup.copy(connection, engine.key, part, key, progress=progress)
    finally:
        if not direct:
            shred_database(first)
    if as_usual(part, key):  # its store is being moved, or was: that is not of the backup
        return _held(part, key)
    # From the copy, so that the snapshot need not be held for it; its rows are compared with those of the store.
    with backup.opened(part, key) as connection:
        return figures._replace(contents=backup.contents_of(connection)), reached(connection)


def _held(part: Path, key: Key | None) -> tuple[Figures, Reached]:
    """What a copy holds that is no image of its store, but was compared with it."""
    with backup.opened(part, key) as connection:
        return backup.figures(connection), reached(connection)


def finished(part: Path, key: Key | None, manifest: Manifest | None, expected: Figures) -> tuple[Check, ...]:
    """A copy with its manifest, or without one, found to hold what is expected."""
    backup.settle(part, key, manifest)
    with backup.opened(part, key) as connection:
        checks = backup.check(connection, expected, contents=False)
    failed = [check for check in checks if not check.ok]
    if failed:
        raise LedgerDamaged(
            f"the copy did not pass its check ({failed[0].name}: {failed[0].detail})",
            hint="Run `memoranda verify`: what was copied may be damaged itself. The copy was not kept.",
        )
    return checks


def _published(part: Path, target: Path, manifest: Manifest) -> tuple[int, str]:
    try:
        place(part, target)
    except FileExistsError as error:
        raise Conflict(
            f"{target} is there already", hint="Give another name; a backup is never overwritten."
        ) from error
    return _noted(target, manifest)


def _noted(target: Path, manifest: Manifest) -> tuple[int, str]:
    """Write beside a backup what is known of it. One without such a note is as good: it has its manifest inside."""
    size, digest = target.stat().st_size, _sha256(target)
    said = {"file": target.name, "bytes": size, "sha256": digest, **manifest.as_json()}
    note = _note_of(target)
    draft = target.with_name(f".{note.name}.part")
    draft.unlink(missing_ok=True)  # an old one, or a link that somebody else put there
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(said, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, note)
    return size, digest


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _pruned(engine: Engine, made: Path) -> tuple[str, ...]:
    """Remove the oldest of our own. The one just made has passed its check, so that a good one always stays."""
    keep = engine.settings.backups_kept
    if not keep:
        return ()
    ours = [each for each in backups_in(made.parent) if _is_ours(each, store_id(engine))]
    going = [each.path for each in ours[keep:] if each.path != str(made)]
    for path in going:
        os.unlink(path)
        _note_of(Path(path)).unlink(missing_ok=True)
    return tuple(going)


def _is_ours(each: BackupFile, store: str) -> bool:
    named = _NAMED.fullmatch(Path(each.path).name)
    return named is not None and each.manifest is not None and each.manifest.figures.store == store


# -- reading --


def _said_beside(path: Path) -> dict[str, object]:
    try:
        with open(_note_of(path), "rb") as file:
            said = json.loads(file.read(_LARGEST_MANIFEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _beside(path: Path) -> Manifest | None:
    return Manifest.of(_said_beside(path))


def _check_bytes(path: Path) -> Check:
    said = _said_beside(path).get("sha256")
    if not said:
        return Check("bytes", True, "no manifest lies beside it to compare with")
    well = _sha256(path) == said
    fix = "" if well else "Take another backup; this one was changed after it was written."
    return Check("bytes", well, "as they were written" if well else "not those that were written", fix)


def _sha256(path: Path) -> str:
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_READ):
            hashed.update(chunk)
    return hashed.hexdigest()
