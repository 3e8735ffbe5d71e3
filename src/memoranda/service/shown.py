"""What was shown lately, so that a block given to a model does not repeat itself turn after turn."""

from collections import OrderedDict, deque
from collections.abc import Sequence

from memoranda.domain.scope import Scope

_TURNS = 6
_CONVERSATIONS = 1_000
# Of one turn, so that all turns together fit into a request.
_IDS = 40


class Shown:
    """The ids shown in the last turns of each conversation. In memory only."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, str], deque[tuple[str, ...]]] = OrderedDict()

    def lately(self, scope: Scope, conversation: str) -> tuple[str, ...]:
        turns = self._turns.get((scope.path, conversation), ())
        return tuple(sorted({identity for turn in turns for identity in turn}))

    def note(self, scope: Scope, conversation: str, ids: Sequence[str]) -> None:
        turns = self._turns.setdefault((scope.path, conversation), deque(maxlen=_TURNS))
        turns.append(tuple(ids[:_IDS]))
        self._turns.move_to_end((scope.path, conversation))
        while len(self._turns) > _CONVERSATIONS:
            self._turns.popitem(last=False)
