"""What an agent may do with documents: search, read and sync what a person has added, and nothing else."""

import json

import pytest

from memoranda.domain.errors import Refused
from memoranda.tools import Tools
from memoranda.tools import documents as tool
from memoranda.tools.caller import Caller


def read(result):
    assert not result.failed, result.text
    return json.loads(result.text)


@pytest.fixture
def memory(opened, notes):
    found = opened()
    found.documents.add(notes)
    return found


@pytest.fixture
def tools(memory):
    return Tools(memory, source="user")


@pytest.fixture
def caller(memory):
    return Caller(memory, "assistant", "", "")


def test_a_search_finds_memories_and_documents_best_first(tools, memory):
    memory.remember("The boiler manual was lent to Ben.")
    told = read(tools.call("memory_search", {"query": "boiler manual", "minScore": 0.1}))
    assert {each["source"] for each in told["results"]} == {"memory", "documents"}
    scores = [each["score"] for each in told["results"]]
    assert scores == sorted(scores, reverse=True)
    document = next(each for each in told["results"] if each["source"] == "documents")
    assert document["citation"] == "boiler.md#L1-L3"
    assert (document["startLine"], document["endLine"], document["trust"]) == (1, 3, "untrusted")


@pytest.mark.parametrize(("corpus", "sources"), [("memory", {"memory"}), ("documents", {"documents"})])
def test_a_search_may_be_of_one_corpus(caller, memory, corpus, sources):
    memory.remember("The boiler manual was lent to Ben.")
    given = {"query": "boiler manual", "maxResults": 6, "minScore": 0.1, "corpus": corpus}
    assert {each["source"] for each in tool.search(caller, given).data["results"]} == sources


def test_without_documents_a_search_is_one_of_memories(opened):
    told = read(Tools(opened("home/ben")).call("memory_search", {"query": "boiler manual"}))
    assert told["results"] == []
    assert "receipt" not in told


def test_a_least_score_that_is_asked_for_is_a_bar(tools, caller):
    query = "boiler manual cellar attic"
    assert read(tools.call("memory_search", {"query": query}))["results"]
    assert read(tools.call("memory_search", {"query": query, "minScore": 0.95}))["results"] == []


def test_when_a_folder_is_missing_a_model_is_not_told_to_sync(tools, notes, tmp_path):
    read(tools.call("memory_search", {"query": "boiler manual"}))
    notes.rename(tmp_path / "away")
    told = read(tools.call("memory_search", {"query": "boiler manual"}))
    assert [each["path"] for each in told["results"]] == ["boiler.md"]
    assert told["stale"]
    assert "tell the user" in told["action"]
    assert "folder of notes is not there" in told["fallback"][0]


def test_no_more_than_was_asked_for_comes_back(tools, memory):
    for number in range(4):
        memory.remember(f"The boiler manual number {number} was lent.")
    assert len(read(tools.call("memory_search", {"query": "boiler manual", "maxResults": 2}))["results"]) == 2


def test_a_citation_can_be_read_and_says_where_to_go_on(tools):
    assert read(tools.call("memory_get", {"path": "boiler.md#L3-L3"}))["text"].startswith("The boiler manual")
    told = read(tools.call("memory_get", {"path": "lamps.md", "from": 1, "lines": 2}))
    assert told == {"text": "# Lamps\n", "path": "lamps.md", "truncated": True, "nextFrom": 3}
    assert read(tools.call("memory_get", {"path": "missing.md"})) == {"text": "", "path": "missing.md"}


@pytest.mark.parametrize(
    "out", ["../store.db", "/etc/passwd", "garden/../../store.db", "~/x.md", "..\\\\x.md", "secret.env"]
)
def test_nothing_else_of_the_disk_can_be_read(tools, notes, out):
    (notes / "secret.env").write_text("KEY=1")
    assert tools.call("memory_get", {"path": out}).failed


def test_a_memory_is_still_read_by_its_path(tools, memory):
    kept = memory.remember("One line.")
    assert read(tools.call("memory_get", {"path": f"memory:{kept.id}"}))["text"] == "One line."


def test_documents_alone_can_be_searched(caller, memory):
    memory.remember("The boiler manual was lent to Ben.")
    told = tool.docs_search(caller, {"query": "boiler manual", "limit": 6}).data
    assert [each["path"] for each in told["results"]] == ["boiler.md"]
    nothing = tool.docs_search(caller, {"query": "quantum chromodynamics", "limit": 6}).data
    assert (nothing["results"], nothing["message"]) == ([], "No document answers this: nothing cleared the bar.")


def test_what_has_changed_can_be_taken_in_but_no_folder_added(caller, notes, write, tmp_path):
    assert tool.docs_ingest(caller, {}).data["files"]["added"] == 3
    write("cat.md", "The cat is called Mruczek.")
    told = tool.docs_ingest(caller, {"sourceRoots": ["notes", str(notes)]}).data
    assert (told["files"]["added"], told["sources"], told["failures"]) == (1, ["notes"], [])
    with pytest.raises(Refused, match="only a person"):
        tool.docs_ingest(caller, {"sourceRoots": [str(tmp_path)]})


def test_what_does_not_show_is_taken_out_of_what_a_model_reads(tools, write):
    write("boiler.md", "The boiler manual\u202e is\u200b hidden \x1b[31mhere.")
    (result,) = read(tools.call("memory_search", {"query": "boiler manual"}))["results"]
    assert not set(result["snippet"]) & {"\u202e", "\u200b", "\x1b"}


def test_a_model_is_given_a_bounded_number_of_characters(caller, write):
    for number in range(20):
        write(f"long-{number}.md", f"The zebra{number} of the zoo. " + f"filler{number} " * 150)
    given = {"query": "zebra zoo", "maxResults": 20, "minScore": 0.0, "corpus": "documents"}
    results = tool.search(caller, given).data["results"]
    assert 1 < len(results) < 20
    assert sum(len(each["snippet"]) for each in results) <= tool.MOST_CHARACTERS


def test_a_search_of_documents_where_there_are_none_finds_nothing(opened, folder):
    memory = opened("home/ben")
    memory.remember("The boiler manual was lent to Ben.")
    told = read(Tools(memory).call("memory_search", {"query": "boiler manual", "corpus": "documents", "minScore": 0.1}))
    assert told["results"] == []
    assert not folder.exists()


@pytest.mark.parametrize("name", ["call 10:30.md", "a..b.md", "~draft.md"])
def test_every_path_that_a_search_gave_can_be_read(tools, write, name):
    write(name, "The plumber comes on Tuesday.")
    (result,) = read(tools.call("memory_search", {"query": "plumber comes on Tuesday", "corpus": "documents"}))[
        "results"
    ]
    for path in (result["path"], result["citation"]):
        assert read(tools.call("memory_get", {"path": path}))["text"] == "The plumber comes on Tuesday."
