"""`AgentServer`: a model service for tests of whole agents that does what the words of a prompt tell it. Not a model.

It speaks OpenAI's chat completions and embeddings (`/openai/v1`) and Anthropic's messages (`/anthropic`), streamed and
not. The user's last words decide: `CALL name {"json": 1}` calls that tool, if it is offered, and the tool's result is
answered as `TOOLRESULT: …`; anything else is answered as `ECHO: …`, with `[MEM]` when memories are in the prompt.

    python -m memoranda.testing.agents --port 8940 --log requests.jsonl
"""

import argparse
import base64
import json
import re
import secrets
import struct
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memoranda.testing.listening import Answer, LocalServer, Request
from memoranda.testing.servers import hashed_vector

AgentFault = Literal["rate_limited", "server_error", "hang"]
_CALL = re.compile(r"\bCALL (\S+) (?=\{)")
_EVENTS = {"Content-Type": "text/event-stream"}
_DIMENSIONS = 256
_LONGEST_ECHO = 400


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a prompt asks of this server, whatever its dialect."""

    said: str
    result: str | None
    offered: frozenset[str]
    remembers: bool

    def answer(self) -> "_Call | str":
        if self.result is not None:
            return f"TOOLRESULT: {self.result}"
        call = _Call.found_in(self.said)
        if call is not None and call.name in self.offered:
            return call
        memories = " [MEM]" if self.remembers else ""
        missing = f" [NOTOOL {call.name}]" if call is not None else ""
        return f"ECHO: {self.said[:_LONGEST_ECHO]}{memories}{missing}"


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: dict[str, Any]

    @classmethod
    def found_in(cls, said: str) -> "_Call | None":
        for match in _CALL.finditer(said):
            try:
                arguments, _ = json.JSONDecoder().raw_decode(said, match.end())
            except ValueError:
                continue
            return cls(match[1], arguments)
        return None


class AgentServer(LocalServer[AgentFault]):
    """Every request is kept in `requests` (and as a line of `log`), so that a test can look at the prompts.

    `marker` is what memories in a prompt are known by: by default the tag of a pack.
    """

    def __init__(
        self, *, key: str | None = None, marker: str = "<relevant-memories", port: int = 0, log: Path | None = None
    ) -> None:
        super().__init__(key=key, port=port)
        self.marker = marker
        self._log = log
        self._writing = threading.Lock()

    @property
    def anthropic_url(self) -> str:
        return f"{self.url}/anthropic"

    @property
    def prompts(self) -> list[str]:
        """What was asked of the model, each as one text, oldest first."""
        return [
            json.dumps(request.body, ensure_ascii=False)
            for request in self.requests
            if request.path.split("?")[0].endswith(("/chat/completions", "/v1/messages"))
        ]

    def look(self, request: Request) -> Answer:
        models = [{"id": "fake-1", "object": "model", "created": 0, "owned_by": "tests"}]
        return 200, {}, _json({"object": "list", "data": models})

    def reply(self, request: Request) -> Answer | None:
        fault, headers = self._taken(request)
        self._note(request)
        if fault == "hang":
            self._closing.wait()
            return None
        sent = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is not None and sent != self._key:
            return 401, headers, _json({"error": {"message": "no such key", "type": "authentication_error"}})
        if fault is not None:
            status = 429 if fault == "rate_limited" else 500
            return status, headers, _json({"error": {"message": fault, "type": fault}})
        status, more, body = self._answered(request.path.split("?")[0], request.body)
        return status, {**more, **headers}, body

    def _answered(self, path: str, body: dict[str, Any]) -> Answer:
        if path.endswith("/chat/completions"):
            return _completion(body, self._chat_turn(body))
        if path.endswith("/embeddings"):
            return 200, {}, _embeddings(body)
        if path.endswith("/messages/count_tokens"):
            return 200, {}, _json({"input_tokens": 10})
        if path.endswith("/v1/messages"):
            return _message(body, self._messages_turn(body))
        return 404, {}, _json({"error": {"message": f"no such path: {path}", "type": "not_found_error"}})

    def _chat_turn(self, body: dict[str, Any]) -> _Turn:
        messages: list[dict[str, Any]] = body["messages"]
        last = messages[-1]
        return _Turn(
            said=_last_words(messages),
            result=_text(last.get("content")) if last["role"] == "tool" else None,
            offered=frozenset(tool["function"]["name"] for tool in body.get("tools") or [] if "function" in tool),
            remembers=any(self.marker in _text(message.get("content")) for message in messages),
        )

    def _messages_turn(self, body: dict[str, Any]) -> _Turn:
        messages: list[dict[str, Any]] = body["messages"]
        # Hosts add messages of the system behind what was said last.
        content = next((each["content"] for each in reversed(messages) if each["role"] != "system"), "")
        results = [part for part in content if part.get("type") == "tool_result"] if isinstance(content, list) else []
        everything = [body.get("system"), *(message["content"] for message in messages)]
        return _Turn(
            said=_last_words(messages),
            result="\n".join(_text(part.get("content")) for part in results) if results else None,
            offered=frozenset(tool["name"] for tool in body.get("tools") or []),
            remembers=any(self.marker in _text(each) for each in everything),
        )

    def _note(self, request: Request) -> None:
        if self._log is None:
            return
        line = json.dumps({"path": request.path, "body": request.body}, ensure_ascii=False)
        with self._writing, self._log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _last_words(messages: list[dict[str, Any]]) -> str:
    """All that the user said since the model last spoke: hosts add messages of their own in the user's name."""
    said: list[str] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        if message["role"] == "user":
            said.append(_text(message.get("content")))
    return "\n".join(reversed(said))


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))


def _completion(body: dict[str, Any], turn: _Turn) -> Answer:
    answer = turn.answer()
    head = {"id": f"chatcmpl-{secrets.token_hex(16)}", "created": 0, "model": body.get("model", "fake-1")}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if isinstance(answer, _Call):
        function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
        message["tool_calls"] = [{"id": f"call_{secrets.token_hex(4)}", "type": "function", "function": function}]
    ended = "stop" if isinstance(answer, str) else "tool_calls"
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": ended}
        return 200, {}, _json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    if isinstance(answer, str):
        half = len(answer) // 2
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "content": ""},
            {"content": answer[:half]},
            {"content": answer[half:]},
        ]
    else:
        calls = [{"index": at, **call} for at, call in enumerate(message["tool_calls"])]
        deltas = [{"role": "assistant", "content": None, "tool_calls": calls}]
    head["object"] = "chat.completion.chunk"
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": ended}]})
    chunks.append({**head, "choices": [], "usage": usage})
    events = b"".join(b"data: " + _json(chunk) + b"\n\n" for chunk in chunks)
    return 200, _EVENTS, events + b"data: [DONE]\n\n"


def _message(body: dict[str, Any], turn: _Turn) -> Answer:
    answer = turn.answer()
    usage = {"input_tokens": 10, "output_tokens": 5}
    head = {"id": f"msg_{secrets.token_hex(6)}", "type": "message", "role": "assistant", "model": body["model"]}
    if isinstance(answer, str):
        block: dict[str, Any] = {"type": "text", "text": answer}
        start: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer}
    else:
        named = {"type": "tool_use", "id": f"toolu_{secrets.token_hex(6)}", "name": answer.name}
        block = {**named, "input": answer.arguments}
        start = {**named, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
    stop = {"stop_reason": "end_turn" if isinstance(answer, str) else "tool_use", "stop_sequence": None}
    if not body.get("stream"):
        return 200, {}, _json({**head, "content": [block], **stop, "usage": usage})
    begun = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": usage},
        {"type": "message_stop"},
    ]
    lines = (f"event: {event['type']}\n".encode() + b"data: " + _json(event) + b"\n\n" for event in events)
    return 200, _EVENTS, b"".join(lines)


def _embeddings(body: dict[str, Any]) -> bytes:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    length = body.get("dimensions") or _DIMENSIONS
    data: list[dict[str, Any]] = []
    for at, text in enumerate(texts):
        vector = hashed_vector(text, length)
        packed = base64.b64encode(struct.pack(f"<{length}f", *vector)).decode()
        embedding = packed if body.get("encoding_format") == "base64" else vector
        data.append({"object": "embedding", "index": at, "embedding": embedding})
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return _json({"object": "list", "data": data, "model": body.get("model"), "usage": usage})


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def main() -> None:
    """Listen until interrupted; the address is the first line that is printed."""
    parser = argparse.ArgumentParser(description="A model service for tests that does what prompts tell it.")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--log", type=Path, help="append every request to this file")
    parser.add_argument("--marker", default="<relevant-memories", help="what memories in a prompt are known by")
    options = parser.parse_args()
    with AgentServer(port=options.port, log=options.log, marker=options.marker) as server:
        print(server.url, flush=True)  # noqa: T201 - who started it reads this line
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
