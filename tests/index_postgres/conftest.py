import pytest

from index_postgres.stores import store_in


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of this module. Each test takes an empty index in it."""
    with store_in(tmp_path_factory.mktemp("store")) as made:
        yield made
