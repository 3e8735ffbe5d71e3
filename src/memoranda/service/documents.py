"""`memory.documents`: Markdown files that somebody writes, searched and cited. The files stay the truth."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.documents.reading import read_excerpt
from memoranda.documents.wanted import DEFAULT_PATTERNS, checked_patterns, literal_pattern, wanted
from memoranda.domain.document import (
    DocumentHit,
    DocumentStatus,
    Excerpt,
    Found,
    Source,
    SourceRemoved,
    Synced,
)
from memoranda.domain.errors import Conflict, InvalidInput, NotFound, Refused
from memoranda.domain.memory import TRUSTS, Trust, checked_choice
from memoranda.domain.ports import Progress
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.sources import RealPath as RealPath
from memoranda.service.document_roots import root_of
from memoranda.service.document_search import DocumentSearch
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.document_watch import Watch

EVERY_NOTE = "**/*.md"
_LONGEST_NAME = 128


@fences()
class Documents:
    """The documents that one scope sees: its own sources and those of the scopes above."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self._library = engine.library()
        self._searching = DocumentSearch(self._library, scope)

    # -- sources --

    def add(
        self, path: str | Path, *, name: str = "", pattern: str | Sequence[str] = (), trust: Trust = "untrusted"
    ) -> Source:
        """Take a folder, or one file, into account. Nothing is read yet: the next search does that, or `sync`.

        Without a pattern: `MEMORY.md`, `USER.md` and `memory/**/*.md` where the folder has them, else every Markdown
        file. What is in a folder may have come from anywhere: only `trust="trusted"` lets it into packs unasked.
        """
        checked_choice(trust, TRUSTS, name="trust")
        root, only = _root_of(path)
        given = (pattern,) if isinstance(pattern, str) and pattern else tuple(pattern)
        if only and given:
            raise InvalidInput("a single file needs no pattern", hint="Leave the pattern out, or name the folder.")
        patterns = (only,) if only else checked_patterns(given) if given else _usual_patterns(root)
        wanted(patterns)
        source = Source(self._name(name, root, only), self._scope.path, root, patterns, trust)
        for other in self._library.sources.seen_from(self._scope):
            same_place = other.root == root and (not only or other.patterns == patterns)
            if (other.scope, other.name) == (source.scope, source.name) and not same_place:
                raise Conflict(
                    f"{source.name!r} is the name of another source here, {other.root}",
                    hint="Give this one another name, or remove the other first.",
                )
        if self._library.sources.add(source):
            self._library.dirty = True
        return source

    def _name(self, name: str, root: str, only: str) -> str:
        usual = f"{Path(root).name}/{only}" if only else Path(root).name
        chosen = checked_text(name or usual, name="name", limit=_LONGEST_NAME).strip()
        if any(not char.isprintable() for char in chosen):
            raise InvalidInput("name: has a sign in it that does not show", hint="Give a name of plain letters.")
        return chosen

    def list(self) -> tuple[Source, ...]:
        """The sources that this scope sees, its own first."""
        return self._library.sources.seen_from(self._scope)

    def remove(self, name: str) -> SourceRemoved:
        """Let go of a source and of everything that was made of its files, and prove it. The files stay."""
        from memoranda.service.document_removal import removed

        self._engine.refuse_read_only()
        for source in self.list():
            if source.name == name and source.scope == self._scope.path:
                return removed(self._engine, self._library, source)
        for source in self.list():
            if source.name == name:
                raise Refused(
                    f"the source {name[:60]!r} belongs to {source.scope}", hint="Open the store with that scope."
                )
        raise NotFound(f"there is no source {name[:60]!r} here", hint="`documents list` shows what there is.")

    # -- keeping up --

    def sync(
        self, *, full: bool = False, progress: Progress | None = None, embedding: Progress | None = None
    ) -> Synced:
        """Take in what has changed in the files. `full` opens each of them, whatever the disk tells.

        `progress` is told of files, `embedding` of vectors.
        """
        return self._library.sync(self.list(), why="asked", full=full, progress=progress, embedding=embedding)

    def rebuild(self, *, progress: Progress | None = None, embedding: Progress | None = None) -> Synced:
        """All documents of the store anew. What serves now serves until that is complete; no vector is made twice.

        The receipt counts and names files of the sources that this scope sees.
        """
        return self._library.rebuild(self.list(), progress=progress, embedding=embedding)

    def watch(self, *, interval_minutes: float = 0.0, told: "Callable[[Synced], object] | None" = None) -> "Watch":
        """Sync whenever a file changes, and every so many minutes, until it is closed. `told` hears of each sync."""
        from memoranda.service.document_watch import Watch

        return Watch(self._library, self._scope, interval_minutes=interval_minutes, told=told)

    # -- asking --

    def search(
        self, query: str, *, limit: int | None = None, min_score: float | None = None, source: str = "", path: str = ""
    ) -> Found:
        """Passages that bear on the query, best first, each with the lines to cite; nothing when nothing does.

        A `min_score` is a bar: nothing below it comes. Without one, and when nothing clears the usual bar, passages
        with most of the words come. `source` is the name of one; `path` a file, or a folder with a slash at its end.
        """
        most = self._engine.settings.documents_limit if limit is None else limit
        return self._searching.search(query, limit=most, min_score=min_score, source=source, path=path)

    def cold(self, query: str, hits: int, *, automatic: bool = True) -> tuple[DocumentHit, ...]:
        """What documents add to a recall that found so many memories: a few short passages when it found hardly any.

        `automatic`: nobody asked for it, so that only trusted sources speak.
        """
        return self._searching.cold(query, hits, automatic=automatic)

    def read(self, path: str, *, from_line: int | None = None, lines: int | None = None, source: str = "") -> Excerpt:
        """Some lines of a document as they are now, without secrets; empty text when the file is not there.

        `path` is relative to its source, or a citation such as `notes.md#L10-L15`. Of several sources, the first that
        has it.
        """
        seen = [each for each in self.list() if source in ("", each.name) and each.trust != "quarantined"]
        if source and not seen:
            raise NotFound(f"there is no source {source[:60]!r} here", hint="`documents list` shows what there is.")
        how = self._library.how
        empty: Excerpt | None = None
        refused: Refused | None = None
        for each in seen:
            try:
                found = read_excerpt(
                    root_of(each),
                    path,
                    patterns=each.patterns,
                    from_line=from_line,
                    lines=lines,
                    limits=how.limits,
                    screen=how.screen,
                )
            except Refused as error:
                refused = refused or error
            except NotFound:
                continue  # its folder is not there: nor is the file
            else:
                if found.text:
                    return found
                empty = empty or found
        if empty is None and refused is not None:
            raise refused
        return empty or Excerpt("", path, from_line or 1)

    def status(self) -> DocumentStatus:
        """How the documents of this scope stand, counted now."""
        from memoranda.service.document_status import status

        return status(self._engine, self._library, self.list())


def _root_of(path: str | Path) -> tuple[str, str]:
    """(folder, pattern of the one file) of what was named; the pattern is empty for a folder."""
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InvalidInput("a folder or a file is needed", hint="Give a path, such as notes.")
    kept: type[str] = RealPath if isinstance(path, RealPath) else str
    full = os.path.abspath(path if kept is RealPath else os.path.expanduser(path))
    if os.path.isfile(full):
        return kept(os.path.dirname(full)), literal_pattern(os.path.basename(full))
    if not os.path.isdir(full):
        raise NotFound(f"{full} is not there", hint="Make the folder first, or check the path.")
    if full == os.path.dirname(full):
        raise InvalidInput("the whole disk is no source of documents", hint="Name the folder that holds the notes.")
    return kept(full), ""


def _usual_patterns(root: str) -> tuple[str, ...]:
    """Where agents keep their notes, if there is one of those here; else every Markdown file."""
    there = os.listdir(root)
    has_folder = "memory" in there and os.path.isdir(os.path.join(root, "memory"))
    kept = any(pattern in there for pattern in DEFAULT_PATTERNS)
    return DEFAULT_PATTERNS if kept or has_folder else (EVERY_NOTE,)
