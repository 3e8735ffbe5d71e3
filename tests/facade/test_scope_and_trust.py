"""Who sees what, and who may change it."""

import pytest

from memoranda import (
    NotFound,
    Refused,
)
from memoranda.domain.ports import Candidate, IndexAnswer
from memoranda.domain.scope import Scope
from support import open_store


def test_recall_looks_upward_and_never_sideways(path):
    with open_store(path, "bot-1") as memory:
        scopes = [
            "bot-1",
            "bot-1/group-7",
            "bot-1/group-7/alice",
            "bot-1/group-70",
            "bot-1/group-7/al",
            "bot-1/x/alice",
        ]
        ids = {scope: memory.within(scope).remember(f"the secret word of {scope}").id for scope in scopes}
        alice = memory.within("bot-1/group-7/alice")
        visible = {ids[scope] for scope in scopes[:3]}
        assert {hit.id for hit in alice.recall("secret word", limit=50)} == visible
        assert {each.id for each in alice.list()} == visible
        assert alice.stats().by_scope.keys() == set(scopes[:3])
        assert {hit.id for hit in memory.recall("secret word", limit=50)} == {ids["bot-1"]}
    with open_store(path, "bot-10") as other:
        assert not other.recall("secret word")
        assert other.stats().total == 0


def test_a_foreign_id_is_as_unknown_as_one_that_never_was(path):
    with open_store(path, "home/bob") as bob:
        his = bob.remember("Bob's secret").id
    with open_store(path, "home/anna") as anna:
        never = "0123456789abcdefghjk"
        for verb in ("get", "history", "forget", "archive", "restore", "erase"):
            told = []
            for reference in (his, never):
                with pytest.raises(NotFound) as refused:
                    getattr(anna, verb)(reference)
                told.append((str(refused.value).replace(reference, "ID"), refused.value.hint))
            assert told[0] == told[1], verb
        with pytest.raises(NotFound):
            anna.remember("taken over", supersedes=his)
        with pytest.raises(NotFound):
            anna.get(his[:8])
    with open_store(path, "home/bob") as bob:
        assert bob.get(his).state == "live"


def test_what_belongs_above_cannot_be_changed_from_below(path):
    with open_store(path, "home") as home:
        shared = home.remember("the boiler manual is in the cellar", about="boiler", speaker="anna")
    with open_store(path, "home/anna") as anna:
        assert anna.get(shared).id == shared.id
        changes = (
            lambda: anna.forget(shared),
            lambda: anna.archive(shared),
            lambda: anna.erase(shared),
            lambda: anna.remember("it is in the attic", supersedes=shared),
        )
        for change in changes:
            with pytest.raises(Refused) as refused:
                change()
            assert "home" in refused.value.hint
        assert anna.erase(about="boiler").ids == ()
        assert anna.erase(speaker="anna").ids == ()
        assert anna.erase(query="boiler manual").ids == ()
        with pytest.raises(Refused):
            anna.erase(scope="home")
        with pytest.raises(Refused):
            anna.within("home/bob")
        with pytest.raises(Refused):
            anna.within("home")
        assert anna.stats().total == 1
    with open_store(path, "home") as home:
        assert home.get(shared).state == "live"


def test_the_index_proposes_and_the_ledger_disposes(path, monkeypatch):
    """An index that lies, or is behind, cannot show what may not be seen."""
    with open_store(path, "home") as memory:
        anna, bob = memory.within("home/anna"), memory.within("home/bob")
        his = bob.remember("the secret word of Bob")
        gone = anna.remember("the secret word that Anna forgot")
        over = anna.remember("the secret word of yesterday", valid_until=1_000)
        hers = anna.remember("the secret word of Anna")
        anna.forget(gone)
        everything = tuple(Candidate(number, 1.0, None, number, None) for number in range(1, 9))
        monkeypatch.setattr(memory._engine.memories, "search", lambda query: IndexAnswer(everything, 8, 0))
        found = anna.recall("secret word", limit=10)
        assert [hit.id for hit in found] == [hers.id]
        assert sum(found.receipt.dropped.values()) == 7
        assert {his.id, gone.id, over.id}.isdisjoint(hit.id for hit in found)
        loaded = memory._engine.ledger.load(range(1, 9), scope=Scope("home/anna"))
        assert his.id not in {each.id for each in loaded.values()}


@pytest.mark.parametrize("source", ["assistant", "tool", "web", "import"])
def test_what_is_not_trusted_cannot_supersede_what_is(face, source):
    said = face.remember("Anna's code is 1234.")
    with pytest.raises(Refused):
        face.remember("Anna's code is 9999.", source=source, supersedes=said)
    assert face.stats().total == 1
    claimed = face.remember("Anna's code is 9999.", source=source)
    assert claimed.memory.trust == "untrusted"
    assert face.remember("Anna's code is 5678.", supersedes=claimed).receipt.superseded == claimed.id


def test_an_echo_of_the_assistant_does_not_reinforce_what_the_user_said(face):
    said = face.remember("Anna reads by the lamp.", confidence=0.5)
    echo = face.remember("Anna reads by the lamp.", source="assistant", tags=["sneaky"])
    assert echo.id != said.id
    assert face.get(said).confidence == 0.5
    assert face.get(said).tags == ()
