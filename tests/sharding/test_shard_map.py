"""Which shard keeps a scope: the same everywhere and always, by the root alone."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import ConfigError
from memoranda.domain.scope import Scope
from memoranda.domain.shards import ShardMap, root_of

SEGMENTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]{0,12}", fullmatch=True)
ROOTS = [f"tenant-{number}" for number in range(6_000)]


def of(count, *pins):
    return ShardMap.of([*(f"/data/{number}.db" for number in range(count)), *pins])


def test_where_a_root_goes_never_changes():
    places = [of(5).of_root(root).place for root in ("home", "bot-1", "bot-10", "ana@example.org", "acme")]
    assert places == [5, 5, 3, 3, 5]


def test_roots_are_spread_evenly():
    found = Counter(of(6).of_root(root).place for root in ROOTS)
    assert set(found) == {1, 2, 3, 4, 5, 6}
    assert all(850 < number < 1_150 for number in found.values())


def test_a_shard_added_at_the_end_takes_its_share_and_nothing_else_moves():
    before, after = of(4), of(5)
    moved = [root for root in ROOTS if before.of_root(root).place != after.of_root(root).place]
    assert all(after.of_root(root).place == 5 for root in moved)
    assert 0.17 < len(moved) / len(ROOTS) < 0.23


def test_another_address_at_the_same_place_moves_nothing():
    here, there = of(3), ShardMap.of(["postgresql://a/db", "postgresql://b/db", "/elsewhere.db"])
    assert [here.of_root(root).place for root in ROOTS] == [there.of_root(root).place for root in ROOTS]


@given(st.lists(SEGMENTS, min_size=1, max_size=5))
def test_all_of_a_root_is_in_one_place(segments):
    scope = Scope("/".join(segments))
    places = {of(7).of_scope(Scope(path)).place for path in scope.chain()}
    assert places == {of(7).of_root(root_of(scope.path)).place}


@given(SEGMENTS, st.integers(1, 4))
def test_a_pin_wins_by_place_and_by_address(root, place):
    assert of(4, f"{root}={place}").of_root(root).place == place
    assert of(4, f"{root}=/data/{place - 1}.db").of_root(root).place == place


def test_an_address_with_an_equals_sign_is_no_pin():
    address = "postgresql://user:word=x@host/db?schema=two&sslmode=require"
    assert [shard.address for shard in ShardMap.of([address, "/a.db"]).shards] == [address, "/a.db"]


@pytest.mark.parametrize(
    "entries",
    [
        [],
        ["/only.db"],
        ["/same.db", "/same.db"],
        ["postgresql://one@host/db", "postgresql://two:word@host/db"],
        ["/a.db", "/b.db", "root=3"],
        ["/a.db", "/b.db", "root=0"],
        ["/a.db", "/b.db", "root=/c.db"],
        ["/a.db", "/b.db", "root=1", "root=2"],
    ],
    ids=lambda entries: " ".join(entries) or "none",
)
def test_a_list_that_is_none_is_refused(entries):
    with pytest.raises(ConfigError) as told:
        ShardMap.of(entries)
    assert "word" not in str(told.value)


def test_the_digest_names_the_list_and_tells_no_password():
    plain = ["postgresql://a@one/db", "postgresql://a@two/db"]
    secret = ["postgresql://b:word@one/db", "postgresql://a@two/db"]
    assert ShardMap.of(plain).digest == ShardMap.of(secret).digest
    others = [plain[::-1], [*plain, "x=1"], [*plain, "x=2"], [plain[0], "postgresql://a@three/db"], [*plain, "/c.db"]]
    assert len({ShardMap.of(each).digest for each in (plain, *others)}) == len(others) + 1
    assert "word" not in ShardMap.of(secret).shards[0].shown
