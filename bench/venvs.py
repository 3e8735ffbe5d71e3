"""Environments for the peers: one each, because their pins conflict."""

import subprocess
import sys
import venv

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


def make(names: list[str]) -> int:
    """Make the environments that are missing; how many could not be made."""
    failed = 0
    for peer, wanted in sections().items():
        if peer not in names or peer not in PEERS:
            continue
        folder = OUT / f"venv-{peer}"
        log(f"{peer}: {' '.join(wanted)}")
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *wanted]
        done = subprocess.run(pip, stdout=sys.stderr, check=False)
        failed += done.returncode != 0
    return failed
