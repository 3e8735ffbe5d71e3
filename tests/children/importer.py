"""Imports a transcript and tells how far it is. argv: store, file. It may be killed in the middle."""

import json
import sys

from support import open_store

path, file = sys.argv[1], sys.argv[2]
memory = open_store(path)
print(json.dumps({"ready": True}), flush=True)
told = 0


def tell(done, total):
    global told
    if done >= told + total // 50:
        told = done
        print(json.dumps({"done": done, "total": total}), flush=True)


found = memory.conversations.import_transcript(file, progress=tell)
memory.close()
print(json.dumps({"added": found.added, "known": found.known, "bad": found.bad_total}), flush=True)
