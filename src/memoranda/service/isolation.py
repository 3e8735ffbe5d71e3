"""The isolation probe: two scopes, neither of which may find, see, read or change what the other keeps. Cleans up."""

import os
from contextlib import suppress

from memoranda.domain.errors import Conflict, MemorandaError, NotFound, Refused
from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexQuery
from memoranda.domain.results import Check
from memoranda.domain.scope import Scope
from memoranda.ledger.upkeep import UpkeepBook
from memoranda.service.engine import Engine
from memoranda.service.memory import LongTermMemory

PROBES = "memoranda.probe"
_LONG_AGO_MS = 3_600_000
_LETTERS = str.maketrans("0123456789", "ghjkmnpqrs")
"""Letters alone: what has digits among them is taken for a key now and then, and keys are not kept."""
_CLOSED = (NotFound, Refused, Conflict)
NOT_FOUND_FIX = "Run: memoranda index rebuild, or memoranda doctor --fix"
_FIX = "Stop serving this store and report it; `memoranda index rebuild` if the index is to blame."


def probed(engine: Engine) -> Check:
    """Keep something in two scopes that begin alike, and try every way from one to the other."""
    token = os.urandom(4).hex().translate(_LETTERS)
    # The second begins with the whole name of the first: a careless comparison of paths would let it in.
    one, other = Scope(f"{PROBES}/{token}"), Scope(f"{PROBES}/{token}0")
    here, there = (LongTermMemory(engine, scope, owner=False) for scope in (one, other))
    words = f"probe {token} quiet violin"
    try:
        _cleaned(engine, Scope(PROBES), before=engine.clock.now() - _LONG_AGO_MS)
        kept = [memory.remember(f"The {words} of {memory.scope}.", source="system") for memory in (here, there)]
        try:
            leaks = _leaks(engine, here, there.scope, kept[1].id, token)
            leaks += _leaks(engine, there, here.scope, kept[0].id, token)
            own = [hit.id for hit in here.recall(f"quiet violin {token}", policy="broad")] == [kept[0].id]
        finally:
            for scope in (one, other):
                _cleaned(engine, scope)
    except MemorandaError as error:
        return Check("isolation", False, f"the probe could not be made: {error}", error.hint)
    if leaks:
        return Check("isolation", False, f"one scope reaches into another by {', '.join(sorted(set(leaks)))}", _FIX)
    if not own:
        return Check("isolation", False, "the probe was not found in its own scope", NOT_FOUND_FIX)
    return Check("isolation", True, "search, list, get and delete stop at the scope")


def _leaks(engine: Engine, memory: LongTermMemory, other: str, foreign: str, token: str) -> list[str]:
    """The ways by which this memory reaches what is not its own."""
    found = []
    engine.memories.catch_up(seconds=0)
    query = IndexQuery((memory.scope,), text=f"quiet violin {token}", states=frozenset(STATES))
    proposed = [candidate.number for candidate in engine.memories.index().search(query).candidates]
    if any(each.scope == other for each in engine.ledger.load(proposed, scope=Scope(other)).values()):
        found.append("the index")
    if any(hit.id == foreign for hit in memory.recall(f"quiet violin {token}", policy="broad", limit=20)):
        found.append("recall")
    if any(each.id == foreign for each in memory.list(text=token, states=())):
        found.append("list")
    with suppress(*_CLOSED):
        memory.get(foreign)
        found.append("get")
    with suppress(*_CLOSED):
        memory.forget(foreign)
        found.append("delete")
    return found


def _cleaned(engine: Engine, scope: Scope, *, before: int | None = None) -> None:
    """Not proven by a look at all files, as an erasure is: a probe says nothing of anybody. Of others only what is
    old: somebody may be at it."""
    found = engine.ledger.choose(scope=scope, below=scope)
    chosen = [pair for pair in found if before is None or pair[1].created_at < before]
    if chosen:
        engine.ledger.erase(chosen, actor="doctor")
        scopes = tuple(dict.fromkeys(memory.scope for _, memory in chosen))
        UpkeepBook(engine.ledger.database, engine.clock).forget_probe(scopes)
        engine.memories.catch_up(seconds=0)
