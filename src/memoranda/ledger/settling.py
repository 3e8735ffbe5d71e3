"""Look, decide and write in one transaction, so that what was decided stands on what is there."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from memoranda.domain.memory import Memory
from memoranda.domain.receipt import ChangeReceipt
from memoranda.domain.results import Changed, Remembered
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.keeping import Keep, refuse_from_below


class LetGo(NamedTuple):
    """A live memory that is to go, where to, and why."""

    id: str
    action: Literal["forgotten", "archived"]
    reason: str


class Settlement(NamedTuple):
    """What is to be done with what was found: first these go, then those are kept."""

    let_go: tuple[LetGo, ...] = ()
    keeps: tuple[Keep, ...] = ()


class Settled(NamedTuple):
    """What was done."""

    kept: tuple[Remembered, ...]
    let_go: tuple[Changed, ...]


Found = tuple[Memory, ...]
Decide = Callable[[Found], Settlement]
Choose = Callable[[Found], tuple[LetGo, ...]]


def let_go(
    connection: Connection, going: Sequence[LetGo], *, scope: Scope, actor: str, at: int, grace_ms: int
) -> list[Changed]:
    """Forget or archive these."""
    done = []
    for each in going:
        number, memory = memories.find(connection, scope, each.id)
        refuse_from_below(scope, memory)
        changed, sequence = memories.change(
            connection, number, memory, each.action, at=at, actor=actor, reason=each.reason, state=each.action
        )
        until = at + grace_ms if each.action == "forgotten" else None
        receipt = ChangeReceipt(each.action, memory.id, memory.scope, memory.state, each.action, sequence, until)
        done.append(Changed(changed, receipt))
    return done
