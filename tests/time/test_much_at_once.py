"""Ways back for very many memories: while others write, after a crash, and in time."""

import json
import time

import pytest

from support import SCOPE, answer, child, end, finish, open_store, tell

MANY = 20_000


def fill(path, count, clock=None):
    """A store with a tag, and very many memories after it; (digest at the tag, digest now)."""
    with open_store(path, clock=clock) as memory:
        memory.remember("The herons are back.")
        memory.tag("then")
        then = memory.contents().digest
        for start in range(0, count, 5_000):
            numbers = range(start, min(start + 5_000, count))
            memory.remember_many([f"thing number{number} of very many" for number in numbers])
        return then, memory.contents().digest


def test_others_write_while_one_rolls_back(path):
    fill(path, 2_500)
    scribes = [child("../time/scribe", path, scope, name) for scope, name in ((SCOPE, "anna"), ("home/bob", "bob"))]
    rewinder = child("../time/rewinder", path, "then")
    try:
        assert answer(rewinder)["ready"]
        for scribe in scribes:
            answer(scribe)
        tell(rewinder, "go")
        said = finish(rewinder)
        for scribe in scribes:
            scribe.stdin.close()
        written = [[json.loads(line) for line in scribe.stdout.read().splitlines()] for scribe in scribes]
        assert [scribe.wait(timeout=60) for scribe in scribes] == [0, 0]
    finally:
        for process in (rewinder, *scribes):
            end_quietly(process)
    receipt = said[-1]["receipt"]
    # Whether anybody gets in between two commits is chance: then it stays.
    during = [each for each in written[0] if receipt["first"] < each["sequence"] < receipt["last"]]
    with open_store(path) as memory:
        for each in during:
            assert memory.get(each["id"]).state == "live", "what came while it was done stays"
        assert memory.admin.verify().ok
        assert memory.undo(receipt["first"]).receipt.name == "rollback"
        assert memory.list(limit=1).total >= 2_501 + len(written[0])
    with open_store(path, "home/bob") as memory:
        assert memory.list(here=True, limit=1).total >= len(written[1]), "nobody else's memories were touched"


def end_quietly(process):
    if process.poll() is None:
        end(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None and not stream.closed:
            stream.close()


def test_a_rollback_that_was_killed_goes_on_when_it_is_called_again(path):
    then, after = fill(path, 2_500)
    rewinder = child("../time/rewinder", path, "then")
    try:
        assert answer(rewinder)["ready"]
        tell(rewinder, "go")
        reached = answer(rewinder)["done"]
    finally:
        end(rewinder)
    with open_store(path) as memory:
        assert memory.operations()[0].name == "rolling-back"
        assert memory.contents().memories <= 2_501 - reached
        assert memory.contents().digest not in (then, after)
        memory.rollback("then")
        assert memory.contents().digest == then
        assert memory.admin.verify().ok
        memory.undo()
        assert memory.contents().digest == after


@pytest.mark.slow
def test_twenty_thousand_go_back_and_come_again(path, record_property):
    then, after = fill(path, MANY)
    with open_store(path) as memory:
        seconds = {}
        for name, act, expected in (
            ("rollback", lambda: memory.rollback("then"), then),
            ("undo", memory.undo, after),
            ("diff", lambda: memory.diff("then"), after),
            ("operations", memory.operations, after),
        ):
            began = time.perf_counter()
            act()
            seconds[name] = round(time.perf_counter() - began, 2)
            record_property(name, seconds[name])
            assert memory.contents().digest == expected
        print(seconds)
        assert seconds["operations"] < 2
        assert memory.recall("thing number19999")
