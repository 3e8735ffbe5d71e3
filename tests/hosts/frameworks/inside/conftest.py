"""A model that does what prompts tell it, and a memory that is embedded, or served by the process that started this."""

import os
import uuid

import pytest

import memoranda
from memoranda.testing.agents import AgentServer


@pytest.fixture(scope="session")
def model():
    with AgentServer() as server:
        yield server


@pytest.fixture
def url(model):
    return f"{model.url}/openai/v1"


@pytest.fixture(params=["embedded", "served"])
def memory(request, tmp_path):
    scope = f"test/n{uuid.uuid4().hex[:8]}"
    if request.param == "embedded":
        opened = memoranda.open(tmp_path / "memory.db", scope=scope)
    else:
        opened = memoranda.connect(os.environ["TEST_SERVER_URL"], os.environ["TEST_SERVER_TOKEN"], scope=scope)
    with opened as memory:
        yield memory


@pytest.fixture
def embedded(tmp_path):
    with memoranda.open(tmp_path / "embedded.db", scope="test") as memory:
        yield memory
