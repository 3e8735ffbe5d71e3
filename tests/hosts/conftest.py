import pytest


@pytest.fixture
def run(home, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""

    return in_process
