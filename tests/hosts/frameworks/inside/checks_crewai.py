"""CrewAI, with the real package."""

from datetime import UTC, datetime, timedelta

import pytest
from crewai import LLM
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

import memoranda
from memoranda.adapters.crewai import MemorandaStorage


@pytest.fixture
def storage(memory):
    return MemorandaStorage(memory)


def test_a_memory_of_crewai_remembers_and_recalls_in_its_scope(storage, url):
    assert isinstance(storage, StorageBackend)
    llm = LLM(model="openai/fake-1", base_url=url, api_key="none")
    memory = Memory(storage=storage, embedder=storage.embedder, llm=llm)
    memory.remember("Anna keeps bees behind the house.", scope="/anna", categories=["animals"], importance=0.7)
    memory.remember("Bob keeps goats behind the house.", scope="/bob", categories=["animals"], importance=0.5)
    found = memory.recall("what does she keep behind the house?", scope="/anna", depth="shallow")
    assert [match.record.content for match in found] == ["Anna keeps bees behind the house."]
    assert storage.list_scopes() == ["/anna", "/bob"]


def test_records_are_kept_as_they_were_given(storage):
    first = MemoryRecord(
        content="  spaces around  ", scope="/a/b", categories=["x"], metadata={"n": 1}, source="anna", private=True
    )
    long = MemoryRecord(content="word " * 2_000, scope="/a")
    storage.save([first, long])
    assert storage.get_record(first.id) == first
    assert storage.get_record(long.id).content == long.content
    assert storage.get_record("unknown") is None
    storage.update(first.model_copy(update={"content": "other words", "scope": "/c"}))
    assert (storage.get_record(first.id).content, storage.get_record(first.id).scope) == ("other words", "/c")
    assert storage.count() == 2
    assert storage.count("/a") == 1
    assert storage.list_categories() == {"x": 1}
    info = storage.get_scope_info("/")
    assert (info.record_count, info.child_scopes) == (2, ["/a", "/c"])


def test_records_are_searched_filtered_and_deleted(storage):
    storage.save(
        [
            MemoryRecord(content="Anna keeps bees.", scope="/anna", categories=["animals"], metadata={"k": 1}),
            MemoryRecord(content="Anna keeps hens.", scope="/anna", categories=["birds"], metadata={"k": 2}),
            MemoryRecord(content="Bob keeps bees.", scope="/bob", categories=["animals"]),
        ]
    )
    vector = storage.embedder(["who keeps bees?"])[0]
    assert {record.scope for record, _ in storage.search(vector, scope_prefix="/anna")} == {"/anna"}
    assert [record.content for record, _ in storage.search(vector, metadata_filter={"k": 1})] == ["Anna keeps bees."]
    assert {record.scope for record, _ in storage.search(vector, categories=["animals"])} == {"/anna", "/bob"}
    assert storage.search([]) == []
    with pytest.raises(memoranda.InvalidInput, match="another embedder"):
        storage.search([0.5] * 32)
    assert storage.delete(older_than=datetime.now(UTC) - timedelta(days=1)) == 0
    assert storage.delete(scope_prefix="/anna", categories=["birds"]) == 1
    assert [record.content for record in storage.list_records()] == ["Bob keeps bees.", "Anna keeps bees."]
    storage.reset("/anna")
    assert [record.scope for record in storage.list_records()] == ["/bob"]
