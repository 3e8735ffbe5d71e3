import io
import os
import sys

import pytest

from memoranda.cli import app


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
def run(home, capsys, monkeypatch):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def runner(*argv, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            code = app.run(list(argv))
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        return code, out, err

    return runner
