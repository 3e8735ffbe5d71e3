"""Small notes beside a store: what the next process should know, and what nothing is lost with when it is gone.

Never memory text. Not part of the ledger: no transaction, no promise to be durable.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any


def read_note(path: Path) -> dict[str, Any]:
    """What a note says; nothing when there is none, or when it is not ours."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_note(path: Path, note: dict[str, Any]) -> None:
    """All of the new note or all of the old one, whoever reads meanwhile; an empty one is removed. Raises OSError."""
    if not note:
        path.unlink(missing_ok=True)
        return
    beside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(note, separators=(",", ":")).encode())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
