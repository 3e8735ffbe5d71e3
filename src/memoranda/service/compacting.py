"""Compacting: older messages become a summary, in one commit, and nothing of them is lost.

Before that, what they show should be kept as memories is captured. A model may sum up, within its budget; when it
fails, the offline summarizer does it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.config import Settings
from memoranda.conversations.compaction import Choice, choose, due, parsed, rendered
from memoranda.conversations.extractive import ExtractiveSummarizer
from memoranda.conversations.particulars import borne_out
from memoranda.domain.conversation import SUMMARY_IS_DATA, Compacted, CompactReceipt, Gist, KeptMessage
from memoranda.domain.errors import MemorandaError, ProviderError
from memoranda.domain.memory import Memory
from memoranda.domain.message import Message
from memoranda.domain.ports import Summarized, Summarizer
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash, normal_form
from memoranda.domain.tokens import estimated_tokens, message_tokens
from memoranda.ledger.messages import Row
from memoranda.ledger.transcripts import NewSummary, Stale
from memoranda.models.registry import OFFLINE, SUMMARIZING, budget_of
from memoranda.service.engine import Engine
from memoranda.service.screening import without_secrets
from memoranda.service.spending import Spending

_MOST_ROUNDS = 200
_LOOKED_AT = 400
"""Messages that capture is handed at once: all of them are looked at."""
_FEW_MESSAGES, _FEW_SHARE = 6, 0.05
_BUSY = "others compact this conversation just now"
_SHARE = 10
"""A summary has a tenth of the tokens that it stands for."""
_SHORTEST, _LONGEST = 200, 0.12
_LEASE_MARGIN_MS = 5_000


class TooMuch(ProviderError):
    """More than the model takes at once, or than the day allows."""


class _Made(NamedTuple):
    """What a summary says, who made it, and what is to be noted about that."""

    gist: Gist
    summarizer: str
    unsupported: int = 0
    note: str = ""


class Compactor:
    """Compaction of conversations of one scope. What is captured before is compared with what that scope sees."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    @property
    def costs(self) -> bool:
        """Whether a model sums up, or looks at what is about to be: then nobody should have to wait for it."""
        return self.asks or self._engine.settings.extractor not in ("", "none")

    @property
    def asks(self) -> bool:
        """Whether a model sums up."""
        return self._engine.settings.summarizer not in ("", "none", OFFLINE)

    def trigger(self, active: Sequence[KeptMessage]) -> str:
        """Why a compaction is due; empty when it is not."""
        settings = self._engine.settings
        return due(
            active,
            budget=settings.conversation_budget,
            share=settings.compact_at or None,
            most=settings.compact_messages or None,
        )

    def compact(self, row: Row, *, asked: bool) -> Compacted:
        """Sum up what is due, or, when asked, whatever may be. Of two at once, one does it."""
        done = Compacted(None, CompactReceipt(row.conversation.name, "", note="nothing is due"))
        for _ in range(_MOST_ROUNDS):
            # The oldest first: of a very long conversation one round sees a part only, and goes on from there.
            active = self._engine.transcripts.oldest_active(row)
            trigger = "asked" if asked else self.trigger(active)
            if not trigger and done.summary is None:
                return done
            choice = self._choose(active, asked=asked) if trigger else Choice()
            if not asked and self._is_little(choice):
                choice = Choice(reason="there is too little to sum up; what stays takes the room")
            if not choice.fold:
                if done.summary is None:
                    done = Compacted(None, CompactReceipt(row.conversation.name, trigger, note=choice.reason))
                return done
            try:
                done = _after(done, self._fold(row, active, choice, trigger))
            except Stale:
                continue  # somebody else has just done it: see whether anything is left
            if not done.receipt.done or not self._engine.transcripts.has_more(active):
                return done
        return done if done.summary else done._replace(receipt=done.receipt._replace(note=_BUSY))

    def _is_little(self, choice: Choice) -> bool:
        """Where prompts take nearly all the room, something would be summed up at every turn, for nothing."""
        tokens = sum(each.tokens for each in choice.fold)
        return len(choice.fold) < _FEW_MESSAGES and tokens < _FEW_SHARE * self._engine.settings.conversation_budget

    def _choose(self, active: Sequence[KeptMessage], *, asked: bool) -> Choice:
        settings = self._engine.settings
        return choose(
            active,
            keep=settings.compact_keep,
            budget=settings.conversation_budget,
            share=settings.compact_at or None,
            most=settings.compact_messages or None,
            asked=asked,
        )

    def _fold(self, row: Row, active: Sequence[KeptMessage], choice: Choice, trigger: str) -> Compacted:
        engine = self._engine
        claim = engine.transcripts.claim(row, for_ms=self._lease_ms()) if self.asks else 0
        if self.asks and not claim:
            note = "another process is summing it up just now"
            return Compacted(None, CompactReceipt(row.conversation.name, trigger, note=note))
        before = engine.transcripts.find(row.conversation.id, scopes=(row.conversation.scope,)).conversation.tokens
        captured: tuple[Memory, ...] = ()
        try:
            captured = self._captured(row, active)
            earlier = Gist() if choice.earlier is None else parsed(choice.earlier.text)
            made = self._summed_up([each.message for each in choice.fold], earlier, self._room(choice))
            text = without_secrets(rendered(made.gist, start_at=choice.start_at, end_at=choice.end_at), engine.settings)
            folded = (*choice.fold, *(() if choice.earlier is None else (choice.earlier,)))
            new = NewSummary(
                text=text,
                tokens=message_tokens(Message("system", f"{SUMMARY_IS_DATA}\n{text}")),
                place=choice.place,
                at=choice.start_at,
                stands_for={each.number: content_hash(each.text) for each in folded},
                metadata={"until": choice.end_at, "summarizer": made.summarizer, "messages": len(choice.fold)},
            )
            summary = engine.transcripts.compact(row, new, actor=engine.actor)
        finally:
            if captured:
                self._take_back(row, active, captured)
            if claim:
                engine.transcripts.release(row, claim)
        return Compacted(
            summary,
            CompactReceipt(
                conversation=row.conversation.name,
                trigger=trigger,
                summary=summary.id,
                folded=len(choice.fold),
                earlier="" if choice.earlier is None else choice.earlier.id,
                tokens_before=before,
                tokens_after=before - sum(each.tokens for each in folded) + summary.tokens,
                summarizer=made.summarizer,
                captured=len(captured),
                unsupported=made.unsupported,
                note=made.note,
            ),
        )

    def _captured(self, row: Row, active: Sequence[KeptMessage]) -> tuple[Memory, ...]:
        """Keep what these show should be kept, before they are summed up; the memories that are new."""
        from memoranda.service.capturing import Capturer

        talk = row.conversation
        # As a host would hand it over, with its own ids: the cursor knows what was looked at before. What was imported
        # is nobody's word here.
        said = [
            each.message._replace(id=each.host_id)
            for each in active
            if each.kind == "message" and not each.metadata.get("imported")
        ]
        capturer = Capturer(self._engine, self._scope)
        found: list[Memory] = []
        for start in range(0, len(said), _LOOKED_AT):
            part = said[start : start + _LOOKED_AT]
            captured = capturer.capture(part, conversation=talk.name, speaker="", mode=None, kind="")
            new = {*captured.receipt.kept, *captured.receipt.waiting}
            found += (each.memory for each in captured.remembered if each.id in new)
        return tuple(found)

    def _take_back(self, row: Row, read: Sequence[KeptMessage], captured: Sequence[Memory]) -> None:
        """What was captured from words that were erased since they were read is erased, too."""
        from memoranda.service.erasure import Doomed, erase

        engine, scope = self._engine, self._scope
        now = engine.transcripts.load([each.number for each in read], scopes=(scope.path,))
        gone = [each for each in read if each.number not in now or now[each.number][1].text != each.text]
        said, named = [normal_form(each.text) for each in gone], {each.host_id for each in gone if each.host_id}
        ids = [
            memory.id
            for memory in captured
            if memory.metadata.get("message") in named or any(normal_form(memory.text) in each for each in said)
        ]
        if ids:
            erase(engine, Doomed(engine.ledger.choose(scope=scope, ids=ids)), actor=engine.actor)

    def _lease_ms(self) -> int:
        return int(2 * self._engine.settings.summarizer_timeout * 1_000) + _LEASE_MARGIN_MS  # it may be asked again

    def _room(self, choice: Choice) -> int:
        """A tenth of what it stands for and what the earlier one took, within a share of the budget."""
        taken = sum(each.tokens for each in choice.fold) // _SHARE
        earlier = 0 if choice.earlier is None else choice.earlier.tokens
        most = max(_SHORTEST, int(self._engine.settings.conversation_budget * _LONGEST))
        return min(max(_SHORTEST, taken + earlier), most)

    # -- who sums up --

    def _summed_up(self, messages: Sequence[Message], earlier: Gist, room: int) -> _Made:
        settings = self._engine.settings
        note = ""
        if self.asks:
            try:
                return self._by_model(messages, earlier, room)
            except (MemorandaError, OSError) as error:
                # Not the error's own words: a service may repeat what it was sent.
                note = f"{settings.summarizer} gave nothing ({type(error).__name__}); summed up offline"
        own = ExtractiveSummarizer()
        gist = own.summarize(messages, earlier=earlier, most_tokens=room, seconds=settings.summarizer_timeout).gist
        return _Made(gist, own.name, note=note)

    def _by_model(self, messages: Sequence[Message], earlier: Gist, room: int) -> _Made:
        engine = self._engine
        name = engine.settings.summarizer
        summarizer = engine.summarizer()
        if summarizer is None:
            raise ProviderError("there is no such summarizer, or its daily limit is 0")
        with engine.breaker.asking(name) as may_ask:
            if not may_ask:
                raise ProviderError("the summarizer failed a moment ago and is left alone")
            try:
                summarized = self._paid(summarizer, messages, earlier, room)
            except TooMuch:
                raise  # not the service's fault
            except ProviderError:
                engine.breaker.failed(name)
                raise
            engine.breaker.answered(name)
        gist, unsupported = borne_out(summarized.gist, messages, earlier)
        if not gist or estimated_tokens("\n".join((*gist.points, *gist.actions, *gist.open_items))) > 2 * room:
            raise ProviderError("the summarizer's answer is empty or far too long")
        return _Made(gist, summarizer.name, unsupported)

    def _paid(self, summarizer: Summarizer, messages: Sequence[Message], earlier: Gist, room: int) -> Summarized:
        """Asked within the day's budget. What leaves the machine has no secrets in it."""
        engine = self._engine
        settings = engine.settings
        sent = [_screened(each, settings) for each in messages]
        most = summarizer.cost(sent, earlier=earlier, most_tokens=room)
        if not most:
            raise TooMuch("this is too much for one request")
        budget = budget_of(SUMMARIZING, settings)
        spending = Spending(engine.ledger, called="summarizer", budget=budget, most=most)
        if not spending.pay():
            raise TooMuch("the summarizer's budget of today is used up")
        summarized = summarizer.summarize(
            sent, earlier=earlier, most_tokens=room, seconds=settings.summarizer_timeout, again=spending.pay
        )
        spending.settle(calls=summarized.calls, tokens=summarized.tokens)
        return summarized


def _after(before: Compacted, now: Compacted) -> Compacted:
    """Two rounds of one compaction, told as one."""
    if before.summary is None or now.summary is None:
        return now
    told = now.receipt._replace(
        folded=before.receipt.folded + now.receipt.folded,
        earlier=before.receipt.earlier,
        tokens_before=before.receipt.tokens_before,
        captured=before.receipt.captured + now.receipt.captured,
        unsupported=before.receipt.unsupported + now.receipt.unsupported,
    )
    return Compacted(now.summary, told)


def _screened(message: Message, settings: Settings) -> Message:
    calls = tuple(call._replace(arguments=without_secrets(call.arguments, settings)) for call in message.tool_calls)
    return message._replace(text=without_secrets(message.text, settings), tool_calls=calls, id="")
