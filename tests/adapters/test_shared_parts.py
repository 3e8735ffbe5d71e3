"""What adapters share: names as scopes, filters, conversations, what goes around a turn; and what is not imported."""

import asyncio
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from client.conftest import Running
from memoranda.adapters.around import Turns, facade
from memoranda.adapters.items import Items, about_of, key_of
from memoranda.adapters.matching import fits_filters, fits_store_filter
from memoranda.adapters.places import holding, name_of, names_of, scope_of, segment
from memoranda.adapters.talks import Talk
from memoranda.domain.scope import Scope
from support import open_store

ADAPTERS = {
    "langgraph": "langgraph",
    "langchain": "langchain",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
    "llama_index": "llama-index",
    "agno": "agno",
    "google_adk": "google-adk",
    "litellm": "litellm",
    "crewai": "crewai",
}


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4))
def test_every_name_is_a_segment_of_a_scope_and_can_be_read_back(names):
    scope = scope_of("base/app", names)
    Scope(scope)
    assert names_of("base/app", scope) == tuple(names)


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_two_names_never_share_a_segment(one, another):
    assert (segment(one) == segment(another)) == (one == another)
    assert name_of(segment(one)) == one


@given(st.text(min_size=1, max_size=40))
def test_a_key_is_read_back_from_the_subject_that_it_is_kept_under(key):
    memory = memoranda.Memory("id", "scope", "note", "text", about=about_of(key).strip())
    assert key_of(memory) == key


@pytest.mark.parametrize("name", ["", None, 3])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(memoranda.InvalidInput):
        segment(name)


@pytest.mark.parametrize(
    ("value", "wanted", "fits"),
    [
        (3, 3, True),
        (3, {"$gt": 2, "$lte": 3}, True),
        (3, {"$lt": 3}, False),
        ("3", {"$gt": 2}, False),
        (None, {"$gt": 2}, False),
        (True, 1, False),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True),
        ({"a": 1}, {"a": {"$ne": 1}}, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [1], False),
    ],
)
def test_filters_of_a_store(value, wanted, fits):
    assert fits_store_filter(value, wanted) is fits


def test_an_operator_that_is_unknown_is_an_error_that_names_those_there_are():
    with pytest.raises(memoranda.InvalidInput) as refused:
        fits_store_filter(1, {"$regex": "x"})
    assert "gte" in refused.value.hint
    with pytest.raises(memoranda.InvalidInput):
        fits_filters({"n": 1}, {"AND": "n"})


def test_what_is_taken_back_from_a_conversation_is_not_shown_and_not_lost(store):
    talk = Talk(store, "c")
    assert (talk.shown(), talk.take_back()) == ([], None)
    talk.append([memoranda.user(f"line {number}") for number in range(4)])
    assert [talk.take_back().text for _ in range(2)] == ["line 3", "line 2"]
    talk.append([memoranda.user("line 4")])
    assert talk.take_back().text == "line 4"
    talk.append([memoranda.user("line 5")])
    assert [each.text for each in talk.shown()] == ["line 0", "line 1", "line 5"]
    assert len(store.conversations.messages("c")) == 6
    talk.clear()
    assert talk.shown() == []


def test_a_conversation_of_the_same_name_above_is_another_one(store):
    Talk(store, "c").append([memoranda.user("of the app")])
    below = Talk(store.within("app/anna"), "c")
    assert below.shown() == []
    below.append([memoranda.user("of anna")])
    assert [each.text for each in below.shown()] == ["of anna"]
    assert [each.text for each in Talk(store, "c").shown()] == ["of the app"]


def test_turns_without_a_user_are_beside_those_of_users_and_not_above(store):
    turns = Turns(store)
    turns.nobodys().after([memoranda.user("Remember that my spare key lies under the blue pot.")])
    asked = "Where does the spare key lie?"
    assert "blue pot" in turns.nobodys().before(asked)
    for name in ("anna", "nobody", "0~nobody"):
        assert turns.within(scope_of("app", [name])).before(asked) == "", name
    assert store.list(here=True).total == 0


def test_scopes_are_given_by_what_they_hold(store):
    kept, gone = store.within("app/kept"), store.within("app/gone")
    kept.remember("The gate is green.")
    gone.forget(gone.remember("The gate is blue."))
    assert list(holding(store, live=True)) == ["app/kept"]
    assert set(holding(store, live=False)) == {"app/kept", "app/gone"}
    items = Items(store, "things")
    assert [view.scope for view in items.views()] == ["app/kept"]


def _put(items, key, text):
    view = items.view(["anna"])

    def drafts():
        known = items.versions(view, key)
        again = known[0] if known else None
        return [memoranda.Draft(text, about=about_of(key), tags=items.tags(view), source="assistant", supersedes=again)]

    items.put(view, drafts)
    return [each.text for each in items.versions(view, key)]


def test_a_key_is_put_with_a_writers_token_also_again(tmp_path):
    served = Running(tmp_path / "store.db")
    try:
        with memoranda.connect(served.url, served.token(scope="app"), scope="app") as memory:
            items = Items(memory, "things")
            assert _put(items, "gate", "The gate is green.") == ["The gate is green."]
            assert _put(items, "gate", "The gate is blue.") == ["The gate is blue."]
            with pytest.raises(memoranda.Refused, match="secret"):
                _put(items, "key", "The key is ghp_" + "a1B2" * 9)
    finally:
        served.close()


def test_a_key_is_put_again_after_what_it_said_was_erased(store):
    items = Items(store, "things")
    _put(items, "gate", "The gate is green.")
    view = items.view(["anna"])
    view.erase(view.list(here=True)[0])
    assert _put(items, "gate", "The gate is green.") == ["The gate is green."]


def test_a_closed_store_leaves_a_turn_without_memory_and_says_so_without_text(tmp_path, caplog):
    memory = open_store(tmp_path / "a.db", "app")
    turns = Turns(memory)
    memory.close()
    with caplog.at_level("WARNING"):
        assert turns.before("where is the reading lamp?") == ""
        assert turns.after([memoranda.user("I prefer tea to coffee.")]) is None
    assert len(caplog.records) == 2
    assert "tea" not in caplog.text


def test_an_adapter_takes_the_async_face_as_well(tmp_path):
    async def opened():
        async with memoranda.aio.open(tmp_path / "a.db", scope="app", embedder="none") as memory:
            return facade(memory).scope

    assert asyncio.run(opened()) == "app"


def test_a_hosts_key_may_look_random_and_a_subject_may_not(store):
    key = "c946fa482daa4befb20977af70ea7836"
    assert store.remember("A note under a key.", about=f"item:{key}").memory.about.endswith(key)
    with pytest.raises(memoranda.Refused):
        store.remember("A note about a token.", about=key)
    with pytest.raises(memoranda.Refused):
        store.remember("A note under a real secret.", about="item:ghp_" + "a1B2" * 9)


def test_where_a_framework_is_missing_the_error_names_the_extra_and_memoranda_imports_no_adapter():
    code = """
import importlib, sys
import memoranda.aio, memoranda.cli.app, memoranda.service.memory, memoranda.client.memory
print([name for name in sys.modules if name.startswith("memoranda.adapters")])
for name in sys.argv[1:]:
    try:
        importlib.import_module(f"memoranda.adapters.{name}")
    except memoranda.ProviderMissing as error:
        print(name, error.hint)
    else:
        print(name, "is installed")
"""
    done = subprocess.run([sys.executable, "-c", code, *ADAPTERS], capture_output=True, text=True, check=True)
    first, *lines = done.stdout.splitlines()
    assert first == "[]"
    expected = [
        (f'{name} pip install "memoranda[{extra}]"', f"{name} is installed") for name, extra in ADAPTERS.items()
    ]
    assert all(line in either for line, either in zip(lines, expected, strict=True)), lines
