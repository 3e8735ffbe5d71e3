"""The contract of a ledger for writing: acknowledged is durable, all or nothing, in one order that everybody sees.

`LedgerContract` contains it.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

from memoranda.domain.errors import Conflict, LedgerError, NotFound, Refused
from memoranda.domain.memory import Memory
from memoranda.domain.results import Remembered
from memoranda.domain.scope import Scope
from memoranda.ledger import memories
from memoranda.ledger.connection import Connection
from memoranda.ledger.keeping import Keep
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.locking import Busy
from memoranda.testing.fakes import FixedClock
from memoranda.testing.ledger_making import ACTOR, HERE, LedgerSuite, OpenLedger, at_once, keep, made, outcome, texts
from memoranda.testing.raising import raises

_WRITERS = 8
_EACH = 10


class LedgerWritingContract(LedgerSuite):
    """For a `Ledger`: needs the fixtures `open_ledger` and `clock`."""

    def test_what_was_acknowledged_is_seen_by_others_at_once_and_after_closing(self, open_ledger: OpenLedger) -> None:
        one, other = open_ledger(), open_ledger()
        kept = keep(one, "The lamp is in the bedroom.")
        assert other.get(kept.id, scope=Scope(HERE)) == kept.memory
        one.close()
        assert texts(other) == ["The lamp is in the bedroom."]
        other.close()
        again = open_ledger()
        assert again.get(kept.id, scope=Scope(HERE)) == kept.memory
        assert again.sequence() == kept.receipt.sequence

    def test_what_a_killed_process_had_acknowledged_is_there(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        with self.elsewhere(ledger, "write", "the lamp") as process:
            assert process.stdout is not None
            told = [process.stdout.readline().strip() for _ in range(30)]
        assert all(told)
        numbers = [ledger.number_of(each, scope=Scope(HERE)) for each in told]
        assert numbers == sorted(set(numbers))
        assert all(check.ok for check in ledger.verify())
        assert keep(ledger, "the boat").receipt.sequence > len(told)

    def test_of_what_is_kept_together_all_is_kept_or_nothing(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        before = keep(ledger, "The boiler is old.").receipt.sequence
        keeps = [Keep(made(ledger, f"The lamp number {n} is new.")) for n in range(3)]
        bad = Keep(made(ledger, "The lamp is green."), supersedes="0000" * 5)
        with raises(NotFound):
            ledger.remember([*keeps, bad], scope=Scope(HERE), actor=ACTOR)
        assert texts(ledger) == ["The boiler is old."]
        assert ledger.sequence() == before
        assert len(ledger.remember(keeps, scope=Scope(HERE), actor=ACTOR)) == 3
        assert len(texts(open_ledger())) == 4

    def test_a_job_that_fails_leaves_nothing(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        keep(ledger, "The boiler is old.")
        for error in (Refused("no"), RuntimeError("a slip")):
            with raises(type(error)):
                ledger.database.write(_failing(ledger, "The lamp is new.", error))
        assert texts(ledger) == texts(open_ledger()) == ["The boiler is old."]
        assert ledger.sequence() == 1

    def test_in_a_group_one_that_is_refused_takes_nobody_with_it(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        work = [partial(keep, ledger, f"kept {n}") for n in range(6)]
        refusals = [partial(ledger.database.write, _failing(ledger, f"refused {n}", Conflict("no"))) for n in range(6)]
        outcomes = _in_one_group(ledger, [each for pair in zip(work, refusals, strict=True) for each in pair])
        assert [isinstance(each, Conflict) for each in outcomes] == [False, True] * 6
        assert sorted(texts(open_ledger())) == [f"kept {n}" for n in range(6)]
        assert len(ledger.feed.changes_since(0, limit=100).numbers) == 6

    def test_in_a_group_whoever_is_told_of_success_can_rely_on_it(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        work: list[Callable[[], object]] = [partial(keep, ledger, f"kept {n}") for n in range(6)]
        work.insert(3, partial(ledger.database.write, _failing(ledger, "slipped", RuntimeError("a slip"))))
        outcomes = _in_one_group(ledger, work)
        told = {each.memory.text for each in outcomes if isinstance(each, Remembered)}
        assert set(texts(ledger)) == set(texts(open_ledger())) == told
        assert len(told) + sum(isinstance(each, RuntimeError) for each in outcomes) == len(work)

    def test_sequences_rise_in_the_order_of_commits(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]
        ticks = count()
        ends: list[tuple[int, int, int]] = []

        def write(place: int) -> None:
            for step in range(_EACH):
                began = next(ticks)
                sequence = keep(openings[place % 3], f"writer {place} step {step}").receipt.sequence
                ends.append((began, next(ticks), sequence))

        at_once([partial(write, place) for place in range(_WRITERS)])
        assert len({sequence for _, _, sequence in ends}) == _WRITERS * _EACH
        for _, ended, sequence in ends:
            assert all(later > sequence for began, _, later in ends if began > ended)

    def test_a_follower_misses_nothing_however_many_write(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]
        follower = open_ledger()
        done = threading.Event()
        kept: list[str] = []

        def write(place: int) -> None:
            kept.extend(keep(openings[place % 3], f"writer {place} step {step}").id for step in range(_EACH))

        def follow() -> list[int]:
            found: list[int] = []
            at = 0
            while True:
                last = done.is_set()
                changes = follower.feed.changes_since(at, limit=7)
                assert changes.sequence >= at
                assert len(follower.feed.entries(changes.numbers)) == len(changes.numbers)
                found += changes.numbers
                at = changes.sequence
                if last and changes.complete:
                    return found

        with ThreadPoolExecutor(1) as pool:
            following = pool.submit(follow)
            try:
                at_once([partial(write, place) for place in range(_WRITERS)])
            finally:
                done.set()
            followed = following.result()
        assert sorted(followed) == sorted({follower.number_of(each, scope=Scope(HERE)) for each in kept})
        assert len(followed) == _WRITERS * _EACH

    def test_who_begins_first_and_ends_last_leaves_no_gap(self, open_ledger: OpenLedger) -> None:
        slow, quick, follower = open_ledger(), open_ledger(), open_ledger()
        written, go_on = threading.Event(), threading.Event()

        def job(connection: Connection) -> int:
            sequence = _write_one(slow, connection, "slow")
            written.set()
            assert go_on.wait(20)
            return sequence

        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(slow.database.write, job)
            assert written.wait(20)
            second = pool.submit(keep, quick, "quick")
            time.sleep(0.1)
            seen = [follower.feed.changes_since(0, limit=9)]
            go_on.set()
            sequences = first.result(), second.result().receipt.sequence
        assert all(not changes.numbers or len(changes.numbers) == 2 for changes in seen)
        assert sequences[0] < sequences[1]
        assert len(follower.feed.changes_since(0, limit=9).numbers) == 2

    def test_its_number_changes_for_everybody_when_anybody_commits(self, open_ledger: OpenLedger) -> None:
        ledgers = [open_ledger(), open_ledger()]
        before = [ledger.database.version() for ledger in ledgers]
        assert [ledger.database.version() for ledger in ledgers] == before
        for step in range(3):
            keep(ledgers[step % 2], f"step {step}")
            after = [ledger.database.version() for ledger in ledgers]
            assert all(one != other for one, other in zip(before, after, strict=True))
            before = after
        texts(ledgers[0])
        assert [ledger.database.version() for ledger in ledgers] == before

    def test_who_reads_sees_one_moment(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        keep(ledger, "one")
        with ledger.database.read():
            before = ledger.sequence(), texts(ledger)
            keep(other, "two")
            keep(ledger, "three")
            assert (ledger.sequence(), texts(ledger)) == before
            assert ledger.stats(scope=Scope(HERE)).total == 1
        assert texts(ledger) == ["three", "two", "one"]

    def test_a_view_ends_with_what_was_left_unread_in_it(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for number in range(300):
            keep(ledger, f"row {number}")
        with ledger.database.read() as connection:
            left = iter(connection.execute("select text from memory order by number"))
            assert next(left) == ("row 0",)
        keep(ledger, "a later one")
        assert "a later one" in texts(ledger)
        assert ledger.database.checkpoint(patience=0.5)
        assert ledger.database.await_views() == ""
        del left

    def test_nothing_is_written_through_a_view(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        with raises(Exception), ledger.database.read() as connection:
            _write_one(ledger, connection, "by the back door")
        assert texts(ledger) == []

    def test_several_may_make_the_same_store(self, open_ledger: OpenLedger) -> None:
        ledgers = at_once([open_ledger] * 4)
        for number, ledger in enumerate(ledgers):
            keep(ledger, f"opening {number}")
        assert all(len(texts(ledger)) == 4 for ledger in ledgers)
        assert len({ledger.key_for("anything") for ledger in ledgers}) == 1

    def test_it_may_be_closed_while_others_read(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for number in range(20):
            keep(ledger, f"lamp {number}")
        reading = threading.Event()

        def read() -> None:
            while True:
                texts(ledger)
                reading.set()

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(outcome, read) for _ in range(3)]
            assert reading.wait(20)
            ledger.close()
            ledger.close()
            ends = [each.result(20) for each in readers]
        assert all(isinstance(each, LedgerError) for each in ends), ends
        with raises(LedgerError):
            keep(ledger, "too late")
        with raises(LedgerError):
            texts(ledger)
        assert len(texts(open_ledger())) == 20

    def test_a_name_is_held_by_one_alone(self, open_ledger: OpenLedger) -> None:
        one, other = open_ledger(), open_ledger()
        with one.database.hold("upkeep"):
            for ledger in (other, one):
                with raises(Busy), ledger.database.hold("upkeep"):
                    pass
            with other.database.hold("something else"):
                keep(other, "others go on")
        with other.database.hold("upkeep"), raises(Busy), one.database.hold("upkeep", patience=0.05):
            pass
        with raises(RuntimeError), one.database.hold("upkeep"):
            raise RuntimeError
        with other.database.hold("upkeep"):
            pass

    def test_who_is_patient_gets_the_name_when_it_is_let_go(self, open_ledger: OpenLedger) -> None:
        one, other = open_ledger(), open_ledger()
        held = threading.Event()

        def hold() -> None:
            with one.database.hold("upkeep"):
                held.set()
                time.sleep(0.3)

        with ThreadPoolExecutor(1) as pool:
            holding = pool.submit(hold)
            assert held.wait(20)
            with other.database.hold("upkeep", patience=20.0):
                assert holding.result(20) is None

    def test_a_name_is_let_go_however_its_holder_ends(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        with self.elsewhere(ledger, "hold", "upkeep") as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "held"
            with raises(Busy), ledger.database.hold("upkeep"):
                pass
        with ledger.database.hold("upkeep", patience=20.0):
            pass

    def test_of_the_same_words_from_many_one_memory_is_kept(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]
        work = [partial(keep, openings[place % 3], "Anna likes tea.", confidence=0.1) for place in range(_WRITERS)]
        told = at_once(work)
        assert sorted(each.receipt.outcome for each in told) == ["created", *["reinforced"] * (_WRITERS - 1)]
        (only,) = {each.id for each in told}
        history = openings[0].history(only, scope=Scope(HERE))
        assert len(history) == _WRITERS
        assert [round(each.memory.confidence, 6) for each in history] == [round(0.1 * n, 6) for n in range(1, 9)]

    def test_of_many_values_for_one_slot_the_last_one_stands(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]

        def tell(place: int) -> Remembered:
            fields = {"about": "light.office", "attribute": "location", "value": f"room {place}", "slot": "one"}
            return keep(openings[place % 3], f"The light is in room {place}.", **fields)

        told = at_once([partial(tell, place) for place in range(_WRITERS)])
        found = {memory.id: memory for memory in _everything(openings[0])}
        live = [memory for memory in found.values() if memory.state == "live"]
        assert [memory.id for memory in live] == [max(told, key=_first_sequence(openings[0])).id]
        gone = [memory for memory in found.values() if memory.state == "superseded"]
        assert len(gone) == _WRITERS - 1
        assert {memory.superseded_by for memory in gone} <= found.keys()

    def test_only_one_supersedes_a_memory(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        openings = [open_ledger() for _ in range(3)]
        old = keep(openings[0], "The lamp is red.")
        clock.advance(ms=1)
        work = [
            partial(outcome, partial(keep, openings[n % 3], f"The lamp is of colour {n}.", supersedes=old.id))
            for n in range(6)
        ]
        told = at_once(work)
        kept = [each for each in told if isinstance(each, Remembered)]
        assert len(kept) == 1
        assert sum(isinstance(each, Conflict) for each in told) == 5
        assert texts(openings[1], states=("live",)) == [kept[0].memory.text]


def _write_one(ledger: Ledger, connection: Connection, text: str) -> int:
    memory = made(ledger, text)
    number = memories.insert(connection, memory)
    return memories.record(connection, "remembered", number, memory, at=memory.created_at, actor=ACTOR)


def _failing(ledger: Ledger, text: str, error: Exception) -> Callable[[Connection], None]:
    def job(connection: Connection) -> None:
        _write_one(ledger, connection, text)
        raise error

    return job


def _in_one_group(ledger: Ledger, work: list[Callable[[], object]]) -> list[object]:
    """What becomes of these, all of which wait while somebody else writes."""
    writing, go_on = threading.Event(), threading.Event()

    def job(connection: Connection) -> None:
        writing.set()
        assert go_on.wait(20)

    with ThreadPoolExecutor(len(work) + 1) as pool:
        first = pool.submit(ledger.database.write, job)
        assert writing.wait(20)
        waiting = [pool.submit(outcome, each) for each in work]
        time.sleep(0.2)
        go_on.set()
        first.result()
        return [each.result() for each in waiting]


def _everything(ledger: Ledger) -> list[Memory]:
    return [memory for _, memory in ledger.choose(scope=Scope(HERE))]


def _first_sequence(ledger: Ledger) -> Callable[[Remembered], int]:
    return lambda kept: ledger.history(kept.id, scope=Scope(HERE))[0].event.sequence
