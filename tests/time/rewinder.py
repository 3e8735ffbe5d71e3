"""Rolls a store back to a tag and says after each bite how far it is.

argv: store, tag. Reads a line before it begins.
"""

import json
import sys
import time

from support import open_store

path, tag = sys.argv[1:3]
with open_store(path) as memory:
    print(json.dumps({"ready": True}), flush=True)
    sys.stdin.readline()
    began = time.monotonic()

    def tell(done, total):
        print(json.dumps({"done": done, "total": total}), flush=True)

    receipt = memory.rollback(tag, progress=tell).receipt
    print(json.dumps({"receipt": receipt.as_json(), "seconds": time.monotonic() - began}), flush=True)
