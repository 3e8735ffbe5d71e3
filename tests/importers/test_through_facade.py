"""Each foreign format, taken in through the facade: exact counts, not trusted, not twice, and undone as one."""

import pytest

from importers.looking import FIXTURES, contents
from memoranda.importers.registry import names, sniff

# The formats that tests/moving looks after.
_OURS = {"own", "jsonl", "csv"}
# Format, fixture, kept, left out by reason, quarantined, a question, and what answers it.
CASES = [
    ("mem0", "mem0/get_all_anna.json", 5, {}, 0, "where does Anna live?", "Anna lives in Gdańsk."),
    ("mem0", "mem0/history.sqlite", 7, {"forgotten": 1}, 0, "who keeps bees?", "Boris keeps bees."),
    (
        "mcp-memory-service",
        "mcp_memory_service/memory.sqlite",
        7,
        {"forgotten": 1},
        0,
        "where does Anna live?",
        "Anna lives in Gdańsk.",
    ),
    (
        "mcp-memory-service",
        "mcp_memory_service/export.json",
        7,
        {},
        0,
        "on which day do we release?",
        "We decided to release on Tuesdays.",
    ),
    ("server-memory", "server_memory/memory.jsonl", 10, {}, 1, "when does the library open?", "opens at nine"),
    ("basic-memory", "basic_memory/household", 16, {}, 1, "what does Anna prefer in the morning?", "Prefers tea"),
    ("thane", "thane/knowledge.sqlite", 6, {"forgotten": 1}, 0, "which reading lamp?", "light.office"),
    ("claude", "claude/export", 8, {}, 0, "who plays the cello?", "Plays the cello"),
    ("claude", "claude/by_account", 5, {}, 0, "which units?", "Prefers metric units"),
    ("chatgpt", "chatgpt", 5, {}, 0, "is meat eaten?", "User does not eat meat."),
    ("langbot", "langbot/episodes.json", 4, {"forgotten": 1, "unread": 2}, 0, "", ""),
    ("langbot", "langbot/profiles.json", 8, {"unread": 1}, 0, "", ""),
    ("openclaw-markdown", "openclaw_markdown", 12, {"unread": 1}, 1, "", ""),
    ("openclaw-lancedb", "openclaw_lancedb/memory-lancedb", 5, {}, 0, "", ""),
]
each_fixture = pytest.mark.parametrize(
    ("name", "file", "kept", "left_out", "quarantined", "question", "answer"), CASES, ids=[case[1] for case in CASES]
)


@pytest.fixture(autouse=True)
def with_what_it_needs(request):
    if "openclaw-lancedb" in request.node.name or "openclaw_lancedb" in request.node.name:
        pytest.importorskip("lancedb")


def test_every_foreign_format_is_here():
    assert {case[0] for case in CASES} == set(names()) - _OURS


@each_fixture
def test_a_fixture_is_looked_at_taken_in_found_and_taken_back(
    memory, name, file, kept, left_out, quarantined, question, answer
):
    path = FIXTURES / file
    files = contents(path) if path.is_dir() else path.read_bytes()
    memory.remember("The kettle is green.")
    before = memory.contents(below=True).digest

    looked_at = memory.import_memories(path, foreign="here", mode="preview")
    assert (looked_at.format, looked_at.run, looked_at.audit.take) == (name, None, kept)
    assert memory.contents(below=True).digest == before

    taken = memory.import_memories(path, foreign="here")
    assert (taken.taken, dict(taken.audit.left_out), taken.audit.quarantined) == (kept, left_out, quarantined)
    imported = [each for each in memory.list(limit=100) if each.source == "import"]
    assert {each.trust for each in imported} <= {"untrusted", "quarantined"}
    assert {each.basis for each in imported} == {"inferred"}
    assert all(each.source_ref.startswith(f"{name}:") for each in imported)
    if question:
        assert any(answer in hit.memory.text for hit in memory.recall(question))

    again = memory.import_memories(path, foreign="here")
    assert again.taken == 0
    memory.undo()
    assert memory.contents(below=True).digest == before
    assert [each.text for each in memory.list()] == ["The kettle is green."]
    assert (contents(path) if path.is_dir() else path.read_bytes()) == files


@each_fixture
def test_a_fixture_is_known_without_being_named(name, file, kept, left_out, quarantined, question, answer):
    assert sniff(FIXTURES / file) == name


def test_owners_of_theirs_go_where_they_are_sent(memory):
    path = FIXTURES / "mem0" / "get_all_anna.json"
    taken = memory.import_memories(path, owners={"anna": "home/anna/phone"})
    assert dict(taken.audit.scopes) == {"home/anna/phone": 5}


def test_what_was_superseded_there_is_superseded_here(memory):
    memory.import_memories(FIXTURES / "mcp_memory_service" / "memory.sqlite")
    by_text = {each.text: each for each in memory.list(states=["live", "superseded"])}
    old, new = by_text["Anna lives in Poznań."], by_text["Anna lives in Gdańsk."]
    assert (old.state, old.superseded_by, new.state) == ("superseded", new.id, "live")
