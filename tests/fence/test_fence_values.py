"""What a fence is, before any engine is told of it."""

import inspect
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda.domain.scope import Scope
from memoranda.ledger.connection import Connection
from memoranda.ledger.fence import current, fenced, fences, lifted, lifts, written
from memoranda.ledger.postgres.connection import PostgresConnection
from memoranda.service.nouns import Nouns

SEGMENTS = st.lists(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]{0,8}", fullmatch=True), min_size=1, max_size=6)


def test_without_a_fence_it_is_the_whole_store():
    assert current() == ""


def test_a_fence_is_what_a_scope_sees_and_ends_with_its_block():
    with fenced(Scope("home/anna/phone")):
        assert current() == "home/anna/phone,home/anna,home"
        with fenced(Scope("home/anna/phone", top="home/anna")):
            assert current() == "home/anna/phone,home/anna"
        with lifted():
            assert current() == ""
        assert current() == "home/anna/phone,home/anna,home"
    assert current() == ""


def test_a_fence_is_of_one_thread():
    seen = []
    with fenced(Scope("home")):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [""]


def test_a_fence_ends_with_an_error_too():
    @fences()
    class Bound:
        _scope = Scope("home")

        def verb(self):
            raise ValueError(current())

    with pytest.raises(ValueError, match="home"):
        Bound().verb()
    assert current() == ""


def test_verbs_are_inside_and_what_is_of_the_whole_store_is_outside():
    @lifts()
    class Feed:
        def all(self):
            return current()

    @fences(but=("outside",))
    class Bound:
        _scope = Scope("home")

        def verb(self):
            return current(), Feed().all(), current()

        def outside(self):
            return current()

    assert Bound().verb() == ("home", "", "home")
    assert Bound().outside() == ""


@given(SEGMENTS)
def test_every_scope_can_be_told_to_an_engine(segments):
    told = []

    class Raw(PostgresConnection):
        def __init__(self):
            self.fence = ""

        def together(self, script):
            told.append(script)

    scope = Scope("/".join(segments))
    Raw().begin("begin", written(scope))
    assert told == [f"begin; select set_config('memoranda.fence', '{written(scope)}', true)"]


@pytest.mark.parametrize("fence", ["a'b", "a b", "a;b", "a\\b", 'a"b', "ą", "a\nb"])
def test_what_is_no_fence_is_never_told(fence):
    with pytest.raises(ValueError, match="not a fence"):
        PostgresConnection(None).tell_fence(fence)


def test_every_verb_of_a_memory_is_inside_of_its_fence():
    """A noun or a verb that is added later has to be fenced, too."""
    nouns = {name: kind for name, kind in _nouns().items() if name != "admin"}
    classes = [memoranda.LongTermMemory, *(base for base in memoranda.LongTermMemory.__mro__ if Nouns in base.__mro__)]
    unfenced = [
        f"{kind.__name__}.{name}"
        for kind in {*classes, *nouns.values()}
        for name, found in vars(kind).items()
        if inspect.isfunction(found) and not name.startswith("_") and not hasattr(found, "__wrapped__")
    ]
    assert sorted(unfenced) == ["LongTermMemory.close", "LongTermMemory.within"]
    assert len(nouns) >= 9


def _nouns():
    from memoranda.service.consolidation import Consolidation
    from memoranda.service.conversations import Conversations
    from memoranda.service.documents import Documents
    from memoranda.service.facts import Facts
    from memoranda.service.governance import Governance
    from memoranda.service.preferences import Preferences
    from memoranda.service.profile import Profiles
    from memoranda.service.retention import Retention
    from memoranda.service.review import Review

    known = (Consolidation, Conversations, Documents, Facts, Governance, Preferences, Profiles, Retention, Review)
    named = {name for name, found in vars(Nouns).items() if hasattr(found, "func") and not name.startswith("_")}
    assert len(named) == len(known), f"a noun is not looked at here: {sorted(named)}"
    return {kind.__name__: kind for kind in known}


def test_a_file_has_no_fence_and_none_is_told(opened_file):
    with fenced(Scope("home")):
        connection: Connection
        with opened_file._engine.ledger.database.read() as connection:
            assert not hasattr(connection, "tell_fence")


@pytest.fixture
def opened_file(tmp_path):
    with memoranda.open(tmp_path / "store.db", scope="home") as memory:
        yield memory
