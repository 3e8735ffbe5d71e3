"""What profile, facts and preferences share: one way to keep and one way to read, so that every door is alike."""

from collections.abc import Iterable

from memoranda.domain.clock import Moment, end_of
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory
from memoranda.domain.results import Changed, Remembered
from memoranda.domain.scope import Scope
from memoranda.ledger.keeping import Slot
from memoranda.ledger.ledger import Filter, Keep
from memoranda.ledger.settling import Choose, LetGo
from memoranda.service.engine import Engine
from memoranda.service.screening import screened, with_its_end
from memoranda.service.travelling import moment_named

EVERYTHING = 1 << 31
_IN_WORDS: dict[type, str] = {str: "text", bool: "true or false"}


def checked_type(value: object, kind: type, *, name: str, hint: str) -> None:
    """Refuse what is of another type than the code below relies on."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{name}: {_IN_WORDS[kind]} is expected, not {type(value).__name__}", hint=hint)


def ready(engine: Engine, scope: Scope, draft: Draft, *, slot: Slot) -> Keep:
    """A draft checked and screened, to be kept in its slot."""
    settings = engine.settings
    memory = screened(draft.checked(scope, now=engine.clock.now(), max_text=settings.max_text), settings)
    memory = with_its_end(memory, settings)
    return Keep(memory, kind_given=True, even_if_erased=draft.after_erase == "allow", slot=slot)


def keep(engine: Engine, scope: Scope, draft: Draft, *, slot: Slot) -> Remembered:
    """Keep one thing in its slot."""
    keeps = [ready(engine, scope, draft, slot=slot)]
    remembered = engine.ledger.remember(keeps, scope=scope, actor=engine.actor)[0]
    engine.nudge()
    return remembered


def moment_of(engine: Engine, scope: Scope, as_of: Moment | None) -> tuple[int | None, int]:
    """(the moment that is asked about, if it is not now; the moment at which things must hold)."""
    named = moment_named(engine, scope, as_of)
    asked = None if named is None else end_of(named, name="as_of")
    return asked, engine.clock.now() if asked is None else asked


def read(engine: Engine, scope: Scope, wanted: Filter, *, limit: int = EVERYTHING) -> list[Memory]:
    """What fits, newest first."""
    return list(engine.ledger.browse(wanted, scope=scope, limit=limit, offset=0))


def surest(
    engine: Engine, scope: Scope, wanted: Filter, *, at: int, limit: int = EVERYTHING, offset: int = 0
) -> list[Memory]:
    """One page of what fits: trusted first, then what is surest at that moment, then the newest."""
    return list(engine.ledger.browse(wanted, scope=scope, limit=limit, offset=offset, surest_at=at))


def let_go(engine: Engine, scope: Scope, wanted: Filter, choose: Choose) -> tuple[Changed, ...]:
    """Choose among what fits and let go of it, in one commit."""
    settings = engine.settings
    gone = engine.ledger.let_go(wanted, choose, scope=scope, actor=engine.actor, grace_ms=settings.grace_ms)
    engine.nudge()
    return gone


def forgotten(going: Iterable[Memory], reason: str) -> tuple[LetGo, ...]:
    """All of these are to be forgotten."""
    return tuple(LetGo(memory.id, "forgotten", reason) for memory in going)
