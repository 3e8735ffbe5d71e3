"""How PostgreSQL finds what the ledger asks for: of texts it knows nothing, and must not walk through a scope."""

import pytest

import faces
from memoranda import Draft
from memoranda.ledger import memories
from support import open_store

pytestmark = pytest.mark.postgres


class Explained:
    """A connection that notes how each statement is carried out."""

    def __init__(self, connection):
        self._connection = connection
        self.plans = []

    def execute(self, statement, values=None):
        plan = self._connection.execute(f"explain {statement}", values).fetchall()
        self.plans.append("\n".join(str(row[0]) for row in plan))
        return self._connection.execute(statement, values)


@pytest.mark.parametrize("sampled", [False, True])
def test_what_says_the_same_is_found_by_its_text_however_large_the_scope(tmp_path, sampled):
    with faces.on("postgres"), open_store(tmp_path / "store.db") as memory:
        memory.remember_many([Draft(f"Shelf {number} holds jar {number}.") for number in range(600)])
        database = memory._engine.ledger.database
        kept = memory.list(limit=1)[0]
        if sampled:
            database.write(lambda connection: connection.execute("analyze memory"))
        with database.read() as connection:
            explained = Explained(connection)
            assert memories.find_same(explained, kept)[1].id == kept.id
            assert not memories.was_forgotten(explained, kept)
        assert len(explained.plans) == 2
        for plan in explained.plans:
            assert "memory_content" in plan, plan
