"""Remembers until it is told to end; says each id when it is acknowledged.

argv: store, scope, name. Ends when its standard input does.
"""

import json
import sys
import threading

from support import open_store

path, scope, name = sys.argv[1:4]
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
with open_store(path, scope) as memory:
    number = 0
    while not ended.is_set():
        number += 1
        kept = memory.remember(f"{name} number{number} written meanwhile")
        print(json.dumps({"id": kept.id, "sequence": kept.receipt.sequence}), flush=True)
