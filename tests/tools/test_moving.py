"""Tools that carry memories in and out as files: in order, confined, untrusted, and never with a secret."""

import json

import pytest

from memoranda.tools import Tools
from memoranda.tools.files import Folder

SECRET = "The deploy key is sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4De7Fg0Hi3Jk6"


@pytest.fixture
def tools(memory, tmp_path):
    (tmp_path / "files").mkdir()
    return Tools(memory, toolset="openclaw", files=Folder(tmp_path / "files"))


@pytest.fixture
def folder(tmp_path, tools):
    return tmp_path / "files"


def exported(folder, name="all.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_without_files_there_are_no_such_tools(memory):
    names = [each["function"]["name"] for each in Tools(memory, toolset="openclaw").definitions()]
    assert "memory_export" not in names
    told = Tools(memory, toolset="openclaw").call("memory_export", {"outPath": "all.jsonl"})
    assert told.failed
    assert "there is no tool 'memory_export'" in told.text


def test_an_export_is_ordered_by_creation_and_then_by_id(tools, folder, memory, clock):
    ids = []
    for later, text in ((0, "First."), (60_000, "Second."), (0, "Another second."), (60_000, "Third.")):
        clock.advance(ms=later)
        ids.append(memory.remember(f"{text} It stays.").id)
    told = tools.call("memory_export", {"outPath": "all.jsonl"})
    assert (told.text, told.data["count"]) == ("Exported 4 memories", 4)
    found = exported(folder)
    assert found == sorted(found, key=lambda each: (each["createdAt"], each["id"]))
    assert [each["id"] for each in found] == [ids[0], *sorted(ids[1:3]), ids[3]]
    assert set(found[0]) == {
        "id", "text", "category", "importance_label", "scope", "trust_tier", "source_kind", "createdAt",
    }  # fmt: skip
    assert told.data["receipt"]["returned"] == 4
    tools.call("memory_export", {"outPath": "one.json", "format": "json", "limit": 1})
    assert [each["id"] for each in json.loads((folder / "one.json").read_text(encoding="utf-8"))] == [ids[0]]


def test_an_export_has_one_scope_what_lives_and_no_secret(tools, folder, memory):
    memory.remember("Anna likes plums.", kind="preference")
    memory.remember("The lamp is light.office.", kind="entity")
    memory.forget(memory.remember("This was forgotten.").id)
    memory.within("home/anna/below").remember("This is below.")
    tools.call("memory_export", {"outPath": "all.jsonl"})
    assert {each["text"] for each in exported(folder)} == {"Anna likes plums.", "The lamp is light.office."}
    tools.call("memory_export", {"outPath": "likes.jsonl", "category": "preference"})
    assert [each["text"] for each in exported(folder, "likes.jsonl")] == ["Anna likes plums."]


def test_what_was_exported_is_known_when_it_is_imported(tools, folder, memory):
    memory.remember("Anna likes plums.", kind="preference", importance=0.9)
    tools.call("memory_export", {"outPath": "all.jsonl"})
    again = tools.call("memory_import", {"inPath": "all.jsonl"})
    assert {name: again.data[name] for name in ("imported", "skipped", "failed")} == {
        "imported": 0,
        "skipped": 1,
        "failed": 0,
    }
    elsewhere = tools.call("memory_import", {"inPath": "all.jsonl", "scope": "home/anna/below"})
    assert elsewhere.data["imported"] == 1
    (taken,) = memory.within("home/anna/below").list(here=True)
    assert (taken.text, taken.kind, taken.importance) == ("Anna likes plums.", "preference", 0.9)


@pytest.mark.parametrize("source", ["assistant", "user", "operator"])
def test_only_who_runs_the_store_vouches_for_a_file_that_a_model_imports(memory, tmp_path, source):
    (tmp_path / "in.jsonl").write_text('{"text": "Anna likes pears.", "trust_tier": "trusted"}\n', encoding="utf-8")
    tools = Tools(memory, toolset="openclaw", source=source, files=Folder(tmp_path))
    assert tools.call("memory_import", {"inPath": "in.jsonl"}).data["imported"] == 1
    (taken,) = memory.list()
    assert taken.trust == ("trusted" if source == "operator" else "untrusted")


def test_looking_first_keeps_nothing_and_bad_lines_are_told_by_their_place(tools, folder, memory):
    (folder / "in.jsonl").write_text('{"text": "Anna likes pears."}\nno JSON\n{"note": 1}\n', encoding="utf-8")
    looked = tools.call("memory_import", {"inPath": "in.jsonl", "dryRun": True}).data
    assert (looked["wouldImport"], looked["imported"], looked["failed"]) == (1, 0, 2)
    assert [each["place"] for each in looked["failures"]] == ["line 2", "line 3"]
    assert tools.call("memory_import", {"inPath": "in.jsonl", "validateOnly": True}).data["failed"] == 2
    assert list(memory.list()) == []
    assert tools.call("memory_import", {"inPath": "in.jsonl", "limit": 1}).data["failed"] == 0
    assert [each.text for each in memory.list()] == ["Anna likes pears."]


def test_only_the_first_of_a_list_and_never_a_part_of_an_export_of_ours(tools, folder, memory):
    (folder / "in.json").write_text(json.dumps([{"text": f"Thing {n} is kept."} for n in range(5)]), encoding="utf-8")
    assert tools.call("memory_import", {"inPath": "in.json", "limit": 2, "format": "json"}).data["imported"] == 2
    memory.export(folder / "own.jsonl")
    told = tools.call("memory_import", {"inPath": "own.jsonl", "limit": 1})
    assert told.failed
    assert "taken in as a whole" in told.text


def test_no_path_leads_out_of_the_folder_and_nothing_is_overwritten(tools, folder, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"text": "Not for import."}\n', encoding="utf-8")
    (folder / "link.jsonl").symlink_to(outside)
    for path in ("../outside.jsonl", str(outside), "link.jsonl", ".", "a\0b", "there/is/none.jsonl"):
        assert tools.call("memory_import", {"inPath": path}).failed, path
        assert tools.call("memory_export", {"outPath": path}).failed, path
    assert outside.read_text(encoding="utf-8") == '{"text": "Not for import."}\n'
    assert not tools.call("memory_export", {"outPath": "all.jsonl"}).failed
    assert tools.call("memory_export", {"outPath": "all.jsonl"}).failed
    assert (folder / "all.jsonl").stat().st_mode & 0o777 == 0o600
