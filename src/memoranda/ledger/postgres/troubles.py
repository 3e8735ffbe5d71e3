"""PostgreSQL's errors as ours, each with its way out; and which of them pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from memoranda.domain.address import Address
from memoranda.domain.errors import (
    ConfigError,
    InvalidInput,
    LedgerDamaged,
    LedgerError,
    LedgerFull,
    LedgerLocked,
    LedgerUnavailable,
    MemorandaError,
)
from memoranda.ledger.database import closed
from memoranda.ledger.moved import STATE, moved

OF_ONE_STATEMENT = (
    psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.NotSupportedError,
)  # fmt: skip
"""What is wrong with a statement and its values; nothing else is."""
_PASSING = (errors.SerializationFailure, errors.DeadlockDetected)
# No connection, or the server is going down or coming up, or it ended a session, or may not be written to (any more).
_LOST_CLASSES = ("08", "57P")
_LOST = ("25006", "25P03", "25P04", "53300")
_REFUSALS = (
    "authentication failed", "does not exist", "no pg_hba.conf", "invalid connection option", "no password",
    "invalid sslmode", "invalid port", "invalid integer value", "does not support ssl",
)  # fmt: skip


def is_passing(error: psycopg.Error) -> bool:
    """Whether the same transaction may go through when it is tried again."""
    return isinstance(error, _PASSING)


def is_lost(error: psycopg.Error) -> bool:
    """Whether the session was lost, or could not be had: another may be."""
    if error.sqlstate is not None:
        return error.sqlstate.startswith(_LOST_CLASSES) or error.sqlstate in _LOST
    # Without a state of the server's own, nobody answered. What it refuses it refuses again.
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not _is_refused(error)


def _is_refused(error: psycopg.Error) -> bool:
    told = str(error).casefold()
    return any(word in told for word in _REFUSALS)


@contextmanager
def translated(address: Address, is_closed: Callable[[], bool]) -> Iterator[None]:
    """Raise ours for theirs. No message repeats a statement or its values."""
    try:
        yield
    except psycopg.Error as error:
        raised = closed() if is_closed() else _ours(error, address)
        if raised is None:  # a fault of ours
            raise
        raise raised from error


def _ours(error: psycopg.Error, address: Address) -> MemorandaError | None:
    """The error that tells it; None when it is a fault of ours."""
    store, told = address.shown, _first_line(error)
    if error.sqlstate == STATE:
        return moved(told)
    if isinstance(error, errors.LockNotAvailable):
        return LedgerLocked(f"{store} is locked by another process")
    if isinstance(error, errors.DiskFull):
        return LedgerFull(f"no space left for {store}")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return LedgerDamaged(f"{store} is damaged ({told})")
    if isinstance(error, errors.InsufficientPrivilege):
        return _not_allowed(store, told)
    if isinstance(error, psycopg.DataError):
        odd = "NUL" in told or "\\u0000" in told
        return InvalidInput("text with a NUL character cannot be kept", hint="Take it out.") if odd else None
    if isinstance(error, PoolClosed | PoolTimeout) or is_lost(error):
        return LedgerUnavailable(f"{store} does not answer ({told})")
    if error.sqlstate is None and _is_refused(error):
        return LedgerError(f"{store} cannot be used ({told})", hint="Check the address, the user and the password.")
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:  # the driver's own, of the address
        return ConfigError(f"{store} is not an address that the driver takes", hint="Look at its parameters.")
    if isinstance(error, psycopg.OperationalError):
        return LedgerError(f"{store} could not do that ({told})", hint="Look at the log of the server, then try again.")
    return None


def _not_allowed(store: str, told: str) -> LedgerError:
    if "row-level security" in told:
        hint = "This is our fault: nothing was written. Please report it, with what you did."
        return LedgerError(f"a row outside of the scope was refused ({told})", hint=hint)
    return LedgerError(
        f"{store} does not allow that ({told})",
        hint="Give the role the right to create in the database, or make the schema and give it to the role.",
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200]
