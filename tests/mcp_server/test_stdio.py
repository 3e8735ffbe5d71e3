"""The real command on standard input, with the official client in both of its modes."""

import json
import socket
import subprocess
import threading
import time

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from support import open_store

from .conftest import COMMAND, MODES, drive, environment, text_of
from .test_default_tools import NAMES


@pytest.mark.parametrize("mode", MODES)
def test_a_client_finds_tools_resources_and_prompts_and_uses_them(started, path, mode):
    async def story(client):
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == NAMES
        assert all(tool.annotations.open_world_hint is False for tool in listed)
        assert all(tool.output_schema for tool in listed if tool.name != "update_profile")
        assert "call `recall`" in client.instructions
        kept = await client.call_tool("remember", {"text": "Anna reads by light.desk."})
        assert not kept.is_error
        assert kept.structured_content["message"] == text_of(kept)  # some clients show a model this alone
        found = await client.call_tool("recall", {"query": "what does Anna read by?"})
        assert found.structured_content == json.loads(text_of(found))
        (memory,) = found.structured_content["memories"]
        assert (memory["id"], memory["age"]) == (kept.structured_content["id"], "just now")
        wrong = await client.call_tool("recall", {"question": "?"})
        assert wrong.is_error
        assert "It has: query" in text_of(wrong)
        assert (await client.call_tool("erase", {"id": memory["id"]})).is_error
        (profile,) = (await client.list_resources()).resources
        templates = {each.uri_template for each in (await client.list_resource_templates()).resource_templates}
        assert templates == {"memoranda://profile/{speaker}", "memoranda://memory/{id}"}
        await client.call_tool("update_profile", {"field": "name", "action": "set", "value": "Anna"})
        (shown,) = (await client.read_resource(profile.uri)).contents
        assert json.loads(shown.text)["profile"]["name"] == ""  # what a model says is not in a profile
        (one,) = (await client.read_resource(f"memoranda://memory/{memory['id']}")).contents
        assert json.loads(one.text)["memory"]["text"] == "Anna reads by light.desk."
        prompts = {each.name: each for each in (await client.list_prompts()).prompts}
        assert set(prompts) == {"recall_before_answering", "remember_this"}
        asked = await client.get_prompt("recall_before_answering", {"question": "what does Anna read by?"})
        assert "light.desk" in asked.messages[0].content.text
        assert "untrusted" in asked.messages[0].content.text
        told = await client.get_prompt("remember_this", {"text": "The lamp is red."})
        assert "`remember`" in told.messages[0].content.text

    drive(story, started(mode=mode))
    with open_store(path) as memory:
        (kept,) = memory.list(kind="entity")
        assert (kept.source, kept.trust) == ("assistant", "untrusted")


def test_the_person_may_vouch_for_what_is_written(started, path):
    async def story(client):
        await client.call_tool("remember", {"text": "Anna reads by light.desk."})
        await client.call_tool(
            "update_profile", {"field": "name", "action": "set", "value": "Anna", "scope": "speaker"}
        )
        (shown,) = (await client.read_resource("memoranda://profile/anna")).contents
        assert json.loads(shown.text)["profile"]["name"] == "Anna"

    drive(story, started("--source", "user", "--speaker", "anna"))
    with open_store(path) as memory:
        assert "light.desk" in memory.pack("what does Anna read by?").text


@pytest.mark.parametrize(
    ("toolset", "keep", "ask"),
    [
        ("openclaw", ("memory_store", "text"), ("memory_recall", "query")),
        ("langbot", ("remember", "content"), ("recall_memory", "query")),
    ],
)
def test_hosts_find_the_names_that_they_know(started, toolset, keep, ask):
    async def story(client):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {keep[0], ask[0]} <= names
        assert "recall" not in names
        assert not (await client.call_tool(keep[0], {keep[1]: "The lamp is red."})).is_error
        found = await client.call_tool(ask[0], {ask[1]: "which colour is the lamp?"})
        assert "The lamp is red." in text_of(found)
        assert "receipt" not in found.structured_content
        told = await client.get_prompt("remember_this", {"text": "x y"})
        assert f"`{keep[0]}`" in told.messages[0].content.text

    drive(story, started("--toolset", toolset))


@pytest.mark.parametrize("mode", MODES)
def test_addresses_that_lead_nowhere_are_refused_in_the_same_words(started, mode, path):
    with open_store(path, "home/ben") as ben, open_store(path) as anna:
        foreign = ben.remember("Ben's lamp is green.")
        gone = anna.remember("The old lamp.")
        anna.forget(gone)

    async def story(client):
        messages = set()
        for uri in (
            "memoranda://memory/../../etc/passwd",
            "memoranda://memory/",
            "memoranda://memory/%2e%2e%2fx",
            "memoranda://memory/%ff",
            "memoranda://other",
            "memory://team-b/1",
            "file:///etc/passwd",
            f"memoranda://memory/{gone.id}",
        ):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == types.INVALID_PARAMS
            messages.add(refused.value.error.message)
        assert len(messages) == 1
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"memoranda://memory/{foreign.id}")
        with pytest.raises(MCPError) as unknown:
            await client.read_resource("memoranda://memory/" + "0" * len(foreign.id))
        assert refused.value.error.message.replace(foreign.id, "X") == unknown.value.error.message.replace(
            "0" * len(foreign.id), "X"
        )
        for name, arguments in (("nothing", {}), ("remember_this", {}), ("recall_before_answering", {"question": " "})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    drive(story, started(mode=mode))


@pytest.fixture
def silent_service():
    """An embedding service that takes every request and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held, stop = [], threading.Event()

        def accept():
            while not stop.is_set():
                try:
                    held.append(listening.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        stop.set()
        listening.shutdown(socket.SHUT_RDWR)
        for each in held:
            each.close()
    thread.join(timeout=5)


def hanging(service, seconds):
    """Settings with a service that takes so long to fail."""
    return {
        "MEMORANDA_EMBEDDER_URL": service,
        "MEMORANDA_EMBEDDER_TIMEOUT": str(seconds),
        "MEMORANDA_QUERY_TIMEOUT": str(seconds),
        "OPENAI_API_KEY": "none",
    }


@pytest.mark.parametrize("mode", MODES)
def test_an_embedder_that_hangs_holds_up_neither_the_greeting_nor_the_list_nor_a_write(started, silent_service, mode):
    async def story(client):
        assert (await client.list_tools()).tools
        assert not (await client.call_tool("remember", {"text": "The lamp is red."})).is_error

    began = time.monotonic()
    drive(story, started(mode=mode, embedder="openai:text-embedding-3-small", **hanging(silent_service, 1_000)))
    assert time.monotonic() - began < 50


def test_recall_goes_on_by_words_when_an_embedder_hangs_and_says_so(started, silent_service):
    async def story(client):
        await client.call_tool("remember", {"text": "The lamp is red."})
        found = await client.call_tool("recall", {"query": "which colour is the lamp?"})
        assert found.structured_content["memories"][0]["text"] == "The lamp is red."
        assert found.structured_content["degraded"]

    drive(story, started(embedder="openai:text-embedding-3-small", **hanging(silent_service, 1)))


def test_a_store_that_cannot_be_opened_is_told_in_results_and_the_server_stays(started, path):
    path.write_bytes(b"this is not a ledger" * 500)

    async def story(client):
        assert (await client.list_tools()).tools
        for _ in range(2):
            result = await client.call_tool("recall", {"query": "the lamp"})
            assert result.is_error
            assert "tell the user" in text_of(result)
        with pytest.raises(MCPError):
            await client.read_resource("memoranda://profile")

    drive(story, started())


def talk(model_cache, path, lines, *options):
    """What the command says to raw lines: (exit code, answers, standard error)."""
    given = [COMMAND, "mcp", "--store", str(path), "--scope", "home/anna", "--embedder", "none", *options]
    with subprocess.Popen(
        given,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(model_cache),
    ) as process:
        out, err = process.communicate(b"".join(lines), timeout=50)
    return process.returncode, out.decode(), err.decode()


def test_a_line_without_end_closes_the_connection_with_an_error(model_cache, path):
    code, out, err = talk(model_cache, path, [b"A" * (5 << 20)])
    assert (code, out) == (2, "")
    assert "bytes" in err


def test_what_is_no_message_is_survived_and_nothing_of_it_is_logged(model_cache, path):
    secret = b"the word is swordfish"
    who = {"name": secret.decode(), "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who}
    greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    broken = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7, "arguments": secret.decode()}}
    lines = [b"{" + secret, json.dumps(greeting).encode(), json.dumps(broken).encode(), b"[" * 1000, b"\xff\xfe"]
    code, out, err = talk(model_cache, path, [line + b"\n" for line in lines])
    assert code == 0, err
    answers = [json.loads(line) for line in out.splitlines()]
    assert any(answer.get("id") == 1 and "result" in answer for answer in answers)
    assert secret.decode() not in err


def test_a_mistake_in_the_options_is_told_before_anything_is_served(run):
    assert run("mcp", "--scope", "a//b")[0] == 2
    assert run("mcp", "--store", "", "--scope", "me")[0] == 2
    assert run("mcp", "--toolset", "none", "--scope", "me")[0] == 2
    assert run("mcp", "--url", "http://127.0.0.1:1")[0] == 2
    assert run("mcp", "--url", "http://127.0.0.1:1", "--token-file", "none.txt")[0] == 3
