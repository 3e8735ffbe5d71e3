"""Long work tells how far it is, by server-sent events; when nobody listens any more it stops."""

import asyncio
import functools
import json
import socket
import threading
import time

import pytest
from loopback import EVERYWHERE, events_of, loopback
from served_bench import until

import memoranda
from memoranda.domain.errors import InvalidInput
from memoranda.domain.mirror import MirrorReceipt
from memoranda.http.events import stream
from memoranda.http.metrics import Metrics
from memoranda.http.performing import Answer
from memoranda.service.admin import Admin
from memoranda.wire.doors import DOORS
from support import open_store

SCOPE = "home/anna"
EVENTS = {"accept": "text/event-stream"}
LONG = [door for door in DOORS if door.callbacks]


@pytest.fixture
def server(path, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(30):
        (notes / f"note{number}.md").write_text(f"# Note {number}\nThe lamp number {number} is in the cellar.\n")
    with loopback(path, roots=(str(tmp_path),)) as made:
        made.notes = notes
        made.post(f"/v1/memories/batch?scope={SCOPE}", {"drafts": [f"Lamp {number}." for number in range(300)]})
        made.post(f"/v1/documents?scope={SCOPE}", {"path": str(notes), "name": "notes"})
        yield made


def _heard(answer):
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    found = events_of(answer.body)
    steps = [each.data for each in found if each.name == "progress"]
    for step in steps:
        assert set(step) == {"of", "done", "total"}
        assert step["of"] in ("progress", "embedding")
        assert 0 <= step["done"] <= step["total"] > 0, "as it is told to who calls the verb itself"
    assert found[-1].name in ("result", "problem")
    assert sum(each.name != "progress" for each in found) == 1
    return steps, found[-1]


def test_there_is_long_work():
    assert {door.verb for door in LONG} >= {
        "admin.rebuild",
        "admin.optimize",
        "admin.maintain",
        "documents.sync",
        "documents.rebuild",
        "mirror",
    }


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("/v1/admin/rebuild", {}),
        ("/v1/admin/optimize", {}),
        ("/v1/admin/maintain", {}),
        ("/v1/admin/maintain", {"dry_run": True}),
        (f"/v1/documents/sync?scope={SCOPE}", {"full": True}),
        (f"/v1/documents/rebuild?scope={SCOPE}", {}),
    ],
)
def test_events_end_with_the_answer_that_is_given_without_them(server, line, body):
    _, last = _heard(server.post(line, body, headers=EVENTS))
    assert last.name == "result"
    plain = server.post(line, body)
    assert plain.headers["content-type"] == "application/json"
    assert set(last.data) == set(plain.json())


def test_a_sync_of_documents_tells_of_every_file(server):
    (server.notes / "late.md").write_text("# Late\nOne more.\n")
    steps, last = _heard(server.post(f"/v1/documents/sync?scope={SCOPE}", {"full": True}, headers=EVENTS))
    assert last.data["checked" if "checked" in last.data else "read"] >= 1
    assert max(step["total"] for step in steps) >= 31


def test_a_problem_is_the_last_event(server):
    line = f"/v1/mirror?scope={SCOPE}"
    answer = server.post(line, {"path": str(server.notes), "mode": "sync"}, headers=EVENTS)
    if answer.headers["content-type"] == "application/problem+json":
        assert answer.status >= 400
        return
    _, last = _heard(answer)
    assert last.name == "problem"
    assert last.data["hint"]


def test_what_is_refused_before_it_begins_is_refused_as_ever(server):
    token = server.token(SCOPE, "admin")
    answer = server.post("/v1/admin/maintain", {}, token=token, headers=EVENTS)
    assert answer.status == 403
    assert answer.problem["type"] == "urn:memoranda:whole-store"


def test_who_does_not_ask_for_events_gets_none(server):
    for accept in ("*/*", "application/json", ""):
        answer = server.post("/v1/admin/maintain", {}, headers={"accept": accept})
        assert answer.headers["content-type"] == "application/json"


def test_short_work_answers_in_json_whatever_is_asked_for(server):
    answer = server.post(f"/v1/recall?scope={SCOPE}", {"query": "lamp"}, headers=EVENTS)
    assert answer.headers["content-type"] == "application/json"


def _streamed(work, **options):
    """The events of work in a thread of its own."""

    async def gathered():
        loop = asyncio.get_running_loop()
        return [part async for part in stream(lambda each: loop.run_in_executor(None, each), work, **options)]

    return events_of(b"".join(asyncio.run(gathered())))


def test_each_step_says_which_callback_it_is_for():
    def work(steps):
        progress, embedding = steps.of("progress"), steps.of("embedding")
        progress(2, 2)
        embedding(16, 16)
        return Answer(200, b"{}", {})

    assert _streamed(work) == [
        ("progress", {"of": "progress", "done": 2, "total": 2}),
        ("progress", {"of": "embedding", "done": 16, "total": 16}),
        ("result", {}),
    ]


def test_work_that_tells_nothing_is_told_as_nothing():
    assert _streamed(lambda steps: Answer(200, b"{}", {})) == [("result", {})]


def test_who_counts_is_given_the_answer_also_when_it_is_a_problem():
    def refused(steps):
        raise InvalidInput("no such thing")

    counted = []
    assert [name for name, _ in _streamed(lambda steps: Answer(200, b"{}", {}, "x"), done=counted.append)] == ["result"]
    assert [name for name, _ in _streamed(refused, done=counted.append)] == ["problem"]
    assert [(each.status, each.result) for each in counted] == [(200, "x"), (422, None)]


def test_a_client_hears_by_each_callback_what_the_verb_itself_tells(path, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"note{number}.md").write_text(f"# Note {number}\nThe lamp number {number} is in the cellar.\n")

    def heard_of(memory):
        heard = {"progress": [], "embedding": []}
        memory.documents.add(notes, name="notes")
        telling = {name: (lambda *step, name=name: heard[name].append(step)) for name in heard}
        memory.documents.sync(full=True, **telling)
        # Steps that come soon after one another are told together.
        return {name: {total for _, total in steps} for name, steps in heard.items()}, heard

    with (
        loopback(path, roots=(str(tmp_path),), embedder="hashed:words") as server,
        memoranda.connect(server.url, EVERYWHERE, scope=SCOPE) as memory,
    ):
        served, steps = heard_of(memory)
    with open_store(tmp_path / "embedded.db", SCOPE, embedder="hashed:words") as memory:
        embedded, _ = heard_of(memory)
    assert served == embedded
    assert (0, 0) not in steps["progress"] + steps["embedding"]
    assert all(each[-1][0] == each[-1][1] > 0 for each in steps.values()), steps


def test_streamed_work_is_noted_with_its_receipt_and_scope(server, monkeypatch):
    noted = []
    monkeypatch.setattr(Metrics, "receipt", lambda self, receipt: noted.append(receipt))
    folder = server.notes.parent / "mirror"
    _, last = _heard(server.post(f"/v1/mirror?scope={SCOPE}", {"path": str(folder)}, headers=EVENTS))
    assert last.name == "result", last
    until(lambda: noted)  # it is noted when the answer has gone out
    assert [type(each) for each in noted] == [MirrorReceipt]
    told = server.get("/v1/activity", token=server.token(SCOPE, "reader")).json()
    assert told["by_door"]["mirror"] == 1


def _begun(server, line, body=b"{}"):
    """A stream that was opened by hand, so that it can be closed in the middle."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    head = (
        f"POST {line} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {EVERYWHERE}\r\n"
        f"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


@pytest.fixture
def slow_work(monkeypatch):
    """Upkeep that takes steps until it is stopped, or for half a minute."""
    steps, ended = [], threading.Event()

    @functools.wraps(Admin.maintain)  # a door is made from the signature
    def maintain(self, progress=None, *, dry_run=False):
        try:
            for number in range(600):
                steps.append(number)
                if progress is not None:
                    progress(number, 600)
                time.sleep(0.05)
        finally:
            ended.set()

    monkeypatch.setattr(Admin, "maintain", maintain)
    return steps, ended


def test_the_work_stops_when_who_asked_goes_away(server, slow_work):
    steps, ended = slow_work
    connection = _begun(server, "/v1/admin/maintain")
    heard = b""
    while b'"done": 3' not in heard and b'"done": 4' not in heard and len(steps) < 100:
        heard += connection.recv(4096)
    connection.close()
    assert ended.wait(10), "it went on though nobody listened"
    assert len(steps) < 300


def test_the_server_goes_on_after_it(server, slow_work):
    _, ended = slow_work
    for _ in range(3):
        ended.clear()
        connection = _begun(server, "/v1/admin/maintain")
        assert connection.recv(1024)
        connection.close()
        assert ended.wait(10)
    assert server.get("/healthz").status == 200
    assert server.get(f"/v1/memories?scope={SCOPE}&limit=1").json()["total"] == 300


def test_steps_come_while_it_works_and_not_at_the_end(server, slow_work):
    connection = _begun(server, "/v1/admin/maintain")
    began = time.monotonic()
    heard = b""
    while heard.count(b"event: progress") < 4:
        heard += connection.recv(4096)
    assert time.monotonic() - began < 5
    connection.close()


def test_long_work_does_not_hold_up_the_rest(server, slow_work):
    streams = [_begun(server, "/v1/admin/maintain") for _ in range(4)]
    began = time.monotonic()
    for _ in range(20):
        assert server.post(f"/v1/recall?scope={SCOPE}", {"query": "lamp"}).status == 200
    assert time.monotonic() - began < 10
    for each in streams:
        each.close()


def test_an_import_is_answered_whole(server):
    lines = [json.dumps({"role": "user", "content": f"I keep lamp {number} in the cellar."}) for number in range(50)]
    body = json.dumps({"messages": [json.loads(line) for line in lines]}).encode()
    line = f"/v1/conversations/import?scope={SCOPE}&format=openai&conversation=imported"
    answer = server.ask("POST", line, body, headers={"content-type": "application/octet-stream", **EVENTS})
    assert answer.status == 200, answer
    kept = server.get(f"/v1/conversations/messages?scope={SCOPE}&conversation=imported&limit=500").json()["items"]
    assert len([each for each in kept if each["kind"] != "summary"]) == 50
