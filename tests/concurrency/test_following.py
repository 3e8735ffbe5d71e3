"""Whoever recalls, erases or rebuilds while others keep writing is answered: what came before is there, and no more is
waited for."""

import pytest

import faces
from memoranda.index import follower
from support import open_store

_PATIENCE = 40


@pytest.fixture(params=["embedded", pytest.param("postgres", marks=pytest.mark.postgres)])
def memory(request, tmp_path, monkeypatch):
    monkeypatch.setattr(follower, "BATCH", 3)
    monkeypatch.setattr(follower, "EMBED_BATCH", 3)
    with faces.on(request.param), open_store(tmp_path / "store.db", embedder="hashed:words") as opened:
        yield opened


@pytest.fixture
def others(memory, monkeypatch):
    """They write faster than anybody follows: something new whenever somebody looks. How often that was."""
    feed, looked = memory._engine.memories.feed, []

    def on_every_look(name):
        found = getattr(type(feed), name)

        def look(*args, **options):
            looked.append(name)
            assert len(looked) < _PATIENCE, "it runs after them for ever"
            memory.remember_many([f"remark {len(looked)}.{number} of somebody else" for number in range(5)])
            return found(feed, *args, **options)

        monkeypatch.setattr(feed, name, look)

    def begin():
        for name in ("changes_since", "without_vector"):
            on_every_look(name)
        return looked

    return begin


def test_a_recall_while_others_keep_writing_is_answered(memory, others):
    memory.remember_many([f"harmless fact {number}" for number in range(8)])
    memory.remember("the cellar opens with a brass key")
    looked = others()
    found = memory.recall("what opens the cellar?")
    assert found[0].memory.text == "the cellar opens with a brass key"
    assert looked.count("changes_since") >= 2, "more than one bite"


def test_an_erasure_while_others_keep_writing_is_purged(memory, others):
    kept = memory.remember("the cellar opens with a brass key")
    memory.remember_many([f"harmless fact {number}" for number in range(8)])
    others()
    erased = memory.erase(kept.id)
    assert erased.purged, erased.receipt.pending


def test_a_rebuild_while_others_keep_writing_ends_and_loses_nothing(memory, others, monkeypatch):
    memory.remember("the cellar opens with a brass key")
    memory.remember_many([f"harmless fact {number}" for number in range(8)])
    looked = others()
    memory.admin.rebuild()
    monkeypatch.undo()
    assert looked
    assert memory.recall("remark 1.4 of somebody else")[0].memory.text == "remark 1.4 of somebody else"
    assert memory.recall("what opens the cellar?")[0].memory.text == "the cellar opens with a brass key"
    assert memory.admin.index_status().lag == 0
