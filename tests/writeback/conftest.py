"""A copy of the table that OpenClaw's plugin wrote, and a store that took it in."""

import shutil
from pathlib import Path

import pytest

from memoranda.service.writeback import write_back

lancedb = pytest.importorskip("lancedb")

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures" / "openclaw_lancedb"


class Table:
    """Their table, read with LanceDB alone."""

    def __init__(self, folder):
        self.folder = folder

    @property
    def opened(self):
        return lancedb.connect(str(self.folder)).open_table("memories")

    def rows(self):
        return {row["id"]: row for row in self.opened.to_arrow().to_pylist()}

    def columns(self):
        return self.opened.schema.names

    def vectors(self):
        """Ids with the bytes of the vectors, not the numbers."""
        found = self.opened.to_arrow()
        vectors = found["vector"].combine_chunks()
        values, size = vectors.flatten().to_numpy(), vectors.type.list_size
        return {
            theirs: values[at * size : (at + 1) * size].tobytes() for at, theirs in enumerate(found["id"].to_pylist())
        }


@pytest.fixture
def table(tmp_path):
    return Table(Path(shutil.copytree(FIXTURES / "memory-lancedb", tmp_path / "lancedb")))


@pytest.fixture
def agents(tmp_path):
    return Table(Path(shutil.copytree(FIXTURES / "agents", tmp_path / "agents")))


@pytest.fixture
def imported(memory, table):
    """The memory of a scope that has taken the whole table in: their ids and ours."""
    memory.import_memories(table.folder)
    return {each.source_ref.partition(":")[2]: each.id for each in memory.list(limit=50)}


@pytest.fixture
def write(memory, table):
    """Write back, with the receipt as programs get it."""

    def wrote(folder=table.folder, **options):
        return write_back(memory._engine, memory._scope, folder, **options).as_json()

    return wrote
