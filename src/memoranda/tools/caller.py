"""`Caller`: on whose behalf tools are called. The host binds it; no argument of a call can change it."""

from typing import Any, NamedTuple

from memoranda.domain.errors import Refused
from memoranda.domain.memory import Memory, Source, Trust, outranks, trust_of
from memoranda.domain.results import Changed
from memoranda.service.memory import LongTermMemory
from memoranda.tools.files import Files


class Caller(NamedTuple):
    """A memory, and who vouches for what is written into it."""

    memory: LongTermMemory
    source: Source
    speaker: str
    conversation: str
    files: Files | None = None
    """Where tools that carry files find and leave them; None: there are no such tools."""

    @property
    def trust(self) -> Trust:
        return trust_of(self.source)

    def within(self, scope: Any) -> LongTermMemory:
        """The memory of a scope inside the caller's own; an empty one is its own."""
        return self.memory.within(scope) if scope else self.memory

    def forget(self, memory: Memory, *, reason: str) -> Changed:
        """Hide one memory. What is trusted more than the caller is not the caller's to let go of."""
        if outranks(memory.trust, self.trust):
            raise Refused(f"{memory.id} is {memory.trust} and was not written by the {self.source}")
        return self.memory.forget(memory, reason=reason)
