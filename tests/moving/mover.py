"""Imports a file and tells how far it is. argv: store, file, format, dedupe. It may be killed in the middle."""

import json
import sys

from support import open_store

path, file, form, dedupe = sys.argv[1:]
memory = open_store(path)
print(json.dumps({"ready": True}), flush=True)
done = memory.import_memories(
    file,
    format=form,
    dedupe=dedupe,
    trust="kept" if form == "own" else "",
    progress=lambda done, total: print(json.dumps({"done": done, "total": total}), flush=True),
)
memory.close()
print(json.dumps({"taken": done.taken, "resumed": done.resumed}), flush=True)
