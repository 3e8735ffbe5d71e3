"""What a server prints for Python runs as it stands, in a shell that knows nothing of the package."""

import os
import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("way", [("--port", "0"), ("--uds", "memory.sock")], ids=["port", "socket"])
def test_the_line_for_python_runs_as_it_is_printed(tmp_path, way):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    command = [sys.executable, "-m", "memoranda", "--store", "home.db", "--scope", "home/anna", "--embedder", "none"]
    with subprocess.Popen(
        [*command, "serve", *way],
        cwd=tmp_path,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            line = next(each for each in server.stdout if each.split()[:1] == ["Python"])
            bare = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
            ran = subprocess.run(
                ["sh", "-c", line.replace("Python", "", 1)],
                cwd="/",
                env=bare,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=30)
    assert ran.returncode == 0, ran.stderr
    assert "home/anna" in ran.stdout
