"""One line for each request, and never a word of what is kept."""

import asyncio
import contextlib
import io
import json
import logging
import os
import threading

import pytest
from asgi_driving import ask, asked, hello
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from memoranda.domain.access import Principal
from memoranda.domain.clock import SystemClock
from memoranda.http.activity import Activity
from memoranda.http.auth import PERSON
from memoranda.http.logs import CutShort, Logs, Observed, request_id, told
from memoranda.http.metrics import Metrics
from memoranda.http.refusal import Refusal
from memoranda.testing.fakes import FixedClock

SECRET = "Zebediah keeps a heron"


class Bench:
    """A log that can be read, and an observed application."""

    def __init__(self, app=hello, *, form="json", scopes=False):
        self.clock = FixedClock()
        self.stream = io.StringIO()
        self.logs = Logs(form=form, clock=self.clock, scopes=scopes, stream=self.stream)
        self.metrics, self.activity = Metrics(), Activity(self.clock)
        self.app = Observed(app, logs=self.logs, metrics=self.metrics, activity=self.activity, clock=self.clock)

    def ask(self, *args, **more):
        return ask(self.app, asked(*args, **more))

    @property
    def text(self):
        return self.stream.getvalue()

    @property
    def lines(self):
        return [json.loads(line) for line in self.text.splitlines()]


async def knowing(scope, receive, send):
    """An application that says what it knows, as the router and the authentication do."""
    scope["state"].update(door="get", scope="home/anna", principal=Principal(SECRET, "reader", "home", token_id="ab12"))
    await hello(scope, receive, send)


def test_a_request_is_one_line_with_what_an_operator_needs():
    bench = Bench(knowing)
    answer = bench.ask("GET", "/v1/memories/secret-id", headers=[("authorization", f"Bearer {SECRET}")])
    (line,) = bench.lines
    assert line["event"] == "request"
    assert (line["door"], line["status"], line["token"]) == ("get", 200, "ab12")
    assert line["bytes"] == len(answer.body)
    assert line["milliseconds"] >= 0
    assert line["id"] == answer.headers["x-request-id"]
    assert line["at"] == "2026-01-01T00:00:00.000Z"
    for secret in ("secret-id", SECRET, "home", "Bearer"):
        assert secret not in bench.text


def test_the_token_of_this_run_is_told_from_none():
    async def person(scope, receive, send):
        scope["state"]["principal"] = PERSON
        await hello(scope, receive, send)

    for app, word in ((person, "run"), (hello, "")):
        bench = Bench(app)
        bench.ask()
        assert bench.lines[0]["token"] == word


def test_scopes_are_named_only_where_the_operator_wants_it():
    bench = Bench(knowing, scopes=True)
    bench.ask()
    assert bench.lines[0]["scope"] == "home/anna"


@pytest.mark.parametrize("given_id", ["abc-123", "A" * 64, "0.x_y"])
def test_a_callers_own_id_is_kept_and_echoed(given_id):
    bench = Bench()
    answer = bench.ask(headers=[("x-request-id", given_id)])
    assert answer.headers["x-request-id"] == bench.lines[0]["id"] == given_id


@pytest.mark.parametrize(
    "given_id", ["", "A" * 65, "two words", "a\r\nSet-Cookie: x", 'a"b', "żółw".encode().decode("latin-1")]
)
def test_an_id_that_is_none_is_replaced(given_id):
    answer = Bench().ask(headers=[("x-request-id", given_id)])
    assert answer.headers["x-request-id"] != given_id
    assert len(answer.headers["x-request-id"]) == 16


@given(st.text())
def test_an_id_never_has_signs_that_could_break_a_line(text):
    assert request_id(text).replace("-", "").replace("_", "").replace(".", "").isalnum() or request_id(text) == text
    assert request_id(text).isascii()
    assert len(request_id(text)) <= 64


def test_an_exception_is_answered_without_its_words_and_told_by_its_places():
    async def failing(scope, receive, send):
        value = SECRET
        try:
            raise KeyError(value)
        except KeyError as error:
            raise RuntimeError(f"cannot keep {value}") from error

    bench = Bench(failing)
    answer = bench.ask("POST", "/v1/memories")
    assert answer.status == 500
    assert answer.headers["x-request-id"] in answer.problem["hint"]
    assert answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    failed, request = bench.lines
    assert [each["type"] for each in failed["error"]] == ["RuntimeError", "KeyError"]
    assert any("test_logs.py:" in place for place in failed["error"][0]["at"])
    assert request["status"] == 500
    assert SECRET not in bench.text + answer.body.decode()
    assert 'status="500"' in bench.metrics.shown()[0].decode()


def test_a_refusal_is_answered_as_what_it_is_and_is_no_failure():
    async def refusing(scope, receive, send):
        raise Refusal(503, "busy", "later", hint="Later.", retry_after=1)

    bench = Bench(refusing)
    assert bench.ask().status == 503
    assert [line["event"] for line in bench.lines] == ["request"]


def test_an_answer_that_breaks_off_is_cut_and_not_ended_as_if_it_were_whole():
    async def breaking(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError(SECRET)

    bench = Bench(breaking)
    with pytest.raises(CutShort) as cut:
        bench.ask()
    assert SECRET not in str(cut.value)
    assert [line["event"] for line in bench.lines] == ["failed", "request"]


def test_what_fails_after_its_answer_was_whole_is_told_and_the_answer_stands():
    async def late(scope, receive, send):
        await hello(scope, receive, send)
        raise RuntimeError(SECRET)

    bench = Bench(late)
    assert bench.ask().status == 200
    assert [line["event"] for line in bench.lines] == ["failed", "request"]


def test_who_goes_away_is_told_as_such():
    async def reading(scope, receive, send):
        await Request(scope, receive).body()

    bench = Bench(reading)

    async def gone():
        return {"type": "http.disconnect"}

    asyncio.run(bench.app(asked("POST"), gone, None))
    assert bench.lines[0]["status"] == 499


def test_what_was_done_goes_into_metrics_and_activity_under_its_door(memory):
    memory.remember("Anna drinks tea in the morning.")
    receipt = memory.recall("what does Anna drink in the morning?").receipt

    async def recalling(scope, receive, send):
        scope["state"].update(door="recall", scope="home/anna", receipt=receipt)
        await hello(scope, receive, send)

    bench = Bench(recalling)
    bench.ask("POST", "/v1/recall")
    told_of = bench.activity.summary(lambda scope: scope == "home/anna")
    assert told_of["abstained"]["recalls"] == told_of["times"]["recall"]["count"] == 1
    assert "memoranda_recalls_total 1.0" in bench.metrics.shown()[0].decode()


def test_a_request_without_a_door_is_counted_and_is_no_activity():
    bench = Bench()
    bench.ask("GET", "/wp-admin.php")
    assert len(bench.activity) == 0
    assert 'door="none"' in bench.metrics.shown()[0].decode()
    assert "wp-admin" not in bench.text + bench.metrics.shown()[0].decode()


def test_text_is_for_people_and_says_the_same():
    bench = Bench(knowing, form="text")
    bench.ask()
    bench.logs.event("upkeep", erased=2)
    bench.logs.trouble("failed", RuntimeError(SECRET))
    request, upkeep, failed = bench.text.splitlines()
    assert request.split()[1:3] == ["200", "get"]
    assert upkeep.endswith("upkeep erased=2")
    assert failed.endswith("failed RuntimeError")
    assert SECRET not in bench.text


def test_a_stream_that_is_gone_does_not_stop_the_server():
    bench = Bench()
    bench.stream.close()
    assert bench.ask().status == 200


def test_each_line_is_whole_when_many_write():
    bench = Bench()
    threads = [threading.Thread(target=lambda: [bench.logs.event("x", number=n) for n in range(200)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(bench.lines) == 800


@pytest.fixture
def quiet_logging():
    root, hook = logging.getLogger(), threading.excepthook
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], threading.excepthook = handlers, hook
    root.setLevel(level)


@pytest.mark.usefixtures("quiet_logging")
def test_what_other_packages_say_is_told_without_their_words():
    bench = Bench()
    bench.logs.take_over()
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("uvicorn.error").warning("from %s", SECRET)
    logging.getLogger("somebody.else").warning(SECRET)
    try:
        raise RuntimeError(SECRET)
    except RuntimeError:
        logging.getLogger("somebody.else").exception(SECRET)
    logging.getLogger("somebody.else").info("not even this")
    assert [line.get("message") for line in bench.lines] == [
        "Invalid HTTP request received.",
        "from %s",
        None,
        None,
    ]
    assert bench.lines[3]["error"][0]["type"] == "RuntimeError"
    assert SECRET not in bench.text


@pytest.mark.usefixtures("quiet_logging")
def test_what_ends_a_thread_is_told_without_its_words():
    bench = Bench()
    bench.logs.take_over()

    def fail():
        raise RuntimeError(SECRET)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert bench.lines[0]["event"] == "a thread ended"
    assert SECRET not in bench.text


def test_a_chain_without_end_is_not_followed_for_ever():
    first = RuntimeError("a")
    current = first
    for _ in range(100):
        current.__cause__ = RuntimeError("b")
        current = current.__cause__
    assert len(told(first)) == 5


def test_a_log_that_nobody_reads_holds_up_nobody():
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    logs = Logs(form="json", clock=SystemClock(), stream=stream, behind=True)
    for place in range(20_000):  # far more than a pipe takes
        logs.event("request", place=place)
    os.close(reading)
    logs.close()
    with contextlib.suppress(BrokenPipeError):
        stream.close()


def test_what_is_written_behind_is_there_when_it_is_closed():
    stream = io.StringIO()
    logs = Logs(form="json", clock=SystemClock(), stream=stream, behind=True)
    logs.event("one")
    logs.event("two")
    logs.close()
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["one", "two"]
