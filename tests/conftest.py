import io
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import faces
import postgres
from memoranda.cli import app
from memoranda.testing.fakes import FixedClock
from shared_tests import ALSO_POSTGRES, AT_THE_DOOR, EMBEDDED_ONLY, NOT_POSTGRES, NOT_SERVED, SHARED
from support import open_store, register_test_embedders

register_test_embedders()
# How long one example takes says something about the machine, not about the code.
settings.register_profile("house", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("house")
HERE = Path(__file__).parent


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
    # A run in the background of a shell ignores interrupts, and so would every process that a test starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Much is written and synced that need not outlive the run: in memory, where there is room for it.
    if "TMPDIR" not in os.environ and (disk := postgres.memory_disk()):
        os.environ["TMPDIR"] = str(disk)
        tempfile.tempdir = None


def pytest_ignore_collect(collection_path, config):
    """A run of marked tests only reads the files that mark some: reading all of them takes half a minute."""
    wanted = re.findall(r"(?<!not )\b(slow|browser|hosts|postgres)\b", config.getoption("markexpr"))
    if not wanted or not collection_path.name.startswith("test_") or HERE not in collection_path.parents:
        return None
    if "postgres" in wanted and collection_path.relative_to(HERE).as_posix() in SHARED | ALSO_POSTGRES:
        return None
    files = (collection_path, collection_path.with_name("conftest.py"))
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists() and file != HERE / "conftest.py"]
    return None if any(f"mark.{name}" in text for name in wanted for text in texts) else True


def pytest_sessionstart(session):
    base = session.config._tmp_path_factory.getbasetemp()
    is_worker = hasattr(session.config, "workerinput")
    postgres.begin(base.parent if is_worker else base, owner=os.getppid() if is_worker else os.getpid())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        postgres.finish()


def pytest_unconfigure(config):
    faces.close()


def pytest_generate_tests(metafunc):
    """The tests of the facade run on each of its faces."""
    module = Path(metafunc.module.__file__).relative_to(HERE).as_posix()
    if "path" not in metafunc.fixturenames:
        return
    possible = _faces_of(module, f"{module}::{metafunc.definition.originalname}", metafunc.definition)
    if possible == ["embedded"] and module not in SHARED | ALSO_POSTGRES:
        return
    wanted = metafunc.config.getoption("face") or faces.FACES
    marks = {"postgres": [pytest.mark.postgres]}
    chosen = [pytest.param(face, marks=marks.get(face, ())) for face in possible if face in wanted]
    metafunc.parametrize("on_face", chosen, indirect=True)


def _faces_of(module, test, definition):
    if definition.get_closest_marker("embedded_only") or test in EMBEDDED_ONLY:
        return ["embedded"]
    if module in AT_THE_DOOR:
        return ["embedded"] if test in NOT_SERVED else ["embedded", "http"]
    found = ["embedded"]
    if module in SHARED:
        found += ["async"] if test in NOT_SERVED else ["async", "http"]
    # What is slow there has tests of its own.
    if module in SHARED | ALSO_POSTGRES and test not in NOT_POSTGRES and not definition.get_closest_marker("slow"):
        found.append("postgres")
    return found


@pytest.fixture(autouse=True)
def on_face(request):
    """The face that stores are opened on."""
    with faces.on(getattr(request, "param", "embedded")):
        yield


@pytest.fixture
def in_process(monkeypatch, capsys):
    """Runs a command in this process: (exit code, stdout, stderr)."""

    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def runner(*argv, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            code = app.run([str(word) for word in argv])
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        return code, out, err

    return runner


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with nothing in it, from which commands are run."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("MEMORANDA_") and name != "MEMORANDA_HOSTS_DIR"]:
        monkeypatch.delenv(name)
    return folder


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
