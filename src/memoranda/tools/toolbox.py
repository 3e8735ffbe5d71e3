"""`Tools`: what an agent may do with one memory. Describes the tools to a model, and does what it calls.

Trust comes from the host, not from the call: what a model writes is not trusted unless the host binds the tools with
`source="user"`, because a user approved the call. No tool sets trust or source, leaves its scope, or erases.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.errors import InvalidInput, MemorandaError
from memoranda.domain.memory import SOURCES, Source, checked_choice
from memoranda.service.memory import LongTermMemory
from memoranda.tools import conversations, default_tools, documents, facts, memories, moving, people
from memoranda.tools.caller import Caller
from memoranda.tools.default_definitions import DEFAULT_DEFINITIONS
from memoranda.tools.definitions import DEFINITIONS
from memoranda.tools.files import Files
from memoranda.tools.results import ToolResult, failure
from memoranda.tools.schema import STYLES, Definition, Style

Toolset = Literal["default", "openclaw", "langbot"]
"""Which family of tools a model is offered: few under plain names, or those that a host knows by its own."""
TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)
_Handlers = dict[str, Callable[[Caller, dict[str, Any]], ToolResult]]
_FAMILIES: dict[Toolset, tuple[str, ...]] = {
    "openclaw": (
        "memory_store",
        "memory_recall",
        "memory_forget",
        "memory_list",
        "memory_stats",
        "memory_export",
        "memory_import",
        "memory_search",
        "memory_get",
    ),
    "langbot": ("remember", "recall_memory", "update_profile", "forget"),
}

_HANDLERS: _Handlers = {
    "memory_store": memories.store,
    "memory_recall": memories.recall,
    "memory_forget": memories.forget,
    "memory_list": memories.listed,
    "memory_stats": memories.stats,
    "memory_export": moving.export,
    "memory_import": moving.import_from,
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
_DEFAULT_HANDLERS: _Handlers = {
    "remember": default_tools.remember,
    "recall": default_tools.recall,
    "forget": default_tools.forget,
    "update_profile": people.update_profile,
    "search_documents": documents.docs_search,
    "read_document": default_tools.read_document,
    "recall_facts": default_tools.recall_facts,
}


class Offer(NamedTuple):
    """Tools that are offered together. Two families may use the same name for different things."""

    definitions: tuple[Definition, ...]
    handlers: _Handlers

    def named(self, name: str) -> Definition:
        """The tool of that name, or the error that lists what there is."""
        for definition in self.definitions:
            if definition.name == name:
                return definition
        known = ", ".join(definition.name for definition in self.definitions)
        raise InvalidInput(f"there is no tool {str(name)[:40]!r}", hint=f"Use one of: {known}.")


def offer(toolset: Toolset | None, *, files: bool = False) -> Offer:
    """The tools of one family; None is every one that hosts know by name. `files`: also those that carry files."""
    if toolset is not None:
        checked_choice(toolset, TOOLSETS, name="toolset")
    if toolset == "default":
        return Offer(DEFAULT_DEFINITIONS, _DEFAULT_HANDLERS)
    offered = [each for each in DEFINITIONS if files or not each.carries]
    if toolset is not None:
        offered = [each for each in offered if each.name in _FAMILIES[toolset]]
    return Offer(tuple(offered), _HANDLERS)


class Tools:
    """The tools of one memory, called on behalf of one source in one conversation."""

    def __init__(
        self,
        memory: LongTermMemory,
        *,
        source: Source = "assistant",
        speaker: str = "",
        conversation: str = "",
        toolset: Toolset | None = None,
        files: Files | None = None,
    ) -> None:
        """`files` is where memory_export and memory_import find and leave files; without it they are not offered."""
        self._caller = Caller(memory, checked_choice(source, SOURCES, name="source"), speaker, conversation, files)
        self._offer = offer(toolset, files=files is not None)

    def definitions(self, style: Style = "openai") -> list[dict[str, Any]]:
        """Every tool as JSON schema, always in the same order."""
        return _shown(self._offer, style)

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolResult:
        """Do what a model asks for. A wrong call gives a result that has failed and says what to do next."""
        began = time.monotonic()
        try:
            definition = self._offer.named(name)
            result = self._offer.handlers[name](self._caller, definition.checked(arguments))
        except MemorandaError as error:
            result = failure(error)
        result.data["latency_ms"] = round((time.monotonic() - began) * 1000, 1)
        return result


def definitions(
    style: Style = "openai", *, toolset: Toolset | None = None, files: bool = False
) -> list[dict[str, Any]]:
    """The tools as JSON schema; needs no memory."""
    return _shown(offer(toolset, files=files), style)


def _shown(offered: Offer, style: Style) -> list[dict[str, Any]]:
    checked_choice(style, STYLES, name="style")
    return [definition.as_json(style) for definition in offered.definitions]
