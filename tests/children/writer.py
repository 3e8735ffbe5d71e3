"""Remembers until it is killed; says each id when it is acknowledged. Now and then forgets, erases and rebuilds.

argv: store, name of this run, what else to do (comma-separated: recall, rebuild, erase), how many (0: no end).
"""

import json
import sys
import time

from support import open_store, register_test_embedders

path, run, extras, count = sys.argv[1], sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])
register_test_embedders()
memory = open_store(path, embedder="hashed:words", follow=True)
print(json.dumps({"ready": True}), flush=True)
number = 0
while not count or number < count:
    number += 1
    kept = memory.remember(f"acknowledged run{run} number{number} entirely", about=f"run{run}", tags=["durable"])
    print(json.dumps({"id": kept.id, "text": kept.memory.text, "at": time.monotonic()}), flush=True)
    if "recall" in extras and number % 10 == 0:
        memory.recall(f"number{number}")
    if "rebuild" in extras and number % 5 == 0:
        print(json.dumps({"rebuilding": number}), flush=True)
        memory.admin.rebuild()
    if "erase" in extras and number % 3 == 0:
        print(json.dumps({"erasing": kept.id, "text": kept.memory.text}), flush=True)
        memory.erase(kept)
        print(json.dumps({"erased": kept.id, "at": time.monotonic()}), flush=True)
memory.close()
print(json.dumps({"done": number}), flush=True)
