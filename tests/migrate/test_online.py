"""While a store is moved it is in use: what was acknowledged to anybody is in the target."""

import threading

import pytest

import memoranda
from memoranda.ledger import copying
from memoranda.service.migrating import migrate
from migrate.conftest import PAIRS


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_that_was_acknowledged_is_missing(pair, place, filled, rows, opened, chosen, monkeypatch):
    monkeypatch.setattr(copying, "AT_ONCE", 50)
    source, target = place(pair[0], "source"), place(pair[1], "target")
    filled(source, count=1_000)
    kept, erased, refused = [], [], []
    writing = threading.Barrier(4)

    def write(name):
        number = 0
        with opened(source, scope=f"home/{name}") as memory:
            writing.wait()
            while True:
                number += 1
                try:
                    mine = memory.remember(f"{name} has kept thing number {number}.")
                    kept.append(mine.id)
                    if number % 3 == 0:
                        memory.erase(mine)
                        erased.append(mine.id)
                    memory.conversations.append([memoranda.user(f"{name} says {number}")], conversation=name)
                except Exception as error:
                    refused.append(error)
                    return

    threads = [threading.Thread(target=write, args=(f"writer{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    writing.wait()

    def between(*_):
        if not told:
            told.append(memory.remember("Somebody kept this while the copy was under way.").id)

    told = []
    with opened(source, scope="home/between") as memory:
        done = migrate(source, target, settings=chosen(), progress=between)
    kept += told
    for thread in threads:
        thread.join(60)
    assert len(refused) == 3
    assert all("moved" in str(error) for error in refused), refused
    assert done.receipt.followed > 0
    assert len(kept) > 3
    found = rows(target)
    assert found == rows(source)
    ids = " ".join(found["memory"])
    # Who erases is answered after the rows are gone: one may have gone without an answer.
    gone = [each for each in kept if each not in ids]
    assert set(erased) <= set(gone)
    assert len(gone) <= len(erased) + 3
    events = " ".join(found["event"])
    assert all(each in events for each in kept)
