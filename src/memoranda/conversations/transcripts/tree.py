"""Which lines of a session are on the branch that its host would show. Keeps ids, no text.

A session file only grows: going back and saying something else adds lines whose parent is an older one. The branch is
what leads from the last line of a conversation back to its first.
"""

from typing import NamedTuple


class Link(NamedTuple):
    """How a line hangs together with others."""

    id: str
    parent: str | None
    """None when the host does not say; `""` when it says that there is none: a beginning."""
    conversation: str
    turn: str = ""
    """Lines of one answer share it, wherever they hang."""
    answers: bool = False
    """A result of a tool belongs to the turn that called it: of several, the host goes on from only one."""
    ends: bool = True
    """Whether a conversation may end here."""


class Branches(NamedTuple):
    """Numbers of lines. A line that is in neither set is shown."""

    hidden: frozenset[int]
    repeated: frozenset[int]


class Tree:
    """Takes the lines of a file in their order. A parent is always an older line, so that there are no circles."""

    def __init__(self) -> None:
        self._node_of: dict[str, int] = {}
        self._conversation_of: dict[str, str] = {}
        self._turns: dict[tuple[str, str], int] = {}
        self._parents: list[int] = []
        self._last: dict[str, int] = {}
        self._leaves: dict[str, int] = {}
        self._lines: list[tuple[int, int]] = []
        self._repeated: set[int] = set()

    def add(self, number: int, link: Link) -> None:
        """Line `number` of the file."""
        if link.id in self._node_of:
            self._repeated.add(number)
            return
        before = self._before(link)
        turn = (link.conversation, link.turn)
        if link.answers and before >= 0:
            node = before
        elif link.turn and turn in self._turns:
            node = self._turns[turn]
        else:
            node = len(self._parents)
            self._parents.append(before)
        if link.turn:
            self._turns.setdefault(turn, node)
        self._node_of[link.id] = self._last[link.conversation] = node
        self._conversation_of[link.id] = link.conversation
        self._lines.append((number, node))
        if link.ends:
            self._leaves[link.conversation] = node

    def conversation_of(self, name: str) -> str:
        """Where the line with this id was said; empty when there is none."""
        return self._conversation_of.get(name, "")

    def branches(self) -> Branches:
        """What is shown and what is not, now that every line is known."""
        shown: set[int] = set()
        for leaf in self._leaves.values():
            node = leaf
            while node >= 0 and node not in shown:
                shown.add(node)
                node = self._parents[node]
        return Branches(
            hidden=frozenset(number for number, node in self._lines if node not in shown),
            repeated=frozenset(self._repeated),
        )

    def _before(self, link: Link) -> int:
        """The node that a line follows; -1 for a beginning."""
        if link.parent == "":
            return -1
        if link.parent is not None and link.parent in self._node_of:
            return self._node_of[link.parent]
        # Its parent was lost: a bad line must not cost everything before it.
        return self._last.get(link.conversation, -1)
