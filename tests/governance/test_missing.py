"""What was asked and found nothing: noted without a word and without a wait, and forgotten with the scope."""

import threading
import time

import pytest

from memoranda.domain.scope import Scope
from memoranda.ledger import misses
from memoranda.ledger.misses import MOST_IN_A_SCOPE
from support import occurrences, open_store


def rows(memory):
    with memory._engine.ledger.database.read() as connection:
        return connection.execute("select scope, reason, text, times from miss order by scope, last_at").fetchall()


def test_a_question_that_finds_nothing_is_counted_and_its_words_are_not_kept(memory, miss, path, clock):
    memory.remember("Anna reads by the lamp.")
    for query in ("where is the zeppelin moored?", "Where is the zeppelin moored?", "who fed the walrus?"):
        clock.advance(ms=1)
        assert not miss(memory, query)
    assert rows(memory) == []
    drift = memory.governance.drift()
    assert drift.misses == 3
    assert [(each.times, each.text, each.reason) for each in drift.repeated_misses] == [
        (2, "", "nothing cleared the bar")
    ]
    memory.close()
    assert not occurrences(path, "zeppelin", "walrus")


def test_what_asks_for_nothing_or_finds_something_is_no_miss(memory, miss):
    memory.remember("Anna reads by the lamp.")
    for query, fields in (
        ("thanks!", {}),
        ("", {}),
        ("which lamp does Anna read by?", {}),
        ("where is the zeppelin?", {"kinds": ("decision",)}),
        ("where is the zeppelin?", {"as_of": memory.now}),
        ("what happened on 3 May 1999?", {}),
    ):
        miss(memory, query, **fields)
    memory._engine.misses.flush()
    assert rows(memory) == []


def test_words_are_kept_where_the_settings_say_so_but_never_a_secret(opened, miss):
    memory = opened(misses="text")
    memory.remember("Anna reads by the lamp.")
    for _ in range(2):
        miss(memory, "where is the zeppelin moored? password: hunter2-Zx81!pq")
    text = memory.governance.drift().repeated_misses[0].text
    assert "zeppelin" in text
    assert "hunter2" not in text


def test_nothing_is_noted_where_the_settings_say_so(opened, miss):
    memory = opened(misses="none")
    memory.remember("Anna reads by the lamp.")
    miss(memory, "where is the zeppelin?")
    assert memory.governance.drift().misses == 0


def test_two_stores_have_other_digests_for_the_same_question(tmp_path, miss):
    told = []
    for name in ("one.db", "other.db"):
        with open_store(tmp_path / name) as memory:
            memory.remember("Anna reads by the lamp.")
            for _ in range(2):
                miss(memory, "where is the zeppelin?")
            told.append(memory.governance.drift().repeated_misses[0].digest)
    assert told[0] != told[1]


def test_a_scope_keeps_the_newest_only(memory, miss, clock):
    memory.remember("Anna reads by the lamp.")
    for number in range(MOST_IN_A_SCOPE + 30):
        clock.advance(ms=1)
        miss(memory, f"where is the zeppelin of captain{number}?")
        if number % 40 == 0:
            memory._engine.misses.flush()
    memory._engine.misses.flush()
    assert len(rows(memory)) == MOST_IN_A_SCOPE
    with memory._engine.ledger.database.read() as connection:
        assert connection.execute("select min(last_at) from miss").fetchone()[0] == clock.now() - MOST_IN_A_SCOPE + 1


def test_many_misses_are_written_down_in_the_background(memory, miss):
    memory.remember("Anna reads by the lamp.")
    for number in range(64):
        miss(memory, f"where is the zeppelin of captain{number}?")
    deadline = time.monotonic() + 10
    while not rows(memory) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(rows(memory)) == 64


def test_misses_of_many_threads_are_all_counted(memory, miss):
    memory.remember("Anna reads by the lamp.")
    found = miss(memory, "where is the zeppelin?")
    noted = memory._engine.misses

    def ask():
        for _ in range(200):
            noted.note(memory._scope, found.receipt)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.governance.drift().misses == 801


def test_an_erasure_can_take_what_was_asked_in_a_scope_and_below(opened, miss):
    for scope in ("home", "home/anna", "home/annabel"):
        view = opened(scope=scope, misses="text")
        view.remember("Anna reads by the lamp.")
        miss(view, "where is the zeppelin?")
        view._engine.misses.flush()
    database = view._engine.ledger.database
    with database.read() as connection:
        assert misses.texts(connection) == ["where is the zeppelin?"] * 3
    assert database.write(lambda connection: misses.clear(connection, Scope("home/anna"))) == 1
    assert [row[0] for row in rows(view)] == ["home", "home/annabel"]
    assert database.write(misses.clear) == 2
    miss(view, "where is the zeppelin?")
    view._engine.misses.drop()
    assert view.governance.drift().misses == 0


def test_noting_takes_a_few_microseconds(memory, miss):
    memory.remember("Anna reads by the lamp.")
    found = miss(memory, "where is the zeppelin?")
    noted = memory._engine.misses
    best = min(_seconds(lambda: noted.note(memory._scope, found.receipt)) for _ in range(5))
    assert best < 100e-6


def _seconds(call):
    began = time.perf_counter()
    for _ in range(200):
        call()
    return (time.perf_counter() - began) / 200


@pytest.mark.parametrize("documents", [False, True])
def test_a_recall_of_the_facade_notes_what_it_did_not_find(memory, tmp_path, documents):
    memory.remember("Anna reads by the lamp.")
    if documents:
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "ships.md").write_text("# Ships\n\nThe zeppelin is moored in Tempelhof.\n")
        memory.documents.add(str(notes), pattern="**/*.md")
    memory.recall("where is the zeppelin moored?")
    assert memory.governance.drift().misses == (0 if documents else 1)


def test_closing_the_store_writes_down_what_was_noted(path):
    with open_store(path) as memory:
        memory.remember("Anna reads by the lamp.")
        memory.recall("where is the zeppelin moored?")
    with open_store(path) as memory:
        assert memory.governance.drift().misses == 1


def test_only_what_was_asked_in_the_period_is_counted(memory, clock):
    memory.remember("Anna reads by the lamp.")
    for _ in range(5):
        memory.recall("where is the zeppelin moored?")
    clock.advance(days=90)
    memory.recall("Where is the ZEPPELIN moored?")
    month = memory.governance.drift(days=30)
    assert (month.misses, month.repeated_misses) == (1, ())
    year = memory.governance.drift(days=365)
    assert (year.misses, [each.times for each in year.repeated_misses]) == (6, [6])


def test_what_was_noted_over_several_days_is_counted_on_each(opened, clock):
    memory = opened(clock=clock, misses="text")
    memory.remember("Anna reads by the lamp.")
    for day in range(40):
        for _ in range(day % 3):
            memory.recall(f"where is the {'zeppelin' if day % 2 else 'Zeppelin'} moored?")
        clock.advance(days=1)
    (asked,) = memory.governance.drift(days=9).repeated_misses
    assert asked.times == memory.governance.drift(days=9).misses == sum(day % 3 for day in range(31, 40))
    assert (asked.text, asked.last_at) == ("where is the Zeppelin moored?", 1_767_225_600_000 + 38 * 86_400_000)
    assert memory.governance.drift(days=400).repeated_misses[0].digest == asked.digest


def test_the_rows_of_a_scope_are_bounded_however_many_days_there_are(memory):
    asked = [
        misses.Noted("home/anna", bytes([query]) * 16, "nothing cleared the bar", "", at, at, 1)
        for at in (day * 86_400_000 for day in range(20_000, 20_030))
        for query in range(100)
    ]
    database = memory._engine.ledger.database
    database.write(lambda connection: misses.add(connection, asked))
    assert len(rows(memory)) == misses.MOST_DAYS_IN_A_SCOPE
