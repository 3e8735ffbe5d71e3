"""Upkeep in the background of a server, and the folders that it watches."""

import io
import os

import pytest
from running import events
from served_bench import until

from memoranda.http.logs import Logs
from memoranda.http.upkeep import Upkeep
from memoranda.service.store import Scope, Store


@pytest.fixture
def store(path):
    from memoranda import Settings

    with Store.open(path, settings=Settings(embedder="none", follow=False)) as opened:
        yield opened


def upkeep_of(store, **more):
    stream = io.StringIO()
    logs = Logs(form="json", clock=store.clock, stream=stream)
    return Upkeep(store, logs, **{"hours": 0, "watch": False, **more}), stream


def test_upkeep_is_told_in_numbers(store):
    memory = store.memory(Scope("home/anna"))
    memory.remember("Zebediah keeps a heron.", valid_until="2020-01-01")
    upkeep, stream = upkeep_of(store)
    assert upkeep.once()
    (told,) = events(stream.getvalue())
    assert (told["event"], told["expired"], told["erased"]) == ("upkeep", 1, 0)
    assert "Zebediah" not in stream.getvalue()


def test_one_upkeep_at_a_time(store):
    upkeep, _ = upkeep_of(store)
    assert upkeep._working.acquire(blocking=False)
    assert not upkeep.once()
    upkeep._working.release()
    assert upkeep.once()


def test_upkeep_runs_by_itself_and_again(store):
    upkeep, stream = upkeep_of(store, hours=0.2 / 3600)
    upkeep.start()
    until(lambda: stream.getvalue().count('"upkeep"') >= 2)
    upkeep.close()


def test_an_upkeep_that_fails_is_told_and_tried_again(store):
    upkeep, stream = upkeep_of(store)
    store.close()
    assert not upkeep.once()
    assert events(stream.getvalue())[0]["event"] == "upkeep failed"


def test_folders_of_documents_are_watched_as_long_as_there_are_any(store, tmp_path):
    pytest.importorskip("watchfiles")
    folder = tmp_path / "notes"
    folder.mkdir()
    documents = store.memory(Scope("home/anna")).documents
    documents.add(folder, name="notes")
    upkeep, _ = upkeep_of(store, watch=True, look_seconds=0.1)
    upkeep.start()
    try:
        until(lambda: upkeep.watched == ("home/anna",))
        (folder / "note.md").write_text("# Note\n\nThe herons are back on the lake.\n")
        until(lambda: documents.status().as_json() and documents.search("herons on the lake"))
        documents.remove("notes")
        until(lambda: upkeep.watched == ())
    finally:
        upkeep.close()
    assert not upkeep._thread.is_alive()
    assert os.path.isfile(folder / "note.md")
