"""How documents stand: counted from the files, the catalogue and the index, not from what was noted down."""

from collections.abc import Sequence
from pathlib import Path

from memoranda.domain.document import DocumentStatus, Source, SourceStatus, VectorState
from memoranda.domain.errors import ConfigError, NotFound, ProviderError
from memoranda.service.corpus import NO_SPACE
from memoranda.service.document_library import Generation, Library
from memoranda.service.engine import Engine

BACKEND = "builtin"
_TOLD = 5


def status(engine: Engine, library: Library, sources: Sequence[Source]) -> DocumentStatus:
    """The documents that these sources give. A store that has none is not made one by asking."""
    if not sources and not library.folder.exists():
        return _nothing(engine)
    generation = library.serving()
    standing = generation.corpus.catch_up(seconds=0)
    index = generation.corpus.index()
    listed = tuple(_source_status(library, generation, source) for source in sources)
    held = [
        generation.catalogue.holding(source.scope, source.name, fingerprint=index.fingerprint) for source in sources
    ]
    chunks = sum(each.chunks for each in held)
    vectors = sum(each.vectors for each in held)
    numbers = [n for source in sources for n in generation.catalogue.numbers(source.scope, source.name)]
    state, trouble = _vector_state(engine, generation, chunks=chunks, vectors=vectors)
    provider, _, model = _name(engine).partition(":")
    synced = generation.catalogue.meta("synced")
    return DocumentStatus(
        backend=BACKEND,
        provider=provider,
        model=model,
        sources=listed,
        files=sum(each.files for each in held),
        on_disk=sum(each.on_disk for each in listed),
        chunks=chunks,
        dirty=library.outdated or any(each.changed for each in listed),
        vector=state,
        dimensions=generation.catalogue.dimensions(index.fingerprint),
        vectors=vectors,
        fts=len(index.holds(numbers)),
        cache_entries=generation.catalogue.feed.vector_count(index.fingerprint),
        batch_failures=library.batch_failures,
        watcher="on" if library.is_watched else "off",
        last_sync=int(synced) if synced else None,
        generation=generation.number,
        bytes=sum(Path(name).stat().st_size for name in library.folder.files()),
        trouble=(*trouble, *standing.degraded, *_file_troubles(library, sources)),
    )


def _file_troubles(library: Library, sources: Sequence[Source]) -> tuple[str, ...]:
    """What is wrong with single files: those that could not be read, or not as they were meant."""
    found = [each for source in sources for each in library.troubles(source)]
    more = [f"{len(found) - _TOLD} more files have trouble; a sync shows them"] if len(found) > _TOLD + 1 else []
    told = found[:_TOLD] if more else found
    return (*(f"{each.source}: {each.path}: {each.reason}" for each in told), *more)


def _source_status(library: Library, generation: Generation, source: Source) -> SourceStatus:
    held = generation.catalogue.holding(source.scope, source.name)
    try:
        on_disk, changed, troubles = library.changed_files(source)
    except NotFound as error:
        return SourceStatus(source, held.files, 0, held.chunks, held.files, str(error))
    told = f"{len(troubles)} skipped: {troubles[0].path} {troubles[0].reason}" if troubles else ""
    return SourceStatus(source, held.files, on_disk, held.chunks, changed, told)


def _vector_state(
    engine: Engine, generation: Generation, *, chunks: int, vectors: int
) -> tuple[VectorState, tuple[str, ...]]:
    if engine.settings.embedder == "none":
        return "off", ()
    try:
        configured = engine.embedders.configured()
    except (ConfigError, ProviderError) as error:
        return "unavailable", (str(error),)
    fingerprint = generation.corpus.index().fingerprint
    if configured is not None and fingerprint not in (configured.fingerprint, NO_SPACE):
        told = f"vectors are of {fingerprint}, not of {configured.fingerprint}: run `memoranda documents sync --full`"
        return "stale", (told,)
    serving, trouble = generation.corpus.serving()
    if serving is None:
        return "unavailable", (trouble,) if trouble else ()
    return ("ready" if vectors >= chunks else "partial"), ()


def _name(engine: Engine) -> str:
    if engine.settings.embedder == "none":
        return "none"
    try:
        configured = engine.embedders.configured()
    except (ConfigError, ProviderError):
        return engine.settings.embedder
    return configured.name if configured is not None else "none"


def _nothing(engine: Engine) -> DocumentStatus:
    provider, _, model = _name(engine).partition(":")
    return DocumentStatus(
        backend=BACKEND,
        provider=provider,
        model=model,
        sources=(),
        files=0,
        on_disk=0,
        chunks=0,
        dirty=False,
        vector="off" if engine.settings.embedder == "none" else "ready",
        dimensions=0,
        vectors=0,
        fts=0,
        cache_entries=0,
        batch_failures=0,
        watcher="off",
        last_sync=None,
        generation=0,
        bytes=0,
    )
