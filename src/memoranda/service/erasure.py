"""Erase: delete everywhere, make the bytes leave the files, then prove that they have."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memoranda.domain.errors import LedgerError, LedgerLocked
from memoranda.domain.memory import Memory
from memoranda.domain.ports import IndexEntry
from memoranda.domain.receipt import EraseReceipt, FileScan
from memoranda.domain.scope import Scope
from memoranda.ledger.messages import Row
from memoranda.service.corpus import Corpus
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.redacting import Redaction

_VECTOR_BYTES = 64
_PASSES = 4
Chosen = Sequence[tuple[int, Memory]]


class _Traces:
    """By what the erased is recognised in the files: its words, its vectors, and what an index holds of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.vectors: set[bytes] = set()
        self.entries: list[list[IndexEntry]] = []

    def add(self, corpus: Corpus, numbers: Sequence[int], texts: Iterable[str]) -> None:
        """To be called while it is still there."""
        from memoranda.index.follower import entries

        self.texts += texts
        if numbers:
            corpus.catch_up(seconds=0)
            self.entries.append(entries(corpus.feed, numbers, corpus.space())[0])
            self.vectors |= corpus.feed.vector_bodies(numbers, _VECTOR_BYTES)

    def needles(self, engine: Engine) -> tuple[frozenset[bytes], int]:
        """What must not be found any more, and how many pieces are left out since they are also in what is kept."""
        from memoranda.service.proof import kept_elsewhere, pieces

        wanted = pieces(self.texts)
        shared = kept_elsewhere(wanted, _kept(engine))
        needles = wanted - shared
        # What is kept anywhere proves nothing: a memory may share its words or its vector with a message.
        for entries in self.entries:
            left = [frozenset(corpus.index().residues(entries)) for corpus in engine.corpora()]
            needles |= frozenset.intersection(*left)
        bodies = self.vectors
        for corpus in engine.corpora():
            bodies = set(corpus.feed.without_kept_vectors(bodies, _VECTOR_BYTES))
        return needles | bodies, len(shared)


class Doomed(NamedTuple):
    """Everything that an erasure takes: memories, whole conversations, and what is blanked in others."""

    memories: Chosen = ()
    conversations: Sequence[Row] = ()
    redactions: "Sequence[Redaction]" = ()
    speaker: str = ""
    """All that they said in the scope `home` is blanked."""
    home: str = ""
    top: str = ""
    """The widest scope that whoever erases may know of; empty for all."""

    @classmethod
    def of(
        cls,
        engine: Engine,
        memories: Chosen,
        *,
        conversations: Sequence[Row] = (),
        speaker: str = "",
        home: str = "",
        top: str = "",
    ) -> "Doomed":
        """These memories and conversations, with what transcripts say of them; and what a speaker said in a scope."""
        return cls(memories, conversations, (), speaker, home, top).planned(engine)

    def planned(self, engine: Engine) -> "Doomed":
        """The same, with what there is to be blanked now."""
        from memoranda.service.redacting import redactions

        whole = {row.number for row in self.conversations}
        memories = [memory for _, memory in self.memories]
        found = redactions(engine, memories, speaker=self.speaker, home=self.home, without=whole)
        return self._replace(redactions=found)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(sorted(memory.id for _, memory in self.memories))

    @property
    def blanked(self) -> int:
        return sum(len(each.blanked) for each in self.redactions)

    @property
    def summed_up(self) -> int:
        return sum(len(each.summaries) for each in self.redactions)


def erase(engine: Engine, doomed: Doomed, *, actor: str) -> EraseReceipt:
    """Destroy all of this. `deleted` means gone from every answer, `purged` proven gone from every file."""
    if not doomed.memories and not doomed.conversations and not doomed.redactions:
        return EraseReceipt("purged", (), engine.ledger.sequence())
    from memoranda.service.mirror_notes import erase_from_mirrors
    from memoranda.service.redacting import redact

    chosen, conversations = doomed.memories, doomed.conversations
    traces = _Traces()
    numbers = sorted(number for number, _ in chosen)
    traces.add(engine.memories, numbers, engine.ledger.texts(frozenset(numbers).__contains__))
    gone = engine.transcripts.numbers(conversations)
    names = engine.transcripts.names(conversations) if conversations else ()
    traces.add(engine.messages, gone, (*engine.transcripts.texts(frozenset(gone).__contains__), *names))
    blanked = summaries = 0
    for _ in range(_PASSES):
        for change in doomed.redactions:
            touched = sorted(each.number for each in (*change.blanked, *change.summaries))
            # Of a summary that is made anew much stays: that is found in what is kept, and proves nothing.
            traces.add(engine.messages, touched, engine.transcripts.texts(frozenset(touched).__contains__))
            redact(engine, change)
        blanked, summaries = blanked + doomed.blanked, summaries + doomed.summed_up
        # Somebody may have summed it up between the plan and now: look again.
        doomed = doomed.planned(engine)
        if not doomed.redactions:
            break
    if conversations:
        engine.transcripts.erase(conversations, actor=actor)
    sequence = engine.ledger.erase(chosen, actor=actor)
    engine.forget_cached([*(memory.spoken for _, memory in chosen), *traces.texts])
    mirrors = erase_from_mirrors(engine, [memory for _, memory in chosen])
    receipt = _proven(engine, traces, mirrors.files)
    if mirrors.pending:
        receipt = receipt._replace(
            state="deleted", pending="; ".join(filter(None, (receipt.pending, *mirrors.pending)))
        )
    return receipt._replace(
        ids=doomed.ids,
        sequence=sequence,
        messages=len(gone) + blanked,
        conversations=len(conversations),
        summaries=summaries,
        mirrored=mirrors.rewritten,
        notes=(*mirrors.notes, *_mentions(engine, [memory for _, memory in chosen], top=doomed.top)),
    )


def _mentions(engine: Engine, memories: Sequence[Memory], *, top: str) -> list[str]:
    """Where else it is said, that an erasure from here does not reach; nothing above `top`."""
    from memoranda.service.redacting import mentioned_above

    above = mentioned_above(engine, memories, top=top)
    notes = [f"the conversation {name} says it, too, and is to be erased from there" for name in above]
    if memories and engine.sources.everywhere():
        scopes = tuple(dict.fromkeys(scope for memory in memories for scope in Scope(memory.scope, top=top).chain()))
        found = engine.library().mentions([memory.text for memory in memories], scopes)
        notes += (f"{citation} says it, too; the file is yours" for citation in found)
    return notes


def _proven(engine: Engine, traces: _Traces, beside: Sequence[str]) -> EraseReceipt:
    """Make the bytes leave the files and look whether they have."""
    from memoranda.service.proof import scan

    # What the erasure itself wrote is in this; what others write meanwhile is no business of it.
    erased = [(corpus, corpus.feed.sequence()) for corpus in engine.corpora()]
    pending = _purge(engine, erased)
    needles, shared = traces.needles(engine)
    files = (*_files(engine), *beside)
    scanned = scan(files, needles)
    found = sum(each.found for each in scanned)
    rewritten = False
    if found and not pending:
        # Something lies in a page that is still in use, or in a file that no longer serves: write the files anew.
        pending = _write_anew(engine) or _purge(engine, erased)
        rewritten = not pending
        scanned = scan(files, needles)
        found = sum(each.found for each in scanned)
    return EraseReceipt(
        state="purged" if not pending and not found else "deleted",
        ids=(),
        sequence=0,
        needles=len(needles),
        shared=shared,
        scanned=scanned,
        found=found,
        rewritten=rewritten,
        pending=pending or _remains(scanned),
    )


def _kept(engine: Engine) -> Iterator[str]:
    """Everything that is written anywhere in the store."""
    yield from engine.ledger.texts(lambda _: True)
    yield from engine.transcripts.texts()
    yield from engine.transcripts.names()
    # Nor do the words of the files' own making: to find `length` among the columns proves nothing.
    from memoranda.index import catalogue_rows, container

    yield from (container.SCHEMA, catalogue_rows.SCHEMA)
    yield from engine.ledger.own_words()


def _files(engine: Engine) -> tuple[str, ...]:
    return (*engine.ledger.files(), *(name for corpus in engine.corpora() for name in corpus.folder.files()))


def _write_anew(engine: Engine) -> str:
    """The last resort; why it could not be done, if so."""
    try:
        engine.ledger.database.vacuum()
        for corpus in engine.corpora():
            corpus.folder.tidy_if_idle()
            corpus.index().rewrite()
    except LedgerError as error:
        return f"deleted, but remains were found and the files could not be written anew: {error}"
    return ""


def _remains(scanned: Sequence[FileScan]) -> str:
    names = ", ".join(each.file for each in scanned if each.found)
    return f"remains were found in {names}; remove what is not the store's own and look again" if names else ""


def _purge(engine: Engine, erased: Sequence[tuple[Corpus, int]]) -> str:
    """Take it out of the indexes, each up to its sequence, and empty the write-ahead logs; else why not."""
    try:
        for corpus, sequence in erased:
            corpus.release_retired()
            corpus.catch_up(seconds=0)
            if corpus.index().sequence < sequence:
                return "the index is held by another process; run `memoranda maintain` when it has ended"
            if not corpus.index().scrub():
                return "another process is reading the store; run `memoranda maintain` when it has ended"
        if not engine.ledger.database.checkpoint():
            return "another process is reading the store; run `memoranda maintain` when it has ended"
    except LedgerLocked:
        return "another process holds the store; run `memoranda maintain` when it has ended"
    except LedgerError as error:
        return f"deleted, but the bytes are not gone yet: {error}"
    return ""
