"""Tidying up, with what it gained."""

import shutil
import time
from collections.abc import Callable

from memoranda.domain.health import Optimized
from memoranda.domain.ports import Progress
from memoranda.domain.results import IndexStatus
from memoranda.ledger.owing import Owing
from memoranda.ledger.upkeep import UpkeepBook
from memoranda.service.engine import Engine
from memoranda.service.surroundings import size_of

_FREE_SHARE = 0.25
_LEAST_FREE = 1 << 20


def optimize(engine: Engine, status: Callable[[], IndexStatus], progress: Progress | None) -> Optimized:
    """Indexes of memories and of transcripts; the ledger when a quarter of it is free and the disk has room.

    In PostgreSQL always: only so the bytes of what was deleted leave large tables.
    """
    began = time.monotonic()
    engine.memories.catch_up(seconds=0)
    engine.ledger.database.checkpoint()
    before, bytes_before = status(), _size(engine)
    for corpus in engine.corpora():
        corpus.home.tidy_if_idle()
        corpus.catch_up(seconds=0)
        corpus.index().optimize(progress)
        if not corpus.index().scrub() and _in_tables(engine):
            corpus.index().rewrite()
    owing = Owing(engine.ledger.database)
    noted = owing.noted()
    rewritten = _worth_it(engine)
    if rewritten:
        engine.ledger.database.vacuum()
        owing.settle(noted)
    engine.ledger.database.checkpoint()
    return Optimized(before, status(), bytes_before, _size(engine), rewritten, round(time.monotonic() - began, 3))


def _size(engine: Engine) -> int:
    """All that it takes, here and in the database."""
    database = engine.ledger.database
    elsewhere = database.free_and_all_bytes()[1] if _in_tables(engine) else 0
    return size_of(engine.ledger.path) + elsewhere


def _in_tables(engine: Engine) -> bool:
    """Whether it is in tables of a server, whose files are not ours."""
    return engine.ledger.database.dialect.name == "postgres"


def _worth_it(engine: Engine) -> bool:
    if _in_tables(engine):
        return True
    free, size = UpkeepBook(engine.ledger.database, engine.clock).free_and_all_bytes()
    much = free > _LEAST_FREE and free > size * _FREE_SHARE
    return much and shutil.disk_usage(engine.ledger.path.parent).free > 2 * size
