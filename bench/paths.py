"""Where things are."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "bench" / "out"
REQUIREMENTS = ROOT / "bench" / "requirements-peers.txt"
LOAD = ROOT.parent / "shared" / "data" / "load" / "topical_chat.jsonl"


def log(message: str) -> None:
    """Progress, on stderr."""
    print(message, file=sys.stderr, flush=True)
