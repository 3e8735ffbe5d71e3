"""Looking at what is kept: page by page, in time, by day and by scope. Nothing is changed here, nothing recalled."""

from collections.abc import Sequence

from memoranda.domain.clock import DAY_MS, Moment, end_of, to_ms
from memoranda.domain.draft import Reference, id_of
from memoranda.domain.looking import (
    ACTIONS,
    MOST_DAYS,
    MOST_EVENTS,
    ORDERS,
    Day,
    Order,
    ScopePage,
    Timeline,
    checked_grades,
    checked_whole,
)
from memoranda.domain.memory import Grade, Kind, Source, State, Trust, checked_choice
from memoranda.domain.request import Request, checked_limit, checked_offset, checked_states
from memoranda.domain.results import Listing
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.ledger.looking import Happened, Overview
from memoranda.service.engine import Engine
from memoranda.service.nouns import Nouns
from memoranda.service.travelling import moment_named

_SHORT = 512


@fences()
class Looking(Nouns):
    """The verbs of the facade that show what is kept, and change nothing."""

    def list(
        self,
        *,
        kind: Kind | None = None,
        states: Sequence[State] = ("live",),
        about: str = "",
        attribute: str = "",
        speaker: str = "",
        trust: Trust | Sequence[Trust] = (),
        grade: Grade | Sequence[Grade] = (),
        source: Source | Sequence[Source] = (),
        tags: Sequence[str] = (),
        conversation: str = "",
        here: bool = False,
        text: str = "",
        order: Order = "newest",
        as_of: Moment | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> Listing:
        """One page of what this scope can see, newest first. No states means all of them.

        `here` leaves out what is kept in the scopes above. `text` is in the memory letter by letter, whatever the
        case: for browsing, where `recall` looks for what is meant. `tags` are all there.
        """
        asked = Request.of(
            {
                "query": "",
                "kinds": () if kind is None else (kind,),
                "trust": trust,
                "sources": source,
                "tags": tags,
                "as_of": moment_named(self._engine, self._scope, as_of),
            }
        )
        now = self._engine.clock.now() if asked.as_of is None else asked.as_of
        chosen = checked_states(states)
        wanted = Filter(
            kinds=asked.kinds,
            states=chosen,
            sources=asked.sources,
            trust=asked.trust,
            grades=checked_grades(grade),
            about=as_kept(about, "about"),
            attribute=as_kept(attribute, "attribute"),
            speaker=as_kept(speaker, "speaker"),
            conversation=as_kept(conversation, "conversation"),
            text=checked_text(text, name="text", limit=_SHORT, empty_ok=True).strip(),
            here=here,
            tags=asked.tags,
            order=checked_choice(order, ORDERS, name="order"),
            as_of=asked.as_of,
            valid_at=now if chosen == ("live",) else None,
        )
        page = {"limit": checked_limit(limit), "offset": checked_offset(offset)}
        return self._engine.ledger.browse(wanted, scope=self._scope, **page)

    def timeline(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        action: str = "",
        reference: Reference | None = None,
        actor: str = "",
        after: Moment | None = None,
        until: Moment | None = None,
        below: bool = False,
    ) -> Timeline:
        """What happened in what this scope can see, newest first; with `below`, also in the scopes below it.

        Ids, never what a memory says. Give the `next` of a page as `before` to have the one after it. `reference`
        asks for one memory, also for one that was erased; a bare day as `until` is taken in whole.
        """
        wanted = Happened(
            limit=checked_limit(limit),
            before=None if before is None else checked_whole(before, name="before", most=MOST_EVENTS),
            action=checked_choice(action, ("", *ACTIONS), name="action"),
            reference=None if reference is None else id_of(reference),
            actor=as_kept(actor, "actor"),
            after=None if after is None else to_ms(after, name="after"),
            until=None if until is None else end_of(until, name="until"),
        )
        return Overview(self._engine.ledger.database).timeline(self._scope, wanted, below=below)

    def growth(self, *, days: int = 30, below: bool = False) -> tuple[Day, ...]:
        """How what this scope can see has grown, day by day in UTC, the oldest first; `below` adds the scopes below."""
        today = self._engine.clock.now() // DAY_MS
        first = today + 1 - checked_whole(days, name="days", most=MOST_DAYS)
        return Overview(self._engine.ledger.database).growth(self._scope, first=first, last=today, below=below)

    def scopes(self, *, limit: int = 500, offset: int = 0) -> ScopePage:
        """This scope and those below it, as far as they hold anything, with what each holds itself."""
        return scopes(self._engine, self._scope.path, limit, offset)


def scopes(engine: Engine, below: str = "", limit: int = 500, offset: int = 0) -> ScopePage:
    """The scopes at and below a path that hold anything. An empty path is the whole store, for its operators only."""
    path = Scope(below).path if below else ""
    return Overview(engine.ledger.database).scopes(path, limit=checked_limit(limit), offset=checked_offset(offset))


def as_kept(text: str, name: str) -> str:
    """A short text in the form in which `remember` keeps it."""
    return checked_text(text, name=name, empty_ok=True).strip()
