"""The index on a real object store: SeaweedFS with three masters and three volume servers, of which some are killed."""

import itertools

import pytest

import seaweed
from memoranda.domain.errors import IndexRefused, LedgerUnavailable
from memoranda.index.follower import to_index
from memoranda.index.lancedb import blocks, upkeep
from memoranda.index.lancedb.home import open_home
from memoranda.ledger.locking import held
from memoranda.testing.contracts import IndexContract, IndexHomeContract
from memoranda.testing.index_entries import QUERIES, ask, entry, many
from support import open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SPACE = "hashed:words|1|64"
BUCKET = "memoranda"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def weed():
    with seaweed.environment(), seaweed.Weed() as running:
        running.make_bucket(BUCKET)
        yield running


@pytest.fixture
def homes(weed, tmp_path):
    """Opens the home of a corpus anew each time; each test has corpora of its own in one place."""
    own = next(_numbers)

    def hold(name, *, patience=0.0):
        return held(tmp_path / f"lock-{name}", patience=patience)

    def make(corpus, options=None):
        place = f"s3://{BUCKET}/index"
        return open_home(place, f"{corpus}{own}", options or weed.options, local_path=tmp_path / "local", hold=hold)

    return make


@pytest.fixture
def opener(homes):
    handles = []

    def make(corpus):
        handles.append(homes(corpus).open(SPACE))
        return handles[-1]

    yield make
    for handle in handles:
        handle.close()


class TestOnObjectStore(IndexContract):
    @pytest.fixture(autouse=True)
    def _where(self, weed):
        self.weed = weed

    @pytest.fixture
    def open_index(self, opener):
        return lambda: opener("one")

    @pytest.fixture
    def other_index(self, opener):
        return lambda: opener("other")

    def in_files(self, index, needles):
        contents = self.weed.objects(BUCKET, f"index/{index.name}.lance/").values()
        return [needle for needle in needles if any(needle in content for content in contents)]


class TestHomeOnObjectStore(IndexHomeContract):
    @pytest.fixture
    def open_home(self, homes):
        return lambda: homes("one")

    @pytest.fixture
    def other_home(self, homes):
        return lambda: homes("other")


def test_a_store_that_ignores_conditions_is_refused_before_anything_is_written(weed, homes):
    with seaweed.careless(weed) as options, pytest.raises(IndexRefused, match="written at once"):
        homes("careless", options).open(SPACE)
    assert homes("careless").mark() == (0, 0)


def test_a_store_that_does_not_answer_is_no_damage(homes):
    options = {"endpoint": "http://127.0.0.1:9", "region": "us-east-1", "allow_http": "true"}
    options |= {"client_max_retries": "0", "timeout": "2s", "connect_timeout": "1s"}
    with pytest.raises(LedgerUnavailable, match="does not answer"):
        homes("unreachable", options).open(SPACE)


def test_an_erasure_says_that_objects_were_not_read_and_none_has_it(weed, tmp_path):
    options = tuple(f"{name}={value}" for name, value in weed.options.items())
    where = {"index_home": f"lancedb:s3://{BUCKET}/facade", "index_options": options}
    with open_store(tmp_path / "store.db", embedder="hashed:words", **where) as memory:
        memory.remember("The boiler manual is in the cellar.")
        gone = memory.remember("The canary sang of the harbour.")
        assert memory.recall("canary harbour")
        corpus = memory._engine.memories
        entry, before = corpus.feed.entries([2])[2], weed.objects(BUCKET, "facade/")
        erased = memory.erase(gone.id)
        assert erased.purged, erased.receipt.pending
        assert any("its objects were not read" in note for note in erased.receipt.notes)
        needles = corpus.index().residues([to_index(entry, None)])
        assert _among(before, needles)
        assert not _among(weed.objects(BUCKET, "facade/"), needles)
        assert memory.recall("boiler manual")


def _among(objects, needles):
    return [needle for needle in needles if any(needle in content for content in objects.values())]


def test_one_volume_server_and_one_master_may_die(weed, homes, monkeypatch):
    monkeypatch.setattr(blocks, "SMALL", 0)
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 10)
    index = homes("killed").open(SPACE)
    index.apply(put=many(200), drop=(), sequence=1)
    index.optimize()
    before = [ask(index, query) for query in QUERIES]
    weed.kill("volume-1")
    weed.kill("master-0")
    again = homes("killed").open(SPACE)
    assert [ask(again, query) for query in QUERIES] == before
    assert again.apply(put=[entry(900, "a lamp that came later")], drop=[1], sequence=2, after=1)
    assert again.scrub()
    assert index.holds([1, 900]) == {900}
    assert index.sequence == 2
