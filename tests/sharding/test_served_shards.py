"""A server over several stores, as its callers see it."""

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture
def server(addresses, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "http")
    for name in [each for each in os.environ if each.startswith("MEMORANDA_")]:
        monkeypatch.delenv(name)
    from loopback import loopback

    with loopback(None, shards=addresses) as made:
        yield made
    sys.modules.pop("loopback", None)


def test_callers_of_every_shard_are_served_by_one_server(server, root_on):
    for place in (1, 2, 3):
        root = root_on(place)
        token = server.token(root)
        caller = server.caller(token)
        key = {"idempotency-key": f"key-{place}"}
        body = {"text": f"The key of {root} is under the mat."}
        first = caller.post("/v1/memories", body, headers=key)
        again = caller.post("/v1/memories", body, headers=key)
        assert (first.status, again.status) == (200, 200), first.body
        assert again.headers["idempotent-replayed"] == "true"
        assert first.body == again.body
        found = caller.post("/v1/recall", {"query": "where is the key?"}).json()
        assert [hit["memory"]["text"] for hit in found["hits"]] == [body["text"]]
        assert caller.post(f"/v1/recall?scope={root_on(place, number=1)}", {"query": "key"}).status == 403


def test_whole_stores_are_looked_at_together(server, root_on):
    for place in (1, 2, 3):
        assert server.post(f"/v1/memories?scope={root_on(place)}", {"text": "Here."}).status == 200
    assert [each["scope"] for each in server.get("/v1/scopes").json()["items"]] == sorted(
        root_on(place) for place in (1, 2, 3)
    )
    assert server.get("/v1/admin/index").json()["memories"] == 3
    assert server.post("/v1/admin/verify").status == 200
    told = server.post("/v1/admin/backup")
    assert told.status in (403, 409)
    assert "one store" in told.problem["detail"]
    assert "memoranda_memories" in server.get("/metrics").body.decode()


def test_a_broken_shard_is_felt_by_its_own_scopes_only(server, addresses, root_on):
    Path(addresses[1]).write_bytes(b"this is not a ledger" * 300)
    assert server.post(f"/v1/memories?scope={root_on(2)}", {"text": "Lost."}).status >= 500
    assert server.post(f"/v1/memories?scope={root_on(3)}", {"text": "Kept."}).status == 200
    assert server.get("/healthz").status == 200
