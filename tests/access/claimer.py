"""Another server process that claims keys as it is told, line by line. argv: store, boot.

begin PRINCIPAL KEY | finish PRINCIPAL KEY BODY
"""

import json
import sys
from pathlib import Path

from memoranda.domain.clock import SystemClock
from memoranda.ledger.answers import Answers
from memoranda.ledger.ledger import Ledger

path, boot = Path(sys.argv[1]), sys.argv[2]
ledger = Ledger(path, clock=SystemClock())
answers = Answers(ledger.database, SystemClock(), key=ledger.key_for("answers"))
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    word, principal, key, *body = line.split()
    said = ""
    if word == "begin":
        said = answers.begin(principal, key, b"request", boot).outcome
    else:
        answers.finish(principal, key, 201, body[0])
    print(json.dumps(said), flush=True)
answers.close()
ledger.close()
