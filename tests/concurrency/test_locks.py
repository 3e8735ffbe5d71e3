"""An open store stays locked, whatever this process reads of its files: nobody may take it for abandoned."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import SCOPE, open_store


def other_process(path, *words):
    """What a command says in a process of its own, which opens the store and closes it."""
    command = [sys.executable, "-m", "memoranda", *words, "--store", str(path), "--scope", SCOPE, "--embedder", "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files are listed in /proc on Linux only")
def test_no_file_of_an_open_store_is_removed_by_another_process(opened, path):
    memory = opened()
    memory.erase(memory.remember("The blue teapot is in the cellar."))
    other_process(path, "list")
    links = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [name for name in links if name.startswith(str(path)) and name.endswith("(deleted)")]


@pytest.mark.parametrize("times", [1, 3])
def test_what_is_kept_after_an_erasure_is_seen_by_other_processes(opened, path, times):
    memory = opened()
    for _ in range(times):
        memory.erase(memory.remember("The blue teapot is in the cellar.", after_erase="allow"))
    other_process(path, "list")
    memory.remember("The green ladder is in the shed.")
    assert "green ladder" in other_process(path, "list")
    other_process(path, "remember", "The red bucket is in the yard.")
    assert "The red bucket is in the yard." in [each.text for each in memory.list()]


def test_what_is_kept_after_a_second_opening_is_seen_by_other_processes(opened, path):
    memory = opened()
    memory.remember("The blue teapot is in the cellar.")
    open_store(path).close()
    other_process(path, "list")
    memory.remember("The green ladder is in the shed.")
    assert "green ladder" in other_process(path, "list")


def test_erasing_again_and_again_opens_no_more_files(opened, path):
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("open files cannot be counted here")
    memory = opened()
    counts = []
    for place in range(6):
        memory.erase(memory.remember(f"The teapot number {place} is in the cellar."))
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[-1] <= counts[1] + 1
