"""The bundled offline embedder: Universal Sentence Encoder, multilingual v3, in numpy, 16 languages, 512 dimensions.

The model hears how something is said nearly as loudly as what is said: a question is more like any other question
than like its answer. So what a question, a request or a remark has in common with others of its kind is taken away
from queries, and what statements have in common from what is kept; what remains is what it is about.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memoranda.domain.ports import Role
from memoranda.embedding import layout
from memoranda.embedding.layout import unit

_MAX_CHARACTERS = 2_000  # the cost grows with the length; what matters of a memory stands in front
# How much of its register is taken off a query, in the order of `ASKED`. A single question is more of a question
# than the mean of many is.
_SHARES = np.array([1.3, 1.0, 1.0, 1.0], np.float32)


class UseEmbedder:
    """USE multilingual v3. Loaded on the first call; needs no network, ever."""

    name = "use:m3"
    fingerprint = "use:m3|0.2.1|prep2|512"
    dimensions: int | None = 512

    def __init__(self, cache: Path | None, *, limit_threads: bool = True) -> None:
        self._cache = cache
        self._limit_threads = limit_threads
        self._lock = threading.Lock()
        self._model: _Model | None = None

    def embed(self, texts: Sequence[str], role: Role) -> npt.NDArray[np.float32]:
        """Unit vectors without the register, which is another for queries than for what is kept."""
        clean = [text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        with self._lock:
            if self._model is None:
                self._model = _Model(self._cache, self._limit_threads)
            return self._model.embed(clean, role)

    def close(self) -> None:
        with self._lock:
            self._model = None


class _Model:
    def __init__(self, cache: Path | None, limit_threads: bool) -> None:
        folder = layout.prepared(cache)
        self._encode = layout.backend(folder, layout.tokenizer(folder))._encode
        self._asked, self._kept = layout.registers(folder)
        self._limit: Any = None
        if limit_threads:
            # On a busy machine two BLAS threads wait for each other longer than one needs for the work.
            import threadpoolctl

            self._limit = threadpoolctl.ThreadpoolController().limit

    def embed(self, texts: list[str], role: Role) -> npt.NDArray[np.float32]:
        if self._limit is None:
            vectors = unit(self._encode(texts))
        else:
            with self._limit(limits=1, user_api="blas"):
                vectors = unit(self._encode(texts))
        if role == "document":
            return unit(vectors - self._kept)
        register = np.argmax(vectors @ unit(self._asked).T, axis=1)
        return unit(vectors - _SHARES[register, None] * self._asked[register])
