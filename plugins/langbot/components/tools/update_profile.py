from __future__ import annotations

from components.calling import MemoryTool


class UpdateProfile(MemoryTool):
    """`update_profile` of Memoranda."""

    name = "update_profile"
