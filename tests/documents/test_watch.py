"""Watching: changes are taken in soon, noise is not, and nothing ends it but closing."""

import shutil
import sys
import threading
import time

import pytest

from memoranda.domain.errors import ConfigError, InvalidInput

SOON = 8.0


def wait_for(condition, *, seconds=SOON):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def watched(opened, notes):
    """Documents that only a watcher keeps up to date."""
    documents = opened(documents_sync="none", watch_debounce_ms=50).documents
    documents.add(notes)
    return documents


@pytest.fixture
def watch(watched):
    told = []
    with watched.watch(told=told.append) as at:
        at.told = told
        assert at.ready.wait(SOON)
        yield at


def found(documents, query):
    return [hit.path for hit in documents.search(query, min_score=0.0, limit=1)]


def test_what_was_there_before_is_taken_in(watch, watched):
    assert found(watched, "boiler manual") == ["boiler.md"]
    assert watched.status().watcher == "on"


def test_a_file_that_comes_changes_moves_and_goes_is_followed(watch, watched, notes):
    (notes / "cat.md").write_text("The cat is called Mruczek.")
    assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])
    (notes / "cat.md").write_text("The cat is called Filemon.")
    assert wait_for(lambda: found(watched, "Filemon") == ["cat.md"])
    (notes / "cat.md").rename(notes / "pets.md")
    assert wait_for(lambda: found(watched, "Filemon") == ["pets.md"])
    (notes / "pets.md").unlink()
    assert wait_for(lambda: watched.status().files == 3)


def test_a_whole_folder_that_comes_and_goes_is_followed(watch, watched, notes, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "cat.md").write_text("The cat is called Mruczek.")
    (tmp_path / "new").rename(notes / "new")
    assert wait_for(lambda: found(watched, "cat called Mruczek") == ["new/cat.md"])
    (notes / "new").rename(tmp_path / "new")
    assert wait_for(lambda: watched.status().files == 3)


def test_noise_is_not_heeded(watch, watched, notes):
    before = watch.syncs
    (notes / "build.log").write_text("noise")
    (notes / ".git").mkdir()
    (notes / ".git" / "x.md").write_text("noise")
    (notes / "notes.md~").write_text("noise")
    time.sleep(0.8)
    # The folder itself may be what makes it look; the files in it do not.
    assert watch.syncs <= before + 1
    settled = watch.syncs
    for number in range(5):
        (notes / ".git" / f"{number}.md").write_text("noise")
        (notes / "build.log").write_text(f"noise {number}")
    time.sleep(0.8)
    assert watch.syncs == settled


def test_a_store_among_the_notes_does_not_wake_the_watcher(tmp_path, notes):
    from support import open_store

    with open_store(notes / "store.db", documents_sync="none", watch_debounce_ms=50) as memory:
        memory.documents.add(notes)
        with memory.documents.watch() as at:
            assert at.ready.wait(SOON)
            time.sleep(0.6)
            before = at.syncs
            memory.remember("Something to keep.")
            time.sleep(1.0)
            assert at.syncs == before


def test_without_the_package_the_hint_fits_every_door(documents, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(ConfigError) as caught:
        documents.watch()
    assert "interval_minutes" in caught.value.hint
    assert "--interval" in caught.value.hint


def test_a_folder_that_goes_and_is_made_again_is_watched_again(watch, watched, notes):
    shutil.rmtree(notes)
    assert wait_for(lambda: watched.search("boiler manual").receipt.degraded)
    notes.mkdir()
    (notes / "cat.md").write_text("The cat is called Mruczek.")
    assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])
    assert not watched.search("boiler manual")
    (notes / "dog.md").write_text("The dog is called Reks.")
    assert wait_for(lambda: found(watched, "dog called Reks") == ["dog.md"])


def test_a_source_that_is_added_meanwhile_is_watched(watch, watched, write, tmp_path):
    write("cat.md", "The cat is called Mruczek.", folder="more")
    watched.add(tmp_path / "more")
    assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])


def test_a_sync_that_fails_does_not_end_it(watch, watched, notes, monkeypatch):
    library = watched._library
    sync = library.sync

    def failing(*args, **options):
        raise OSError(5, "the disk is tired")

    monkeypatch.setattr(library, "sync", failing)
    (notes / "cat.md").write_text("The cat is called Mruczek.")
    assert wait_for(lambda: "tired" in watch.trouble)
    monkeypatch.setattr(library, "sync", sync)
    (notes / "dog.md").write_text("The dog is called Reks.")
    assert wait_for(lambda: found(watched, "dog called Reks") == ["dog.md"])
    assert wait_for(lambda: not watch.trouble)


def test_many_changes_are_one_sync(opened, notes):
    documents = opened(documents_sync="none", watch_debounce_ms=400).documents
    documents.add(notes)
    with documents.watch() as at:
        assert at.ready.wait(SOON)
        before = at.syncs
        for number in range(10):
            (notes / f"n{number}.md").write_text(f"Note {number}.")
            time.sleep(0.03)
        assert wait_for(lambda: at.syncs > before)
        assert documents.status().files == 13
        assert at.syncs == before + 1


def test_closing_ends_the_thread_and_may_be_done_twice(watched):
    at = watched.watch()
    assert at.ready.wait(SOON)
    at.close()
    at.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "memoranda-documents"]
    assert watched.status().watcher == "off"


def test_without_the_package_a_watcher_says_what_to_install(watched, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(ConfigError) as caught:
        watched.watch()
    assert 'pip install "memoranda[watch]"' in caught.value.hint


def test_without_the_package_an_interval_does(watched, notes, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with watched.watch(interval_minutes=0.005) as at:
        assert at.ready.wait(SOON)
        (notes / "cat.md").write_text("The cat is called Mruczek.")
        assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])


def test_where_the_system_cannot_tell_of_changes_the_folders_are_looked_at(watched, notes, monkeypatch):
    import watchfiles

    from memoranda.service import document_watch

    def refusing(*paths, **options):
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", refusing)
    monkeypatch.setattr(document_watch, "_WITHOUT_EVENTS_SECONDS", 0.1)
    with watched.watch() as at:
        assert at.ready.wait(SOON)
        (notes / "cat.md").write_text("The cat is called Mruczek.")
        assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])


@pytest.mark.parametrize("minutes", [-1, True, "5"])
def test_an_interval_that_makes_no_sense_is_refused(watched, minutes):
    with pytest.raises(InvalidInput):
        watched.watch(interval_minutes=minutes)


def test_closing_the_store_ends_the_watcher(path, notes):
    from support import open_store

    memory = open_store(path)
    memory.documents.add(notes)
    at = memory.documents.watch()
    assert at.ready.wait(SOON)
    memory.close()
    assert wait_for(lambda: not at._thread.is_alive())


def test_where_nobody_follows_in_the_background_a_watcher_makes_the_vectors(opened, notes):
    documents = opened(embedder="hashed:words", follow=False, watch_debounce_ms=50).documents
    documents.add(notes)
    with documents.watch() as at:
        assert at.ready.wait(SOON)
        assert wait_for(lambda: documents.status().vector == "ready")


def test_whoever_is_told_and_fails_does_not_end_it(watched, notes):
    def failing(synced):
        raise ValueError("no such window")

    with watched.watch(told=failing) as watch:
        assert watch.ready.wait(SOON)
        assert "no such window" in watch.trouble
        (notes / "cat.md").write_text("The cat is called Mruczek.")
        assert wait_for(lambda: found(watched, "cat called Mruczek") == ["cat.md"])
        assert watched.status().watcher == "on"


def test_a_watcher_whose_thread_is_gone_is_not_told_to_be_on(watch, watched):
    watch._stop.set()
    watch._thread.join(SOON)
    assert watched.status().watcher == "off"


def test_the_catalogue_is_looked_through_once_for_many_changes(watch, watched, notes, monkeypatch):
    sources = watched.list()
    catalogue = watched._library.serving().catalogue
    asked = []
    known = catalogue.known
    monkeypatch.setattr(catalogue, "known", lambda *names: asked.append(names) or known(*names))
    noise = [str(notes / f"{number}.log") for number in range(50)]
    assert not watch._concerns(sources, noise)
    assert len(asked) == 1
    assert watch._concerns(sources, [*noise, str(notes / "garden")])
