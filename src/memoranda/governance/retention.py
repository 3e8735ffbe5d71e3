"""Retention, decided: when a memory ends by the rule of its kind, and what lasts whatever the rules say. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from memoranda.domain.clock import MAX_MS
from memoranda.domain.lasting import BY_RULE, without_end
from memoranda.domain.memory import Memory
from memoranda.domain.profile import is_entry


def lasts(memory: Memory) -> bool:
    """Whether no rule ends or evicts it: it must be remembered, or it is part of a profile."""
    return memory.grade == "must_remember" or is_entry(memory)


def with_end(memory: Memory, ttl_ms: Mapping[str, int]) -> Memory:
    """The memory with the end that the rule of its kind gives it; as it is when it has one, or lasts."""
    length = ttl_ms.get(memory.kind)
    if length is None or memory.valid_until is not None or lasts(memory):
        return memory
    begins = max(memory.updated_at, memory.valid_from or 0)
    return memory._replace(valid_until=min(MAX_MS, begins + length), metadata=_marked(memory.metadata))


def _marked(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType({**metadata, BY_RULE: True})


def aged(memory: Memory, ttl_ms: Mapping[str, int], *, now: int) -> Memory:
    """A live memory as the rules leave it: with the end that it should have, and expired when that has come."""
    ruled = without_end(memory) if lasts(memory) else with_end(memory, ttl_ms)
    over = ruled.valid_until is not None and ruled.valid_until <= now
    return ruled._replace(state="expired") if over else ruled
