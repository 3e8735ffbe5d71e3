"""The contract of an index, on PostgreSQL: with small scopes, with large ones and graphs, with partitions."""

import pytest

from memoranda.index.postgres import searching, upkeep, writer
from memoranda.testing.contracts import IndexContract
from memoranda.testing.index_erasing_contract import IndexErasingContract
from memoranda.testing.index_isolation_contract import IndexIsolationContract


class _OnPostgres:
    partitions = 0

    @pytest.fixture
    def open_index(self, store):
        return store.opener(partitions=self.partitions)

    @pytest.fixture
    def other_index(self, store):
        return store.opener("messages", partitions=self.partitions)

    def in_files(self, index, needles):
        content = index.store.bytes()
        return [needle for needle in needles if needle in content]


class _WithLargeScopes(_OnPostgres):
    """Of all but the smallest scopes, the engine proposes the rows."""

    @pytest.fixture(autouse=True)
    def _large(self, monkeypatch):
        monkeypatch.setattr(writer, "SMALL", 2)
        monkeypatch.setattr(searching, "LOADED", 1)
        monkeypatch.setattr(searching, "ALL_WORDS_UP_TO", 30)
        monkeypatch.setattr(upkeep, "GRAPH_FROM", 3)


class TestPostgres(_OnPostgres, IndexContract):
    """As it is: these scopes are small."""


class TestPostgresWithLargeScopes(_WithLargeScopes, IndexContract):
    """By what the engine proposes."""


class TestPostgresWithPartitions(_WithLargeScopes, IndexIsolationContract, IndexErasingContract):
    """Over three tables instead of one."""

    partitions = 3
