"""Markdown into chunks: exact lines, nothing lost, nothing too long, cut where a reader would cut."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.documents.chunk import chunks
from memoranda.documents.lines import lines_of
from memoranda.documents.matter import front_length, matter_of
from memoranda.domain.errors import InvalidInput
from memoranda.domain.tokens import estimated_tokens

LINES = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                " ",
                "# One",
                "## Two ##",
                "### Three",
                "#### Four",
                "Title",
                "===",
                "---",
                "...",
                "```",
                "~~~~",
                "```py",
            ),
            *(
                "| a | b |",
                "|---|---|",
                "| 1 | 2 |",
                "- item",
                "  - inner",
                "1. first",
                "> said",
                "    code",
                "key: value",
            ),
            *(
                "A sentence of some words. And another one! Is this a third?",
                "灯在二楼的书房里。" * 9,
                "Zażółć gęślą jaźń. " * 12,
            ),
            *(
                "word " * 90,
                "x" * 700,
                "字" * 300,
                "👩‍👩‍👧" * 60,
                "e\u0301" * 200,
                " " * 900 + "end",
                "https://x.example/" + "a1-" * 200,
            ),
        ]
    ),
    st.text(max_size=40),
    st.text(alphabet="ab .\t#`~|-=\x0b\x0c\x1c\x85\u2028", max_size=30),
)
TEXTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), max_size=40).map(
    lambda drawn: "".join(line + end for line, end in drawn)
)
SIZES = st.sampled_from([(16, 0), (16, 8), (40, 10), (100, 50), (400, 80)])


def holds(text, size, count=estimated_tokens):
    tokens, overlap = size
    found = chunks(text, tokens=tokens, overlap=overlap, count=count)
    lines = lines_of(text)
    front = front_length(lines)
    covered = set()
    for chunk in found:
        assert front < chunk.start_line <= chunk.end_line <= len(lines)
        # What a citation promises.
        assert chunk.text in "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text.strip()
        assert count(chunk.text) <= tokens
        assert chunk.digest == hashlib.sha256(chunk.text.encode(errors="surrogatepass")).hexdigest()
        # The first and the last line are not there for nothing.
        first, last = lines[chunk.start_line - 1], lines[chunk.end_line - 1]
        assert chunk.text.split("\n")[0] in first
        assert chunk.text.split("\n")[-1] in last
        assert chunk.text.count("\n") == chunk.end_line - chunk.start_line
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    for number, line in enumerate(lines, 1):
        assert number <= front or not line.strip() or number in covered
    assert [(each.start_line, each.end_line) for each in found] == sorted((e.start_line, e.end_line) for e in found)
    return found


@settings(max_examples=80)
@given(TEXTS, SIZES)
@example("---\nkey: value\n---\n# One\ntext\n", (400, 80))
@example("```\n---", (16, 8))
@example("a\n   \nb", (400, 80))
def test_lines_are_exact_nothing_is_lost_and_nothing_is_too_long(text, size):
    holds(text, size)


@settings(max_examples=100)
@given(TEXTS, SIZES)
def test_another_way_to_count_is_held_to_as_well(text, size):
    holds(text, size, count=len)


@settings(max_examples=100)
@given(st.text(max_size=3_000), SIZES)
def test_any_text_at_all_can_be_cut(text, size):
    holds(text, size)


@settings(max_examples=100)
@given(TEXTS)
def test_every_character_of_a_long_line_is_in_some_chunk(text):
    line = "".join(lines_of(text))
    found = chunks(line, tokens=40, overlap=0)
    if not front_length([line]):
        assert "".join("".join(chunk.text for chunk in found).split()) == "".join(line.split())


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n\r\n", "---\ntitle: only front matter\n---\n", "\u2028 \x0c\n"])
def test_a_file_without_words_has_no_chunks(text):
    assert chunks(text) == ()


def test_lines_end_as_in_editors():
    text = "one\r\ntwo\rthree\nfour\x0bfour\x0cfour\x85four\u2028four\n"
    assert lines_of(text) == ["one", "two", "three", "four\x0bfour\x0cfour\x85four\u2028four"]
    assert (chunks(text)[0].start_line, chunks(text)[0].end_line) == (1, 4)


def test_front_matter_is_counted_and_not_cut():
    text = "---\ntags: [a]\n---\n\n# Boiler\n\nThe manual lies in the cellar.\n"
    (only,) = chunks(text)
    assert (only.start_line, only.end_line) == (5, 7)
    assert only.text == "# Boiler\n\nThe manual lies in the cellar."
    assert only.heading == "Boiler"


def paragraph(name, tokens):
    """Lines of about ten tokens."""
    return "\n".join(f"{name} line {n} has some words in it" for n in range(tokens // 10))


def test_a_heading_begins_a_chunk():
    text = "\n\n".join(f"## Part {n}\n\n{paragraph('some', 200)}" for n in range(3))
    found = chunks(text)
    assert [chunk.text.split("\n")[0] for chunk in found] == ["## Part 0", "## Part 1", "## Part 2"]
    assert [chunk.heading for chunk in found] == ["Part 0", "Part 1", "Part 2"]


def test_small_sections_stay_together_under_what_they_share():
    text = "# Home\n\n## Lamps\n\nThe hall has one.\n\n## Doors\n\nThe cellar has two.\n"
    (only,) = chunks(text)
    assert only.heading == "Home"


def test_the_headings_above_a_chunk_are_its_path():
    parts = [
        "# Home",
        paragraph("a", 300),
        "## Cellar",
        "### Boiler",
        paragraph("b", 300),
        "Top\n===",
        paragraph("c", 300),
    ]
    text = "\n\n".join(parts)
    assert [chunk.heading for chunk in chunks(text)] == ["Home", "Home > Cellar > Boiler", "Top"]


def test_of_two_sections_with_one_name_only_what_is_above_them_is_shared():
    (only,) = chunks("# Home\n\n## Lamp\n\nIn the hall.\n\n## Lamp\n\nIn the cellar.\n")
    assert only.heading == "Home"


def test_a_heading_is_not_torn_from_its_text():
    text = f"{paragraph('a', 330)}\n\n### Late\n\n{paragraph('b', 300)}"
    for chunk in chunks(text):
        assert not chunk.text.endswith("### Late")


def test_a_fence_and_a_table_stay_whole_when_they_fit():
    fence = "```python\n# not a heading\n\n" + "\n".join(f"x{n} = {n}" for n in range(30)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n} |" for n in range(25))
    text = f"# Code\n\n{paragraph('some', 250)}\n\n{fence}\n\n{paragraph('more', 250)}\n\n{table}\n"
    found = chunks(text)
    assert any(fence in chunk.text for chunk in found)
    assert any(table in chunk.text for chunk in found)
    assert {chunk.heading for chunk in found} == {"Code"}


def test_a_fence_that_does_not_fit_is_cut_at_lines():
    lines = [f"value_{n} = {n}" for n in range(200)]
    found = chunks("```\n" + "\n".join(lines) + "\n```\n", overlap=0)
    assert len(found) > 1
    assert "\n".join(chunk.text for chunk in found) == "```\n" + "\n".join(lines) + "\n```"


def test_the_next_chunk_begins_with_the_last_lines_of_the_one_before():
    found = chunks(paragraph("some", 1_500), tokens=400, overlap=80)
    for one, other in pairwise(found):
        shared = one.text.split("\n")[other.start_line - one.start_line :]
        assert shared
        assert other.text.startswith("\n".join(shared))
        assert estimated_tokens("\n".join(shared)) <= 80


def test_nothing_is_carried_over_a_heading_or_when_not_wanted():
    text = "\n\n".join(f"## Part {n}\n\n{paragraph('some', 300)}" for n in range(3))
    found = chunks(text, tokens=400, overlap=80)
    assert all(one.end_line < other.start_line for one, other in pairwise(found))
    plain = chunks(paragraph("some", 1_500), tokens=400, overlap=0)
    assert all(one.end_line < other.start_line for one, other in pairwise(plain))


def test_what_is_carried_over_does_not_reach_above_a_heading():
    above = "A.\nB.\n\n## Lamps\n\n" + "One lamp stands by the door.\n" * 3
    found = chunks(above + "\nhall " + "lamp " * 42, tokens=100, overlap=50)
    assert [chunk.text.split("\n")[0] for chunk in found] == ["A.", "## Lamps"]
    assert (found[0].end_line, found[1].start_line) == (8, 4)


def test_a_long_line_is_cut_at_sentences():
    sentences = [f"Sentence number {n} says something about the boiler. " for n in range(120)]
    found = chunks("".join(sentences), overlap=0)
    assert len(found) > 1
    for chunk in found:
        assert chunk.text.strip().endswith(".")
        assert (chunk.start_line, chunk.end_line) == (1, 1)


def test_chinese_is_cut_by_tokens_and_not_by_four_characters_each():
    text = "灯在二楼的书房里，开关在门的左边。" * 200
    found = chunks(text)
    assert max(len(chunk.text) for chunk in found) < 400
    assert all(chunk.text.endswith("。") for chunk in found)


def test_an_emoji_of_several_parts_is_not_torn():
    found = chunks("👩‍👩‍👧" * 100, tokens=40, overlap=0)
    assert all(len(chunk.text) % 5 == 0 for chunk in found)


def test_a_rule_is_no_front_matter_and_its_text_is_kept():
    (only,) = chunks("---\nJust a text between rules.\n---\n")
    assert "Just a text" in only.text


@pytest.mark.parametrize(("tokens", "overlap"), [(15, 0), (0, 0), (400, 201), (400, -1)])
def test_sizes_that_make_no_sense_are_refused(tokens, overlap):
    with pytest.raises(InvalidInput):
        chunks("text", tokens=tokens, overlap=overlap)


MANY = 60_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "a|b\n" + " " * MANY + "x|-",
        "# a" + " " * MANY + "b",
        "." * MANY,
        '."' * MANY,
        "```\n" * MANY,
        "#\n" * MANY,
        "|\n|-\n" * MANY,
        "x" * MANY,
        "\u0301" * MANY,
        "---\na: " + " " * MANY + "b\n---\n",
        "---\ntags: [" + " " * MANY + "[ ]\n---\n",
        "---\ntags: [" + "'" * MANY + "]\n---\n",
    ],
    ids=range(12),
)
def test_a_hostile_text_takes_no_more_time_than_another(text):
    chunks(text)
    matter_of("a.md", text)
