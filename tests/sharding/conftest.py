import pytest

import memoranda
from memoranda import Settings
from memoranda.domain.shards import ShardMap
from memoranda.service.store import Store


@pytest.fixture
def addresses(tmp_path):
    """Three stores, none of which is there yet."""
    return tuple(str(tmp_path / f"shard-{place}.db") for place in (1, 2, 3))


@pytest.fixture
def chosen(addresses):
    return Settings(embedder="none", follow=False, shards=addresses)


@pytest.fixture
def shard_map(addresses):
    return ShardMap.of(addresses)


@pytest.fixture
def root_on(shard_map):
    """A root that the shard at this place keeps."""

    def find(place, *, number=0):
        roots = (f"root-{each}" for each in range(10_000))
        fitting = (root for root in roots if shard_map.of_root(root).place == place)
        return [next(fitting) for _ in range(number + 1)][-1]

    return find


@pytest.fixture
def opened(chosen):
    """Opens the memory of a scope as often as wanted; everything is closed at the end."""
    handles = []

    def opener(scope, settings=chosen, **options):
        handles.append(memoranda.open(scope=scope, settings=settings, **options))
        return handles[-1]

    yield opener
    for handle in reversed(handles):
        handle.close()


@pytest.fixture
def store(chosen):
    with Store.open(settings=chosen) as opened:
        yield opened
