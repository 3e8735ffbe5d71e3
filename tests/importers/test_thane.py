"""Thane: a table of facts by its documented columns."""

import sqlite3

import pytest

from importers.looking import FIXTURES, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.thane import Reader

STORE = FIXTURES / "thane" / "knowledge.sqlite"


def test_facts_become_memories_that_name_their_key():
    assert Reader().reads(STORE)
    live = [each for each in memories("thane", STORE) if each.state == "live"]
    found = [(each.text, each.kind, each.about, each.confidence) for each in live]
    assert found == [
        ("reading lamp: light.office", "entity", "light.office", 1.0),
        ("The user's name is Anna.", "fact", "", 1.0),
        ("evening brightness: 40 percent after sunset", "preference", "zone:study", 0.7),
        ("leaves home at seven on weekdays", "fact", "", 0.6),
        ("network/wifi: The router stands in the hall.", "note", "", 0.9),
        ("note: Zażółć gęślą jaźń.", None, "", None),
    ]


def test_a_fact_with_a_subject_fills_a_slot():
    lamp, name, *_ = memories("thane", STORE)
    assert (lamp.attribute, lamp.value) == ("reading_lamp", "light.office")
    assert lamp.metadata == {"subjects": ["zone:study"], "source": "conversation", "key": "reading_lamp"}
    assert (name.attribute, name.value) == ("", None)
    assert lamp.tags == ("device",)
    assert lamp.id == "0198f000-0000-7000-8000-000000000001"
    assert lamp.created_at == to_ms("2026-08-01T07:30:00Z", name="t")
    assert lamp.updated_at == to_ms("2026-08-08T07:30:00Z", name="t")


def test_what_was_deleted_there_comes_as_forgotten():
    gone = [each.text for each in memories("thane", STORE) if each.state != "live"]
    assert gone == ["The boiler is in the cellar."]
    assert {each.state for each in memories("thane", STORE)} == {"live", "forgotten"}


def made(path, columns, *rows):
    with sqlite3.connect(path) as store:
        store.execute(f"create table facts ({columns})")
        for row in rows:
            store.execute(f"insert into facts values ({', '.join('?' * len(row))})", row)
    return path


def test_an_older_store_without_subjects_is_read(tmp_path):
    path = made(tmp_path / "old.db", "id, category, key, value, confidence", ("1", "user", "name", "Anna", 1.0))
    (found,) = memories("thane", path)
    assert (found.text, found.created_at) == ("name: Anna", None)


def test_odd_values_are_left_out_not_guessed(tmp_path):
    rows = [
        ("1", "user", "name", None, "sure", "[broken"),
        ("2", 5, b"bytes", "Anna swims.", 7.5, '{"a": 1}'),
        (3, None, None, "Boris keeps bees.", None, '[1, null, "entity:hive"]'),
    ]
    path = made(tmp_path / "odd.db", "id, category, key, value, confidence, subjects", *rows)
    found, unread = read("thane", path)
    assert [(each.text, each.about, each.confidence) for each in found] == [
        ("Anna swims.", "", None),
        ("Boris keeps bees.", "1", None),
    ]
    assert [(each.place, each.reason) for each in unread] == [("facts row 1", "no value")]


def test_another_schema_is_refused_by_name(tmp_path):
    path = made(tmp_path / "other.db", "id, fact, created")
    assert not Reader().reads(path)
    with pytest.raises(InvalidInput, match="category, confidence, key, value") as told:
        read("thane", path)
    assert told.value.hint


def test_a_view_is_not_taken_for_the_table(tmp_path):
    path = tmp_path / "view.db"
    with sqlite3.connect(path) as store:
        store.execute("create view facts as select 1 id, 2 category, 3 key, 4 value, 5 confidence")
    assert not Reader().reads(path)
    with pytest.raises(InvalidInput, match="no table facts"):
        read("thane", path)
