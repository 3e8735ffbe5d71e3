"""Answers that a server could give, as bytes."""

import json

WHO = {"name": "anna", "role": "writer", "scope": "home/anna", "above": False, "everywhere": False, "version": "1"}


def answer(body, *, status="200 OK", kind="application/json", headers=()):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(raw)}", *headers]
    return ["\r\n".join([*lines, "", ""]).encode() + raw]


def problem(status, name, **more):
    told = {"type": f"urn:memoranda:{name}", "status": status, "detail": "it says no", "hint": "Do it.", **more}
    return answer(told, status=f"{status} No", kind="application/problem+json", headers=more.pop("headers", ()))


def busy(status, seconds):
    told = {"type": "urn:memoranda:busy", "status": status, "detail": "busy", "hint": "Wait.", "retry_after": seconds}
    return answer(told, status=f"{status} No", headers=[f"Retry-After: {seconds}"])


def stream(*events):
    body = b"".join(events)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return [head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"]


HELLO = answer(WHO)
NOTHING = [b"HTTP/1.1 204 No Content\r\n\r\n"]
HANG_UP = [None]
