"""The cold lane: documents speak when memories are few, briefly, and unasked only when they are trusted."""

import pytest


@pytest.fixture
def trusted(opened, notes):
    documents = opened().documents
    documents.add(notes, trust="trusted")
    return documents


@pytest.mark.parametrize(("hits", "passages"), [(0, 1), (1, 1), (2, 0), (5, 0)])
def test_documents_are_consulted_when_memories_are_few(trusted, hits, passages):
    assert len(trusted.cold("where is the boiler manual?", hits)) == passages


def test_at_most_two_short_passages_come(opened, write, tmp_path):
    for number in range(5):
        write(f"zoo-{number}.md", f"The zebra of zoo{number} eats hay. " + f"filler{number} " * 100)
    documents = opened().documents
    documents.add(tmp_path / "notes", trust="trusted")
    found = documents.cold("what does the zebra of the zoo eat?", 0)
    assert len(found) == 2
    assert all(len(hit.snippet) <= 280 for hit in found)


def test_what_nobody_vouches_for_speaks_only_when_asked(documents):
    assert documents.cold("where is the boiler manual?", 0) == ()
    asked = documents.cold("where is the boiler manual?", 0, automatic=False)
    assert [hit.citation for hit in asked] == ["boiler.md#L1-L3"]


def test_front_matter_keeps_a_document_of_a_trusted_source_silent(trusted, write):
    write("boiler.md", "---\ntrust: untrusted\n---\nThe boiler manual is in the blue folder.\n")
    trusted.sync()
    assert trusted.cold("where is the boiler manual?", 0) == ()


def test_untrusted_documents_do_not_push_trusted_ones_out(trusted, write, tmp_path):
    for number in range(60):
        write(f"clip-{number}.md", f"The boiler manual boiler manual {number}.", folder="clips")
    trusted.add(tmp_path / "clips")
    assert [hit.path for hit in trusted.cold("where is the boiler manual?", 0)] == ["boiler.md"]


def test_nothing_that_bears_on_it_is_nothing(trusted):
    assert trusted.cold("quantum chromodynamics lattice", 0) == ()
    assert trusted.cold("", 0) == ()
