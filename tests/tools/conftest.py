import pytest

from memoranda.tools import Tools


@pytest.fixture
def tools(memory):
    """Bound as a host does that asked the user."""
    return Tools(memory, source="user", speaker="anna", conversation="c1")


@pytest.fixture
def agent(memory):
    """Bound as a host does that asked nobody."""
    return Tools(memory)


@pytest.fixture
def lamps(tools):
    """Ids of two memories of which one word is the same."""
    texts = ("The red lamp stands in the hall.", "The blue lamp stands in the cellar.")
    return [tools.call("memory_store", {"text": text}).data["id"] for text in texts]
