"""Secrets in documents are kept in no file of the store and shown by nothing; every line stays where it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.documents.chunk import chunks
from memoranda.documents.lines import lines_of
from memoranda.service.document_secrets import lines_without_secrets
from memoranda.tools import Tools

KEY = "sk-proj-Zx81kQw7TrB2mNvC4pLsD6fGhJ9aYeUi3oXtRzKbVn5cMq"
PRIVATE = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *(f"MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi{number}kd8Zt" for number in range(12)),
        "-----END RSA PRIVATE KEY-----",
    ]
)
NOTE = f"""---
title: server {KEY}
---
# Server {KEY}

The api key of the server is {KEY}

{PRIVATE}

The server stands in the attic.
"""
LAST = 23


def in_files(folder, *needles):
    return [
        str(file)
        for file in folder.rglob("*")
        if file.is_file() and any(needle.encode() in file.read_bytes() for needle in needles)
    ]


@pytest.fixture
def memory(opened, write, tmp_path):
    write("server.md", NOTE)
    found = opened(embedder="hashed:words")
    found.documents.add(tmp_path / "notes", trust="trusted")
    found.documents.sync()
    return found


def test_a_key_in_a_file_is_in_no_file_of_the_store(memory, folder, tmp_path):
    memory.documents.search("where does the server stand?")
    stored = [file for file in tmp_path.iterdir() if file.name != "notes"]
    assert folder in stored
    for file in stored:
        assert not in_files(file, KEY, PRIVATE[40:70]) if file.is_dir() else KEY.encode() not in file.read_bytes()
    memory.documents.rebuild()
    assert not in_files(folder, KEY, PRIVATE[40:70])


def test_a_key_is_in_no_result_of_a_search_a_tool_or_a_pack(memory):
    tools = Tools(memory, source="user")
    query = "what is the api key of the server?"
    shown = [
        json.dumps(memory.documents.search(query, min_score=0.0).as_json()),
        memory.documents.read("server.md").text,
        tools.call("memory_search", {"query": query, "minScore": 0.0}).text,
        tools.call("memory_docs_search", {"query": query}).text,
        tools.call("memory_get", {"path": "server.md#L1-L23"}).text,
        memory.pack(query).text,
    ]
    assert all("The api key of the server is" in each for each in shown), shown
    assert not any(KEY[8:20] in each or PRIVATE[40:60] in each for each in shown)


def test_what_stands_below_a_key_is_cited_as_before(memory):
    hit = max(memory.documents.search("the server stands in the attic"), key=lambda each: each.end_line)
    assert hit.end_line == lines_of(NOTE).index("The server stands in the attic.") + 1 == LAST
    assert memory.documents.read(f"server.md#L{LAST}-L{LAST}").text == "The server stands in the attic."


def test_a_store_that_keeps_secrets_keeps_them(opened, write, tmp_path, folder):
    write("server.md", NOTE)
    documents = opened(secrets="allow").documents
    documents.add(tmp_path / "notes")
    documents.sync()
    assert KEY in documents.read("server.md").text
    assert in_files(folder, KEY)


def test_when_secrets_are_no_longer_kept_none_is_shown_and_a_sync_takes_them_out(opened, write, tmp_path, folder):
    write("server.md", NOTE)
    before = opened(secrets="allow").documents
    before.add(tmp_path / "notes")
    before.sync()
    documents = opened().documents
    found = documents.search("what is the api key of the server?")
    assert found
    assert KEY not in str(found.as_json())
    assert found.receipt.dirty
    assert documents.sync().why == "rebuild"
    before._engine.close()
    assert not in_files(folder, KEY)


def test_another_key_in_the_same_place_is_no_change(opened, write, tmp_path):
    write("server.md", f"The api key of the server is {KEY}\n")
    documents = opened().documents
    documents.add(tmp_path / "notes")
    documents.sync()
    write("server.md", f"The api key of the server is {KEY[:-4]}9aB7\n")
    assert documents.sync().is_noop


@given(
    st.lists(
        st.sampled_from(
            ["", "# Keys", "The lamp is red.", f"key: {KEY}", f"password = {KEY[8:30]}", PRIVATE, "a\rb", "x\r\ny", "…"]
        ),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_no_secret_stays_and_no_line_moves(parts, end):
    text = end.join(parts)
    clean = lines_without_secrets(text)
    assert len(lines_of(clean)) == len(lines_of(text))
    assert KEY not in clean
    assert PRIVATE[40:80] not in clean
    assert lines_without_secrets(clean) == clean
    before, after = lines_of(text), lines_of(clean)
    assert [at for at, line in enumerate(before) if line == "The lamp is red."] == [
        at for at, line in enumerate(after) if line == "The lamp is red."
    ]
    for chunk in chunks(clean):
        assert chunk.text in "\n".join(after[chunk.start_line - 1 : chunk.end_line])
