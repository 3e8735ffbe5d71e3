"""Where the host programs are that `tests/hosts/*/install` installed."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOSTS = Path(os.environ.get("MEMORANDA_HOSTS_DIR") or ROOT / ".hosts")


def installed(name: str) -> Path:
    """The folder of a host that is installed completely; the tests that need it are skipped where it is not."""
    folder = HOSTS / name
    if not (folder / ".installed").exists():
        reason = folder / ".skipped"
        said = reason.read_text(encoding="utf-8").strip() if reason.exists() else f"run tests/hosts/{name}/install"
        pytest.skip(f"{name} is not installed here: {said}", allow_module_level=True)
    return folder
