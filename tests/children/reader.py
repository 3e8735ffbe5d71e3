"""Reads without end until it is told to stop. argv: store. Tells the counts that it saw; any error ends it."""

import json
import sys
import threading

from support import open_store

path = sys.argv[1]
print(json.dumps({"ready": True}), flush=True)
sys.stdin.readline()
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), over.set()), daemon=True).start()
counts = []
recalls = 0
memory = open_store(path)
while not over.is_set():
    counts.append(memory.stats().total)
    if len(counts) % 5 == 0:
        memory.recall("what does the writer say")
        recalls += 1
counts.append(memory.stats().total)
memory.close()
print(json.dumps({"counts": counts, "recalls": recalls}), flush=True)
