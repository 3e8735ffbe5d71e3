"""The contract of an index's home, on the folder of the embedded one, plain and encrypted."""

import pytest

from memoranda.domain.keys import Key
from memoranda.index.folder import IndexFolder
from memoranda.testing.contracts import IndexHomeContract


class TestFolder(IndexHomeContract):
    key = None

    @pytest.fixture
    def open_home(self, tmp_path):
        return lambda: IndexFolder(tmp_path / "store.db-index", busy_seconds=5.0, key=self.key)

    @pytest.fixture
    def other_home(self, tmp_path):
        return lambda: IndexFolder(tmp_path / "store.db-transcripts", busy_seconds=5.0, key=self.key)


class TestEncryptedFolder(TestFolder):
    key = Key(bytes(range(32)))
