"""Claude's data export: memories and projects, in a folder, in an archive, or one file."""

import json
import zipfile

import pytest

from importers.looking import FIXTURES, by_text, copied, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.claude import Reader

EXPORT, BY_ACCOUNT = FIXTURES / "claude" / "export", FIXTURES / "claude" / "by_account"


def zipped(folder, target, *, below=""):
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*.json")):
            archive.write(file, below + file.relative_to(folder).as_posix())
    return target


def test_prose_becomes_one_memory_for_each_paragraph_and_point():
    assert Reader().reads(EXPORT)
    found = by_text(memories("claude", EXPORT))
    assert [(text, each.kind, each.about) for text, each in found.items()] == [
        ("Anna works at the library by the harbour. She catalogues old maps.", "note", ""),
        ("Anna reads at night and prefers short answers.", "note", ""),
        ("Plays the cello", "note", ""),
        ("Keeps two cats:\n  Miso and Pixel", "note", ""),
        ("Map catalogue: The catalogue moves to a new database in May.", "note", "Map catalogue"),
        ("Map catalogue: Everything about the catalogue of maps.", "note", "Map catalogue"),
        ("Map catalogue: Always name the year of a map.", "preference", "Map catalogue"),
        ("Map catalogue: Answer in Polish.", "preference", "Map catalogue"),
    ]
    assert found["Plays the cello"].tags == ("conversations", "Personal context")
    assert found["Plays the cello"].place == "memories.json record 1, conversations_memory, line 9"
    assert found["Map catalogue: Answer in Polish."].updated_at == to_ms("2026-02-11T09:30Z", name="t")
    assert {each.owner for each in found.values()} == {""}


def test_the_files_of_newer_memories_are_read():
    first, second, *projects = memories("claude", BY_ACCOUNT)
    assert (first.text, first.metadata["basis"], first.metadata["file"]) == (
        "Prefers metric units",
        "stated",
        "/profile.md",
    )
    assert (second.text, second.metadata["basis"]) == ("Lives near Gdańsk", "inferred")
    assert first.updated_at == to_ms("2026-01-02T03:04:05Z", name="t")
    assert len(projects) == 3


@pytest.mark.parametrize("below", ["", "data-2026-01-01/"])
def test_the_archive_gives_what_the_folder_gives(tmp_path, below):
    archive = zipped(EXPORT, tmp_path / "export.zip", below=below)
    assert Reader().reads(archive)

    def told(path):
        return [each._replace(place="") for each in memories("claude", path)]

    assert told(archive) == told(EXPORT)


def test_one_file_of_it_can_be_given_alone(tmp_path):
    alone = copied(tmp_path, "claude", "export", "memories.json", name="saved.json")
    assert Reader().reads(alone)
    *_, project = memories("claude", alone)
    assert project.about == "0198aaaa-0000-7000-8000-000000000001"


def test_neither_conversations_nor_documents_come_along():
    texts = " ".join(each.text for each in memories("claude", EXPORT))
    assert "oldest" not in texts
    assert "long document" not in texts


def test_wrong_types_are_named_by_place(tmp_path):
    value = [
        {"conversations_memory": 5, "project_memories": {"p": ["x"]}, "memory_files": [7, {"content": "Swims."}]},
        9,
    ]
    path = tmp_path / "memories.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    found, unread = read("claude", path)
    assert [each.text for each in found] == ["Swims."]
    assert [(each.place, each.reason) for each in unread] == [
        ("memories.json record 1, conversations_memory", "not a text"),
        ("memories.json record 1, project_memories", "not a text"),
        ("memories.json record 1, memory_files 1", "not an object"),
        ("memories.json record 2", "not an object"),
    ]


def test_an_export_without_memories_is_refused(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    copied(folder, "claude", "export", "conversations.json")
    assert not Reader().reads(folder)
    with pytest.raises(InvalidInput, match="no memories of Claude"):
        read("claude", folder)


def test_a_damaged_archive_is_an_error_with_a_hint(tmp_path):
    archive = zipped(EXPORT, tmp_path / "export.zip")
    whole = bytearray(archive.read_bytes())
    at = whole.index(b"memories.json") + 40
    whole[at : at + 60] = b"\xff" * 60
    archive.write_bytes(whole)
    with pytest.raises(InvalidInput, match="damaged") as told:
        read("claude", archive)
    assert told.value.hint == "Download it again."
