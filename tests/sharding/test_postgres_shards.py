"""Shards in PostgreSQL: two schemas, and a server that goes down."""

import hashlib
import time

import pytest

import memoranda
import postgres
from memoranda import Settings
from memoranda.domain.errors import LedgerError, LedgerUnavailable, Refused
from memoranda.domain.scope import Scope
from memoranda.domain.shards import ShardMap
from memoranda.service.store import Store


@pytest.fixture
def schemas(tmp_path):
    named = hashlib.blake2b(str(tmp_path).encode(), digest_size=6).hexdigest()
    made = [f"shard_{named}_{place}" for place in (1, 2)]
    yield made
    for schema in made:
        postgres.shared().sql(f"drop schema if exists {schema} cascade")


def settings(tmp_path, shards, **more):
    local = {"local_folder": str(tmp_path / "local"), "index_home": "embedded"}
    return Settings(embedder="none", follow=False, shards=shards, **local, **more)


def roots_of(shards):
    found = {}
    for number in range(100):
        found.setdefault(ShardMap.of(shards).of_root(f"root-{number}").place, f"root-{number}")
    return found


def test_two_schemas_share_the_roots(schemas, tmp_path):
    shards = tuple(postgres.shared().address(schema) for schema in schemas)
    roots = roots_of(shards)
    with Store.open(settings=settings(tmp_path, shards)) as store:
        for root in roots.values():
            store.memory(Scope(f"{root}/anna")).remember(f"{root} drinks tea.")
        assert [each.scope for each in store.scopes()] == sorted(f"{root}/anna" for root in roots.values())
        assert (
            store.memory(Scope(f"{roots[2]}/anna")).recall("who drinks tea?")[0].memory.text
            == f"{roots[2]} drinks tea."
        )
        assert store.upkeep().admin.verify().ok
    for place, schema in enumerate(schemas, 1):
        assert postgres.shared().sql(f"select distinct scope from {schema}.memory") == [(f"{roots[place]}/anna",)]
    with pytest.raises(Refused, match="shard 1 of 2") as told:
        memoranda.open(shards[0], scope="root-1", settings=settings(tmp_path, ()))
    assert told.value.hint


def test_no_password_is_told_by_a_shard_that_is_refused(schemas, tmp_path):
    shards = tuple(postgres.shared().address(schema) for schema in schemas)
    roots = roots_of(shards)
    memoranda.open(scope=roots[1], settings=settings(tmp_path, shards)).close()
    with pytest.raises(Refused) as told:
        memoranda.open(scope=roots[2], settings=settings(tmp_path, shards[::-1]))
    secret = shards[0].partition("://")[2].partition("@")[0].partition(":")[2]
    assert secret
    assert secret not in f"{told.value} {told.value.hint}"


def test_a_server_that_is_down_hurts_only_its_own_roots(schemas, tmp_path):
    with postgres.Cluster() as own:
        shards = (postgres.shared().address(schemas[0]), own.address("theirs"))
        roots = roots_of(shards)
        with Store.open(settings=settings(tmp_path, shards, busy_seconds=1.0)) as store:
            well, ill = (store.memory(Scope(roots[place])) for place in (1, 2))
            well.remember("Well.")
            ill.remember("Ill.")
            own.kill()
            with pytest.raises(LedgerError):
                ill.list()
            began = time.monotonic()
            assert [each.text for each in well.list()] == ["Well."]
            assert well.remember("Still well.").id
            assert time.monotonic() - began < 5
            own.start()
            assert [each.text for each in ill.list()] == ["Ill."]


def test_a_server_that_was_never_there_is_left_alone_for_a_moment(schemas, tmp_path):
    shards = (postgres.shared().address(schemas[0]), "postgresql://memoranda@127.0.0.1:1/memoranda")
    roots = roots_of(shards)
    with Store.open(settings=settings(tmp_path, shards, busy_seconds=0.5)) as store:
        with pytest.raises(LedgerUnavailable):
            store.memory(Scope(roots[2]))
        began = time.monotonic()
        with pytest.raises(LedgerUnavailable):
            store.memory(Scope(roots[2]))
        assert time.monotonic() - began < 0.3
        assert store.memory(Scope(roots[1])).remember("Well.").id
