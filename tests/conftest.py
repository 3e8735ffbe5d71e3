import pytest
from hypothesis import settings

from memoranda.testing.fakes import FixedClock
from support import open_store, register_test_embedders

register_test_embedders()
# How long one example takes says something about the machine, not about the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def opened(path):
    """Opens the store of this test as often as wanted; everything is closed at the end."""
    handles = []

    def opener(*args, **settings):
        handles.append(open_store(path, *args, **settings))
        return handles[-1]

    yield opener
    for handle in reversed(handles):
        handle.close()


@pytest.fixture
def memory(opened, clock):
    """By words only, with a clock that stands still."""
    return opened(clock=clock)


@pytest.fixture(scope="session", autouse=True)
def model_cache(tmp_path_factory):
    """The bundled embedder's files are laid out once for all workers of this run, and not in anybody's own cache."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if base.name.startswith("popen-") else base) / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield str(folder / "memoranda" / "models")
