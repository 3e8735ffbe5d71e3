"""Readers of other systems' memories by name. Nothing is imported before it is asked for."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Importer
from memoranda.domain.memory import checked_choice
from memoranda.importers.files import refuse_empty

# In the order in which a file is shown to them: what says itself what it is first, what reads nearly anything last.
_READERS = {
    "own": "own:Reader",
    "mem0": "mem0:Reader",
    "mcp-memory-service": "mcp_memory_service:Reader",
    "server-memory": "server_memory:Reader",
    "claude": "claude:Reader",
    "chatgpt": "chatgpt:Reader",
    "thane": "thane:Reader",
    "openclaw-lancedb": "openclaw_lancedb:Reader",
    "langbot": "langbot:Reader",
    "openclaw-markdown": "openclaw_markdown:Reader",
    "basic-memory": "basic_memory:Reader",
    "jsonl": "generic:JsonLines",
    "csv": "generic:Table",
}


class Format(NamedTuple):
    """A format that can be read, and one line for people on what it is."""

    name: str
    title: str


def names() -> tuple[str, ...]:
    """Everything that can be given to `importer`."""
    return tuple(_READERS)


def formats() -> tuple[Format, ...]:
    """The same, with what each of them reads."""
    return tuple(Format(name, importer(name).title) for name in _READERS)


def importer(name: str) -> Importer:
    """The reader with this name."""
    module, _, reader = _READERS[checked_choice(name, names(), name="format")].partition(":")
    made: Importer = getattr(import_module(f"memoranda.importers.{module}"), reader)()
    return made


def sniff(path: Path) -> str:
    """The name of the first reader that takes this for its own format."""
    for name in _READERS:
        if importer(name).reads(path):
            return name
    refuse_empty(path)
    raise InvalidInput(
        f"{path.name} is in none of the formats that are known here",
        hint=f"Name its format: {', '.join(_READERS)}.",
    )
