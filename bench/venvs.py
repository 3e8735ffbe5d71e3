"""Environments for the peers: one each, because their pins conflict."""

import subprocess
import sys

from bench.paths import OUT, REQUIREMENTS, log
from bench.systems import PEERS


def sections() -> dict[str, list[str]]:
    """The pinned requirements of each peer: lines under a comment that names it."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in REQUIREMENTS.read_text().splitlines():
        if line.startswith("# peer: "):
            current = line.removeprefix("# peer: ")
            found[current] = []
        elif line and not line.startswith("#"):
            found[current].append(line)
    return found


def make(names: list[str], python: str) -> int:
    """Make the environments with this interpreter; how many could not be made."""
    failed = 0
    for peer, wanted in sections().items():
        if peer not in names or peer not in PEERS:
            continue
        folder = OUT / f"venv-{peer}"
        log(f"{peer}: {' '.join(wanted)}")
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *wanted]
        done = subprocess.run(pip, stdout=sys.stderr, check=False)
        failed += done.returncode != 0
    return failed
