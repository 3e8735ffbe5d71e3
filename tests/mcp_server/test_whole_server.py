"""The real HTTP server: MCP behind its tokens, and the command that hands everything on to it."""

import json
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from memoranda import Settings
from memoranda.service.store import Store
from support import open_store

from .conftest import COMMAND, MODES, drive, environment, text_of
from .test_default_tools import NAMES
from .test_streamable import LIST, connected, free_port, posted, serving

WHOLE = Path(__file__).with_name("whole.py")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """(store, port, tokens by name) of a running server."""
    path = tmp_path_factory.mktemp("whole") / "store.db"
    roles = {"anna": ("home/anna", "writer"), "ben": ("home/ben", "writer"), "guest": ("home/anna", "reader")}
    store = Store.open(path, settings=Settings(embedder="none", follow=False))
    tokens = {
        name: store.tokens.create(name=name, scope=scope, role=role).secret for name, (scope, role) in roles.items()
    }
    store.close()
    port = free_port()
    with serving(path, port, script=WHOLE):
        yield path, port, tokens


@pytest.mark.parametrize("mode", MODES)
def test_tokens_say_which_memory_is_reached_and_what_may_be_done(server, mode):
    path, port, tokens = server
    text = f"Anna reads by light.{mode}."

    async def write(anna, ben):
        assert [tool.name for tool in (await anna.list_tools()).tools] == NAMES
        kept = (await anna.call_tool("remember", {"text": text})).structured_content["id"]
        assert kept in text_of(await anna.call_tool("recall", {"query": text}))
        assert f"light.{mode}" not in text_of(await ben.call_tool("recall", {"query": "what does Anna read by?"}))
        assert (await ben.call_tool("forget", {"id": kept})).is_error

    async def look(guest):
        assert "remember" not in [tool.name for tool in (await guest.list_tools()).tools]
        assert (await guest.call_tool("remember", {"text": "Guests were here."})).is_error
        assert text in text_of(await guest.call_tool("recall", {"query": text}))

    drive(write, connected(port, tokens["anna"], mode=mode), connected(port, tokens["ben"], mode=mode))
    drive(look, connected(port, tokens["guest"], mode=mode))
    with open_store(path) as memory:
        (kept,) = [each for each in memory.list() if each.text == text]
        assert (kept.trust, memory.history(kept)[0].event.actor) == ("untrusted", "anna")
        assert not [each for each in memory.list() if "Guests" in each.text]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer mem_nobody"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
    ],
    ids=repr,
)
def test_strangers_are_turned_away_before_anything_is_asked(server, headers, status):
    _, port, tokens = server
    good = {"Authorization": f"Bearer {tokens['anna']}"}
    assert posted(port, LIST, **{**good, **headers})[0] == status
    assert posted(port, LIST, **good)[0] == 200


@pytest.mark.parametrize("mode", MODES)
def test_the_command_hands_everything_on_to_a_server(server, model_cache, tmp_path, mode):
    path, port, tokens = server
    token = tmp_path / "token.txt"
    token.write_text(tokens["anna"] + "\n")
    arguments = ["mcp", "--url", f"http://127.0.0.1:{port}", "--token-file", str(token), "--source", "user"]
    text = f"Anna sits in the {mode} chair."

    async def story(client):
        kept = await client.call_tool("remember", {"text": text, "happened": "-7d"})
        assert not kept.is_error, text_of(kept)
        found = await client.call_tool("recall", {"query": f"where does Anna sit, in the {mode} chair?"})
        (memory,) = [each for each in found.structured_content["memories"] if each["text"] == text]
        assert (memory["age"], memory["trust"]) == ("7 days ago", "trusted")
        assert not (await client.call_tool("recall_facts", {"question": "Anna's chair"})).is_error
        assert not (await client.call_tool("search_documents", {"query": "chairs"})).is_error
        assert not (await client.call_tool("read_document", {"path": "chairs.md"})).is_error
        changed = await client.call_tool("update_profile", {"field": "name", "action": "set", "value": f"Anna {mode}"})
        assert not changed.is_error, text_of(changed)
        (profile,) = (await client.read_resource("memoranda://profile")).contents
        assert json.loads(profile.text)["profile"]["name"] == f"Anna {mode}"
        (one,) = (await client.read_resource(f"memoranda://memory/{memory['id']}")).contents
        assert json.loads(one.text)["memory"]["text"] == text
        asked = await client.get_prompt("recall_before_answering", {"question": f"where is the {mode} chair?"})
        assert text in asked.messages[0].content.text
        assert not (await client.call_tool("forget", {"id": memory["id"]})).is_error

    drive(
        story,
        Client(StdioServerParameters(command=COMMAND, args=arguments, env=environment(model_cache)), mode=mode),
    )
    with open_store(path) as memory:
        (gone,) = [each for each in memory.list(states=("forgotten",)) if each.text == text]
        assert gone.source == "user"


def test_a_server_that_is_not_there_is_told_in_results(model_cache):
    given = environment(model_cache, MEMORANDA_TOKEN="mem_any")
    arguments = ["mcp", "--url", f"http://127.0.0.1:{free_port()}"]

    async def story(client):
        assert (await client.list_tools()).tools
        result = await client.call_tool("recall", {"query": "the lamp"})
        assert result.is_error
        assert "tell the user" in text_of(result)
        assert "mem_any" not in text_of(result)

    drive(story, Client(StdioServerParameters(command=COMMAND, args=arguments, env=given)))
