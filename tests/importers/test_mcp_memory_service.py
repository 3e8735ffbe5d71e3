"""mcp-memory-service: a store and an export that the real program wrote."""

import json
import sqlite3

import pytest

from importers.looking import FIXTURES, by_text, copied, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.mcp_memory_service import Reader

SERVICE = FIXTURES / "mcp_memory_service"
STORE, EXPORT = SERVICE / "memory.sqlite", SERVICE / "export.json"


@pytest.fixture(params=[STORE, EXPORT], ids=["store", "export"])
def given(request):
    return request.param


def test_every_memory_comes_with_its_kind_tags_and_state(given):
    assert Reader().reads(given)
    found = by_text(each for each in memories("mcp-memory-service", given) if each.state != "forgotten")
    assert {text: each.kind for text, each in found.items()} == {
        "The oven runs ten degrees hot.": "fact",
        "We decided to release on Tuesdays.": "decision",
        "Anna prefers short answers.": "preference",
        "The stand-up moved to half past nine.": "episode",
        "Naïve café: zażółć gęślą jaźń.": None,
        "Anna lives in Poznań.": "fact",
        "Anna lives in Gdańsk.": "fact",
    }
    assert found["The oven runs ten degrees hot."].tags == ("kitchen", "oven", "observation")
    assert found["Naïve café: zażółć gęślą jaźń."].tags == ()
    old, new = found["Anna lives in Poznań."], found["Anna lives in Gdańsk."]
    assert (old.state, old.superseded_by) == ("superseded", new.id)
    assert (new.state, new.superseded_by) == ("live", "")
    assert {each.owner for each in found.values()} == {""}
    preference = found["Anna prefers short answers."]
    assert (preference.conversation, preference.metadata) == ("breakfast", {"quality_score": 0.9})


def test_times_are_those_of_the_store():
    with sqlite3.connect(STORE) as store:
        told = dict(store.execute("select content, created_at_iso from memories"))
    for each in memories("mcp-memory-service", STORE):
        assert each.created_at == pytest.approx(to_ms(told[each.text], name="t"), abs=1)
        assert each.updated_at == each.created_at


def test_store_and_export_agree():
    def told(path):
        found = [each for each in memories("mcp-memory-service", path) if each.state != "forgotten"]
        return sorted(each._replace(place="") for each in found)

    assert told(STORE) == told(EXPORT)


def test_what_was_deleted_there_comes_as_forgotten():
    gone = [each.text for each in memories("mcp-memory-service", STORE) if each.state == "forgotten"]
    assert gone == ["Anna is allergic to cats."]
    assert all("allergic" not in each.text for each in memories("mcp-memory-service", EXPORT))


def test_a_named_store_is_an_owner_and_importance_is_kept(tmp_path):
    record = {"content": "Anna swims.", "content_hash": "h", "store": "work", "metadata": {"importance_score": 0.8}}
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"export_metadata": {}, "memories": [record]}), encoding="utf-8")
    (found,) = memories("mcp-memory-service", path)
    assert (found.owner, found.importance) == ("work", 0.8)


def test_an_older_store_without_later_columns_is_read(tmp_path):
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as store:
        columns = "id integer primary key, content_hash text, content text, tags text, memory_type text, metadata text"
        store.execute(f"create table memories ({columns}, created_at real, updated_at real)")
        store.execute(
            "insert into memories values (1, 'h', 'Anna swims.', '[\"a\"]', 'note', 'no json', 1700000000.5, 'x')"
        )
    (found,) = memories("mcp-memory-service", path)
    assert (found.kind, found.created_at, found.updated_at, found.metadata) == ("note", 1_700_000_000_500, None, None)


def test_broken_records_and_other_files_are_told(tmp_path):
    records = [{"content": "Anna swims."}, {"content": 5}, "text"]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"export_metadata": {}, "memories": records})[:-3], encoding="utf-8")
    found, unread = read("mcp-memory-service", path)
    assert [each.text for each in found] == ["Anna swims."]
    assert [(each.place, each.reason) for each in unread] == [
        ("memories 2", "no content"),
        ("memories 3", "cut off"),
    ]
    path.write_text('[{"memory": "of another system"}]', encoding="utf-8")
    assert not Reader().reads(path)
    with pytest.raises(InvalidInput, match="no export of mcp-memory-service"):
        read("mcp-memory-service", path)


def test_a_damaged_store_is_an_error(tmp_path):
    path = copied(tmp_path, "mcp_memory_service", "memory.sqlite")
    with path.open("r+b") as stream:
        stream.truncate(20_000)
    with pytest.raises(InvalidInput) as told:
        read("mcp-memory-service", path)
    assert told.value.hint
