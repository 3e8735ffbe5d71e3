"""The contract of a ledger for conversations, turns and imports: what several processes do to one of them at once.

`LedgerContract` contains it.
"""

from collections.abc import Sequence
from functools import partial

from memoranda.domain.conversation import LONGEST_MESSAGE, KeptMessage
from memoranda.domain.errors import Ambiguous, Conflict, NotFound
from memoranda.domain.ids import new_id
from memoranda.domain.memory import Memory
from memoranda.domain.moving import ImportRun
from memoranda.domain.scope import Scope
from memoranda.domain.text import content_hash
from memoranda.ledger.importing import Imports
from memoranda.ledger.keeping import Keep
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.transcripts import NewSummary, Stale, Transcripts
from memoranda.ledger.turns import Moved, Turn
from memoranda.testing.fakes import FixedClock
from memoranda.testing.ledger_making import (
    ACTOR,
    BESIDE,
    HERE,
    LedgerSuite,
    OpenLedger,
    at_once,
    keep,
    made,
    outcome,
    said,
    texts,
)
from memoranda.testing.raising import raises

_HERE = Scope(HERE)


class LedgerTalksContract(LedgerSuite):
    """For a `Ledger`: needs the fixtures `open_ledger` and `clock`."""

    def test_messages_come_back_word_for_word_and_in_order(self, open_ledger: OpenLedger) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        words = ["hello", "灯 🫖 'quoted' \\ \x01", "x" * 200_000, "", "d" * LONGEST_MESSAGE]
        kept = talks.append("talk", [said(each, at=n + 1) for n, each in enumerate(words)], scope=_HERE, actor=ACTOR)
        row = other.find("talk", scopes=[HERE])
        assert [each.text for each in other.active(row)] == words
        assert [each.place for each in other.page(row, after=0, limit=99)] == [1, 2, 3, 4, 5]
        assert (row.conversation.messages, row.conversation.active, kept.row) == (5, 5, row)
        assert type(row.conversation.tokens) is int
        assert [each.text for each in other.page(row, after=1, limit=2)] == words[1:3]
        around = other.around(row, 3, before=1, after=1)
        assert [each.place for each in around] == [2, 3, 4]
        first = other.active(row)[0]
        assert other.message(first.id[:12], scopes=[HERE])[1] == first
        with raises(NotFound):
            other.message(first.id, scopes=[BESIDE])
        with raises(NotFound, Ambiguous):
            other.message("", scopes=[HERE])

    def test_a_message_that_was_handed_over_before_is_known(self, open_ledger: OpenLedger) -> None:
        talks = [_talks(open_ledger()) for _ in range(2)]
        several = [[said(f"message {n}", host_id=f"h{n}") for n in range(6)] for _ in range(4)]
        work = [partial(talks[n % 2].append, "talk", each, scope=_HERE, actor=ACTOR) for n, each in enumerate(several)]
        told = at_once(work)
        assert sorted((len(each.added), each.known) for each in told) == [(0, 6), (0, 6), (0, 6), (6, 0)]
        row = talks[0].find("talk", scopes=[HERE])
        assert [each.text for each in talks[0].active(row)] == [f"message {n}" for n in range(6)]

    def test_of_many_who_speak_at_once_everybody_is_heard(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]
        talks = [_talks(each) for each in openings]

        def speak(place: int) -> list[int]:
            heard: list[int] = []
            for step in range(6):
                new = [said(f"{place} {step} {part}") for part in range(2)]
                heard += talks[place % 3].append("talk", new, scope=_HERE, actor=ACTOR).added
            return heard

        heard = at_once([partial(speak, place) for place in range(6)])
        row = talks[0].find("talk", scopes=[HERE])
        everything = talks[1].active(row)
        assert [each.place for each in everything] == list(range(1, 73))
        assert sorted(number for each in heard for number in each) == [each.number for each in everything]
        feed = talks[2].feed
        at, followed = 0, list[int]()
        while not (changes := feed.changes_since(at, limit=5)).complete or changes.numbers:
            followed += changes.numbers
            at = changes.sequence
        assert followed == [each.number for each in everything]
        assert len(feed.entries(followed)) == feed.count() == 72

    def test_a_summary_stands_for_what_it_was_made_of(self, open_ledger: OpenLedger) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        row = talks.append("talk", [said(f"message {n}") for n in range(5)], scope=_HERE, actor=ACTOR).row
        active = talks.active(row)
        summary = talks.compact(row, _summary(active[:3]), actor=ACTOR)
        assert [each.text for each in other.active(row)] == ["in short", "message 3", "message 4"]
        assert [each.text for each in other.stood_for(summary)] == ["message 0", "message 1", "message 2"]
        with raises(Stale):
            other.compact(row, _summary(active[:3]), actor=ACTOR)
        again = other.active(row)
        talks.compact(row, _summary(again[:2]), actor=ACTOR)
        assert [each.text for each in other.active(row)] == ["in short", "message 4"]
        assert len(other.page(row, after=0, limit=99)) == 7
        assert [each.kind for each in other.page(row, after=0, limit=99, status="compacted")].count("summary") == 1

    def test_what_was_erased_meanwhile_does_not_come_back_in_a_summary(self, open_ledger: OpenLedger) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        row = talks.append("talk", [said(f"message {n}") for n in range(5)], scope=_HERE, actor=ACTOR).row
        read = talks.active(row)
        other.redact(row, {read[1].number: "[erased]"}, working=None, actor=ACTOR)
        with raises(Stale):
            talks.compact(row, _summary(read[:3]), actor=ACTOR)
        assert talks.compact(row, _summary(talks.active(row)[:3]), actor=ACTOR).text == "in short"

    def test_of_two_compactions_at_once_one_does_nothing(self, open_ledger: OpenLedger) -> None:
        talks = [_talks(open_ledger()) for _ in range(2)]
        row = talks[0].append("talk", [said(f"message {n}") for n in range(5)], scope=_HERE, actor=ACTOR).row
        new = _summary(talks[0].active(row)[:3])
        told = at_once([partial(outcome, partial(talks[n % 2].compact, row, new, actor=ACTOR)) for n in range(4)])
        assert sum(isinstance(each, KeptMessage) for each in told) == 1
        assert sum(isinstance(each, Stale) for each in told) == 3
        assert len(talks[0].active(row)) == 3

    def test_a_costly_summary_is_claimed_by_one_and_the_claim_ends_by_itself(
        self, open_ledger: OpenLedger, clock: FixedClock
    ) -> None:
        talks = [_talks(open_ledger()) for _ in range(2)]
        row = talks[0].append("talk", [said("hello")], scope=_HERE, actor=ACTOR).row
        told = at_once([partial(talks[n % 2].claim, row, for_ms=1_000) for n in range(6)])
        assert sorted(told) == [0, 0, 0, 0, 0, clock.now() + 1_000]
        clock.advance(ms=1_000)
        later = talks[1].claim(row, for_ms=1_000)
        assert later == clock.now() + 1_000
        talks[0].release(row, max(told))
        assert talks[0].claim(row, for_ms=1_000) == 0
        talks[1].release(row, later)
        assert talks[0].claim(row, for_ms=1_000)

    def test_a_conversation_is_put_away_and_comes_back(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        row = talks.append("talk", [said("hello"), said("there")], scope=_HERE, actor=ACTOR).row
        talks.set_archived(row, True, actor=ACTOR)
        assert other.listed(_HERE, archived=False, limit=9, offset=0) == ((), 0)
        assert other.listed(_HERE, archived=True, limit=9, offset=0)[1] == 1
        assert {each.state for each in other.feed.entries(talks.numbers([row])).values()} == {"archived"}
        clock.advance(ms=5)
        talks.append("talk", [said("again")], scope=_HERE, actor=ACTOR)
        assert [each.status for each in other.active(row)] == ["active"] * 3
        assert other.find("talk", scopes=[HERE]).conversation.archived is False

    def test_what_is_private_is_not_kept(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        digest = ledger.name_digest("secret")
        assert digest == other.name_digest("secret")
        _talks(ledger).keep_private("secret", digest, scope=_HERE)
        assert _talks(other).is_private(digest, scope=_HERE)
        assert not _talks(other).is_private(digest, scope=Scope(BESIDE))
        with raises(Conflict):
            _talks(other).append("secret", [said("psst")], scope=_HERE, actor=ACTOR, unless_private=digest)
        assert _talks(other).below(_HERE) == []

    def test_working_memory_is_replaced_as_a_whole(self, open_ledger: OpenLedger) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        for text in ("first notes", "zweite 灯", ""):
            talks.set_working("talk", text, scope=_HERE)
            assert other.working(other.find("talk", scopes=[HERE])) == text

    def test_words_are_blacked_out_and_conversations_erased(self, open_ledger: OpenLedger) -> None:
        talks, other = (_talks(open_ledger()) for _ in range(2))
        row = talks.append("talk", [said(f"canary {n}") for n in range(4)], scope=_HERE, actor=ACTOR).row
        numbers = talks.numbers([row])
        talks.feed.save_vectors("space|1", 2, [(numbers[1], content_hash("canary 1"), b"1234")])
        talks.redact(row, {numbers[1]: "[erased]"}, working="", without_metadata=True, actor=ACTOR)
        assert [each.text for each in other.active(row)] == ["canary 0", "[erased]", "canary 2", "canary 3"]
        assert other.feed.entries(numbers).keys() == set(numbers) - {numbers[1]}
        assert other.feed.vectors("space|1", numbers) == {}
        before = other.feed.sequence()
        talks.erase([row], actor=ACTOR)
        assert other.below(_HERE) == []
        assert list(other.texts()) == list(other.names()) == []
        assert other.feed.changes_since(before, limit=9).numbers == tuple(numbers)

    # -- turns --

    def test_a_turn_is_captured_once(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(2)]
        digest = openings[0].name_digest("talk")
        turn = Turn(digest, b"", b"\x00tail\xff", {"turns": 1})

        def capture(place: int) -> object:
            ledger = openings[place % 2]
            return ledger.capture([Keep(made(ledger, f"kept {place}"))], turn=turn, scope=_HERE, actor=ACTOR)

        told = at_once([partial(outcome, partial(capture, place)) for place in range(6)])
        assert sum(isinstance(each, Moved) for each in told) == 5
        assert len(texts(openings[0])) == 1
        assert [each.cursor("talk", scope=_HERE) for each in openings] == [b"\x00tail\xff"] * 2
        assert openings[1].cursor("talk", scope=Scope(BESIDE)) == b""
        assert openings[1].counts() == {"kept": 1, "turns": 1}
        openings[0].drop_turn("talk", scope=_HERE)
        assert openings[1].cursor("talk", scope=_HERE) == b""
        openings[0].drop_turns(_HERE)
        assert openings[1].counts() == {}

    def test_nobody_spends_more_than_is_allowed(self, open_ledger: OpenLedger) -> None:
        openings = [open_ledger() for _ in range(3)]

        def spend(place: int) -> int:
            def allowed(spent: object) -> bool:
                return isinstance(spent, dict) and spent.get("calls", 0) < 10

            return sum(openings[place % 3].spend({"calls": 1}, allowed=allowed) is not None for _ in range(4))

        assert sum(at_once([partial(spend, place) for place in range(6)])) == 10

    # -- imports --

    def test_an_import_goes_on_where_it_was_and_takes_nothing_twice(self, open_ledger: OpenLedger) -> None:
        ledger, other = open_ledger(), open_ledger()
        imports, elsewhere = _imports(ledger), _imports(other)
        run = imports.begin(new_id(), digest=b"\x00digest", scope=_HERE, format="jsonl", whole=True)
        arrivals = [made(ledger, f"arrival {n}", source="import") for n in range(4)]
        half = _take(imports, run, arrivals[:2], place=2, last=False)
        found = elsewhere.unfinished(b"\x00digest", _HERE)
        assert found == half
        assert elsewhere.unfinished(b"other", _HERE) is None
        with raises(Conflict):
            _take(elsewhere, run, arrivals[2:], place=4, last=True)
        ended = _take(elsewhere, half, arrivals[1:], place=2**40, last=True)
        assert (ended.counts["taken"], ended.counts["known"], ended.place) == (4, 1, 2**40)
        assert imports.unfinished(b"\x00digest", _HERE) is None
        (shown,) = imports.runs(_HERE, limit=9)
        assert (shown.id, shown.taken, shown.finished_at) == (run.id, 4, ledger.clock.now())
        assert sorted(texts(other)) == [f"arrival {n}" for n in range(4)]

    def test_how_an_arrival_stands_to_what_is_here(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        imports = _imports(ledger)
        here = keep(ledger, "The lamp is here.").memory
        forgotten = keep(ledger, "The boiler is here.").memory
        ledger.change_state(forgotten.id, "forgotten", scope=_HERE, actor=ACTOR)
        gone = keep(ledger, "The canary was here.")
        ledger.erase(ledger.choose(scope=_HERE, ids=[gone.id]), actor=ACTOR)
        with imports.standings("id_text") as standing:
            assert standing(here) == "known"
            assert standing(here._replace(id=new_id())) == "same"
            assert standing(here._replace(scope=BESIDE)) == "taken"
            assert standing(forgotten) == "forgotten"
            assert standing(gone.memory) == "erased"
            assert standing(made(ledger, "something new")) == "new"
        with imports.standings("none") as standing:
            assert standing(here) == "taken"


def _talks(ledger: Ledger) -> Transcripts:
    return Transcripts(ledger.database, ledger.clock)


def _summary(of: list[KeptMessage]) -> NewSummary:
    read = {each.number: content_hash(each.text) for each in of}
    return NewSummary("in short", 2, of[0].place, of[0].at, read, {"summarizer": "none"})


def _imports(ledger: Ledger) -> Imports:
    return Imports(ledger.database, ledger.clock, erased=ledger.is_erased, other_id=lambda run, taken: new_id())


def _take(imports: Imports, run: ImportRun, arrivals: Sequence[Memory], *, place: int, last: bool) -> ImportRun:
    return imports.take(run, arrivals, place=place, left_out={}, dedupe="id", actor=ACTOR, last=last)
