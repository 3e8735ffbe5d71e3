import pytest


@pytest.fixture
def run(path, model_cache, monkeypatch, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""
    for name, value in {"STORE": path, "SCOPE": "home/anna", "CACHE": model_cache, "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"MEMORANDA_{name}", str(value))

    return in_process
