"""The end of a memory: said by somebody, or given by the rule of its kind."""

from types import MappingProxyType

from memoranda.domain.memory import Memory

BY_RULE = "ends_by_rule"
"""The name in the metadata of a memory whose end nobody said: the rule of its kind gave it."""


def ends_by_rule(memory: Memory) -> bool:
    """Whether its end is the rule's."""
    return memory.valid_until is not None and memory.metadata.get(BY_RULE) is True


def without_end(memory: Memory) -> Memory:
    """The memory without the end that a rule gave it; one that was said stays."""
    if not ends_by_rule(memory):
        return memory
    left = {name: value for name, value in memory.metadata.items() if name != BY_RULE}
    return memory._replace(valid_until=None, metadata=MappingProxyType(left))


def end_said_again(memory: Memory, again: Memory) -> tuple[int | None, bool]:
    """The end of a memory that was said again, and whether it is the rule's: a rule prolongs what it ended, and does
    not touch an end that somebody said, unless that is over."""
    said = memory.valid_until is not None and not ends_by_rule(memory)
    ruled = again.metadata.get(BY_RULE) is True
    holds = memory.valid_until is not None and memory.valid_until > again.updated_at
    if again.valid_until is None or (ruled and said and holds):
        return memory.valid_until, memory.valid_until is not None and not said
    return again.valid_until, ruled
