from __future__ import annotations

from components.calling import MemoryTool


class Forget(MemoryTool):
    """`forget` of Memoranda."""

    name = "forget"
