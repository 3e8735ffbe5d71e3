"""Where things are."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "bench" / "out"
REQUIREMENTS = ROOT / "bench" / "requirements-peers.txt"
DATA = ROOT.parent / "shared" / "data"
LOAD = DATA / "load" / "topical_chat.jsonl"
PACKS = DATA / "packs"


def log(message: str) -> None:
    """Progress, on stderr."""
    print(message, file=sys.stderr, flush=True)
