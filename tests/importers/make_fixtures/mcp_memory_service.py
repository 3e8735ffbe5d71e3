r"""Makes fixtures/mcp_memory_service with the real mcp-memory-service: its own store, and its own JSON export of it.

    python -m venv service && service/bin/pip install mcp-memory-service==12.4.0
    service/bin/python -P tests/importers/make_fixtures/mcp_memory_service.py \
        tests/importers/fixtures/mcp_memory_service

Its vectors are made from hashes, as it does without a model; nothing is downloaded. They fill 1.7 MB however few they
are, so the table of vectors is dropped from the copy that is kept. Needs a Python that loads extensions of SQLite.
"""

import asyncio
import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

os.environ |= {
    "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
    "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
    "MCP_MEMORY_USE_ONNX": "0",
    "HOSTNAME": "household",
    "COMPUTERNAME": "household",
}


async def make():
    from mcp_memory_service.services.memory_service import MemoryService
    from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
    from mcp_memory_service.sync.exporter import MemoryExporter

    storage = SqliteVecMemoryStorage("memory.db")
    await storage.initialize()
    service = MemoryService(storage)

    async def keep(content, **said):
        kept = await service.store_memory(content=content, **said)
        assert kept["success"], kept
        return kept["memory"]["content_hash"]

    await keep("The oven runs ten degrees hot.", tags=["kitchen", "oven"], memory_type="observation")
    await keep("We decided to release on Tuesdays.", tags=["release"], memory_type="decision")
    await keep(
        "Anna prefers short answers.",
        tags=["anna"],
        memory_type="preference_signal",
        conversation_id="breakfast",
        metadata={"quality_score": 0.9},
    )
    await keep("The stand-up moved to half past nine.", memory_type="meeting")
    await keep("Naïve café: zażółć gęślą jaźń.")
    lives = await keep("Anna lives in Poznań.", tags=["anna"], memory_type="observation")
    done, said, _ = await storage.update_memory_versioned(lives, "Anna lives in Gdańsk.", reason="moved")
    assert done, said
    gone = await keep("Anna is allergic to cats.", memory_type="observation")
    done, said = await storage.delete(gone)
    assert done, said
    exporter = MemoryExporter(storage)
    await exporter.export_to_json(Path("export.json"))
    await storage.close()


def shrink(path):
    """The same file without its table of vectors, in one piece."""
    import sqlite_vec

    store = sqlite3.connect(path, isolation_level=None)
    store.enable_load_extension(True)
    sqlite_vec.load(store)
    store.execute("drop table memory_embeddings")
    store.execute("pragma journal_mode = delete")
    store.execute("vacuum")
    store.close()


def main(target):
    target.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    target = target.resolve()
    os.chdir(tempfile.mkdtemp())
    asyncio.run(make())
    shrink("memory.db")
    shutil.copy("memory.db", target / "memory.sqlite")
    shutil.copy("export.json", target / "export.json")
    os.chdir(before)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
