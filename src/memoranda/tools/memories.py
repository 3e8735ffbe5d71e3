"""Tools on single memories and on all of them: memory_store, memory_recall, memory_forget, memory_list, ..."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from statistics import median_low
from typing import Any

from memoranda.domain.clock import DAY_MS, SystemClock, iso
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import Kind, Memory, basis_of, confidence_of
from memoranda.domain.request import MAX_LIMIT
from memoranda.domain.results import Hit, Recall
from memoranda.service.memory import LongTermMemory
from memoranda.service.words import cleaned, kind_of
from memoranda.tools.caller import Caller
from memoranda.tools.definitions import MOST_LISTED
from memoranda.tools.results import ToolResult, as_json, kept, shown

Given = dict[str, Any]

_NOTHING = "No relevant memories found"
_SURE = 0.9
_CANDIDATES = 5
_PATH = "memory:"


def store(caller: Caller, given: Given) -> ToolResult:
    remembered = caller.within(given.get("scope")).remember(
        given["text"],
        kind=_kind(given),
        importance=given["importance"],
        source=caller.source,
        basis=basis_of(caller.source),
        confidence=confidence_of(caller.source),
        speaker=caller.speaker,
        conversation=caller.conversation,
    )
    memory = remembered.memory
    data = {
        "id": memory.id,
        "action": "duplicate" if remembered.receipt.outcome == "reinforced" else "created",
        "category": memory.kind,
        "importance": memory.importance,
        "label": memory.grade,
        "receipt": remembered.receipt.as_json(),
    }
    return kept(memory, f"Stored memory: {memory.id}", data)


def recall(caller: Caller, given: Given) -> ToolResult:
    found = caller.within(given.get("scope")).recall(
        given["query"], limit=given["limit"], prefer_speaker=caller.speaker
    )
    memories = [shown(hit.memory, score=hit.score) for hit in found]
    data = {"count": len(memories), "memories": memories, "receipt": found.receipt.as_json()}
    return ToolResult(as_json(memories) if memories else _NOTHING, data)


def forget(caller: Caller, given: Given) -> ToolResult:
    named = given.get("id") or given.get("memoryId")
    if named and (given.get("query") or given.get("confirm")):
        raise InvalidInput("both an id and a query were given", hint="Give the id alone, or the query alone.")
    if named:
        return _forgotten(caller, caller.memory.get(bare_id(named)))
    if not given.get("query"):
        raise InvalidInput("neither an id nor a query was given", hint="Give the id, or a query to find it by.")
    return _forget_by_query(caller, given["query"], given.get("confirm") or "")


def _forget_by_query(caller: Caller, query: str, confirm: str) -> ToolResult:
    found = caller.memory.recall(query, limit=_CANDIDATES, policy="broad")
    if not found:
        return ToolResult(_NOTHING, {"action": "none", "candidates": [], "receipt": found.receipt.as_json()})
    if confirm:
        return _forgotten(caller, _chosen(found, bare_id(confirm)).memory)
    sure = [hit for hit in found if hit.score > _SURE]
    if len(sure) == 1:
        return _forgotten(caller, sure[0].memory)
    candidates = [shown(hit.memory, score=hit.score) for hit in found]
    told = {
        "forgotten": None,
        "next": "Nothing was forgotten yet. Ask the user which one is meant; then call memory_forget again with the "
        "same query and confirm set to its id.",
        "candidates": candidates,
    }
    data = {"action": "candidates", "candidates": candidates, "receipt": found.receipt.as_json()}
    return ToolResult(as_json(told), data)


def _chosen(found: Recall, confirm: str) -> Hit:
    """The one candidate that an id, or its first characters, names."""
    chosen = [hit for hit in found if hit.id.startswith(confirm)]
    if len(chosen) != 1:
        listed = ", ".join(hit.id for hit in found)
        raise InvalidInput("confirm names none, or several, of the candidates", hint=f"Use one of: {listed}.")
    return chosen[0]


def _forgotten(caller: Caller, memory: Memory) -> ToolResult:
    changed = caller.forget(memory, reason="forgotten by a tool")
    return ToolResult(
        f"Forgot memory: {changed.id}",
        {"action": "forgotten", "id": changed.id, "receipt": changed.receipt.as_json()},
    )


def listed(caller: Caller, given: Given) -> ToolResult:
    memory = caller.within(given.get("scope"))
    kind = _kind(given) if given.get("category") else None
    memories = [shown(each) for each in islice(_live(memory, kind), given["limit"])]
    receipt = {"filters": _filters(given), "returned": len(memories)}
    return ToolResult(as_json(memories), {"count": len(memories), "memories": memories, "receipt": receipt})


def stats(caller: Caller, given: Given) -> ToolResult:
    memory = caller.within(given.get("scope"))
    kind = _kind(given) if given.get("category") else None
    counted = list(islice(_live(memory, kind), MOST_LISTED))
    sizes = [len(each.text) for each in counted]
    times = [each.created_at for each in counted]
    told: dict[str, Any] = {
        "count": len(counted),
        "byScope": dict(sorted(Counter(each.scope for each in counted).items())),
        "byCategory": dict(sorted(Counter(each.kind for each in counted).items())),
        "size": None,
        "ageDays": None,
        "oldest": iso(min(times)) if times else None,
        "newest": iso(max(times)) if times else None,
        "complete": len(counted) < MOST_LISTED,
    }
    if counted:
        average = round(sum(sizes) / len(sizes), 1)
        told["size"] = {"min": min(sizes), "max": max(sizes), "avg": average, "p50": median_low(sizes)}
        told["ageDays"] = max(0, SystemClock().now() - min(times)) // DAY_MS
    return ToolResult(as_json(told), {**told, "receipt": {"filters": _filters(given), "returned": len(counted)}})


def search(caller: Caller, given: Given) -> ToolResult:
    found = caller.memory.recall(given["query"], limit=given["maxResults"], prefer_speaker=caller.speaker)
    receipt = found.receipt
    provider, _, model = receipt.embedder.partition(":")
    semantic = "semantic" in receipt.lanes
    told = {
        "results": [_result(hit) for hit in found if hit.score >= given["minScore"]],
        "provider": provider if semantic else "none",
        "model": model if semantic else "",
        "fallback": list(receipt.degraded) or None,
        "citations": "auto",
        "mode": "hybrid" if semantic and "lexical" in receipt.lanes else "semantic" if semantic else "lexical",
    }
    return ToolResult(as_json(told), {**told, "receipt": receipt.as_json()})


def _result(hit: Hit) -> dict[str, Any]:
    text = cleaned(hit.memory.text)
    path = f"{_PATH}{hit.id}"
    return {
        "path": path,
        "startLine": 1,
        "endLine": len(text.splitlines()) or 1,
        "score": round(hit.score, 3),
        "snippet": text,
        "source": "memory",
        "trust": hit.memory.trust,
        "citation": path,
    }


def get(caller: Caller, given: Given) -> ToolResult:
    path = given["path"].strip()
    if not path.startswith(_PATH) and (path.startswith(("/", "\\", "~")) or ".." in path or ":" in path):
        raise InvalidInput("this path leads out of the memory", hint="Use a path that memory_search gave.")
    text = _text_at(caller, path.removeprefix(_PATH)) if path.startswith(_PATH) else ""
    first = given.get("from", 1) - 1
    lines = text.splitlines()[first:]
    told = {"text": "\n".join(lines[: given.get("lines", len(lines))]), "path": cleaned(path)}
    return ToolResult(as_json(told), dict(told))


def _text_at(caller: Caller, identity: str) -> str:
    try:
        memory = caller.memory.get(identity)
    except (NotFound, InvalidInput):
        return ""  # whether or not it could be an id
    return cleaned(memory.text) if may_be_read(memory) else ""


def may_be_read(memory: Memory) -> bool:
    """Whether a model that names it is shown what it says."""
    return memory.state not in ("forgotten", "expired") and memory.trust != "quarantined"


def _live(memory: LongTermMemory, kind: Kind | None) -> Iterator[Memory]:
    """All that may speak, newest first."""
    at = 0
    while True:
        page = memory.list(kind=kind, limit=MAX_LIMIT, offset=at)
        yield from (each for each in page if each.trust != "quarantined")
        at += len(page)
        if not page or at >= page.total:
            return


def _kind(given: Given) -> Kind:
    """The kind that a category means; what is not said is told from the text."""
    category = given.get("category")
    if category is not None:
        kind: Kind = "note" if category == "other" else category
        return kind
    return kind_of(given["text"])


def _filters(given: Given) -> dict[str, Any]:
    return {name: given[name] for name in ("scope", "category", "limit") if given.get(name)}


def bare_id(identity: str) -> str:
    """An id as it may be written: alone, or as the path of a memory."""
    return identity.strip().removeprefix(_PATH)
