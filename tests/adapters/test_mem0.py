"""mem0's verbs over Memoranda: nothing is dropped silently, nothing reaches across owners, ids stay."""

import asyncio

import pytest

import memoranda
from memoranda.adapters.mem0 import AsyncMemory, Memory


def texts(answer):
    return [each["memory"] for each in answer["results"]]


@pytest.mark.parametrize(
    "said",
    [
        "Alice loves hiking",
        "My sister Ewa works at the hospital and has two kids. Her dog is Burek.",
        [{"role": "user", "content": "The blue van is parked behind the church since Tuesday"}],
    ],
)
def test_a_plain_statement_is_kept(mem0, said):
    added = mem0.add(said, user_id="alice")
    assert [each["event"] for each in added["results"]] == ["ADD"]
    assert texts(mem0.get_all(filters={"user_id": "alice"})) == texts(added)


def test_what_is_left_out_of_a_conversation_is_counted(mem0):
    talk = [
        {"role": "user", "content": "hello there"},
        {"role": "assistant", "content": "hello, how can I help?"},
        {"role": "user", "content": "I prefer tea to coffee."},
    ]
    added = mem0.add(talk, user_id="alice", metadata={"topic": "drinks"})
    assert texts(added) == ["I prefer tea to coffee."]
    assert sum(added["skipped"].values()) == 2
    assert texts(mem0.get_all(filters={"user_id": "alice", "topic": "drinks"})) == texts(added)


def test_a_question_alone_says_nothing_and_the_answer_tells(mem0):
    added = mem0.add("what time is it?", user_id="alice")
    assert added["results"] == []
    assert added["skipped"]


def test_without_inference_every_message_is_kept_and_only_the_users_is_trusted(mem0, store):
    said = [
        {"role": "system", "content": "You are a bot."},
        {"role": "user", "content": "what time is it?", "name": "anna"},
        {"role": "assistant", "content": "Noon."},
    ]
    added = mem0.add(said, user_id="alice", infer=False)
    assert [(each["memory"], each["role"], each["actor_id"]) for each in added["results"]] == [
        ("what time is it?", "user", "anna"),
        ("Noon.", "assistant", None),
    ]
    kept = {each.text: each.trust for each in store.within("app/user.alice").list()}
    assert kept == {"what time is it?": "trusted", "Noon.": "untrusted"}


def test_what_is_said_again_is_no_second_memory(mem0):
    first = mem0.add("Alice loves hiking", user_id="alice")["results"][0]
    again = mem0.add("Alice loves hiking", user_id="alice")["results"][0]
    assert (again["id"], again["event"]) == (first["id"], "NONE")


def test_no_call_reaches_what_belongs_to_another_user(mem0):
    owners = [
        {"user_id": "alice"},
        {"user_id": "Alice"},
        {"user_id": "alice/agent.a"},
        {"user_id": "alice", "agent_id": "a"},
        {"user_id": "alice", "run_id": "a"},
        {"agent_id": "a"},
        {"agent_id": "alice"},
        {"run_id": "alice"},
        {"user_id": "../alice"},
        {"user_id": "*"},
    ]
    for number, owner in enumerate(owners):
        mem0.add(f"the password of the garden gate number {number} hangs behind the door", infer=False, **owner)
    for number, owner in enumerate(owners[:-1]):
        covered = {
            place
            for place, other in enumerate(owners)
            if all(other.get(name) == value for name, value in owner.items())
        }
        covered = {place for place in covered if ("user_id" in owners[place]) == ("user_id" in owner)}
        wanted = {f"the password of the garden gate number {place} hangs behind the door" for place in covered}
        assert number in covered
        assert set(texts(mem0.get_all(filters=owner, top_k=100))) == wanted
        assert set(texts(mem0.search("garden gate", filters=owner, top_k=100, threshold=0))) <= wanted
        assert {each["id"] for each in mem0.get_all(**owner)["results"]} == {
            each["id"] for each in mem0.get_all(filters=owner)["results"]
        }


@pytest.mark.parametrize("filters", [{"user_id": "*"}, {"user_id": {"ne": "alice"}}, {"topic": "x"}, {}, None])
def test_filters_that_name_nobody_are_refused(mem0, filters):
    mem0.add("Alice loves hiking", user_id="alice")
    with pytest.raises(memoranda.InvalidInput):
        mem0.get_all(filters=filters)
    with pytest.raises(memoranda.InvalidInput):
        mem0.search("hiking", filters=filters)


def test_metadata_cannot_move_a_memory_to_another_owner(mem0):
    mem0.add("Alice loves hiking", user_id="alice", metadata={"user_id": "bob", "agent_id": "x"})
    kept = mem0.get_all(filters={"user_id": "alice"})["results"][0]
    assert (kept["user_id"], "agent_id" in kept) == ("alice", False)
    first = kept["id"]
    mem0.update(first, metadata={"user_id": "bob"})
    assert mem0.get(first)["user_id"] == "alice"
    assert mem0.get_all(filters={"user_id": "bob"})["results"] == []


@pytest.mark.parametrize(
    ("filters", "fitting"),
    [
        ({"n": 2}, {2}),
        ({"n": {"gt": 1}}, {2, 3}),
        ({"n": {"gte": 2, "lt": 3}}, {2}),
        ({"n": {"in": [1, 3]}}, {1, 3}),
        ({"n": {"nin": [1, 3]}}, {2}),
        ({"n": {"ne": 1}}, {2, 3}),
        ({"word": {"contains": "w"}}, {2}),
        ({"word": {"icontains": "T"}}, {2, 3}),
        ({"word": "*"}, {1, 2, 3}),
        ({"OR": [{"n": 1}, {"word": "two"}]}, {1, 2}),
        ({"NOT": [{"n": 1}]}, {2, 3}),
        ({"AND": [{"user_id": "alice"}, {"NOT": [{"n": 3}]}]}, {1, 2}),
    ],
)
def test_filters_are_those_of_mem0(mem0, filters, fitting):
    for number, word in ((1, "one"), (2, "two"), (3, "three")):
        mem0.add(f"note number {word}", user_id="alice", infer=False, metadata={"n": number, "word": word})
    mem0.add("note number two", user_id="bob", infer=False, metadata={"n": 2, "word": "two"})
    given = filters if "AND" in filters else {"user_id": "alice", **filters}
    assert {each["metadata"]["n"] for each in mem0.get_all(filters=given)["results"]} == fitting


def test_several_owners_can_be_named_with_or(mem0):
    mem0.add("Alice loves hiking", user_id="alice")
    mem0.add("Bob keeps bees", user_id="bob")
    mem0.add("Carol plays chess", user_id="carol")
    both = {"OR": [{"user_id": "alice"}, {"user_id": "bob"}]}
    assert set(texts(mem0.get_all(filters=both))) == {"Alice loves hiking", "Bob keeps bees"}


def test_an_operator_that_is_none_is_an_error(mem0):
    mem0.add("x is a letter", user_id="alice", infer=False)
    with pytest.raises(memoranda.InvalidInput, match="operator"):
        mem0.get_all(filters={"user_id": "alice", "n": {"like": 1}})


def test_an_update_keeps_the_id_and_the_history(mem0):
    first = mem0.add("Alice loves hiking", user_id="alice", metadata={"topic": "sport"})["results"][0]["id"]
    mem0.update(first, "Alice loves climbing")
    mem0.update(first, text="Alice loves caves", metadata={"level": 2})
    shown = mem0.get(first)
    assert (shown["id"], shown["memory"], shown["metadata"]) == (
        first,
        "Alice loves caves",
        {"topic": "sport", "level": 2},
    )
    assert [(line["event"], line["old_memory"], line["new_memory"]) for line in mem0.history(first)] == [
        ("ADD", None, "Alice loves hiking"),
        ("UPDATE", "Alice loves hiking", "Alice loves climbing"),
        ("UPDATE", "Alice loves climbing", "Alice loves caves"),
    ]
    assert {line["memory_id"] for line in mem0.history(first)} == {first}
    assert texts(mem0.search("what does Alice love?", filters={"user_id": "alice"})) == ["Alice loves caves"]


def test_what_is_deleted_is_gone_and_can_be_added_again(mem0, store):
    first = mem0.add("Alice loves hiking", user_id="alice")["results"][0]["id"]
    assert mem0.delete(first) == {"message": "Memory deleted successfully!"}
    assert mem0.get(first) is None
    assert mem0.history(first)[-1]["is_deleted"]
    with pytest.raises(ValueError, match="not found"):
        mem0.delete(first)
    again = mem0.add("Alice loves hiking", user_id="alice")["results"]
    assert [each["event"] for each in again] == ["ADD"]
    assert store.within("app/user.alice").restore(first).memory.state == "live"


def test_deleting_all_of_one_user_leaves_the_others(mem0):
    mem0.add("Alice loves hiking", user_id="alice", run_id="r1")
    mem0.add("Alice keeps bees", user_id="alice")
    mem0.add("Bob keeps bees", user_id="bob")
    mem0.delete_all(user_id="alice")
    assert mem0.get_all(filters={"user_id": "alice"})["results"] == []
    assert texts(mem0.get_all(filters={"user_id": "bob"})) == ["Bob keeps bees"]
    with pytest.raises(ValueError, match="filter is required"):
        mem0.delete_all()
    mem0.reset()
    assert mem0.get_all(filters={"user_id": "bob"})["results"] == []


def test_what_has_expired_is_hidden_unless_asked_for(mem0):
    mem0.add("Alice is in Gdansk", user_id="alice", expiration_date="2020-01-01")
    mem0.add("Alice is in Sopot", user_id="alice", expiration_date="2999-12-31")
    assert texts(mem0.get_all(filters={"user_id": "alice"})) == ["Alice is in Sopot"]
    every = mem0.get_all(filters={"user_id": "alice"}, show_expired=True)["results"]
    assert {each["expiration_date"] for each in every} == {"2020-01-01", "2999-12-31"}


@pytest.mark.parametrize("by", ["delete_all", "reset"])
def test_deleting_all_reaches_what_was_archived_and_what_has_expired(mem0, store, by):
    archived = mem0.add("Alice keeps bees", user_id="alice", infer=False)["results"][0]["id"]
    store.within("app/user.alice").archive(archived)
    mem0.add("Bob is in Gdansk", user_id="bob", expiration_date="2020-01-01", infer=False)
    store.admin.maintain()
    assert texts(mem0.get_all(user_id="bob", show_expired=True)) == ["Bob is in Gdansk"]
    assert [each.live for each in store.scopes() if each.scope in ("app/user.alice", "app/user.bob")] == [0, 0]
    for name in ("alice", "bob"):
        mem0.delete_all(user_id=name) if by == "delete_all" else mem0.reset()
        left = store.within(f"app/user.{name}").list(here=True, states=("live", "expired", "archived", "forgotten"))
        assert [each.state for each in left] == ["forgotten"]
    assert mem0.get_all(user_id="bob", show_expired=True)["results"] == []


@pytest.mark.parametrize("said", ["My favourite colour is blue.", "I live in Paris.", "I prefer tea over coffee."])
def test_what_was_given_along_is_kept_with_what_capture_finds(mem0, store, said):
    (added,) = mem0.add(said, user_id="alice", metadata={"session": "s1"}, expiration_date="2999-12-31")["results"]
    (found,) = mem0.get_all(filters={"user_id": "alice", "session": "s1"})["results"]
    assert (found["id"], found["metadata"], found["expiration_date"]) == (
        added["id"],
        {"session": "s1"},
        "2999-12-31",
    )
    assert store.within("app/user.alice").list(here=True).total == 1


def test_limits_of_old_and_new_versions_mean_the_same(mem0):
    for number in range(5):
        mem0.add(f"note number {number}", user_id="alice", infer=False)
    assert len(mem0.get_all(user_id="alice", limit=2)["results"]) == 2
    assert len(mem0.get_all(filters={"user_id": "alice"}, top_k=3)["results"]) == 3
    assert mem0.search("note", filters={"user_id": "alice"}, top_k=0)["results"] == []


def test_a_secret_is_refused_aloud(mem0):
    with pytest.raises(memoranda.Refused):
        mem0.add("my key is sk-proj-Zb3kQ9vT2mXw7LrY5nPd8sHc", user_id="alice", infer=False)


def test_from_config_uses_its_own_part_and_tells_of_the_rest(tmp_path, caplog):
    own = {"path": str(tmp_path / "mem0.db"), "scope": "bot", "embedder": "none"}
    config = {"llm": {"provider": "openai"}, "memoranda": own}
    with caplog.at_level("WARNING"), Memory.from_config(config) as memory:
        memory.add("Alice loves hiking", user_id="alice")
        assert memory.memory.scope == "bot"
    assert "llm" in caplog.text
    with Memory(path=tmp_path / "mem0.db", scope="bot", embedder="none") as memory:
        assert texts(memory.get_all(user_id="alice")) == ["Alice loves hiking"]


def test_the_async_one_does_the_same(store):
    async def story():
        memory = AsyncMemory(memory=store)
        first = (await memory.add("Alice loves hiking", user_id="alice"))["results"][0]["id"]
        await memory.update(first, "Alice loves caves")
        found = await memory.search("what does Alice love?", filters={"user_id": "alice"})
        return texts(found), len(await memory.history(first)), await memory.get("none")

    assert asyncio.run(story()) == (["Alice loves caves"], 2, None)
