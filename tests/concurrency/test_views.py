"""A view that somebody began and left keeps nobody from erasing, and nobody from seeing what is new."""

import pytest

from faces import engine_of
from memoranda.domain.scope import Scope
from memoranda.ledger.exporting import walked
from support import occurrences

SECRET = "Zanzibarquux"


def test_an_export_that_was_left_half_way_keeps_nothing_that_is_erased_then(memory, path):
    kept = memory.remember(f"{SECRET} opens the cellar")
    memory.remember_many([f"harmless fact {number} of the house" for number in range(300)])
    database = engine_of(memory).ledger.database
    with walked(database, Scope("home/anna"), below=False, states=["live"]) as (_, memories):
        next(memories)
    erased = memory.erase(kept.id)
    assert erased.purged, erased.receipt.pending
    assert not occurrences(path, SECRET)
    assert memory.remember("something new").id in {each.id for each in memory.list(limit=500)}
    del memories


def test_an_export_that_failed_half_way_keeps_nothing_either(memory, path, tmp_path):
    kept = memory.remember(f"{SECRET} opens the cellar")
    memory.remember_many([f"harmless fact {number} of the house" for number in range(1_200)])

    def stop(done, _):
        if done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError) as caught:  # it is kept, with all that it was in the middle of
        memory.export(tmp_path / "out.jsonl", progress=stop)
    erased = memory.erase(kept.id)
    assert erased.purged, erased.receipt.pending
    assert not occurrences(path, SECRET)
    assert caught.value.args == ("enough",)
