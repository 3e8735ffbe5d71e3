"""What agents do over MCP is seen where everything else is: in the log, the metrics and the activity."""

import json
import threading

import pytest
from loopback import loopback

HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


@pytest.fixture
def server(path):
    with loopback(path, mcp=True, server_timeout=1, server_threads=1) as made:
        yield made


def call(server, token, tool, arguments, *, path="/mcp"):
    """What a model reads of the result, and whether it is an error."""
    params = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = server.post(path, body, token=token, headers=HEADERS)
    assert answer.status == 200, answer
    result = answer.json()["result"]
    return result["content"][0]["text"], result.get("isError", False)


def counted(server, name):
    lines = server.get("/metrics").body.decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name) and "_created" not in line)


def test_recalls_of_agents_are_counted_with_their_abstentions(server):
    token, other = server.token("bot-1"), server.token("bot-2")
    call(server, token, "remember", {"text": "Anna reads by the green lamp."})
    assert "green lamp" in call(server, token, "recall", {"query": "what does Anna read by?"})[0]
    assert "Nothing relevant" in call(server, token, "recall", {"query": "quantum chromodynamics"})[0]
    call(server, token, "memory_recall", {"query": "what does Anna read by?"}, path="/mcp/openclaw")
    call(server, token, "recall_memory", {"query": "what does Anna read by?"}, path="/mcp/langbot")
    told = server.get("/v1/activity", token=token).json()
    doors = {"mcp.recall": 2, "mcp.remember": 1, "mcp.memory_recall": 1, "mcp.recall_memory": 1}
    assert {name: told["by_door"].get(name) for name in doors} == doors
    assert (told["abstained"]["recalls"], sum(told["abstained"]["reasons"].values())) == (4, 1)
    assert (told["times"]["recall"]["count"], told["times"]["remember"]["count"]) == (4, 1)
    assert not [name for name in server.get("/v1/activity", token=other).json()["by_door"] if name.startswith("mcp")]
    assert (counted(server, "memoranda_recalls_total"), counted(server, "memoranda_abstentions_total")) == (4, 1)
    assert counted(server, 'memoranda_requests_total{door="mcp.recall"') == 2


def test_a_prompt_that_packs_is_counted(server):
    params = {"name": "recall_before_answering", "arguments": {"question": "what does Anna read by?"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}
    assert server.post("/mcp", body, token=server.token("bot-1"), headers=HEADERS).status == 200
    assert counted(server, "memoranda_packs_total") == 1


def test_a_tool_that_there_is_not_names_no_door(server):
    token = server.token("bot-1")
    text, failed = call(server, token, "drop_all_tables", {})
    assert failed
    assert "Use one of" in text
    assert server.get("/v1/activity", token=token).json()["by_door"] == {"mcp": 1}
    assert "drop_all_tables" not in server.log.getvalue()
    assert "drop_all_tables" not in server.get("/metrics").body.decode()


def test_a_reader_that_wants_to_write_is_refused_and_seen(server):
    token = server.token("bot-1", "reader")
    text, failed = call(server, token, "remember", {"text": "Guests were here."})
    assert (failed, "only read" in text) == (True, True)
    assert server.get("/v1/activity", token=token).json()["by_door"] == {"mcp.remember": 1}


def test_a_busy_server_is_told_to_a_model_in_a_sentence(server, monkeypatch):
    from memoranda.service.memory import LongTermMemory

    gate, begun, token = threading.Event(), threading.Event(), server.token("bot-1")

    def wait(self):
        begun.set()
        return gate.wait(20)

    monkeypatch.setattr(LongTermMemory, "now", property(wait))
    told = []
    first = threading.Thread(
        target=lambda: told.append(call(_Own(server), token, "recall", {"query": "lamps", "after": "-1d"}))
    )
    first.start()
    assert begun.wait(10)
    text, failed = call(server, token, "recall", {"query": "lamps"})
    gate.set()
    first.join(10)
    assert failed
    assert text == "Error: too many requests wait already. It was not begun: call again in a moment."
    assert told[0][1]
    assert "was not done within 1 seconds" in told[0][0]
    assert told[0][0].endswith("Look whether it happened before you call again, and tell the user so.")
    assert "Idempotency" not in json.dumps([told, text])


class _Own:
    """The same server by a connection of its own."""

    def __init__(self, server):
        self.post = server.caller().post
