import json

import pytest

CHAT = [
    {
        "_id": "a1",
        "text": "Anna: The boiler manual is in the blue folder.",
        "time": "1:56 pm on 8 May, 2023",
        "session": 1,
    },
    {"_id": "a2", "text": "Ben: Our cat sleeps on the piano.", "time": "1:56 pm on 8 May, 2023", "session": 1},
    {"_id": "a3", "text": "Anna: I sold the piano to a neighbour.", "time": "9:00 am on 2 June, 2023", "session": 2},
    {
        "_id": "b1",
        "text": "Carol: The tram to the harbour leaves at nine.",
        "time": "29.12.2023, 22:42:04",
        "session": 1,
    },
    {"_id": "b2", "text": "Dan: I bake rye bread on Sundays.", "time": "30.12.2023, 00:32:20", "session": 1},
]
GROUPS = [{"group": "first", "doc_ids": ["a1", "a2", "a3"]}, {"group": "second", "doc_ids": ["b1", "b2"]}]
QUESTIONS = [
    {"_id": "q1", "group": "first", "text": "Where is Anna's boiler manual?", "type": "place"},
    {"_id": "q2", "group": "first", "text": "What happened with the piano?", "type": "event"},
    {"_id": "q3", "group": "second", "text": "When does the tram to the harbour leave?", "type": "time"},
]
GOLD = [("q1", "a1"), ("q2", "a2"), ("q2", "a3"), ("q3", "b1")]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_pack(folder, *, corpus=CHAT, groups=GROUPS, questions=QUESTIONS, gold=GOLD):
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "corpus.jsonl", corpus)
    write_lines(folder / "groups.jsonl", groups)
    write_lines(folder / "queries.jsonl", questions)
    (folder / "qrels.tsv").write_text("".join(f"{query}\t{document}\t1\n" for query, document in gold))
    return folder


@pytest.fixture
def data(tmp_path):
    """A folder with one small pack, `chat`."""
    write_pack(tmp_path / "packs" / "chat")
    return tmp_path / "packs"


@pytest.fixture
def run(path, monkeypatch, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_SCOPE", "home/anna")
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "hashed:words")

    return in_process
