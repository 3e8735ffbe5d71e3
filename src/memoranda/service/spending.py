"""Spending: requests to one model, each paid for in advance out of the day's budget, and settled afterwards."""

from memoranda.ledger.ledger import Ledger
from memoranda.models.budget import Budget, Spent, reservation, settlement


class Spending:
    """The requests of one piece of work, none of which costs more than `most` tokens."""

    def __init__(self, ledger: Ledger, *, called: str, budget: Budget, most: int) -> None:
        self._ledger = ledger
        self._names = f"{called} calls", f"{called} tokens"
        self._budget = budget
        self._most = most
        self._paid: list[int] = []

    def pay(self) -> bool:
        """Put one request aside; False when the day does not allow it."""
        calls, tokens = self._names
        day = self._ledger.spend(
            self._counts(reservation(self._most)),
            allowed=lambda spent: self._budget.allows(
                Spent(spent.get(calls, 0), spent.get(tokens, 0)), tokens=self._most
            ),
        )
        if day is not None:
            self._paid.append(day)
        return day is not None

    def settle(self, *, calls: int, tokens: int) -> None:
        """What it really cost stands in the place of what was put aside."""
        reserved = Spent(*(len(self._paid) * each for each in reservation(self._most)))
        self._ledger.recount(self._counts(settlement(reserved, Spent(calls, tokens))), day=self._paid[0])

    def _counts(self, spent: Spent) -> dict[str, int]:
        return dict(zip(self._names, spent, strict=True))
