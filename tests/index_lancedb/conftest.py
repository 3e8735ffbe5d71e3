import pytest

from memoranda.index.lancedb.home import open_home
from memoranda.ledger.locking import held

SPACE = "hashed:words|1|64"


@pytest.fixture
def homes(tmp_path):
    """Opens the home of a corpus anew each time, as another process would."""

    def hold(name, *, patience=0.0):
        return held(tmp_path / f"lock-{name}", patience=patience)

    def make(corpus="one"):
        return open_home(str(tmp_path / "lance"), corpus, {}, local_path=tmp_path / "local", hold=hold)

    return make


@pytest.fixture
def opener(homes):
    """Opens the index of a corpus; everything is closed at the end."""
    handles = []

    def make(corpus="one"):
        handles.append(homes(corpus).open(SPACE))
        return handles[-1]

    yield make
    for handle in handles:
        handle.close()
