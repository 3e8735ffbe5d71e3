import hashlib

import pytest

import memoranda
import postgres
from memoranda import Settings


@pytest.fixture
def server():
    return postgres.shared()


@pytest.fixture
def address(server, tmp_path):
    """A store of its own."""
    schema = "f_" + hashlib.blake2b(str(tmp_path).encode(), digest_size=8).hexdigest()
    yield server.address(schema)
    server.sql(f"drop schema if exists {schema} cascade")


@pytest.fixture
def chosen(tmp_path):
    return Settings(embedder="none", follow=False, local_folder=str(tmp_path / "local"), index_home="embedded")


@pytest.fixture
def opened(address, chosen):
    """Opens the store from a scope as often as wanted; everything is closed at the end."""
    handles = []

    def opener(scope, **settings):
        handles.append(memoranda.open(address, scope=scope, settings=chosen._replace(**settings)))
        return handles[-1]

    yield opener
    for handle in reversed(handles):
        handle.close()
