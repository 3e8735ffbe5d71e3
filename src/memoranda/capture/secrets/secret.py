"""`Secret`: where a secret stands in a text, and what kind it is. Never the text itself."""

from typing import NamedTuple

RANDOM = "random token"
"""Known by nothing but the disorder of its letters: it may also be an id."""


class Secret(NamedTuple):
    """From `start` to before `end`; `rule` is what it was known by."""

    rule: str
    start: int
    end: int
