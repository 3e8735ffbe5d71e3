"""`MemorandaStore`: LangGraph's long-term memory, kept in Memoranda.

    store = MemorandaStore(memoranda.open("agents.db", scope="assistant"))
    graph = builder.compile(store=store)

A namespace is a scope below the memory's own, an item is one memory in it. What is put twice supersedes, what is
deleted is forgotten and can be restored for a while; nothing of one namespace is found from another.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from memoranda.adapters.around import Store, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.matching import fits_store_filter
from memoranda.adapters.places import holding, names_of, scope_of
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput, MemorandaError
from memoranda.domain.memory import Memory, Source
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

Op = GetOp | PutOp | SearchOp | ListNamespacesOp
Namespace = tuple[str, ...]
_TAG = "langgraph"
_ITEM = "item:"
_PAGE = 200
_MOST = 1_000
_MINUTE_MS = 60_000
_LONGEST_TEXT = 8_000
_ANY = "*"


class _Found(NamedTuple):
    """One item that a search gives, with how well it fits, where that was asked."""

    memory: Memory
    score: float | None


class MemorandaStore(BaseStore):
    """LangGraph's `BaseStore` over a memory, embedded or served. Holds no data of its own.

    `index={"fields": [...]}` names what of a value is searched; by default all of its texts. The store's own embedder
    is used. `ttl` is LangGraph's `TTLConfig`; what has expired is not given any more, swept or not. `source` says who
    vouches for what is put: by default the assistant, so that it is found when asked for and never shown unasked.
    A search with a query gives the best that there are, as LangGraph's stores do, those that do not bear on it last
    and without a score; `abstain=True` leaves these out.
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
        self.memory = facade(memory)
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
        for scope in holding(self.memory):
            view = self.memory.within(scope)
            past = [each for each in self._listed(view, lapsed=True) if not _lives(each, view.now)]
            for memory in past:
                view.forget(memory, reason="expired")
            swept += len(past)
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

    def _view(self, namespace: Namespace) -> LongTermMemory:
        return self.memory.within(scope_of(self.memory.scope, namespace)) if namespace else self.memory

    # -- one item --

    def _get(self, op: GetOp) -> Item | None:
        view = self._view(op.namespace)
        found = next((each for each in _versions(view, op.key) if _lives(each, view.now)), None)
        if found is None:
            return None
        if op.refresh_ttl:
            self._refresh(view, found)
        return Item(**self._shown(found))

    def _put(self, namespace: Namespace, ops: Sequence[PutOp]) -> None:
        view = self._view(namespace)
        drafts = []
        for op in ops:
            known = _versions(view, op.key)
            if op.value is None:
                known, past = [], known
            else:
                known, past = known[:1], known[1:]
                drafts.append(self._draft(view, op, known[0] if known else None))
            for memory in past:
                view.forget(memory, reason="deleted")
        if drafts:
            view.remember_many(drafts)

    def _draft(self, view: LongTermMemory, op: PutOp, known: Memory | None) -> Draft:
        value = dict(op.value or {})
        fields = self._fields if op.index is None else op.index
        text = "" if fields is False else "\n".join(chain.from_iterable(_texts(value, field) for field in fields))
        now = view.now
        created = known.metadata.get("created_at") if known is not None and _lives(known, now) else None
        return Draft(
            text=text.strip()[:_LONGEST_TEXT] or f"{op.key[:100].strip() or 'an item'} of {'/'.join(op.namespace)}",
            kind="note",
            about=_about(op.key),
            value=value,
            source=self._source,
            basis="stated" if self._source != "assistant" else "inferred",
            tags=(_TAG, _depth(view.scope)),
            metadata={
                "created_at": created if isinstance(created, int) else now,
                "indexed": bool(text.strip()),
                **({} if op.ttl is None else {"ttl": op.ttl}),
            },
            valid_until=None if op.ttl is None else now + max(1, round(op.ttl * _MINUTE_MS)),
            supersedes=known,
            after_erase="allow",
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
            after_erase="allow",
        )

    def _shown(self, memory: Memory) -> dict[str, Any]:
        created = memory.metadata.get("created_at")
        return {
            "namespace": names_of(self.memory.scope, memory.scope),
            "key": unquote(memory.about.removeprefix(_ITEM), errors="surrogatepass"),
            "value": dict(memory.value),
            "created_at": _moment(created if isinstance(created, int) else memory.created_at),
            "updated_at": _moment(memory.created_at),
        }

    # -- several --

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = self._view(op.namespace_prefix)
        views = [self.memory.within(scope) for scope in holding(prefix)]
        wanted = op.offset + op.limit
        found = self._bearing(views, op, wanted) if op.query else []
        if not op.query or (len(found) < wanted and not self._abstain):
            seen = {each.memory.id for each in found}
            rest = (each for each in self._newest(views) if each.id not in seen and _fits(each, op.filter))
            found += [_Found(each, None) for each in islice(rest, wanted - len(found))]
        given = found[op.offset : wanted]
        if op.refresh_ttl:
            for each in given:
                self._refresh(self.memory.within(each.memory.scope), each.memory)
        return [SearchItem(**self._shown(memory), score=score) for memory, score in given]

    def _bearing(self, views: Sequence[LongTermMemory], op: SearchOp, wanted: int) -> list[_Found]:
        """What bears on the query in each of the scopes, best first."""
        found: list[_Found] = []
        for view in views:
            limit = min(_MOST, max(wanted, 50) if op.filter else wanted)
            while True:
                hits = view.recall(op.query[:4_000], limit=limit, policy="broad", tags=(_TAG, _depth(view.scope)))
                fitting = [
                    _Found(hit.memory, hit.score)
                    for hit in hits
                    if hit.memory.metadata.get("indexed") is not False and _fits(hit.memory, op.filter)
                ]
                if len(fitting) >= wanted or len(hits) < limit or limit == _MOST:
                    break
                limit = min(_MOST, limit * 4)
            found += fitting
        return sorted(found, key=lambda each: -(each.score or 0.0))[:wanted]

    def _newest(self, views: Sequence[LongTermMemory]) -> Iterator[Memory]:
        return heapq.merge(*(self._listed(view) for view in views), key=lambda memory: -memory.created_at)

    def _listed(self, view: LongTermMemory, *, lapsed: bool = False) -> Iterator[Memory]:
        """The items of one scope, newest first, page by page."""
        states: tuple[Any, ...] = ("live", "expired") if lapsed else ("live",)
        offset = 0
        while True:
            page = view.list(tags=(_TAG,), here=True, states=states, limit=_PAGE, offset=offset)
            yield from page
            offset += _PAGE
            if len(page) < _PAGE:
                return

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = set()
        for scope in holding(self.memory):
            namespace = names_of(self.memory.scope, scope)
            if not namespace or not all(_matches(each, namespace) for each in op.match_conditions or ()):
                continue
            if self.memory.within(scope).list(tags=(_TAG,), here=True, limit=1).total:
                found.add(namespace if op.max_depth is None else namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _versions(view: LongTermMemory, key: str) -> list[Memory]:
    """What is kept under a key: one, unless two were put at the very same time; newest first."""
    return list(view.list(about=_about(key), tags=(_TAG,), here=True, states=("live", "expired"), limit=_PAGE))


def _about(key: str) -> str:
    return _ITEM + quote(key, safe="@:+/", errors="surrogatepass")


def _depth(scope: str) -> str:
    """A mark of how deep a scope lies: a recall sees the scopes above, too, and each of those has another depth."""
    return f"{_TAG}-{scope.count('/')}"


def _lives(memory: Memory, now: int) -> bool:
    return memory.state == "live" and memory.holds_at(now)


def _fits(memory: Memory, wanted: Mapping[str, Any] | None) -> bool:
    value = memory.value
    return all(fits_store_filter(value.get(name), each) for name, each in (wanted or {}).items())


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


__all__ = ["MemorandaError", "MemorandaStore"]
