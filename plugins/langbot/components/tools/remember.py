from __future__ import annotations

from components.calling import MemoryTool


class Remember(MemoryTool):
    """`remember` of Memoranda."""

    name = "remember"
