"""`MemorandaStore`: LangGraph's long-term memory, kept in Memoranda.

    store = MemorandaStore(memoranda.open("agents.db", scope="assistant"))
    graph = builder.compile(store=store)

A namespace is a scope below the memory's own, an item is one memory in it. What is put twice supersedes, what is
deleted is forgotten and can be restored for a while; nothing of one namespace is found from another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from memoranda.adapters.around import Store, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.items import LONGEST_TEXT, Items, about_of, key_of
from memoranda.adapters.matching import fits_store_filter
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory, Source
from memoranda.domain.request import Policy
from memoranda.service.memory import LongTermMemory

with of_extra("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )

Op = Any
"""One of the four that LangGraph has: to get, to put, to search, to list namespaces."""
Namespace = tuple[str, ...]
_TAG = "langgraph"
_MINUTE_MS = 60_000
_ANY = "*"
_NOT_SEARCHED = "(an item that is not searched)"


class MemorandaStore(BaseStore):
    """LangGraph's `BaseStore` over a memory, embedded or served. Holds no data of its own.

    `index={"fields": [...]}` names what of a value is searched; by default all of its texts. The store's own embedder
    is used. `ttl` is LangGraph's `TTLConfig`; what has expired is not given any more, swept or not. `source` says who
    vouches for what is put: by default the assistant, so that it is found when asked for and never shown unasked.
    A search with a query gives the best that there are, as LangGraph's stores do, those that do not bear on it last,
    with a score of 0; `abstain=True` leaves these out.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Store,
        *,
        index: Mapping[str, Any] | None = None,
        ttl: Mapping[str, Any] | None = None,
        source: Source = "assistant",
        abstain: bool = False,
    ) -> None:
        if index and not set(index) <= {"fields"}:
            raise InvalidInput(
                f"index has {', '.join(sorted(set(index) - {'fields'}))}; only its fields are chosen here",
                hint="The store embeds by itself: choose the model with memoranda.open(..., embedder=...).",
            )
        self._items = Items(facade(memory), _TAG)
        self.ttl_config = dict(ttl) if ttl else None
        self._fields: Sequence[str] = tuple((index or {}).get("fields") or ("$",))
        self._source = source
        self._abstain = abstain

    # -- what LangGraph calls --

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """All of them: what is asked first, then what is put; each key once, as it was put last."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results = [self._read(op) for op in asked]
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for namespace in dict.fromkeys(namespace for namespace, _ in puts):
            self._put(namespace, [op for (at, _), op in puts.items() if at == namespace])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """The same, in a thread."""
        return await awaited(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Forget the items that have expired; how many there were. Reading leaves them out in any case."""
        swept = 0
        for view in self._items.views(live=False):
            kept = self._items.listed(view, states=("live", "expired"))
            swept += self._items.remove([each for each in kept if not _lives(each, view.now)], reason="expired")
        return swept

    def _read(self, op: Op) -> Any:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise ValueError(f"Unknown operation type: {type(op)}")

    # -- one item --

    def _get(self, op: GetOp) -> Item | None:
        view = self._items.view(op.namespace)
        found = next((each for each in self._items.versions(view, op.key) if _lives(each, view.now)), None)
        if found is None:
            return None
        if op.refresh_ttl:
            self._refresh(view, found)
        return Item(**self._shown(found))

    def _put(self, namespace: Namespace, ops: Sequence[PutOp]) -> None:
        view = self._items.view(namespace)

        def drafts() -> list[Draft]:
            made = []
            for op in ops:
                known = self._items.versions(view, op.key)
                if op.value is not None:
                    made.append(self._draft(view, op, known[0] if known else None))
                    known = known[1:]
                self._items.remove(known)
            return made

        self._items.put(view, drafts)

    def _draft(self, view: LongTermMemory, op: PutOp, known: Memory | None) -> Draft:
        value = dict(op.value or {})
        fields = self._fields if op.index is None else op.index
        text = "" if fields is False else "\n".join(chain.from_iterable(_texts(value, field) for field in fields))
        now = view.now
        created = known.metadata.get("created_at") if known is not None and _lives(known, now) else None
        return Draft(
            text=text.strip()[:LONGEST_TEXT] or _NOT_SEARCHED,
            kind="note",
            about=about_of(op.key),
            value=value,
            source=self._source,
            basis="stated" if self._source != "assistant" else "inferred",
            tags=self._items.tags(view),
            metadata={
                "created_at": created if isinstance(created, int) else now,
                "indexed": bool(text.strip()),
                **({} if op.ttl is None else {"ttl": op.ttl}),
            },
            valid_until=None if op.ttl is None else now + max(1, round(op.ttl * _MINUTE_MS)),
            supersedes=known,
        )

    def _refresh(self, view: LongTermMemory, memory: Memory) -> None:
        """Said again, its end is counted from now."""
        ttl = memory.metadata.get("ttl")
        if not isinstance(ttl, int | float):
            return
        view.remember(
            memory.text,
            kind="note",
            about=memory.about,
            value=memory.value,
            source=memory.source,
            basis=memory.basis,
            tags=memory.tags,
            valid_until=view.now + max(1, round(ttl * _MINUTE_MS)),
        )

    def _shown(self, memory: Memory) -> dict[str, Any]:
        created = memory.metadata.get("created_at")
        return {
            "namespace": self._items.names(memory),
            "key": key_of(memory),
            "value": dict(memory.value),
            "created_at": _moment(created if isinstance(created, int) else memory.created_at),
            "updated_at": _moment(memory.created_at),
        }

    # -- several --

    def _search(self, op: SearchOp) -> list[SearchItem]:
        views = list(self._items.views(op.namespace_prefix))
        wanted = op.offset + op.limit
        found: list[tuple[Memory, float | None]] = []
        if op.query:
            policy: Policy = "balanced" if self._abstain else "broad"
            hits = self._items.bearing(
                views, op.query, wanted, lambda each: _searched(each) and _fits(each, op.filter), policy
            )
            found += [(hit.memory, hit.score) for hit in hits]
        if not op.query or (len(found) < wanted and not self._abstain):
            seen = {memory.id for memory, _ in found}
            rest = (each for each in self._items.newest(views) if each.id not in seen and _fits(each, op.filter))
            more = islice(rest, wanted - len(found))
            found += [(each, 0.0 if op.query and _searched(each) else None) for each in more]
        given = found[op.offset : wanted]
        if op.refresh_ttl:
            for memory, _ in given:
                self._refresh(self._items.memory.within(memory.scope), memory)
        return [SearchItem(**self._shown(memory), score=score) for memory, score in given]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = set()
        for view in self._items.views():
            namespace = self._items.names(view)
            if not namespace or not all(_matches(each, namespace) for each in op.match_conditions or ()):
                continue
            if self._items.any_in(view):
                found.add(namespace if op.max_depth is None else namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _lives(memory: Memory, now: int) -> bool:
    return memory.state == "live" and memory.holds_at(now)


def _fits(memory: Memory, wanted: Mapping[str, Any] | None) -> bool:
    value = memory.value
    return all(fits_store_filter(_part(value, name), each) for name, each in (wanted or {}).items())


def _part(value: Any, name: str) -> Any:
    """The field of that name, or the one at the end of a path with dots."""
    if not isinstance(value, Mapping):
        return None
    first, dot, rest = name.partition(".")
    return value[name] if name in value else _part(value.get(first), rest) if dot else None


def _searched(memory: Memory) -> bool:
    return memory.metadata.get("indexed") is not False


def _texts(value: Any, field: str) -> list[str]:
    """What a field says. The whole of a value says its texts, each with its name where there are several."""
    if field not in ("", "$"):
        return [str(each) for each in get_text_at_path(value, field)]
    leaves = list(_leaves(value, ""))
    return [leaf for _, leaf in leaves] if len(leaves) == 1 else [f"{name}: {leaf}" for name, leaf in leaves]


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, str(key))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each, name)
    elif value is not None and str(value).strip():
        yield name, str(value)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(wanted in (_ANY, label) for wanted, label in zip(path, part, strict=True))


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)
