import pytest

from memoranda.testing.servers import ChatServer

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture
def server():
    with ChatServer(key=KEY) as running:
        yield running
