"""`LongTermMemory`: the facade. Every front end speaks to it and to nothing below it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from memoranda.domain.clock import Moment, end_of, to_ms
from memoranda.domain.draft import AfterErase, Draft, Reference, id_of
from memoranda.domain.errors import Conflict, InvalidInput, MemorandaError, NotFound, Refused
from memoranda.domain.fact import refuse_reserved
from memoranda.domain.looking import checked_whole
from memoranda.domain.memory import KINDS, SOURCES, Basis, Kind, Memory, Source, State, Trust, checked_choice
from memoranda.domain.pack import Pack, PackFormat
from memoranda.domain.receipt import RecallReceipt
from memoranda.domain.request import LANES, Lane, Mode, Policy, Request, checked_states
from memoranda.domain.results import (
    Captured,
    Changed,
    Erasure,
    Recall,
    Remembered,
    Replay,
    Revision,
    Stats,
    WhyNot,
)
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Keep
from memoranda.service.engine import Engine
from memoranda.service.governing import Governing
from memoranda.service.letting_go import LettingGo
from memoranda.service.looking import Looking, as_kept
from memoranda.service.moving import Moving
from memoranda.service.screening import screened, with_its_end
from memoranda.service.travelling import Travelling, moment_named

if TYPE_CHECKING:
    from memoranda.domain.candidate import CaptureMode
    from memoranda.domain.message import Message
    from memoranda.domain.mirror import Mirrored, MirrorMode
    from memoranda.domain.ports import Progress

_MOST_FALLBACKS = 6
_MOST_STANDING = 50
_NOTHING_HERE = ("nothing to search", "nothing cleared the bar", "nothing happened then")
_MAY_NOT_SPEAK = ("nothing may speak unasked",)


@fences(but=("within", "close"))
class LongTermMemory(Looking, LettingGo, Travelling, Governing, Moving):
    """The memory of one scope: what is kept there, and what is seen of the scopes above."""

    def __init__(self, engine: Engine, scope: Scope, *, owner: bool) -> None:
        super().__init__(engine, scope)
        self._owner = owner

    @property
    def scope(self) -> str:
        """Where this memory reads and writes."""
        return self._scope.path

    @property
    def path(self) -> Path:
        """The ledger file."""
        return self._engine.ledger.path

    @property
    def now(self) -> int:
        """The moment by the store's clock, in milliseconds."""
        return self._engine.clock.now()

    def within(self, scope: str) -> "LongTermMemory":
        """The same store seen from a scope below this one. Costs nothing; closing it does nothing."""
        narrower = Scope(scope)
        if not self._scope.contains(narrower.path):
            raise Refused(
                f"{narrower} is not inside {self._scope}",
                hint=f"Give the whole path, beginning with {self._scope}/, or open the store with another scope.",
            )
        narrower = Scope(narrower.path, top=self._scope.top)
        return LongTermMemory(self._engine, narrower, owner=False)

    # -- keeping --

    def remember(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        about: str = "",
        attribute: str = "",
        value: Any = None,
        context: str = "",
        importance: float | None = None,
        confidence: float = 1.0,
        source: Source = "user",
        source_ref: str = "",
        basis: Basis = "stated",
        speaker: str = "",
        conversation: str = "",
        tags: Sequence[str] = (),
        lang: str = "",
        metadata: Mapping[str, Any] | None = None,
        occurred_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        supersedes: Reference | None = None,
        derived_from: Sequence[Reference] = (),
        after_erase: AfterErase = "refuse",
    ) -> Remembered:
        """Keep one thing. Durable when this returns, and found by the next recall.

        The same text of the same speaker on the same subject is not kept twice: the old memory is reinforced. What
        was made of other memories (`derived_from`) is trusted no more than the least trusted of them.
        """
        draft = Draft(
            text=text,
            kind=kind,
            about=about,
            attribute=attribute,
            value=value,
            context=context,
            importance=importance,
            confidence=confidence,
            source=source,
            source_ref=source_ref,
            basis=basis,
            speaker=speaker,
            conversation=conversation,
            tags=tags,
            lang=lang,
            metadata=metadata,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_until=valid_until,
            supersedes=supersedes,
            derived_from=derived_from,
            after_erase=after_erase,
        )
        return self.remember_many([draft])[0]

    def remember_many(self, drafts: Iterable[Draft | str]) -> tuple[Remembered, ...]:
        """Keep all of these or, when one of them is refused, none. One commit for all."""
        if isinstance(drafts, str) or not isinstance(drafts, Iterable):
            raise InvalidInput("a list of drafts is expected", hint="Pass several, or call remember for one.")
        now = self._engine.clock.now()
        keeps = []
        for given in drafts:
            draft = Draft(given) if isinstance(given, str) else given
            if not isinstance(draft, Draft):
                raise InvalidInput(f"a draft is expected, not {type(given).__name__}", hint="Pass a text or a Draft.")
            refuse_reserved(draft.attribute)
            memory = screened(
                draft.checked(self._scope, now=now, max_text=self._engine.settings.max_text), self._engine.settings
            )
            if draft.metadata or draft.derived_from:
                memory = self._with_origin(memory, draft)
            keeps.append(
                Keep(
                    with_its_end(memory, self._engine.settings),
                    kind_given=draft.kind is not None,
                    supersedes=None if draft.supersedes is None else id_of(draft.supersedes),
                    even_if_erased=draft.after_erase == "allow",
                )
            )
        kept = self._engine.ledger.remember(keeps, scope=self._scope, actor=self._engine.actor)
        self._engine.nudge()
        return tuple(kept)

    def _with_origin(self, memory: Memory, draft: Draft) -> Memory:
        """Where it comes from is set by code: no caller writes the store's own names, and taint is inherited."""
        from memoranda.governance.trust import derived, refuse_reserved_metadata

        refuse_reserved_metadata(draft.metadata)
        if isinstance(draft.derived_from, str) or not isinstance(draft.derived_from, Sequence):
            raise InvalidInput("derived_from is a list of ids", hint="Pass derived_from=[one, another].")
        return derived(memory, [self.get(each) for each in draft.derived_from]) if draft.derived_from else memory

    def capture(
        self,
        messages: "Sequence[Message | Mapping[str, Any]]",
        *,
        conversation: str = "",
        speaker: str = "",
        mode: "CaptureMode | None" = None,
        kind: str = "",
    ) -> Captured:
        """Keep what a turn shows should be kept: what was asked for, preferences, decisions; more or less by `mode`.

        Pass the whole history every time: what was handed over before is not looked at again, for each
        `conversation`. `speaker` says who the user is; `kind` what sort of session it is, such as `cron`, of which
        nothing is kept. The assistant's words, injected blocks, tool output and secrets are never kept.
        """
        return self._capturer.capture(messages, conversation=conversation, speaker=speaker, mode=mode, kind=kind)

    # -- asking --

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        policy: Policy = "balanced",
        mode: Mode = "asked",
        speaker: str = "",
        kind: Kind | Sequence[Kind] = (),
        about: str = "",
        tags: Sequence[str] = (),
        source: Source | Sequence[Source] = (),
        time_after: Moment | None = None,
        time_before: Moment | None = None,
        importance_min: float | None = None,
        states: Sequence[State] = ("live",),
        trust: Trust | Sequence[Trust] = (),
        as_of: Moment | None = None,
        prefer_speaker: str = "",
        conversation: str = "",
        fallback: Sequence[str] = (),
        lanes: Sequence[Lane] = LANES,
    ) -> Recall:
        """What bears on the query, best first; nothing when nothing does. The receipt says why.

        `policy` says how sure it must be. `mode="automatic"` is for what nobody asked for: trusted memories only, a
        mix of grades, and not again what was just shown in `conversation`. The filters narrow what is looked at;
        `trust` names exactly what may come back, also what is quarantined. With `as_of`, what was believed at that
        moment, or at `tag:NAME`. `prefer_speaker` puts one speaker's memories first among equals. `fallback` names
        scopes below this one that are asked in turn when nothing is found here.
        """
        request = Request.of(
            {
                "query": query,
                "limit": limit,
                "policy": policy,
                "mode": mode,
                "lanes": lanes,
                "kinds": kind,
                "sources": source,
                "states": checked_states(states),
                "trust": trust,
                "about": about,
                "speaker": speaker,
                "tags": tags,
                "time_after": time_after,
                "time_before": time_before,
                "importance_min": importance_min,
                "as_of": moment_named(self._engine, self._scope, as_of),
                "prefer_speaker": prefer_speaker,
                "now": self._engine.clock.now(),
            }
        )
        talk = checked_text(conversation, name="conversation", limit=512, empty_ok=True).strip()
        below = self._fallbacks(fallback)
        remind = mode == "automatic" and bool(talk)
        if remind:
            request = request._replace(repeated=self._engine.shown.lately(self._scope, talk))
        found = self._recaller.recall(request)
        for scope in below if found.receipt.abstained in _NOTHING_HERE else ():
            wider = scope._recaller.recall(request)
            if wider:
                found = wider
                break
        if remind:
            self._engine.shown.note(self._scope, talk, [hit.id for hit in found])
        found = self._beside_documents(found, request)
        if not found and not found.documents:
            self._engine.misses.note(self._scope, found.receipt)
        return found

    def _beside_documents(self, found: Recall, request: Request) -> Recall:
        """With passages of documents, when memories are few and nothing else narrows what is asked for."""
        plain = not request.narrowed and request.states == ("live",)
        asked = bool(found) or found.receipt.abstained in (*_NOTHING_HERE, *_MAY_NOT_SPEAK)
        if not plain or not asked or not self._engine.sources.seen_from(self._scope):
            return found
        try:
            beside = self.documents.cold(request.query, len(found), automatic=request.mode == "automatic")
        except (MemorandaError, OSError) as error:
            told = (*found.receipt.degraded, f"documents were not looked at: {error}")
            return Recall(tuple(found), found.receipt._replace(degraded=told))
        return found.beside(beside)

    def _fallbacks(self, scopes: Sequence[str]) -> "list[LongTermMemory]":
        if isinstance(scopes, str) or not isinstance(scopes, Sequence) or len(scopes) > _MOST_FALLBACKS:
            raise InvalidInput(
                f"fallback is a list of at most {_MOST_FALLBACKS} scopes", hint="Pass fallback=['home/anna/archive']."
            )
        return [self.within(scope) for scope in scopes]

    def pack(
        self,
        query: str | Recall,
        *,
        budget: int = 800,
        format: PackFormat = "xml",  # noqa: A002 the word users know
        limit: int = 5,
        policy: Policy = "balanced",
        mode: Mode = "automatic",
        prefer_speaker: str = "",
        conversation: str = "",
        profile: bool = True,
        standing: int = 0,
    ) -> Pack:
        """A bounded block for a model, before it answers: the profile, and what bears on the query; or nothing.

        The text is untrusted reference data and says so; no memory can close or imitate the block. `budget` counts
        model tokens. Give what `recall` returned to pack exactly that. `profile=False` is for a host that shows the
        profile elsewhere: it is left out, and what it tells is not repeated. With `standing` the newest so many of
        the trusted memories that must be remembered are in it, whatever is asked: for the beginning of a conversation.
        """
        found = query
        if not isinstance(found, Recall):
            found = self.recall(
                found,
                limit=limit,
                policy=policy,
                mode=mode,
                prefer_speaker=prefer_speaker,
                conversation=conversation,
            )
        if standing:
            most = checked_whole(standing, name="standing", most=_MOST_STANDING)
            found = found.with_standing(self.list(trust="trusted", grade="must_remember", limit=most))
        told = self.profile.lines(speaker=prefer_speaker)
        return self._recaller.pack(found, budget=budget, format=format, profile=told if profile else (), told=told)

    def why_not(self, query: str | Recall, reference: Reference) -> WhyNot:
        """At which step, and why, a memory was not returned for a query, or in a recall that was made."""
        if isinstance(query, Recall):
            there = self._where_made(query.receipt.scopes)
            return there._recaller.why_not(Request.from_json(query.receipt.request), reference)
        request = Request(query, now=self._engine.clock.now()).checked()
        return self._recaller.why_not(request, reference)

    def replay(self, receipt: RecallReceipt | Mapping[str, Any]) -> Replay:
        """A recall again from its receipt. At the same sequence it gives the same result."""
        scopes = receipt.get("scopes", ()) if isinstance(receipt, Mapping) else getattr(receipt, "scopes", ())
        return self._where_made(scopes)._recaller.replay(receipt)

    def _where_made(self, scopes: Any) -> "LongTermMemory":
        """Where a recall was done: here, or in a scope below that was asked because nothing was found here."""
        home = scopes[0] if isinstance(scopes, Sequence) and scopes else ""
        below = isinstance(home, str) and home.startswith(f"{self._scope.path}/")
        return self.within(home) if below else self

    def get(self, reference: Reference, *, as_of: Moment | None = None) -> Memory:
        """One memory by its id, or by the beginning of it; with `as_of`, as it was then, or at `tag:NAME`."""
        named = moment_named(self._engine, self._scope, as_of)
        moment = None if named is None else end_of(named, name="as_of")
        memory = self._engine.ledger.get(id_of(reference), scope=self._scope, as_of=moment)
        if memory is None:
            raise NotFound(f"{id_of(reference)} did not exist at that moment", hint="Ask for a later moment.")
        return memory

    def history(self, reference: Reference) -> tuple[Revision, ...]:
        """Everything that happened to one memory, oldest first."""
        return self._engine.ledger.history(id_of(reference), scope=self._scope)

    def stats(self) -> Stats:
        """Counts of what this scope can see."""
        return self._engine.ledger.stats(scope=self._scope)

    # -- letting go --

    def restore(self, reference: Reference) -> Changed:
        """Bring back what was forgotten or archived."""
        memory = self.get(reference)
        if memory.state == "forgotten":
            over = memory.updated_at + self._engine.settings.grace_ms
            if self._engine.clock.now() >= over:
                raise Conflict(
                    f"the grace period of {memory.id} is over", hint="Remember it anew; the old one will be erased."
                )
        return self._change(memory, "restored", "")

    def erase(
        self,
        reference: Reference | None = None,
        *,
        about: str = "",
        speaker: str = "",
        conversation: str = "",
        source: Source | Literal[""] = "",
        source_ref: str = "",
        kind: Kind | Literal[""] = "",
        time_after: Moment | None = None,
        time_before: Moment | None = None,
        below: bool = False,
        scope: str = "",
        query: str = "",
        mode: Literal["now", "preview"] = "now",
        confirm: str = "",
        proof: bool = False,
        name_subject: bool = False,
        progress: "Progress | None" = None,
    ) -> Erasure:
        """Destroy for good, and prove it: by id, a scope with all below it, by query, or by what it is like.

        What it is like (subject, speaker, conversation, source, kind, when it happened) is looked for in this very
        scope, with `below` also in those below it; several narrow one another. A conversation goes with its
        transcript; of a speaker and of a time, what was said in transcripts goes, too. By query, whatever its state, at
        most 50: the first call only shows what it would erase; calling again with `confirm` from that result erases
        exactly what was shown. `mode="preview"` shows it for the other ways. What transcripts say of it is blanked.
        `proof` puts a signed statement into the receipt, which names no subject unless `name_subject` says so. Nothing
        brings it back: no undo, no rollback.
        """
        from memoranda.domain.statement import Asked
        from memoranda.service.eraser import Eraser
        from memoranda.service.structured import checked_type

        checked_choice(mode, ("now", "preview"), name="mode")
        checked_type(below, bool, name="below", hint="Pass below=True to take the scopes below along.")
        asked = Asked(
            query=query,
            in_scope=self.within(scope).scope if scope else "",
            about=as_kept(about, "about"),
            speaker=as_kept(speaker, "speaker"),
            conversation=as_kept(conversation, "conversation"),
            source=checked_choice(source, ("", *SOURCES), name="source"),
            source_ref=as_kept(source_ref, "source_ref"),
            kind=checked_choice(kind, ("", *KINDS), name="kind"),
            time_after=None if time_after is None else to_ms(time_after, name="time_after"),
            time_before=None if time_before is None else to_ms(time_before, name="time_before"),
            below=below,
        )
        return Eraser(self._engine, self._scope, self._recaller).erase(
            reference,
            asked,
            preview=mode == "preview",
            confirm=confirm,
            proof=proof,
            name_subject=name_subject,
            progress=progress,
        )

    def mirror(
        self,
        path: str | Path,
        *,
        below: bool = False,
        mode: "MirrorMode" = "sync",
        confirm: bool = False,
        progress: "Progress | None" = None,
    ) -> "Mirrored":
        """Keep a folder of Markdown files that say what is kept here, and take back what was edited in them.

        A changed line supersedes, a removed one forgets, a new one is remembered. `below` takes the scopes below
        along; `mode="preview"` changes nothing, `"export"` takes no edits. Forgetting much at once needs `confirm`.
        """
        from memoranda.service.mirroring import mirror

        if mode != "preview":
            self._engine.refuse_read_only()
        return mirror(self._engine, self._scope, path, below=below, mode=mode, confirm=confirm, progress=progress)

    # -- lifetime --

    def close(self) -> None:
        """Close the store. May be called twice; does nothing on what `within` returned."""
        if self._owner:
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LongTermMemory {self.path.name} at {self.scope}>"
