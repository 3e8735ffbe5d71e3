"""The systems that can be measured: which worker, which variant, which environment."""

import sys
from dataclasses import dataclass
from pathlib import Path

from bench.paths import OUT


@dataclass(frozen=True, slots=True)
class System:
    """One line of a table."""

    name: str
    worker: str
    variant: str = ""
    venv: str = ""
    """The peer's own environment; empty for this one."""

    @property
    def python(self) -> Path:
        return OUT / f"venv-{self.venv}" / "bin" / "python" if self.venv else Path(sys.executable)

    @property
    def installed(self) -> bool:
        return self.python.exists()


OURS = System("ours", "ours", "lookup")
OURS_WORDS = System("ours, no embedder", "ours", "words")
OURS_BUNDLED = System("ours, bundled embedder and follower", "ours", "use")
BARE = System("bare SQLite", "sqlite")
FTS5 = System("FTS5 (floor)", "fts5")
NUMPY = System("NumPy (floor)", "numpy_")

FLOORS = {"fts5": (FTS5,), "numpy": (NUMPY,)}
PEERS = {
    "chromadb": (
        System("chromadb, filtered", "chromadb", "filter", venv="chromadb"),
        System("chromadb, collection per scope", "chromadb", "apart", venv="chromadb"),
    ),
    "lancedb": (
        System("lancedb, vectors", "lancedb", "vector", venv="lancedb"),
        System("lancedb, table per scope", "lancedb", "apart", venv="lancedb"),
        System("lancedb, hybrid", "lancedb", "hybrid", venv="lancedb"),
    ),
    "langgraph": (System("langgraph", "langgraph", venv="langgraph"),),
    "mem0": (System("mem0", "mem0", venv="mem0"),),
    "mcp-memory-service": (System("mcp-memory-service", "mcp_memory_service", venv="mcp-memory-service"),),
    "qdrant-local": (System("qdrant-local", "qdrant_local", venv="qdrant-local"),),
    "basic-memory": (System("basic-memory", "basic_memory", venv="basic-memory"),),
}
NAMES = ("ours", *FLOORS, *PEERS)


def for_recall(names: list[str]) -> list[System]:
    """The systems behind these names, ours first."""
    table = {"ours": (OURS,), **FLOORS, **PEERS}
    return [system for name in names for system in table[name]]


def for_durable(names: list[str]) -> list[System]:
    """The same, for writing one at a time: without the variants that differ in reading only."""
    peers = [PEERS[name][0] for name in names if name in PEERS]
    return [BARE, OURS_WORDS, OURS, OURS_BUNDLED, *peers]
