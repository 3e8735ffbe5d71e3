"""What a statement is given to: a connection of whatever engine. The same statements run on each of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memoranda.ledger.dialect import Dialect

Values = Mapping[str, Any] | Sequence[Any]


class Cursor(Protocol):
    """The rows of one statement."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...

    def __next__(self) -> tuple[Any, ...]: ...

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None when there is none."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""


class Connection(Protocol):
    """A connection inside of a transaction that somebody else has begun and ends."""

    @property
    def dialect(self) -> "Dialect":
        """What differs between engines."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def execute(self, statement: str, values: Values | None = None, /) -> Any:
        """Run a statement with named values (`:name`); its rows, as a `Cursor`."""

    def changes(self) -> int:
        """How many rows the last statement changed."""
