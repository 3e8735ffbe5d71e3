"""What an index in PostgreSQL does with scopes that grow and shrink: words, graphs, counts, partitions."""

import re
import threading

import pytest

from index_postgres.stores import FINGERPRINT
from memoranda.domain.ports import IndexQuery
from memoranda.index.postgres import asking, index, upkeep, writer
from memoranda.index.postgres.scopes import scopes_of
from memoranda.index.probe import probe
from memoranda.testing.index_entries import ABOVE, BESIDE, DIMENSIONS, HERE, ask, entry, many, numbers, vector_of


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    monkeypatch.setattr(writer, "SMALL", 10)
    monkeypatch.setattr(upkeep, "GRAPH_FROM", 20)


def _scopes(store, made, *paths):
    with store.database().read() as connection:
        return scopes_of(connection, made.tables, paths)


def _is_large(store, made, path=HERE):
    return [scope.large for scope in _scopes(store, made, path)] == [True]


def test_a_scope_grows_large_and_small_again_and_answers_do_not_change(store):
    made = store.opener()()
    kept = many(9)
    made.apply(put=kept, drop=(), sequence=1)
    before = ask(made, "boiler manual lamp")
    assert not _is_large(store, made)
    made.apply(put=[entry(100 + n, f"something else {n}") for n in range(5)], drop=(), sequence=2)
    assert _is_large(store, made)
    made.apply(put=(), drop=[100 + n for n in range(5)] + [each.number for each in kept[4:]], sequence=3)
    assert _is_large(store, made)
    large = ask(made, "boiler manual lamp")
    made.optimize()
    assert not _is_large(store, made)
    assert ask(made, "boiler manual lamp") == large
    made.apply(put=kept[4:], drop=(), sequence=4)
    assert ask(made, "boiler manual lamp") == before


def test_what_a_scope_says_of_itself_is_what_is_there(store):
    made = store.opener()()
    made.apply(put=many(12), drop=(), sequence=1)
    changed = [
        entry(1, "moved away", scope=BESIDE),
        entry(2, "forgotten now", state="forgotten"),
        entry(3, "without a vector", vector=False),
        entry(4, "for a while", valid_until=5_000),
        entry(20, "new and hidden", state="archived", valid_from=7),
    ]
    made.apply(put=changed, drop=[5, 6], sequence=2)
    made.apply(put=[entry(4, "for good"), entry(21, "another", scope=ABOVE)], drop=[20], sequence=3)
    found = store.sql(
        f"select scope.path, scope.entries = count(*) and scope.live = count(*) filter (where state = 0)"
        f" and scope.words = coalesce(sum(length) filter (where state = 0), 0)"
        f" and scope.vectors = count(*) filter (where state = 0 and dimensions > 0)"
        f" and scope.timed = count(*) filter (where valid_from <> 0 or valid_until <> 9223372036854775807)"
        f" from {store.schema}.{made.tables.scope} as scope"
        f" join {store.schema}.{made.tables.entry} as entry on entry.scope = scope.id group by scope.id"
    )
    assert {bytes(path).decode(): is_right for path, is_right in found} == {HERE: True, BESIDE: True, ABOVE: True}


def test_a_scope_without_entries_is_forgotten(store):
    made = store.opener()()
    made.apply(put=many(3), drop=(), sequence=1)
    made.apply(put=(), drop=[1, 2, 3], sequence=2)
    assert _scopes(store, made, HERE) == []


def _plans(made, monkeypatch, query):
    """How the server finds what a search asks it for."""
    told = []
    fetch = asking.fetch

    def explained(connection, statement, values):
        told.append("\n".join(str(row[0]) for row in fetch(connection, f"explain {statement}", values)))
        return fetch(connection, statement, values)

    with monkeypatch.context() as patch:
        patch.setattr(asking, "fetch", explained)
        made.search(query)
    return "\n".join(told)


def test_the_graph_of_a_scope_is_made_by_optimize_and_used(store, monkeypatch):
    made = store.opener()()
    made.apply(put=[*many(400), *(entry(1_000 + n, "a lamp", scope=BESIDE) for n in range(12))], drop=(), sequence=1)
    query = IndexQuery((HERE,), vector=vector_of("boiler manual"), pool=3)
    before = made.search(query)
    assert "_near_" not in _plans(made, monkeypatch, query)
    made.optimize()
    assert "_near_" in _plans(made, monkeypatch, query)
    assert made.search(query) == before
    beside = query._replace(scopes=(BESIDE,))
    assert "_near_" not in _plans(made, monkeypatch, beside), "in a smaller scope everything is compared"
    assert len(made.search(beside).candidates) == 3


def test_the_graph_holds_back_nothing_that_the_filters_let_through(store):
    made = store.opener()()
    crowd = [entry(n, "boiler manual", state="forgotten") for n in range(1, 300)]
    far = [entry(1_000 + n, f"garden {n}") for n in range(30)]
    made.apply(put=[*crowd, *far], drop=(), sequence=1)
    made.optimize()
    found = made.search(IndexQuery((HERE,), vector=vector_of("boiler manual"), pool=30))
    assert {each.number for each in found.candidates} == {1_000 + n for n in range(30)}


def test_words_of_a_large_scope_are_found_by_their_index(store, monkeypatch):
    made = store.opener()()
    made.apply(put=many(3_000), drop=(), sequence=1)
    made.optimize()
    plans = _plans(made, monkeypatch, IndexQuery((HERE,), text="1234"))
    assert "_words" in plans
    assert numbers(made.search(IndexQuery((HERE,), text="1234"))) == [1234]


def test_only_the_partition_of_a_scope_is_looked_into(store, monkeypatch):
    made = store.opener(partitions=4)()
    made.apply(put=many(400), drop=(), sequence=1)
    made.optimize()
    plans = _plans(made, monkeypatch, IndexQuery((HERE,), "boiler manual", vector_of("boiler manual"), pool=3))
    for table in (made.tables.entry, made.tables.vector, made.tables.body):
        assert len(set(re.findall(rf"on {table}_(\d+)\b", plans))) == 1, table


def test_a_vector_that_is_asked_for_is_read_once_and_not_for_each_row(store, monkeypatch):
    made = store.opener()()
    made.apply(put=many(19), drop=(), sequence=1)
    with made._database.read() as connection:  # what is asked often is planned without its values
        connection.execute("set plan_cache_mode = force_generic_plan")
        plans = _plans(made, monkeypatch, IndexQuery((HERE,), vector=vector_of("boiler manual"), pool=3))
        connection.execute("reset plan_cache_mode")
    (near,) = [line for line in plans.splitlines() if "Sort Key" in line and "halfvec" in line]
    assert "InitPlan" in near


def test_a_graph_whose_building_was_interrupted_is_built_again(store, monkeypatch):
    made = store.opener()()
    made.apply(put=many(400), drop=(), sequence=1)
    (scope,) = _scopes(store, made, HERE)
    store.sql(
        f"create index {made.tables.vector}_near_{scope.id}_{DIMENSIONS} on {store.schema}.{made.tables.vector} (state)"
    )
    made.optimize()
    assert _scopes(store, made, HERE)[0].near == DIMENSIONS
    assert "_near_" in _plans(made, monkeypatch, IndexQuery((HERE,), vector=vector_of("lamp"), pool=2))


def test_all_below_one_root_lies_in_one_partition(store):
    made = store.opener(partitions=4)()
    put = [entry(n, f"lamp {n}", scope=f"tenant-{n % 7}/user-{n % 3}") for n in range(1, 90)]
    made.apply(put=put, drop=(), sequence=1)
    rows = store.sql(
        f"select root, count(distinct tableoid) from {store.schema}.{made.tables.entry} group by root order by root"
    )
    assert len(rows) == 7
    assert all(count == 1 for _, count in rows)
    places = store.sql(f"select count(distinct tableoid) from {store.schema}.{made.tables.entry}")
    assert places[0][0] > 1


def test_an_older_view_keeps_bytes_and_scrub_says_so(store, monkeypatch):
    monkeypatch.setattr(index, "_PATIENCE", 0.2)
    made = store.opener()()
    made.apply(put=many(12), drop=(), sequence=1)
    database = store.database()
    with database.read() as connection:
        connection.execute("select 1 from pulse")
        store.home().open(FINGERPRINT).apply(put=(), drop=[3], sequence=2)
        assert not made.scrub()
    monkeypatch.setattr(index, "_PATIENCE", 60.0)
    assert made.scrub()


def test_large_tables_are_not_written_anew_while_somebody_waits(store, monkeypatch):
    made = store.opener()()
    made.apply(put=many(12), drop=[3], sequence=1)
    monkeypatch.setattr(index, "SCRUBBED_BYTES", 1)
    assert not made.scrub()


@pytest.mark.parametrize("partitions", [0, 2])
def test_it_passes_the_probe(store, partitions):
    made = store.opener(partitions=partitions)()
    made.apply(put=many(12), drop=(), sequence=7)
    probe(made, dimensions=DIMENSIONS)
    assert made.sequence == 7
    assert made.counts().entries == 12


def test_a_view_that_is_older_than_what_is_in_memory_is_answered_from_the_tables(store):
    open_index = store.opener()
    one, other = open_index(), open_index()
    one.apply(put=[entry(1, "the lamp")], drop=(), sequence=1)
    assert numbers(ask(one, "lamp")) == [1]
    with one._database.read():  # an older view of the whole store
        ask(one, "lamp")
        other.apply(put=[entry(2, "the lamp"), entry(1, "a boat")], drop=(), sequence=2)
        newer = []
        thread = threading.Thread(target=lambda: newer.append(numbers(ask(one, "lamp"))))
        thread.start()
        thread.join()
        assert newer == [[2]]
        assert numbers(ask(one, "lamp")) == [1]
    assert numbers(ask(one, "lamp")) == [2]
