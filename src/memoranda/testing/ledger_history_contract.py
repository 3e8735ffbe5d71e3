"""The contract of a ledger for its history: every change has an event and a revision, and there is a way back.

`LedgerContract` contains it.
"""

from functools import partial
from unittest.mock import patch

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import Conflict, NotFound
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.domain.travel import TravelReceipt
from memoranda.ledger import travel, undoable
from memoranda.ledger.auditing import Auditing
from memoranda.ledger.contents import digest_of, walk
from memoranda.ledger.differing import difference
from memoranda.ledger.gradings import Given, Gradings
from memoranda.ledger.keeping import Keep
from memoranda.ledger.ledger import Ledger
from memoranda.ledger.looking import Happened, Overview
from memoranda.ledger.retaining import Retaining, Rules
from memoranda.ledger.tags import Tags
from memoranda.ledger.travel import Travel
from memoranda.ledger.trusting import Trusts
from memoranda.testing.fakes import FixedClock
from memoranda.testing.ledger_making import (
    ABOVE,
    ACTOR,
    BESIDE,
    HERE,
    LedgerSuite,
    OpenLedger,
    at_once,
    keep,
    listed,
    made,
    outcome,
    texts,
)
from memoranda.testing.raising import raises

_HERE = Scope(HERE)


class LedgerHistoryContract(LedgerSuite):
    """For a `Ledger`: needs the fixtures `open_ledger` and `clock`."""

    def test_every_change_has_an_event_and_a_revision(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        one = _lived(ledger, clock)
        told = ledger.history(one, scope=_HERE)
        actions = ["remembered", "reinforced", "archived", "restored", "graded", "trusted", "forgotten", "restored"]
        assert [each.event.action for each in told] == actions
        assert [each.event.sequence for each in told] == sorted({each.event.sequence for each in told})
        assert told[-1].memory == ledger.get(one, scope=_HERE)
        assert told[2].event.reason == "put away"
        assert {each.event.actor for each in told} == {ACTOR}
        assert all(check.ok for check in ledger.verify())

    def test_what_was_at_a_moment_can_be_seen_again(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        began = clock.now()
        moments: list[tuple[int, dict[str, Memory]]] = []
        one = keep(ledger, "one", tags=["first"]).id
        for change in (
            lambda: keep(ledger, "two"),
            lambda: keep(ledger, "one", tags=["second"]),
            lambda: ledger.change_state(one, "archived", scope=_HERE, actor=ACTOR),
            lambda: keep(ledger, "three", supersedes=listed(ledger, text="two")[0].id),
            lambda: ledger.change_state(one, "restored", scope=_HERE, actor=ACTOR),
        ):
            moments.append((clock.now(), {each.id: each for each in listed(ledger)}))
            clock.advance(ms=1_000)
            change()
        for at, then in moments:
            for moment in (at, at + 999):
                assert {each.id: each for each in listed(ledger, as_of=moment)} == then
                live = {each.id for each in then.values() if each.state == "live"}
                assert {each.id for each in listed(ledger, as_of=moment, states=("live",))} == live
                found = ledger.get(one, scope=_HERE, as_of=moment)
                assert found == then[one]
        assert ledger.get(one, scope=_HERE, as_of=began - 1) is None
        assert listed(ledger, as_of=began - 1) == []

    def test_what_was_changed_meanwhile_is_not_changed_again(self, open_ledger: OpenLedger) -> None:
        ledgers = [open_ledger(), open_ledger()]
        one = keep(ledgers[0], "one").id
        work = [
            partial(outcome, partial(ledgers[n % 2].change_state, one, "forgotten", scope=_HERE, actor=ACTOR))
            for n in range(6)
        ]
        told = at_once(work)
        assert sum(isinstance(each, Conflict) for each in told) == 5
        assert len(ledgers[0].history(one, scope=_HERE)) == 2
        with raises(Conflict):
            ledgers[1].change_state(one, "archived", scope=_HERE, actor=ACTOR)

    def test_what_happened_is_told_page_by_page(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        one = _lived(ledger, clock)
        overview = Overview(ledger.database)
        whole = list(overview.timeline(_HERE, Happened(limit=99), below=False))
        assert [each.sequence for each in whole] == sorted((each.sequence for each in whole), reverse=True)
        pages, before = [], None
        while True:
            page = overview.timeline(_HERE, Happened(limit=3, before=before), below=False)
            pages += list(page)
            before = page.next
            if before is None:
                break
        assert pages == whole
        assert [each.action for each in overview.timeline(_HERE, Happened(9, action="graded"), below=False)] == [
            "graded"
        ]
        own = list(overview.timeline(_HERE, Happened(99, reference=one[:12]), below=False))
        assert own == [each for each in whole if each.memory_id == one]
        since = own[3].at
        assert [each.at for each in overview.timeline(_HERE, Happened(99, after=since, until=since), below=False)] == [
            since
        ]
        audited = list(Auditing(ledger.database).page(_HERE, Happened(limit=99), operation="", below=False))
        assert [each.sequence for each in audited] == [each.sequence for each in whole]

    def test_growth_is_counted_by_days(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        first = clock.now() // DAY_MS
        one = keep(ledger, "one").id
        keep(ledger, "two", importance=0.5)
        clock.advance(days=1)
        keep(ledger, "two")
        ledger.change_state(one, "forgotten", scope=_HERE, actor=ACTOR)
        clock.advance(days=2)
        keep(ledger, "three", supersedes=listed(ledger, text="two")[0].id)
        keep(ledger, "elsewhere", BESIDE)
        days = Overview(ledger.database).growth(_HERE, first=first, last=first + 3, below=False)
        counted = [(day.created, day.reinforced, day.superseded, day.forgotten, day.live) for day in days]
        assert counted == [(2, 0, 0, 0, 2), (0, 1, 0, 1, 1), (0, 0, 0, 0, 1), (1, 0, 1, 0, 1)]
        assert [day.unknown_share for day in days] == [0.5, None, None, 1.0]
        assert [day.day for day in days][:2] == ["2026-01-01", "2026-01-02"]
        assert all(type(value) is int for day in days for value in day[1:7])

    def test_grades_are_kept_with_their_reasons_and_one_stands(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        gradings = Gradings(ledger.database, ledger.clock)
        one = keep(ledger, "one").id
        for score, label in ((0.9, "must_remember"), (0.2, "ignore"), (0.9, "must_remember")):
            gradings.grade(one, Given(score, label, f"because of {score}", "manual", "1"), scope=_HERE, actor=ACTOR)
        told = gradings.of(one, scope=_HERE)
        assert [(each.score, each.rationale, each.stands) for each in told] == [
            (0.9, "because of 0.9", False),
            (0.2, "because of 0.2", False),
            (0.9, "because of 0.9", True),
        ]
        assert gradings.distribution(_HERE, below=False)["must_remember"] == 1
        assert gradings.count_by_hand(_HERE, below=False) == 1
        assert gradings.next(_HERE, below=False, force=True, after=0, limit=9) == []

    def test_what_was_derived_goes_down_with_what_it_was_made_of(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        root = keep(ledger, "root").id
        middle = keep(ledger, "middle", metadata={"derived_from": [root]}).id
        leaf = keep(ledger, "leaf", metadata={"derived_from": ["0" * 20, middle]}).id
        other = keep(ledger, "other", metadata={"note": f"derived_from {root}"}).id
        trusted = Trusts(ledger.database, ledger.clock).change(
            root, "quarantined", scope=_HERE, actor=ACTOR, reason="a lie"
        )
        assert trusted.receipt.demoted == (middle, leaf)
        assert {each.id for each in listed(ledger, trust=("quarantined",))} == {root, middle, leaf}
        assert [each.id for each in listed(ledger, trust=("trusted",))] == [other]

    def test_what_is_over_expires_in_the_order_of_scopes(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        for scope in (BESIDE, HERE, ABOVE):
            keep(ledger, "soon over", scope, valid_until=clock.now() + 5)
            keep(ledger, "for long", scope, valid_until=clock.now() + DAY_MS)
        clock.advance(ms=5)
        assert ledger.lapsed(now=clock.now()) == 3
        assert ledger.expire(now=clock.now(), actor="expiry") == 3
        assert ledger.lapsed(now=clock.now()) == 0
        assert texts(ledger, states=("expired",), here=True) == ["soon over"]

    def test_what_there_is_too_much_of_goes_least_worth_first(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        for number, importance in enumerate((0.1, None, 0.6, 0.9, 0.2, 0.1)):
            clock.advance(ms=1)
            keep(ledger, str(number), importance=importance, source="web" if number == 5 else "user")
        retaining, rules = Retaining(ledger.database), Rules(clock.now(), {"note": 30 * DAY_MS}, 2, DAY_MS)
        (held,) = retaining.scopes(_HERE, rules, below=False)
        assert (held.live, held.lasting, held.over) == (6, 1, 4)
        (kind,) = retaining.kinds(_HERE, rules, below=False)
        assert (kind.live, kind.with_end, kind.ends_in_30, kind.forgotten) == (6, 5, 5, 0)
        order = [ledger.get(each, scope=_HERE) for each in retaining.evictable(held, rules)]
        assert [each.text for each in order if each] == ["5", "0", "4", "1"]
        assert retaining.busy(rules) == [HERE]
        assert len(retaining.evict(_HERE, HERE, rules, actor=ACTOR, batch="")) == 4
        assert texts(ledger, states=("live",)) == ["3", "2"]
        assert retaining.evict(_HERE, HERE, rules, actor=ACTOR, batch="") == []

    # -- tags and ways back --

    def test_a_tag_names_what_is_there(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger, other = open_ledger(), open_ledger()
        tags = Tags(ledger.database, clock)
        keep(ledger, "one")
        tag = tags.add("before", scope=_HERE, actor=ACTOR, note="the move")
        assert tag.sequence == ledger.sequence()
        assert Tags(other.database, clock).find("before", Scope(HERE + "/below")) == tag
        made_by_itself = [tags.add_automatic("rollback!", scope=_HERE, actor=ACTOR, kept=3) for _ in range(5)]
        assert [each.name for each in made_by_itself][:2] == [
            "auto-rollback-20260101-000000",
            "auto-rollback-20260101-000000-2",
        ]
        page = tags.page(_HERE, limit=9, offset=0)
        assert [each.name for each in page if each.automatic] == [each.name for each in made_by_itself[:1:-1]]
        assert page.total == 4
        assert tags.automatic_before("rollback", scope=_HERE, sequence=99) == made_by_itself[-1]
        assert {type(each.automatic) for each in page} == {bool}

    def test_an_operation_is_undone_as_a_whole_and_its_undo_as_well(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        keep(ledger, "before")
        keeps = [Keep(made(ledger, f"together {n}")) for n in range(3)]
        ledger.remember(keeps, scope=_HERE, actor=ACTOR)
        both = _contents(ledger)
        back = _travel(ledger).undo(None)
        assert (back.name, back.memories, back.taken_away) == ("remember", 3, 3)
        assert texts(ledger, states=("live",)) == ["before"]
        with raises(Conflict):
            _travel(ledger).undo(back.target)
        again = _travel(open_ledger()).undo(back.first)
        assert (again.name, again.brought_back) == ("undo", 3)
        assert _contents(ledger) == both
        with ledger.database.read() as connection:
            page = undoable.page(connection, _HERE, below=False, before=None, limit=9)
        assert [(each.name, each.memories, each.undone) for each in page] == [
            ("undo", 3, False),
            ("undo", 3, True),
            ("remember", 3, False),
            ("remember", 1, False),
        ]
        assert page[0].undoes == page[1].first

    def test_of_two_who_undo_the_same_one_does(self, open_ledger: OpenLedger) -> None:
        ledgers = [open_ledger(), open_ledger()]
        sequence = keep(ledgers[0], "one").receipt.sequence
        told = at_once([partial(outcome, partial(_travel(ledgers[n % 2]).undo, sequence)) for n in range(4)])
        assert sum(isinstance(each, TravelReceipt) for each in told) == 1
        assert sum(isinstance(each, Conflict) for each in told) == 3

    def test_what_somebody_changed_since_stands_in_the_way(self, open_ledger: OpenLedger, clock: FixedClock) -> None:
        ledger = open_ledger()
        fields = {"about": "lamp", "attribute": "location", "slot": "one"}
        first = keep(ledger, "The lamp is here.", value="here", **fields)
        clock.advance(ms=1)
        second = keep(ledger, "The lamp is there.", value="there", **fields)
        clock.advance(ms=1)
        keep(ledger, "The lamp is gone.", value="gone", **fields)
        with raises(Conflict):
            _travel(ledger).undo(second.receipt.sequence)
        assert _travel(ledger).undo(None).name == "remember"
        assert _travel(ledger).undo(None).name == "remember"
        assert [each.id for each in listed(ledger, states=("live",))] == [first.id]
        with raises(NotFound):
            _travel(ledger).undo(99)

    def test_everything_goes_back_to_a_moment_and_forward_again(
        self, open_ledger: OpenLedger, clock: FixedClock
    ) -> None:
        ledger = open_ledger()
        one, two = keep(ledger, "one", importance=0.3).id, keep(ledger, "two").id
        at, before = ledger.sequence(), _contents(ledger)
        clock.advance(ms=1)
        keep(ledger, "three")
        keep(ledger, "one", importance=0.7)
        ledger.change_state(two, "forgotten", scope=_HERE, actor=ACTOR)
        keep(ledger, "elsewhere", BESIDE)
        after = _contents(ledger)
        with ledger.database.read() as connection:
            told = difference(connection, _HERE, at, ledger.sequence(), below=False, limit=9, offset=0)
        assert {name: told.counts[name] for name in ("added", "gone", "changed")} == {
            "added": 1,
            "gone": 1,
            "changed": 1,
        }
        looked = _travel(ledger).rollback(at, preview=True)
        back = _travel(ledger).rollback(at)
        assert (looked.memories, back.brought_back, back.taken_away, back.revised) == (3, 1, 1, 1)
        assert _contents(ledger) == before
        assert texts(ledger, BESIDE) == ["elsewhere"]
        assert _travel(ledger).rollback(at).memories == 0
        _travel(ledger).undo(None)
        assert _contents(ledger) == after
        assert len(ledger.history(one, scope=_HERE)) == 4

    def test_what_is_long_goes_back_in_several_commits(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        at = ledger.sequence()
        for start in range(0, 60, 20):
            keeps = [Keep(made(ledger, f"number {n}")) for n in range(start, start + 20)]
            ledger.remember(keeps, scope=_HERE, actor=ACTOR)
        steps: list[int] = []
        with patch.object(travel, "AT_ONCE", 30), patch.object(travel, "_BITE", 25):
            back = _travel(ledger).rollback(at, tell=lambda done, total: steps.append(done))
            assert (back.memories, back.left, steps) == (60, 0, [25, 50, 60])
            assert ledger.stats(scope=_HERE).by_state == {"forgotten": 60}
            assert _travel(ledger).undo(back.first).brought_back == 60
        assert ledger.stats(scope=_HERE).by_state == {"live": 60}
        assert all(check.ok for check in ledger.verify())


def _lived(ledger: Ledger, clock: FixedClock) -> str:
    """The id of a memory to which much has happened, among others."""
    one = keep(ledger, "one", HERE).id
    keep(ledger, "another", ABOVE)
    keep(ledger, "elsewhere", BESIDE)
    clock.advance(ms=10)
    keep(ledger, "One.", HERE, tags=["said again"])
    clock.advance(ms=10)
    ledger.change_state(one, "archived", scope=_HERE, actor=ACTOR, reason="put away")
    clock.advance(ms=10)
    ledger.change_state(one, "restored", scope=_HERE, actor=ACTOR)
    clock.advance(ms=10)
    given = Given(0.6, "nice_to_have", "why not", "manual", "1")
    Gradings(ledger.database, clock).grade(one, given, scope=_HERE, actor=ACTOR)
    clock.advance(ms=10)
    Trusts(ledger.database, clock).change(one, "untrusted", scope=_HERE, actor=ACTOR, reason="")
    clock.advance(ms=10)
    ledger.change_state(one, "forgotten", scope=_HERE, actor=ACTOR)
    clock.advance(ms=10)
    ledger.change_state(one, "restored", scope=_HERE, actor=ACTOR)
    return one


def _travel(ledger: Ledger) -> Travel:
    return Travel(ledger, _HERE, below=False, actor=ACTOR, grace_ms=30 * DAY_MS)


def _contents(ledger: Ledger) -> tuple[int, str]:
    with ledger.database.read() as connection:
        return digest_of(walk(connection, _HERE, below=False))
