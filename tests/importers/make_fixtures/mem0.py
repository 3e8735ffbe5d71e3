"""Makes fixtures/mem0 with the real mem0: memories added, changed and deleted, then dumped as its users dump them.

    python -m venv mem0 && mem0/bin/pip install mem0ai==2.2.1
    mem0/bin/python -P tests/importers/make_fixtures/mem0.py tests/importers/fixtures/mem0

The embeddings come from a small server in this process, so that no key and no network are needed.
"""

import json
import os
import shutil
import sys
import tempfile
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

os.environ["MEM0_TELEMETRY"] = "False"
DIMENSIONS = 8


class Embeddings(BaseHTTPRequestHandler):
    """As much of an OpenAI-compatible service as mem0 needs when it infers nothing."""

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = given["input"] if isinstance(given["input"], list) else [given["input"]]
        data = [{"object": "embedding", "index": at, "embedding": _vector(text)} for at, text in enumerate(texts)]
        body = json.dumps({"object": "list", "data": data, "model": given["model"], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def _vector(text):
    return [byte / 255 for byte in blake2b(text.encode(), digest_size=DIMENSIONS).digest()]


def main(target):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    Thread(target=server.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp())
    os.environ["MEM0_DIR"] = str(folder)
    from mem0 import Memory

    address = f"http://127.0.0.1:{server.server_port}/v1"
    service = {"api_key": "none", "openai_base_url": address}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS},
            },
            "embedder": {"provider": "openai", "config": {**service, "embedding_dims": DIMENSIONS}},
            "llm": {"provider": "openai", "config": service},
            "history_db_path": str(folder / "history.db"),
        }
    )
    add(memory)
    target.mkdir(parents=True, exist_ok=True)
    dumps = {
        "get_all_anna.json": memory.get_all(filters={"user_id": "anna"}, top_k=100, show_expired=True),
        "get_all_kitchen_agent.json": memory.get_all(filters={"agent_id": "kitchen"}, top_k=100),
    }
    for name, dump in dumps.items():
        (target / name).write_text(json.dumps(dump, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.copy(folder / "history.db", target / "history.sqlite")
    (target / "qdrant").mkdir(exist_ok=True)
    for stored in sorted((folder / "qdrant").rglob("storage.sqlite")):
        shutil.copy(stored, target / "qdrant" / "storage.sqlite")
        break


def add(memory):
    """What a household would keep, by two users and one agent."""

    def one(text, **said):
        return memory.add(text, infer=False, **said)["results"][0]["id"]

    one("Anna reads in the evening by the lamp on the desk.", user_id="anna", metadata={"category": "home"})
    one("Anna prefers short answers.", user_id="anna", metadata={"category": "preferences", "source": "chat"})
    moved = one("Anna lives in Poznań.", user_id="anna")
    memory.update(moved, text="Anna lives in Gdańsk.")
    gone = one("Anna is allergic to cats.", user_id="anna")
    memory.delete(gone)
    one("Anna's parking permit is valid.", user_id="anna", expiration_date="2027-01-31")
    one("Boris keeps bees.", user_id="boris", run_id="weekend")
    one("The oven runs ten degrees hot.", agent_id="kitchen")
    memory.add(
        [{"role": "user", "content": "We decided to repaint the hall.", "name": "Carla"}],
        infer=False,
        user_id="anna",
        run_id="renovation",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
