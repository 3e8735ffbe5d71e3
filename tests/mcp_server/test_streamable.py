"""The application over streamable HTTP, in a real server, with the official client in both of its modes."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from support import open_store

from .conftest import MODES, drive, text_of
from .test_default_tools import NAMES

SERVED = Path(__file__).with_name("served.py")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@contextmanager
def serving(path, port, *, script=SERVED):
    """A server of its own process, which answers when this is entered."""
    process = subprocess.Popen([sys.executable, str(script), str(path), str(port)], stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(300):
            assert process.poll() is None, process.stderr.read()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("served") / "store.db"


@pytest.fixture(scope="module")
def port(store):
    chosen = free_port()
    with serving(store, chosen):
        yield chosen


@asynccontextmanager
async def connected(port, token, *, mode="auto", query=""):
    """A client who comes with a token."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=20) as web:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp{query}", http_client=web)
        async with Client(transport, mode=mode) as client:
            yield client


def posted(port, body, **headers):
    """The status and the body of one plain request."""
    usual = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": "Bearer anna",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    given = {name: value for name, value in {**usual, **headers}.items() if value is not None}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/mcp", body if isinstance(body, bytes) else json.dumps(body), given)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.parametrize("mode", MODES)
def test_a_client_finds_and_uses_the_tools(port, store, mode):
    text = f"Anna reads by light.{mode}."

    async def story(client):
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        kept = await client.call_tool("remember", {"text": text})
        found = await client.call_tool("recall", {"query": text})
        assert kept.structured_content["id"] in [each["id"] for each in found.structured_content["memories"]]
        assert json.loads(text_of(found)) == found.structured_content
        assert (await client.read_resource("memoranda://profile")).contents
        assert (await client.list_prompts()).prompts

    drive(story, connected(port, "anna", mode=mode))
    with open_store(store) as memory:
        (kept,) = [each for each in memory.list() if each.text == text]
        assert memory.history(kept)[0].event.actor == "anna"


@pytest.mark.parametrize("mode", MODES)
def test_two_who_share_a_server_share_nothing_else(port, mode):
    async def story(anna, ben):
        kept = (await ben.call_tool("remember", {"text": f"Ben hides the key in the {mode} pot."})).structured_content[
            "id"
        ]
        for name, arguments in (
            ("recall", {"query": f"where does Ben hide the key, in the {mode} pot?"}),
            ("recall_facts", {"question": "Ben hides the key where?"}),
        ):
            assert f"{mode} pot" not in text_of(await anna.call_tool(name, arguments)).replace("the key, in the", "")
        assert (await anna.call_tool("forget", {"id": kept})).is_error
        assert (await anna.call_tool("remember", {"text": "The key is gone.", "corrects": kept})).is_error
        with pytest.raises(MCPError):
            await anna.read_resource(f"memoranda://memory/{kept}")
        assert f"{mode} pot" in text_of(await ben.call_tool("recall", {"query": "where is the key?"}))

    drive(story, connected(port, "anna", mode=mode), connected(port, "ben", mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_who_may_only_read_is_offered_and_done_nothing_else(port, store, mode):
    async def story(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["recall", "search_documents", "read_document", "recall_facts"]
        for name, arguments in (
            ("remember", {"text": "Guests were here."}),
            ("forget", {"id": "00000000"}),
            ("update_profile", {"field": "name", "action": "set", "value": "Guest"}),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert "only read" in text_of(refused)
        assert not (await client.call_tool("recall", {"query": "what does Anna read by?"})).is_error

    drive(story, connected(port, "guest", mode=mode))
    with open_store(store) as memory:
        assert "Guests were here." not in [each.text for each in memory.list()]


@pytest.mark.parametrize("mode", MODES)
def test_a_scope_inside_ones_own_may_be_asked_for_and_no_other(port, mode):
    async def inside(client):
        kept = await client.call_tool("remember", {"text": f"The {mode} desk is at work."})
        assert not kept.is_error

    async def outside(client):
        refused = await client.call_tool("remember", {"text": "I was here."})
        assert refused.is_error

    drive(inside, connected(port, "anna", mode=mode, query="?scope=home/anna/work"))
    for scope in ("home", "home/ben", "home/annabel", "home/anna/../ben"):
        drive(outside, connected(port, "anna", mode=mode, query=f"?scope={scope}"))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer nobody"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
    ids=repr,
)
def test_strangers_and_foreign_pages_are_turned_away(port, headers, status):
    assert posted(port, LIST, **headers)[0] == status
    assert posted(port, LIST)[0] == 200


def test_every_request_stands_alone_and_nothing_is_sent_unasked(port):
    status, body = posted(port, LIST, **{"Mcp-Session-Id": "somebody-else"})
    assert status in (200, 404)
    assert status == 404 or json.loads(body)["result"]["tools"]
    for method in ("GET", "DELETE", "PUT"):
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
            connection.request(method, "/mcp", headers={"Authorization": "Bearer anna", "Accept": "text/event-stream"})
            assert connection.getresponse().status == 405


def test_bodies_that_are_no_message_or_too_large_are_refused(port):
    for body in (b"", b"{", b"[" * 5_000, b"\xff", json.dumps([LIST] * 1_000).encode(), b'"x"'):
        assert 400 <= posted(port, body)[0] < 500
    assert posted(port, b" " * (1_048_576 + 1))[0] == 413
    assert posted(port, LIST)[0] == 200


@pytest.mark.parametrize("mode", MODES)
def test_a_client_goes_on_after_the_server_was_started_again(tmp_path, mode):
    chosen = free_port()

    async def story(client):
        kept = await client.call_tool("remember", {"text": "The lamp is red."})
        nonlocal first
        first.__exit__(None, None, None)
        first = serving(tmp_path / "s.db", chosen)
        first.__enter__()
        found = await client.call_tool("recall", {"query": "which colour is the lamp?"})
        assert found.structured_content["memories"][0]["id"] == kept.structured_content["id"]

    first = serving(tmp_path / "s.db", chosen)
    first.__enter__()
    try:
        drive(story, connected(chosen, "anna", mode=mode))
    finally:
        first.__exit__(None, None, None)


def test_nothing_that_was_sent_is_logged(tmp_path):
    chosen, secret = free_port(), "the word is swordfish"
    with serving(tmp_path / "s.db", chosen) as process:
        posted(chosen, {**LIST, "method": "tools/call", "params": {"name": 7, "arguments": secret}})
        posted(chosen, {**LIST, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": secret}}})
        posted(chosen, b"{" + secret.encode())
        process.terminate()
        os.set_blocking(process.stderr.fileno(), True)
        assert secret not in process.stderr.read()
