"""Sync: what is read, what is embedded, what comes and what goes."""

import os
import shutil
import signal
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents.conftest import rested
from memoranda.domain.errors import LedgerLocked
from memoranda.testing.fakes import HashedEmbedder
from support import answer, child, end, finish, tell


def paths(found):
    return [hit.path for hit in found]


@pytest.fixture
def embedder(monkeypatch):
    """One embedder for the test, which counts what it is asked for."""
    from memoranda.embedding import registry

    made = HashedEmbedder("words")
    monkeypatch.setitem(registry._PROVIDERS, "counted", lambda model, settings: made)
    return made


@pytest.fixture
def embedded(opened, notes, embedder):
    """Documents with vectors, read once."""
    found = opened(embedder="counted:words").documents
    found.add(notes)
    found.sync()
    return found


def test_the_first_sync_takes_everything_in(opened, notes, opens):
    documents = opened().documents
    documents.add(notes)
    synced = documents.sync()
    assert (synced.added, synced.read, synced.unchanged, synced.removed) == (3, 3, 0, 0)
    assert synced.chunks_added == 3
    assert sorted(opens) == ["boiler.md", "garden/trees.md", "lamps.md"]


def test_a_sync_of_what_has_not_changed_opens_no_file(documents, notes, opens):
    for path in notes.rglob("*.md"):
        path.chmod(0)  # and could not
    synced = documents.sync()
    assert opens == []
    assert (synced.read, synced.unchanged, synced.is_noop, synced.failures) == (0, 3, True, ())


def test_a_file_that_was_only_touched_is_read_once_and_is_the_same(documents, notes, opens):
    rested(notes / "boiler.md", ns=1_700_000_500_000_000_000)
    synced = documents.sync()
    assert opens == ["boiler.md"]
    assert (synced.changed, synced.unchanged, synced.chunks_added, synced.chunks_removed) == (0, 3, 0, 0)
    assert documents.sync().read == 0


def test_a_file_that_was_written_just_now_is_looked_into_again(documents, notes, opens):
    note = notes / "boiler.md"
    note.write_text("# Boiler\n\nThe manual is red.\n")
    moment = note.stat().st_mtime_ns
    assert documents.sync().changed == 1
    # The same size in the same moment: the disk tells of no difference.
    note.write_text("# Boiler\n\nThe manual is tan.\n")
    rested(note, ns=moment)
    synced = documents.sync()
    assert synced.changed == 1
    assert "tan" in documents.search("boiler manual")[0].snippet


def test_only_the_chunks_that_changed_are_embedded(opened, write, notes, embedder):
    sections = [f"# Part {number}\n\n" + f"word{number} " * 150 + "\n" for number in range(6)]
    note = write("long.md", "\n".join(sections))
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    first = documents.sync()
    assert first.embedded == first.chunks_added == embedder.asked
    before = embedder.asked
    sections[3] = sections[3].replace("word3 ", "other ", 1)
    write("long.md", "A new first line.\n\n" + "\n".join(sections))
    synced = documents.sync()
    assert 0 < synced.embedded == embedder.asked - before <= 3
    found = documents.search("word5", min_score=0.0, limit=1)[0]
    lines = note.read_text().split("\n")[found.start_line - 1 : found.end_line]
    assert "# Part 5" in lines


@pytest.mark.parametrize("away", ["cellar/manual.md", "boiler-2.md", "garden/boiler.md"])
def test_a_file_that_moved_takes_its_chunks_and_vectors_along(embedded, notes, embedder, away):
    before = embedder.asked
    target = notes / away
    target.parent.mkdir(exist_ok=True)
    (notes / "boiler.md").rename(target)
    synced = embedded.sync()
    assert (synced.renamed, synced.added, synced.removed, synced.chunks_added, synced.embedded) == (1, 0, 0, 0, 0)
    assert embedder.asked == before
    assert paths(embedded.search("boiler manual", limit=1)) == [away]


def test_the_new_name_of_a_file_is_searched(documents, notes):
    (notes / "boiler.md").rename(notes / "thermostat.md")
    documents.sync()
    assert paths(documents.search("thermostat")) == ["thermostat.md"]


def test_files_that_change_names_among_each_other_are_found_under_the_right_one(embedded, notes, embedder):
    before = embedder.asked
    (notes / "boiler.md").rename(notes / "x.md")
    (notes / "lamps.md").rename(notes / "boiler.md")
    (notes / "x.md").rename(notes / "lamps.md")
    embedded.sync()
    assert embedder.asked == before
    assert paths(embedded.search("boiler manual", limit=1)) == ["lamps.md"]
    assert paths(embedded.search("desk lamp", limit=1)) == ["boiler.md"]


def test_a_file_that_went_leaves_nothing_behind(embedded, notes, folder):
    (notes / "boiler.md").unlink()
    synced = embedded.sync()
    assert (synced.removed, synced.chunks_removed) == (1, 1)
    assert not [hit for hit in embedded.search("boiler manual", min_score=0.0) if hit.path == "boiler.md"]
    status = embedded.status()
    assert (status.files, status.chunks, status.fts, status.vectors, status.cache_entries) == (2, 2, 2, 2, 2)


def test_what_the_rules_begin_to_leave_out_goes(documents, notes):
    (notes / ".gitignore").write_text("garden/\n")
    assert documents.sync().removed == 1
    (notes / ".gitignore").unlink()
    assert documents.sync().added == 1


def test_an_unreadable_file_is_told_and_what_was_known_of_it_stays(documents, notes, write, monkeypatch):
    from memoranda.service import document_sync

    write("boiler.md", "# Boiler\n\nSomething else.\n")
    read = document_sync.read_document

    def failing(root, path, **options):
        if path == "boiler.md":
            raise PermissionError(13, "Permission denied")
        return read(root, path, **options)

    monkeypatch.setattr(document_sync, "read_document", failing)
    synced = documents.sync()
    assert [(each.path, each.reason) for each in synced.failures] == [("boiler.md", "Permission denied")]
    found = documents.search("boiler manual")
    assert paths(found) == ["boiler.md"]
    assert found.receipt.stale == 1
    monkeypatch.setattr(document_sync, "read_document", read)
    assert documents.sync().changed == 1
    assert documents.search("something else").receipt.stale == 0


def test_a_file_that_became_too_large_is_told_and_goes(opened, notes, write):
    documents = opened(document_bytes=1_000).documents
    documents.add(notes)
    documents.sync()
    write("boiler.md", "boiler " * 500)
    synced = documents.sync()
    assert [each.path for each in synced.skipped] == ["boiler.md"]
    assert (synced.removed, synced.failures) == (1, ())
    assert not documents.search("boiler")


def test_binary_junk_is_a_failure_and_not_an_exception(documents, notes):
    (notes / "junk.md").write_bytes(bytes(range(128, 256)) * 40)
    synced = documents.sync()
    assert [each.path for each in synced.failures] == ["junk.md"]
    assert synced.added == 0


def test_a_folder_that_is_not_there_is_told_and_nothing_is_let_go_of(documents, notes, tmp_path):
    notes.rename(tmp_path / "away")
    synced = documents.sync()
    assert len(synced.failures) == 1
    assert synced.removed == 0
    assert documents.status().sources[0].trouble
    found = documents.search("boiler manual")
    assert paths(found) == ["boiler.md"], "what is known goes on serving"
    assert (found.receipt.stale, found.receipt.dirty) == (1, False)
    assert found.receipt.degraded == ("the folder of notes is not there; what was read of it before is shown",)
    assert "documents remove notes" in found.receipt.action
    (tmp_path / "away").rename(notes)
    assert documents.sync().is_noop
    assert paths(documents.search("boiler manual")) == ["boiler.md"]


def test_full_opens_every_file_whatever_the_disk_tells(documents, notes, opens):
    note = notes / "boiler.md"
    stat = note.stat()
    note.write_text("# Boiler\n\nThe boiler manual is in the pink folder.\n")
    os.utime(note, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with note.open("r+") as file:
        file.truncate(stat.st_size)
    os.utime(note, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert documents.sync().read == 0
    assert documents.sync(full=True).changed == 1
    assert len(opens) == 3


def test_progress_is_told_of_files_and_of_vectors(opened, notes, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    files, vectors = [], []
    documents.sync(progress=lambda *told: files.append(told), embedding=lambda *told: vectors.append(told))
    assert files[-1] == (3, 3)
    assert vectors[-1] == (3, 3)


def test_words_are_searchable_at_once_and_vectors_follow(opened, notes, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    library = documents._library
    library.sync(documents.list(), why="search")
    assert embedder.asked == 0
    status = documents.status()
    assert (status.fts, status.vectors, status.vector) == (3, 0, "partial")
    documents.sync()
    assert documents.status().vector == "ready"


def test_an_embedder_that_fails_costs_vectors_not_words(opened, notes, embedder, monkeypatch):
    from memoranda.domain.errors import ProviderUnavailable

    def failing(texts, role):
        raise ProviderUnavailable("no route")

    monkeypatch.setattr(embedder, "embed", failing)
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    synced = documents.sync()
    assert (synced.added, synced.embedded, synced.without_vector) == (3, 0, 3)
    found = documents.search("boiler manual")
    assert paths(found) == ["boiler.md"]
    assert found.receipt.degraded
    assert found.receipt.lanes == ("lexical",)


# -- several at once --


def test_a_sync_that_was_asked_for_waits_and_says_who_is_in_the_way(opened, notes):
    documents = opened(busy_seconds=0.1).documents
    documents.add(notes)
    with documents._library.folder.syncing(patience=0):
        with pytest.raises(LedgerLocked, match="another process"):
            documents.sync()
        found = documents.search("boiler")
        assert found.receipt.dirty
        assert "another process is reading the documents" in found.receipt.degraded
    assert paths(documents.search("boiler manual")) == ["boiler.md"]


def test_two_processes_sync_the_same_folder_and_each_file_is_there_once(path, tmp_path, write, opened):
    for number in range(300):
        write(f"{number % 7}/note-{number}.md", f"# Note {number}\n\nThe token{number} is here.\n")
    opened().documents.add(tmp_path / "notes")
    crew = [child("document_syncer", path, "sync") for _ in range(2)]
    for process in crew:
        assert answer(process) == {"ready": True}
    for process in crew:
        tell(process, "go")
    told = [finish(process)[-1] for process in crew]
    assert sum(each["added"] for each in told) == 300
    status = opened().documents.status()
    assert (status.files, status.on_disk, status.chunks, status.fts, status.dirty) == (300, 300, 300, 300, False)


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.06, 0.15])
def test_a_sync_that_was_killed_goes_on_where_it_stopped(path, tmp_path, write, opened, pause):
    for number in range(400):
        write(f"note-{number}.md", f"# Note {number}\n\nThe token{number} is here.\n")
    opened().documents.add(tmp_path / "notes")
    process = child("document_syncer", path, "sync")
    assert answer(process) == {"ready": True}
    tell(process, "go")
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    end(process)
    documents = opened().documents
    done = documents.status().files
    synced = documents.sync()
    assert synced.added == 400 - done
    status = documents.status()
    assert (status.files, status.chunks, status.fts, status.dirty) == (400, 400, 400, False)
    assert paths(documents.search("token399", limit=1)) == ["note-399.md"]


# -- whatever happens to the files, the catalogue follows --

_names = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/c.md"])
_texts = st.lists(st.sampled_from(["apple", "boat", "cloud", "# Dawn", ""]), max_size=6).map("\n\n".join)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _names, _texts),
        st.tuples(st.just("delete"), _names),
        st.tuples(st.just("move"), _names, _names),
        st.tuples(st.just("sync")),
    ),
    max_size=12,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
def test_after_a_sync_the_catalogue_is_what_a_fresh_one_would_be(opened, tmp_path, steps):
    root = tmp_path / "tree"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    documents = opened().documents
    documents.add(root, name="tree", pattern="**/*.md")
    for what, *names in steps:
        if what == "write":
            (root / names[0]).parent.mkdir(exist_ok=True)
            (root / names[0]).write_text(names[1])
        elif what == "delete":
            (root / names[0]).unlink(missing_ok=True)
        elif what == "move" and (root / names[0]).exists():
            (root / names[1]).parent.mkdir(exist_ok=True)
            (root / names[0]).rename(root / names[1])
        elif what == "sync":
            documents.sync()
    documents.sync()
    kept = mirrored(documents)
    documents.rebuild()
    assert kept == mirrored(documents)
    status = documents.status()
    assert (status.fts, status.dirty, status.on_disk) == (status.chunks, False, status.files)


def mirrored(documents):
    """Every chunk with where it stands."""
    catalogue = documents._library.serving().catalogue
    numbers = sorted(catalogue.numbers("home/anna", "tree"))
    found = catalogue.passages(numbers).values()
    return sorted((each.seen.path, each.chunk.start_line, each.chunk.end_line, each.chunk.text) for each in found)


def test_a_search_reads_for_a_while_and_the_next_one_goes_on(opened, tmp_path, write, monkeypatch):
    from memoranda.service import document_library

    for number in range(200):
        write(f"note-{number}.md", f"The token{number} is here.")
    documents = opened().documents
    documents.add(tmp_path / "notes")
    monkeypatch.setattr(document_library, "_IN_PASSING_SECONDS", 0.0)
    monkeypatch.setattr(document_library, "_LOOK_AGAIN_SECONDS", 60.0)
    found = documents.search("token3")
    assert found.receipt.dirty
    assert any("not all documents" in told for told in found.receipt.degraded)
    monkeypatch.setattr(document_library, "_IN_PASSING_SECONDS", 60.0)
    assert paths(documents.search("token199", limit=1)) == ["note-199.md"]
    assert not documents.search("token199").receipt.dirty


def test_threads_that_search_at_once_sync_once(opened, notes, opens):
    from concurrent.futures import ThreadPoolExecutor

    documents = opened().documents
    documents.add(notes)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: documents.search("boiler manual"), range(12)))
    assert [paths(each) for each in found] == [["boiler.md"]] * 12
    assert not any(each.receipt.degraded for each in found)
    assert sorted(opens) == ["boiler.md", "garden/trees.md", "lamps.md"]


def test_vectors_follow_in_the_background(opened, notes, embedder):
    documents = opened(embedder="counted:words", follow=True).documents
    documents.add(notes)
    documents._library.sync(documents.list(), why="watch")
    deadline = time.monotonic() + 20
    while documents.status().vectors < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert documents.status().vector == "ready"
