"""The contract of an embedder: what the pipeline and the index rely on. It does not judge how good a vector is."""

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from memoranda.domain.errors import ProviderError
from memoranda.domain.ports import Embedder, Role

_TEXTS = ("Anna prefers short answers.", "The boiler manual is in the cellar.", "灯在书房。", "Zażółć gęślą jaźń")


class EmbedderContract:
    """For an `Embedder`: needs a fixture `embedder`. Set `key` to the one that it was given, if any."""

    key = ""

    def calls(self) -> int:
        """How often the service behind it was asked so far. Override it to have laziness checked."""
        return 0

    def test_there_is_one_row_for_each_text(self, embedder: Embedder) -> None:
        assert len(_rows(embedder, *_TEXTS)) == len(_TEXTS)

    def test_a_single_text_has_a_single_row(self, embedder: Embedder) -> None:
        assert len(_rows(embedder, _TEXTS[0])) == 1

    def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forth = _rows(embedder, *_TEXTS)
        back = _rows(embedder, *reversed(_TEXTS))
        for row, same in zip(forth, reversed(back), strict=True):
            assert _cosine(row, same) > 0.999

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        first, second = _rows(embedder, *_TEXTS[:2])
        assert _cosine(first, second) < 0.999

    def test_every_row_has_the_same_dimensions(self, embedder: Embedder) -> None:
        lengths = {row.size for row in [*_rows(embedder, *_TEXTS), *_rows(embedder, _TEXTS[0], role="query")]}
        assert len(lengths) == 1
        assert embedder.dimensions in (None, *lengths)

    def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        assert _cosine(*_rows(embedder, _TEXTS[0], _TEXTS[0])) > 0.999
        assert _cosine(*_rows(embedder, _TEXTS[0]), *_rows(embedder, _TEXTS[0])) > 0.999

    def test_vectors_are_finite_and_not_zero(self, embedder: Embedder) -> None:
        for row in _rows(embedder, *_TEXTS):
            assert np.isfinite(row).all()
            assert np.any(row)

    def test_a_query_finds_its_document(self, embedder: Embedder) -> None:
        documents = _rows(embedder, *_TEXTS)
        for place, text in enumerate(_TEXTS):
            (query,) = _rows(embedder, text, role="query")
            assert int(np.argmax([_cosine(query, document) for document in documents])) == place

    def test_the_name_and_the_fingerprint_need_no_call_and_do_not_change(self, embedder: Embedder) -> None:
        before = (embedder.name, embedder.fingerprint)
        assert all(before)
        assert self.calls() == 0
        _rows(embedder, _TEXTS[0])
        assert (embedder.name, embedder.fingerprint) == before

    def test_the_key_is_not_shown(self, embedder: Embedder) -> None:
        shown = f"{embedder.name} {embedder.fingerprint} {embedder!r} {embedder!s}"
        assert not self.key or self.key not in shown

    def test_a_lone_surrogate_is_embedded_or_refused(self, embedder: Embedder) -> None:
        _embedded_or_refused(embedder, "half \ud83d of a pair")

    def test_a_huge_text_is_embedded_or_refused(self, embedder: Embedder) -> None:
        _embedded_or_refused(embedder, "long " * 20_000)

    def test_it_may_be_closed_twice(self, embedder: Embedder) -> None:
        _rows(embedder, _TEXTS[0])
        embedder.close()
        embedder.close()


def _rows(embedder: Embedder, *texts: str, role: Role = "document") -> list[NDArray[np.float64]]:
    return [np.asarray(row, dtype=np.float64) for row in embedder.embed(list(texts), role)]


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _embedded_or_refused(embedder: Embedder, text: str) -> None:
    with suppress(ProviderError):
        assert len(_rows(embedder, text)) == 1
