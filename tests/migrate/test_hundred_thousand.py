"""A store of 100,000 memories with history, tags and conversations goes to PostgreSQL and back: the same in the end."""

import pytest

import memoranda
from memoranda.service.migrating import migrate

_MEMORIES = 100_000
_AT_ONCE = 1_000
_FIRST_TAG = "first-half"
_VECTOR = (
    "insert into vector (space, number, content_hash, body) select 1, number, content_hash, randomblob(512) from memory"
)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1_800)
def test_there_and_back_again(place, opened, rows, chosen, capsys):
    source, server, back = place("sqlite", "source"), place("postgres", "server"), place("sqlite", "back")
    with opened(source) as memory:
        for start in range(0, _MEMORIES, _AT_ONCE):
            part = memory.within(f"home/anna/room-{start // _AT_ONCE % 20}")
            kept = part.remember_many(
                [f"Thing number {number} lies in drawer {number % 977}." for number in range(start, start + _AT_ONCE)]
            )
            part.forget(kept[0])
            part.archive(kept[1])
            part.remember(f"Thing number {start + 2} was moved to the attic.", supersedes=kept[2])
            part.grade(kept[3], 0.9)
            if start % 10_000 == 0:
                part.erase(kept[4])
                part.tag(f"{_FIRST_TAG}-{start}")
            part.conversations.append(
                [memoranda.user(f"Where did number {start + each} go?") for each in range(100)],
                conversation=f"talk-{start}",
            )
        memory._engine.ledger.database.write(
            lambda connection: (
                connection.execute("insert into space (fingerprint, dimensions) values ('made/256', 256)").fetchall()
                and None
            )
        )
        memory._engine.ledger.database.write(lambda connection: connection.execute(_VECTOR).fetchall() and None)
    before = rows(source)
    there = migrate(source, server, settings=chosen()).receipt
    again = migrate(server, back, settings=chosen()).receipt
    with capsys.disabled():
        for each in (there, again):
            rate = each.rows / each.seconds
            print(
                f"\n{each.rows:,} rows in {each.seconds:.1f} s ({rate:,.0f} rows/s), {each.bytes:,} bytes, "
                f"held {each.held_seconds:.2f} s"
            )
    assert there.tables == again.tables
    assert there.contents == again.contents
    assert there.sequence == again.sequence
    assert sum(1 for _ in before["memory"]) >= _MEMORIES
    assert rows(back) == before
