"""Whether an object store can be trusted with an index: of those who write the same name at once, one must win."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from memoranda.domain.errors import IndexRefused
from memoranda.index.lancedb.rows import Standing, to_table
from memoranda.index.lancedb.tables import Table, Tables

_RACERS = 4
_RACES = 4


def check_conditional_writes(tables: Tables) -> None:
    """Let several add to the same table at once, a few times; IndexRefused when something of it is missing then.

    Each addition is a version of the table. Where the store does not refuse a version that another has just written,
    the later one takes the place of the earlier, and that is lost though it was acknowledged.
    """
    name = f"probe-{secrets.token_hex(8)}"
    table = tables.create(name, Standing("probe"))
    try:
        for _ in range(_RACES):
            _race(tables, name)
        table.version()
        lost = _RACERS * _RACES + 1 - table.count("true")
    finally:
        tables.drop(name)
    if lost:
        raise IndexRefused(
            f"the object store lost {lost} of {_RACERS * _RACES} things that were written at once",
            hint="Use one that honours conditional writes (If-None-Match); rclone, for one, does not.",
        )


def _race(tables: Tables, name: str) -> None:
    start = Barrier(_RACERS)
    rows = to_table((), Standing("probe"))

    def run(table: Table | None) -> None:
        start.wait()
        if table is not None:
            table.tables.asked(lambda: table.handle.add(rows))

    racers = [tables.open(name) for _ in range(_RACERS)]
    with ThreadPoolExecutor(_RACERS) as pool:
        list(pool.map(run, racers))
