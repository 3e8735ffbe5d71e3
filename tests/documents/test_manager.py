"""The contract for hosts: ours behind it, one to fall back on, and one of each."""

import pytest

from memoranda import Settings
from memoranda.domain.document import Found, FoundReceipt
from memoranda.service.search_manager import DocumentManager, FallbackManager, Managers, SearchManager
from memoranda.testing.fakes import HashedEmbedder


@pytest.fixture
def manager(opened, notes):
    memory = opened(embedder="hashed:words")
    memory.documents.add(notes)
    return DocumentManager(memory)


class Failing:
    """A search of somebody else's that does not answer."""

    def __init__(self):
        self.asked = 0
        self.closed = False

    def search(self, query, *, max_results=6, min_score=0.35):
        self.asked += 1
        raise ZeroDivisionError("the other one is broken")

    def status(self):
        raise AssertionError("not asked any more")

    def close(self):
        self.closed = True


def test_ours_does_what_a_host_asks_for(manager, notes):
    asked: SearchManager = manager
    found = asked.search("boiler manual", max_results=1, min_score=0.1)
    assert [hit.citation for hit in found] == ["boiler.md#L1-L3"]
    assert asked.read_file("boiler.md", from_line=3, lines=1).text == "The boiler manual is in the blue folder."
    assert asked.read_file("missing.md").text == ""
    assert asked.sync().is_noop
    assert asked.sync(force=True).why == "rebuild"
    assert asked.status().files == 3
    assert asked.probe_embedding().ok
    assert asked.probe_vector() == (True, "ready: 3 of 3 chunks have a vector")


def test_probes_tell_what_is_wrong(opened, notes):
    memory = opened()
    memory.documents.add(notes)
    manager = DocumentManager(memory)
    manager.sync()
    assert not manager.probe_embedding().ok
    assert manager.probe_vector() == (False, "off: 0 of 3 chunks have a vector")


def test_an_embedder_that_does_not_answer_is_found_by_the_probe(opened, notes, monkeypatch):
    from memoranda.domain.errors import ProviderUnavailable

    def failing(self, texts, role):
        raise ProviderUnavailable("no route")

    monkeypatch.setattr(HashedEmbedder, "embed", failing)
    probe = DocumentManager(opened(embedder="hashed:words")).probe_embedding()
    assert not probe.ok
    assert "no route" in probe.detail


def test_the_second_answers_when_the_first_fails_and_says_so(manager):
    first = Failing()
    both = FallbackManager(first, lambda: manager)
    found = both.search("boiler manual")
    assert [hit.path for hit in found] == ["boiler.md"]
    assert "ZeroDivisionError: the other one is broken" in found.receipt.degraded[0]
    assert "the other one is broken" in both.status().trouble[0]
    both.search("boiler manual")
    assert first.asked == 1, "it is not asked again"
    assert both.read_file("boiler.md").text
    assert both.probe_vector().ok
    both.close()
    both.close()
    assert first.closed


def test_while_the_first_answers_the_second_is_not_even_opened(manager):
    def unneeded():
        raise AssertionError("opened without need")

    both = FallbackManager(manager, unneeded)
    assert both.search("boiler manual")
    assert not both.failure
    assert both.status().trouble == ()


def test_a_bar_that_a_host_names_is_a_bar_and_none_is_passed_on_as_none(manager):
    class Other(Failing):
        def search(self, query, *, max_results=6, min_score=0.35):
            assert min_score is not None
            return Found((), FoundReceipt(min_score=min_score))

    query = "boiler manual cellar attic"
    assert manager.search(query)
    assert not manager.search(query, min_score=0.95)
    both = FallbackManager(Other(), lambda: manager)
    assert both.search(query).receipt.min_score == 0.35
    assert both.search(query, min_score=0.9).receipt.min_score == 0.9


def test_when_the_second_fails_too_that_is_told():
    both = FallbackManager(Failing(), Failing)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            both.search("boiler manual")


def test_an_empty_answer_is_no_failure(manager):
    class Empty(Failing):
        def search(self, query, *, max_results=6, min_score=0.35):
            return Found((), FoundReceipt(abstained="nothing cleared the bar"))

    both = FallbackManager(Empty(), lambda: manager)
    assert not both.search("boiler manual")
    assert not both.failure


def test_there_is_one_manager_for_each_store_scope_and_settings(path, notes):
    settings = Settings(embedder="none", follow=False)
    with Managers() as managers:
        one = managers.get(path, scope="home/anna", settings=settings)
        assert managers.get(str(path), scope="home/anna", settings=settings) is one
        assert managers.get(path, scope="home/ben", settings=settings) is not one
        assert managers.get(path, scope="home/anna", settings=settings._replace(chunk_tokens=200)) is not one
        one.close()
        assert managers.get(path, scope="home/anna", settings=settings).status() is not None  # a host may close its own
    again = managers.get(path, scope="home/anna", settings=settings)
    assert again is not one
    managers.close()
