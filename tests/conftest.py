from pathlib import Path

import pytest
from hypothesis import settings

import faces
from memoranda.testing.fakes import FixedClock
from shared_tests import EMBEDDED_ONLY, NOT_SERVED, SHARED
from support import open_store, register_test_embedders

register_test_embedders()
# How long one example takes says something about the machine, not about the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_addoption(parser):
    parser.addoption(
        "--face",
        action="append",
        choices=faces.FACES,
        help="run the tests of the facade on this face only; may be given several times",
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "embedded_only(reason): reaches below the facade, so that it runs on no other face"
    )


def pytest_unconfigure(config):
    faces.close()


def pytest_generate_tests(metafunc):
    """The tests of the facade run on each of its faces."""
    module = Path(metafunc.module.__file__).relative_to(Path(__file__).parent).as_posix()
    if module not in SHARED or "path" not in metafunc.fixturenames:
        return
    test = f"{module}::{metafunc.definition.originalname}"
    wanted = metafunc.config.getoption("face") or faces.FACES
    below = metafunc.definition.get_closest_marker("embedded_only") or test in EMBEDDED_ONLY
    left_out = {"async", "http"} if below else {"http"} if test in NOT_SERVED else set()
    chosen = [face for face in wanted if face not in left_out]
    metafunc.parametrize("on_face", chosen, indirect=True)


@pytest.fixture(autouse=True)
def on_face(request):
    """The face that stores are opened on."""
    with faces.on(getattr(request, "param", "embedded")):
        yield


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
