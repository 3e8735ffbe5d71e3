"""What erasures could not finish at once, because somebody looked or the tables were large: noted, and gone on with."""

from memoranda.ledger.owing import Owing
from memoranda.service.engine import Engine
from memoranda.service.erasure import scrubbed


def owed(engine: Engine) -> str:
    """Empty when nothing is. Else a word that changes with every erasure: the same word for long is left behind."""
    return Owing(engine.ledger.database).noted()


def finished(engine: Engine) -> str:
    """Go on with it, if there is anything; why it could not be finished now, if so. Can be done again."""
    database = engine.ledger.database
    owing = Owing(database)
    noted = owing.noted()
    if not noted and database.dialect.name == "postgres":
        return ""
    pending = scrubbed(engine)
    if not pending:
        owing.settle(noted)
    return pending
