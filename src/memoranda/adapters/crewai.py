"""Memoranda for CrewAI: a storage backend of its memory.

    storage = MemorandaStorage(memory)
    crew = Crew(agents=[...], tasks=[...], memory=Memory(storage=storage, embedder=storage.embedder, llm=llm))

CrewAI hands its storage vectors, not words; the embedder that comes with this one lets the words be found again, so
that Memoranda recalls as it does elsewhere. A scope of CrewAI is a scope below the memory's own.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from threading import Lock
from typing import Any

from memoranda.adapters.around import Store, awaited, facade
from memoranda.adapters.extras import of_extra
from memoranda.adapters.items import LONGEST_TEXT, Items, about_of, key_of
from memoranda.adapters.matching import same
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Memory, Source
from memoranda.service.memory import LongTermMemory

with of_extra("crewai"):
    from crewai.memory.types import MemoryRecord, ScopeInfo

_TAG = "crewai"
_DIMENSIONS = 32
_WORDS_KEPT = 4_096


class Words:
    """An embedder whose vectors are names of texts: each text has one of its own, by which it is found again.

    It is no model. Two texts that say nearly the same have nothing in common here; likeness is for recall to tell.
    """

    def __init__(self) -> None:
        self._texts: OrderedDict[tuple[float, ...], str] = OrderedDict()
        self._lock = Lock()

    def __call__(self, texts: Iterable[str]) -> list[list[float]]:
        return [list(self._named(text)) for text in texts]

    def _named(self, text: str) -> tuple[float, ...]:
        digest = hashlib.sha512(text.encode("utf-8", "replace")).digest()[: _DIMENSIONS * 2]
        signed = [int.from_bytes(digest[at : at + 2]) / 32_768 - 1 for at in range(0, len(digest), 2)]
        length = sum(each * each for each in signed) ** 0.5 or 1.0
        vector = tuple(round(each / length, 6) for each in signed)
        with self._lock:
            self._texts[vector] = text
            self._texts.move_to_end(vector)
            while len(self._texts) > _WORDS_KEPT:
                self._texts.popitem(last=False)
        return vector

    def text(self, vector: Sequence[float]) -> str:
        """The text that a vector was made of."""
        with self._lock:
            found = self._texts.get(tuple(round(float(each), 6) for each in vector))
        if found is None:
            raise InvalidInput(
                "a search came with a vector of another embedder",
                hint="Make it with Memory(storage=storage, embedder=storage.embedder).",
            )
        return found


class MemorandaStorage:
    """CrewAI's `StorageBackend` over a memory, embedded or served.

    `source` says who vouches for what a crew writes: by default the assistant, so that it is found when asked for and
    never shown unasked.
    """

    def __init__(self, memory: Store, *, source: Source = "assistant") -> None:
        self._items = Items(facade(memory), _TAG)
        self._source = source
        self.embedder = Words()

    # -- keeping --

    def save(self, records: Sequence[MemoryRecord]) -> None:
        """Keep records; one that is kept already is replaced."""
        for record in records:
            self._save(record, self._versions(record.id))

    def update(self, record: MemoryRecord) -> None:
        """Replace the record of that id."""
        self.save([record])

    def _save(self, record: MemoryRecord, known: Sequence[Memory]) -> None:
        view = self._items.view(_names(record.scope))
        elsewhere = [each for each in known if each.scope != view.scope]

        def drafts() -> list[Draft]:
            here = self._items.versions(view, record.id)
            return [self._draft(view, record, here[0] if here else None)]

        self._items.put(view, drafts)
        self._items.remove(elsewhere, reason="moved")

    def _draft(self, view: LongTermMemory, record: MemoryRecord, known: Memory | None) -> Draft:
        kept = record.model_dump(mode="json", exclude={"id", "content", "scope", "embedding"})
        text = record.content.strip()[:LONGEST_TEXT] or "(empty)"
        if text != record.content:
            kept["content"] = record.content  # word for word, where the text of a memory is shorter
        return Draft(
            text=text,
            kind="note",
            about=about_of(record.id),
            value=kept,
            importance=record.importance,
            source=self._source,
            basis="inferred" if self._source == "assistant" else "stated",
            tags=self._items.tags(view),
            supersedes=known,
        )

    # -- asking --

    def search(
        self,
        query_embedding: Sequence[float],
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        metadata_filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """What bears on the text that the vector was made of, best first; nothing when nothing does."""
        if not len(query_embedding):  # of an empty text
            return []
        query = self.embedder.text(query_embedding)
        views = list(self._items.views(_names(scope_prefix)))
        hits = self._items.bearing(views, query, limit, lambda each: _fits(each, categories, metadata_filter))
        return [(self._record(hit.memory), hit.score) for hit in hits if hit.score >= min_score]

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """One record by its id."""
        found = self._versions(record_id)
        return self._record(found[0]) if found else None

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Records of a scope and of those below it, newest first."""
        found = islice(self._newest(scope_prefix), offset, offset + limit)
        return [self._record(memory) for memory in found]

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records there are in a scope and below it."""
        return sum(1 for _ in self._newest(scope_prefix))

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes just below one."""
        above = _names(parent)
        depth = len(above) + 1
        names = (self._items.names(view) for view in self._items.views(above) if self._items.any_in(view))
        return sorted({_path(each[:depth]) for each in names if len(each) >= depth})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """The categories in a scope and below it, with how many records each has."""
        counts: dict[str, int] = {}
        for memory in self._newest(scope_prefix):
            for category in memory.value.get("categories") or ():
                counts[category] = counts.get(category, 0) + 1
        return counts

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What there is in a scope and below it."""
        found = [self._record(memory) for memory in self._newest(scope)]
        moments = [each.created_at for each in found]
        return ScopeInfo(
            path=_path(_names(scope)),
            record_count=len(found),
            categories=sorted({category for each in found for category in each.categories}),
            oldest_record=min(moments, default=None),
            newest_record=max(moments, default=None),
            child_scopes=self.list_scopes(scope),
        )

    # -- letting go --

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        record_ids: Sequence[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: Mapping[str, Any] | None = None,
    ) -> int:
        """Forget the records that fit all of this; how many there were. They can be restored for a while."""
        wanted = [
            memory
            for memory in self._newest(scope_prefix)
            if (record_ids is None or key_of(memory) in record_ids)
            and (older_than is None or _utc(self._record(memory).created_at) < _utc(older_than))
            and _fits(memory, categories, metadata_filter)
        ]
        return self._items.remove(wanted)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget all records of a scope and of those below it."""
        self._items.remove(list(self._newest(scope_prefix)))

    # -- awaited --

    async def asave(self, records: Sequence[MemoryRecord]) -> None:
        """`save`, awaited."""
        await awaited(self.save, records)

    async def asearch(self, *args: Any, **kwargs: Any) -> list[tuple[MemoryRecord, float]]:
        """`search`, awaited."""
        return await awaited(self.search, *args, **kwargs)

    async def adelete(self, *args: Any, **kwargs: Any) -> int:
        """`delete`, awaited."""
        return await awaited(self.delete, *args, **kwargs)

    # -- as CrewAI has it --

    def _newest(self, scope: str | None) -> Iterator[Memory]:
        return self._items.newest(list(self._items.views(_names(scope))))

    def _versions(self, record_id: str) -> list[Memory]:
        """What is kept under an id, in whichever scope."""
        return [memory for view in self._items.views() for memory in self._items.versions(view, record_id)]

    def _record(self, memory: Memory) -> MemoryRecord:
        kept = {"content": memory.text, **memory.value}
        return MemoryRecord(id=key_of(memory), scope=_path(self._items.names(memory)), **kept)


def _names(scope: str | None) -> tuple[str, ...]:
    return tuple(part for part in (scope or "/").split("/") if part)


def _path(names: Sequence[str]) -> str:
    return "/" + "/".join(names)


def _fits(memory: Memory, categories: Sequence[str] | None, metadata: Mapping[str, Any] | None) -> bool:
    kept = memory.value
    if categories and not set(categories) & set(kept.get("categories") or ()):
        return False
    about = kept.get("metadata") or {}
    return all(same(about.get(name), wanted) for name, wanted in (metadata or {}).items())


def _utc(moment: datetime) -> datetime:
    """CrewAI writes times of UTC without saying so."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
