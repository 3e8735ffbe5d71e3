"""The server for tests refuses what the real services refuse."""

import http.client
import json

import pytest

from memoranda.models.question import SCHEMA
from memoranda.testing.servers import ChatServer

PATH = "/openai/v1/chat/completions"
ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": '{"messages": [{"text": "hello"}]}'}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}},
}
JSON_OBJECT = {"response_format": {"type": "json_object"}}
LOOSE = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}


def post(server, body, path=PATH):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def strict(schema):
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": None},
        {"messages": None},
        {"messages": [{"role": "user", "content": None}]},
        {"response_format": {"type": "yaml"}},
        {"response_format": {"type": "json_schema"}},
        strict(LOOSE),
        strict(LOOSE | {"additionalProperties": False}),
        strict(
            {"type": "object", "properties": {"a": {"type": "array", "items": LOOSE}}, "required": ["a"]}
            | {"additionalProperties": False}
        ),
        JSON_OBJECT,
    ],
)
def test_a_request_that_the_real_one_refuses_is_refused(wrong):
    with ChatServer() as server:
        status, answer = post(server, ASKED | wrong)
    assert status == 400
    assert answer["error"]["message"]


def test_a_path_that_nobody_has_is_not_found():
    with ChatServer() as server:
        assert post(server, ASKED, "/v1/chat/completions")[0] == 404


def test_its_answers_are_made_of_what_was_sent():
    with ChatServer(lambda messages: [each["text"] for each in messages]) as server:
        status, answer = post(server, ASKED)
    assert status == 200
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"memories": ["hello"]}
