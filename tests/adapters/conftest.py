import pytest

from memoranda.adapters.mem0 import Memory
from support import open_store


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.db", "app") as memory:
        yield memory


@pytest.fixture
def mem0(store):
    return Memory(memory=store)
