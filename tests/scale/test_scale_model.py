"""The plan for a load that nobody has measured: what it promises whatever the constants are."""

import json
import statistics

import pytest
from bench.scale_model import CONSTANTS, Constants, Load, Machine, Surroundings, known, planned, throughput, waits
from bench.scale_sim import fitted, main
from hypothesis import given
from hypothesis import strategies as st

SOME = Constants(
    recall_ms=2.0,
    recall_ms_per_tenfold=1.5,
    recall_ms_per_million=60.0,
    cold_ms_per_million=900.0,
    write_ms=1.0,
    index_ms=0.5,
    ledger_bytes=2_000,
    index_bytes=1_000,
    resident_mb=150,
    resident_bytes=2_000,
    verify_ms=0.05,
    shared_index=False,
    largest_scope=100_000,
)
AROUND = Surroundings(embed_query_ms=3.7, embed_memory_ms=3.0, serving_ms=2.3, crowded=2.0)

loads = st.builds(
    Load,
    users=st.integers(1, 10_000_000),
    memories=st.floats(1, 100_000),
    recalls_a_day=st.floats(0, 1_000),
    writes_a_day=st.floats(0, 1_000),
    peak=st.floats(1, 20),
    active=st.floats(0.001, 1),
    largest=st.just(0.0),
)
machines = st.builds(
    Machine,
    cores=st.floats(2, 128),
    memory_gb=st.floats(4, 1_024),
    disk_gb=st.floats(20, 10_000),
    commit_ms=st.floats(0.05, 20),
    trip_ms=st.just(0.3),
    restore_mb_a_second=st.floats(10, 1_000),
    restore_hours=st.floats(0.1, 48),
)
GROWING = ("users", "memories", "recalls_a_day", "writes_a_day")


@given(loads, machines, st.sampled_from(GROWING), st.floats(1, 100))
def test_more_of_anything_never_needs_fewer_shards(load, machine, what, times):
    more = load._replace(**{what: type(getattr(load, what))(getattr(load, what) * times)})
    assert planned("e", SOME, AROUND, more, machine).shards >= planned("e", SOME, AROUND, load, machine).shards


@given(loads, machines)
def test_no_shard_is_asked_for_more_than_its_machine_has(load, machine):
    plan = planned("e", SOME, AROUND, load, machine)
    assert plan.cores <= machine.cores
    assert plan.writer_share <= 1
    assert plan.disk_gb / plan.shards <= machine.disk_gb
    assert plan.memory_gb <= machine.memory_gb
    assert plan.restore_hours <= machine.restore_hours


@given(loads, machines, st.floats(1, 16))
def test_a_larger_machine_never_needs_more_shards(load, machine, times):
    larger = Machine(
        cores=machine.cores * times,
        memory_gb=machine.memory_gb * times * times,
        disk_gb=machine.disk_gb * times,
        commit_ms=machine.commit_ms / times,
        restore_mb_a_second=machine.restore_mb_a_second * times,
        restore_hours=machine.restore_hours,
    )
    assert planned("e", SOME, AROUND, load, larger).shards <= planned("e", SOME, AROUND, load, machine).shards


@given(st.floats(1, 1e7), st.floats(1, 100))
def test_a_recall_in_a_larger_scope_never_costs_less(memories, times):
    assert SOME.recall_in(memories * times) >= SOME.recall_in(memories)


def test_a_small_load_fits_on_one_machine_and_a_billion_does_not():
    small = planned("e", SOME, AROUND, Load(users=1, memories=1_000), Machine())
    assert (small.shards, small.limit) == (1, "none")
    large = planned("e", SOME, AROUND, Load(users=1_000_000, memories=1_000), Machine())
    assert large.shards > 10
    assert large.limit in ("writers", "cores", "memory", "disk", "recovery")


def test_nothing_is_said_of_a_recall_in_a_scope_far_beyond_what_was_measured():
    near = planned("e", SOME, AROUND, Load(users=10, memories=100, largest=500_000), Machine())
    far = planned("e", SOME, AROUND, Load(users=10, memories=100, largest=500_001), Machine())
    assert near.largest_recall_ms > near.recall_ms
    assert far.largest_recall_ms is None


def test_a_database_further_away_takes_longer_and_does_less():
    asked = SOME._replace(recall_trips=9, write_trips=6)
    near = planned("e", asked, AROUND, Load(users=10_000, memories=100), Machine(trip_ms=0.1))
    far = planned("e", asked, AROUND, Load(users=10_000, memories=100), Machine(trip_ms=2.0))
    assert far.recall_ms == pytest.approx(near.recall_ms + 9 * 1.9)
    assert far.writer_share > near.writer_share


# -- the queue --


def test_an_idle_writer_takes_a_commit_and_a_write():
    assert statistics.median(waits(0.01, write_ms=1.0, commit_ms=4.0)) == pytest.approx(5.0)
    assert waits(0, write_ms=1.0, commit_ms=4.0) == [5.0]


def test_waiting_writers_share_a_commit():
    """At five times the rate that single commits allow, nobody waits for ever."""
    alone = 1e3 / (0.2 + 5.0)
    taken = waits(5 * alone, write_ms=0.2, commit_ms=5.0)
    assert max(taken) < 60
    assert throughput(64, 0.2, 5.0) > 5 * alone


@given(st.floats(1, 400), st.floats(1, 400))
def test_a_busier_writer_keeps_people_waiting_at_least_as_long(one, other):
    low, high = sorted((one, other))
    quiet, busy = (statistics.fmean(waits(rate, 1.0, 2.0, writers=1_000)) for rate in (low, high))
    assert busy >= 0.95 * quiet  # the same chance is drawn for both, but groups fall differently


@given(st.integers(1, 200), st.integers(1, 200))
def test_more_clients_write_no_less(one, other):
    low, high = sorted((one, other))
    assert throughput(high, 0.5, 2.0) >= throughput(low, 0.5, 2.0)


# -- what was measured --


def read():
    return json.loads(CONSTANTS.read_text())


@pytest.mark.parametrize("name", ["remember_embedded", "remember_served"])
def test_the_writers_that_were_measured_come_out_within_a_sixth(name):
    told = read()["measured"][name]
    for clients, rate in told["clients"]:
        assert throughput(clients, told["write_ms"], told["commit_ms"]) == pytest.approx(rate, rel=1 / 6)


def test_every_recall_that_was_measured_comes_out_within_the_stated_error():
    engines, _ = known()
    assert "embedded" in engines
    for name, constants in engines.items():
        told = read()["engines"][name]
        assert told["source"].startswith("python -m bench scale")
        assert told["stated_error"] < 0.5
        for memories, ms in told["recall_points"]:
            assert constants.recall_in(memories) == pytest.approx(ms, rel=told["stated_error"]), (name, memories)


def test_a_curve_that_is_of_the_model_is_found_again():
    points = [(size, SOME.recall_in(size)) for size in (10, 100, 1_000, 20_000, 100_000, 1_000_000)]
    assert fitted(points) == pytest.approx((2.0, 1.5, 60.0, 0.0))
    stepped = SOME._replace(whole_up_to=4_096, proposing_ms=9.0)
    points = [(size, stepped.recall_in(size)) for size in (10, 100, 1_000, 20_000, 100_000, 1_000_000)]
    assert fitted(points, 4_096) == pytest.approx((2.0, 1.5, 60.0, 9.0))


def test_a_curve_that_falls_is_never_fitted_below_zero():
    assert min(fitted([(10, 5.0), (1_000, 4.0), (100_000, 3.0)])) >= 0


# -- the command --


def test_the_table_has_a_line_for_each_load_and_engine(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert "heavy users, 1e9" in printed
    assert "one person, 1e3 memories" in printed


def test_a_load_of_ones_own_is_planned_as_json(capsys):
    assert main(["--users", "5000", "--memories", "200", "--engine", "embedded", "--json"]) == 0
    (plan,) = json.loads(capsys.readouterr().out)
    assert plan["total"] == 1_000_000
    assert plan["shards"] >= 1


def test_an_engine_that_was_not_measured_is_refused(capsys):
    assert main(["--engine", "abacus"]) == 2
    assert "not measured" in capsys.readouterr().err
