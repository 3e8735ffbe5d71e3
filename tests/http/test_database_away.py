"""A server whose database does not answer: it says so at once, to whoever looks, and lets nobody in meanwhile."""

import threading
import time

import pytest
from loopback import loopback

from memoranda import LedgerUnavailable
from memoranda.http.metrics import Metrics, Serving, Standing

SCOPE = "home/anna"
WHERE = "postgresql://memoranda@db.internal:5432/memoranda"


@pytest.fixture
def server(path):
    with loopback(path) as served:
        yield served


def away(*_, **__):
    raise LedgerUnavailable(f"{WHERE} does not answer (connection refused)")


def test_it_is_alive_and_not_ready(server, monkeypatch):
    monkeypatch.setattr(server.store, "check", away)
    told = server.get("/readyz", token=None)
    assert told.status == 503
    assert told.problem["type"] == "urn:memoranda:database-away"
    assert "db.internal" not in told.body.decode()
    assert server.get("/healthz", token=None).status == 200


def test_one_that_keeps_silent_is_away_too(server, monkeypatch):
    monkeypatch.setattr("memoranda.http.own._READY_SECONDS", 0.2)
    over = threading.Event()
    monkeypatch.setattr(server.store, "check", lambda: over.wait(20))
    began = time.monotonic()
    assert server.get("/readyz", token=None).status == 503
    assert time.monotonic() - began < 10
    over.set()


def test_nobody_is_let_in_and_everybody_is_told_to_come_back(server, monkeypatch):
    token = server.token(SCOPE)
    monkeypatch.setattr(server.store.tokens._tokens, "by_digest", away)
    told = server.get(f"/v1/stats?scope={SCOPE}", token=token)
    assert (told.status, told.headers["retry-after"]) == (503, "1")
    assert told.problem["type"] == "urn:memoranda:ledger-unavailable"
    assert "db.internal" not in told.body.decode(), "where the database is, is nobody's business"


def test_a_verb_that_cannot_reach_it_says_when_to_come_back(server, monkeypatch):
    monkeypatch.setattr(server.store._engine.ledger.database, "write", away)
    told = server.post(f"/v1/memories?scope={SCOPE}", {"text": "The heron is fed at noon."})
    assert (told.status, told.headers["retry-after"]) == (503, "1")
    assert "db.internal" not in told.body.decode()


def test_who_waits_at_the_door_does_not_hold_up_the_loop(server, monkeypatch):
    token, over = server.token(SCOPE), threading.Event()
    by_digest = server.store.tokens._tokens.by_digest
    monkeypatch.setattr(server.store.tokens._tokens, "by_digest", lambda digest: over.wait(20) and by_digest(digest))
    told, caller = [], server.caller(token)
    waiting = threading.Thread(target=lambda: told.append(caller.get(f"/v1/stats?scope={SCOPE}").status))
    waiting.start()
    try:
        assert server.get("/healthz", token=None).status == 200
        assert not told
    finally:
        over.set()
        waiting.join(20)
    assert told == [200]


def test_metrics_tell_who_leads_and_how_the_connections_stand():
    metrics = Metrics(lambda: Standing(3, 1), serving=lambda: Serving(True, 4, 3, 0))
    told = metrics.shown()[0].decode()
    for line in (
        "memoranda_leader 1.0",
        "memoranda_store_up 1.0",
        'memoranda_database_connections{state="open"} 4.0',
        'memoranda_database_connections{state="idle"} 3.0',
        'memoranda_database_connections{state="waited_for"} 0.0',
        "memoranda_index_lag 1.0",
    ):
        assert line in told


def test_metrics_of_a_store_that_is_away_say_so():
    told = Metrics(away, serving=lambda: Serving(False)).shown()[0].decode()
    assert "memoranda_store_up 0.0" in told
    assert "memoranda_leader 0.0" in told
    assert "memoranda_database_connections" not in told
