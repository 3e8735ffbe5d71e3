"""A store whose index lies in LanceDB: kept, found, erased with a proof, rebuilt, and put back to an earlier state."""

import shutil

import pytest

from support import occurrences, open_store

_TEXT = "The canary Zyxwvut sang of the Qwertzy harbour."


@pytest.fixture
def opened(tmp_path):
    handles = []

    def opener(path=None):
        home = f"lancedb:{tmp_path / 'lance'}"
        handles.append(open_store(path or tmp_path / "store.db", index_home=home, embedder="hashed:words"))
        return handles[-1]

    yield opener
    for handle in handles:
        handle.close()


def _found(memory, query):
    return [hit.memory.text for hit in memory.recall(query)]


def test_what_is_kept_is_found_at_once_also_by_another(opened):
    one, other = opened(), opened()
    one.remember("The boiler manual is in the cellar.")
    assert _found(other, "boiler manual") == ["The boiler manual is in the cellar."]
    other.remember("灯在书房。")
    assert _found(one, "书房的灯") == ["灯在书房。"]


def test_what_is_erased_is_purged_and_proven(opened, tmp_path):
    memory = opened()
    memory.remember("The boiler manual is in the cellar.")
    gone = memory.remember(_TEXT)
    assert _found(memory, "canary harbour") == [_TEXT]
    erasure = memory.erase(gone.id)
    assert erasure.receipt.state == "purged"
    assert not any("object store" in note for note in erasure.receipt.notes)
    assert _found(memory, "canary harbour") == []
    assert _found(memory, "boiler manual")
    assert not occurrences(tmp_path / "store.db", "Zyxwvut")
    assert not [path for path in (tmp_path / "lance").rglob("*") if path.is_file() and b"wvut" in path.read_bytes()]


def test_without_its_folder_it_is_rebuilt_from_the_ledger(opened, tmp_path):
    memory = opened()
    for text in ("The boiler manual is in the cellar.", "Anna reads by the lamp.", "Bob likes tea."):
        memory.remember(text)
    before = _found(memory, "lamp")
    memory.close()
    shutil.rmtree(tmp_path / "lance")
    again = opened()
    assert _found(again, "lamp") == before
    again.admin.rebuild()
    assert _found(again, "lamp") == before


def test_a_ledger_that_was_put_back_has_its_index_follow_it(opened, tmp_path):
    path = tmp_path / "store.db"
    memory = opened()
    memory.remember("The boiler manual is in the cellar.")
    assert _found(memory, "boiler")
    memory.close()
    shutil.copy(path, tmp_path / "earlier.db")
    memory = opened()
    memory.remember("Anna reads by the lamp.")
    assert _found(memory, "lamp")
    memory.close()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copy(tmp_path / "earlier.db", path)
    memory = opened()
    assert _found(memory, "lamp") == []
    assert _found(memory, "boiler manual")
