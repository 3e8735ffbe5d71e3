"""No text makes a reader work for longer than it is long."""

import importlib
import json
import os
import pkgutil
import re
import time
from contextlib import suppress

import pytest

from importers.looking import memories, read
from memoranda import InvalidInput, importers
from memoranda.importers.basic_memory import Reader
from memoranda.importers.registry import importer, sniff

FILLINGS = (
    "a", " ", "\t", "\r\n", "\n", "#a ", " #a", "[", "]", "[[", "(", ")", "|", "| ", "-", "- ", "* ", "`", "``` ",
    "<!--", "<!-- ", "<!--openclaw:a:start", "a:start", "<memory ", "---\n", "--- \n", "1. [2026-01-01", "\\", '"',
    '\\"', '"a":', "**", "=", "~", "_ ", ".", "...\n", "2026-01-01-",
)  # fmt: skip
BEGINNINGS = ("", "---\n", "---\r\n", "<!--openclaw:", "[", '"', "- [a] ", "|")
LENGTH = 40_000
FRONT = "---\ntitle: Anna\npermalink: anna\n---\n"


def as_markdown(path, texts):
    path.write_text(FRONT + "\n\n".join(texts), encoding="utf-8", newline="")


def as_front_matter(path, texts):
    path.write_text("---\npermalink: anna\n" + "\n".join(texts), encoding="utf-8", newline="")


def as_claude(path, texts):
    path.write_text(json.dumps([{"conversations_memory": text} for text in texts]), encoding="utf-8")


def as_chatgpt(path, texts):
    shown = [{"content_type": "model_editable_context", "model_set_context": text} for text in texts]
    told = [{"content_type": "user_editable_context", "user_profile": text} for text in texts]
    mapping = {str(number): {"message": {"content": each}} for number, each in enumerate([*shown, *told])}
    path.write_text(json.dumps([{"mapping": mapping}]), encoding="utf-8")


def as_lines(path, texts):
    path.write_text("\n".join(texts), encoding="utf-8", newline="")


@pytest.mark.parametrize(
    ("name", "file", "maker"),
    [
        ("basic-memory", "note.md", as_markdown),
        ("basic-memory", "note.md", as_front_matter),
        ("openclaw-markdown", "MEMORY.md", as_markdown),
        ("openclaw-markdown", "MEMORY.md", as_front_matter),
        ("claude", "memories.json", as_claude),
        ("chatgpt", "conversations.json", as_chatgpt),
        ("mem0", "all.json", as_lines),
        ("jsonl", "all.jsonl", as_lines),
        ("csv", "all.csv", as_lines),
    ],
)
@pytest.mark.timeout(60)
def test_no_words_make_a_reader_wait(tmp_path, name, file, maker):
    path = tmp_path / file
    slowest = 0.0
    for filling in FILLINGS:
        maker(path, [beginning + filling * (LENGTH // len(filling)) + "!" for beginning in BEGINNINGS])
        started = time.perf_counter()
        sniffed = importer(name).reads(path)
        with suppress(InvalidInput):  # it is no file of theirs at all
            list(importer(name).read(path, {}))
        slowest = max(slowest, time.perf_counter() - started)
        assert sniffed in (True, False)
    assert slowest < 3


def patterns():
    for module in pkgutil.iter_modules(importers.__path__, "memoranda.importers."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                yield pytest.param(value, id=f"{module.name.rpartition('.')[2]}.{name}")


@pytest.mark.parametrize("pattern", list(patterns()))
@pytest.mark.timeout(20)
def test_every_pattern_goes_through_a_line_once(pattern):
    for beginning in BEGINNINGS:
        for filling in FILLINGS:
            text = beginning + filling * (LENGTH // len(filling)) + "!"
            given = text if isinstance(pattern.pattern, str) else text.encode()
            pattern.match(given)
            pattern.fullmatch(given)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.timeout(10)
def test_a_page_of_somebody_else_with_any_line_ends_is_no_note_of_theirs(tmp_path, end):
    lines = [b"---", b"title: Trip", b"---", *[b"We went to the lake and it rained."] * 60]
    page = tmp_path / "notes.md"
    page.write_bytes(end.join(lines))
    assert not Reader().reads(page)
    assert not Reader().reads(tmp_path)
    page.write_bytes(end.join([b"---", *[b"title: Trip"] * 60, b"permalink: far/below", b"---"]))
    assert not Reader().reads(page)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_note_of_theirs_is_known_with_any_line_ends(tmp_path, end, mark):
    page = tmp_path / "note.md"
    page.write_bytes((mark + end.join(["---", "title: Anna", "permalink: anna", "---", "- [fact] swims"])).encode())
    assert sniff(page) == "basic-memory"
    assert [each.text for each in memories("basic-memory", page)] == ["Anna: swims"]


def test_a_permalink_in_the_text_makes_no_note(tmp_path):
    page = tmp_path / "note.md"
    page.write_text("---\ntitle: Anna\n---\npermalink: in the text\n")
    assert not Reader().reads(page)


@pytest.mark.timeout(10)
def test_many_tags_before_a_last_word_cost_nothing(tmp_path):
    page = tmp_path / "note.md"
    line = "- [fact] swims" + " #a" * 2_600 + " x\n"
    page.write_text("---\ntitle: Anna\npermalink: anna\n---\n" + line * 400)
    found, unread = read("basic-memory", page)
    assert (len(found), unread) == (400, [])


def test_only_the_tags_at_the_end_are_taken_from_a_text(tmp_path):
    page = tmp_path / "note.md"
    page.write_text(
        "---\ntitle: Anna\npermalink: anna\n---\n- [fact] swims #daily in the lake #sport #water (in May)\n"
    )
    (found,) = memories("basic-memory", page)
    assert (found.text, found.context) == ("Anna: swims #daily in the lake", "in May")
    assert set(found.tags) == {"daily", "sport", "water", "fact"}


@pytest.mark.timeout(20)
def test_a_long_list_in_the_front_matter_is_read_once(tmp_path):
    page = tmp_path / "note.md"
    page.write_text("---\ntitle: Anna\npermalink: anna\ntags:\n" + "- a\n" * 400_000 + "---\n- [fact] swims\n")
    (found,) = memories("basic-memory", page)
    assert found.tags == ("fact", "a")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["a.md", "history.db", "MEMORY.md", "conversations.json"])
def test_a_pipe_in_a_folder_is_not_waited_for(memory, tmp_path, name):
    folder = tmp_path / "vault"
    folder.mkdir()
    os.mkfifo(folder / name)
    (folder / "b.md").write_text("---\ntitle: Anna\npermalink: anna\n---\n- [fact] swims\n")
    taken = memory.import_memories(folder, foreign="here", mode="preview")
    assert (taken.format, taken.audit.take) == ("basic-memory", 1)


@pytest.mark.timeout(10)
def test_a_folder_with_nothing_but_a_pipe_is_none_of_the_formats(tmp_path):
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(InvalidInput, match="none of the formats"):
        sniff(tmp_path)
