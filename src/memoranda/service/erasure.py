"""Erase: delete everywhere, make the bytes leave the files, then prove that they have."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memoranda.domain.errors import LedgerError, LedgerLocked
from memoranda.domain.memory import Memory
from memoranda.domain.ports import Progress
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.scope import Scope
from memoranda.domain.statement import Asked
from memoranda.ledger.erasing import Counted, Erasing
from memoranda.ledger.fence import lifted
from memoranda.ledger.messages import Row
from memoranda.ledger.owing import Owing
from memoranda.service.corpus import Corpus
from memoranda.service.engine import Engine
from memoranda.service.traces import NOTHING, Needles, Traces
from memoranda.service.workroom import Workroom

if TYPE_CHECKING:
    from memoranda.service.erased_beside import BackupsErased
    from memoranda.service.proof import Scanned, Scanner
    from memoranda.service.redacting import Redaction

_PASSES = 4
_NOTHING_ASKED = Asked()
Chosen = Sequence[tuple[int, Memory]]


class Doomed(NamedTuple):
    """Everything that an erasure takes: memories, whole conversations, and what is blanked in others."""

    memories: Chosen = ()
    conversations: Sequence[Row] = ()
    redactions: "Sequence[Redaction]" = ()
    asked: Asked = _NOTHING_ASKED
    """Speakers, conversations and times are blanked in transcripts of the scope `home`, too."""
    home: str = ""
    top: str = ""
    """The widest scope that whoever erases may know of; empty for all."""
    messages: frozenset[str] = frozenset()
    """Ids of messages that are blanked, whatever they say."""

    @classmethod
    def of(
        cls,
        engine: Engine,
        memories: Chosen,
        *,
        conversations: Sequence[Row] = (),
        asked: Asked = _NOTHING_ASKED,
        home: str = "",
        top: str = "",
        messages: frozenset[str] = frozenset(),
    ) -> "Doomed":
        """These memories and conversations, with what transcripts say of them, and what is asked for there."""
        return cls(memories, conversations, (), asked, home, top, messages).planned(engine)

    @classmethod
    def chosen(cls, engine: Engine, asked: Asked, *, home: str, top: str = "") -> "Doomed":
        """What fits: a scope with all below it, or what memories and messages here are like."""
        if asked.in_scope:
            below = Scope(asked.in_scope)
            memories: Chosen = engine.ledger.choose(scope=below, below=below)
            talks = engine.transcripts.below(below)
            return cls.of(engine, memories, conversations=talks, asked=asked, home=home, top=top)
        rows = [
            row
            for row in (engine.transcripts.below(Scope(home)) if asked.conversation else ())
            if asked.reaches(home, row.conversation.scope)
            and asked.conversation in (row.conversation.name, row.conversation.id)
        ]
        names = tuple({asked.conversation, *(row.conversation.name for row in rows)})
        memories = Erasing(engine.ledger.database).matching(Scope(home), asked, names)
        whole = rows if asked.ways == ("conversation",) else ()
        return cls.of(engine, memories, conversations=whole, asked=asked, home=home, top=top)

    def planned(self, engine: Engine) -> "Doomed":
        """The same, with what there is to be blanked now."""
        from memoranda.service.redacting import redactions

        whole = {row.number for row in self.conversations}
        memories = [memory for _, memory in self.memories]
        found = redactions(engine, memories, asked=self.asked, home=self.home, without=whole, messages=self.messages)
        return self._replace(redactions=found)

    @property
    def nothing(self) -> bool:
        return not self.memories and not self.conversations and not self.redactions

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(sorted(memory.id for _, memory in self.memories))

    @property
    def blanked(self) -> int:
        return sum(len(each.blanked) for each in self.redactions)

    @property
    def summed_up(self) -> int:
        return sum(len(each.summaries) for each in self.redactions)


class Erased(NamedTuple):
    """What an erasure did, with all that a statement about it is made of."""

    receipt: EraseReceipt
    needles: Needles
    scanned: "tuple[Scanned, ...]"
    counted: Counted
    begun_at: int
    ended_at: int


def erase(engine: Engine, doomed: Doomed, *, actor: str) -> EraseReceipt:
    """Destroy all of this. `deleted` means gone from every answer, `purged` proven gone from every file."""
    return erased(engine, doomed, actor=actor).receipt


def erased(
    engine: Engine,
    doomed: Doomed,
    *,
    actor: str,
    progress: Progress | None = None,
    with_backups: bool = True,
) -> Erased:
    """The same, with the evidence. Without backups these are left to the next erasure, or to `maintain`."""
    from memoranda.service.erased_beside import BackupsErased, erase_from_backups

    begun = engine.clock.now()
    meter = _Meter(progress)
    if doomed.nothing:
        backups = erase_from_backups(engine, doomed, Traces(), NOTHING, actor=actor, cleaned=meter.cleaned)
        receipt = _with_backups(EraseReceipt("purged", (), engine.ledger.sequence()), backups, ())
        meter.done()
        return Erased(receipt, NOTHING, backups.scanned, Counted(), begun, engine.clock.now())
    from memoranda.service.mirror_notes import erase_from_mirrors

    memories = [memory for _, memory in doomed.memories]
    numbers = sorted(number for number, _ in doomed.memories)
    counted = Erasing(engine.ledger.database).counted(numbers)
    traces = Traces()
    gone = gather(engine, doomed, traces, with_index=True)
    meter.gathered()
    owing = Owing(engine.ledger.database)
    owing.note()
    blanked, summaries, sequence = delete(engine, doomed, traces, actor=actor, with_index=True)
    noted = owing.note()
    meter.deleted()
    engine.forget_cached([*(memory.spoken for memory in memories), *traces.texts])
    mirrors = erase_from_mirrors(engine, memories)
    receipt, needles, scanned = _proven(engine, traces, mirrors.files, meter)
    if receipt.state == "purged":
        owing.settle(noted)
    backups = BackupsErased()
    if with_backups:
        backups = erase_from_backups(engine, doomed, traces, needles, actor=actor, cleaned=meter.cleaned)
    receipt = _with_backups(receipt, backups, mirrors.pending)._replace(
        ids=doomed.ids,
        sequence=sequence,
        messages=gone + blanked,
        conversations=len(doomed.conversations),
        summaries=summaries,
        mirrored=mirrors.rewritten,
        notes=(*mirrors.notes, *_mentions(engine, memories, top=doomed.top), *_out_of_reach(engine)),
    )
    meter.done()
    return Erased(receipt, needles, (*scanned, *backups.scanned), counted, begun, engine.clock.now())


def _with_backups(receipt: EraseReceipt, backups: "BackupsErased", more: Sequence[str]) -> EraseReceipt:
    why = tuple(filter(None, (receipt.pending, *more, *backups.pending)))
    return receipt._replace(
        state="deleted" if why else receipt.state,
        pending="; ".join(why),
        found=receipt.found + sum(each.found for each in backups.scanned),
        scanned=(*receipt.scanned, *(each.told for each in backups.scanned)),
        backups=backups.rewritten,
        untouchable=(*receipt.untouchable, *backups.untouchable),
    )


def gather(engine: Engine, doomed: Doomed, traces: Traces, *, with_index: bool) -> int:
    """Note by what all that goes as a whole is recognised; how many messages go so."""
    numbers = sorted(number for number, _ in doomed.memories)
    talks = doomed.conversations
    gone = engine.transcripts.numbers(talks)
    names = engine.transcripts.names(talks) if talks else ()
    texts = engine.ledger.texts(frozenset(numbers).__contains__) if numbers else ()
    said = (*(engine.transcripts.texts(frozenset(gone).__contains__) if gone else ()), *names)
    for corpus, each, words in ((engine.memories, numbers, texts), (engine.messages, gone, said)):
        if with_index:
            traces.add(corpus, each, words)
        else:
            traces.texts += words
            traces.add_vectors(corpus, each)
    return len(gone)


def delete(
    engine: Engine,
    doomed: Doomed,
    traces: Traces,
    *,
    actor: str,
    with_index: bool,
) -> tuple[int, int, int]:
    """Take it out of the ledger; how many messages were blanked and summaries made anew, and the sequence."""
    from memoranda.service.redacting import Wording, redact

    chosen, conversations = doomed.memories, doomed.conversations
    blanked = summaries = 0
    for _ in range(_PASSES):
        touched = sorted({each.number for change in doomed.redactions for each in (*change.blanked, *change.summaries)})
        # Of a summary that is made anew much stays: that is found in what is kept, and proves nothing.
        texts = engine.transcripts.texts(frozenset(touched).__contains__) if touched else ()
        if with_index:
            traces.add(engine.messages, touched, texts)
        else:
            traces.texts += texts
            traces.add_vectors(engine.messages, touched)
        for change in doomed.redactions:
            redact(engine, change)
        blanked, summaries = blanked + doomed.blanked, summaries + doomed.summed_up
        # Somebody may have summed it up between the plan and now: look again.
        doomed = doomed.planned(engine)
        if not doomed.redactions:
            break
    if conversations:
        engine.transcripts.erase(conversations, actor=actor)
    sequence = engine.ledger.erase(chosen, actor=actor)
    rows = Erasing(engine.ledger.database)
    scopes = {memory.scope for _, memory in chosen} | {row.conversation.scope for row in conversations}
    if doomed.asked.in_scope:
        rows.drop_below(Scope(doomed.asked.in_scope))
    rows.clear_words(sorted(scopes), Wording(memory.text for _, memory in chosen).is_said_in)
    return blanked, summaries, sequence


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


def _out_of_reach(engine: Engine) -> tuple[str, ...]:
    """What was looked at on servers, and what nobody reaches there from here."""
    from memoranda.index.home import Remote

    notes: tuple[str, ...] = ()
    if engine.ledger.database.dialect.name == "postgres":
        notes = (
            "in the database every row of every table was looked at, not the server's files; "
            "what was deleted leaves these when the tables are written anew",
            "the database server keeps it in its log, its standbys and its backups until it lets go of them",
        )
    indexes = (corpus.index() for corpus in engine.corpora())
    if any(isinstance(index, Remote) and index.is_remote for index in indexes):
        notes += (
            "the index in the object store was written anew without it, and its objects were not read; what the "
            "store keeps of objects that were removed (versions, trash, copies) is gone when it lets go of that",
        )
    return notes


@lifted()
def _proven(
    engine: Engine, traces: Traces, mirrored: Sequence[str], meter: "_Meter"
) -> tuple[EraseReceipt, Needles, "tuple[Scanned, ...]"]:
    """Make the bytes leave the files and look whether they have."""
    from memoranda.service.erased_beside import files_beside
    from memoranda.service.proof import Scanner, scan

    # What the erasure itself wrote is in this; what others write meanwhile is no business of it.
    reached = [(corpus, corpus.feed.sequence()) for corpus in engine.corpora()]
    Workroom(engine.ledger.path).clear()
    pending = _purge(engine, reached)
    needles = traces.needles(engine)
    meter.purged()
    own = store_files(engine)
    files = (*own, *files_beside(engine, own), *mirrored)
    scanner = Scanner.of(needles.all)
    scanned = (*scan(files, scanner, key=engine.key, read=meter.reading(files)), *_scanned_tables(engine, scanner))
    found = sum(each.found for each in scanned)
    rewritten = False
    if found and not pending:
        # Something lies in a page that is still in use, or in a file that no longer serves: write the files anew.
        pending = _write_anew(engine) or _purge(engine, reached)
        rewritten = not pending
        scanned = (*scan(files, scanner, key=engine.key), *_scanned_tables(engine, scanner))
        found = sum(each.found for each in scanned)
    foreign = sealed_elsewhere(scanned)
    pending = "; ".join(filter(None, (pending or _unread(engine, files) or _remains(scanned), *foreign)))
    receipt = EraseReceipt(
        state="purged" if not pending and not found else "deleted",
        ids=(),
        sequence=0,
        needles=len(needles.all),
        shared=needles.shared,
        scanned=tuple(each.told for each in scanned),
        found=found,
        rewritten=rewritten,
        pending=pending,
        untouchable=foreign,
    )
    return receipt, needles, scanned


def _scanned_tables(engine: Engine, scanner: "Scanner") -> "tuple[Scanned, ...]":
    """The same of what no file of this machine holds."""
    from memoranda.service.proof import scan_parts

    with engine.ledger.database.contents() as tables:
        return tuple(scan_parts(name, parts, scanner) for name, parts in tables)


def sealed_elsewhere(scanned: "Sequence[Scanned]") -> tuple[str, ...]:
    """Files that a key is needed for that nobody gave: nothing is proven of these."""
    return tuple(
        f"{each.path} is encrypted with a key that is not known here; remove it" for each in scanned if each.unread
    )


def store_files(engine: Engine) -> tuple[str, ...]:
    """Every file of the store itself that exists now."""
    return (*engine.ledger.files(), *(name for corpus in engine.corpora() for name in corpus.home.files()))


def _write_anew(engine: Engine) -> str:
    """The last resort; why it could not be done, if so."""
    try:
        engine.ledger.database.vacuum()
        for corpus in engine.corpora():
            corpus.home.tidy_if_idle()
            corpus.index().rewrite()
    except LedgerError as error:
        return f"deleted, but remains were found and the files could not be written anew: {error}"
    return ""


def _unread(engine: Engine, files: Sequence[str]) -> str:
    """Logs of encrypted files that have something in them: nothing can be proven of these."""
    from memoranda.ledger.sealing import is_opaque
    from memoranda.service.proof import shown_name

    names = ", ".join(shown_name(name) for name in files if is_opaque(name, key=engine.key))
    return f"{names} is not empty and cannot be read; run `memoranda maintain` when nobody reads the store" * bool(
        names
    )


def _remains(scanned: "Sequence[Scanned]") -> str:
    names = ", ".join(each.file for each in scanned if each.found)
    return f"remains were found in {names}; remove what is not the store's own and look again" if names else ""


def _purge(engine: Engine, reached: Sequence[tuple[Corpus, int]]) -> str:
    """Take it out of the indexes, each up to its sequence, and empty the write-ahead logs; else why not."""
    try:
        for corpus, sequence in reached:
            corpus.release_retired()
            corpus.catch_up(seconds=0)
            if corpus.index().sequence < sequence:
                return "the index is held by another process; run `memoranda maintain` when it has ended"
        return scrubbed(engine)
    except LedgerLocked:
        return "another process holds the store; run `memoranda maintain` when it has ended"
    except LedgerError as error:
        return f"deleted, but the bytes are not gone yet: {error}"


def scrubbed(engine: Engine) -> str:
    """Make the bytes of what was removed leave all files of the store; else why some are there still."""
    database = engine.ledger.database
    if held := database.await_views():
        return held
    try:
        indexes = [corpus.index().scrub() for corpus in engine.corpora()]
        held = database.scrub()
    except LedgerLocked:
        return "another process holds the store; run `memoranda maintain` when it has ended"
    except LedgerError as error:
        return f"deleted, but the bytes are not gone yet: {error}"
    used = "an index is used, or large; run `memoranda maintain` when nobody reads it, or `memoranda optimize`"
    return held or ("" if all(indexes) else used)


class _Meter:
    """How far an erasure is, in parts of a thousand: each step has its share, whatever it counts."""

    _GATHERED, _DELETED, _PURGED, _READ, _WHOLE = 100, 300, 600, 700, 1_000

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._tell(0)

    def gathered(self) -> None:
        self._tell(self._GATHERED)

    def deleted(self) -> None:
        self._tell(self._DELETED)

    def purged(self) -> None:
        self._tell(self._PURGED)

    def reading(self, files: Sequence[str]) -> Callable[[int], None]:
        """To be told of the bytes of these files as they are read."""
        total = sum(os.path.getsize(name) for name in files if os.path.exists(name)) or 1
        done = 0

        def read(more: int) -> None:
            nonlocal done
            done += more
            self._tell(self._PURGED + min(done, total) * (self._READ - self._PURGED) // total)

        return read

    def cleaned(self, done: int, total: int) -> None:
        """So many backups."""
        self._tell(self._READ + done * (self._WHOLE - 1 - self._READ) // total)

    def done(self) -> None:
        self._tell(self._WHOLE)

    def _tell(self, reached: int) -> None:
        if self._progress is not None:
            self._progress(reached, self._WHOLE)
