"""Connections that say nothing, too much, or go on after the answer; whose word is believed about the caller."""

import asyncio
import json
import socket
import time

import pytest
from asgi_driving import hello
from served_bench import Bench, raw, until, who

from memoranda.http import protocol


def test_headers_without_end_are_not_kept():
    with Bench() as bench:
        port = bench.serving.port
        begun = b"GET / HTTP/1.1\r\nHost: x\r\n"
        fits = raw(port, begun, b"X-A: " + b"a" * 30_000 + b"\r\nConnection: close\r\n\r\n")
        assert fits.startswith(b"HTTP/1.1 200")
        for parts in ([b"X-A: "], [b"X-A: b\r\n" * 100]):
            answer = raw(port, begun, *parts, *[b"a" * 10_000] * 50)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 431")
        assert bench.ask()[0] == 200


def test_a_large_body_right_behind_its_headers_is_no_large_header():
    with Bench() as bench:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n"
        assert b"\r\n200000\r\n" in raw(bench.serving.port, head + b"x" * 200_000)


def test_who_connects_and_says_nothing_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with Bench() as bench:
        began = time.monotonic()
        assert raw(bench.serving.port) == b""
        assert raw(bench.serving.port, b"GET / HTTP/1.1\r\nHo") == b""
        kept = raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n")
        assert kept.startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 15


def test_a_slow_answer_is_not_cut_by_the_time_for_headers(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)

    async def slowly(scope, receive, send):
        await asyncio.sleep(0.6)
        await hello(scope, receive, send)

    with Bench(slowly) as bench:
        assert bench.ask() == (200, b"0")


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


async def at_once(scope, receive, send):
    """An application that answers before it has seen the body, as a refusal does."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


class Pushing:
    """A connection that goes on sending what nobody asked for."""

    def __init__(self, port, begun):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.connection.sendall(begun)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def answer(self):
        received = b""
        while b"\r\n\r\n" not in received and (piece := self.connection.recv(65536)):
            received += piece
        return received

    def push(self, piece, most):
        """Bytes that were taken until the connection was cut; at most so many are sent."""
        sent = 0
        try:
            while sent < most:
                self.connection.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        return sent

    def is_cut(self, drip=b"", seconds=10):
        end = time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while time.monotonic() < end:
            try:
                self.connection.sendall(drip)
                if self.connection.recv(65536) == b"":
                    return True
            except TimeoutError:
                continue
            except OSError:
                return True
        return False


MUCH = 40_000_000
BUFFERED = 16_000_000  # what the machine itself may hold of a connection that nobody reads


@pytest.mark.parametrize("app", [at_once, hello], ids=["answered", "unanswered"])
@pytest.mark.parametrize("piece", [b"X-A: " + b"a" * 1_000 + b"\r\n", b"a" * 1_000], ids=["many", "one"])
def test_headers_behind_a_body_are_not_taken_without_end(app, piece):
    with Bench(app) as bench:
        begun = CHUNKED + b"0\r\nX-A: b\r\n" + (b"" if b":" in piece else b"X-B: ")
        with Pushing(bench.serving.port, begun) as pushing:
            if app is at_once:
                assert b" 401 " in pushing.answer()
            assert pushing.push(piece * 100, MUCH) < BUFFERED
        assert bench.ask()[0] in (200, 401)


def test_headers_behind_a_body_do_not_become_headers_of_the_request():
    async def names(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        body = b" ".join(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with Bench(names) as bench:
        begun = CHUNKED.replace(b"Host: x", b"Host: x\r\nConnection: close")
        told = raw(bench.serving.port, begun, b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
    assert b"host connection transfer-encoding" in told
    assert b"authorization" not in told


def test_a_body_that_goes_on_after_the_answer_is_not_taken_without_end():
    with Bench(at_once) as bench, Pushing(bench.serving.port, CHUNKED) as pushing:
        assert b" 401 " in pushing.answer()
        assert pushing.push(b"1000\r\n" + b"a" * 4096 + b"\r\n", MUCH) < BUFFERED


def test_a_body_that_drips_after_the_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 0.3)
    with Bench(at_once) as bench:
        for begun in (CHUNKED, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"):
            with Pushing(bench.serving.port, begun) as pushing:
                assert b" 401 " in pushing.answer()
                assert pushing.is_cut(b"1\r\na\r\n")


def test_a_body_that_ends_soon_after_the_answer_costs_nobody_the_connection(monkeypatch):
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 1.0)
    with Bench(at_once) as bench, Pushing(bench.serving.port, CHUNKED) as pushing:
        assert b" 401 " in pushing.answer()
        assert pushing.push(b"1000\r\n" + b"a" * 4096 + b"\r\n", 200_000) >= 200_000
        pushing.connection.sendall(b"0\r\n\r\n")
        time.sleep(1.3)
        pushing.connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 401 " in pushing.answer()


def test_empty_lines_between_requests_do_not_keep_a_connection(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with Bench() as bench, Pushing(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as pushing:
        assert b" 200 " in pushing.answer()
        assert pushing.is_cut(b"\r\n")


def test_more_connections_than_there_may_be_are_cut(monkeypatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    with Bench() as bench:
        held = [socket.create_connection(("127.0.0.1", bench.serving.port)) for _ in range(3)]
        until(lambda: raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == b"")
        for each in held:
            each.close()
        until(lambda: raw(bench.serving.port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") != b"")


@pytest.mark.parametrize(
    ("by", "told"),
    [("", ["http", "127.0.0.1"]), ("127.0.0.1", ["https", "192.0.2.9"]), ("192.0.2.1", ["http", "127.0.0.1"])],
)
def test_only_the_proxy_that_was_named_is_believed(by, told, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.9"}
    with Bench(who, forwarded_by=by) as bench:
        assert json.loads(bench.ask(headers=headers)[1]) == told
