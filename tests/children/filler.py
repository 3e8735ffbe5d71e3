"""Writes until there is no space, tells what happened, goes on when it is told that there is space again.

argv: store, limit of a file in bytes (0: none, the disk is small).
"""

import json
import resource
import sys

import memoranda
from support import open_store, register_test_embedders

path, limit = sys.argv[1], int(sys.argv[2])
register_test_embedders()


def limited(to):
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (to, resource.RLIM_INFINITY))


def report(**said):
    print(json.dumps(said), flush=True)


def reads():
    """A list and a recall while there is no space, of what was acknowledged before."""
    last = acknowledged[-1]
    listed = len(memory.list(limit=1000))
    newest = memory.recall(f"bulky memory number{len(acknowledged)}x", limit=3)
    first = memory.recall("bulky memory number1x", limit=3)
    return {
        "listed": listed,
        "got": memory.get(last).id == last,
        "newest": last in [hit.id for hit in newest],
        "first": acknowledged[0] in [hit.id for hit in first],
        "degraded": list(newest.receipt.degraded),
    }


memory = open_store(path, embedder="hashed:words")
acknowledged = [memory.remember(f"bulky memory number{number}x " + "filling " * 200).id for number in range(1, 11)]
memory.recall("bulky")
limited(limit)
while True:
    text = f"bulky memory number{len(acknowledged) + 1}x " + f"filling{len(acknowledged)} " * 400
    try:
        acknowledged.append(memory.remember(text).id)
    except memoranda.MemorandaError as error:
        report(error=type(error).__name__, hint=error.hint, message=str(error), acknowledged=acknowledged)
        break
report(**reads())
try:
    memory.remember("still no room " + "for this " * 800)
    report(error="none")
except memoranda.MemorandaError as error:
    report(error=type(error).__name__)
sys.stdin.readline()
limited(resource.RLIM_INFINITY)
kept = [memory.remember(f"after space was freed, number{number}y").id for number in range(20)]
found = memory.recall("space was freed number7y", limit=5)
verified = memory.admin.verify()
report(kept=kept, found=kept[7] in [hit.id for hit in found], verified=verified.ok)
memory.close()
