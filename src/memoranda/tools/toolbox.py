"""`Tools`: what an agent may do with one memory. Describes the tools to a model, and does what it calls.

Trust comes from the host, not from the call: what a model writes is not trusted unless the host binds the tools with
`source="user"`, because a user approved the call. No tool sets trust or source, leaves its scope, or erases.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from memoranda.domain.errors import InvalidInput, MemorandaError
from memoranda.domain.memory import SOURCES, Source, checked_choice
from memoranda.service.memory import LongTermMemory
from memoranda.tools import conversations, documents, facts, memories, people
from memoranda.tools.caller import Caller
from memoranda.tools.definitions import DEFINITIONS
from memoranda.tools.results import ToolResult, failure
from memoranda.tools.schema import STYLES, Definition, Style

_HANDLERS: dict[str, Callable[[Caller, dict[str, Any]], ToolResult]] = {
    "memory_store": memories.store,
    "memory_recall": memories.recall,
    "memory_forget": memories.forget,
    "memory_list": memories.listed,
    "memory_stats": memories.stats,
    "memory_search": documents.search,
    "memory_get": documents.get,
    "memory_docs_search": documents.docs_search,
    "memory_docs_ingest": documents.docs_ingest,
    "remember": people.remember,
    "recall_memory": people.recall_memory,
    "update_profile": people.update_profile,
    "forget": people.forget,
    "remember_fact": facts.remember_fact,
    "recall_fact": facts.recall_fact,
    "forget_fact": facts.forget_fact,
    "archive_search": conversations.search,
    "archive_sessions": conversations.sessions,
    "archive_session_transcript": conversations.transcript,
    "archive_range": conversations.between,
    "session_working_memory": conversations.working_memory,
    "session_close": conversations.close,
}


class Tools:
    """The tools of one memory, called on behalf of one source in one conversation."""

    def __init__(
        self, memory: LongTermMemory, *, source: Source = "assistant", speaker: str = "", conversation: str = ""
    ) -> None:
        self._caller = Caller(memory, checked_choice(source, SOURCES, name="source"), speaker, conversation)

    def definitions(self, style: Style = "openai") -> list[dict[str, Any]]:
        """Every tool as JSON schema, always in the same order."""
        return definitions(style)

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """Do what a model asks for. A wrong call gives a result that has failed and says what to do next."""
        began = time.monotonic()
        try:
            definition = _named(name)
            result = _HANDLERS[name](self._caller, definition.checked(arguments))
        except MemorandaError as error:
            result = failure(error)
        result.data["latency_ms"] = round((time.monotonic() - began) * 1000, 1)
        return result


def definitions(style: Style = "openai") -> list[dict[str, Any]]:
    """Every tool as JSON schema; needs no memory."""
    checked_choice(style, STYLES, name="style")
    return [definition.as_json(style) for definition in DEFINITIONS]


def _named(name: str) -> Definition:
    for definition in DEFINITIONS:
        if definition.name == name:
            return definition
    known = ", ".join(definition.name for definition in DEFINITIONS)
    raise InvalidInput(f"there is no tool {str(name)[:40]!r}", hint=f"Use one of: {known}.")
