"""A store knows the list that it belongs to, and nobody writes to it who has another one."""

import pytest

import memoranda
from memoranda import Settings
from memoranda.domain.errors import ConfigError, Refused
from memoranda.service.sharding import adopt, statuses
from memoranda.service.store import Store
from memoranda.testing.fakes import FixedClock


def plain(address):
    return Settings(embedder="none", follow=False, store=address)


def test_a_shard_is_not_opened_by_who_does_not_know_the_others(opened, addresses, root_on):
    opened(root_on(1)).remember("Kept by the first.")
    with pytest.raises(Refused, match="shard 1 of 3"):
        memoranda.open(scope="home", settings=plain(addresses[0]))
    with pytest.raises(Refused, match="shard 1 of 3"):
        Store.open(settings=plain(addresses[0]))


def test_another_order_another_number_and_another_pin_are_refused(opened, chosen, addresses, root_on):
    roots = [root_on(place) for place in (1, 2, 3)]
    for root in roots:
        opened(root).remember("Kept where it belongs.")
    others = (addresses[::-1], addresses[:2], (*addresses, "pinned=2"), (*addresses, addresses[0] + "-more"))
    for shards in others:
        for root in roots[:2]:
            with pytest.raises(Refused, match="in another list") as told:
                opened(root, settings=chosen._replace(shards=shards))
            assert "memoranda shards adopt" in told.value.hint
    assert opened(roots[0]).list()


def test_a_store_with_a_root_that_is_another_shards_is_not_taken_in(opened, chosen, addresses, root_on):
    stray, own = root_on(2), root_on(1)
    with memoranda.open(scope=stray, settings=plain(addresses[0])) as memory:
        memory.remember("I was here before.")
    with pytest.raises(Refused, match=f"such as {stray}") as told:
        opened(own)
    assert f"{stray}=1" in told.value.hint
    pinned = chosen._replace(shards=(*addresses, f"{stray}=1"))
    assert [each.text for each in opened(stray, settings=pinned).list()] == ["I was here before."]


def test_a_store_that_keeps_only_its_own_roots_is_taken_in(opened, addresses, root_on):
    with memoranda.open(scope=root_on(1), settings=plain(addresses[0])) as memory:
        memory.remember("I was here before.")
    assert [each.text for each in opened(root_on(1)).list()] == ["I was here before."]


def test_adopting_a_longer_list_works_when_no_root_would_be_lost(opened, chosen, addresses, root_on, tmp_path):
    opened(root_on(1)).remember("Stay.")
    longer = chosen._replace(shards=(*addresses, str(tmp_path / "shard-4.db"), f"{root_on(1)}=1"))
    told = adopt(longer, FixedClock())
    assert [(each.place, each.fits, each.memories) for each in told] == [
        (1, True, 1),
        (2, True, 0),
        (3, True, 0),
        (4, True, 0),
    ]
    assert opened(root_on(1), settings=longer).list()
    with pytest.raises(Refused, match="in another list"):
        opened(root_on(2))


def test_adopting_a_list_that_loses_a_root_is_refused_and_changes_nothing(opened, chosen, addresses, root_on):
    memory = opened(root_on(1))
    memory.remember("Stay.")
    with pytest.raises(Refused, match=f"such as {root_on(1)}"):
        adopt(chosen._replace(shards=(*addresses, f"{root_on(1)}=3")), FixedClock())
    assert memory.list()
    assert opened(root_on(2)).remember("As before.").id


def test_adopting_a_shorter_list_is_refused_unless_it_is_said_to_be_meant(opened, chosen, addresses, root_on):
    for place in (1, 3):
        opened(root_on(place)).remember("Stay.")
    shorter = chosen._replace(shards=addresses[:2])
    with pytest.raises(Refused, match="shard 1 of 3, and this list has 2") as told:
        adopt(shorter, FixedClock())
    assert "--drop" in told.value.hint
    assert opened(root_on(3)).list()
    assert all(each.fits for each in adopt(shorter, FixedClock(), drop=True))


def test_a_root_is_moved_by_export_and_import(opened, chosen, addresses, root_on, tmp_path):
    root, file = root_on(1), tmp_path / "root.jsonl"
    memory = opened(f"{root}/anna")
    kept = memory.remember("Take me along.")
    moving = opened(root)
    moving.export(file, redact=False, below=True)
    moving.erase(scope=root)
    pinned = chosen._replace(shards=(*addresses, f"{root}=2"))
    adopt(pinned, FixedClock())
    opened(root, settings=pinned).import_memories(file)
    there = opened(f"{root}/anna", settings=pinned)
    assert there.path.name == "shard-2.db"
    assert there.get(kept).text == "Take me along."


def test_the_status_of_all_tells_strays_strangers_and_what_is_down(opened, chosen, addresses, root_on):
    opened(root_on(1)).remember("Here.")
    with memoranda.open(scope=root_on(1, number=1), settings=plain(addresses[1])) as memory:
        memory.remember("A stray.")
    with open(addresses[2], "wb") as file:
        file.write(b"this is not a ledger" * 300)
    first, second, third = statuses(chosen, FixedClock())
    assert (first.fits, first.roots, first.live, first.strays) == (True, 1, 1, ())
    assert (second.fits, second.strays) == (False, (root_on(1, number=1),))
    assert third.trouble
    assert third.as_json()["memories"] == 0


def test_a_store_beside_shards_has_to_be_one_of_them(opened, chosen, tmp_path, root_on):
    with pytest.raises(ConfigError, match="none of them"):
        opened(root_on(1), settings=chosen._replace(store=str(tmp_path / "other.db")))
