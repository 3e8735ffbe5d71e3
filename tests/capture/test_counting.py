"""Counting what capture keeps of dialogues, and samples that people label."""

import json

import pytest

from memoranda import InvalidInput, assistant, user
from memoranda.evaluation.capturing import chats, counted, dialogues, read_labels, write_sample
from memoranda.evaluation.packs import read_pack

LINES = [
    {"turns": [["a", "I prefer window seats on long flights."], ["b", "How late is it?"], ["a", "  "]]},
    {"turns": [["b", "I prefer window seats on long flights."]]},
]


@pytest.fixture
def talks(tmp_path):
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_each_dialogue_is_counted_by_itself(memory, talks):
    found, kept = counted(memory, "chats", chats(talks), mode="strict")
    assert (found.turns, found.kept) == (3, 2)
    assert sum(found.refused.values()) == 1
    assert found.share == pytest.approx(2 / 3)
    assert {each.said for each in kept} == {"I prefer window seats on long flights."}
    assert {(each.set, each.mode, each.kind, each.trust) for each in kept} == {
        ("chats", "strict", "preference", "trusted")
    }


def test_a_long_dialogue_is_looked_at_to_its_end(memory):
    talk = [user("How late is it?"), assistant("Noon.")] * 40 + [user("I prefer window seats on long flights.")]
    found, _ = counted(memory, "long", [talk], mode="strict")
    assert (found.turns, found.kept) == (41, 1)
    assert "not looked at" not in found.refused


def test_a_pack_is_read_as_the_talk_of_those_who_spoke(tmp_path):
    rows = [
        {"_id": "1", "text": "user: I prefer tea.", "session": 1},
        {"_id": "2", "text": "assistant: Noted.", "session": 1},
        {"_id": "3", "text": "user: I prefer coffee.", "session": 2},
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "groups.jsonl").write_text(json.dumps({"group": "g", "doc_ids": ["1", "2", "3"]}) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "group": "g", "text": "tea?"}) + "\n")
    (tmp_path / "qrels.tsv").write_text("q\t1\t1\n")
    found = [[(each.role, each.text) for each in talk] for talk in dialogues(read_pack(tmp_path))]
    assert found == [[("user", "I prefer tea."), ("assistant", "Noted.")], [("user", "I prefer coffee.")]]


def test_a_sample_is_by_lot_and_comes_back_as_a_precision(memory, talks, tmp_path):
    _, kept = counted(memory, "chats", chats(talks), mode="strict")
    path = tmp_path / "sample.jsonl"
    assert write_sample(path, kept, size=5, seed=1) == 2
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    with pytest.raises(InvalidInput):
        read_labels(path)
    rows[0]["label"], rows[1]["label"] = "worth keeping", "junk"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_labels(path).precision == 0.5
