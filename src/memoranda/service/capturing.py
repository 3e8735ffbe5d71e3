"""Capturing: brings the pure room together with the ledger, the index and the embedder, for one scope."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from memoranda.capture import cursor
from memoranda.capture.pipeline import Decided, Decision, Plan, Words, decided, judged, own_words
from memoranda.capture.routing import routed
from memoranda.capture.stripping import is_conversation
from memoranda.domain.candidate import CAPTURE_MODES, Candidate, CaptureMode
from memoranda.domain.clock import DAY_MS
from memoranda.domain.draft import Draft
from memoranda.domain.errors import Conflict, Refused
from memoranda.domain.fact import holds_many
from memoranda.domain.memory import Memory, checked_choice, spoken
from memoranda.domain.message import Message, messages_from
from memoranda.domain.ports import IndexQuery
from memoranda.domain.receipt import CaptureReceipt
from memoranda.domain.results import Captured, Remembered
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.keeping import SAID_AT, Keep, Slot, refusal_of
from memoranda.ledger.ledger import Filter
from memoranda.ledger.turns import Moved, Turn
from memoranda.service.engine import Engine
from memoranda.service.screening import refuse_secret, refuse_secret_name, with_its_end

# Each that fails is one that somebody else won: not many can come before one turn.
_TRIES = 50
_ALIKE = 12
_LATELY = 4
# How many of the last messages are read to find the new ones: more when these do not tell, but not without end.
_WINDOWS = (16, 128, 640)
_SHORT = 512
_LATELY_MS = 31 * DAY_MS
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_UNDATED = frozenset({"preference", "entity"})


class _Turn(NamedTuple):
    """The messages of one call, and which of them are new."""

    messages: tuple[Message, ...]
    own: int
    """How many are of those whose words count."""
    unread: int
    """How many of these are too long ago to be looked at at all."""
    new: Sequence[Words]
    conversation: str
    before: bytes
    after: bytes


class Capturer:
    """Capture in one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def capture(
        self,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        conversation: str,
        speaker: str,
        mode: CaptureMode | None,
        kind: str,
    ) -> Captured:
        """Keep what a turn shows should be kept."""
        who = _short(speaker, "speaker")
        handed = tuple(
            each._replace(speaker=who) if each.role == "user" and not each.speaker else each
            for each in messages_from(messages)
        )
        talk, kind = _short(conversation, "conversation"), _short(kind, "kind")
        if self._engine.settings.secrets == "refuse":
            refuse_secret_name(talk, "conversation")
            for who_said in {each.speaker for each in handed}:
                refuse_secret(who_said, "speaker")
        plan = self._plan(mode)
        if talk and self._engine.transcripts.is_private(self._engine.ledger.name_digest(talk), scope=self._scope):
            # Nothing of it is kept anywhere, not even how far it was looked at.
            turn = _Turn(handed, 0, 0, (), talk, b"", b"")
            return _captured(self._scope.path, turn, plan, Decided((), 0, 0, 0, {"private": len(handed)}), [], [])
        for _ in range(_TRIES - 1):
            try:
                return self._attempt(handed, talk, kind, plan)
            except Moved:
                continue  # another process took a turn of this conversation: see what is new after that
        return self._attempt(handed, talk, kind, plan)

    def _plan(self, mode: CaptureMode | None) -> Plan:
        settings = self._engine.settings
        chosen: Any = settings.capture_mode if mode is None else mode
        injection: Any = settings.injection
        return Plan(
            scope=self._scope.path,
            mode=checked_choice(chosen, CAPTURE_MODES, name="mode"),
            roles=("user", "assistant") if settings.capture_roles == "user assistant" else ("user",),
            most=settings.capture_most,
            shortest=settings.capture_shortest,
            longest=settings.capture_longest,
            custom=settings.custom_triggers,
            injection=injection,
            keep_secrets=settings.secrets == "allow",
            known=self._known(),
        )

    def _known(self) -> Callable[[str], str]:
        """Finds the one thing that a sentence names by a name that people gave it. Names are read once, if at all."""
        aliases = cache(lambda: self._engine.ledger.aliases(scope=self._scope))

        def known(sentence: str) -> str:
            if not aliases():
                return ""
            from memoranda.recall.subjects import named_subjects

            named = named_subjects(sentence, aliases()) & {subject for subject, _ in aliases()}
            return next(iter(named)) if len(named) == 1 else ""

        return known

    # -- one turn --

    def _attempt(self, messages: tuple[Message, ...], talk: str, kind: str, plan: Plan) -> Captured:
        turn = self._turn(messages, talk, plan)
        notes: list[str] = []
        if plan.mode == "off" or not is_conversation(kind, talk):
            refused: dict[str, int] = {} if plan.mode == "off" else {"not a conversation": len(turn.new)}
            return self._keep(turn, Decided((), 0, 0, 0, refused), plan, notes)
        outcome = decided(turn.new, plan, self._similar(notes))
        return self._with_model(self._keep(turn, outcome, plan, notes), turn, plan)

    def _with_model(self, captured: Captured, turn: _Turn, plan: Plan) -> Captured:
        """What a model adds, after what was plain has been kept. Nothing is lost when it fails."""
        if self._engine.settings.extractor in ("", "none") or not turn.new:
            return captured
        from memoranda.service.extracting import extracted

        found = extracted(self._engine, turn.new, plan)
        if found is None:
            return captured
        notes: list[str] = [found.note] if found.note else []
        decisions = judged(found.candidates, plan, self._similar(notes), found.refused)
        outcome = Decided(tuple(decisions), len(found.candidates), 0, 0, dict(found.refused))
        # The cursor stays where it is: these messages have been looked at.
        done = turn._replace(before=turn.after, own=0, unread=0, new=())
        more = self._keep(done, outcome, plan, notes)
        return _together(captured, more, found.model)

    def _turn(self, messages: tuple[Message, ...], talk: str, plan: Plan) -> _Turn:
        """What is new. Of a long history no more is read than it takes to find the place where the last one ended."""
        ledger = self._engine.ledger
        key = ledger.key_for("capture")
        before = ledger.cursor(talk, scope=self._scope)
        own = [(place, message) for place, message in enumerate(messages) if message.role in plan.roles]
        words: list[Words] = []
        digests: list[bytes] = []
        for most in _WINDOWS:
            window = own[max(0, len(own) - most) : len(own) - len(words)]
            read = own_words(window)
            words = read + words
            # By its own words, if it has any: a host may put a pack before a message now and leave it away later.
            digests = [
                cursor.digest(each.message._replace(text=each.own.text or each.message.text), key=key) for each in read
            ] + digests
            if len(words) == len(own) or cursor.is_found(before, digests):
                break
        places = cursor.unseen(before, digests)
        after = cursor.moved(before, [digests[place] for place in places])
        unread = 0 if before else len(own) - len(words)
        return _Turn(messages, len(own), unread, [words[place] for place in places], talk, before, after)

    def _keep(self, turn: _Turn, outcome: Decided, plan: Plan, notes: Sequence[str]) -> Captured:
        engine = self._engine
        keeps = [self._as_kept(decision, turn) for decision in outcome.decisions]
        counts = Counter({"messages": len(turn.new) + turn.unread, "not looked at": turn.unread})
        counts.update(outcome.refused)
        step = Turn(engine.ledger.name_digest(turn.conversation), turn.before, turn.after, counts)
        outcomes = engine.ledger.capture(keeps, turn=step, scope=self._scope, actor=engine.actor)
        if outcomes:
            engine.nudge()
        return _captured(self._scope.path, turn, plan, outcome, outcomes, notes)

    def _as_kept(self, decision: Decision, turn: _Turn) -> Keep:
        candidate = routed(decision.candidate, decision.speaker)
        now = self._engine.clock.now()
        message = turn.messages[candidate.message]
        metadata: dict[str, Any] = {"capture": candidate.rule}
        if message.id:
            metadata["message"] = message.id  # erasing one reaches the other
        if message.at is not None:
            metadata[SAID_AT] = message.at
        if decision.waits:
            metadata["review"] = {"why": decision.waits, "supersedes": decision.supersedes or ""}
        draft = Draft(
            candidate.text,
            kind=candidate.kind,
            about=candidate.about,
            attribute=candidate.attribute,
            value=candidate.value,
            importance=candidate.importance,
            confidence=candidate.confidence,
            source=candidate.source,
            basis=candidate.basis,
            speaker=decision.speaker,
            conversation=turn.conversation,
            lang=candidate.lang,
            metadata=metadata,
            occurred_at=self._happened(candidate, message.at, now),
        )
        memory = draft.checked(self._scope, now=now, max_text=self._engine.settings.max_text)
        return Keep(
            with_its_end(memory._replace(trust=decision.trust), self._engine.settings),
            kind_given=True,
            supersedes=None if decision.waits else decision.supersedes,
            slot="" if decision.waits else _slot(candidate),  # what waits replaces nothing yet
            unless_forgotten=not candidate.explicit,
            reinforces=decision.reinforces,
            said_at=message.at,
        )

    def _happened(self, candidate: Candidate, said_at: int | None, now: int) -> int | None:
        """The day that a sentence names, where the people are; or when it was said, if that was not today."""
        told = now if said_at is None else said_at
        if candidate.kind in _UNDATED:
            return None
        from memoranda.domain.clock import zone_offset
        from memoranda.recall.times import when

        shift = zone_offset(self._engine.settings.time_zone, told)
        named = when(candidate.text, now=told + shift)
        if named is not None and len(named.spans) == 1 and named.spans[0].until - named.spans[0].start == DAY_MS:
            day = max(0, named.spans[0].start - shift)
            # A question about 20 December means the last one; who tells of it may well mean the next.
            if told - day <= _LATELY_MS or _YEAR.search(candidate.text):
                return day
        return told if now - told >= DAY_MS else None

    # -- what is kept already --

    def _similar(self, notes: list[str]) -> Callable[[Candidate, str], list[tuple[Memory, float | None]]]:
        engine = self._engine
        caught_up = cache(
            lambda: engine.memories.catch_up(seconds=0)
        )  # nothing of this turn is kept before all is compared

        def similar(candidate: Candidate, speaker: str) -> list[tuple[Memory, float | None]]:
            standing = caught_up()
            vector, _, trouble = engine.memories.embed_one(spoken(speaker, candidate.text), "document")
            notes.extend(note for note in (*standing.degraded, trouble) if note and note not in notes)
            answer = engine.memories.search(
                IndexQuery(
                    scopes=self._scope.chain(),
                    text=candidate.text,
                    vector=vector,
                    now=engine.clock.now(),
                    pool=_ALIKE,
                    tail=standing.tail,
                    hidden=standing.hidden,
                )
            )
            found = engine.ledger.load([each.number for each in answer.candidates], scope=self._scope)
            alike = {
                found[each.number].id: (found[each.number], each.cosine)
                for each in answer.candidates
                if each.number in found and found[each.number].state == "live"
            }
            # A correction need not share a word with what it corrects, but that was said not long ago.
            wanted = Filter(kinds=(candidate.kind,), states=("live",), speaker=speaker, here=True)
            lately = _ALIKE if candidate.corrects else _LATELY
            for memory in engine.ledger.browse(wanted, scope=self._scope, limit=lately, offset=0):
                if memory.speaker == speaker:
                    alike.setdefault(memory.id, (memory, None))
            return list(alike.values())

        return similar


def _captured(
    scope: str,
    turn: _Turn,
    plan: Plan,
    outcome: Decided,
    outcomes: Sequence[Remembered | Refused | Conflict],
    notes: Sequence[str],
) -> Captured:
    refused = Counter(outcome.refused)
    if turn.own:
        refused["not looked at"] += turn.unread
        refused["already seen"] += turn.own - turn.unread - len(turn.new)
        refused["not the user's words"] += len(turn.messages) - turn.own
    remembered = tuple(each for each in outcomes if isinstance(each, Remembered))
    refused.update(refusal_of(each) for each in outcomes if not isinstance(each, Remembered))
    new = [each for each in remembered if each.receipt.outcome == "created"]
    receipt = CaptureReceipt(
        scope=scope,
        mode=plan.mode,
        messages=len(turn.messages),
        new=len(turn.new),
        scanned={"messages": outcome.messages, "characters": outcome.characters},
        candidates=outcome.candidates,
        kept=tuple(each.id for each in new if each.memory.trust != "quarantined"),
        reinforced=tuple(each.id for each in remembered if each.receipt.outcome == "reinforced"),
        superseded=tuple(each.receipt.superseded for each in remembered if each.receipt.superseded),
        waiting=tuple(each.id for each in new if each.memory.trust == "quarantined"),
        refused={name: number for name, number in sorted(refused.items()) if number},
        degraded=tuple(notes),
    )
    return Captured(remembered, receipt)


def _together(captured: Captured, more: Captured, model: str) -> Captured:
    """One result of what was plain and of what a model added."""
    one, other = captured.receipt, more.receipt
    receipt = one._replace(
        candidates=one.candidates + other.candidates,
        kept=one.kept + other.kept,
        reinforced=one.reinforced + other.reinforced,
        superseded=one.superseded + other.superseded,
        waiting=one.waiting + other.waiting,
        refused=dict(sorted((Counter(one.refused) + Counter(other.refused)).items())),
        model=model,
        degraded=(*one.degraded, *(note for note in other.degraded if note not in one.degraded)),
    )
    return Captured(captured.remembered + more.remembered, receipt)


def _slot(candidate: Candidate) -> Slot:
    if not candidate.attribute:
        return ""
    return "many" if holds_many(candidate.attribute) else "one"


def _short(text: str, name: str) -> str:
    return checked_text(text, name=name, limit=_SHORT, empty_ok=True).strip()
