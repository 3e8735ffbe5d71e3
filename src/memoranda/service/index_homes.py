"""Where the index of a corpus lives: a folder beside the ledger, the database that holds the ledger, or LanceDB."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memoranda.config import Settings
from memoranda.domain.errors import ConfigError
from memoranda.ledger.database import Database

if TYPE_CHECKING:
    from memoranda.index.home import IndexHome
    from memoranda.service.corpus import Corpus

_BUSY_SECONDS = 1.0
_LANCE = "lancedb:"


def in_folder(corpus: "Corpus") -> "IndexHome":
    """A folder of files: the embedded index."""
    from memoranda.index.folder import IndexFolder

    return IndexFolder(corpus.path, busy_seconds=_BUSY_SECONDS, key=corpus.key)


def chosen(settings: Settings, database: Database) -> "Callable[[Corpus], IndexHome]":
    """What the settings say of a store."""
    where = settings.index_home
    if where == "auto":
        where = "postgres" if database.dialect.name == "postgres" else "embedded"
    if where == "embedded":
        return in_folder
    if where == "postgres":
        return lambda corpus: _in_postgres(corpus, settings, database)
    if where.startswith(_LANCE):
        return lambda corpus: _in_lance(corpus, settings, database)
    raise ConfigError(
        f"index_home is {where[:80]!r}",
        hint="Use auto, embedded, postgres, lancedb:FOLDER or lancedb:s3://BUCKET/PREFIX.",
    )


def _in_postgres(corpus: "Corpus", settings: Settings, database: Database) -> "IndexHome":
    if database.dialect.name != "postgres":
        raise ConfigError(
            "the index can be in PostgreSQL only when the store is", hint="Set index_home to auto, or move the store."
        )
    from memoranda.index.postgres.home import PostgresHome

    return PostgresHome(database, corpus.called, path=corpus.path, partitions=settings.index_partitions)


def _in_lance(corpus: "Corpus", settings: Settings, database: Database) -> "IndexHome":
    from memoranda.index.lancedb.home import open_home

    wrong = [option for option in settings.index_options if "=" not in option]
    if wrong:
        raise ConfigError(f"index_options has {wrong[0][:60]!r}", hint="Write name=value; several with | between them.")
    options = dict(option.partition("=")[::2] for option in settings.index_options)
    return open_home(
        settings.index_home.removeprefix(_LANCE),
        corpus.called,
        options,
        local_path=corpus.path,
        hold=database.hold,
        encrypted=corpus.key is not None,
    )
