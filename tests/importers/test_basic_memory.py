"""basic-memory: notes that the real program wrote."""

import os

import pytest

from importers.looking import FIXTURES, by_text, copied, memories, read
from memoranda import InvalidInput
from memoranda.domain.clock import to_ms
from memoranda.importers.basic_memory import Reader

PROJECT = FIXTURES / "basic_memory" / "household"


def test_observations_have_kind_tags_and_context():
    assert Reader().reads(PROJECT)
    found = by_text(memories("basic-memory", PROJECT))
    tea = found["Anna: Prefers tea in the morning"]
    assert (tea.kind, tea.about, tea.context) == ("preference", "Anna", "said at breakfast")
    assert tea.tags == ("tea", "morning", "preference", "family", "readers")
    assert tea.metadata == {"note": "household/people/anna", "section": "Observations"}
    assert tea.place == "people/Anna.md, line 15"
    assert found["Anna: Speaks Polish and English"].kind == "fact"
    assert found["Anna: Will learn Danish this year"].kind == "decision"
    assert found["Harbour Library: Stands at the end of the pier"].tags == ("location", "places")
    assert {each.owner for each in found.values()} == {"household"}


def test_relations_become_sentences():
    found = by_text(memories("basic-memory", PROJECT, prose="no"))
    relations = {text: each for text, each in found.items() if "to" in each.metadata}
    assert set(relations) == {
        "Anna works at Harbour Library.",
        "Anna reads by Office Lamp.",
        "Anna is a friend of Boris.",
        "Harbour Library located in Gdańsk.",
    }
    assert relations["Anna reads by Office Lamp."].context == "in the evening"
    assert {each.about for each in relations.values()} == {"Anna", "Harbour Library"}


def test_prose_comes_along_unless_it_is_not_wanted():
    everything = memories("basic-memory", PROJECT)
    bare = memories("basic-memory", PROJECT, prose="no")
    assert (len(everything), len(bare)) == (16, 9)
    prose = [each.text for each in everything if each not in bare]
    assert prose == [
        "Plain page: Only a paragraph of text, without any observation.",
        "Plain page: It has a second paragraph.",
        "Anna works at the library by the harbour.",
        "Anna: plain line that is no observation",
        "Anna: [ ] a task that is no observation",
        "Anna: [x] a task that is done",
        "Anna: She once met [[Carla]] there.",
    ]
    assert {each.kind for each in everything if each.text in prose} == {"note"}


def test_a_note_is_as_old_as_it_says_or_as_its_file(tmp_path):
    project = copied(tmp_path, "basic_memory", "household")
    os.utime(project / "Plain page.md", (1_700_000_000, 1_700_000_000))
    dated = (
        "---\ntitle: Dated\npermalink: dated\ncreated: 2026-03-01T10:00:00Z\nmodified: 2026-03-02\n---\n- [fact] x\n"
    )
    (project / "Dated.md").write_text(dated, encoding="utf-8")
    found = by_text(memories("basic-memory", project))
    plain = found["Plain page: It has a second paragraph."]
    assert (plain.created_at, plain.updated_at) == (1_700_000_000_000, 1_700_000_000_000)
    note = found["Dated: x"]
    assert (note.created_at, note.updated_at) == (to_ms("2026-03-01T10:00Z", name="t"), to_ms("2026-03-02", name="t"))


def test_one_note_can_be_given_alone():
    note = PROJECT / "people" / "Anna.md"
    assert Reader().reads(note)
    assert {each.about for each in memories("basic-memory", note)} == {"Anna"}


def test_the_order_is_the_same_every_time_and_hidden_or_linked_files_stay_out(tmp_path):
    project = copied(tmp_path, "basic_memory", "household")
    before = memories("basic-memory", project)
    (project / ".obsidian").mkdir()
    (project / ".obsidian" / "hidden.md").write_text("- [fact] hidden", encoding="utf-8")
    outside = tmp_path / "outside.md"
    outside.write_text("- [fact] outside", encoding="utf-8")
    (project / "link.md").symlink_to(outside)
    assert memories("basic-memory", project) == before
    assert memories("basic-memory", project) == memories("basic-memory", project)


def test_code_links_and_odd_front_matter_do_no_harm(tmp_path):
    note = tmp_path / "note.md"
    note.write_text(
        "---\ntitle: 'Odd one'\ntags: [a, \"b\"]\nbroken\n: x\n---\n"
        "```\n- [fact] in code\n# no heading\n```\n\n- [text](https://example.com) a link\n- [[Target|shown]]\n"
        "- [fact] #only #tags\n",
        encoding="utf-8",
    )
    found = memories("basic-memory", note)
    assert [each.text for each in found] == [
        "Odd one: ```\n- [fact] in code\n# no heading\n```",
        "Odd one: [text](https://example.com) a link",
        "Odd one relates to Target.",
        "Odd one: [fact] #only #tags",
    ]
    assert found[0].tags == ("a", "b")


def test_a_folder_without_notes_is_refused(tmp_path):
    assert not Reader().reads(tmp_path)
    with pytest.raises(InvalidInput, match="no Markdown notes"):
        read("basic-memory", tmp_path)
    (tmp_path / "README.md").write_text("# Just a file\n", encoding="utf-8")
    assert not Reader().reads(tmp_path)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("line", ["a{}b", "[fact] a{}b", "[fact] {}(x) b", '"{}[[x', "[fact] #a{}b", "[[x]]{}y", "({}"])
@pytest.mark.parametrize("filling", [" ", " #a", "(", '"', "[", "a "])
def test_no_line_takes_long_however_it_is_made(tmp_path, line, filling):
    lines = ["- " + line.format(filling * length) for length in (300_000, 2_500, 2_500)]
    (tmp_path / "note.md").write_text("\n".join(lines), encoding="utf-8")
    assert len(memories("basic-memory", tmp_path)) == 3


def test_a_huge_note_is_named_not_read(tmp_path):
    (tmp_path / "huge.md").write_bytes(b"x" * ((4 << 20) + 1))
    found, unread = read("basic-memory", tmp_path)
    assert found == []
    assert [(each.place, each.reason) for each in unread] == [("huge.md", "longer than 4 MB")]
