"""One of several writers that begin at the same moment. argv: store, name, how many. Tells when it did each."""

import json
import sys
import time

from support import open_store

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print(json.dumps({"ready": name}), flush=True)
sys.stdin.readline()
times = []
ids = []
memory = open_store(path)
for number in range(count):
    ids.append(memory.remember(f"writer {name} says {number}").id)
    times.append(time.monotonic())
memory.close()
print(json.dumps({"name": name, "ids": ids, "times": times}), flush=True)
