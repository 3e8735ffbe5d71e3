"""Sync: brings a catalogue in line with the files of a source, reading only what the disk says has changed.

1. The folder is scanned: one look at each file, none of them opened.
2. What is as it was is left alone. The rest is read; what turns out to be the same is only noted as seen.
3. A file that is new and has the contents of one that went is that file under another name.
4. What came is written first, what went is let go of last, so that text which moves keeps its vector.

Each step commits a few files: a sync that is killed goes on where it stopped.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from memoranda.config import Settings
from memoranda.documents.chunk import chunks
from memoranda.documents.matter import matter_of
from memoranda.documents.reading import read_document
from memoranda.documents.scan import Limits, Scan, scan
from memoranda.domain.document import Chunk, FileSeen, Source, Synced, SyncWhy, Trouble
from memoranda.domain.errors import NotFound, Refused
from memoranda.domain.ports import Progress
from memoranda.index.catalogue import Catalogue
from memoranda.index.catalogue_rows import FileRead, KnownFile
from memoranda.service.document_roots import root_of
from memoranda.service.document_secrets import Screen, screen

CHUNKING = 1
"""Raised when the same text would be cut otherwise: documents are then made anew."""
NOT_ALL_TEXT = "is not UTF-8 throughout; what is not text stands as \ufffd and is not found"
_BATCH_FILES = 64
_BATCH_BYTES = 2 << 20
# Disks tell the time of a change as coarsely as two seconds; what was written just now may be written again in the
# same one. As git does it with what is "racily clean".
_RESTED_NS = 2_000_000_000


class How(NamedTuple):
    """How documents are read and cut."""

    limits: Limits
    tokens: int
    overlap: int
    screen: Screen
    screened: bool

    @classmethod
    def of(cls, settings: Settings) -> "How":
        limits = Limits(file_bytes=settings.document_bytes, files=settings.documents_most)
        # An overlap that is more than half of a chunk would repeat more than it tells.
        overlap = min(settings.chunk_overlap, settings.chunk_tokens // 2)
        return cls(limits, settings.chunk_tokens, overlap, screen(settings), settings.secrets != "allow")

    @property
    def made(self) -> str:
        """What two catalogues must share for their chunks to be the same."""
        return f"{CHUNKING}:{self.tokens}:{self.overlap}:{'screened' if self.screened else 'as written'}"


class Made(NamedTuple):
    """Vectors that were made, and that are still missing."""

    vectors: int = 0
    missing: int = 0


class Tally:
    """What a sync has done so far."""

    def __init__(self) -> None:
        self.added = self.changed = self.renamed = self.removed = self.unchanged = self.read = 0
        self.chunks_added = self.chunks_removed = 0
        self.failures: list[Trouble] = []
        self.skipped: list[Trouble] = []
        self.notes: list[Trouble] = []

    def receipt(self, why: SyncWhy, made: Made = Made(), *, seconds: float, left: str = "") -> Synced:  # noqa: B008
        return Synced(
            why=why,
            added=self.added,
            changed=self.changed,
            renamed=self.renamed,
            removed=self.removed,
            unchanged=self.unchanged,
            read=self.read,
            chunks_added=self.chunks_added,
            chunks_removed=self.chunks_removed,
            embedded=made.vectors,
            without_vector=made.missing,
            failures=tuple(self.failures),
            skipped=tuple(self.skipped),
            notes=tuple(self.notes),
            seconds=seconds,
            left=left,
        )


class Difference(NamedTuple):
    """What a folder has that the catalogue has not, and the other way round."""

    scanned: Scan
    same: int
    unsure: tuple[FileSeen, ...]
    """New, changed, or not to be told from a look."""
    gone: tuple[KnownFile, ...]
    known: dict[str, KnownFile]


def difference(catalogue: Catalogue, source: Source, how: How, *, full: bool = False) -> Difference:
    """Compare without opening a file. Raises NotFound when the folder is not there."""
    scanned = scan(root_of(source), source.patterns, limits=how.limits)
    known = catalogue.known(source.scope, source.name)
    unsure = []
    for seen in scanned.files:
        before = known.get(seen.path)
        if full or before is None or not before.is_as(seen):
            unsure.append(seen)
    there = {seen.path for seen in scanned.files}
    gone = [before for path, before in known.items() if path not in there and scanned.tells_of(path)]
    return Difference(scanned, len(scanned.files) - len(unsure), tuple(unsure), tuple(gone), known)


class SourceSync:
    """One sync of one source into one catalogue."""

    def __init__(
        self,
        catalogue: Catalogue,
        source: Source,
        how: How,
        *,
        now_ns: int,
        tally: Tally,
        seeds: Catalogue | None = None,
        fingerprint: str = "",
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._catalogue = catalogue
        self._source = source
        self._how = how
        self._now_ns = now_ns
        self._tally = tally
        self._seeds = seeds
        self._fingerprint = fingerprint
        self._stop = stop
        self._troubles: dict[str, str] = {}

    def run(self, *, full: bool = False, progress: Progress | None = None) -> bool:
        """Bring it in line. False when it was stopped before the end. `full` opens every file."""
        tally, name = self._tally, self._source.name
        try:
            found = difference(self._catalogue, self._source, self._how, full=full)
        except NotFound as error:
            # A disk that is not mounted is no reason to let go of all that was read and paid for.
            tally.failures.append(Trouble(name, ".", str(error)))
            self._carry(None)
            return True
        tally.unchanged += found.same
        for each in found.scanned.skipped:
            (tally.failures if each.unread else tally.skipped).append(Trouble(name, each.path, each.reason))
        if found.scanned.truncated:
            tally.skipped.append(Trouble(name, ".", found.scanned.truncated))
        went = {each.digest: each for each in found.gone}
        renamed: set[int] = set()
        done = 0
        for batch in _batches(found.unsure):
            if self._stop():
                return False
            self._take(batch, found.known, went, renamed)
            done += len(batch)
            if progress:
                progress(done, len(found.unsure))
        self._let_go([each.number for each in found.gone if each.number not in renamed])
        self._carry(found)
        self._tell_troubles(found)
        return True

    def _carry(self, found: Difference | None) -> None:
        """Take over from the generation before what cannot be read now, marked as stale."""
        if self._seeds is None:
            return
        scope, name = self._source.scope, self._source.name
        here = self._catalogue.known(scope, name)
        left = [path for path in self._seeds.known(scope, name) if path not in here and self._is_unsure(path, found)]
        if left:
            from memoranda.service.document_carrying import carry

            self._tally.chunks_added += carry(
                self._catalogue,
                self._seeds,
                self._source,
                left,
                screen=self._how.screen,
                fingerprint=self._fingerprint,
            )

    def _is_unsure(self, path: str, found: Difference | None) -> bool:
        """Whether a file that could not be read may still be there."""
        return found is None or path in self._troubles or not found.scanned.tells_of(path)

    def _tell_troubles(self, found: Difference) -> None:
        """What is wrong now, with what was found wrong before in files that were not looked into again."""
        looked_into = {seen.path for seen in found.unsure}
        left = {seen.path for seen in found.scanned.files} - looked_into
        scope, name = self._source.scope, self._source.name
        before = self._catalogue.troubles(scope, name)
        kept = {path: reason for path, reason in before.items() if path in left}
        self._catalogue.set_troubles(scope, name, {**kept, **self._troubles})

    def _take(
        self, batch: Sequence[FileSeen], known: dict[str, KnownFile], went: dict[str, KnownFile], renamed: set[int]
    ) -> None:
        """Read some files, and write down what they are, in one step."""
        tally = self._tally
        put, touch, stale = [], [], []
        for seen in batch:
            before = known.get(seen.path)
            try:
                read, text = self._read(seen)
            except NotFound:  # it went while we looked; the next sync sees that
                continue
            except (Refused, OSError) as error:
                reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
                self._troubles[seen.path] = reason
                tally.failures.append(Trouble(self._source.name, seen.path, reason))
                if before is not None:
                    stale.append(before.number)
                continue
            if before is not None and before.digest == read.digest:
                touch.append(read._replace(number=before.number))
                tally.unchanged += 1
            elif before is None and (moved := went.pop(read.digest, None)) is not None:
                touch.append(read._replace(number=moved.number))
                renamed.add(moved.number)
                tally.renamed += 1
            elif before is None:
                put.append(read._replace(chunks=self._cut(text)))
                tally.added += 1
            else:
                put.append(read._replace(number=before.number, chunks=self._cut(text)))
                tally.changed += 1
        came, left = self._catalogue.apply(
            self._source.scope,
            self._source.name,
            put=put,
            touch=touch,
            stale=stale,
            seeds=self._seeds,
            fingerprint=self._fingerprint,
        )
        tally.chunks_added += came
        tally.chunks_removed += left

    def _cut(self, text: str) -> tuple[Chunk, ...]:
        return chunks(text, tokens=self._how.tokens, overlap=self._how.overlap)

    def _read(self, seen: FileSeen) -> tuple[FileRead, str]:
        source = self._source
        document = read_document(root_of(source), seen.path, patterns=source.patterns, limits=self._how.limits)
        self._tally.read += 1
        if not document.is_exact:
            self._troubles[seen.path] = NOT_ALL_TEXT
            self._tally.notes.append(Trouble(source.name, seen.path, NOT_ALL_TEXT))
        # Before anything is made of it, its digest included.
        text = self._how.screen(document.text)
        read = FileRead(
            seen=document.file,
            settled=self._now_ns - document.file.modified_ns > _RESTED_NS,
            digest=hashlib.sha256(text.encode(errors="replace")).hexdigest(),
            matter=matter_of(seen.path, text).matter,
        )
        return read, text

    def _let_go(self, numbers: Sequence[int]) -> None:
        if numbers:
            _, left = self._catalogue.apply(self._source.scope, self._source.name, drop=numbers)
            self._tally.removed += len(numbers)
            self._tally.chunks_removed += left


def is_as_read(root: str, seen: FileSeen) -> bool | None:
    """Whether a file is still what it was when it was read; None when it is gone."""
    try:
        found = os.stat(os.path.join(root, *seen.path.split("/")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns, found.st_ino) == (seen.size, seen.modified_ns, seen.inode)


def _batches(files: Sequence[FileSeen]) -> Iterator[list[FileSeen]]:
    held: list[FileSeen] = []
    size = 0
    for seen in files:
        held.append(seen)
        size += seen.size
        if len(held) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held
