"""How a host starts what serves it: this very installation, with these options, from any folder and environment."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Launch(NamedTuple):
    """A command, and its options for the server of tools and for hooks."""

    command: tuple[str, ...]
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    version: str = ""

    def server(self) -> tuple[str, tuple[str, ...]]:
        """The program and its arguments that serve tools."""
        first, *more = self.command
        return first, (*more, "mcp", *self.tools)

    def hook(self, event: str, host: str, *, platform: str = sys.platform) -> str:
        """One line for a shell."""
        words = [*self.command, "hook", event, "--host", host, *self.hooks]
        return subprocess.list2cmdline(words) if platform == "win32" else shlex.join(words)


def command_of(executable: Path) -> tuple[str, ...]:
    """The command beside the interpreter, or the interpreter itself."""
    for name in ("memoranda", "memoranda.exe"):
        command = executable.parent / name
        if command.is_file():
            return (str(command),)
    return (str(executable), "-m", "memoranda")
