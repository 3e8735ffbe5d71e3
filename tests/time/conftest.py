import pytest

from memoranda.cli import app


@pytest.fixture
def run(path, model_cache, monkeypatch, capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""
    for name, value in {"STORE": path, "SCOPE": "home/anna", "CACHE": model_cache, "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"MEMORANDA_{name}", str(value))

    def runner(*argv):
        try:
            code = app.run(list(argv))
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        return code, out, err

    return runner
