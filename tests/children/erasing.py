"""One of several who erase at the same time. argv: store, ids. Tells the state of each."""

import json
import sys

from support import open_store

with open_store(sys.argv[1]) as memory:
    for each in sys.argv[2:]:
        print(json.dumps(memory.erase(each).receipt.state), flush=True)
