"""`Items`: what a framework keeps under keys of its own, each as one memory. A key put again supersedes what was there.

Items carry the framework's tag: what people and other doors have kept in the same scopes is not taken for items.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from threading import Lock
from urllib.parse import quote, unquote

from memoranda.adapters.places import holding, names_of, scope_of
from memoranda.domain.draft import Draft
from memoranda.domain.errors import Conflict, Refused
from memoranda.domain.memory import Memory, State
from memoranda.domain.request import MAX_LIMIT, Policy
from memoranda.domain.results import Hit
from memoranda.service.memory import LongTermMemory

ITEM = "item:"
LONGEST_TEXT = 8_000
_LONGEST_QUERY = 4_000
_PAGE = 200
_AT_LEAST = 50
_TRIES = 8

Fits = Callable[[Memory], bool]


class Items:
    """The items of one framework at and below one scope."""

    def __init__(self, memory: LongTermMemory, tag: str) -> None:
        self.memory = memory
        self._tag = tag
        self._putting = Lock()
        self._lifts = True

    # -- where they are --

    def view(self, names: Sequence[str]) -> LongTermMemory:
        """The memory in which the items of a row of names are kept."""
        return self.memory.within(scope_of(self.memory.scope, names)) if names else self.memory

    def views(self, names: Sequence[str] = (), *, live: bool = True) -> Iterator[LongTermMemory]:
        """Those at and below a row of names that hold anything live; or anything at all."""
        return (self.memory.within(scope) for scope in holding(self.view(names), live=live))

    def names(self, memory: Memory | LongTermMemory) -> tuple[str, ...]:
        """The row of names that something is kept under."""
        return names_of(self.memory.scope, memory.scope)

    def tags(self, view: LongTermMemory) -> tuple[str, str]:
        """What items of this very scope are known by: recall sees the scopes above, too, each of another depth."""
        return self._tag, f"{self._tag}-{view.scope.count('/')}"

    # -- reading --

    def versions(self, view: LongTermMemory, key: str) -> list[Memory]:
        """What is kept under a key: one, unless two were put at the very same time; newest first, lapsed ones, too."""
        about = about_of(key)
        return list(view.list(about=about, tags=(self._tag,), here=True, states=("live", "expired"), limit=_PAGE))

    def any_in(self, view: LongTermMemory) -> bool:
        """Whether there is an item in this very scope."""
        return bool(view.list(tags=(self._tag,), here=True, limit=1).total)

    def listed(self, view: LongTermMemory, *, states: Sequence[State] = ("live",)) -> Iterator[Memory]:
        """The items of one scope, newest first, page by page."""
        offset = 0
        while True:
            page = view.list(tags=(self._tag,), here=True, states=states, limit=_PAGE, offset=offset)
            yield from page
            offset += _PAGE
            if len(page) < _PAGE:
                return

    def newest(self, views: Sequence[LongTermMemory]) -> Iterator[Memory]:
        """The items of several scopes, newest first."""
        return heapq.merge(*(self.listed(view) for view in views), key=lambda memory: -memory.created_at)

    def bearing(
        self, views: Sequence[LongTermMemory], query: str, wanted: int, fits: Fits, policy: Policy = "broad"
    ) -> list[Hit]:
        """The items that bear on a query in any of the scopes, best first."""
        found = [hit for view in views for hit in bearing(view, query, wanted, fits, policy, tags=self.tags(view))]
        return sorted(found, key=lambda hit: -hit.score)[:wanted]

    # -- writing --

    def put(self, view: LongTermMemory, drafts: Callable[[], list[Draft]]) -> None:
        """Keep drafts in one commit; they are made anew when another process has just put one of the keys."""
        with self._putting:
            for tried in range(_TRIES):
                try:
                    made = drafts()
                    if made:
                        self._keep(view, made)
                    return
                except Conflict:
                    if tried == _TRIES - 1:
                        raise

    def _keep(self, view: LongTermMemory, made: Sequence[Draft]) -> None:
        """A key may be put again after what it said was erased, where the caller may say so: not with any token."""
        if self._lifts:
            try:
                view.remember_many([each._replace(after_erase="allow") for each in made])
                return
            except Refused:
                view.remember_many(made)  # or it is refused for another reason
                self._lifts = False
                return
        view.remember_many(made)

    def remove(self, memories: Sequence[Memory], *, reason: str = "deleted") -> int:
        """Forget these; how many there were. They can be restored for a while."""
        removed = 0
        for memory in memories:
            with suppress(Conflict):  # somebody else was first
                self.memory.within(memory.scope).forget(memory, reason=reason)
                removed += 1
        return removed


def bearing(
    view: LongTermMemory, query: str, wanted: int, fits: Fits, policy: Policy, *, tags: Sequence[str] = ()
) -> list[Hit]:
    """What bears on a query and fits, best first: more is asked for until there is enough, or no more."""
    limit = min(MAX_LIMIT, max(wanted, _AT_LEAST))
    while True:
        hits = view.recall(query[:_LONGEST_QUERY], limit=limit, policy=policy, tags=tags)
        fitting = [hit for hit in hits if fits(hit.memory)]
        if len(fitting) >= wanted or len(hits) < limit or limit == MAX_LIMIT:
            return fitting[:wanted]
        limit = min(MAX_LIMIT, limit * 4)


def about_of(key: str) -> str:
    """The subject of an item: its key, in letters that nothing trims or folds."""
    return ITEM + quote(key, safe="@:+/", errors="surrogatepass")


def key_of(memory: Memory) -> str:
    """The key that an item was put under."""
    return unquote(memory.about.removeprefix(ITEM), errors="surrogatepass")
