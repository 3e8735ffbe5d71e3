"""Another process that has a store open, for contract suites: `python -m memoranda.testing.elsewhere`.

The first line that it reads says where the store is and what to do: `hold` a name until it is killed, or `write` one
memory after another and say the id of each as soon as it is acknowledged.
"""

import json
import sys
import time
from pathlib import Path

from memoranda.domain.address import address_of
from memoranda.domain.clock import SystemClock
from memoranda.domain.keys import Key
from memoranda.ledger.ledger import Ledger
from memoranda.testing.ledger_making import keep


def main() -> None:
    """Never ends by itself."""
    told = json.loads(sys.stdin.readline())
    ledger = Ledger(
        Path(told["path"]),
        clock=SystemClock(),
        key=Key(bytes.fromhex(told["key"])) if told.get("key") else None,
        address=address_of(told["address"]) if told.get("address") else None,
    )
    if told["task"] == "hold":
        with ledger.database.hold(told["name"]):
            _say("held")
            time.sleep(3_600)
    number = 0
    while True:
        number += 1
        _say(keep(ledger, f"{told['name']} number {number}").id)


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
