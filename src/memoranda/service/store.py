"""`Store`: one open store that serves many. It has no scope of its own: each caller is given the memory of one."""

import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memoranda.config import Settings, load
from memoranda.domain.clock import Clock, SystemClock
from memoranda.domain.errors import MemorandaError
from memoranda.domain.scope import Scope
from memoranda.service.engine import Engine
from memoranda.service.keys import key_of
from memoranda.service.memory import LongTermMemory
from memoranda.service.once import once
from memoranda.service.opening import standing_alone
from memoranda.service.workroom import Workroom

if TYPE_CHECKING:
    from memoranda.domain.looking import ScopePage
    from memoranda.ledger.answers import Answers
    from memoranda.ledger.holding import Holding
    from memoranda.ledger.postgres.listening import Listener, Pool
    from memoranda.service.maintaining import Maintenance
    from memoranda.service.tokens import TokenBook

SAMPLE = Scope("sample")
"""Where sample data is kept."""
UPKEEP = Scope("memoranda")
"""Where upkeep of the whole store is called from. Nothing is kept there."""
_SMALL_TALK = "Good morning."


class Store:
    """Everything that is kept, for whoever decides who sees what."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.opening = threading.RLock()
        """Held by whoever makes a part that was not needed before."""

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, settings: Settings | None = None, clock: Clock | None = None
    ) -> "Store":
        """Open a store, or make it."""
        chosen = (settings or load()).changed({"store": None if path is None else str(path)})
        if chosen.shards:
            from memoranda.service.sharded_store import open_store

            return open_store(chosen, clock or SystemClock())
        place = chosen.store_path()
        Workroom(place).clear()
        return cls(standing_alone(Engine(place, chosen, clock or SystemClock(), key=key_of(chosen, place))))

    @property
    def path(self) -> Path:
        """The ledger file."""
        return self._engine.ledger.path

    @property
    def settings(self) -> Settings:
        return self._engine.settings

    @property
    def clock(self) -> Clock:
        return self._engine.clock

    def memory(self, scope: Scope) -> LongTermMemory:
        """The memory of one scope, bounded by the scope's top. Costs nothing; closing it does nothing."""
        return LongTermMemory(self._engine, scope, owner=False)

    def upkeep(self) -> LongTermMemory:
        """For what an operator does with the whole store."""
        return self.memory(UPKEEP)

    def maintain(self) -> "Maintenance":
        """Upkeep of everything, also of what only a server keeps."""
        self.answers.sweep()
        return self.upkeep().admin.maintain()

    @once
    def tokens(self) -> "TokenBook":
        """Who is let in."""
        from memoranda.service.tokens import TokenBook

        return TokenBook(self._engine)

    @once
    def answers(self) -> "Answers":
        """What was said to requests that came with a key."""
        return answers_in(self._engine)

    def answers_of(self, scope: Scope | None) -> "Answers":
        """Where answers to requests for a scope are kept; None for those of the whole store."""
        return self.answers

    def warm_up(self) -> None:
        """Make ready what the first callers would otherwise wait for, all of them at once."""
        warmed_up(self._engine)

    def take(self, name: str) -> "Holding | None":
        """Hold a name that nobody else who has this store open may hold meanwhile; None when somebody does."""
        from memoranda.ledger.holding import taken

        return taken(self._engine.ledger.database, name)

    def listen(self) -> "Listener | None":
        """Hear of what other processes write, so that an index of this machine follows before anybody asks. None where
        there is nothing to hear, or the index is one for all."""
        from memoranda.service.neighbours import listening

        return listening(self._engine)

    def pool(self) -> "Pool | None":
        """The connections of this process to a database server; None when the store is a file."""
        from memoranda.service.neighbours import pool

        return pool(self._engine)

    def check(self) -> None:
        """Read a little. Raises when the store does not answer."""
        self._engine.ledger.sequence()

    def scopes(self, below: str = "", *, limit: int = 500, offset: int = 0) -> "ScopePage":
        """The scopes that hold anything: one and those below it, or all of the store."""
        from memoranda.service.looking import scopes

        return scopes(self._engine, below, limit=limit, offset=offset)

    def has_sample(self) -> bool:
        """Whether there is sample data in it, which is kept in a scope of its own."""
        return bool(self.scopes(SAMPLE.path, limit=1))

    def standing(self) -> tuple[int, int]:
        """(memories that are live, events that the index has yet to follow), of the whole store."""
        return standing(self._engine)

    def owed(self) -> str:
        """What erasures have not finished, in a word that changes with each of them; empty when nothing is."""
        from memoranda.service.finishing import owed

        return owed(self._engine)

    def finish_erasures(self) -> str:
        """Go on with that; why it could not be finished now, if so."""
        from memoranda.service.finishing import finished

        return finished(self._engine)

    def close(self) -> None:
        """Close the store. May be called twice."""
        if "answers" in self.__dict__:
            self.answers.close()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def answers_in(engine: Engine) -> "Answers":
    """The answers that one store keeps."""
    from memoranda.ledger.answers import Answers

    return Answers(engine.ledger.database, engine.clock, key=engine.ledger.key_for("answers"))


def warmed_up(engine: Engine) -> None:
    """Make ready what the first callers of one store would otherwise wait for."""
    from memoranda.capture.injection import rules_ready

    rules_ready()
    with suppress(MemorandaError, OSError):  # whoever asks first meets the same, and is told
        engine.memories.catch_up(seconds=0)
        embedder = engine.embedders.configured()
        if embedder is not None:
            engine.embedders.asked(embedder, [_SMALL_TALK], "query")


def standing(engine: Engine) -> tuple[int, int]:
    """(memories that are live, events that the index has yet to follow), of one store."""
    from memoranda.ledger.looking import Overview

    return Overview(engine.ledger.database).live(), engine.ledger.sequence() - engine.memories.index().sequence
