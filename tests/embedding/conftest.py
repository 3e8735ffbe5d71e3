import pytest

from memoranda.testing.servers import EmbeddingServer

from .model_folder import make_model

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture
def server():
    with EmbeddingServer(dimensions=48, key=KEY) as running:
        yield running


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "tiny")
