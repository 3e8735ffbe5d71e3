"""The contract of an index, on the embedded one: as it is, and with tails so small that everything is merged."""

import pytest

from memoranda.domain.errors import LedgerDamaged
from memoranda.domain.ports import IndexEntry, Meaning
from memoranda.index import embedded, writer
from memoranda.index.embedded import EmbeddedIndex
from memoranda.testing.contracts import IndexContract


class TestEmbedded(IndexContract):
    @pytest.fixture
    def opener(self, tmp_path):
        handles = []

        def make(name):
            handles.append(EmbeddedIndex(tmp_path / name, fingerprint="hashed:words|1|64", busy_seconds=5.0))
            return handles[-1]

        yield make
        for handle in handles:
            handle.close()

    @pytest.fixture
    def open_index(self, opener):
        return lambda: opener("one.db")

    @pytest.fixture
    def other_index(self, opener):
        return lambda: opener("other.db")


class TestEmbeddedWithTinySegments(TestEmbedded):
    @pytest.fixture(autouse=True)
    def _tiny(self, monkeypatch):
        monkeypatch.setattr(writer, "TAIL_FULL", 4)
        monkeypatch.setattr(writer, "GROWTH", 2)

    def test_segments_are_really_made_and_merged(self, open_index):
        index = open_index()
        for number in range(1, 40):
            index.apply(put=[IndexEntry(number, "home", f"lamp {number}")], drop=(), sequence=number)
        assert 1 <= index.counts().segments < 9


def test_an_index_of_another_format_is_refused(tmp_path, monkeypatch):
    EmbeddedIndex(tmp_path / "old.db", fingerprint="none").close()
    monkeypatch.setattr(embedded, "FORMAT", "0.0")
    with pytest.raises(LedgerDamaged, match="format"):
        EmbeddedIndex(tmp_path / "old.db", fingerprint="none")


def test_the_space_of_an_index_stays_the_one_it_was_made_for(tmp_path):
    index = EmbeddedIndex(tmp_path / "one.db", fingerprint="a|1")
    index.apply(put=[IndexEntry(1, "home", "lamp", meaning=Meaning([0.6, 0.8]))], drop=(), sequence=1)
    index.adopt("b|1")
    index.close()
    again = EmbeddedIndex(tmp_path / "one.db", fingerprint="b|1")
    assert again.fingerprint == "a|1"
    again.close()
