"""Local HTTP servers that speak the formats of real services, and fail on demand.

`EmbeddingServer` speaks those of OpenAI, Gemini and Voyage. Its vectors are made by hashing words: the same each time,
near for texts that share words. `ChatServer` speaks OpenAI's chat completions. Neither is a model.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memoranda.testing.listening import Answer, LocalServer, Request

Fault = Literal[
    "rate_limited",
    "out_of_quota",
    "server_error",
    "bad_key",
    "too_long",
    "redirect",
    "hang",
    "invalid_json",
    "wrong_dimensions",
    "wrong_rows",
    "shuffled",
    "zero",
    "not_finite",
]
ChatFault = Literal[
    "rate_limited",
    "out_of_quota",
    "server_error",
    "bad_key",
    "too_long",
    "redirect",
    "hang",
    "invalid_json",
    "html",
    "huge",
    "content_filter",
    "refusal",
    "cut_off",
    "no_usage",
]

_REAL_LENGTHS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
    "gemini-embedding-2": 3072,
    "voyage-4-large": 1024,
}
_OTHER_LENGTH = 64
_WORD = re.compile(r"\w+")


def hashed_vector(text: str, dimensions: int) -> list[float]:
    """The sum of one random direction for each word. Never zero: a text without words counts as one."""
    words = _WORD.findall(text.lower()) or [text]
    total = np.sum([_direction(word, dimensions) for word in words], axis=0)
    return [round(value, 6) for value in total.tolist()]


@lru_cache(maxsize=4096)
def _direction(word: str, dimensions: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimensions)


@dataclass(frozen=True, slots=True)
class _Question:
    texts: list[str]
    model: str
    dimensions: int | None


@dataclass(frozen=True, slots=True)
class _Dialect:
    key_header: str
    read: Callable[[Any], _Question]
    write: Callable[[list[list[float]], str], dict[str, Any]]
    refuse: Callable[[int, str, str], dict[str, Any]]
    bad_key_status: int = 401


class EmbeddingServer(LocalServer[Fault]):
    """Turns texts into vectors, as the services do.

    `dimensions` is the length of its vectors when the request asks for none; by default that of the real model.
    With a `key`, requests without it are refused. Texts that contain a word of `refused` get a 400.
    """

    def __init__(self, *, dimensions: int | None = None, key: str | None = None) -> None:
        super().__init__(key=key)
        self.refused: set[str] = set()
        self._dimensions = dimensions

    @property
    def gemini_url(self) -> str:
        return f"{self.url}/gemini/v1beta"

    @property
    def voyage_url(self) -> str:
        return f"{self.url}/voyage/v1"

    def reply(self, request: Request) -> Answer | None:
        fault, headers = self._taken(request)
        dialect = _dialect_of(request.path)
        if dialect is None:
            return 404, headers, _json({"error": {"message": "no such path"}})
        if fault == "hang":
            self._closing.wait()
            return None
        if fault == "invalid_json":
            return 200, headers, b'{"data": [{"embedding": [0.1, 0.2'
        if fault == "redirect":
            return 307, {"Location": f"{self.url}/elsewhere", **headers}, b""
        status, body = self._answer(dialect, request, fault)
        return status, headers, _json(body)

    def _answer(self, dialect: _Dialect, request: Request, fault: Fault | None) -> tuple[int, dict[str, Any]]:
        sent = request.headers.get(dialect.key_header, "").removeprefix("Bearer ")
        if fault == "bad_key" or (self._key is not None and sent != self._key):
            # The real ones repeat the key too, or parts of it.
            body = dialect.refuse(dialect.bad_key_status, f"API key not valid: {sent}", "invalid_api_key")
            return dialect.bad_key_status, body
        if fault == "rate_limited":
            return 429, dialect.refuse(429, "Rate limit reached", "rate_limit_exceeded")
        if fault == "out_of_quota":
            return 429, dialect.refuse(429, "You exceeded your current quota", "insufficient_quota")
        if fault == "server_error":
            return 500, dialect.refuse(500, "The server had an error", "server_error")
        try:
            question = dialect.read(request.body)
        except (KeyError, TypeError, ValueError):
            return 400, dialect.refuse(400, "the request is not as agreed", "invalid_request")
        if fault == "too_long" or any(word in text for word in self.refused for text in question.texts):
            return 400, dialect.refuse(400, "maximum context length exceeded", "context_length_exceeded")
        return 200, dialect.write(self._vectors(question, fault), "backwards" if fault == "shuffled" else "")

    def _vectors(self, question: _Question, fault: Fault | None) -> list[list[float]]:
        usual = self._dimensions or _REAL_LENGTHS.get(question.model, _OTHER_LENGTH)
        length = question.dimensions or usual
        if fault == "wrong_dimensions":
            length //= 4
        vectors = [hashed_vector(text, length) for text in question.texts]
        if fault == "wrong_rows":
            vectors.pop()
        if fault in ("zero", "not_finite"):
            vectors[0] = [0.0 if fault == "zero" else float("nan")] * length
        return vectors


class ChatServer(LocalServer[ChatFault]):
    """Answers chat completions, as OpenAI does. By default it finds nothing worth keeping.

    `memories` makes an answer of the messages that were sent: a list of what the schema asks for. `say` puts words into
    its mouth, whatever was asked. Fields of `unknown` are refused with a 400: `temperature`, `json_schema`.
    """

    def __init__(
        self,
        memories: Callable[[list[dict[str, Any]]], list[Any]] = lambda _: [],
        *,
        key: str | None = None,
        unknown: Collection[str] = (),
    ) -> None:
        super().__init__(key=key)
        self.unknown = frozenset(unknown)
        self._memories = memories
        self._said: deque[str] = deque()

    def say(self, *contents: str) -> None:
        """The next answers, word for word."""
        self._said.extend(contents)

    def reply(self, request: Request) -> Answer | None:
        fault, headers = self._taken(request)
        if fault == "hang":
            self._closing.wait()
            return None
        if fault == "redirect":
            return 307, {"Location": f"{self.url}/elsewhere", **headers}, b""
        if fault == "html":
            return 200, {"Content-Type": "text/html", **headers}, b"<html><body>It works!</body></html>"
        if fault == "invalid_json":
            return 200, headers, b'{"choices": [{"message": {"content": "{'
        if fault == "huge":
            return 200, headers, b" " * 2_000_000
        status, body = self._answer(request, fault)
        return status, headers, _json(body)

    def _answer(self, request: Request, fault: ChatFault | None) -> tuple[int, dict[str, Any]]:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.path != "/openai/v1/chat/completions":
            return 404, _refuse_openai(404, "no such path", "not_found")
        if fault == "bad_key" or (self._key is not None and sent != self._key):
            return 401, _refuse_openai(401, f"Incorrect API key provided: {sent}", "invalid_api_key")
        if fault in ("rate_limited", "out_of_quota"):
            code = "insufficient_quota" if fault == "out_of_quota" else "rate_limit_exceeded"
            return 429, _refuse_openai(429, "Rate limit reached", code)
        if fault == "server_error":
            return 500, _refuse_openai(500, "The server had an error", "server_error")
        try:
            messages = _read_chat(request.body, self.unknown)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return 400, _refuse_openai(400, str(error), "invalid_request")
        if fault == "too_long":
            return 400, _refuse_openai(400, "maximum context length exceeded", "context_length_exceeded")
        return 200, self._completion(messages, fault)

    def _completion(self, messages: list[dict[str, Any]], fault: ChatFault | None) -> dict[str, Any]:
        content: str | None = self._said.popleft() if self._said else _written(self._memories, messages)
        ended = {"content_filter": "content_filter", "cut_off": "length"}.get(fault or "", "stop")
        if fault == "cut_off":
            content = (content or "")[:10]
        message = {"role": "assistant", "content": content, "refusal": None}
        if fault == "refusal":
            message |= {"content": None, "refusal": "I can't help with that."}
        usage = {} if fault == "no_usage" else {"usage": {"total_tokens": 321}}
        choice = {"index": 0, "message": message, "finish_reason": ended}
        return {"object": "chat.completion", "choices": [choice], **usage}


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def _checked(texts: list[Any]) -> list[str]:
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("texts are expected")
    return texts


def _read_openai(body: Any) -> _Question:
    if body.get("encoding_format") not in (None, "float"):
        raise ValueError("only floats are served")
    return _Question(_checked(body["input"]), body["model"], body.get("dimensions"))


def _read_voyage(body: Any) -> _Question:
    if body.get("input_type") not in (None, "query", "document"):
        raise ValueError("no such input_type")
    return _Question(_checked(body["input"]), body["model"], body.get("output_dimension"))


def _read_gemini(body: Any) -> _Question:
    requests = body["requests"]
    if len(requests) > 100:
        raise ValueError("at most 100 requests can be in one batch")
    if any(item.get("taskType") not in (None, "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT") for item in requests):
        raise ValueError("no such taskType")
    texts = _checked([item["content"]["parts"][0]["text"] for item in requests])
    return _Question(texts, requests[0]["model"].removeprefix("models/"), requests[0].get("outputDimensionality"))


def _read_chat(body: Any, unknown: Collection[str]) -> list[dict[str, Any]]:
    """The messages of a request, which the real ones would take, too."""
    wanted = body["response_format"]
    for field in ("temperature", "json_schema"):
        if field in unknown and (field in body or wanted["type"] == field):
            raise ValueError(f"'{field}' is not supported with this model")
    messages: list[dict[str, Any]] = body["messages"]
    if not isinstance(body["model"], str) or not all(isinstance(each["content"], str) for each in messages):
        raise ValueError("a model and messages are expected")
    if wanted["type"] == "json_object":
        if not any("json" in each["content"].lower() for each in messages):
            raise ValueError("'messages' must contain the word 'json' in some form")
    elif wanted["type"] != "json_schema" or wanted["json_schema"]["strict"] is not True:
        raise ValueError("no such response_format")
    else:
        _check_strict(wanted["json_schema"]["schema"])
    return messages


def _check_strict(schema: Any) -> None:
    """In a strict schema every object says that it is complete, at every depth."""
    if schema.get("type") == "object":
        if schema["additionalProperties"] is not False or set(schema["required"]) != set(schema["properties"]):
            raise ValueError("in strict mode every property is required, and there are no others")
        for each in schema["properties"].values():
            _check_strict(each)
    if schema.get("type") == "array":
        _check_strict(schema["items"])


def _written(memories: Callable[[list[dict[str, Any]]], list[Any]], messages: list[dict[str, Any]]) -> str:
    return json.dumps({"memories": memories(json.loads(messages[-1]["content"])["messages"])})


def _write_indexed(vectors: list[list[float]], order: str) -> dict[str, Any]:
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return {"object": "list", "data": data[::-1] if order == "backwards" else data, "usage": {"total_tokens": 1}}


def _write_gemini(vectors: list[list[float]], order: str) -> dict[str, Any]:
    return {"embeddings": [{"values": vector} for vector in vectors]}


def _refuse_openai(status: int, message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _refuse_voyage(status: int, message: str, code: str) -> dict[str, Any]:
    return {"detail": message}


def _refuse_gemini(status: int, message: str, code: str) -> dict[str, Any]:
    details: list[dict[str, Any]] = []
    if code == "invalid_api_key":
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"})
    if status == 429:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"})
    return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT", "details": details}}


_OPENAI = _Dialect("authorization", _read_openai, _write_indexed, _refuse_openai)
_VOYAGE = _Dialect("authorization", _read_voyage, _write_indexed, _refuse_voyage)
_GEMINI = _Dialect("x-goog-api-key", _read_gemini, _write_gemini, _refuse_gemini, bad_key_status=400)


def _dialect_of(path: str) -> _Dialect | None:
    if re.fullmatch(r"/gemini/v1beta/models/[^/]+:batchEmbedContents", path):
        return _GEMINI
    return {"/openai/v1/embeddings": _OPENAI, "/voyage/v1/embeddings": _VOYAGE}.get(path)
