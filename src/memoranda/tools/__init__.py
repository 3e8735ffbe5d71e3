"""Tools for agents: definitions that a model reads, and what is done when it calls one. Speaks to the facade only."""

from memoranda.tools.results import ToolResult as ToolResult
from memoranda.tools.toolbox import Tools as Tools
from memoranda.tools.toolbox import Toolset as Toolset

__all__ = ["ToolResult", "Tools", "Toolset"]
