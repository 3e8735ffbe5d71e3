import pytest

from memoranda import Settings
from memoranda.ledger.answers import Answers
from memoranda.service.store import Store


@pytest.fixture
def store(path, clock):
    """One open store, by words only, with a clock that stands still."""
    with Store.open(path, settings=Settings(embedder="none", follow=False), clock=clock) as opened:
        yield opened


@pytest.fixture
def book(store):
    """Its tokens."""
    return store.tokens


@pytest.fixture
def made(store, clock):
    """Answers of this store, as often as wanted: each as another process would have them."""
    handles = []

    def maker():
        ledger = store._engine.ledger
        handles.append(Answers(ledger.database, clock, key=ledger.key_for("answers")))
        return handles[-1]

    yield maker
    for handle in handles:
        handle.close()


@pytest.fixture
def answers(made):
    return made()


@pytest.fixture
def run(path, model_cache, monkeypatch, in_process):
    """Run a command in this process, with no scope configured: (exit code, stdout, stderr)."""
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_CACHE", str(model_cache))
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.delenv("MEMORANDA_SCOPE", raising=False)
    monkeypatch.setenv("MEMORANDA_CONFIG", "")

    return in_process
