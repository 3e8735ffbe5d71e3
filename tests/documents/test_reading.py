"""Reading a document: the lines that were asked for, of documents only, whatever stands in their place."""

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.documents import reading
from memoranda.documents.lines import lines_of
from memoranda.documents.reading import CUT, read_document, read_excerpt
from memoranda.documents.scan import Limits
from memoranda.domain.errors import InvalidInput, NotFound, Refused

DATA = Path(os.environ.get("MEMORANDA_DATA") or Path(__file__).parents[3] / "shared" / "data")
ATTACKS = DATA / "attacks" / "cases.json"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "a.md").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    (tmp_path / "secret.md").write_text("secret\n")
    (folder / "secret.md").write_text("not in any pattern\n")
    return str(folder)


def test_a_document_is_read_from_its_first_line(root):
    found = read_excerpt(root, "memory/a.md")
    assert found.text.startswith("line 1\nline 2\n")
    assert found.text.endswith("line 10")
    assert (found.path, found.from_line, found.next_from, found.truncated) == ("memory/a.md", 1, None, False)


def test_the_lines_that_were_asked_for_come_and_where_to_go_on(root):
    found = read_excerpt(root, "memory/a.md", from_line=3, lines=2)
    assert (found.text, found.from_line, found.next_from) == ("line 3\nline 4", 3, 5)
    assert read_excerpt(root, "memory/a.md", from_line=9, lines=2).next_from is None
    assert read_excerpt(root, "memory/a.md", from_line=11).text == ""


def test_a_citation_is_understood(root):
    assert read_excerpt(root, "memory/a.md#L2-L3").text == "line 2\nline 3"
    assert read_excerpt(root, "memory/a.md#L2-L3").next_from == 4
    assert read_excerpt(root, "memory/a.md#L4").text == "line 4"
    assert read_excerpt(root, "memory/a.md#L5-L4").text == "line 5"
    assert read_excerpt(root, "memory/a.md#L2-L3", from_line=7, lines=1).text == "line 7"
    assert read_excerpt(root, "memory/a.md#L2-L3", lines=4).text == "line 2\nline 3\nline 4\nline 5"


def test_a_missing_file_gives_empty_text(root):
    found = read_excerpt(root, "memory/none.md")
    assert (found.text, found.path, found.truncated) == ("", "memory/none.md", False)
    with pytest.raises(NotFound):
        read_document(root, "memory/none.md")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "memory/../../secret.md",
        "memory/../secret.md",
        "/etc/passwd",
        "secret.md",
        "memory",
        "memory/",
        "",
        "#L1",
        "memory/a.txt",
    ],
)
def test_what_is_no_document_is_refused(root, path):
    with pytest.raises(Refused) as refused:
        read_excerpt(root, path)
    assert refused.value.hint
    assert "secret" not in str(refused.value)
    with pytest.raises(Refused):
        read_document(root, path)


@pytest.mark.skipif(not ATTACKS.exists(), reason="the attack cases are not here")
def test_the_paths_of_attackers_lead_nowhere(root):
    cases = json.loads(ATTACKS.read_text())["cases"]
    tried = 0
    for case in cases:
        if case["class"] == "path_traversal" and isinstance(case["input"], str):
            tried += 1
            try:
                found = read_excerpt(root, case["input"])
            except Refused:
                continue
            assert found.text == ""
    assert tried > 10


@pytest.mark.parametrize("path", ["memory/" + "a/" * 3_000 + "x.md", "memory/" + "a" * 900 + ".md", "x" * 1_000_000])
def test_a_path_that_is_too_long_is_refused_at_once(root, path):
    with pytest.raises(Refused):
        read_excerpt(root, path)


def test_a_path_that_is_absolute_and_within_is_understood(root):
    assert read_excerpt(root, f"{root}/memory/a.md", lines=1).text == "line 1"
    with pytest.raises(Refused):
        read_excerpt(root, f"{root}-other/memory/a.md")


def test_links_that_lead_out_are_refused(root, tmp_path):
    os.symlink(tmp_path / "secret.md", f"{root}/memory/link.md")
    os.symlink(tmp_path, f"{root}/memory/folder")
    for path in ("memory/link.md", "memory/folder/secret.md"):
        with pytest.raises(Refused):
            read_excerpt(root, path)


def test_a_link_that_stays_within_is_read(root):
    os.symlink("a.md", f"{root}/memory/b.md")
    assert read_excerpt(root, "memory/b.md", lines=1).text == "line 1"


@pytest.mark.parametrize("swapped", ["file", "folder", "pipe"])
def test_what_is_swapped_after_it_was_looked_at_neither_leaks_nor_hangs(root, tmp_path, monkeypatch, swapped):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.md").write_text("secret\n")
    really = reading.located

    def then_swapped(*args, **named):
        place = really(*args, **named)
        if swapped == "folder":
            os.rename(f"{root}/memory", f"{root}/before")
            os.symlink(tmp_path / "elsewhere", f"{root}/memory")
        else:
            os.unlink(f"{root}/memory/a.md")
            if swapped == "file":
                os.symlink(tmp_path / "secret.md", f"{root}/memory/a.md")
            else:
                os.mkfifo(f"{root}/memory/a.md")
        return place

    monkeypatch.setattr(reading, "located", then_swapped)
    with pytest.raises(Refused):
        read_excerpt(root, "memory/a.md")


def test_without_handles_of_folders_a_swapped_link_does_not_leak_either(root, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_HAS_FOLDER_HANDLES", False)
    assert read_excerpt(root, "memory/a.md", lines=1).text == "line 1"
    place = reading.located(root, "memory/a.md")
    os.rename(f"{root}/memory", tmp_path / "moved")
    os.symlink(tmp_path / "moved", f"{root}/memory")
    monkeypatch.setattr(reading, "located", lambda *_, **__: place)
    with pytest.raises(Refused):
        read_excerpt(root, "memory/a.md")


def test_what_is_deleted_after_it_was_looked_at_is_missing(root, monkeypatch):
    place = reading.located(root, "memory/a.md")
    os.unlink(f"{root}/memory/a.md")
    monkeypatch.setattr(reading, "located", lambda *_, **__: place)
    assert read_excerpt(root, "memory/a.md").text == ""


def test_a_pipe_does_not_hang(root):
    os.mkfifo(f"{root}/memory/pipe.md")
    done = []

    def read():
        with pytest.raises(Refused):
            read_excerpt(root, "memory/pipe.md")
        done.append(True)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert done


def test_a_file_that_is_too_large_is_refused(root):
    with pytest.raises(Refused):
        read_document(root, "memory/a.md", limits=Limits(file_bytes=10))


def test_no_handle_stays_open(root):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        read_excerpt(root, "memory/a.md")
        with pytest.raises(Refused):
            read_document(root, "memory/a.md", limits=Limits(file_bytes=10))
    assert before == (len(os.listdir("/proc/self/fd")) if before else 0)


def test_an_excerpt_is_bounded_by_lines_and_by_characters(root):
    Path(root, "memory", "long.md").write_text("x\n" * 1_000)
    found = read_excerpt(root, "memory/long.md")
    assert (found.text.count("\n"), found.next_from) == (199, 201)
    assert read_excerpt(root, "memory/long.md", lines=5_000).next_from == 201
    bounded = read_excerpt(root, "memory/a.md", most_characters=15)
    assert (bounded.text, bounded.next_from) == ("line 1\nline 2", 3)


def test_a_line_that_is_too_long_is_cut_where_one_can_see_it_and_reading_goes_on(root):
    Path(root, "memory", "long.md").write_text("x" * 100 + "\nend\n")
    found = read_excerpt(root, "memory/long.md", most_characters=10)
    assert (found.text, found.next_from) == ("x" * 10 + CUT, 2)
    assert read_excerpt(root, "memory/long.md", from_line=2, most_characters=10).text == "end"


@given(
    st.lists(st.text(alphabet="ab\u2028\x0b é", max_size=30), min_size=1, max_size=40),
    st.integers(1, 50),
    st.integers(1, 9),
)
def test_reading_on_gives_every_line_once(tmp_path_factory, lines, most, step):
    folder = tmp_path_factory.mktemp("root")
    text = "\n".join(lines) + "\n"
    (folder / "MEMORY.md").write_text(text, newline="")
    seen, at = [], 1
    while at is not None:
        found = read_excerpt(str(folder), "MEMORY.md", from_line=at, lines=step, most_characters=most)
        assert len(found.text) <= most + len(CUT)
        parts = found.text.split("\n")
        assert found.next_from is None or found.next_from == at + len(parts)
        seen += parts
        at = found.next_from
    assert len(seen) == len(lines)
    assert all(got == line or got == line[:most] + CUT for got, line in zip(seen, lines, strict=True))


@pytest.mark.parametrize(("from_line", "lines"), [(0, 1), (-1, 1), (1, 0)])
def test_lines_are_counted_from_one(root, from_line, lines):
    with pytest.raises(InvalidInput):
        read_excerpt(root, "memory/a.md", from_line=from_line, lines=lines)


def test_a_document_comes_whole_with_its_file(root):
    found = read_document(root, "memory/a.md")
    told = os.stat(f"{root}/memory/a.md")
    assert lines_of(found.text) == [f"line {n}" for n in range(1, 11)]
    assert (found.file.path, found.file.size, found.file.modified_ns) == ("memory/a.md", told.st_size, told.st_mtime_ns)


def test_what_may_not_be_shown_is_taken_out_before_lines_are_counted(root):
    shown = read_excerpt(root, "memory/a.md#L2-L3", screen=lambda text: text.replace("line 2", "[hidden]"))
    assert shown.text == "[hidden]\nline 3"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_is_understood_with_and_without_a_mark(root, encoding):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    Path(root, "memory", "x.md").write_bytes(mark + "Zażółć\r\n書房\r\n".encode(encoding))
    assert read_excerpt(root, "memory/x.md").text == "Zażółć\n書房"


def test_other_bytes_are_replaced_and_what_is_no_text_is_refused(root):
    Path(root, "memory", "latin.md").write_bytes("Ein Gerät, nicht größer als ein Kühlschrank.".encode("latin-1"))
    latin = read_document(root, "memory/latin.md")
    assert "Ger\ufffdt" in latin.text
    Path(root, "memory", "nul.md").write_bytes(b"A fridge with \0 in it.")
    assert read_document(root, "memory/nul.md").text == "A fridge with \ufffd in it."
    Path(root, "memory", "sign.md").write_text("The sign \ufffd is text, too.")
    exact = {name: read_document(root, f"memory/{name}.md").is_exact for name in ("a", "latin", "nul", "sign")}
    assert exact == {"a": True, "latin": False, "nul": False, "sign": True}
    Path(root, "memory", "chinese.md").write_bytes(("灯在书房" * 50).encode("gbk"))
    Path(root, "memory", "binary.md").write_bytes(bytes(range(256)) * 20)
    for name in ("chinese", "binary"):
        with pytest.raises(Refused):
            read_document(root, f"memory/{name}.md")
