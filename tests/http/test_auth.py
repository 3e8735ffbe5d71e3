"""Who is let in at a real server, and whom the mistakes of others do not keep out."""

import json

import pytest
from loopback import loopback

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
FOR_AGENTS = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def server(path):
    with loopback(path, mcp=True) as made:
        yield made


@pytest.mark.parametrize(("method", "line"), [("GET", "/metrics%0A"), ("POST", "/mcp%0A"), ("GET", "/v1/stats%0A")])
@pytest.mark.parametrize("known", [True, False])
def test_a_lines_end_behind_a_path_opens_nothing(server, method, line, known):
    options = {} if known else {"token": None}
    body = INITIALIZE if method == "POST" else None
    assert server.ask(method, line, body, headers=FOR_AGENTS, **options).problem["type"] == "urn:memoranda:bad-path"
    assert not [line for line in server.log.getvalue().splitlines() if json.loads(line)["event"] == "failed"]


def test_a_path_that_nobody_thought_of_needs_a_token(server):
    for line in ("/v2/recall", "/metricsx", "/MCP", "/console"):
        assert server.get(line, token=None).status == 401
        assert server.get(line).status == 404
    for line in ("/healthz", "/readyz", "/openapi.json"):
        assert server.get(line, token=None).status == 200


def test_bad_tokens_are_told_to_wait_and_good_ones_at_the_same_address_are_not(server):
    used = server.token("bot-1")
    assert server.get("/v1/whoami", token=used).status == 200
    bad = [server.get("/v1/whoami", token=f"mem_bad{number}").status for number in range(35)]
    assert bad[:30] == [401] * 30
    assert bad[-1] == 429
    assert server.get("/v1/whoami", token=used).status == 200
    fresh = server.token("bot-2")
    assert server.get("/v1/whoami", token=fresh).status == 200
    assert server.get("/v1/whoami", token="mem_bad").status == 429


@pytest.mark.parametrize(
    "written", ["0", "1441", "00060", "000000060" + "0" * 5_000, "6" * 5_000, "-1", "1e3", "", "٦"]
)
def test_minutes_that_are_none_are_told_so(server, written):
    from urllib.parse import quote

    answer = server.get(f"/v1/activity?minutes={quote(written)}")
    assert (answer.status, answer.problem["type"]) == (422, "urn:memoranda:invalid-input")
    assert server.get("/v1/activity?minutes=1440").json()["minutes"] == 1440
