"""ChatGPT's data export: what was saved, shown and instructed, found in its conversations."""

import json
import zipfile

import pytest

from importers.looking import FIXTURES, copied, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.chatgpt import Reader

EXPORT = FIXTURES / "chatgpt"
CONVERSATIONS = EXPORT / "conversations.json"


def test_each_memory_comes_once_with_its_time_and_conversation():
    assert Reader().reads(EXPORT)
    found = memories("chatgpt", EXPORT)
    assert [(each.text, each.kind, each.tags) for each in found] == [
        ("Preferred name: Anna\nRole: librarian", "fact", ("instructions",)),
        ("Answer shortly. Use metric units.", "preference", ("instructions",)),
        ("User works at a library.", None, ("saved",)),
        ("User plays the cello.", None, ("saved",)),
        ("User does not eat meat.", None, ("saved",)),
    ]
    *_, library, cello, meat = found
    assert library.created_at == to_ms("2025-11-02", name="t")
    assert cello.created_at == to_ms("2026-01-02", name="t")
    assert meat.created_at == 1_767_398_411_500
    assert {each.conversation for each in found} == {"c0000000-0000-4000-8000-000000000002"}
    assert meat.place == "conversations.json record 1, message b4"


def test_a_call_that_nothing_came_back_from_is_no_memory():
    assert all("Nobody" not in each.text for each in memories("chatgpt", EXPORT))


def test_file_folder_and_archive_give_the_same(tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as target:
        target.write(CONVERSATIONS, "conversations.json")
        target.write(EXPORT / "user.json", "user.json")
    assert Reader().reads(archive)
    assert memories("chatgpt", archive) == memories("chatgpt", EXPORT) == memories("chatgpt", CONVERSATIONS)


def test_an_export_in_several_files_is_read_whole(tmp_path):
    first, second = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
    (tmp_path / "conversations-000.json").write_text(json.dumps([second]), encoding="utf-8")
    (tmp_path / "conversations-001.json").write_text(json.dumps([first]), encoding="utf-8")
    assert {each.text for each in memories("chatgpt", tmp_path)} == {each.text for each in memories("chatgpt", EXPORT)}


def test_instructions_are_taken_out_of_the_words_around_them(tmp_path):
    conversations = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
    for conversation in conversations:
        for node in conversation["mapping"].values():
            (node["message"] or {}).get("metadata", {}).pop("user_context_message_data", None)
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(conversations), encoding="utf-8")
    assert memories("chatgpt", path) == memories("chatgpt", CONVERSATIONS)


def test_odd_trees_and_cut_files_are_told(tmp_path):
    odd = {"mapping": {"a": None, "b": {"message": {"content": {"content_type": "text"}, "recipient": "bio"}}}}
    tree = {"mapping": {"a": {"message": {"recipient": "bio", "content": []}, "children": "no"}}, "create_time": "x"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([odd, tree, {"title": "none"}])[:-1] + ', {"mapping": {', encoding="utf-8")
    found, unread = read("chatgpt", path)
    assert found == []
    assert [(each.place, each.reason) for each in unread] == [
        ("conversations.json record 3", "no conversation"),
        ("conversations.json record 4", "cut off"),
    ]


def test_claudes_conversations_are_refused(tmp_path):
    other = copied(tmp_path, "claude", "export", "conversations.json")
    assert not Reader().reads(other)
    with pytest.raises(InvalidInput, match="no conversations of ChatGPT"):
        read("chatgpt", other)


@pytest.mark.parametrize(("shown", "texts"), [("User plays the cello.", ["User plays the cello."]), ("", []), (7, [])])
def test_a_context_that_is_no_numbered_list_is_one_memory(tmp_path, shown, texts):
    content = {"content_type": "model_editable_context", "model_set_context": shown}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"mapping": {"a": {"message": {"content": content}}}}]))
    assert [each.text for each in memories("chatgpt", path)] == texts
