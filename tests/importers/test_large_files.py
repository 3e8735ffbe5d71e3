"""What an archive unpacks to and what one record holds has a limit; a file has none."""

import json
import tracemalloc
import zipfile

import pytest

from importers.looking import FIXTURES, memories, read
from memoranda import InvalidInput
from memoranda.importers import files, json_pieces
from memoranda.importers.registry import importer, sniff

CONVERSATIONS = (FIXTURES / "chatgpt" / "conversations.json").read_bytes()


def archived(path, content, *, name="conversations.json", packed=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packed) as archive, archive.open(name, "w") as target:
        for piece in content:
            target.write(piece)
    return path


@pytest.mark.timeout(20)
def test_an_archive_that_unpacks_to_far_more_than_it_is_is_refused_before_it_is_read(memory, tmp_path):
    bomb = archived(tmp_path / "bomb.zip", [b'[{"mapping":{"a":[', b"[]," * (6 << 20), b"[]]}}]"])
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(InvalidInput, match="would unpack to 18 MB") as refused:
        memory.import_memories(bomb, format="chatgpt", mode="preview")
    assert "folder" in refused.value.hint


def test_there_is_a_limit_however_large_the_archive_is(tmp_path, monkeypatch):
    whole = archived(tmp_path / "whole.zip", [CONVERSATIONS], packed=zipfile.ZIP_STORED)
    assert memories("chatgpt", whole)
    monkeypatch.setattr(files, "_MOST_UNPACKED", len(CONVERSATIONS) - 1)
    assert sniff(whole) == "chatgpt"
    with pytest.raises(InvalidInput, match="would unpack"):
        read("chatgpt", whole)


def test_only_what_is_read_of_an_archive_counts(tmp_path, monkeypatch):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", CONVERSATIONS)
        archive.writestr("picture.png", b"\0" * (4 << 20))
    monkeypatch.setattr(files, "_MOST_UNPACKED", 1 << 20)
    assert memories("chatgpt", whole)


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_way_to_pack_that_cannot_be_unpacked_in_pieces_is_refused(tmp_path, packed):
    path = archived(tmp_path / "odd.zip", [CONVERSATIONS], packed=packed)
    with pytest.raises(InvalidInput, match="packed"):
        read("chatgpt", path)
    with pytest.raises(InvalidInput, match="none of the formats"):
        sniff(path)


def test_an_entry_that_says_less_than_it_holds_is_damaged_and_gives_no_more(tmp_path):
    path = archived(tmp_path / "lie.zip", [b"[", b" " * (1 << 20), b"]"])
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"PK\x01\x02") + 24
    raw[at : at + 4] = (100).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(InvalidInput):
        read("chatgpt", path)


@pytest.mark.parametrize(
    "name", ["mem0", "mcp-memory-service", "server-memory", "claude", "chatgpt", "langbot", "jsonl"]
)
def test_a_record_that_is_too_long_is_named_and_the_next_is_read(tmp_path, monkeypatch, name):
    monkeypatch.setattr(json_pieces, "LONGEST_RECORD", 1 << 20)
    monkeypatch.setattr(json_pieces, "_CHUNK", 1 << 16)
    good = {
        "mem0": {"memory": "Anna swims."},
        "server-memory": {"type": "entity", "name": "Anna", "observations": ["swims"]},
        "claude": {"memory_files": [{"path": "/x.md", "content": "Anna swims."}]},
        "chatgpt": json.loads(CONVERSATIONS)[0],
    }.get(name, {"content": "Anna swims.", "user_key": "anna"})
    path = tmp_path / "long.json"
    path.write_text(json.dumps([good, {**good, "filling": "x" * (2 << 20)}, good]))
    found, unread = read(name, path)
    assert len(found) >= 1
    assert [(each.place.rpartition(" ")[2], each.reason) for each in unread] == [("2", "longer than 1 MB")]


@pytest.mark.parametrize("name", ["langbot", "jsonl"])
def test_a_list_is_read_piece_by_piece(tmp_path, name):
    path = tmp_path / "many.json"
    episode = json.dumps({"content": "x" * 2_000, "user_key": "anna"})
    path.write_text("[" + ",".join([episode] * 20_000) + "]")
    found = 0
    tracemalloc.start()
    for _ in importer(name).read(path, {}):
        found += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == 20_000
    assert peak < path.stat().st_size / 2


def test_profiles_and_episodes_inside_of_an_object_are_found(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"note": [1, 2], "episodes": [{"content": "Anna swims."}, 7]}))
    found, unread = read("langbot", path)
    assert [each.text for each in found] == ["Anna swims."]
    assert [(each.place, each.reason) for each in unread] == [("episode 2", "not an object")]
