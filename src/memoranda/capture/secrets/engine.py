"""The engine behind patterns that run over a whole text: RE2, whose time grows with the text and with nothing else."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, cast


@cache
def compiled(pattern: str) -> Any:
    """The pattern, ready. RE2 is loaded with the first one, so that ordinary sentences never pay for it."""
    return importlib.import_module("re2").compile(pattern)


@cache
def any_of(words: tuple[str, ...]) -> Callable[[str], list[int] | None]:
    """Says which of these words are in a text, by their places in the list, in one pass over it; None for none."""
    engine = importlib.import_module("re2")
    chosen = engine.Set.SearchSet()
    for word in words:
        chosen.Add(engine.escape(word))
    chosen.Compile()
    return cast(Callable[[str], list[int] | None], chosen.Match)
