"""The pieces of words of the bundled model, and how alike they are. Needs no sentence to be embedded."""

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memoranda.embedding import layout


class WordTable:
    """A `Vocabulary`. Loaded when it is opened, or on the first call."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self.pieces = lru_cache(maxsize=65_536)(self._pieces)

    def _tables(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                folder = layout.prepared(self._cache)
                self._loaded = layout.tokenizer(folder), layout.words(folder)
            return self._loaded

    def open(self) -> None:
        """Load it now; a ProviderError when it cannot be."""
        self._tables()

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The pieces that a word is made of."""
        tokenizer, _ = self._tables()
        clean = word[:64].encode("utf-8", "replace").decode()
        with self._lock:  # the tokenizer opens drawers as it goes
            return tuple(tokenizer.encode(clean, out_type=int, add_bos=False, add_eos=False))

    def alike(self, kept: Any, asked: Any) -> Any:
        """Cosines, as a matrix: a row for each of `kept`, a column for each of `asked`."""
        _, words = self._tables()
        # Products of int8 add up exactly in float32: a pair's value does not depend on what else is compared.
        return words[kept].astype(np.float32) @ words[asked].astype(np.float32).T / np.float32(127.0 * 127.0)
