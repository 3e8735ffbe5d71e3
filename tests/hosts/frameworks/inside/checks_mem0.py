"""mem0 itself beside ours: the same calls give answers of the same form."""

import pytest
from mem0 import Memory as TheirMemory

from memoranda.adapters.mem0 import Memory

RAW = [{"role": "user", "content": "I keep bees behind the house."}, {"role": "assistant", "content": "How nice."}]


@pytest.fixture
def theirs(url, tmp_path):
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 256, "on_disk": True},
        },
        "embedder": {
            "provider": "openai",
            "config": {"openai_base_url": url, "api_key": "none", "model": "e", "embedding_dims": 256},
        },
        "llm": {"provider": "openai", "config": {"openai_base_url": url, "api_key": "none", "model": "fake-1"}},
        "history_db_path": str(tmp_path / "history.db"),
    }
    memory = TheirMemory.from_config(config)
    yield memory
    memory.close()


@pytest.fixture
def ours(memory):
    return Memory(memory=memory)


def form(answer):
    """The names and kinds of an answer, without what it says. A name that may be missing in mem0 counts as empty."""
    if isinstance(answer, dict):
        return {name: form(each) for name, each in answer.items() if each is not None}
    if isinstance(answer, list):
        return [form(each) for each in answer]
    return "number" if isinstance(answer, int | float) and not isinstance(answer, bool) else type(answer).__name__


def story(memory):
    """What each call answers, in order."""
    added = memory.add(RAW, user_id="anna", metadata={"topic": "farm", "n": 3}, infer=False)
    first = added["results"][0]["id"]
    yield "add", added
    yield "get", memory.get(first)
    yield (
        "get_all",
        {"results": sorted(memory.get_all(filters={"user_id": "anna"})["results"], key=lambda e: e["role"])},
    )
    found = memory.search("I keep bees behind the house.", filters={"user_id": "anna"}, top_k=1)
    yield "search", found
    assert found["results"][0]["id"] == first
    yield "other user", memory.search("who keeps bees?", filters={"user_id": "bob"})
    filters = {"user_id": "anna", "n": {"gte": 3}}
    yield "filtered", memory.search("I keep bees behind the house.", filters=filters, top_k=1)
    yield "update", memory.update(first, text="I keep goats behind the house.")
    changed = memory.get(first)
    assert changed["memory"] == "I keep goats behind the house."
    yield "updated", changed
    yield "history", memory.history(first)
    yield "delete", memory.delete(first)
    assert memory.get(first) is None
    yield "deleted history", memory.history(first)
    yield "delete_all", memory.delete_all(user_id="anna")
    yield "none left", memory.get_all(filters={"user_id": "anna"})


def test_every_call_answers_in_the_form_of_mem0(ours, theirs):
    for (name, mine), (_, their) in zip(story(ours), story(theirs), strict=True):
        mine, their = form(mine), form(their)
        if name == "add":
            for each in (*mine["results"], *their["results"]):
                each.pop("actor_id", None)
        assert mine == their, name


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.add("no owner"),
        lambda memory: memory.search("no owner"),
        lambda memory: memory.get_all(),
        lambda memory: memory.delete_all(),
        lambda memory: memory.delete("00000000-0000-0000-0000-000000000000"),
        lambda memory: memory.search(" ", filters={"user_id": "anna"}),
        lambda memory: memory.search("x", filters={"user_id": "anna"}, threshold=7),
        lambda memory: memory.search("x", filters={"user_id": "anna"}, top_k=-1),
        lambda memory: memory.update("00000000-0000-0000-0000-000000000000"),
        lambda memory: memory.add("x", user_id="an na"),
        lambda memory: memory.add("x", user_id="anna", expiration_date="soon"),
    ],
)
def test_what_mem0_refuses_is_refused_here_as_well(call, ours, theirs):
    with pytest.raises(Exception) as refused:
        call(theirs)
    assert isinstance(refused.value, ValueError) or "Validation" in type(refused.value).__name__
    with pytest.raises(ValueError):
        call(ours)
