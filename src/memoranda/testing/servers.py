"""`EmbeddingServer`: a local HTTP server that speaks the formats of OpenAI, Gemini and Voyage, and fails on demand.

Its vectors are made by hashing words: the same each time, near for texts that share words. Not a model.
"""

import hashlib
import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

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
class Request:
    """One request as it came in. Names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: Any


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


class EmbeddingServer:
    """Listens on 127.0.0.1 from `with` (or `start`) to its end (or `close`).

    `dimensions` is the length of its vectors when the request asks for none; by default that of the real model.
    With a `key`, requests without it are refused. Texts that contain a word of `refused` get a 400.
    """

    def __init__(self, *, dimensions: int | None = None, key: str | None = None) -> None:
        self.requests: list[Request] = []
        self.refused: set[str] = set()
        self._dimensions = dimensions
        self._key = key
        self._faults: deque[tuple[Fault, dict[str, str]]] = deque()
        self._closing = threading.Event()
        self._server = _Listener(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/openai/v1"

    @property
    def gemini_url(self) -> str:
        return f"{self.url}/gemini/v1beta"

    @property
    def voyage_url(self) -> str:
        return f"{self.url}/voyage/v1"

    def fail(self, fault: Fault, *, times: int = 1, headers: dict[str, str] | None = None) -> None:
        """Spoil the next answers, with these headers on top: `fail("rate_limited", headers={"Retry-After": "2"})`."""
        self._faults.extend([(fault, headers or {})] * times)

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening, and let go of requests that hang."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reply(self, request: Request) -> tuple[int, dict[str, str], bytes] | None:
        """Status, headers and body; None is no answer at all."""
        self.requests.append(request)
        fault, headers = self._faults.popleft() if self._faults else (None, {})
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


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    owner: EmbeddingServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.owner._reply(Request(self.path, headers, json.loads(content)))
        if reply is None:
            self.close_connection = True
            return
        status, extra, body = reply
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **extra}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server gives it
        """Tests are quiet."""


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
