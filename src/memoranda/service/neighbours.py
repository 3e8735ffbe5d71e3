"""Other processes with the same store, on whatever machine: hearing of what they write, and what we take of the server.

Only a store in a database server has anything to tell of.
"""

from typing import TYPE_CHECKING

from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from memoranda.ledger.postgres.listening import Listener, Pool


def listening(engine: Engine) -> "Listener | None":
    """Hears of what others write, for the index on this machine. One in the database is followed by who writes: if
    everybody did it for everybody, each vector would be made by all."""
    database = engine.ledger.database
    if database.dialect.name != "postgres" or engine.settings.index_home != "embedded":
        return None
    from memoranda.ledger.postgres.database import PostgresDatabase
    from memoranda.ledger.postgres.listening import Listener

    assert isinstance(database, PostgresDatabase)
    return Listener(database, engine.nudge).start()


def pool(engine: Engine) -> "Pool | None":
    """The connections of this process; None when the store is a file."""
    database = engine.ledger.database
    if database.dialect.name != "postgres":
        return None
    from memoranda.ledger.postgres.database import PostgresDatabase
    from memoranda.ledger.postgres.listening import pool_of

    assert isinstance(database, PostgresDatabase)
    return pool_of(database)
