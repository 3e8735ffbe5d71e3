"""Other programs' SQLite files: read, and left as they are."""

import sqlite3

import pytest

from importers.looking import FIXTURES, contents, copied, memories
from memoranda import InvalidInput
from memoranda.importers.registry import importer
from memoranda.importers.sqlite_file import has_table, opened

STORES = [
    ("mem0", "mem0/history.sqlite"),
    ("mcp-memory-service", "mcp_memory_service/memory.sqlite"),
    ("thane", "thane/knowledge.sqlite"),
]


def in_log_mode(path):
    """As its program leaves it: in write-ahead mode, closed."""
    store = sqlite3.connect(path)
    assert store.execute("pragma journal_mode = wal").fetchone() == ("wal",)
    store.close()


@pytest.mark.parametrize("log_mode", [False, True], ids=["journal", "write-ahead"])
@pytest.mark.parametrize(("name", "file"), STORES)
def test_no_byte_is_changed_and_no_file_appears(tmp_path, name, file, log_mode):
    path = copied(tmp_path, *file.split("/"))
    if log_mode:
        in_log_mode(path)
    before = contents(tmp_path)
    assert importer(name).reads(path)
    assert memories(name, path) == memories(name, FIXTURES / file)
    assert contents(tmp_path) == before


def test_what_waits_in_the_log_is_read_too(tmp_path):
    path = copied(tmp_path, "thane", "knowledge.sqlite")
    program = sqlite3.connect(path)
    program.execute("pragma journal_mode = wal")
    program.execute("pragma wal_autocheckpoint = 0")
    program.execute(
        "insert into facts (id, category, key, value, created_at, updated_at, accessed_at)"
        " values ('new', 'user', 'age', 'Anna is forty.', '', '', '')"
    )
    program.commit()
    assert memories("thane", path)[-1].text == "age: Anna is forty."
    before = (path.read_bytes(), (tmp_path / "knowledge.sqlite-wal").read_bytes())
    memories("thane", path)
    assert (path.read_bytes(), (tmp_path / "knowledge.sqlite-wal").read_bytes()) == before
    program.close()


def test_a_file_in_a_folder_that_nobody_may_write_is_read(tmp_path):
    folder = tmp_path / "kept #1?x=y"
    folder.mkdir()
    path = copied(folder, "thane", "knowledge.sqlite")
    in_log_mode(path)
    path.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert len(memories("thane", path)) == 7
    finally:
        folder.chmod(0o700)


def test_nothing_of_a_file_can_write_or_call(tmp_path):
    path = copied(tmp_path, "thane", "knowledge.sqlite")
    with opened(path) as file:
        assert "facts_fts" not in file.tables
        for statement in ("delete from facts", "attach database 'x.db' as other"):
            with pytest.raises(InvalidInput):
                list(file.rows(statement))
    assert [each.name for each in tmp_path.iterdir()] == ["knowledge.sqlite"]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 4096, b"no database"])
def test_what_is_no_store_is_refused_without_a_trace(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    assert not has_table(path, "facts", ["id"])
    for name in ("thane", "mem0", "mcp-memory-service"):
        assert not importer(name).reads(path)
    with pytest.raises(InvalidInput) as told:
        list(importer("thane").read(path, {}))
    assert told.value.hint
    assert contents(tmp_path) == {"x.db": content}


def test_a_file_that_is_not_there_is_an_error_of_ours(tmp_path):
    with pytest.raises(InvalidInput):
        list(importer("thane").read(tmp_path / "none.db", {}))
    assert not has_table(tmp_path / "none.db", "facts", ["id"])
