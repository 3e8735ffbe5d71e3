"""OpenClaw's MEMORY.md and the notes of each day."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Unread
from memoranda.importers import registry
from memoranda.importers.openclaw_markdown import Reader

WORKSPACE = Path(__file__).parent / "fixtures" / "openclaw_markdown"
DAY = 1768176000000  # 2026-01-12


def read(text, tmp_path, name="MEMORY.md"):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return list(Reader().read(tmp_path, {}))


def texts(text, tmp_path):
    return [each.text for each in read(text, tmp_path)]


def test_a_workspace_is_read_item_by_item_with_where_each_stands():
    found = list(Reader().read(WORKSPACE, {}))

    assert [(each.id, each.text, each.kind) for each in found if not isinstance(each, Unread)] == [
        ("MEMORY.md#L10", "Anna prefers **short** answers, without greetings.", "preference"),
        ("MEMORY.md#L13", "Lights: reading lamp is light.office", "preference"),
        ("MEMORY.md#L14", "Lights: hallway lamp follows the sun", "preference"),
        ("MEMORY.md#L18", "We heat the cellar only in winter. It saves a third.", "decision"),
        ("MEMORY.md#L26", "The boiler manual is in the blue folder.", "decision"),
        ("MEMORY.md#L32", "Name: Ben; Since: 2019", "entity"),
        ("MEMORY.md#L42", "The tag <memory> is only mentioned here.", "entity"),
        ("memory/2026-01-12.md#L3", "Called the plumber; he comes on Friday.", "episode"),
        ("memory/2026-01-12.md#L4", "Buy salt for the dishwasher", "episode"),
        ("memory/2026-01-12.md#L6", "Ben broke the blue cup.", "episode"),
        ("memory/2026-02-03-home-network.md#L3", "The router is in the hall.", "episode"),
        ("memory/garden.md#L5", "Bees need water in March.", None),
    ]
    assert found[-1] == Unread("memory/latin.md", "it is not UTF-8")
    assert list(Reader().read(WORKSPACE, {})) == found


def test_every_line_that_is_named_has_the_words():
    for each in Reader().read(WORKSPACE, {}):
        if not isinstance(each, Unread):
            name, _, line = each.id.partition("#L")
            stands = (WORKSPACE / name).read_text(encoding="utf-8").split("\n")[int(line) - 1]
            assert each.text.split()[-1] in stands or each.text.split()[1] in stands


def test_sections_front_matter_and_names_of_files_are_tags_and_dates():
    found = {each.place: each for each in Reader().read(WORKSPACE, {}) if not isinstance(each, Unread)}

    assert found["MEMORY.md#L10"].tags == ("household", "long-term", "Preferences")
    assert found["MEMORY.md#L14"].tags[-1] == "done"
    assert found["MEMORY.md#L32"].tags[2:] == ("Decisions", "People")
    assert found["MEMORY.md#L10"].created_at is None
    assert found["memory/2026-01-12.md#L4"].occurred_at == DAY
    assert found["memory/2026-01-12.md#L4"].tags == ("todo",)
    assert found["memory/2026-02-03-home-network.md#L3"].tags == ("home-network",)
    assert found["memory/garden.md#L5"].tags == ("garden",)
    assert found["memory/garden.md#L5"].created_at


def test_what_a_program_put_there_is_left_out(tmp_path):
    text = (
        "Before.\n\n<!-- openclaw:dreaming:rem:start -->\n- dreamt\n<!-- openclaw:dreaming:rem:end -->\n"
        "<!-- openclaw:human:start -->\nWritten by a person.\n<!-- openclaw:human:end -->\n"
        "~~~~\nfenced\n~~~\nstill fenced\n~~~~\n"
        "<Relevant-Memories x='1'>\ninjected\n</relevant-memories>\nAfter. <!-- c -->\n"
    )
    assert texts(text, tmp_path) == ["Before.", "Written by a person.", "After."]


def test_a_marker_in_an_example_opens_nothing_and_an_open_comment_ends_with_the_file(tmp_path):
    assert texts("```\n<!-- openclaw:x:start -->\n<memory>\n```\nKept.\n</memory>\n", tmp_path)[0].startswith("Kept.")
    assert texts("Kept.\n<!-- never closed\n- hidden\n", tmp_path) == ["Kept."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\ntext", ["text"]),
        ("one\n---\ntwo", ["one", "two"]),
        ("* a\n* b\n+ c\n2) d", ["a", "b", "c", "d"]),
        ("- a\n\n  more of a", ["a", "more of a"]),
        ("- **Lamps:**\n  - hall:\n    - red\n- b", ["**Lamps:** hall: red", "b"]),
        ("> quoted\n> twice", ["quoted twice"]),
        ("- \n-\n\n***\n", ["-"]),
        ("| a | b |\n|---|---|\n| 1 |  |\n\n| c |\n|---|\n| 3 |", ["a: 1", "c: 3"]),
        ("\ufefftext\r\nmore\r\n", ["text more"]),
        ("# Only a title", []),
    ],
)
def test_markdown_is_taken_apart_as_people_read_it(text, expected, tmp_path):
    assert texts(text, tmp_path) == expected


def test_links_and_hidden_folders_are_not_followed(tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("Private.")
    workspace = tmp_path / "workspace"
    (workspace / "memory" / ".dreams").mkdir(parents=True)
    (workspace / "memory" / ".dreams" / "a.md").write_text("dreamt")
    (workspace / "memory" / "b.md").symlink_to(outside)
    (workspace / "memory" / "2026-01-12.md").write_text("Kept.")
    assert [each.text for each in Reader().read(workspace, {})] == ["Kept."]


def test_a_file_that_is_far_too_long_is_told(tmp_path):
    (found,) = read("x" * 4_000_001, tmp_path)
    assert found == Unread("MEMORY.md", "it is longer than 4,000,000 bytes")


def test_one_file_can_be_given_and_a_folder_without_any_is_refused(tmp_path):
    (first, *_) = Reader().read(WORKSPACE / "memory" / "2026-01-12.md", {})
    assert first.id == "memory/2026-01-12.md#L3"
    with pytest.raises(InvalidInput):
        list(Reader().read(tmp_path, {}))


def test_the_format_is_found_out(tmp_path):
    assert registry.sniff(WORKSPACE) == registry.sniff(WORKSPACE / "MEMORY.md") == "openclaw-markdown"
    assert not Reader().reads(tmp_path)
    assert not Reader().reads(tmp_path / "nowhere")


@given(st.text(alphabet="ab \n\t#-*>|=`~<!/memory:[]1.\r", max_size=200))
def test_whatever_stands_there_is_read_and_nothing_empty_comes_of_it(tmp_path_factory, text):
    found = read(text, tmp_path_factory.mktemp("any"))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for each in found:
        assert each.text.strip()
        assert "\n" not in each.text
        assert 1 <= int(each.id.partition("#L")[2]) <= len(lines)


@pytest.mark.parametrize(
    "unit", ["<memory>", "<!-- openclaw:a:start -->", "</memory><memory ", "# ", "- ", "|", "-- ", "#\t ", "<!--"]
)
def test_no_text_is_slow_to_read(unit, tmp_path):
    began = time.perf_counter()
    read(unit * (200_000 // len(unit)), tmp_path)
    assert time.perf_counter() - began < 5
