"""The server for tests refuses what the real services refuse."""

import http.client
import json

import pytest

from memoranda.testing.servers import EmbeddingServer, hashed_vector

OPENAI = "/openai/v1/embeddings"
VOYAGE = "/voyage/v1/embeddings"
GEMINI = "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"


def post(server, path, body):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def gemini_request(**extra):
    return {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "one"}]}, **extra}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (OPENAI, {"model": "m"}),
        (OPENAI, {"model": "m", "input": []}),
        (OPENAI, {"model": "m", "input": ["one", ""]}),
        (OPENAI, {"model": "m", "input": ["one"], "encoding_format": "base64"}),
        (VOYAGE, {"model": "m", "input": ["one"], "input_type": "passage"}),
        (GEMINI, {"requests": [gemini_request(taskType="SEARCH")]}),
        (GEMINI, {"requests": [gemini_request()] * 101}),
    ],
)
def test_a_request_that_the_real_one_refuses_is_refused(path, body):
    with EmbeddingServer() as server:
        status, answer = post(server, path, body)
    assert status == 400
    assert "error" in answer or "detail" in answer


def test_a_path_that_nobody_has_is_not_found():
    with EmbeddingServer() as server:
        assert post(server, "/v1/embeddings", {})[0] == 404


def test_vectors_have_the_length_of_the_real_model():
    with EmbeddingServer() as server:
        _, answer = post(server, OPENAI, {"model": "text-embedding-3-small", "input": ["one"]})
        assert len(answer["data"][0]["embedding"]) == 1536
        assert len(post(server, GEMINI, {"requests": [gemini_request()]})[1]["embeddings"][0]["values"]) == 3072


def test_texts_that_share_words_are_nearer_than_others():
    def likeness(one, other):
        pair = [hashed_vector(text, 256) for text in (one, other)]
        return sum(a * b for a, b in zip(*pair, strict=True))

    assert likeness("the reading lamp", "a reading lamp") > likeness("the reading lamp", "boiler manual") + 100
    assert any(hashed_vector("...", 8))
