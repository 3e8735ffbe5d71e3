"""Removing a source: its chunks leave every file of ours, and that is proven by reading them."""

from collections.abc import Sequence

from memoranda.domain.document import Source, SourceRemoved
from memoranda.domain.errors import LedgerError, LedgerLocked
from memoranda.service.document_library import Generation, Library
from memoranda.service.engine import Engine

_VECTOR_BYTES = 64
_LATER = "another process is reading the documents; run `memoranda documents sync --full` when it has ended"


def removed(engine: Engine, library: Library, source: Source) -> SourceRemoved:
    """Let go of a source. What other sources have, too, stays and proves nothing."""
    from memoranda.index.follower import entries
    from memoranda.service.proof import kept_elsewhere, pieces, scan

    if not library.folder.exists():
        library.sources.remove(source)
        return SourceRemoved(source, 0, 0, purged=True)
    with library.folder.syncing(patience=engine.settings.busy_seconds):
        generation = library.serving()
        catalogue, corpus = generation.catalogue, generation.corpus
        corpus.catch_up(seconds=0)
        numbers = sorted(catalogue.numbers(source.scope, source.name))
        texts = catalogue.texts(source.scope, source.name)
        gone, _ = entries(catalogue.feed, numbers, corpus.space())
        bodies = catalogue.feed.vector_bodies(numbers, _VECTOR_BYTES)
        library.sources.remove(source)
        files, chunks = catalogue.drop_source(source.scope, source.name)
        corpus.forget_ready()
        engine.embedders.forget(texts)
        pending = _purged(library, generation)

        looked_for = pieces(texts)
        needles = looked_for - kept_elsewhere(looked_for, catalogue.texts())
        needles |= frozenset(corpus.index().residues(gone))
        needles |= catalogue.feed.without_kept_vectors(bodies, _VECTOR_BYTES)
        scanned = scan(library.folder.files(), needles, key=engine.key)
        if not pending and any(each.found for each in scanned):
            # Something lies in a page that is still in use, or in what an unfinished rebuild left.
            pending = _written_anew(library, generation) or _purged(library, generation)
            scanned = scan(library.folder.files(), needles, key=engine.key)
    found = sum(each.found for each in scanned)
    return SourceRemoved(
        source,
        files,
        chunks,
        purged=not pending and not found,
        scanned_bytes=sum(each.bytes for each in scanned),
        traces=len(needles),
        found=found,
        pending=pending or _remains([each.file for each in scanned if each.found]),
    )


def _purged(library: Library, generation: Generation) -> str:
    """Take it out of the index and empty the write-ahead logs; why that could not be done, if so."""
    try:
        library.release_retired()
        generation.corpus.release_retired()
        generation.corpus.catch_up(seconds=0)
        index = generation.corpus.index()
        if index.sequence < generation.catalogue.feed.sequence():
            return _LATER
        index.optimize()  # whatever lies dead in it leaves its files
        if not index.scrub() or not generation.catalogue.database.checkpoint():
            return _LATER
    except LedgerLocked:
        return _LATER
    except LedgerError as error:
        return f"removed, but the bytes are not gone yet: {error}"
    return ""


def _written_anew(library: Library, generation: Generation) -> str:
    try:
        library.folder.tidy_if_idle()
        generation.catalogue.database.vacuum()
        generation.corpus.index().rewrite()
    except LedgerError as error:
        return f"removed, but remains were found and the files could not be written anew: {error}"
    return ""


def _remains(names: Sequence[str]) -> str:
    return f"remains were found in {', '.join(names)}; remove what is not the store's own" if names else ""
