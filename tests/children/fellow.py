"""Does as it is told, line by line, with the conversations of a store that it keeps open.

argv: store, settings as JSON.

append NAME MARK COUNT | compact NAME | search QUERY | maintain
"""

import json
import sys

from memoranda import Conflict, NotFound
from support import open_store

path, settings = sys.argv[1], json.loads(sys.argv[2])
memory = open_store(path, **settings)
conversations = memory.conversations
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    told = {}
    if word == "append":
        name, mark, count = rest[0], rest[1], int(rest[2])
        messages = [
            {"role": ("user", "assistant")[n % 2], "id": f"{mark}-{n}", "content": f"The {mark} number {n} is {n * 7}."}
            for n in range(count)
        ]
        told = conversations.append(messages, conversation=name, compact=False).receipt.as_json()
    elif word == "compact":
        try:
            told = conversations.compact(rest[0]).receipt.as_json()
        except NotFound as error:
            told = {"done": False, "note": type(error).__name__}
    elif word == "search":
        told = {"passages": len(conversations.search(" ".join(rest)))}
    elif word == "maintain":
        try:
            told = memory.admin.maintain().as_json()
        except Conflict:  # somebody else is at it
            told = {"compacted": []}
    print(json.dumps(told), flush=True)
memory.close()
