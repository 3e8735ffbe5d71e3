from __future__ import annotations

from components.calling import MemoryTool


class RecallMemory(MemoryTool):
    """`recall_memory` of Memoranda."""

    name = "recall_memory"
