"""`Store` over several shards: each caller is given the memory of a scope, in the one store that keeps it."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memoranda.config import Settings
from memoranda.domain.clock import Clock
from memoranda.domain.errors import MemorandaError
from memoranda.domain.looking import ScopePage
from memoranda.domain.request import checked_limit, checked_offset
from memoranda.domain.scope import Scope
from memoranda.service.engine import Engine
from memoranda.service.finishing import finished, owed
from memoranda.service.looking import scopes
from memoranda.service.maintaining import Maintenance
from memoranda.service.memory import LongTermMemory
from memoranda.service.sharding import ShardedMemory, Shards
from memoranda.service.store import UPKEEP, Store, answers_in, standing, warmed_up

if TYPE_CHECKING:
    from memoranda.ledger.answers import Answers


class ShardedStore(Store):
    """Everything that is kept in all of them. Tokens are kept by the first, answers where their scope is."""

    def __init__(self, shards: Shards) -> None:
        super().__init__(shards.first())
        self._shards = shards
        self._answers: dict[Path, Answers] = {}

    def memory(self, scope: Scope) -> LongTermMemory:
        """The memory of one scope, in the store that keeps it. Closing it does nothing."""
        return ShardedMemory(self._shards, scope, owner=False)

    def upkeep(self) -> LongTermMemory:
        """For what an operator does with all of them: its `admin` is theirs."""
        return ShardedMemory(self._shards, UPKEEP, owner=False, engine=self._engine)

    def answers_of(self, scope: Scope | None) -> "Answers":
        """Beside the memories that they may speak of, so that both are erased in one transaction."""
        engine = self._engine if scope is None else self._shards.of(scope)
        if engine is self._engine:
            return self.answers
        with self.opening:
            return self._answers.setdefault(engine.ledger.path, answers_in(engine))

    def maintain(self) -> Maintenance:
        """Upkeep of every shard, also of what only a server keeps."""
        self._shards.each(lambda engine: answers_in(engine).sweep())
        return self.upkeep().admin.maintain()

    def warm_up(self) -> None:
        """Make ready what the first callers would otherwise wait for. A shard that is down is left out."""
        with suppress(MemorandaError):
            self._shards.each(warmed_up)

    def scopes(self, below: str = "", *, limit: int = 500, offset: int = 0) -> ScopePage:
        """The scopes that hold anything: one and those below it, in the shard that keeps them, or all of all."""
        if below:
            return scopes(self._shards.of(Scope(below)), below, limit=limit, offset=offset)
        most, before = checked_limit(limit), checked_offset(offset)
        pages = [page for _, page in self._shards.each(lambda engine: _first_of(engine, before + most))]
        found = sorted((each for page in pages for each in page), key=lambda each: each.scope)
        return ScopePage(tuple(found[before : before + most]), sum(page.total for page in pages))

    def standing(self) -> tuple[int, int]:
        """(memories that are live, events that the indexes have yet to follow), of all shards."""
        each = [numbers for _, numbers in self._shards.each(standing)]
        return sum(live for live, _ in each), sum(behind for _, behind in each)

    def owed(self) -> str:
        """What erasures have not finished in any shard, in a word that changes with each of them."""
        return " ".join(word for _, word in self._shards.each(owed) if word)

    def finish_erasures(self) -> str:
        """Go on with that; why it could not be finished now, if so."""
        return "; ".join(pending for _, pending in self._shards.each(finished) if pending)

    def close(self) -> None:
        """Close every store. May be called twice."""
        for each in self._answers.values():
            each.close()
        if "answers" in self.__dict__:
            self.answers.close()
        self._shards.close()


def open_store(settings: Settings, clock: Clock) -> ShardedStore:
    """All shards of the settings. Only the first is opened now: it knows who may come in."""
    shards = Shards(settings, clock)
    try:
        return ShardedStore(shards)
    except BaseException:
        shards.close()
        raise


def _first_of(engine: Engine, most: int) -> ScopePage:
    """As many as a page of all of them may need of one."""
    from memoranda.ledger.looking import Overview

    return Overview(engine.ledger.database).scopes("", limit=most, offset=0)
