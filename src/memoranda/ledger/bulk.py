"""SQL for letting go of many at once: which fit, and their new state, some hundreds in one commit."""

from collections.abc import Sequence

from memoranda.domain.bulk import MAY_GO, BulkAction
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.dialect import in_parts
from memoranda.ledger.ledger import Filter, Ledger
from memoranda.ledger.operations import journal
from memoranda.ledger.past import current
from memoranda.ledger.rows import SELECTED, from_row

AT_ONCE = 500
Numbered = tuple[int, Memory]
_VERBS: dict[BulkAction, str] = {"forgotten": "forget many", "archived": "archive many"}


class Bulk:
    """Letting go of many in one store."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def fitting(self, scope: Scope, wanted: Filter) -> list[Numbered]:
        """What fits, oldest first."""
        with self._ledger.database.read() as connection:
            numbers = sorted(memories.numbers_that_fit(connection, scope, wanted))
            found: dict[int, Memory] = {}
            for listed, values in in_parts("number", numbers):
                rows = connection.execute(f"select {SELECTED} from memory m where m.number in ({listed})", values)  # noqa: S608
                found.update(from_row(row) for row in rows)
        return [(number, found[number]) for number in numbers if number in found]

    def named(self, scope: Scope, references: Sequence[str], *, below: bool) -> list[Numbered]:
        """These, which must be of this scope, or with `below` of one below it."""
        with self._ledger.database.read() as connection:
            found = dict(memories.find_inside(connection, scope, each, below=below) for each in references)
        return sorted(found.items())

    def change(
        self, chosen: Sequence[Numbered], action: BulkAction, *, scope: Scope, actor: str, reason: str, batch: str
    ) -> int:
        """Let go of these in one commit, but of none that was changed since it was looked at; how many went."""

        def job(connection: Connection) -> int:
            at = self._ledger.clock.now()
            now = current(connection, [number for number, _ in chosen])
            done = 0
            with journal(connection, _VERBS[action], scope=scope.path, actor=actor, at=at, batch=batch):
                for number, seen in chosen:
                    memory = now.get(number)
                    if memory is None or memory.state != seen.state or memory.state not in MAY_GO[action]:
                        continue
                    memories.change(connection, number, memory, action, at=at, actor=actor, reason=reason, state=action)
                    done += 1
            return done

        return self._ledger.even_if_full(job)
