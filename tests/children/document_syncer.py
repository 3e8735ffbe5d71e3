"""Opens a store, says so, waits for a word, then syncs or rebuilds its documents and tells how."""

import json
import sys

from support import open_store, register_test_embedders


def main():
    path, act = sys.argv[1:3]
    embedder = sys.argv[3] if len(sys.argv) > 3 else "none"
    register_test_embedders()
    with open_store(path, embedder=embedder) as memory:
        print(json.dumps({"ready": True}), flush=True)
        sys.stdin.readline()
        print(json.dumps(getattr(memory.documents, act)().as_json()), flush=True)


if __name__ == "__main__":
    main()
