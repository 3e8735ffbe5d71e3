"""A first look at a text, before the rules of aim are loaded: whether any of them could match it.

The rules take a tenth of a second to load, which a command that keeps one sentence should not wait for. Each rule
needs certain pieces of text (`injections/marks.json`, made from the rules by `tests/capture/injection_marks.py`).
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# Numbers of accounts have no letters to look for.
_DIGITS = 10
_FOLDER = Path(__file__).parent / "injections"


def could_match(forms: Sequence[str]) -> bool:
    """Whether one of these forms of a text has what some rule needs."""
    return any(_has_marks(form) or sum(letter.isdigit() for letter in form) >= _DIGITS for form in forms)


def _has_marks(form: str) -> bool:
    sets, ways = _marks()
    known: dict[int, bool] = {}
    for way in ways:
        for number in way:
            if number not in known:
                known[number] = any(mark in form for mark in sets[number])
            if not known[number]:
                break
        else:
            return True
    return False


@cache
def _marks() -> tuple[list[list[str]], list[list[int]]]:
    found = json.loads((_FOLDER / "marks.json").read_text(encoding="utf-8"))
    return found["sets"], found["rules"]
