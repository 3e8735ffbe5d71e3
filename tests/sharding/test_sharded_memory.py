"""One memory of several stores: each root is kept by one of them, and no other is touched for it."""

import sqlite3
from pathlib import Path

import pytest

import memoranda
from memoranda.domain.errors import LedgerError, MemorandaError, Refused
from memoranda.domain.scope import Scope
from memoranda.ledger.sqlite import SqliteDatabase
from memoranda.service.admin import Admin


def scopes_in(address):
    with sqlite3.connect(f"file:{address}?mode=ro", uri=True) as connection:
        return {row[0] for row in connection.execute("select scope from memory")}


def test_a_root_is_kept_by_its_shard_with_all_below_and_above(opened, addresses, root_on):
    roots = {place: root_on(place) for place in (1, 2, 3)}
    for root in roots.values():
        opened(f"{root}/anna/phone").remember("Anna reads by the desk lamp.")
        opened(root).remember(f"{root} is closed on Mondays.")
    for place, root in roots.items():
        assert scopes_in(addresses[place - 1]) == {root, f"{root}/anna/phone"}
        seen = opened(f"{root}/anna/phone").recall("when is it closed?")
        assert [hit.memory.text for hit in seen] == [f"{root} is closed on Mondays."]


def test_no_other_shard_is_opened_made_or_asked(opened, addresses, root_on, monkeypatch):
    asked = set()
    reading, writing = SqliteDatabase.read, SqliteDatabase.write

    def read(self):
        asked.add(str(self.path))
        return reading(self)

    def write(self, job):
        asked.add(str(self.path))
        return writing(self, job)

    monkeypatch.setattr(SqliteDatabase, "read", read)
    monkeypatch.setattr(SqliteDatabase, "write", write)
    memory = opened(f"{root_on(2)}/anna")
    lamp = memory.remember("Anna reads by the desk lamp.", about="light.desk")
    memory.recall("which lamp?")
    memory.pack("which lamp?")
    memory.within(f"{root_on(2)}/anna/phone").list()
    memory.capture([memoranda.user("Remember that I leave at seven.")])
    memory.conversations.append([memoranda.user("Good morning.")], conversation="talk")
    memory.tag("before")
    memory.forget(lamp)
    memory.stats()
    memory.timeline()
    assert addresses[1] in asked
    assert all(path.startswith(addresses[1]) for path in asked)  # its index lies beside it
    assert [Path(address).exists() for address in addresses] == [False, True, False]


def test_the_verbs_of_a_memory_are_the_same(opened, root_on):
    memory = opened(f"{root_on(3)}/anna")
    first = memory.remember("Anna prefers tea.", kind="preference")
    assert memory.remember("Anna prefers tea.", kind="preference").id == first.id
    memory.remember("Anna prefers coffee.", supersedes=first)
    assert [each.text for each in memory.list()] == ["Anna prefers coffee."]
    memory.facts.add("light.desk", "nickname", "the green one")
    assert [fact.value for fact in memory.facts.about("light.desk")] == ["the green one"]
    memory.profile.update(name="Anna")
    assert memory.profile.get().name == "Anna"
    erased = memory.erase(scope=memory.scope)
    assert erased.purged
    assert not memory.list()


def test_within_stays_in_the_shard_and_leaves_it_open(opened, root_on):
    memory = opened(root_on(1))
    below = memory.within(f"{root_on(1)}/anna")
    below.remember("Anna is below.")
    below.close()
    assert [each.text for each in below.list()] == ["Anna is below."]
    with pytest.raises(Refused):
        memory.within(root_on(1, number=1))


def test_a_closed_memory_says_so_and_may_be_closed_twice(opened, root_on):
    memory = opened(root_on(1))
    memory.close()
    memory.close()
    with pytest.raises(LedgerError, match="closed"):
        memory.remember("Too late.")


def test_a_shard_that_is_broken_hurts_only_its_own_roots(opened, addresses, root_on, store):
    Path(addresses[1]).write_bytes(b"this is not a ledger" * 300)
    well, ill = opened(root_on(3)), root_on(2)
    well.remember("The others go on.")
    with pytest.raises(MemorandaError):
        opened(ill)
    assert well.recall("what do the others do?")
    with pytest.raises(MemorandaError):
        store.memory(Scope(ill))
    assert store.memory(Scope(root_on(1))).remember("So do they here.").id


def test_the_admin_of_a_memory_is_of_all_shards(opened, root_on):
    for place in (1, 2, 3):
        opened(root_on(place)).remember(f"Kept in place {place}.")
    admin = opened(root_on(1)).admin
    assert admin.index_status().memories == 3
    assert admin.maintain().status.lexical_rows == 3
    assert admin.maintain(dry_run=True).dry_run
    assert admin.rebuild().lexical_rows == 3
    assert admin.optimize().after.memories == 3
    assert len(admin.upkeep(limit=2)) == 2
    checks = admin.verify()
    assert checks.ok
    assert {check.name.partition(":")[0] for check in checks.checks} == {"shard 1", "shard 2", "shard 3"}
    assert {check.name.partition(":")[0] for check in admin.doctor().checks} == {"shard 1", "shard 2", "shard 3"}


def test_a_broken_shard_is_a_line_of_verify_and_the_others_are_maintained(opened, addresses, root_on):
    opened(root_on(1)).remember("Here.")
    Path(addresses[1]).write_bytes(b"this is not a ledger" * 300)
    admin = opened(root_on(1)).admin
    bad = [check.name for check in admin.verify().checks if not check.ok]
    assert bad == ["shard 2: store"]
    with pytest.raises(MemorandaError, match="1 of 3 shards failed"):
        admin.maintain()
    assert Admin(opened(root_on(3))._engine, Scope("any")).upkeep(limit=5)


def test_a_backup_is_refused_for_all_and_made_of_one(opened, chosen, addresses, root_on, tmp_path):
    memory = opened(root_on(2))
    memory.remember("Back me up.")
    with pytest.raises(Refused, match="one store") as told:
        memory.admin.backup(tmp_path / "all.memoranda")
    assert addresses[1] in told.value.hint
    alone = opened(root_on(2), settings=chosen._replace(store=addresses[1]))
    made = alone.admin.backup(tmp_path / "one.memoranda")
    assert alone.admin.verify_backup(made.path).ok
    with pytest.raises(Refused, match="is kept by"):
        opened(root_on(1), settings=chosen._replace(store=addresses[1]))
