"""OpenAI's Responses, which Codex speaks, on the model service of the tests."""

import json
import secrets

from memoranda.testing.agents import AgentServer


class ResponsesServer(AgentServer):
    """Also answers `/responses`, streamed: the user's last words as `ECHO: …`, with `[MEM]` when memories are there."""

    def _answered(self, path, body):
        if not path.endswith("/responses"):
            return super()._answered(path, body)
        said = [_words(item) for item in body["input"] if item.get("role") == "user"]
        memories = " [MEM]" if self.marker in json.dumps(body["input"]) + body.get("instructions", "") else ""
        text = f"ECHO: {(said or [''])[-1][:200]}{memories}"
        return 200, {"Content-Type": "text/event-stream"}, _events(text)

    @property
    def asked(self):
        """What was asked of the model, each as one text, oldest first."""
        return [json.dumps(each.body, ensure_ascii=False) for each in self.requests if each.path.endswith("/responses")]


def _words(item):
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def _events(text):
    response = {"id": f"resp_{secrets.token_hex(6)}", "object": "response", "status": "in_progress", "output": []}
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": f"msg_{secrets.token_hex(6)}", "role": "assistant", "content": [part]}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    events = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in events)
