"""The model service that tests of whole agents talk to does as it is told, in each of its dialects."""

import json
import urllib.error
import urllib.request

import pytest

from memoranda.testing.agents import AgentServer

TOOL = {"type": "function", "function": {"name": "remember", "parameters": {"type": "object"}}}
CALL = 'Please CALL remember {"text": "tea {green}", "tags": ["a"]} now'


@pytest.fixture
def server():
    with AgentServer() as running:
        yield running


def asked(url, body, **headers):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def chat(server, *messages, **more):
    body = {"model": "fake-1", "messages": list(messages), **more}
    return json.loads(asked(f"{server.openai_url}/chat/completions", body))["choices"][0]


def user(text):
    return {"role": "user", "content": text}


def test_plain_words_are_echoed_and_memories_are_noticed(server):
    assert chat(server, user("hello"))["message"]["content"] == "ECHO: hello"
    system = {"role": "system", "content": '<relevant-memories nonce="x">'}
    assert chat(server, system, user("hello"))["message"]["content"] == "ECHO: hello [MEM]"
    assert len(server.prompts) == 2


def test_a_tool_is_called_with_nested_arguments_and_its_result_is_told(server):
    choice = chat(server, user(CALL), tools=[TOOL])
    [call] = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(call["function"]["arguments"]) == {"text": "tea {green}", "tags": ["a"]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "kept"}
    assert chat(server, user(CALL), choice["message"], result)["message"]["content"] == "TOOLRESULT: kept"


def test_a_tool_that_is_not_offered_is_named_not_called(server):
    assert "[NOTOOL remember]" in chat(server, user(CALL))["message"]["content"]


def test_a_streamed_completion_adds_up_to_the_same_answer(server):
    url = f"{server.openai_url}/chat/completions"
    lines = asked(url, {"model": "fake-1", "messages": [user("hello")], "stream": True}).split("\n\n")
    assert lines[-2] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "ECHO: hello"


def test_messages_call_a_tool_and_tell_its_result_streamed_or_not(server):
    url = f"{server.anthropic_url}/v1/messages"
    body = {"model": "fake", "messages": [user(CALL)], "tools": [{"name": "remember"}]}
    message = json.loads(asked(url, body))
    assert message["stop_reason"] == "tool_use"
    assert message["content"][0]["input"]["tags"] == ["a"]
    assert '"partial_json"' in asked(url, {**body, "stream": True})
    result = {"type": "tool_result", "tool_use_id": message["content"][0]["id"], "content": "kept"}
    body["messages"] += [{"role": "assistant", "content": message["content"]}, {"role": "user", "content": [result]}]
    assert json.loads(asked(url, body))["content"][0]["text"] == "TOOLRESULT: kept"


def test_a_wrong_key_and_an_ordered_fault_are_refused():
    with AgentServer(key="right") as server:
        url = f"{server.openai_url}/chat/completions"
        body = {"model": "fake-1", "messages": [user("hello")]}
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            asked(url, body, Authorization="Bearer wrong")
        refused.value.close()
        server.fail("server_error")
        with pytest.raises(urllib.error.HTTPError, match="500") as refused:
            asked(url, body, Authorization="Bearer right")
        refused.value.close()
        assert "ECHO" in asked(url, body, Authorization="Bearer right")
