"""Redacting: what is erased as a memory leaves the transcripts, too, and the summaries that were made of them."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memoranda.domain.conversation import KeptMessage
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.statement import Asked
from memoranda.domain.text import normal_form
from memoranda.ledger.erasing import Erasing
from memoranda.ledger.messages import Row
from memoranda.ledger.transcripts import ERASED
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.service.proof import Scanner

_PAGE = 2_000
# A shorter text stands in messages that have nothing to do with it: there it must be the whole message.
_SHORTEST_PART = 12
_FEW = 40
_NOTHING_ASKED = Asked()


class Redaction(NamedTuple):
    """What has to change in one conversation."""

    row: Row
    blanked: tuple[KeptMessage, ...]
    summaries: tuple[KeptMessage, ...]
    working: str | None = None
    """What the working memory becomes; None when it stays."""
    metadata: bool = False
    """Whether what is noted about the conversation, such as its title, goes."""


class Wording:
    """By what is told whether somebody says one of these texts, in whatever case and spacing."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = frozenset(map(normal_form, texts))
        self._parts = [text for text in self._whole if len(text) >= _SHORTEST_PART]
        self._scanner = _scanner_of(self._parts) if len(self._parts) > _FEW else None

    def is_said_in(self, text: str) -> bool:
        said = normal_form(text)
        if said in self._whole:
            return True
        if self._scanner is not None:
            return bool(self._scanner.found_in(said.encode("utf-8", "replace")))
        return any(part in said for part in self._parts)


def _scanner_of(parts: Iterable[str]) -> "Scanner":
    from memoranda.service.proof import Scanner

    return Scanner.of(part.encode("utf-8", "replace") for part in parts)


def redactions(
    engine: Engine,
    memories: Sequence[Memory],
    *,
    asked: Asked = _NOTHING_ASKED,
    home: str = "",
    without: Collection[int] = (),
    messages: Collection[str] = (),
) -> list[Redaction]:
    """Everything in transcripts that says what these memories say; and, when what was said is asked for itself, that
    in the scope `home`, or also below it; and messages with these ids.

    Looked for in the conversations of each memory's scope and of those below it, `without` those that go as a whole.
    """
    found: dict[int, Redaction] = {}
    by_scope = _by_scope(memories)
    if asked.of_messages:
        by_scope.setdefault(home, [])
    for scope in Erasing(engine.ledger.database).scopes_of(messages) if messages else ():
        by_scope.setdefault(scope, [])
    for scope, here in by_scope.items():
        doomed = _Doomed(here, asked, frozenset(messages))
        for row in engine.transcripts.below(Scope(scope)):
            if row.number in without:
                continue
            redaction = _in_conversation(engine, row, doomed.within(row, home))
            if redaction is not None:
                known = found.get(row.number)
                found[row.number] = redaction if known is None else _both(known, redaction)
    return list(found.values())


def redact(engine: Engine, redaction: Redaction) -> None:
    """Blank the messages, and make the summaries that stand for them anew from what is left."""
    actor = engine.actor
    blanks = {message.number: ERASED for message in redaction.blanked}
    engine.transcripts.redact(
        redaction.row, blanks, working=redaction.working, without_metadata=redaction.metadata, actor=actor
    )
    # The oldest first: a later one is made of what the earlier ones stand for.
    for summary in sorted(redaction.summaries, key=lambda each: each.number):
        anew = {summary.number: _made_anew(engine, summary)}
        engine.transcripts.redact(redaction.row, anew, working=None, actor=actor)


def _made_anew(engine: Engine, summary: KeptMessage) -> str:
    from memoranda.conversations.compaction import rendered
    from memoranda.conversations.extractive import ExtractiveSummarizer
    from memoranda.domain.conversation import Gist

    messages = stood_for(engine, summary)
    left = [each.message for each in messages if each.text != ERASED]
    gist = ExtractiveSummarizer().summarize(left, earlier=Gist(), most_tokens=summary.tokens, seconds=60.0).gist
    times = [each.at for each in messages] or [summary.at]
    return rendered(gist, start_at=min(times), end_at=max(times))


def stood_for(engine: Engine, summary: KeptMessage) -> list[KeptMessage]:
    """All messages that a summary stands for, also through those that were folded into it, in order."""
    messages: list[KeptMessage] = []
    left = [summary]
    while left:
        for each in engine.transcripts.stood_for(left.pop()):
            (left if each.kind == "summary" else messages).append(each)
    return sorted(messages, key=lambda each: (each.place, each.number))


def mentioned_above(engine: Engine, memories: Sequence[Memory], *, top: str = "") -> list[str]:
    """Names of conversations of wider scopes that say what these memories say: they cannot be changed from below.

    Nothing above `top` is looked at, nor named to whoever may not know of it.
    """
    found: list[str] = []
    for scope, here in _by_scope(memories).items():
        doomed = _Doomed(here)
        found += (
            f"{row.conversation.name} in {row.conversation.scope}"
            for row in engine.transcripts.of_scopes(Scope(scope, top=top).chain()[1:])
            if _in_conversation(engine, row, doomed.within(row)) is not None
        )
    return found


def _by_scope(memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for memory in memories:
        found.setdefault(memory.scope, []).append(memory)
    return found


class _Doomed:
    """What has to go from transcripts: what says one of these memories, or is asked for itself."""

    def __init__(
        self, memories: Sequence[Memory], asked: Asked = _NOTHING_ASKED, messages: Collection[str] = ()
    ) -> None:
        self._messages = messages
        self._wording = Wording(memory.text for memory in memories)
        self._asked = asked
        # What a host calls a message is its own business, and unique in one conversation only.
        self._ids: dict[str, set[str]] = {}
        for memory in memories:
            if memory.metadata.get("message"):
                self._ids.setdefault(memory.conversation, set()).add(str(memory.metadata["message"]))

    def within(self, row: Row, home: str = "") -> Callable[[KeptMessage | str], bool]:
        """The same for one conversation. `home` is the scope of which what was said may be asked for itself."""
        talk = row.conversation
        ids = self._ids.get(talk.name, set())
        asked = self._asked
        for_itself = (
            asked.of_messages and asked.reaches(home, talk.scope) and asked.conversation in ("", talk.name, talk.id)
        )

        def doomed(found: KeptMessage | str) -> bool:
            if isinstance(found, KeptMessage):
                if found.id in self._messages or found.id in ids or (found.host_id and found.host_id in ids):
                    return True
                if for_itself and _is_asked_for(found, asked):
                    return True
                calls = (f"{call.name} {_plain(call.arguments)}" for call in found.tool_calls)
                found = " ".join((found.text, *calls))
            return self._wording.is_said_in(found)

        return doomed


def _is_asked_for(message: KeptMessage, asked: Asked) -> bool:
    """Whether it was said by whom and when it was asked for. A summary was said by nobody."""
    return (
        message.kind == "message"
        and asked.speaker in ("", message.speaker)
        and (asked.time_after is None or message.at >= asked.time_after)
        and (asked.time_before is None or message.at < asked.time_before)
    )


def _plain(arguments: str) -> str:
    """Arguments without the escapes of JSON."""
    try:
        return f"{arguments} {json.dumps(json.loads(arguments), ensure_ascii=False)}".replace('\\"', '"')
    except (ValueError, RecursionError):
        return arguments


def _in_conversation(engine: Engine, row: Row, doomed: Callable[[KeptMessage | str], bool]) -> Redaction | None:
    blanked: list[KeptMessage] = []
    summaries: dict[str, KeptMessage] = {}
    said: set[str] = set()
    after = 0
    while page := engine.transcripts.page(row, after=after, limit=_PAGE):
        for message in page:
            if message.kind == "summary":
                summaries[message.id] = message
                if doomed(message):
                    said.add(message.id)
            elif not _is_blank(message) and doomed(message):
                blanked.append(message)
        after = page[-1].place
    touched = said | {message.stood_for_by for message in blanked if message.stood_for_by}
    # A summary that was folded into another one is told by it.
    for _ in summaries:
        more = {summaries[each].stood_for_by for each in touched if each in summaries} - touched - {""}
        if not more:
            break
        touched |= more
    working = engine.transcripts.working(row)
    blank_working = "" if working and doomed(working) else None
    told = json.dumps(dict(row.conversation.metadata), ensure_ascii=False)
    in_metadata = bool(row.conversation.metadata) and doomed(told)
    if not blanked and not touched and blank_working is None and not in_metadata:
        return None
    stood = tuple(summaries[each] for each in touched if each in summaries)
    return Redaction(row, tuple(blanked), stood, blank_working, in_metadata)


def _is_blank(message: KeptMessage) -> bool:
    """Whether it was blanked before: somebody may also have said just this."""
    return message.text == ERASED and not message.tool_calls and not message.speaker


def _both(one: Redaction, other: Redaction) -> Redaction:
    return Redaction(
        one.row,
        tuple({each.number: each for each in (*one.blanked, *other.blanked)}.values()),
        tuple({each.number: each for each in (*one.summaries, *other.summaries)}.values()),
        other.working if one.working is None else one.working,
        one.metadata or other.metadata,
    )
