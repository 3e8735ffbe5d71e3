"""The catalogue and its folder: what stays, what goes, and which generation serves."""

import hashlib

import pytest

from memoranda.domain.document import Chunk, FileSeen, Matter, Source
from memoranda.domain.errors import Conflict, LedgerLocked
from memoranda.domain.scope import Scope
from memoranda.index.catalogue import Catalogue
from memoranda.index.catalogue_folder import CatalogueFolder
from memoranda.index.catalogue_rows import FileRead
from memoranda.ledger.sources import Sources

SPACE = "model|1"


def chunk(text, line=1, heading=""):
    return Chunk(line, line + text.count("\n"), text, heading, hashlib.sha256(text.encode()).hexdigest())


def read(path, *chunks, number=None):
    digest = hashlib.sha256("".join(each.text for each in chunks).encode()).hexdigest()
    return FileRead(FileSeen(path, 1, 1, 1), True, digest, Matter(title=path), chunks, number)


@pytest.fixture
def catalogue(tmp_path):
    made = Catalogue(tmp_path / "catalogue-1.db")
    yield made
    made.close()


def put(catalogue, *reads, **more):
    return catalogue.apply("home", "notes", put=reads, **more)


def numbers(catalogue):
    """Text to number of all that is there."""
    found = catalogue.feed.entries(range(1, 1_000))
    return {entry.text: number for number, entry in found.items()}


def file_number(catalogue, path):
    return catalogue.known("home", "notes")[path].number


def embed(catalogue, *texts):
    at = numbers(catalogue)
    items = [(at[text], chunk(text).digest, text.encode().ljust(8)) for text in texts]
    assert catalogue.feed.save_vectors(SPACE, 4, items) == len(texts)


def test_a_chunk_that_stays_keeps_its_number_and_its_vector(catalogue):
    put(catalogue, read("a.md", chunk("one"), chunk("two", 3)))
    before = numbers(catalogue)
    embed(catalogue, "one", "two")
    sequence = catalogue.feed.sequence()
    came, went = put(catalogue, read("a.md", chunk("new"), chunk("two", 9), number=file_number(catalogue, "a.md")))
    assert (came, went) == (1, 1)
    after = numbers(catalogue)
    assert after["two"] == before["two"]
    assert catalogue.feed.vectors(SPACE, list(after.values())) == {after["two"]: b"two".ljust(8)}
    assert catalogue.passages([after["two"]])[after["two"]].chunk.start_line == 9
    # Lines are not searched: an index need not hear of them.
    assert set(catalogue.feed.changes_since(sequence, limit=100).numbers) == {before["one"], after["new"]}


def test_the_same_text_twice_in_a_file_stays_twice(catalogue):
    put(catalogue, read("a.md", chunk("same", 1), chunk("same", 5)))
    number = file_number(catalogue, "a.md")
    before = catalogue.numbers("home", "notes")
    assert put(catalogue, read("a.md", chunk("same", 2), chunk("same", 7), number=number)) == (0, 0)
    assert catalogue.numbers("home", "notes") == before
    lines = sorted(each.chunk.start_line for each in catalogue.passages(sorted(before)).values())
    assert lines == [2, 7]
    assert put(catalogue, read("a.md", chunk("same", 2), number=number)) == (0, 1)


def test_a_text_that_is_there_elsewhere_needs_no_new_vector(catalogue):
    put(catalogue, read("a.md", chunk("shared")))
    embed(catalogue, "shared")
    catalogue.apply("other", "more", put=[read("b.md", chunk("shared"))])
    assert catalogue.feed.vector_count(SPACE) == 2
    assert catalogue.feed.without_vector(SPACE, after=0, limit=10) == ()


def test_texts_that_change_places_in_one_step_keep_their_vectors(catalogue):
    put(catalogue, read("a.md", chunk("one")), read("b.md", chunk("two")))
    embed(catalogue, "one", "two")
    a, b = file_number(catalogue, "a.md"), file_number(catalogue, "b.md")
    put(catalogue, read("a.md", chunk("two"), number=a), read("b.md", chunk("one"), number=b))
    assert catalogue.feed.without_vector(SPACE, after=0, limit=10) == ()


def test_a_file_that_goes_takes_chunks_and_vectors_along(catalogue):
    put(catalogue, read("a.md", chunk("one")), read("b.md", chunk("two")))
    embed(catalogue, "one", "two")
    sequence, gone = catalogue.feed.sequence(), numbers(catalogue)["one"]
    assert catalogue.apply("home", "notes", drop=[file_number(catalogue, "a.md")]) == (0, 1)
    assert catalogue.feed.changes_since(sequence, limit=10).numbers == (gone,)
    assert list(numbers(catalogue)) == ["two"]
    assert catalogue.feed.vector_count(SPACE) == 1


def test_vectors_are_taken_over_from_another_catalogue_by_what_the_text_is(catalogue, tmp_path):
    put(catalogue, read("a.md", chunk("one"), chunk("two", 2)))
    embed(catalogue, "one")
    other = Catalogue(tmp_path / "catalogue-2.db")
    put(other, read("x.md", chunk("one"), chunk("three", 2)), seeds=catalogue, fingerprint=SPACE)
    at = numbers(other)
    assert other.feed.vectors(SPACE, list(at.values())) == {at["one"]: b"one".ljust(8)}
    assert other.feed.vector_count("another|1") == 0
    other.close()


def test_a_catalogue_that_failed_in_the_middle_is_as_it_was(catalogue):
    put(catalogue, read("a.md", chunk("one")))
    with pytest.raises(Exception, match="constraint"):
        put(catalogue, read("b.md", chunk("two")), read("b.md", chunk("three")))
    assert list(numbers(catalogue)) == ["one"]


def test_sources_are_kept_by_scope_and_seen_from_below(opened, clock):
    memory = opened()
    sources = Sources(memory._engine.ledger.database, clock)
    upper = Source("notes", "home", "/upper")
    own = Source("notes", "home/anna", "/own", ("*.md", "x/**"), "trusted")
    assert sources.add(upper)
    assert sources.add(own)
    assert not sources.add(own)
    assert sources.seen_from(Scope("home/anna")) == (own, upper)
    assert sources.seen_from(Scope("home")) == (upper,)
    assert sources.seen_from(Scope("home/ben")) == (upper,)
    assert sources.everywhere() == (upper, own)
    assert sources.remove(own)
    assert not sources.remove(own)
    assert sources.seen_from(Scope("home/anna")) == (upper,)


# -- generations --


@pytest.fixture
def generations(tmp_path):
    return CatalogueFolder(tmp_path / "documents", busy_seconds=1)


def filled(generations, text):
    number, catalogue = generations.open()
    put(catalogue, read("a.md", chunk(text)))
    catalogue.close()
    return number


def texts(generations):
    _, catalogue = generations.open()
    found = list(numbers(catalogue))
    catalogue.close()
    return found


def test_a_new_generation_serves_only_when_it_is_swapped_in(generations):
    assert filled(generations, "old") == 1
    mark = generations.mark()
    with generations.rebuilding():
        number, new = generations.begin(resumable="1")
        put(new, read("a.md", chunk("new")))
        new.close()
        assert (generations.mark(), texts(generations)) == (mark, ["old"])
        generations.swap_to(number)
    assert generations.mark() != mark
    assert texts(generations) == ["new"]
    assert not list(generations.path.glob("catalogue-1.db*"))


def test_an_interrupted_rebuild_is_gone_on_with_only_when_it_was_made_in_the_same_way(generations):
    filled(generations, "old")
    for made, expected in (("1", []), ("1", ["half"]), ("2", [])):
        _, new = generations.begin(resumable=made)
        assert list(numbers(new)) == expected
        if not expected:
            put(new, read("a.md", chunk("half")))
        new.close()


def test_tidying_removes_names_of_ours_and_nothing_else(generations):
    filled(generations, "old")
    ours = ("catalogue-7.db", "catalogue-7.db-wal", "catalogue-2.db")
    foreign = ("catalogue-7.db.bak", "notes.md", "index-x", "catalogue-.db", "my-catalogue-7.db")
    for name in (*ours, *foreign):
        (generations.path / name).write_text("x")
    (generations.path / "index-7").mkdir()
    generations.tidy_if_idle()
    left = {path.name for path in generations.path.iterdir()}
    assert left >= set(foreign)
    assert not left & {*ours, "index-7"}
    assert texts(generations) == ["old"]


def test_nothing_is_tidied_while_somebody_rebuilds(generations):
    filled(generations, "old")
    (generations.path / "catalogue-2.db").write_text("x")
    with generations.rebuilding():
        generations.tidy_if_idle()
        assert (generations.path / "catalogue-2.db").exists()
        with pytest.raises(Conflict), generations.rebuilding():
            pass


def test_only_one_syncs_at_a_time(generations):
    with generations.syncing(patience=0), pytest.raises(LedgerLocked), generations.syncing(patience=0.05):
        pass
    with generations.syncing(patience=0) as now_ns:
        assert now_ns > 1_600_000_000_000_000_000


def test_a_damaged_catalogue_is_made_anew(generations):
    filled(generations, "old")
    (generations.path / "catalogue-1.db").write_bytes(b"not a database at all" * 100)
    assert texts(generations) == []
    assert generations.open()[0] == 2


@pytest.mark.parametrize(
    "pointer", ["", "generation-0", "generation-1/../../x", "../../etc/passwd", "generation-9\n\n"]
)
def test_a_pointer_that_is_not_ours_leads_nowhere(generations, pointer):
    generations.make()
    (generations.path / "CURRENT").write_text(pointer)
    assert not generations.exists()
    assert texts(generations) == []
