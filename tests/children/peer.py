"""Does as it is told, line by line, on a store that it keeps open. argv: store, embedder, follow (yes or no).

remember TEXT | recall QUERY | pin | unpin | hold | release
"""

import json
import sys
from pathlib import Path

import apsw

from support import open_store, register_test_embedders

path, embedder, follow = sys.argv[1], sys.argv[2], sys.argv[3] == "yes"
register_test_embedders()
memory = open_store(path, embedder=embedder, follow=follow)
held = {}
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    word, _, rest = line.rstrip("\n").partition(" ")
    said = {}
    if word == "remember":
        said["id"] = memory.remember(rest).id
    elif word == "recall":
        found = memory.recall(rest)
        said = {
            "ids": [hit.id for hit in found],
            "semantic": [hit.receipt.semantic_rank for hit in found],
            "degraded": list(found.receipt.degraded),
        }
    elif word == "pin":  # a reader that keeps its view, and with it the write-ahead log
        held["pin"] = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        held["pin"].execute("begin")
        said["seen"] = held["pin"].execute("select count(*) from memory").fetchone()[0]
    elif word == "hold":  # a follower in the middle of a long transaction on the index
        current = Path(path + "-index") / "CURRENT"
        held["hold"] = apsw.Connection(str(current.parent / current.read_text().strip()))
        held["hold"].execute("begin immediate")
    elif word in ("unpin", "release"):
        connection = held.pop("pin" if word == "unpin" else "hold")
        connection.execute("rollback")
        connection.close()
    print(json.dumps(said), flush=True)
memory.close()
