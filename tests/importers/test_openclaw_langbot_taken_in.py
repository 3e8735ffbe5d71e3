"""The fixtures of OpenClaw and LangBot taken into a store: counted, traced to where they stood, and taken back."""

from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"
GROUP = {"bot-1:group_7": "home/anna/group-7", "bot:bot-1": "home/anna/bot-1"}


@pytest.mark.parametrize(
    ("name", "owners", "reader", "taken", "left_out"),
    [
        ("openclaw_lancedb/memory-lancedb", {}, "openclaw-lancedb", 5, {}),
        ("openclaw_lancedb/agents", {"main": "home/anna"}, "openclaw-lancedb", 2, {"foreign": 1}),
        ("openclaw_markdown", {}, "openclaw-markdown", 12, {"unread": 1}),
        ("langbot/profiles.json", GROUP, "langbot", 8, {"unread": 1}),
        ("langbot/episodes.json", GROUP, "langbot", 4, {"unread": 2, "forgotten": 1}),
    ],
)
def test_each_fixture_is_taken_in_and_undone_as_one(memory, name, owners, reader, taken, left_out):
    if "lancedb" in name:
        pytest.importorskip("lancedb")
    memory.remember("It was here before.")
    before = memory.contents(below=True).digest

    done = memory.import_memories(FIXTURES / name, owners=owners)

    assert (done.format, done.taken, dict(done.audit.left_out)) == (reader, taken, left_out)
    assert memory.contents(below=True).memories == 1 + taken
    memory.undo(below=True)
    assert memory.contents(below=True).digest == before


def test_what_was_taken_in_is_not_trusted_and_says_where_it_stood(memory):
    memory.import_memories(FIXTURES / "openclaw_markdown")
    (found,) = memory.list(text="light.office")
    assert (found.trust, found.source) == ("untrusted", "import")
    assert found.source_ref == "openclaw-markdown:MEMORY.md#L13"


def test_what_was_superseded_there_is_superseded_here(memory):
    memory.import_memories(FIXTURES / "langbot" / "episodes.json", owners=GROUP)
    group = memory.within("home/anna/group-7")
    (new,) = group.list(text="Gdynia")
    (old,) = group.list(text="Sopot", states=("superseded",))
    assert old.superseded_by == new.id
    assert (old.speaker, old.importance, new.importance) == ("Anna", 0.3, 0.8)
