"""The contract of a ledger: what everything else relies on, whatever engine holds its tables."""

from memoranda.testing.ledger_history_contract import LedgerHistoryContract
from memoranda.testing.ledger_rooms_contract import LedgerRoomsContract
from memoranda.testing.ledger_scopes_contract import LedgerScopesContract
from memoranda.testing.ledger_talks_contract import LedgerTalksContract
from memoranda.testing.ledger_values_contract import LedgerValuesContract
from memoranda.testing.ledger_writing_contract import LedgerWritingContract


class LedgerContract(
    LedgerWritingContract,
    LedgerScopesContract,
    LedgerValuesContract,
    LedgerHistoryContract,
    LedgerTalksContract,
    LedgerRoomsContract,
):
    """For a `Ledger` on some engine: needs a fixture `open_ledger`, which opens the same store again each time it is
    called, as another process would have it, and `clock`, a `FixedClock` that all of these openings have.

    The fixture closes what it opened. Say in `table_names` which tables there are, and in `place` how another process
    opens the store.
    """
