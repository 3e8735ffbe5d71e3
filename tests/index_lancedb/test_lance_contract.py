"""The contract of an index and of its home, on LanceDB in a folder: in memory, and with LanceDB proposing."""

import pytest

from memoranda.index.lancedb import blocks, upkeep
from memoranda.testing.contracts import IndexContract, IndexHomeContract


class TestSmallScopes(IndexContract):
    """Everything that is eligible is at hand."""

    @pytest.fixture
    def open_index(self, opener):
        return lambda: opener("one")

    @pytest.fixture
    def other_index(self, opener):
        return lambda: opener("other")


class TestLargeScopes(TestSmallScopes):
    """No scope is small: LanceDB counts, filters and proposes."""

    @pytest.fixture(autouse=True)
    def _large(self, monkeypatch):
        monkeypatch.setattr(blocks, "SMALL", 0)
        monkeypatch.setattr(upkeep, "INDEXED_FROM", 0)

    @pytest.fixture
    def opener(self, opener):
        def make(corpus):
            index = opener(corpus)
            if not index.health().indexes:
                index.optimize()
            return index

        return make


class TestHome(IndexHomeContract):
    @pytest.fixture
    def open_home(self, homes):
        return lambda: homes("one")

    @pytest.fixture
    def other_home(self, homes):
        return lambda: homes("other")
