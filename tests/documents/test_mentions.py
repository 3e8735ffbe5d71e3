"""Where documents say what somebody wants gone: found in whatever case and spacing, with the lines to look at."""

import pytest

SAID = "Anna keeps the spare key under the blue pot."


@pytest.fixture
def mentions(opened):
    home = opened("home")

    def asked(*texts, scopes=("home", "home/anna")):
        return home._engine.library().mentions(texts, scopes)

    asked.home = home
    return asked


def test_the_lines_that_say_it_are_cited_with_the_whole_path(mentions, write, tmp_path):
    write("l.md", f"# Keys\n\n- {SAID}\n\nThe lamp is red.\n")
    mentions.home.documents.add(tmp_path / "notes")
    assert mentions(SAID) == (f"{tmp_path}/notes/l.md#L3-L3",)
    assert mentions.home.documents.read(mentions(SAID)[0]).text == f"- {SAID}"


def test_case_spacing_and_line_ends_do_not_matter(mentions, write, tmp_path):
    write("l.md", "One line.\n\nanna keeps the SPARE\n  key under\nthe blue pot, she says.\n")
    mentions.home.documents.add(tmp_path / "notes")
    assert mentions(SAID) == (f"{tmp_path}/notes/l.md#L3-L5",)


def test_a_short_text_must_be_all_that_a_line_says(mentions, write, tmp_path):
    write("l.md", "The tea pot is blue.\n\n- Tea.\n")
    mentions.home.documents.add(tmp_path / "notes")
    assert mentions("tea") == (f"{tmp_path}/notes/l.md#L3-L3",)


def test_only_sources_of_these_scopes_are_looked_through(mentions, write, tmp_path):
    for name in ("anna", "ben"):
        write("l.md", SAID, folder=name)
        mentions.home.within(f"home/{name}").documents.add(tmp_path / name)
    assert mentions(SAID, scopes=["home/ben"]) == (f"{tmp_path}/ben/l.md#L1-L1",)
    assert mentions(SAID, scopes=["other"]) == ()
    assert mentions("Nobody wrote this anywhere.") == ()
    assert mentions() == mentions("  ") == ()


def test_at_most_ten_are_told(mentions, write, tmp_path):
    for number in range(14):
        write(f"{number}.md", f"{number}: {SAID}")
    mentions.home.documents.add(tmp_path / "notes")
    assert len(mentions(SAID)) == len(set(mentions(SAID))) == 10


def test_a_store_without_sources_gets_no_files_by_being_asked(mentions, folder):
    assert mentions(SAID) == ()
    assert not folder.exists()
