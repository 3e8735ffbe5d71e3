"""The contract of a ledger for scopes: no way of reading shows what a scope may not see, however its name is spelt.

`LedgerContract` contains it.
"""

from memoranda.domain.clock import DAY_MS
from memoranda.domain.errors import Conflict, NotFound, Refused
from memoranda.domain.scope import Scope
from memoranda.ledger.gradings import Gradings
from memoranda.ledger.looking import Overview
from memoranda.ledger.tags import Tags
from memoranda.ledger.travel import Travel
from memoranda.testing.ledger_making import ACTOR, EVERYTHING, LedgerSuite, OpenLedger, keep, listed
from memoranda.testing.ledger_ways import SCOPES, WAYS, expected, filled
from memoranda.testing.raising import raises


class LedgerScopesContract(LedgerSuite):
    """For a `Ledger`: needs the fixture `open_ledger`."""

    def test_no_way_of_reading_shows_what_a_scope_may_not_see(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        filled(ledger)
        for path in SCOPES:
            scope = Scope(path)
            for name, way in WAYS.items():
                assert set(way.shown(ledger, scope)) == expected(scope, way.reach), (name, path)

    def test_what_is_above_the_top_is_not_seen(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        filled(ledger)
        scope = Scope("a/b/c", top="a/b")
        for name, way in WAYS.items():
            if way.reach == "chain":
                assert set(way.shown(ledger, scope)) == {"a/b/c", "a/b"}, name

    def test_by_its_id_a_memory_is_seen_from_its_scope_and_below_it_alone(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        kept = filled(ledger)
        for path in SCOPES:
            scope = Scope(path)
            for owner, memory in kept.items():
                number = ledger.number_of(memory.id, scope=Scope(owner))
                assert bool(ledger.load([number], scope=scope)) == scope.sees(owner)
                for read in (ledger.get, ledger.number_of, ledger.history, Gradings(ledger.database, ledger.clock).of):
                    if scope.sees(owner):
                        assert read(memory.id, scope=scope) is not None
                    else:
                        with raises(NotFound):
                            read(memory.id, scope=scope)

    def test_by_its_id_a_memory_is_changed_from_its_scope_and_above_it_alone(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        kept = filled(ledger)
        before = ledger.sequence()
        for path in SCOPES:
            scope = Scope(path)
            for memory in kept.values():
                owner = memory.memory.scope
                if not scope.sees(owner):
                    with raises(NotFound):
                        ledger.change_state(memory.id, "forgotten", scope=scope, actor=ACTOR)
                elif owner != path:
                    with raises(Refused):
                        ledger.change_state(memory.id, "forgotten", scope=scope, actor=ACTOR)
        assert ledger.sequence() == before

    def test_a_way_back_reaches_its_scope_and_what_is_asked_for_below(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        kept = filled(ledger)
        at = ledger.sequence()
        for path, memory in kept.items():
            ledger.change_state(memory.id, "archived", scope=Scope(path), actor=ACTOR)
        for below, reached in ((False, {"a/b"}), (True, {"a/b", "a/b/c", "a/b/c/d"})):
            travel = Travel(ledger, Scope("a/b"), below=below, actor=ACTOR, grace_ms=DAY_MS)
            assert travel.rollback(at).memories == (1 if not below else len(reached) - 1)
            back = {memory.scope for path in SCOPES for memory in listed(ledger, path, here=True, states=("live",))}
            assert back == reached

    def test_an_erasure_takes_its_scope_and_what_is_below(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        filled(ledger)
        chosen = ledger.choose(scope=Scope("a/b"))
        assert {memory.scope for _, memory in chosen} == expected(Scope("a/b"), "below")
        ledger.erase(chosen, actor=ACTOR)
        left = {
            each.scope for each in Overview(ledger.database).scopes("", limit=EVERYTHING, offset=0) if each.memories
        }
        assert left == set(SCOPES) - expected(Scope("a/b"), "below")

    def test_the_same_words_and_slots_of_other_scopes_are_left_alone(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        for path in SCOPES:
            fields = {"about": "lamp", "attribute": "location", "slot": "one"}
            first = keep(ledger, "The lamp is here.", path, value="here", **fields)
            second = keep(ledger, "The lamp is there.", path, value="there", **fields)
            assert (first.receipt.outcome, second.receipt.superseded) == ("created", first.id)
        assert all(len(listed(ledger, path, here=True, states=("live",))) == 1 for path in SCOPES)

    def test_what_was_erased_in_one_scope_may_be_said_in_another(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        chosen = [keep(ledger, "The lamp is here.", path) for path in SCOPES if path != "a/b"]
        only = keep(ledger, "The lamp is here.", "a/b")
        ledger.erase(ledger.choose(scope=Scope("a/b"), ids=[only.id]), actor=ACTOR)
        with raises(Refused):
            keep(ledger, "the LAMP is here!", "a/b")
        again = [keep(ledger, "The lamp is here.", path) for path in SCOPES if path != "a/b"]
        assert [each.id for each in again] == [each.id for each in chosen]

    def test_a_tag_of_another_scope_is_no_tag_here(self, open_ledger: OpenLedger) -> None:
        ledger = open_ledger()
        tags = Tags(ledger.database, ledger.clock)
        for path in SCOPES:
            tags.add("before", scope=Scope(path), actor=ACTOR)
        with raises(Conflict):
            tags.add("before", scope=Scope("a/b"), actor=ACTOR)
        assert tags.remove("before", scope=Scope("a/b")).scope == "a/b"
        with raises(NotFound):
            tags.remove("before", scope=Scope("a/b"))
        found = tags.find("before", Scope("a/b"))
        assert found is not None
        assert found.scope == "a"
