"""`Secret`: where a secret stands in a text, and what kind it is. Never the text itself."""

from typing import NamedTuple


class Secret(NamedTuple):
    """From `start` to before `end`; `rule` is what it was known by."""

    rule: str
    start: int
    end: int
