"""`Kept`: finding what was kept for somebody, in mem0's sense: with ids in filters, and by an id alone."""

import heapq
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from memoranda.adapters.matching import fits_filters
from memoranda.adapters.mem0 import shapes
from memoranda.adapters.mem0.owners import Owner, owners_in
from memoranda.adapters.places import holding
from memoranda.domain import memory as domain
from memoranda.domain.errors import Conflict, InvalidInput, NotFound
from memoranda.domain.memory import State
from memoranda.service.memory import LongTermMemory

_PAGE = 200
_LONGEST_CHAIN = 10_000


class Kept:
    """What lies at and below one scope, whomever it belongs to."""

    def __init__(self, memory: LongTermMemory) -> None:
        self.memory = memory

    def _owner(self, memory: domain.Memory) -> Owner:
        return Owner.at(self.memory.scope, memory.scope)

    def _places(
        self, filters: Mapping[str, Any], *, live: bool = True
    ) -> Iterator[tuple[LongTermMemory, Callable[[domain.Memory], bool]]]:
        """The scopes in which what filters ask for is kept, each with what fits there."""
        for owner in owners_in(filters):
            top = self.memory.within(owner.scope(self.memory.scope))
            for scope in holding(top, live=live):

                def fits(memory: domain.Memory, here: str = scope) -> bool:
                    if memory.scope != here:
                        return False
                    return fits_filters(shapes.payload(memory, self._owner(memory)), filters)

                yield self.memory.within(scope), fits

    def _all(self, filters: Mapping[str, Any], *, expired: bool) -> Iterator[domain.Memory]:
        states: tuple[State, ...] = ("live", "expired") if expired else ("live",)

        def listed(view: LongTermMemory, fits: Callable[[domain.Memory], bool]) -> Iterator[domain.Memory]:
            offset = 0
            while True:
                page = view.list(here=True, states=states, limit=_PAGE, offset=offset)
                yield from (memory for memory in page if fits(memory))
                offset += _PAGE
                if len(page) < _PAGE:
                    return

        streams = [listed(view, fits) for view, fits in self._places(filters, live=not expired)]
        seen: set[str] = set()
        for memory in heapq.merge(*streams, key=lambda each: -each.created_at):
            if memory.id not in seen:
                seen.add(memory.id)
                yield memory

    def _chain(self, memory_id: str) -> list[domain.Memory]:
        """A memory and what was put in its place, oldest first."""
        try:
            happened = self.memory.timeline(limit=1, reference=str(memory_id), below=True)
        except (NotFound, InvalidInput):
            return []
        if not happened:
            return []
        view = self.memory.within(happened[0].scope)
        found: list[domain.Memory] = []
        following: str | None = happened[0].memory_id
        while following and len(found) < _LONGEST_CHAIN:
            try:
                memory = view.get(following)
            except NotFound:
                break
            found.append(memory)
            following = memory.superseded_by if memory.state == "superseded" else None
        return found

    def _current(self, memory_id: str) -> domain.Memory | None:
        chain = self._chain(memory_id)
        return chain[-1] if chain else None

    def _found(self, memory_id: str) -> domain.Memory:
        found = self._current(memory_id)
        if found is None or found.state not in ("live", "expired"):
            raise InvalidInput(f"Memory with id {memory_id} not found", hint="get_all shows what there is.")
        return found

    def _forget_below(self, top: LongTermMemory) -> None:
        for scope in list(holding(top, live=False)):
            view = self.memory.within(scope)
            while page := view.list(here=True, states=("live", "expired", "archived"), limit=_PAGE):
                for memory in page:
                    with suppress(Conflict):
                        view.forget(memory, reason="deleted")
