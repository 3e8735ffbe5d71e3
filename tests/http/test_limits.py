"""How much, how large, how long: rates, bodies, threads."""

import asyncio
import contextvars
import threading
import time

import pytest
from asgi_driving import answered, ask, asked, hello
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.access import Principal
from memoranda.http.limits import MOST_IMPORTED, BodyLimit, Buckets, RateLimit, SignIns, Workers
from memoranda.http.refusal import Refusal


class Ticks:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


def as_principal(token_id, **more):
    return asked(state={"principal": Principal("n", "reader", "home", token_id=token_id)}, **more)


# -- rates --


@given(
    st.integers(1, 6000),
    st.floats(1, 50),
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_never_more_than_the_burst_and_what_came_in_since(a_minute, burst, pauses):
    now = Ticks()
    buckets = Buckets(a_minute, burst=burst, now=now)
    taken = 0
    for pause in pauses:
        now.seconds += pause
        taken += buckets.take("a") == 0
    assert taken <= burst + sum(pauses) * a_minute / 60 + 1e-6


@given(st.integers(1, 6000), st.floats(1, 50))
def test_after_the_time_that_is_told_there_is_one_again(a_minute, burst):
    now = Ticks()
    buckets = Buckets(a_minute, burst=burst, now=now)
    while not (wait := buckets.take("a")):
        pass
    now.seconds += wait + 1e-6
    assert buckets.take("a") == 0
    assert buckets.take("b") == 0


def test_callers_are_forgotten_rather_than_kept_for_ever():
    buckets = Buckets(60, burst=1, most=100)
    for number in range(1_000):
        buckets.take(str(number))
    assert len(buckets) == 100


def test_one_token_that_asks_too_often_does_not_hold_up_another():
    now = Ticks()
    limit = RateLimit(hello, a_minute=60, now=now)
    statuses = [ask(limit, as_principal("a")).status for _ in range(12)]
    assert statuses == [200] * 10 + [429] * 2
    assert ask(limit, as_principal("b")).status == 200
    refused = ask(limit, as_principal("a"))
    assert refused.headers["retry-after"] == "1"
    assert refused.problem["retry_after"] == 1
    now.seconds += 1.01
    assert ask(limit, as_principal("a")).status == 200


def test_no_rate_is_any_rate_and_who_is_nobody_is_not_counted():
    free = RateLimit(hello, a_minute=0)
    assert {ask(free, as_principal("a")).status for _ in range(50)} == {200}
    strict = RateLimit(hello, a_minute=1)
    assert {ask(strict, asked()).status for _ in range(5)} == {200}


def test_tokens_cannot_be_tried_out():
    now = Ticks()
    signs = SignIns(now=now)
    for _ in range(30):
        signs.failed("192.0.2.1")
    with pytest.raises(Refusal) as refused:
        signs.failed("192.0.2.1")
    assert (refused.value.status, refused.value.retry_after) == (429, 2)
    signs.failed("192.0.2.2")
    now.seconds += 2.1
    signs.failed("192.0.2.1")


def test_addresses_of_one_net_count_together():
    signs = SignIns(now=Ticks())
    for number in range(30):
        signs.failed(f"2001:db8::{number:x}")
    with pytest.raises(Refusal):
        signs.failed("2001:db8::ffff")
    signs.failed("2001:db8:0:1::1")


# -- bodies --


@pytest.mark.parametrize(("sizes", "status"), [([1000], 200), ([1001], 413), ([600, 400], 200), ([600, 401], 413)])
@pytest.mark.parametrize("announced", [None, "5", "1000"])
def test_a_body_is_counted_as_it_comes_in_whatever_its_header_says(sizes, status, announced):
    limit = BodyLimit(hello, most=1_000, seconds=5)
    headers = [] if announced is None else [("content-length", announced)]
    answer = ask(limit, asked("POST", headers=headers), [b"x" * size for size in sizes])
    assert answer.status == status
    if status == 413:
        assert answer.headers["connection"] == "close"
        assert "1,000" in answer.problem["detail"]


def test_a_body_that_says_it_is_too_large_is_not_read():
    limit = BodyLimit(_must_not_be_asked, most=1_000, seconds=5)
    assert ask(limit, asked("POST", headers=[("content-length", "1001")])).status == 413
    assert ask(limit, asked("POST", headers=[("content-length", "9" * 5000)])).status == 413


async def _must_not_be_asked(scope, receive, send):
    raise AssertionError


def test_an_application_that_swallows_the_refusal_cannot_answer_otherwise():
    async def careless(scope, receive, send):
        try:
            await receive()
        except Exception:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"fine"})

    answer = ask(BodyLimit(careless, most=10, seconds=5), asked("POST"), [b"x" * 11])
    assert (answer.status, b"fine" in answer.body) == (413, False)


def test_the_door_for_files_takes_larger_ones():
    limit = BodyLimit(hello, most=1_000, seconds=5)
    part = b"x" * (MOST_IMPORTED // 4)
    assert ask(limit, asked("POST", "/v1/conversations/import"), [part] * 4).status == 200
    assert ask(limit, asked("POST", "/v1/conversations/import"), [part] * 4 + [b"x"]).status == 413


def test_a_body_that_never_comes_is_not_waited_for():
    limit = BodyLimit(hello, most=1_000, seconds=0.1)
    began = time.monotonic()
    answer = ask(limit, asked("POST"), [b"x", 0.05, b"x", 30, b"x"])
    assert answer.status == 408
    assert time.monotonic() - began < 5


def test_an_answer_may_take_longer_than_a_body():
    async def slow(scope, receive, send):
        await receive()
        await asyncio.sleep(0.2)
        assert (await receive())["type"] == "http.disconnect"
        await hello(scope, receive, send)

    assert ask(BodyLimit(slow, most=10, seconds=0.1), asked("POST"), [b"x"]).status == 200


# -- threads --


@pytest.fixture
def workers():
    made = []

    def make(threads=1, **more):
        made.append(Workers(threads, **{"seconds": 5, **more}))
        return made[-1]

    yield make
    for each in made:
        each.close()


NAME = contextvars.ContextVar("name", default="")


def test_work_is_done_in_a_thread_that_knows_who_asked(workers):
    async def ask_for():
        NAME.set("anna")
        return await workers().run(lambda: (NAME.get(), threading.current_thread().name))

    name, thread = asyncio.run(ask_for())
    assert name == "anna"
    assert thread.startswith("memoranda-work")


def test_what_work_raises_comes_back(workers):
    with pytest.raises(ZeroDivisionError):
        asyncio.run(workers().run(lambda: 1 // 0))


def test_more_than_may_wait_are_turned_away_at_once(workers):
    pool = workers(1, waiting=2)
    gate = threading.Event()

    async def crowd():
        tasks = [asyncio.create_task(pool.run(gate.wait)) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert pool.busy == 3
        gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(crowd())
    assert answers[:3] == [True] * 3
    assert [(each.status, each.retry_after) for each in answers[3:]] == [(503, 1)] * 2
    assert pool.drain(1)


def test_work_that_takes_too_long_goes_on_and_the_answer_says_so(workers):
    pool = workers(1, seconds=0.1)
    gate, done = threading.Event(), threading.Event()

    def work():
        gate.wait()
        done.set()
        raise OSError("nobody looks")

    async def ask_for():
        with pytest.raises(Refusal) as refused:
            await pool.run(work)
        return refused.value

    refusal = asyncio.run(ask_for())
    assert refusal.status == 504
    assert "may yet happen" in refusal.detail
    assert pool.busy == 1
    gate.set()
    assert pool.drain(2)
    assert done.is_set()


def test_what_was_not_begun_in_time_is_not_begun_later(workers):
    pool = workers(1, seconds=0.1)
    gate = threading.Event()
    begun = []

    async def ask_for():
        first = asyncio.create_task(pool.run(gate.wait, long=False))
        await asyncio.sleep(0.02)
        with pytest.raises(Refusal) as refused:
            await pool.run(lambda: begun.append(1))
        gate.set()
        await asyncio.gather(first, return_exceptions=True)
        return refused.value

    assert asyncio.run(ask_for()).status == 503
    assert pool.drain(2)
    assert begun == []


def test_long_work_takes_its_time_and_does_not_hold_up_the_rest(workers):
    pool = workers(1, seconds=0.1)
    gate = threading.Event()

    async def ask_for():
        long = [asyncio.create_task(pool.run(gate.wait, long=True)) for _ in range(2)]
        await asyncio.sleep(0.2)
        assert await pool.run(lambda: "short") == "short"
        gate.set()
        return await asyncio.gather(*long)

    assert asyncio.run(ask_for()) == [True, True]


def test_work_is_finished_when_who_asked_has_gone(workers):
    pool = workers(1)
    gate, done = threading.Event(), threading.Event()

    def work():
        gate.wait()
        done.set()

    async def leave():
        task = asyncio.create_task(pool.run(work))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(leave())
    gate.set()
    assert pool.drain(2)
    assert done.is_set()


def test_nothing_is_begun_once_it_is_closed(workers):
    pool = workers(1)
    pool.close()
    with pytest.raises(Refusal) as refused:
        asyncio.run(pool.run(lambda: 1))
    assert refused.value.status == 503
    assert pool.busy == 0


def test_requests_are_independent_of_one_another():
    limit = BodyLimit(hello, most=1_000, seconds=5)

    async def several():
        return await asyncio.gather(*(answered(limit, asked("POST"), [b"x" * size]) for size in (10, 2_000, 20)))

    assert [answer.status for answer in asyncio.run(several())] == [200, 413, 200]
