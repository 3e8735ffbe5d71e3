"""Searching documents in one scope: the index proposes, the catalogue and the registered sources dispose."""

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memoranda.documents.matter import trust_with
from memoranda.documents.ranking import (
    LIMIT,
    TEXT_WEIGHT,
    VECTOR_WEIGHT,
    Proposal,
    Ranked,
    pool_size,
    ranked,
)
from memoranda.documents.snippet import snippet
from memoranda.domain.document import DocumentHit, Found, FoundReceipt, Source
from memoranda.domain.errors import InvalidInput, MemorandaError, NotFound
from memoranda.domain.memory import TRUSTS, Trust
from memoranda.domain.ports import Candidate, IndexAnswer, IndexQuery
from memoranda.domain.request import checked_limit
from memoranda.domain.scope import Scope
from memoranda.index.catalogue_rows import Passage
from memoranda.index.tokens import content_words
from memoranda.service.document_library import Generation, Library
from memoranda.service.document_roots import is_there
from memoranda.service.document_secrets import screened_chunk
from memoranda.service.document_sync import is_as_read
from memoranda.service.screening import without_secrets

SNIPPET, COLD_SNIPPET = 700, 280
FEW_HITS = 2
MAX_QUERY = 4_000
_SWAPS = 5
_SYNC = "Run: memoranda documents sync"
_REBUILD = "Run: memoranda documents sync --full"


class _Wanted(NamedTuple):
    """What is looked for, and among what."""

    query: str
    limit: int
    min_score: float
    rescue: bool
    """Whether what has most of the words stays when nothing clears the bar."""
    sources: dict[tuple[str, str], Source]
    """By scope and name, the nearest first."""
    missing: tuple[Source, ...]
    """Those whose folder is not there now."""
    narrowed: bool
    trust: tuple[Trust, ...]
    path: str
    snippet: int


class DocumentSearch:
    """Search in what one scope sees."""

    def __init__(self, library: Library, scope: Scope) -> None:
        self._library = library
        self._scope = scope

    def search(
        self,
        query: str,
        *,
        limit: int = LIMIT,
        min_score: float | None = None,
        source: str = "",
        path: str = "",
        trust: Sequence[Trust] = ("trusted", "untrusted"),
        most: int = SNIPPET,
    ) -> Found:
        """Chunks that bear on the query, best first. `path` is a file, or a folder with a slash at its end.

        A `min_score` that is given is a bar. Without one it is that of the settings, which words alone may clear.
        """
        checked_limit(limit)
        bar = self._library.settings.documents_least if min_score is None else min_score
        if isinstance(bar, bool) or not isinstance(bar, int | float) or not 0 <= bar <= 1:
            raise InvalidInput(f"min_score: {bar!r} is not a number from 0 to 1", hint="Give 0.35, for example.")
        text = self._cleaned(query)
        seen = self._library.sources.seen_from(self._scope)
        sources = tuple(each for each in seen if each.trust in trust and source in ("", each.name))
        if source and not any(each.name == source for each in seen):
            raise NotFound(f"there is no source {source[:60]!r} here", hint="`documents list` shows what there is.")
        nothing = "no query" if not text else "no documents" if not sources else ""
        if nothing:
            return Found((), FoundReceipt(min_score=bar, abstained=nothing))
        missing = tuple(each for each in sources if not is_there(each))
        degraded = (*map(_without_folder, missing), *self._freshened(sources, missing))
        listed = {(each.scope, each.name): each for each in sources}
        narrowed = len(sources) < len(seen)
        wanted = _Wanted(
            query=text,
            limit=limit,
            min_score=bar,
            rescue=min_score is None,
            sources=listed,
            missing=missing,
            narrowed=narrowed,
            trust=tuple(trust),
            path=path.strip(),
            snippet=most,
        )
        return self._served(wanted, degraded)

    def cold(self, query: str, hits: int, *, automatic: bool = True) -> tuple[DocumentHit, ...]:
        """A few short passages when memories are few; of trusted sources only where nobody asked."""
        most = self._library.settings.documents_in_recall
        if hits >= FEW_HITS or not most or not self._library.sources.seen_from(self._scope):
            return ()
        trust: tuple[Trust, ...] = ("trusted",) if automatic else ("trusted", "untrusted")
        return tuple(self.search(query, limit=most, trust=trust, most=COLD_SNIPPET))

    # -- the steps --

    def _served(self, wanted: _Wanted, degraded: tuple[str, ...]) -> Found:
        """What the generation that serves finds. When another process swaps it meanwhile, its files go: once more."""
        tries = 0
        while True:
            tries += 1
            generation: Generation | None = None
            try:
                generation = self._library.serving()
                found = self._found(generation, wanted, degraded)
            except (MemorandaError, OSError):
                if tries >= _SWAPS or (generation is not None and self._library.is_serving(generation)):
                    raise
            else:
                if tries >= _SWAPS or self._library.is_serving(generation):
                    return found

    def _cleaned(self, query: str) -> str:
        if not isinstance(query, str):
            what = type(query).__name__
            raise InvalidInput(f"query: text is expected, not {what}", hint="Pass the question as text.")
        text = query.replace("\0", " ").encode("utf-8", "replace").decode().strip()[:MAX_QUERY]
        return without_secrets(text, self._library.settings)

    def _freshened(self, sources: Sequence[Source], missing: Sequence[Source]) -> tuple[str, ...]:
        try:
            synced = self._library.freshen(sources)
        except (MemorandaError, OSError) as error:
            return (f"documents could not be looked at again: {error}",)
        if synced is None:
            return ()
        told_already = {each.name for each in missing}
        failed = [each for each in synced.failures if each.source not in told_already]
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        told = [f"{failed[0].source}: {failed[0].path} could not be read: {failed[0].reason}{more}"] if failed else []
        return (*told, *((synced.left,) if synced.left else ()))

    def _found(self, generation: Generation, wanted: _Wanted, degraded: tuple[str, ...]) -> Found:
        corpus = generation.corpus
        standing = corpus.catch_up()
        vector, embedder, trouble = corpus.embed_query(wanted.query)
        muted = self._muted(generation, wanted)
        answer = corpus.search(
            IndexQuery(
                scopes=self._scope.chain(),
                text=wanted.query,
                vector=vector,
                allow=self._allowed(generation, wanted),
                pool=pool_size(wanted.limit),
                tail=tuple(entry for entry in standing.tail if entry.number not in muted),
                hidden=standing.hidden | muted,
            )
        )
        passages = self._speaking(generation, wanted, answer.candidates)
        settings = self._library.settings
        chosen = ranked(
            [proposal for proposal, _ in passages.values()],
            now=self._library.now(),
            limit=wanted.limit,
            min_score=wanted.min_score,
            vector_weight=VECTOR_WEIGHT,
            text_weight=TEXT_WEIGHT,
            mmr=settings.documents_diversity if settings.documents_diversity < 1 else None,
            half_life_days=settings.documents_decay_days or None,
            rescue=wanted.rescue,
        )
        words = [folded for folded, _ in content_words(wanted.query)]
        hits: list[DocumentHit] = []
        stale = 0
        for each in chosen:
            passage = passages[id(each.proposal)][1]
            source = wanted.sources[passage.scope, passage.source]
            # What is known of a folder that is not there is all that there is; a sync would not help.
            as_read = False if source in wanted.missing else is_as_read(source.root, passage.seen)
            if not as_read and source not in wanted.missing:
                self._library.dirty = True
            if as_read is None:
                continue
            stale += passage.stale or not as_read
            trust = trust_with(source.trust, passage.trust)
            # Screened when it was read, but perhaps by a store that was to keep secrets.
            chunk = screened_chunk(passage.chunk, self._library.how.screen)
            shown = snippet(chunk.text, words, most=wanted.snippet)
            hits.append(_hit(each, passage, trust, shown, chunk.heading))
        return Found(
            tuple(hits),
            FoundReceipt(
                searched=answer.searched,
                proposed=len(answer.candidates),
                lanes=("lexical",) if vector is None else ("lexical", "semantic"),
                embedder=embedder,
                min_score=wanted.min_score,
                abstained="" if hits else _why_nothing(answer),
                degraded=(*degraded, *standing.degraded, *((trouble,) if trouble else ())),
                dirty=self._library.dirty,
                stale=stale,
                action=_action(trouble, dirty=self._library.dirty, missing=wanted.missing),
            ),
        )

    def _allowed(self, generation: Generation, wanted: _Wanted) -> frozenset[int] | None:
        """The chunks that may be looked at; None when nothing narrows it."""
        if not wanted.narrowed and not wanted.path:
            return None
        found: set[int] = set()
        for scope, name in wanted.sources:
            found |= generation.catalogue.numbers(scope, name, path=wanted.path)
        return frozenset(found)

    def _muted(self, generation: Generation, wanted: _Wanted) -> frozenset[int]:
        """The chunks of files that ask for less trust than is wanted: they take no place in the pool."""
        found: set[int] = set()
        for (scope, name), source in wanted.sources.items():
            refused = tuple(each for each in TRUSTS if trust_with(source.trust, each) not in wanted.trust)
            found |= generation.catalogue.numbers_asking(scope, name, refused)
        return frozenset(found)

    def _speaking(
        self, generation: Generation, wanted: _Wanted, candidates: Sequence[Candidate]
    ) -> dict[int, tuple[Proposal, Passage]]:
        """What was proposed, is there, is of a source that is registered, and may speak; by the id of the proposal."""
        known = generation.catalogue.passages([each.number for each in candidates])
        allowed = {number: passage for number, passage in known.items() if _may_speak(passage, wanted)}
        chosen = _one_of_equal(allowed, wanted)
        found: dict[int, tuple[Proposal, Passage]] = {}
        for each in candidates:
            if each.number not in chosen:
                continue
            passage = allowed[each.number]
            proposal = Proposal(
                path=passage.seen.path,
                start_line=passage.chunk.start_line,
                end_line=passage.chunk.end_line,
                text=passage.chunk.text,
                coverage=each.coverage,
                cosine=each.cosine,
                dated=passage.dated,
                source=passage.source,
            )
            found[id(proposal)] = (proposal, passage)
        return found


def _may_speak(passage: Passage, wanted: _Wanted) -> bool:
    source = wanted.sources.get((passage.scope, passage.source))
    return source is not None and trust_with(source.trust, passage.trust) in wanted.trust


def _one_of_equal(passages: Mapping[int, Passage], wanted: _Wanted) -> frozenset[int]:
    """Of chunks with the same text, the one of the nearest scope and the first source, whose file is there."""
    alike: dict[str, list[int]] = {}
    for number, passage in passages.items():
        alike.setdefault(passage.chunk.digest, []).append(number)
    places = {key: place for place, key in enumerate(wanted.sources)}

    def order(number: int) -> tuple[bool, int, str, int]:
        passage = passages[number]
        root = wanted.sources[passage.scope, passage.source].root
        gone = is_as_read(root, passage.seen) is None
        return gone, places[passage.scope, passage.source], passage.seen.path, passage.chunk.start_line

    return frozenset(numbers[0] if len(numbers) == 1 else min(numbers, key=order) for numbers in alike.values())


def _hit(each: Ranked, passage: Passage, trust: Trust, shown: str, heading: str) -> DocumentHit:
    return DocumentHit(
        path=passage.seen.path,
        start_line=passage.chunk.start_line,
        end_line=passage.chunk.end_line,
        score=round(each.score, 6),
        snippet=shown,
        source=passage.source,
        trust=trust,
        heading=heading,
        dated=passage.dated,
        factors=each.factors,
    )


def _without_folder(source: Source) -> str:
    return f"the folder of {source.name} is not there; what was read of it before is shown"


def _action(trouble: str, *, dirty: bool, missing: Sequence[Source]) -> str:
    if missing:
        name = missing[0].name
        return f"Bring the folder of {name} back, or run: memoranda documents remove {shlex.quote(name)}"
    return _REBUILD if "rebuild" in trouble else _SYNC if dirty else ""


def _why_nothing(answer: IndexAnswer) -> str:
    return "nothing cleared the bar" if answer.searched else "nothing to search"
