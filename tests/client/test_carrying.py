"""Memories are carried in and out of a server by files of this machine."""

import json

import pytest

import memoranda
from memoranda import InvalidInput, Refused

from .conftest import OPERATOR


@pytest.fixture
def memory(server):
    with memoranda.connect(server.url, OPERATOR, scope="home/anna", timeout=120) as found:
        yield found


def test_an_export_is_a_file_here_and_goes_in_again_elsewhere(memory, server, tmp_path):
    for number in range(20):
        memory.remember(f"Heron {number} nests at place {number * 7}.")
    told = []
    done = memory.export(tmp_path / "out.jsonl", redact=False, progress=lambda done, total: told.append((done, total)))
    assert done.path == str(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == done.memories + 2
    assert told
    with pytest.raises(Refused, match="there already"):
        memory.export(tmp_path / "out.jsonl")
    with memoranda.connect(server.url, OPERATOR, scope="home/copy", timeout=120) as other:
        taken = other.import_memories(tmp_path / "out.jsonl", foreign="map", owners={"home/anna": "home/copy"})
        assert taken.taken == done.memories
        assert other.contents().memories == done.memories
        other.undo()
        assert other.contents().memories == 0


def test_a_file_of_several_megabytes_is_taken(memory, tmp_path):
    path = tmp_path / "many.jsonl"
    lines = [json.dumps({"text": f"Heron {number} nests. {'It rains. ' * 400}"}) for number in range(600)]
    path.write_text("\n".join(lines))
    assert path.stat().st_size > 2 << 20
    taken = memory.import_memories(path, mode="preview")
    assert taken.audit.take == 600


def test_a_path_of_the_server_is_not_taken(memory):
    with pytest.raises(Refused, match="cannot be sent"):
        memory.admin.backup("/tmp/elsewhere.memoranda")
    for refused in (memory.admin.verify_backup, memory.admin.compare_backup, memory.governance.write_back):
        with pytest.raises(Refused):
            refused("/tmp/elsewhere")


def test_a_report_on_a_person_is_written_here(memory, tmp_path):
    memory.remember("Zoe paints birds.", about="person:zoe")
    report = memory.retention.subject("zoe", path=tmp_path / "zoe.md", format="markdown")
    assert report.path == str(tmp_path / "zoe.md")
    assert "paints birds" in (tmp_path / "zoe.md").read_text()


def test_a_statement_is_for_who_reaches_the_whole_store(memory, server):
    kept = memory.remember("Zebediah keeps a heron in the bath.")
    with memoranda.connect(server.url, server.token(role="admin"), timeout=120) as tenant:
        with pytest.raises(Refused, match="whole store"):
            tenant.erase(kept, proof=True)
        assert tenant.get(kept).state == "live"
    gone = memory.erase(kept, proof=True)
    assert gone.statement
    assert memory.verify_erasure(gone.statement).ok
    with pytest.raises(InvalidInput):
        memory.verify_erasure({"format": "something else"})
