"""Whatever stands in a record: it is read, or told with its place. Nothing is a traceback."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.looking import read
from memoranda import InvalidInput
from memoranda.domain.importing import Imported, Unread
from memoranda.domain.memory import UNVOUCHED
from memoranda.importers.registry import importer
from memoranda.importers.told import importance_of, moment_of, name_of, share_of

HUGE = 10**400


@pytest.mark.parametrize("value", [HUGE, -HUGE, 1e308, float("inf"), float("-inf"), float("nan"), str(HUGE), "NaN"])
def test_a_number_beyond_all_is_none(value):
    assert moment_of(value) is None
    assert share_of(value) is None
    assert importance_of(value) is None
    assert isinstance(name_of(value), str)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("high", 0.9), ("86%", 0.86), ("86/100", 0.86), (86, 0.86), ("86", 0.86), (0.86, 0.86), ("0,86", 0.86),
        (1, 1.0), (0, 0.0), (100, 1.0), ("low", 0.2), ("unknown", None), (4, None), ("4", None), (10, None),
        (101, None), ("²", None), ("4,0", None), ("５", None), ("８６％", 0.86),
        (True, None), ([], None), (None, None), ("", None), ("soon", None), ("x" * 100, None),
    ],
)  # fmt: skip
def test_importance_is_read_as_people_write_it(written, meant):
    assert importance_of(written) == meant


@pytest.mark.parametrize("field", ["importance", "confidence", "created_at", "valid_until", "id", "tags", "speaker"])
def test_a_huge_number_in_a_field_does_not_stop_an_import(memory, tmp_path, field):
    file = tmp_path / "odd.jsonl"
    file.write_text(f'{{"text": "Anna has a kayak.", "{field}": {HUGE}}}\n{{"text": "Ben has a bike."}}\n')
    audit = memory.import_memories(file, mode="preview").audit
    assert audit.total == 2
    assert audit.take >= 1


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("in.csv", 'text,tags\nAnna has a kayak.,"' + "[" * 20_000 + '"\n', {}),
        ("in.jsonl", json.dumps({"text": "Anna has a kayak.", "a": ["x"]}), {"about": "a.²"}),
        ("in.jsonl", json.dumps({"text": "Anna has a kayak.", "a": ["x"]}), {"about": "a." + "9" * 5_000}),
        ("in.jsonl", '{"text": "Anna has a kayak.", "m": ' + "[" * 500 + "]" * 500 + "}", {}),
        ("in.csv", "text,b\nAnna has a kayak.,x\n", {"encoding": "utf-7"}),
    ],
)
def test_an_odd_field_is_no_reason_to_lose_a_memory(tmp_path, name, content, options):
    file = tmp_path / name
    file.write_text(content)
    (found,) = importer(file.suffix[1:]).read(file, options)
    assert found.text == "Anna has a kayak."


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("in.json", '{"a": [{"text": "Anna has a kayak."}]}', {"records": "a.²"}),
        ("in.csv", "text," + "a" * (9 << 20) + "\nAnna has a kayak,x\n", {}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"encoding": "idna"}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"encoding": "undefined"}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"encoding": "hex"}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"encoding": "\0"}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"delimiter": '"'}),
        ("in.csv", "text,b\nAnna has a kayak,x\n", {"delimiter": "\n"}),
    ],
)
def test_what_cannot_be_read_at_all_is_an_error_with_a_hint(tmp_path, name, content, options):
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(InvalidInput) as refused:
        list(importer("csv" if file.suffix == ".csv" else "jsonl").read(file, options))
    assert refused.value.hint.endswith(".")


def test_an_export_of_ours_that_is_nested_without_end_is_told(tmp_path):
    file = tmp_path / "own.json"
    deep = "[" * 900 + "]" * 900
    manifest = '{"format": "memoranda-export", "version": 1, "scope": "home"}'
    record = f'{{"id": "x", "text": "Tea.", "scope": "home", "value": {deep}}}'
    file.write_text(f'{{"manifest": {manifest}, "memories": [{record}], "end": {{}}}}')
    for item in importer("own").carried(file):
        assert item is not None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(HUGE) | st.floats() | st.text(max_size=20)
    | st.sampled_from(["2026-01-01", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "high", "[[["])
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
FIELDS = {
    "mem0": "memory id user_id agent_id run_id actor_id metadata categories created_at updated_at expiration_date",
    "mcp-memory-service": "content content_hash tags memory_type metadata created_at updated_at confidence store",
    "server-memory": "name entityType observations from to relationType",
    "claude": "conversations_memory project_memories memory_files prompt_template description name uuid updated_at",
    "chatgpt": "mapping conversation_id id create_time",
    "langbot": "content document metadata timestamp importance sender_name tags status superseded_by user_key profile",
    "jsonl": "text id kind about value importance confidence tags metadata state created_at valid_until user_id",
}
NEEDED = {
    "mem0": {"memory": "Anna swims."},
    "mcp-memory-service": {"content": "Anna swims."},
    "server-memory": {"type": "entity", "name": "Anna", "observations": ["swims"]},
    "claude": {"conversations_memory": "Anna swims."},
    "chatgpt": {"mapping": {}},
    "langbot": {"content": "Anna swims."},
    "jsonl": {"text": "Anna swims."},
}


@pytest.mark.parametrize("name", FIELDS)
@given(data=st.data())
def test_any_values_in_the_fields_of_a_format_are_read_or_told(tmp_path_factory, name, data):
    odd = data.draw(st.dictionaries(st.sampled_from(FIELDS[name].split()), VALUES, max_size=6))
    if name == "chatgpt":
        message = st.fixed_dictionaries(
            {"message": VALUES | st.fixed_dictionaries({"content": VALUES}), "children": VALUES}
        )
        odd["mapping"] = data.draw(st.dictionaries(st.text(max_size=4), VALUES | message, max_size=3))
    file = tmp_path_factory.getbasetemp() / f"odd-{name}.json"
    file.write_text(json.dumps([NEEDED[name], {**NEEDED[name], **odd}]))
    found, unread = read(name, file)
    assert all(isinstance(each, Imported) for each in found)
    assert all(isinstance(each, Unread) for each in unread)
    for each in found:
        assert each.confidence is None or 0 <= each.confidence <= 1
        assert each.importance is None or 0 <= each.importance <= 1


def test_nobody_is_surer_of_an_import_than_of_anything_from_such_a_door(memory, tmp_path):
    file = tmp_path / "sure.jsonl"
    file.write_text(
        "\n".join(json.dumps({"text": f"Fact {each} is sure.", "confidence": each}) for each in (1.0, 0.8, 0.3))
    )
    memory.import_memories(file)
    assert sorted(each.confidence for each in memory.list()) == [0.3, UNVOUCHED, UNVOUCHED]
    memory.undo()
    memory.import_memories(file, trust="trusted")
    assert sorted(each.confidence for each in memory.list()) == [0.3, 0.8, 1.0]
