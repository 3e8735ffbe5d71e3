"""The files of a store: private, replaceable where they are derived, never overwritten where they are not."""

import shutil

import apsw
import pytest

from memoranda import (
    LedgerDamaged,
    LedgerError,
    LedgerNewer,
    MemorandaError,
)
from support import as_pairs, open_store


def test_files_are_private(opened, path):
    opened(embedder="hashed:words").remember("the lamp")
    assert path.stat().st_mode & 0o777 == 0o600
    for file in path.parent.glob("store.db-*"):
        assert not file.stat().st_mode & 0o077, file


def test_deleting_the_index_loses_nothing_and_changes_no_answer(opened, path):
    memory = opened(embedder="hashed:words")
    memory.remember_many(
        [f"lamp {number} of room {number % 7} is {'on' if number % 2 else 'off'}" for number in range(60)]
    )
    queries = ("lamp 7", "room 3 on", "which lamps are off", "room")
    before = [as_pairs(memory.recall(query, limit=20)) for query in queries]
    assert all(before)
    shutil.rmtree(path.with_name(path.name + "-index"))
    assert [as_pairs(memory.recall(query, limit=20)) for query in queries] == before, "with the process open"
    memory.close()
    shutil.rmtree(path.with_name(path.name + "-index"))
    again = opened(embedder="hashed:words")
    assert [as_pairs(again.recall(query, limit=20)) for query in queries] == before
    assert again.admin.verify().ok


@pytest.mark.parametrize("damage", ["garbage", "middle", "truncated", "empty"])
def test_a_damaged_index_is_replaced(opened, path, damage):
    memory = opened(embedder="hashed:words")
    memory.remember_many([f"lamp {number} stands in the hall" for number in range(50)])
    before = as_pairs(memory.recall("lamp 7"))
    memory.close()
    file = path.with_name(path.name + "-index") / "index-1.db"
    content = file.read_bytes()
    file.write_bytes(
        {
            "garbage": b"this is not a database " * 1_000,
            "middle": content[:20_000] + b"\xff" * (len(content) - 30_000) + content[-10_000:],
            "truncated": content[: len(content) // 2],
            "empty": b"",
        }[damage]
    )
    again = opened(embedder="hashed:words")
    assert as_pairs(again.recall("lamp 7")) == before
    kept = again.remember("a new lamp hangs over the stairs")
    assert again.recall("lamp over the stairs")[0].id == kept.id
    assert again.admin.verify().ok


def _closed_ledger(opened, path):
    memory = opened()
    memory.remember_many([f"lamp {number} " + "stands in the hall " * 20 for number in range(50)])
    memory.close()
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["garbage", "truncated", "head", "text"])
def test_a_damaged_ledger_is_refused_and_not_touched(opened, path, damage):
    content = _closed_ledger(opened, path)
    broken = {
        "garbage": b"\x00\xff" * 10_000,
        "truncated": content[: len(content) // 2 - 100],
        "head": b"X" * 100 + content[100:],
        "text": b"Dear diary, today I was not a database.\n" * 30,
    }[damage]
    path.write_bytes(broken)
    with pytest.raises(LedgerDamaged) as refused:
        opened()
    assert "backup" in refused.value.hint
    assert path.read_bytes() == broken


def test_a_ledger_that_lost_its_content_is_not_taken_for_a_new_one(opened, path):
    memory = opened()
    memory.remember("the lamp")
    memory.recall("lamp")
    memory.close()
    path.write_bytes(b"")
    with pytest.raises(LedgerDamaged, match="lost"):
        opened()
    assert path.read_bytes() == b""


def test_damage_inside_is_found_by_verify(opened, path):
    content = _closed_ledger(opened, path)
    at = content.find(b"lamp 7 ")
    path.write_bytes(content[:at] + b"LAMP 8 " + content[at + 7 :])
    memory = opened()
    verified = memory.admin.verify()
    assert not verified.ok
    assert any(check.fix for check in verified.checks if not check.ok)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_somebody_else_is_refused_and_not_touched(opened, path, mode):
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma journal_mode = {mode}").fetchall()
    connection.execute("create table theirs (x); insert into theirs values (1)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(LedgerDamaged, match="not a Memoranda ledger"):
        opened()
    assert path.read_bytes() == content
    assert {file.name for file in path.parent.iterdir()} == {path.name}


def test_a_newer_ledger_is_refused_and_not_touched(opened, path):
    _closed_ledger(opened, path)
    connection = apsw.Connection(str(path))
    connection.execute("insert into migration values ('m999_from_the_future', 1)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(LedgerNewer, match="m999"):
        opened()
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(LedgerError) as refused:
        open_store(tmp_path / "file" / "store.db")
    assert refused.value.hint


def test_the_schema_enforces_the_vocabularies(memory):
    memory.remember("the lamp")
    writer = memory._engine.ledger.database._writer
    for column in ("kind", "trust", "state", "source", "basis", "confidence", "importance"):
        with pytest.raises(apsw.ConstraintError):
            writer.execute(f"update memory set {column} = 'nonsense'")


def test_the_file_can_be_read_with_any_sqlite_tool(opened, path):
    memory = opened()
    memory.remember(
        "40 % in the evening", kind="preference", about="light", attribute="evening", value="40%", context="sunset"
    )
    memory.remember("Anna's nickname is Annie", kind="fact", about="person:anna", attribute="nickname")
    memory.close()
    connection = apsw.Connection(str(path))
    assert connection.execute("select category, key, value, context from preferences").fetchall() == [
        ("light", "evening", '"40%"', "sunset")
    ]
    assert connection.execute("select entity_id, fact_type, content, source from entity_facts").fetchall() == [
        ("person:anna", "nickname", "Anna's nickname is Annie", "user_stated")
    ]
    assert [row[0] for row in connection.execute("select action from memory_log")] == ["remembered"] * 2
    connection.close()


def test_every_error_is_one_of_ours(memory):
    for call in (lambda: memory.get("0123456789abcdefghjk"), lambda: memory.remember(""), lambda: memory.within("x")):
        with pytest.raises(MemorandaError):
            call()
