"""What is counted, and that it tells nothing of what is kept."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.access import Principal
from memoranda.domain.candidate import REFUSALS
from memoranda.domain.errors import LedgerLocked
from memoranda.http.activity import _TIMED, Activity, Done, percentile
from memoranda.http.metrics import ABSTENTIONS, Metrics, Standing, reason_of
from memoranda.tools.toolbox import TOOLSETS, offer
from support import open_store


def shown(metrics):
    body, kind = metrics.shown()
    assert kind.startswith("text/plain")
    lines = body.decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_requests_are_counted_by_door_method_and_status():
    metrics = Metrics()
    for seconds in (0.002, 0.2):
        metrics.request(door="recall", method="POST", status=200, seconds=seconds)
    metrics.request(door="none", method="BREW", status=404, seconds=0.001)
    told = shown(metrics)
    assert told['memoranda_requests_total{door="recall",method="POST",status="200"}'] == 2
    assert told['memoranda_requests_total{door="none",method="other",status="404"}'] == 1
    assert told['memoranda_request_seconds_bucket{door="recall",le="0.0025"}'] == 1
    assert told['memoranda_request_seconds_count{door="recall"}'] == 2
    assert any(name.startswith("process_") for name in told)


def test_recalls_and_captures_are_counted_from_their_receipts(memory):
    metrics = Metrics()
    memory.remember("Anna drinks tea in the morning.")
    metrics.receipt(memory.recall("what does Anna drink in the morning?").receipt)
    metrics.receipt(memory.recall("").receipt)
    metrics.receipt(memory.recall("hello").receipt)
    metrics.receipt(memory.pack("quantum chromodynamics").receipt)
    said = [{"role": "user", "content": "Remember that I leave at seven. My password is hunter2-XkT9qLw."}]
    captured = memory.capture(said, conversation="kitchen")
    metrics.receipt(captured.receipt)
    metrics.receipt(object())
    told = shown(metrics)
    assert (told["memoranda_recalls_total"], told["memoranda_hits_total"]) == (3, 1)
    assert told['memoranda_abstentions_total{reason="no query"}'] == 1
    assert told['memoranda_abstentions_total{reason="trivial prompt"}'] == 1
    assert told['memoranda_abstentions_total{reason="nothing to pack"}'] == told["memoranda_packs_total"] == 1
    assert told['memoranda_captured_total{outcome="kept"}'] == len(captured.receipt.kept) == 1
    refused = {name: count for name, count in told.items() if name.startswith("memoranda_capture_refused_total")}
    assert sum(refused.values()) == sum(captured.receipt.refused.values()) > 0


def test_no_text_scope_or_id_is_a_label(memory):
    metrics = Metrics()
    kept = memory.remember("Zebediah keeps a heron.", about="person:zebediah")
    found = memory.recall("who keeps a heron?")
    metrics.receipt(found.receipt)
    metrics.receipt(found.receipt._replace(abstained="Zebediah said nothing", degraded=("Zebediah is down",)))
    body = metrics.shown()[0].decode()
    assert 'memoranda_abstentions_total{reason="other"} 1.0' in body
    assert "memoranda_degraded_total 1.0" in body
    for secret in ("Zebediah", "zebediah", "heron", kept.id, "home/anna"):
        assert secret not in body


def test_every_reason_that_recall_has_is_known(memory):
    memory.remember("Anna drinks tea in the morning.")
    reasons = {memory.recall(query).receipt.abstained for query in ("", "ok", "the of", "quantum chromodynamics")}
    assert reasons - {""} <= set(ABSTENTIONS)
    assert len(reasons) >= 3
    assert reason_of("made up") == "other"
    assert len(set(REFUSALS)) == len(REFUSALS)


def test_the_store_is_looked_at_when_somebody_asks_and_not_before(path):
    asked = []

    def standing():
        with open_store(path) as memory:
            asked.append(1)
            return Standing(live=memory.stats().by_state.get("live", 0), lag=memory.admin.index_status().lag)

    with open_store(path) as memory:
        memory.remember("Anna drinks tea.")
    metrics = Metrics(standing, busy=lambda: 3)
    assert not asked
    told = shown(metrics)
    assert (told["memoranda_memories_live"], told["memoranda_busy"]) == (1, 3)
    assert "memoranda_index_lag" in told


def test_a_store_that_cannot_be_looked_at_does_not_spoil_the_rest():
    def locked():
        raise LedgerLocked("held")

    told = shown(Metrics(locked, busy=lambda: 0))
    assert "memoranda_memories_live" not in told
    assert told["memoranda_busy"] == 0


# -- activity --


def done(clock, door="recall", scope="home/anna", **more):
    return Done(**{"at": clock.now(), "door": door, "scope": scope, "milliseconds": 5.0, "status": 200, **more})


def everything(scope):
    return True


def test_who_asks_is_told_of_the_scopes_that_it_reaches_and_of_no_other(clock):
    activity = Activity(clock)
    for scope in ("bot-1", "bot-1/group-7", "bot-10", ""):
        activity.note(done(clock, scope=scope, door="remember"))
    of_one = activity.summary(Principal("one", "reader", "bot-1").reaches)
    assert of_one["requests"] == 2
    assert activity.summary(Principal("operator", "admin", "").reaches)["requests"] == 4
    assert "bot" not in str(of_one)


def test_times_shares_and_reasons_add_up(clock):
    activity = Activity(clock)
    for number in range(100):
        activity.note(
            done(clock, milliseconds=number + 1, returned=0 if number < 25 else 3, abstained="no query" * (number < 25))
        )
    activity.note(done(clock, milliseconds=60_000, status=504))
    activity.note(done(clock, door="capture", kept=2, refused=(("secret", 1), ("question", 2))))
    told = activity.summary(everything)
    assert told["times"]["recall"] == {"count": 100, "p50": 50, "p95": 95, "p99": 99}
    assert told["times"]["remember"] == {"count": 0, "p50": None, "p95": None, "p99": None}
    assert told["abstained"] == {"recalls": 100, "share": 0.25, "reasons": {"no query": 25}}
    assert told["captured"] == {"kept": 2, "refused": {"question": 2, "secret": 1}}
    assert (told["requests"], told["errors"], told["by_status"]) == (102, 1, {"200": 101, "504": 1})
    assert activity.summary(lambda scope: False)["abstained"]["share"] is None


def test_a_series_has_a_row_for_each_minute_of_the_time_that_was_asked_for(clock):
    activity = Activity(clock)
    for _ in range(10):
        activity.note(done(clock, returned=1))
        clock.advance(ms=60_000)
    told = activity.summary(everything, minutes=5)
    assert told["minutes"] == 5
    assert [row["requests"] for row in told["series"]] == [1] * told["requests"]
    assert 4 <= len(told["series"]) <= 5
    assert told["series"][-1]["at"] > told["series"][0]["at"]


def test_a_row_of_a_series_tells_how_long_recalls_took(clock):
    activity = Activity(clock)
    for number in range(100):
        activity.note(done(clock, milliseconds=number + 1, returned=1))
    activity.note(done(clock, door="remember", milliseconds=7))
    (row,) = activity.summary(everything)["series"]
    assert (row["recall_p50"], row["recall_p95"], row["remember_p95"]) == (50, 95, 7)


def test_what_agents_do_by_their_tools_is_timed_with_the_rest(clock):
    activity = Activity(clock)
    for door in ("recall", "mcp.recall", "mcp.memory_recall", "mcp.recall_memory", "mcp.forget"):
        activity.note(done(clock, door=door))
    for door in ("remember", "mcp.remember", "mcp.memory_store"):
        activity.note(done(clock, door=door))
    times = activity.summary(everything)["times"]
    assert (times["recall"]["count"], times["remember"]["count"]) == (4, 3)
    tools = {f"mcp.{each.name}" for toolset in TOOLSETS for each in offer(toolset).definitions}
    assert {each for doors in _TIMED.values() for each in doors if each.startswith("mcp.")} <= tools


def test_it_stays_bounded_and_says_when_it_has_let_go_of_some(clock):
    activity = Activity(clock, most=100)
    clock.advance(days=1)
    for _ in range(99):
        activity.note(done(clock))
    assert activity.summary(everything)["complete"]
    for _ in range(400):
        activity.note(done(clock))
    assert len(activity) == 100
    assert activity.summary(everything)["requests"] == 100
    assert not activity.summary(everything)["complete"]


@pytest.mark.parametrize(("minutes", "used"), [(0, 1), (-5, 1), (10**9, 1_440)])
def test_minutes_are_bounded(clock, minutes, used):
    assert Activity(clock).summary(everything, minutes=minutes)["minutes"] == used


def test_it_can_be_asked_while_others_write(clock):
    activity = Activity(clock, most=1_000)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            activity.note(done(clock))

    writers = [threading.Thread(target=write) for _ in range(2)]
    for each in writers:
        each.start()
    try:
        for _ in range(50):
            activity.summary(everything)
    finally:
        stop.set()
        for each in writers:
            each.join()


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_a_value_that_so_many_are_not_above(values, share):
    ordered = sorted(values)
    found = percentile(ordered, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values) or found == ordered[0]
