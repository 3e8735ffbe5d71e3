"""`LongTermMemory`: the facade. Every front end speaks to it and to nothing below it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from memoranda.config import Settings, load
from memoranda.domain.clock import Clock, Moment, SystemClock, end_of
from memoranda.domain.draft import AfterErase, Draft, Reference, id_of
from memoranda.domain.errors import Conflict, InvalidInput, NotFound, Refused
from memoranda.domain.memory import KINDS, STATES, Basis, Kind, Memory, Source, State, checked_choice
from memoranda.domain.ports import IndexQuery
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.results import Changed, Erasure, Listing, Recall, Remembered, Revision, Stats
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.ledger import Filter, Keep
from memoranda.recall.pipeline import BAR, Plan, recall
from memoranda.service.admin import Admin
from memoranda.service.engine import Engine
from memoranda.service.erasure import Chosen, confirmation, erase

MAX_LIMIT = 1_000
MAX_QUERY = 4_000
_MAX_OFFSET = 1 << 62
_PREVIEWED = 200
_MOST_BY_QUERY = 50


def open(  # noqa: A001 memoranda.open() is how it reads
    path: str | Path | None = None,
    *,
    scope: str,
    embedder: str | None = None,
    actor: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
) -> "LongTermMemory":
    """Open a store, or make it. Touches its own files; the bundled embedder also keeps some in the cache folder.

    `path` is the ledger file; `scope` is where this memory reads and writes, and is always needed. `embedder` is
    `auto` (bundled, offline), `none` (words only) or `provider:model`.
    """
    bound = Scope(scope)
    if path is not None and (not isinstance(path, str | Path) or str(path) in ("", ".", ":memory:")):
        raise InvalidInput(f"{str(path)[:80]!r} is not the path of a store", hint="Give a file, such as home.db.")
    given = settings or load()
    changes = {"embedder": embedder, "actor": actor, "store": None if path is None else str(path)}
    chosen = given.changed(changes)
    checked_text(chosen.actor, name="actor", limit=512, empty_ok=True)
    engine = Engine(chosen.store_path(), chosen, clock or SystemClock())
    memory = LongTermMemory(engine, bound, owner=True)
    try:
        memory.admin.sweep_if_due()
    except BaseException:
        engine.close()
        raise
    return memory


class LongTermMemory:
    """The memory of one scope: what is kept there, and what is seen of the scopes above."""

    def __init__(self, engine: Engine, scope: Scope, *, owner: bool) -> None:
        self._engine = engine
        self._scope = scope
        self._owner = owner
        self.admin = Admin(engine, scope)

    @property
    def scope(self) -> str:
        """Where this memory reads and writes."""
        return self._scope.path

    @property
    def path(self) -> Path:
        """The ledger file."""
        return self._engine.ledger.path

    def within(self, scope: str) -> "LongTermMemory":
        """The same store seen from a scope below this one. Costs nothing; closing it does nothing."""
        narrower = Scope(scope)
        if not self._scope.contains(narrower.path):
            raise Refused(
                f"{narrower} is not inside {self._scope}",
                hint=f"Give the whole path, beginning with {self._scope}/, or open the store with another scope.",
            )
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
        after_erase: AfterErase = "refuse",
    ) -> Remembered:
        """Keep one thing. Durable when this returns, and found by the next recall.

        The same text of the same speaker on the same subject is not kept twice: the old memory is reinforced.
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
            memory = draft.checked(self._scope, now=now, max_text=self._engine.settings.max_text)
            keeps.append(
                Keep(
                    memory,
                    kind_given=draft.kind is not None,
                    supersedes=None if draft.supersedes is None else id_of(draft.supersedes),
                    even_if_erased=draft.after_erase == "allow",
                )
            )
        kept = self._engine.ledger.remember(keeps, scope=self._scope, actor=self._engine.settings.actor)
        self._engine.nudge()
        return tuple(kept)

    # -- asking --

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        as_of: Moment | None = None,
        states: Sequence[State] = ("live",),
    ) -> Recall:
        """What bears on the query, best first; nothing when nothing does. The receipt says why.

        With `as_of`, what was believed at that moment.
        """
        checked_limit(limit)
        wanted = frozenset(_checked_states(states) or STATES)
        text, notes = _cleaned(query)
        moment = None if as_of is None else end_of(as_of, name="as_of")
        standing = self._engine.catch_up()
        vector, embedder, trouble = self._engine.embed_query(text) if text else (None, "none", "")
        sequence = self._engine.ledger.sequence()
        now = self._engine.clock.now() if moment is None else moment
        allow = None
        if moment is not None:
            believed = Filter(states=tuple(wanted), as_of=moment, valid_at=moment)
            allow = self._engine.ledger.numbers_that_fit(believed, scope=self._scope)
        answer = self._engine.search(
            IndexQuery(
                scopes=self._scope.chain(),
                text=text,
                vector=vector,
                now=now if moment is None else None,
                # At another moment the ledger has already said which may come back.
                states=wanted if moment is None else frozenset(STATES),
                allow=allow,
                pool=max(100, 4 * limit),
                tail=standing.tail,
                hidden=standing.hidden,
            )
        )
        plan = Plan(
            scope=self._scope,
            limit=limit,
            now=now,
            states=wanted,
            as_of=moment,
            bar=BAR,
            sequence=sequence,
            embedder=embedder,
            semantic=vector is not None,
            degraded=(*notes, *standing.degraded, *((trouble,) if trouble else ())),
            empty_query=not text,
        )
        return recall(plan, answer, lambda numbers: self._engine.ledger.load(numbers, scope=self._scope, as_of=moment))

    def get(self, reference: Reference, *, as_of: Moment | None = None) -> Memory:
        """One memory by its id, or by the beginning of it; with `as_of`, as it was then."""
        moment = None if as_of is None else end_of(as_of, name="as_of")
        memory = self._engine.ledger.get(id_of(reference), scope=self._scope, as_of=moment)
        if memory is None:
            raise NotFound(f"{id_of(reference)} did not exist at that moment", hint="Ask for a later moment.")
        return memory

    def list(
        self,
        *,
        kind: Kind | None = None,
        states: Sequence[State] = ("live",),
        about: str = "",
        attribute: str = "",
        speaker: str = "",
        as_of: Moment | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> Listing:
        """One page of what this scope can see, newest first. No states means all of them."""
        checked_limit(limit)
        if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset <= _MAX_OFFSET:
            raise InvalidInput(f"offset: {str(offset)[:40]!r} is not a whole number from 0", hint="Begin at 0.")
        moment = None if as_of is None else end_of(as_of, name="as_of")
        wanted = Filter(
            kinds=() if kind is None else (checked_choice(kind, KINDS, name="kind"),),
            states=_checked_states(states),
            about=_as_kept(about, "about"),
            attribute=_as_kept(attribute, "attribute"),
            speaker=_as_kept(speaker, "speaker"),
            as_of=moment,
            valid_at=(self._engine.clock.now() if moment is None else moment) if tuple(states) == ("live",) else None,
        )
        return self._engine.ledger.browse(wanted, scope=self._scope, limit=limit, offset=offset)

    def history(self, reference: Reference) -> tuple[Revision, ...]:
        """Everything that happened to one memory, oldest first."""
        return self._engine.ledger.history(id_of(reference), scope=self._scope)

    def stats(self) -> Stats:
        """Counts of what this scope can see."""
        return self._engine.ledger.stats(scope=self._scope)

    # -- letting go --

    def archive(self, reference: Reference, *, reason: str = "") -> Changed:
        """Put away: kept, not recalled, for as long as you like."""
        return self._change(reference, "archived", reason)

    def forget(self, reference: Reference, *, reason: str = "") -> Changed:
        """Hide at once. Can be restored for the grace period; then it is erased."""
        return self._change(reference, "forgotten", reason)

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

    def _change(self, reference: Reference, action: str, reason: str) -> Changed:
        changed = self._engine.ledger.change_state(
            id_of(reference),
            action,
            scope=self._scope,
            actor=self._engine.settings.actor,
            reason=checked_text(reason, name="reason", limit=500, empty_ok=True),
            grace_ms=self._engine.settings.grace_ms,
        )
        self._engine.nudge()
        return changed

    def erase(
        self,
        reference: Reference | None = None,
        *,
        about: str = "",
        speaker: str = "",
        scope: str = "",
        query: str = "",
        mode: Literal["now", "preview"] = "now",
        confirm: str = "",
    ) -> Erasure:
        """Destroy for good, and prove it: by id, by subject, by speaker, or a scope with all below it.

        By subject or speaker, in this very scope. By query, whatever its state, at most 50: the first call only
        shows what it would erase; calling again with `confirm` from that result erases exactly what was shown.
        `mode="preview"` shows it for the other ways, too.
        """
        checked_choice(mode, ("now", "preview"), name="mode")
        about, speaker = _as_kept(about, "about"), _as_kept(speaker, "speaker")
        chosen = self._chosen(reference, about=about, speaker=speaker, scope=scope, query=query)
        shown = confirmation(chosen)
        if confirm and confirm != shown:
            raise Conflict(
                "what would be erased is no longer what was shown", hint="Look at the preview again, then confirm it."
            )
        if mode == "preview" or (query and not confirm):
            receipt = EraseReceipt("preview", tuple(m.id for _, m in chosen), self._engine.ledger.sequence())
            return Erasure(receipt.ids, tuple(m for _, m in chosen[:_PREVIEWED]), shown, receipt)
        receipt = erase(self._engine, chosen, actor=self._engine.settings.actor)
        return Erasure(receipt.ids, (), shown, receipt)

    def _chosen(self, reference: Reference | None, *, about: str, speaker: str, scope: str, query: str) -> Chosen:
        ways = [way for way in (reference, about, speaker, scope, query) if way]
        if len(ways) != 1:
            raise InvalidInput(
                "say in exactly one way what to erase", hint="Give an id, or about=, speaker=, scope= or query=."
            )
        ledger = self._engine.ledger
        if reference is not None:
            return ledger.choose(scope=self._scope, ids=[id_of(reference)])
        if query:
            found = [
                hit.id for hit in self.recall(query, limit=50, states=STATES) if self._scope.contains(hit.memory.scope)
            ]
            return ledger.choose(scope=self._scope, ids=found) if found else []
        below = self.within(scope)._scope if scope else None
        return ledger.choose(scope=self._scope, about=about, speaker=speaker, below=below)

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


def _as_kept(text: str, name: str) -> str:
    """A short text in the form in which `remember` keeps it."""
    return checked_text(text, name=name, empty_ok=True).strip()


def _checked_states(states: Sequence[State]) -> tuple[State, ...]:
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise InvalidInput("states are a list of states, not one", hint="Pass states=['live'], or [] for all.")
    return tuple(checked_choice(state, STATES, name="states") for state in states)


def checked_limit(limit: int) -> None:
    """A number of results that can be given."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"limit: {limit!r} is not a whole number from 1 to {MAX_LIMIT}", hint="Ask in pages.")


def _cleaned(query: str) -> tuple[str, list[str]]:
    """A query is never refused for its characters: what is not text is taken out of it."""
    if not isinstance(query, str):
        raise InvalidInput(f"query: text is expected, not {type(query).__name__}")
    text = query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
    if len(text) > MAX_QUERY:
        return text[:MAX_QUERY], [f"the query was cut to {MAX_QUERY:,} characters"]
    return text, []
