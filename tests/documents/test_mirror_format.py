"""How memories look in a file, and that the way back gives the same."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.documents.mirror import (
    SHELVES,
    UNREAD,
    Page,
    Place,
    Raw,
    folders_of,
    item_lines,
    place_at,
    rendered,
)
from memoranda.documents.mirror_reading import decoded, read, without
from memoranda.domain.ids import new_id
from memoranda.domain.memory import Memory

HERE = Place("home/anna", "fact")
NASTY = st.sampled_from(
    ["<!--", "-->", "&#x26;", "&#x", "```", "~~~", "# ", "- ", "  ", "\t", "\r", "\n", "\r\n", "\u2028", "\u2029",
     "\u200b", "\u200d", "\u202e", "\ufeff", "\x0b", "\x0c", "\x85", "\x1f", "---", "===", "<!-- m:", "\\", "&",
     "👨‍👩‍👧", "می‌خواهم", "\xa0", "<<<<<<< ours\n", ">>>>>>> theirs\n", "*", "+ x", UNREAD]
)  # fmt: skip
TEXTS = st.lists(st.one_of(st.text(max_size=8), NASTY), max_size=8).map("".join)
LINES = st.sampled_from(
    ["prose", "## a heading", "    indented", "1. one", "<!-- note -->", "<!-- open", "```", "- an item",
     "  more of it", "", "* another", "| a | b |", "-->", UNREAD]
)  # fmt: skip
SEGMENT = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]{0,12}", fullmatch=True)


def memory(text, *, at=0, **fields):
    return Memory(new_id(), "home/anna", "fact", text, created_at=at, **fields)


def page(*memories, **more):
    return Page(HERE, tuple(memories), **more)


@given(st.lists(TEXTS, max_size=4))
@example(["a\n\nb", "\n\nc ", "```\ncode\n```", "```\nopen", "- nested\n  - list", " \n ", "a\n```", "#", "x\n===\n"])
def test_every_text_comes_back_to_the_character(texts):
    kept = [memory(text, at=place) for place, text in enumerate(texts)]
    reading = read(rendered(page(*kept)), HERE)
    assert [(item.id, item.text) for item in reading.items] == [(each.id, each.text) for each in kept]
    assert not reading.blocks
    assert not reading.trouble
    assert reading.mark == page(*kept).mark


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_neither_line_ends_nor_stripped_spaces_nor_a_lost_last_line_end_change_a_text(texts, ends, bom):
    kept = [memory(text, at=place) for place, text in enumerate(texts)]
    file = rendered(page(*kept))
    saved = ends.join(line.rstrip(" \t") for line in file.split("\n")).rstrip("\r\n")
    reading = read(("\ufeff" if bom else "") + saved, HERE)
    assert [item.text for item in reading.items] == texts
    assert reading.bom == bom
    assert reading.newline == ("\r\n" if ends == "\r\n" else "\n")


@given(TEXTS)
def test_nothing_invisible_and_no_line_end_of_another_kind_is_in_a_file(text):
    file = rendered(page(memory(text)))
    joiners = "\u200c\u200d"
    assert not [
        char for char in file if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char not in "\n" + joiners
    ]
    assert file.endswith("\n")
    assert not file.endswith("\n\n")
    assert not any(line != line.rstrip() for line in file.split("\n"))


@given(st.lists(LINES, max_size=12))
def test_what_is_no_list_stays_and_is_found_again(lines):
    first = read("\n".join(lines), HERE)
    kept = page(raw=tuple(Raw(item.lines) for item in first.items), unread=tuple(block.lines for block in first.blocks))
    second = read(rendered(kept), HERE)
    assert [item.text for item in second.items] == [item.text for item in first.items]
    written = [line for block in first.blocks for line in block.lines]
    again = [line for block in second.blocks for line in block.lines]
    assert [line for line in again if line.strip()] == [line for line in written if line.strip()]
    for line in set(lines) - {UNREAD}:
        assert line in rendered(kept)


def test_a_file_reads_well_and_is_the_same_each_time():
    one = memory("Anna reads by light.office.", at=1, about="light.office", attribute="nickname")
    two = memory("Ben said:\n\nno lamps -- ever", at=2, trust="untrusted", speaker="ben -->")
    lines = rendered(page(two, one)).split("\n")
    assert lines[4] == "# Facts of home/anna"
    assert lines[6] == f"- Anna reads by light.office. <!-- m:{one.id} about light.office, attribute nickname -->"
    assert lines[7:] == ["- Ben said:", "", f"  no lamps -- ever <!-- m:{two.id} said by ben _, untrusted -->", ""]
    assert rendered(page(one, two)) == rendered(page(two, one))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("- Anna reads", "Anna reads"),
        ("*   wide\n    and deep", "wide\nand deep"),
        ("- list\n  - of\n    - lists", "list\n- of\n  - lists"),
        ("-\tby tab\n\tand tab", "by tab\nand tab"),
        ("- C:\\Users\\anna &amp; <b>", "C:\\Users\\anna &amp; <b>"),
        ("- a &#xd800; b &#x41;", "a &#xd800; b A"),
        ("- one\n\n  two\n\n\nnot", "one\n\ntwo"),
    ],
)
def test_what_people_write_is_read_as_they_mean_it(file, text):
    (item,) = read(file, HERE).items
    assert item.text == text
    assert item.id == ""


def test_an_id_is_found_wherever_it_stands_in_its_item():
    known = new_id()
    comment = f"<!-- m:{known} about x -->"
    for file in (
        f"- a b {comment}",
        f"- {comment} a b",
        f"- a {comment} b",
        f"- a b {comment} <!-- m:{new_id()} -->",
        f"- a b\n  {comment}",
    ):
        (item,) = read(file, HERE).items
        assert (item.text, item.id) == ("a b", known)


def test_ids_in_what_is_not_read_are_told():
    known = new_id()
    for file in (f"<!-- - gone? <!-- m:{known} --> -->", f"```\n- x <!-- m:{known} -->", f"  - x <!-- m:{known} -->"):
        reading = read(file, HERE)
        assert not reading.items
        assert reading.held == {known}


@pytest.mark.parametrize(
    "file",
    [
        "- a" + " " * 50_000 + "b",
        "- a" + " " * 50_000 + f"b <!-- m:{'a' * 20} -->",
        "- a <!-- m:" + " " * 50_000 + "b",
        "- a <!-- m:" + "b" * 50_000 + "?",
        "- a <!-- " + "\t" * 50_000,
        "- " + f"m:{'a' * 20} " * 5_000 + "b",
        "- " + "<!-- m:" * 10_000,
        "- " + "<!--" * 10_000,
        "- " + "-" * 50_000 + "m:",
        "prose\n" * 30_000,
        "<<<<<<< a\n" * 30_000,
        "- a\n\n" * 10_000,
    ],
    ids=lambda file: repr(file[:12]),
)
def test_no_file_takes_long_to_read(file):
    start = time.process_time()
    reading = read(file, HERE)
    assert time.process_time() - start < 2
    assert reading.items or reading.blocks


def test_a_comment_goes_with_the_spaces_before_it_and_with_no_other():
    known = new_id()
    for comment in (f"<!-- m:{known} -->", f"<!-- m:{known[:12]} -->", f"<!-- m:{known[:12]}", f"-- m:{known} -->"):
        (item,) = read(f"- a  b \t {comment}", HERE).items
        assert item.text == "a  b"
        assert known in (item.id, item.scrap) or item.scrap == known[:12]


def test_lines_of_a_merge_in_another_order_are_no_conflict():
    assert not read("- a\n>>>>>>> other\n<<<<<<< HEAD\n", HERE).trouble


def test_every_line_that_stands_instead_of_a_memory_is_written():
    one = memory("One.")
    lines = [("- first",), ("- second", "  and more")]
    file = rendered(page(one, raw=tuple(Raw(each, one.id) for each in lines)))
    assert [item.lines for item in read(file, HERE).items] == lines


def test_a_file_with_conflicts_of_a_merge_or_in_another_encoding_is_not_read():
    assert read("<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n", HERE).trouble
    assert decoded("- caf\xe9".encode("latin-1"), HERE).trouble


@given(st.lists(SEGMENT, min_size=1, max_size=4).map("/".join), st.sampled_from(SHELVES))
@example("Anna/anna/CON/con.txt/facts.md/a.", "note")
@example("a" * 99 + ".." + "b" * 98 + "..", "fact")
@example("A" * 256, "fact")
def test_a_scope_gives_names_that_every_system_takes_and_that_lead_back(scope, shelf):
    place = Place(scope, shelf)
    assert place_at(place.path) == place
    for name in folders_of(scope):
        assert name == name.lower()
        assert len(name) <= 110
        assert name.partition(".")[0] not in ("con", "nul", "aux", "prn", "com1", "lpt9")
        assert not name.startswith(".")
        assert not name.endswith((".", ".md"))
        assert not set(name) & set('<>:"/\\|?*~')


@given(st.lists(SEGMENT, min_size=1, max_size=3).map("/".join), st.lists(SEGMENT, min_size=1, max_size=3).map("/".join))
def test_two_scopes_never_share_a_file_even_where_case_does_not_matter(one, other):
    if one != other:
        assert Place(one, "fact").path.lower() != Place(other, "fact").path.lower()


@pytest.mark.parametrize(
    "path",
    ["facts.md", "home/../facts.md", "home/readme.md", "Home/facts.md", "home%/facts.md", "%68ome/facts.md",
     "a b/facts.md", "/facts.md", "home//facts.md", "./home/facts.md", "home/%2e%2e/facts.md"],
)  # fmt: skip
def test_other_paths_are_nobodys(path):
    assert place_at(path) is None


def test_taking_an_item_out_leaves_every_other_character():
    one, two, three = (memory(text, at=place) for place, text in enumerate(("first\nlong", "second", "third")))
    file = rendered(page(one, two, three)).replace("\n", "\r\n") + "prose\r\n"
    items = [item for item in read(file, HERE).items if item.id == one.id]
    expected = file.replace("\r\n".join(item_lines(one)) + "\r\n", "")
    assert without(file, items, mark=page(one, two, three).mark) == expected
    assert read(without(file, items, mark="0" * 12), HERE).mark == "0" * 12
