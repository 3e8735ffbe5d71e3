"""With, without and between embedders."""

import json

import pytest

from memoranda.domain.ports import IndexEntry
from memoranda.embedding import registry
from memoranda.testing.fakes import HashedEmbedder
from memoranda.testing.servers import EmbeddingServer


def test_with_the_bundled_embedder_a_paraphrase_is_found(opened, model_cache):
    memory = opened(embedder="auto", cache=model_cache)
    wanted = memory.remember("The physician's appointment is on Monday.")
    memory.remember_many(["The boiler manual is in the cellar.", "Bob drinks his tea with milk."])
    found = memory.recall("when do I see the doctor?", limit=1)
    assert found[0].id == wanted.id
    assert found.receipt.lanes == ("lexical", "semantic")
    assert found.receipt.embedder == "use:m3"
    assert found.receipt.degraded == ()


def test_without_its_embedder_recall_goes_on_by_words_and_says_so(opened):
    server = EmbeddingServer(dimensions=48).start()
    url = server.openai_url
    server.close()
    memory = opened(embedder="compatible:some-model", embedder_url=url, query_timeout=0.3)
    memory.admin._engine.embedders.configured()._tries = 1
    kept = memory.remember("the boiler manual is in the cellar")
    found = memory.recall("manuals")
    assert [hit.id for hit in found] == [kept.id]
    assert found.receipt.lanes == ("lexical",)
    assert any("semantic lane off" in line for line in found.receipt.degraded)
    assert any("no vector" in line for line in found.receipt.degraded)
    assert "boiler" not in json.dumps(found.receipt.as_json())
    status = memory.admin.index_status()
    assert (status.vectors_missing, status.semantic_rows, status.lexical_rows) == (1, 0, 1)
    assert not memory.admin.doctor().ok
    assert memory.admin.verify().ok


@pytest.mark.parametrize("reopened", [True, False])
def test_vectors_that_could_not_be_made_are_made_when_the_embedder_is_back(opened, reopened):
    with EmbeddingServer(dimensions=48) as server:
        settings = {"embedder": "compatible:some-model", "embedder_url": server.openai_url}
        memory = opened(**settings)
        pipeline = memory._engine.embedders.configured()
        pipeline._tries = 1
        server.fail("server_error")
        kept = memory.remember("the boiler manual is in the cellar")
        assert memory.recall("boiler manual").receipt.degraded
        if reopened:
            memory.close()
            memory = opened(**settings)
        else:
            pipeline._cold = None  # the pause after a failure is over
        done = memory.admin.maintain()
        assert (done.vectors_made, done.vectors_missing) == (1, 0)
        found = memory.recall("boiler manual")
        assert found[0].id == kept.id
        assert found[0].receipt.semantic_rank == 1
        assert found.receipt.degraded == ()


def test_another_embedder_serves_only_after_a_rebuild_and_spaces_are_never_mixed(opened):
    first = opened(embedder="hashed:one")
    old = first.remember("the boiler manual is in the cellar")
    first.recall("boiler")
    first.close()

    memory = opened(embedder="hashed:two")
    fresh = memory.remember("the reading lamp stands in the hall")
    found = memory.recall("boiler manual")
    assert found[0].id == old.id
    assert found.receipt.embedder == "hashed:one"
    assert found[0].receipt.semantic_rank == 1
    assert memory.recall("reading lamp")[0].receipt.semantic_rank == 1
    status = memory.admin.index_status()
    assert status.rebuild_needed
    assert status.fingerprint.startswith("hashed:one")
    assert status.configured.startswith("hashed:two")
    assert (status.semantic_rows, status.vectors_missing) == (2, 0)
    assert not memory.admin.doctor().ok

    status = memory.admin.rebuild()
    assert not status.rebuild_needed
    assert status.fingerprint.startswith("hashed:two")
    assert (status.semantic_rows, status.vectors_missing) == (2, 0)
    found = memory.recall("reading lamp")
    assert (found.receipt.embedder, found[0].id) == ("hashed:two", fresh.id)
    assert found[0].receipt.parts["semantic"] > 0
    assert memory.admin.doctor().ok


class _Gone(HashedEmbedder):
    """Of a package that is no longer installed."""

    def __init__(self):
        super().__init__()
        self.name, self.fingerprint = "gone:words", "gone:words|1|64"


def test_when_the_embedder_of_the_index_is_not_there_any_more_the_semantic_lane_is_off(opened, monkeypatch):
    with monkeypatch.context() as installed:
        installed.setitem(registry._PROVIDERS, "gone", lambda model, settings: _Gone())
        first = opened(embedder="gone:words")
        kept = first.remember("the boiler manual is in the cellar")
        first.recall("boiler")
        first.close()
    memory = opened(embedder="hashed:words")
    found = memory.recall("boiler manual")
    assert [hit.id for hit in found] == [kept.id]
    assert found.receipt.lanes == ("lexical",)
    assert any("rebuild" in line for line in found.receipt.degraded)
    memory.admin.rebuild()
    assert memory.recall("boiler manual").receipt.lanes == ("lexical", "semantic")


def test_a_rebuild_can_be_interrupted_and_goes_on_where_it_stopped(opened):
    memory = opened(embedder="hashed:one")
    memory.remember_many([f"lamp {number} stands in room {number}" for number in range(300)])
    memory.recall("lamp")
    memory.close()

    memory = opened(embedder="hashed:two")
    told = []

    def interrupt(done, total):
        told.append((done, total))
        if done >= 128:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.admin.rebuild(interrupt)
    assert told[0] == (0, 300)
    assert memory.recall("lamp 7 room").receipt.embedder == "hashed:one", "the old one goes on serving"
    memory.close()

    memory = opened(embedder="hashed:two")
    embedder = memory._engine.embedders.configured()._embedder
    assert memory.admin.rebuild().semantic_rows == 300
    assert embedder.asked - 1 == 300 - 128, "what was done before is not done again (one more is the self-test)"
    assert memory.recall("lamp 7 room").receipt.embedder == "hashed:two"


def test_a_probe_that_a_crash_left_behind_is_not_counted_and_stops_nothing(opened):
    memory = opened(embedder="hashed:words")
    memory.recall("opens the index")
    memory._engine.memories.index().apply(
        put=[IndexEntry(-7, "memoranda.probe/dead", "memoranda probe")], drop=(), sequence=None
    )
    kept = memory.remember("the boiler manual is in the cellar")
    assert memory.recall("boiler manual")[0].receipt.semantic_rank == 1
    assert [hit.id for hit in memory.recall("probe boiler")] == [kept.id]
    assert memory.admin.verify().ok
    status = memory.admin.index_status()
    assert (status.lexical_rows, status.semantic_rows, status.vectors_missing) == (1, 1, 0)
