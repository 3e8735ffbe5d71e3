"""The store that is grown: where it is for each engine, and how large."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from bench.scale_world import WordsEmbedder
from memoranda import Settings
from memoranda.domain.scope import Scope
from memoranda.embedding import registry
from memoranda.service.memory import LongTermMemory
from memoranda.service.store import Store

ENGINES = ("embedded", "postgres", "lancedb")


class Place(NamedTuple):
    """An engine, a folder for its files, and the address of its server where there is one."""

    engine: str
    folder: str
    address: str = ""

    @property
    def ledger(self) -> Path:
        return Path(self.folder) / "scale.db"

    def open(self) -> Store:
        """The store, with nobody following in the background: the steps are timed one by one."""
        registry._PROVIDERS["words"] = lambda model, settings: WordsEmbedder()
        return Store.open(settings=self.settings())

    def settings(self) -> Settings:
        wanted: dict[str, Any] = {"embedder": WordsEmbedder.name, "follow": False}
        wanted["store"] = self.address or str(self.ledger)
        if self.engine == "lancedb":
            wanted["index_home"] = f"lancedb:{Path(self.folder) / 'lance'}"
        if self.engine == "postgres":
            wanted["local_folder"] = str(Path(self.folder) / "local")
        return Settings(**wanted)

    def bytes(self, store: Store) -> dict[str, int]:
        """Bytes on disk of the ledger and of what is searched."""
        if self.engine == "postgres":
            return _tables(store)
        database = store._engine.ledger.database
        database.checkpoint()
        index = Path(self.folder) / "lance" if self.engine == "lancedb" else Path(f"{self.ledger}-index")
        return {"ledger": _sum([Path(name) for name in database.files()]), "index": _sum(index.rglob("*"))}


def memory_of(store: Store, path: str) -> LongTermMemory:
    return store.memory(Scope(path))


def _sum(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


def _tables(store: Store) -> dict[str, int]:
    """What PostgreSQL says of its tables with their indexes; those named index_ belong to what is searched."""
    found = {"ledger": 0, "index": 0}
    with store._engine.ledger.database.read() as connection:
        rows = connection.execute(
            "select relname, pg_total_relation_size(oid) from pg_class "
            "where relkind in ('r', 'm') and relnamespace = current_schema()::regnamespace"
        ).fetchall()
    for name, size in rows:
        found["index" if str(name).startswith("index") else "ledger"] += int(size)
    return found
