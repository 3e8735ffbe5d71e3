"""`Memory`: mem0's verbs over one scope of a store, embedded or served."""

import logging
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memoranda.adapters.around import Store, facade
from memoranda.adapters.items import bearing
from memoranda.adapters.mem0 import shapes
from memoranda.adapters.mem0.finding import Kept
from memoranda.adapters.mem0.owners import IDS, Owner
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import Source
from memoranda.domain.message import messages_from
from memoranda.domain.profile import is_entry
from memoranda.domain.results import Captured, Remembered
from memoranda.service.memory import LongTermMemory
from memoranda.service.opening import open as open_store

_LOG = logging.getLogger("memoranda.adapters")
_SCOPE = "mem0"
_PAGE = 200
_USUAL = 20
_LONGEST_CHAIN = 10_000
_UNSAID: Any = object()
_OWN_CONFIG = "memoranda"
_TAKEN_WHOLE = frozenset({"nothing to keep", "forgotten", "already seen"})
"""Why capture leaves out what is then kept whole: it sees nothing to keep, or it was said or forgotten before."""

Answer = dict[str, Any]


class Memory(Kept):
    """mem0's `Memory`. `path` and `scope` are those of `memoranda.open`; or give a memory that is open already.

    `config` is mem0's: of it, only the part named `memoranda` is used here, with `path`, `scope` or `embedder` in it.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        memory: Store | None = None,
        path: str | Path | None = None,
        scope: str = _SCOPE,
        embedder: str | None = None,
    ) -> None:
        own = _own_part(config)
        self._opened = memory is None
        if memory is None:
            chosen = {"scope": own.get("scope", scope), "embedder": own.get("embedder", embedder)}
            memory = open_store(own.get("path", path), **chosen)
        super().__init__(facade(memory))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """As mem0 makes it; the parts of the configuration that Memoranda has no use for are told in the log."""
        return cls(config_dict)

    # -- keeping --

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Answer:
        """Keep what messages say: every one as it is with `infer=False`, else what capture finds in them.

        A single statement is kept whole where capture finds nothing of its own in it. What was left out of a
        conversation is counted under `skipped`, by reason. `memory_type` and `prompt` are of models, and not used.
        """
        owner = Owner.of({**_ids(filters), **_given(user_id=user_id, agent_id=agent_id, run_id=run_id)})
        view = self.memory.within(owner.scope(self.memory.scope))
        said = _messages(messages)
        more: dict[str, Any] = {"metadata": shapes.without_ids(metadata)}
        if expiration_date is not None:
            day, end = shapes.end_of_day(expiration_date)
            more = {"metadata": {**more["metadata"], "expiration_date": day}, "valid_until": end}
        if timestamp is not None:
            more["occurred_at"] = timestamp * 1000 if isinstance(timestamp, int | float) else timestamp
        if not infer:
            return {"results": self._add_all(view, said, more)}
        return self._capture(view, said, more, owner)

    def _add_all(self, view: LongTermMemory, said: Sequence[Mapping[str, Any]], more: Answer) -> list[Answer]:
        results = []
        for message, read in zip(said, messages_from(said), strict=True):
            if read.role == "system" or not read.text.strip():
                continue
            role, actor = str(message["role"]), read.speaker or None
            metadata = {**more["metadata"], "role": role, **({"actor_id": actor} if actor else {})}
            source: Source = "user" if read.role == "user" else "tool" if read.role == "tool" else "assistant"
            kept = view.remember(read.text, source=source, speaker=read.speaker, **{**more, "metadata": metadata})
            results.append({**shapes.added(kept), "actor_id": actor, "role": role})
        return results

    def _capture(self, view: LongTermMemory, said: Sequence[Mapping[str, Any]], more: Answer, owner: Owner) -> Answer:
        found = view.capture(said, mode="broad")
        refused = dict(found.receipt.refused)
        kept = [self._with_more(view, each, more) for each in found.remembered]
        alone = messages_from(said)[0] if len(said) == 1 else None
        if alone is not None and alone.role == "user" and _may_stand_whole(alone.text, found):
            kept = [view.remember(alone.text, speaker=alone.speaker, **more)]
            refused = {}
        answer: Answer = {"results": [shapes.added(each) for each in kept]}
        if refused:
            answer["skipped"] = refused
        return answer

    def _with_more(self, view: LongTermMemory, kept: Remembered, more: Answer) -> Remembered:
        """What was captured, with what the caller gave along: said again, the two are joined."""
        memory = kept.memory
        if not any(more.values()) or is_entry(memory):
            return kept
        again = view.remember(
            memory.text,
            kind=memory.kind,
            about=memory.about,
            attribute=memory.attribute,
            value=memory.value,
            context=memory.context,
            speaker=memory.speaker,
            source=memory.source,
            conversation=memory.conversation,
            **more,
        )
        return Remembered(again.memory, kept.receipt) if again.id == memory.id else again

    # -- asking --

    def get(self, memory_id: str) -> Answer | None:
        """One memory by its id; None when there is none, or not any more."""
        found = self._current(memory_id)
        if found is None or found.state != "live":
            return None
        shown = shapes.item(found, self._owner(found))
        return {**shown, "score": None}

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        show_expired: bool = False,
    ) -> Answer:
        """What belongs to somebody, newest first. Ids stand in `filters`, or beside it as in older versions."""
        wanted = {**(filters or {}), **_given(user_id=user_id, agent_id=agent_id, run_id=run_id)}
        most = _most(top_k, limit)
        found = self._all(wanted, expired=show_expired)
        return {"results": [shapes.item(each, self._owner(each)) for each in islice(found, most)]}

    def search(
        self,
        query: str,
        *,
        filters: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        show_expired: bool = False,
    ) -> Answer:
        """What bears on a query among what belongs to somebody, best first; nothing when nothing does.

        `score` is relevance from 0 to 1; `rerank` changes nothing: what comes back is in order. `explain` adds how
        each was found. What has expired is not searched.
        """
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput("Invalid query: cannot be empty or whitespace-only.", hint="Say what to search for.")
        if threshold is not None and not 0 <= threshold <= 1:
            raise InvalidInput(f"Invalid threshold: {threshold}. Must be between 0 and 1.", hint="0.1 is usual.")
        wanted = {**(filters or {}), **_given(user_id=user_id, agent_id=agent_id, run_id=run_id)}
        most = _most(top_k, limit)
        hits = {}
        for view, fits in self._places(wanted):
            found = bearing(view, query, most, fits, "broad") if most else []
            hits.update({hit.id: hit for hit in found if hit.score >= (threshold or 0.0)})
        best = sorted(hits.values(), key=lambda hit: -hit.score)[:most]
        return {
            "results": [
                {
                    **shapes.item(hit.memory, self._owner(hit.memory), score=hit.score, scored=True),
                    **({"score_details": hit.receipt.as_json()} if explain else {}),
                }
                for hit in best
            ]
        }

    def history(self, memory_id: str) -> list[Answer]:
        """What happened to a memory, oldest first."""
        revisions = []
        for memory in self._chain(memory_id):
            revisions += list(self.memory.within(memory.scope).history(memory))
        if not revisions:
            return []
        revisions.sort(key=lambda each: each.event.sequence)
        return shapes.history(revisions, memory_id)

    # -- changing --

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSAID,
        data: str | None = None,
    ) -> Answer:
        """Put another text, other metadata or another end in the place of what is there. The id stays."""
        words = data if text is None else text
        if words is None and metadata is None and expiration_date is _UNSAID:
            raise InvalidInput(
                "At least one of text, metadata, or expiration_date must be provided.", hint="Pass text='...'."
            )
        old = self._found(memory_id)
        kept = {name: value for name, value in old.metadata.items() if name in ("role", "actor_id", "expiration_date")}
        about: Answer = {**shapes.metadata_of(old), **shapes.without_ids(metadata), **kept}
        end: int | None = old.valid_until
        if expiration_date is not _UNSAID:
            about.pop("expiration_date", None)
            end = None
            if expiration_date is not None:
                about["expiration_date"], end = shapes.end_of_day(expiration_date)
        first = old.metadata.get("created_at")
        about["created_at"] = first if isinstance(first, int) else old.created_at
        self.memory.within(old.scope).remember(
            old.text if words is None else words,
            kind=old.kind,
            about=old.about,
            importance=old.importance,
            speaker=old.speaker,
            source=old.source,
            tags=old.tags,
            metadata=about,
            source_ref=shapes.ORIGIN + shapes.identity(old),
            valid_until=end,
            occurred_at=old.occurred_at,
            supersedes=old,
        )
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> Answer:
        """Forget one memory. It can be restored for a while, and is then erased."""
        found = self._found(memory_id)
        self.memory.within(found.scope).forget(found, reason="deleted")
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None) -> Answer:
        """Forget all that belongs to somebody."""
        ids = _given(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not ids:
            raise InvalidInput(
                "At least one filter is required to delete all memories.",
                hint="To delete what belongs to anybody, call reset().",
            )
        owner = Owner.of(ids)
        self._forget_below(self.memory.within(owner.scope(self.memory.scope)))
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> Answer:
        """Forget everything that was ever added here, whomever it belongs to."""
        self._forget_below(self.memory)
        return {"message": "Memories reset successfully!"}

    # -- lifetime --

    def close(self) -> None:
        """Close the store, if it was opened here."""
        if self._opened:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _own_part(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise InvalidInput("config is a mapping, as for Memory.from_config", hint="Pass {'memoranda': {'path': ...}}.")
    unused = sorted(name for name, given in config.items() if name != _OWN_CONFIG and given)
    if unused:
        _LOG.warning(
            "not used here: %s of the configuration; Memoranda embeds and extracts by itself", ", ".join(unused)
        )
    own = config.get(_OWN_CONFIG) or {}
    if not set(own) <= {"path", "scope", "embedder"}:
        raise InvalidInput("config['memoranda'] has path, scope and embedder", hint="Leave the others out.")
    return dict(own)


def _messages(given: Any) -> list[Mapping[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(each, Mapping) and "role" in each for each in given):
        raise InvalidInput(
            "messages must be str, dict, or list[dict]", hint="Pass [{'role': 'user', 'content': '...'}]."
        )
    return list(given)


def _may_stand_whole(text: str, found: Captured) -> bool:
    """Whether a statement of which capture kept nothing is kept as it is: a question says nothing."""
    refused = set(found.receipt.refused)
    stated = bool(text.strip()) and not text.rstrip().endswith(("?", "？", "؟"))
    return stated and not found.remembered and refused <= _TAKEN_WHOLE


def _given(**ids: str | None) -> dict[str, str]:
    return {name: value for name, value in ids.items() if value is not None}


def _ids(filters: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: filters[name] for name in IDS if name in filters} if filters else {}


def _most(top_k: int | None, limit: int | None) -> int:
    wanted = limit if top_k is None else top_k
    if wanted is None:
        return _USUAL
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 0:
        raise InvalidInput(f"Invalid top_k: {wanted}. Must be a non-negative integer.", hint="20 is usual.")
    return wanted
