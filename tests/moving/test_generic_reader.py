"""JSON lines and tables of any program."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import MAX_MS
from memoranda.domain.errors import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.importers.generic import JsonLines, Table
from memoranda.importers.registry import importer, names

JUNE = 1_780_272_000_000
"""2026-06-01T00:00:00Z"""


def read(file, content, reader=None, **options):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    chosen = reader or (Table() if file.suffix in (".csv", ".tsv") else JsonLines())
    return list(chosen.read(file, options))


@pytest.fixture
def lines(tmp_path):
    return tmp_path / "in.jsonl"


@pytest.fixture
def table(tmp_path):
    return tmp_path / "in.csv"


def one(items):
    assert len(items) == 1
    assert isinstance(items[0], Imported), items[0]
    return items[0]


def test_every_reader_that_is_named_is_one_of_this_name():
    for name in ("own", "jsonl", "csv"):
        assert importer(name).name == name
        assert importer(name).title
    assert len(names()) == 13
    with pytest.raises(InvalidInput) as refused:
        importer("gossip")
    assert "mem0" in refused.value.hint


def test_well_known_names_need_no_mapping(lines):
    record = {
        "_id": "m1", "content": "Anna likes tea.", "type": "preference", "user_id": "anna", "timestamp": "2026-06-01",
        "tags": "drinks, home", "importance": 0.7, "session_id": "s1", "colour": "green", "embedding": [0.1] * 20,
    }  # fmt: skip
    found = one(read(lines, json.dumps(record)))
    assert found == Imported(
        "Anna likes tea.", id="m1", place="line 1", kind="preference", importance=0.7, conversation="s1",
        tags=("drinks", "home"), metadata={"colour": "green"}, created_at=JUNE, owner="anna",
    )  # fmt: skip


def test_a_mapping_names_their_fields_also_by_a_dotted_path(lines):
    record = {"payload": {"data": "Anna likes tea.", "when": [JUNE]}, "text": "a summary", "who": "anna"}
    found = one(
        read(lines, json.dumps(record), text="payload.data", created_at="payload.when.0", speaker="who", rest="drop")
    )
    assert (found.text, found.created_at, found.speaker, found.metadata) == ("Anna likes tea.", JUNE, "anna", None)


@pytest.mark.parametrize(
    "moment",
    [
        "2026-06-01",
        "2026-06-01T00:00:00Z",
        "2026-06-01 02:00:00+02:00",
        JUNE // 1000,
        JUNE / 1000,
        JUNE,
        JUNE * 1000,
        JUNE * 1000000,
        str(JUNE // 1000),
        str(JUNE),
    ],
)
def test_moments_are_told_by_their_form_and_size(lines, moment):
    assert one(read(lines, json.dumps({"text": "Tea.", "created_at": moment}))).created_at == JUNE


@pytest.mark.parametrize("moment", ["soon", -5, True, [1], float("1e30")])
def test_a_moment_that_is_none_is_told(lines, moment):
    found = read(lines, json.dumps({"text": "Tea.", "created_at": moment}))
    assert found == [Unread("line 1", "created_at is no moment")]


@given(st.integers(0, MAX_MS // 1000))
def test_a_number_becomes_a_moment_that_can_be_kept(seconds):
    from memoranda.importers.generic import _moment

    assert _moment(seconds, "at") == seconds * 1000


def test_bad_lines_are_told_by_number_and_cost_no_other(lines):
    good = json.dumps({"text": "Tea."}).encode()
    content = b"\n".join(
        (good, b"{broken", b"", b"[1, 2]", b'{"text": "\xff\xfe"}', b'{"no": "words"}', b'{"text": "  "}', good)
    )
    found = read(lines, content)
    assert [each.place for each in found] == ["line 1", *(f"line {n}" for n in (2, 4, 5, 6, 7)), "line 8"]
    assert [isinstance(each, Imported) for each in found] == [True, False, False, False, False, False, True]
    assert found[3].reason == "not text in this encoding"


def test_a_line_without_end_does_not_fill_the_memory(lines, monkeypatch):
    from memoranda.importers import generic

    monkeypatch.setattr(generic, "LONGEST_RECORD", 1_000)
    found = read(lines, json.dumps({"text": "x" * 5_000}) + "\n" + json.dumps({"text": "Tea."}))
    assert isinstance(found[0], Unread)
    assert found[1].place == "line 2"


@pytest.mark.parametrize(
    ("encoding", "options"),
    [("utf-8-sig", {}), ("utf-16", {}), ("cp1252", {"encoding": "cp1252"})],
)
def test_marks_of_encodings_are_heeded(lines, table, encoding, options):
    raw = (json.dumps({"text": "Zoë likes café."}, ensure_ascii=False) + "\n").encode(encoding)
    assert one(read(lines, raw, **options)).text == "Zoë likes café."
    raw = "text;id\nZoë likes café.;7\n".encode(encoding)
    assert one(read(table, raw, **options)).text == "Zoë likes café."


def test_a_list_in_one_json_file_and_a_list_inside_of_it(tmp_path):
    file = tmp_path / "in.json"
    assert one(read(file, '[{"text": "Tea."}]')).place == "record 1"
    found = one(read(file, '{"data": {"items": [{"text": "Tea."}]}}', records="data.items"))
    assert found.text == "Tea."
    with pytest.raises(InvalidInput, match="list"):
        read(file, '{"data": 1}', records="data.items")
    with pytest.raises(InvalidInput) as refused:
        read(file, '{\n "data": []\n}')
    assert "records=" in refused.value.hint


def test_a_table_with_quotes_newlines_and_any_delimiter(table):
    content = 'id,text,tags\r\n1,"Anna said ""tea"",\nthen left.","a;b"\r\n\r\n2,Plain.,\r\n'
    first, second = read(table, content)
    assert first.text == 'Anna said "tea",\nthen left.'
    assert first.tags == ("a", "b")
    assert (second.id, second.text, second.place) == ("2", "Plain.", "line 5")
    for delimiter in ";\t|":
        assert one(read(table, f"text{delimiter}id\nTea.{delimiter}4\n")).id == "4"


def test_a_row_with_too_many_fields_is_told(table):
    found = read(table, "text,id\nTea, with milk,1\nCoffee.,2\n")
    assert found[0] == Unread("line 2", "3 fields under 2 columns")
    assert found[1].text == "Coffee."


def test_a_huge_field_is_read(table):
    assert len(one(read(table, f'text,id\n"{"x" * 300_000}",1\n')).text) == 300_000


def test_a_column_that_is_not_there_is_told_with_those_that_are(table):
    with pytest.raises(InvalidInput) as refused:
        read(table, "content,id\nTea.,1\n", text="body")
    assert "content, id" in refused.value.hint


def test_options_that_do_not_exist_are_told(lines):
    for options in ({"txet": "content"}, {"encoding": "klingon"}, {"importance_scale": "high"}):
        with pytest.raises(InvalidInput) as refused:
            read(lines, '{"text": "Tea."}', **options)
        assert refused.value.hint


def test_importance_on_another_scale(lines):
    assert one(read(lines, '{"text": "Tea.", "importance": 4}', importance_scale="5")).importance == 0.8
    assert one(read(lines, '{"text": "Tea.", "importance": 4}')).importance is None


def test_sniffing_changes_nothing_and_never_raises(tmp_path):
    (tmp_path / "a.csv").write_text("name,content\nx,Tea.\n")
    (tmp_path / "b.csv").write_text("name,price\nx,1\n")
    (tmp_path / "c.jsonl").write_text('{"content": "Tea."}\n')
    (tmp_path / "d.json").write_bytes(b"\0\1\2")
    (tmp_path / "e.json").mkdir()
    found = {file.name: [reader.name for reader in (JsonLines(), Table()) if reader.reads(file)] for file in
             sorted(tmp_path.iterdir())}  # fmt: skip
    assert found == {"a.csv": ["csv"], "b.csv": [], "c.jsonl": ["jsonl"], "d.json": [], "e.json": []}
    assert not JsonLines().reads(Path("/nowhere/at/all.jsonl"))


@given(st.binary(max_size=400))
def test_whatever_the_bytes_are_each_line_is_read_or_told(tmp_path_factory, raw):
    for name, reader in (("in.jsonl", JsonLines()), ("in.csv", Table())):
        file = tmp_path_factory.getbasetemp() / name
        file.write_bytes(raw)
        reader.reads(file)
        with suppress(InvalidInput):  # not this format at all
            for item in reader.read(file, {}):
                assert isinstance(item, Imported | Unread)
