"""mem0: dumps and a history that the real program wrote."""

import json
import pickle
import sqlite3

import pytest

from importers.looking import FIXTURES, by_text, copied, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.mem0 import Reader

MEM0 = FIXTURES / "mem0"
DUMP = MEM0 / "get_all_anna.json"
HISTORY = MEM0 / "history.sqlite"


def written(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_dump_gives_every_memory_with_its_owner_kind_and_times():
    found = by_text(memories("mem0", DUMP))
    assert set(found) == {
        "Anna prefers short answers.",
        "Anna's parking permit is valid.",
        "Anna lives in Gdańsk.",
        "We decided to repaint the hall.",
        "Anna reads in the evening by the lamp on the desk.",
    }
    assert {each.owner for each in found.values()} == {"anna"}
    assert {each.state for each in found.values()} == {"live"}
    told = {record["memory"]: record for record in json.loads(DUMP.read_text(encoding="utf-8"))["results"]}
    for text, each in found.items():
        assert each.id == told[text]["id"]
        assert each.created_at == to_ms(told[text]["created_at"], name="t")
        assert each.updated_at == to_ms(told[text]["updated_at"], name="t")
    preference = found["Anna prefers short answers."]
    assert (preference.kind, preference.tags) == ("preference", ("preferences",))
    assert preference.metadata == {"source": "chat", "role": "user"}
    home = found["Anna reads in the evening by the lamp on the desk."]
    assert (home.kind, home.tags) == (None, ("home",))
    said = found["We decided to repaint the hall."]
    assert (said.speaker, said.conversation) == ("Carla", "renovation")
    # It holds on its last day.
    assert found["Anna's parking permit is valid."].valid_until == to_ms("2027-02-01", name="t")
    assert found["Anna lives in Gdańsk."].updated_at > found["Anna lives in Gdańsk."].created_at


def test_an_agents_memory_is_told_from_a_users():
    (oven,) = memories("mem0", MEM0 / "get_all_kitchen_agent.json")
    assert oven.text == "The oven runs ten degrees hot."
    assert oven.owner == "agent:kitchen"


def test_the_history_gives_the_last_text_of_each_and_tells_what_was_deleted():
    found = by_text(memories("mem0", HISTORY))
    assert len(found) == 8
    assert "Boris keeps bees." in found
    assert "Anna lives in Gdańsk." in found
    assert "Anna lives in Poznań." not in found
    assert [text for text, each in found.items() if each.state == "forgotten"] == ["Anna is allergic to cats."]
    assert found["We decided to repaint the hall."].speaker == "Carla"
    dumped = by_text(memories("mem0", DUMP))
    for text, each in dumped.items():
        assert (found[text].id, found[text].created_at) == (each.id, each.created_at)


def test_a_folder_is_read_by_its_history(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    copied(folder, "mem0", "history.sqlite", name="history.db")
    assert Reader().reads(folder)
    assert memories("mem0", folder) == memories("mem0", HISTORY)


def test_the_vector_store_is_never_unpickled(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a pickle was opened")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    store = copied(tmp_path, "mem0", "qdrant", "storage.sqlite")
    for given in (store, tmp_path):
        assert Reader().reads(given)
        with pytest.raises(InvalidInput, match="pickles") as told:
            read("mem0", given)
        assert "get_all" in told.value.hint


def test_the_shapes_of_the_platform_are_read(tmp_path):
    record = {"id": "m1", "memory": "Anna swims.", "user_id": "anna", "categories": ["sports", "user_preferences"]}
    shapes = {
        "list.json": [record],
        "page.json": {"count": 1, "next": None, "results": [record]},
        "export.json": {"memories": [record], "extra": {"results": [1, 2]}},
        "one.jsonl": record,
    }
    for name, shape in shapes.items():
        (found,) = memories("mem0", written(tmp_path / name, shape))
        assert (found.text, found.owner, found.kind) == ("Anna swims.", "anna", "preference"), name
        assert found.tags == ("sports", "user_preferences")


def test_relations_of_graph_memory_become_sentences(tmp_path):
    relation = {"source": "anna", "relationship": "works_at", "target": "library", "user_id": "anna"}
    path = written(tmp_path / "graph.json", {"results": [{"memory": "Anna works."}], "relations": [relation, {}]})
    found, unread = read("mem0", path)
    assert [(each.text, each.about) for each in found] == [("Anna works.", ""), ("anna works at library.", "anna")]
    assert [(each.place, each.reason) for each in unread] == [("relations 2", "a relation without two ends")]


def test_owners_of_every_sort_are_told_apart(tmp_path):
    given = [{"memory": sort, f"{sort}_id": "same"} for sort in ("user", "agent", "app", "run")]
    found = memories("mem0", written(tmp_path / "owners.json", given))
    assert [each.owner for each in found] == ["same", "agent:same", "app:same", "run:same"]


def test_bad_records_are_named_by_place_and_the_others_are_read(tmp_path):
    good = {"id": "1", "memory": "Anna swims."}
    path = tmp_path / "mixed.json"
    path.write_text(
        json.dumps([good, {"id": "2"}, 7, {"memory": ["no"]}]).removesuffix("]") + ', {"memory": "cut', "utf-8"
    )
    found, unread = read("mem0", path)
    assert [each.text for each in found] == ["Anna swims."]
    assert [(each.place, each.reason) for each in unread] == [
        ("record 2", "no memory in it"),
        ("record 3", "not an object"),
        ("record 4", "no memory in it"),
        ("record 5", "cut off"),
    ]


def test_odd_times_and_numbers_are_left_out_not_guessed(tmp_path):
    odd = {"memory": "Anna swims.", "created_at": "soon", "updated_at": 1e300, "expiration_date": "never", "id": 12}
    (found,) = memories("mem0", written(tmp_path / "odd.json", [odd]))
    assert (found.created_at, found.updated_at, found.valid_until, found.id) == (None, None, None, "12")


def test_something_else_is_refused_with_a_hint(tmp_path):
    for value in ([{"text": "hello"}], {"other": 1}):
        path = written(tmp_path / "other.json", value)
        assert not Reader().reads(path)
        with pytest.raises(InvalidInput, match="no list of memories") as told:
            read("mem0", path)
        assert "get_all" in told.value.hint


def test_another_schema_of_the_history_is_refused_by_name(tmp_path):
    path = tmp_path / "history.db"
    with sqlite3.connect(path) as store:
        store.execute("create table history (memory_id text, words text)")
    assert not Reader().reads(path)
    with pytest.raises(InvalidInput, match="created_at, event, new_memory, old_memory, updated_at"):
        read("mem0", path)
    with sqlite3.connect(tmp_path / "none.db") as store:
        store.execute("create table other (x)")
    with pytest.raises(InvalidInput, match="no table history"):
        read("mem0", tmp_path / "none.db")


def test_a_truncated_history_is_an_error_not_a_short_import(tmp_path):
    path = copied(tmp_path, "mem0", "history.sqlite")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match=r"damaged|cannot be read"):
        read("mem0", path)
