"""A view that somebody began and left keeps nobody from erasing, and nobody from seeing what is new."""

import pytest

from faces import engine_of
from memoranda.domain.scope import Scope
from memoranda.ledger import streaming
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


@pytest.mark.parametrize("many", [0, 1, 9, 10, 11, 30])
def test_rows_are_streamed_in_bites_and_none_is_lost_or_doubled(memory, monkeypatch, many):
    monkeypatch.setattr(streaming, "AT_ONCE", 10)
    memory.remember_many([f"harmless fact {number} of the house" for number in range(many)])
    statement = "select number from memory where number > :after order by number"
    with engine_of(memory).ledger.database.read() as connection:
        listed = connection.execute(statement, {"after": 0}).fetchall()
        assert list(streaming.streamed(connection, statement, {"after": 0})) == listed
        assert len(listed) == many
        both = zip(
            streaming.streamed(connection, statement, {"after": 0}),
            streaming.streamed(connection, statement, {"after": 0}),
            strict=True,
        )
        assert [one for one, other in both if one == other] == listed
        left = streaming.streamed(connection, statement, {"after": 0})
        assert next(left, None) == (listed[0] if listed else None)
    assert len(memory.list(limit=100)) == many
    del left
