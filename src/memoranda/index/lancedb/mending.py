"""After a power cut: back to the last version of a table that is whole. LanceDB does not wait for the disk.

Only for a folder: an object store has taken what it acknowledged.
"""

from memoranda.domain.errors import LedgerError
from memoranda.index.lancedb import upkeep
from memoranda.index.lancedb.rows import NAMES, unpacked
from memoranda.index.lancedb.tables import Table, Tables

_STEPS = 16


def mended(tables: Tables, name: str) -> Table | None:
    """The table as of its newest version that can be read from end to end; None when there is none nearby.

    Versions that cannot are removed: nothing would be appended to a table whose newest version is torn.
    """
    if tables.folder is None:
        return None
    versions = tables.folder / f"{name}.lance" / "_versions"
    # The engine counts its names backwards: the newest comes first.
    for newest in sorted(versions.glob("*.manifest"))[:_STEPS]:
        (versions / "latest_version_hint.json").unlink(missing_ok=True)
        try:
            table = tables.open(name)
            if table is not None and _is_whole(table):
                upkeep.make_indexes(table, vectors=True, anew=True)  # theirs may be torn, too
                return table
        except (LedgerError, ValueError):
            pass
        newest.unlink(missing_ok=True)
    return None


def _is_whole(table: Table) -> bool:
    """Whether every row can be read, in every column."""
    table.version()
    table.standing()
    read = table.rows(upkeep.REAL, (*NAMES, "vector") if table.width() else NAMES)
    return len(unpacked(read)) == table.count(upkeep.REAL)
