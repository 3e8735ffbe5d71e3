"""OpenClaw's LanceDB table: as its plugin wrote it, and as engines with more columns do."""

import shutil
from pathlib import Path

import pytest

from memoranda.domain.errors import InvalidInput, NotFound, ProviderMissing
from memoranda.domain.importing import Unread
from memoranda.importers import openclaw_lancedb, registry
from memoranda.importers.openclaw_lancedb import Reader

lancedb = pytest.importorskip("lancedb")
pyarrow = pytest.importorskip("pyarrow")

FIXTURES = Path(__file__).parent / "fixtures" / "openclaw_lancedb"
PLUGIN = FIXTURES / "memory-lancedb"
AGENTS = FIXTURES / "agents"


def bytes_of(folder):
    return {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def made(folder, rows, name="memories", schema=None):
    """A table with columns of our choice."""
    lancedb.connect(str(folder)).create_table(name, pyarrow.Table.from_pylist(rows, schema=schema))
    return folder


def test_the_table_of_the_plugin_is_read_in_the_order_in_which_it_was_written():
    found = list(Reader().read(PLUGIN, {}))

    assert [(each.text, each.kind, each.importance) for each in found] == [
        ("I prefer short answers.", "preference", 0.9),
        ("The reading lamp is light.office.", "entity", 0.8),
        ("We decided to heat the cellar only in winter.", "decision", 0.7),
        ("The boiler manual is in the blue folder.", "fact", 0.4),
        ("It's 'quoted'; and has a % and a \\ in it.", None, 0.2),
    ]
    assert all(each.created_at and len(each.id) == 36 and each.place == f"row {each.id}" for each in found)
    assert not any(each.owner for each in found)


def test_reading_changes_not_a_byte_and_gives_the_same_every_time(tmp_path):
    copy = shutil.copytree(PLUGIN, tmp_path / "lancedb")
    before = bytes_of(copy)

    assert list(Reader().read(copy, {})) == list(Reader().read(copy, {})) == list(Reader().read(PLUGIN, {}))
    assert bytes_of(copy) == before


def test_the_order_does_not_change_when_rows_are_rewritten(tmp_path):
    copy = shutil.copytree(PLUGIN, tmp_path / "lancedb")
    before = [each.id for each in Reader().read(copy, {})]
    table = lancedb.connect(str(copy)).open_table("memories")
    table.update(where="category = 'preference'", values={"importance": 0.95})

    assert [each.id for each in Reader().read(copy, {})] == before


def test_each_agent_is_an_owner_and_one_can_be_chosen():
    assert [each.owner for each in Reader().read(AGENTS, {})] == ["main", "main", "work"]
    (chosen,) = Reader().read(AGENTS, {"agent": "work"})
    assert chosen.text.startswith("We decided")
    assert chosen.owner == ""


def test_the_columns_of_an_engine_are_told_but_its_trust_is_only_noted(tmp_path):
    row = {
        "id": "one", "text": "Backups run at night.", "vector": [0.0, 1.0], "importance": None, "category": "todo",
        "createdAt": 1767225600000, "importance_label": "must_remember", "scope": "project-x",
        "trust_tier": "trusted", "source_kind": "tool", "source_ref": "cron", "lang": "en",
    }  # fmt: skip
    schema = pyarrow.Table.from_pylist([{**row, "importance": 0.5}]).schema
    (found,) = Reader().read(made(tmp_path, [row], schema=schema), {})

    assert found.importance == 0.8  # the least that has this label
    assert found.kind is None
    assert found.tags == ("todo",)
    assert found.owner == "project-x"
    assert found.lang == "en"
    assert found.metadata == {
        "scope": "project-x", "trust_tier": "trusted", "source_kind": "tool", "source_ref": "cron"
    }  # fmt: skip


def test_a_scope_for_everybody_is_nobodys_own(tmp_path):
    rows = [{"id": "one", "text": "x y", "scope": "global"}, {"id": "two", "text": "z", "scope": ""}]
    assert [each.owner for each in Reader().read(made(tmp_path, rows), {})] == ["", ""]


def test_an_importance_that_is_out_of_range_is_noted_and_not_guessed(tmp_path):
    (found,) = Reader().read(made(tmp_path, [{"id": "one", "text": "x", "importance": 7.0}]), {})
    assert found.importance is None
    assert found.metadata == {"importance": "7.0"}


def test_a_bad_row_is_told_by_its_id_and_the_others_are_read(tmp_path):
    rows = [{"id": "one", "text": " "}, {"id": "two", "text": "Kept."}, {"id": "", "text": "Nobody's."}]
    found = list(Reader().read(made(tmp_path, rows), {}))

    assert [each for each in found if isinstance(each, Unread)] == [
        Unread("a row without an id", "it has no id"),
        Unread("row one", "it has no text"),
    ]
    assert [each.text for each in found if not isinstance(each, Unread)] == ["Kept."]


def test_the_first_row_of_the_plugin_is_no_memory(tmp_path):
    rows = [{"id": "__schema__", "text": ""}, {"id": "one", "text": "Kept."}]
    assert [each.text for each in Reader().read(made(tmp_path, rows), {})] == ["Kept."]


def test_a_table_is_named_or_is_the_only_one(tmp_path):
    made(tmp_path, [{"id": "one", "text": "First."}], name="other")
    assert [each.text for each in Reader().read(tmp_path, {})] == ["First."]
    assert [each.text for each in Reader().read(tmp_path / "other.lance", {})] == ["First."]

    made(tmp_path, [{"id": "two", "text": "Second."}])
    assert [each.text for each in Reader().read(tmp_path, {})] == ["Second."]
    assert [each.text for each in Reader().read(tmp_path, {"table": "other"})] == ["First."]
    with pytest.raises(NotFound) as caught:
        list(Reader().read(tmp_path, {"table": "x' OR '1'='1"}))
    assert caught.value.hint == "It has: memories, other."


def test_what_is_no_table_of_memories_is_refused_and_nothing_is_made(tmp_path):
    made(tmp_path / "db", [{"name": "x"}])
    with pytest.raises(InvalidInput, match="no column id"):
        list(Reader().read(tmp_path / "db", {}))
    with pytest.raises(NotFound):
        list(Reader().read(tmp_path / "nowhere", {}))
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_table_is_told(tmp_path):
    copy = shutil.copytree(PLUGIN, tmp_path / "lancedb")
    for manifest in (copy / "memories.lance" / "_versions").iterdir():
        manifest.write_bytes(b"")
    with pytest.raises(InvalidInput, match="cannot be opened"):
        list(Reader().read(copy, {}))


def test_without_the_extra_its_name_is_told(monkeypatch):
    monkeypatch.setattr(openclaw_lancedb.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProviderMissing) as caught:
        list(Reader().read(PLUGIN, {}))
    assert caught.value.hint == 'pip install "memoranda[lancedb]"'


def test_the_format_is_found_out():
    assert registry.sniff(PLUGIN) == registry.sniff(PLUGIN / "memories.lance") == "openclaw-lancedb"
    assert not Reader().reads(FIXTURES / "README.md")
    assert not Reader().reads(FIXTURES / "nowhere")
