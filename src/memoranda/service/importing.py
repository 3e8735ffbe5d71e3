"""Import: looked at first, then taken in, in bites that are each one commit. Killed anywhere, it goes on from there."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from memoranda.domain.errors import InvalidInput, MemorandaError, NotFound, Refused
from memoranda.domain.ids import new_id
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.moving import (
    DEDUPES,
    FOREIGN,
    IMPORT_MODES,
    JUNK,
    VOUCHES,
    Audit,
    Carried,
    Dedupe,
    Foreign,
    ImportMode,
    ImportRun,
    Imports,
    Junk,
    Signed,
    Vouch,
)
from memoranda.domain.ports import Progress
from memoranda.domain.request import checked_limit
from memoranda.domain.scope import Scope
from memoranda.importers.files import refuse_closed
from memoranda.importers.own import Reader as OwnReader
from memoranda.importers.registry import importer, sniff
from memoranda.ledger.importing import Imports as Ledger
from memoranda.ledger.importing import shown
from memoranda.service.engine import Engine
from memoranda.service.import_audit import Auditor
from memoranda.service.import_turning import Left, Plan, Turned, Turning, id_from
from memoranda.service.signing import is_signed, public_key

_BATCH = 500
_CHUNK = 1 << 20
_MOST_RECORDS = 1 << 40
_AT_HAND = 20_000
"""So many records are remembered from the audit, and need not be read again."""

Item = Imported | Carried | Unread


class _Work:
    """One import under way."""

    def __init__(
        self, engine: Engine, plan: Plan, file: Path, options: Mapping[str, str], progress: Progress | None
    ) -> None:
        self._engine = engine
        self._plan = plan
        self._file = file
        self._options = options
        self._reader = importer(plan.format)
        self._progress = progress
        self._ledger = imports_of(engine)
        self._at_hand: list[Turned | Left] = []

    def validate(self) -> Audit:
        """Whether everything can be read; the store is not asked."""
        turning = self._turning(new_id())
        auditor = Auditor(dedupe="none", whole=True, stands=lambda memory: "new")
        for place, item in enumerate(self._items(), 1):
            auditor.add(turning.turn(item))
            self._tell(place, 0)
        return auditor.result()

    def preview(self, turning: Turning | None = None, *, after: int = 0) -> Audit:
        """What would be kept, and why the rest would not; of what lies after a place."""
        turning = turning or self._turning(new_id())
        with self._ledger.standings(self._plan.dedupe) as stands:
            auditor = Auditor(dedupe=self._plan.dedupe, whole=self._plan.own, stands=stands)
            for place, item in enumerate(self._items(), 1):
                turned = turning.turn(item)
                if place > after:
                    found = turned if isinstance(turned, Left) else turning.screened(turned)
                    auditor.add(found)
                    if len(self._at_hand) < _AT_HAND:
                        self._at_hand.append(found)
                self._tell(place, 0)
        return auditor.result()

    def take(self) -> Imports:
        """Audit, tag, and take in what may be kept."""
        from memoranda.service.travelling import tag_before

        plan = self._plan
        digest = self._digest()
        run = self._ledger.unfinished(digest, plan.scope)
        resumed = run is not None
        reference = new_id() if run is None else run.id
        turning = self._turning(reference)
        audit = self.preview(turning, after=0 if run is None else run.place)
        tag = ""
        if run is None:
            _refuse_all_foreign(audit)
            if not audit.take:
                return Imports(plan.format, "now", plan.scope.path, audit)
            tag = tag_before(self._engine, plan.scope, "import").name
            run = self._ledger.begin(reference, digest=digest, scope=plan.scope, format=plan.format, whole=plan.own)
        run = self._taken(run, turning, run.place + audit.total)
        self._engine.nudge()
        return Imports(plan.format, "now", plan.scope.path, audit, shown(run), resumed, tag)

    def _taken(self, run: ImportRun, turning: Turning, total: int) -> ImportRun:
        batch: list[Memory] = []
        left: Counter[str] = Counter()
        place = run.place

        def taken(run: ImportRun, *, last: bool) -> ImportRun:
            return self._ledger.take(
                run, batch, place=place, left_out=left, dedupe=self._plan.dedupe, actor=self._engine.actor, last=last
            )

        for place, found in self._found(turning, run.place, total):
            if isinstance(found, Turned):
                batch.append(turning.linked(found.memory))
            else:
                left[found.reason] += 1
            if len(batch) + left.total() >= _BATCH:
                run = taken(run, last=False)
                batch, left = [], Counter()
                self._tell(place, total)
        run = taken(run, last=True)
        if self._progress:
            self._progress(place, place)
        return run

    def _found(self, turning: Turning, start: int, total: int) -> Iterator[tuple[int, Turned | Left]]:
        """Every record behind a place: those at hand, then the others from the file."""
        yield from enumerate(self._at_hand, start + 1)
        known = start + len(self._at_hand)
        if known >= total:
            return
        for place, item in enumerate(self._items(), 1):
            if place > known:
                turned = turning.turn(item)
                yield place, turned if isinstance(turned, Left) else turning.screened(turned)

    def _items(self) -> Iterator[Item]:
        try:
            if isinstance(self._reader, OwnReader):
                found: Iterator[Item] = self._reader.carried(self._file)
            else:
                found = self._reader.read(self._file, self._options)
            yield from islice(found, self._plan.limit)
        except OSError as error:
            if isinstance(error, MemorandaError):
                raise
            raise InvalidInput(
                f"{self._file.name} cannot be read ({error.strerror or error})", hint="Check its permissions."
            ) from error

    def _turning(self, run: str) -> Turning:
        engine = self._engine
        return Turning(
            self._plan, engine.settings, key=engine.ledger.key_for("imports"), run=run, now=engine.clock.now()
        )

    def _digest(self) -> bytes:
        """Of the file and of how it is to be taken in: another way is another import."""
        hashed = hashlib.blake2b(key=self._engine.ledger.key_for("imports"), digest_size=32)
        hashed.update(json.dumps([*self._plan, dict(self._options)], default=str, sort_keys=True).encode())
        files = [self._file] if self._file.is_file() else sorted(self._file.rglob("*"))
        for each in files:
            if each.is_file():
                hashed.update(f"\n{each.relative_to(self._file)}\n{each.stat().st_size}\n".encode(errors="replace"))
                with each.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        hashed.update(chunk)
        return hashed.digest()

    def _tell(self, done: int, total: int) -> None:
        if self._progress and done % _BATCH == 0:
            self._progress(done, total)


def import_memories(
    engine: Engine,
    scope: Scope,
    path: str | Path,
    *,
    format: str,  # noqa: A002 the word users know
    dedupe: Dedupe,
    mode: ImportMode,
    trust: Vouch,
    owners: Mapping[str, str],
    foreign: Foreign,
    junk: Junk,
    options: Mapping[str, str],
    limit: int | None,
    progress: Progress | None,
) -> Imports:
    """Look at a file or folder, and take in what may be kept."""
    checked_choice(dedupe, DEDUPES, name="dedupe")
    checked_choice(mode, IMPORT_MODES, name="mode")
    checked_choice(trust, VOUCHES, name="trust")
    checked_choice(foreign, FOREIGN, name="foreign")
    checked_choice(junk, JUNK, name="junk")
    if limit is not None:
        checked_limit(limit, most=_MOST_RECORDS)
    file = _source(engine, path)
    refuse_closed(file)
    name = importer(format).name if format else sniff(file)
    if name != "own" and trust == "kept":
        raise InvalidInput(
            "only an export of Memoranda says how far each memory is trusted",
            hint="Pass trust='untrusted', or 'trusted' if you vouch for all of it.",
        )
    signed, of = _signed(engine, file) if name == "own" else ("", "")
    # What a file says of itself counts for nothing, unless this very store has said it of what is imported into, or
    # whoever imports says so: what one scope believes is no word for another.
    vouch: Vouch = trust or ("kept" if signed == "here" and scope.contains(of) else "untrusted")
    plan = Plan(name, scope, dedupe, vouch, _owners(owners, scope), foreign, junk, limit)
    work = _Work(engine, plan, file, _texts(options, "options"), progress)
    if mode == "now":
        done = work.take()
    else:
        done = Imports(name, mode, scope.path, work.preview() if mode == "preview" else work.validate())
    return done._replace(trust=vouch, signed=signed)


def _signed(engine: Engine, file: Path) -> tuple[Signed, str]:
    """Whether an export is signed, and by whom; and of which scope it is."""
    seal = OwnReader().seal(file)
    if seal is None:
        return "", ""
    if not is_signed(seal.words, signature=seal.signature, signer=seal.signer):
        return "broken", seal.scope
    return ("here" if seal.signer == public_key(engine) else "elsewhere"), seal.scope


def imports(engine: Engine, scope: Scope, *, limit: int) -> tuple[ImportRun, ...]:
    """Imports into this scope, newest first."""
    return imports_of(engine).runs(scope, limit=checked_limit(limit))


def imports_of(engine: Engine) -> Ledger:
    """The imports of a store."""
    ledger = engine.ledger
    key = ledger.key_for("imports")
    return Ledger(
        ledger.database,
        engine.clock,
        erased=ledger.is_erased,
        other_id=lambda run, taken: id_from(key, run, taken),
    )


def _refuse_all_foreign(audit: Audit) -> None:
    foreign = audit.left_out.get("foreign", 0)
    if foreign and not audit.take and foreign == audit.readable:
        names = ", ".join(list(audit.owners)[:5])
        raise Refused(
            f"everything in it belongs to somebody else: {names}",
            hint="Say where it goes with owners (CLI: --owner THEIRS=SCOPE), or pass foreign='map' or foreign='here'.",
        )


def _source(engine: Engine, path: str | Path) -> Path:
    try:
        file = Path(path).expanduser()
        if not file.exists():
            raise NotFound(f"there is nothing at {file}", hint="Give the path of a file or folder to import.")
        file = file.resolve()
        if not file.is_file() and not file.is_dir():
            raise InvalidInput(f"{file} is neither a file nor a folder", hint="Write it into a file first.")
        inside = [Path(own).resolve() for own in engine.ledger.files()]
        # To open and close one of these would give up the locks that SQLite has on it.
        linked = [each.resolve() for each in file.rglob("*") if each.is_symlink()] if file.is_dir() else []
        if any(own in (file, *linked) or file in own.parents or own.samefile(file) for own in inside):
            raise Refused(
                f"{file} is, or holds, the store itself",
                hint="Import a copy; `memoranda backup` makes one, `memoranda export` writes memories out.",
            )
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        if isinstance(error, MemorandaError):
            raise
        raise InvalidInput(f"this cannot be the path of an import: {error}", hint="Give another path.") from error
    return file


def _owners(owners: Mapping[str, str], scope: Scope) -> dict[str, str]:
    """Their names, and our scopes for them, each inside the scope that is imported into."""
    checked = _texts(owners, "owners")
    for theirs, where in checked.items():
        if not theirs or not scope.contains(Scope(where).path):
            raise Refused(
                f"{where[:80]} is not inside {scope}",
                hint=f"Give the whole path, beginning with {scope}.",
            )
    return checked


def _texts(given: Mapping[str, str], name: str) -> dict[str, str]:
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for pair in given.items() for each in pair):
        raise InvalidInput(
            f"{name} is a mapping of texts to texts", hint="Give names and texts, such as {'alice': 'home/alice'}."
        )
    return dict(given)
