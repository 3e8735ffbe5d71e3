"""A server that is told to stop finishes what is under way, gives up what never ends, and says so."""

import io
import json
import threading
import time

from running import events
from served_bench import Bench, accepts, slow, until

from memoranda.domain.clock import SystemClock
from memoranda.http.activity import Activity
from memoranda.http.logs import Logs, Observed
from memoranda.http.metrics import Metrics


def test_what_is_under_way_when_it_is_told_to_stop_is_finished():
    gate = threading.Event()
    bench = Bench(slow(lambda: bench.workers, gate))
    answers = []
    with bench:
        asking = threading.Thread(target=lambda: answers.append(bench.ask()))
        asking.start()
        until(lambda: bench.workers.busy)
        bench.serving.stop()
        assert bench.workers.stopping
        until(lambda: not accepts(bench.serving.port))
        assert answers == []
        gate.set()
        asking.join(10)
    assert answers == [(200, b"0")]
    assert events(bench.stream.getvalue())[-1]["left"] == 0


def test_what_never_ends_is_given_up_when_its_time_is_over():
    gate = threading.Event()
    bench = Bench(slow(lambda: bench.workers, gate), drain=1.0)
    with bench:
        connection = bench.connect()
        connection.request("GET", "/")
        until(lambda: bench.workers.busy)
        began = time.monotonic()
        bench.serving.stop()
        bench.thread.join(15)
        assert 0.9 < time.monotonic() - began < 14
        gate.set()
        connection.close()
    assert events(bench.stream.getvalue())[-1]["left"] == 1


def test_what_is_given_up_is_told_so_and_logged_as_what_it_was():
    gate = threading.Event()

    async def app(scope, receive, send):
        scope["state"]["door"] = "stats"
        await slow(lambda: bench.workers, gate)(scope, receive, send)

    stream, clock = io.StringIO(), SystemClock()
    logs = Logs(form="json", clock=clock, stream=stream)
    bench = Bench(Observed(app, logs=logs, metrics=Metrics(), activity=Activity(clock), clock=clock), drain=1.0)
    with bench:
        connection = bench.connect()
        connection.request("GET", "/v1/stats")
        until(lambda: bench.workers.busy)
        bench.serving.stop()
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
        assert (told["type"], told["retry_after"]) == ("urn:memoranda:stopping", 5)
        assert (answer.headers["retry-after"], answer.headers["cache-control"]) == ("5", "no-store")
        bench.thread.join(15)
        gate.set()
        connection.close()
    (line,) = events(stream.getvalue())
    assert (line["door"], line["status"]) == ("stats", 503)
    assert "Traceback" not in bench.stream.getvalue()


def test_connections_that_are_only_kept_open_do_not_hold_it_up():
    with Bench(drain=30.0) as bench:
        connection = bench.connect()
        connection.request("GET", "/")
        connection.getresponse().read()
        began = time.monotonic()
        bench.serving.stop()
        bench.thread.join(20)
        assert time.monotonic() - began < 15
        connection.close()
