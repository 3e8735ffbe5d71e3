"""What a model is told about the tools, and how what it gives is checked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import InvalidInput
from memoranda.tools import Tools
from memoranda.tools.definitions import DEFINITIONS
from memoranda.tools.toolbox import _HANDLERS, definitions

# Names, parameters (a star: needed) and defaults that hosts know; they do not change.
CONTRACT = {
    "memory_store": "text* category importance=0.7 scope",
    "memory_recall": "query* limit=5 scope",
    "memory_forget": "id memoryId query confirm",
    "memory_list": "scope category limit=50",
    "memory_stats": "scope category",
    "memory_export": "outPath* scope category limit format=jsonl redact=True",
    "memory_import": "inPath* dedupe=id_text dryRun=False validateOnly=False scope limit format",
    "memory_search": "query* maxResults=6 minScore=0.35 corpus=all",
    "memory_get": "path* from lines",
    "memory_docs_search": "query* limit=6 scope",
    "memory_docs_ingest": "sourceRoots",
    "remember": "content* importance=2 tags",
    "recall_memory": "query* top_k=5 speaker_id speaker_name time_after time_before importance_min source "
    "status=active",
    "update_profile": "field* action* value* scope=session fact_key previous_value",
    "forget": "episode_id*",
    "remember_fact": "category=general key* value* source subjects ref",
    "recall_fact": "category key query",
    "forget_fact": "category* key*",
    "archive_search": "query* conversation_id min_time max_time silence_minutes=10 no_context=False limit=5",
    "archive_sessions": "limit=20",
    "archive_session_transcript": "session_id* after=0",
    "archive_range": "min_time* max_time max_messages=200",
    "session_working_memory": "action* content",
    "session_close": "reason* carry_forward",
}
BY_NAME = {definition.name: definition for definition in DEFINITIONS}


def written(schema):
    parts = []
    for name, parameter in schema["properties"].items():
        star = "*" if name in schema["required"] else ""
        usual = f"={parameter['default']}" if "default" in parameter else ""
        parts.append(name + star + usual)
    return " ".join(parts)


def test_the_names_parameters_and_defaults_are_those_that_hosts_know():
    offered = definitions("openai", files=True)
    shown = {each["function"]["name"]: written(each["function"]["parameters"]) for each in offered}
    assert shown == CONTRACT
    assert list(shown) == list(CONTRACT) == list(_HANDLERS)


def test_both_styles_say_the_same_in_the_same_order():
    openai, mcp = definitions("openai"), definitions("mcp")
    assert [each["function"]["name"] for each in openai] == [each["name"] for each in mcp]
    for one, other in zip(openai, mcp, strict=True):
        assert one["type"] == "function"
        assert one["function"]["parameters"] == other["inputSchema"]
        assert one["function"]["description"] == other["description"]
    assert json.dumps(openai) == json.dumps(definitions("openai"))


def test_a_definition_given_away_cannot_change_the_next():
    definitions()[0]["function"]["parameters"]["properties"]["text"]["type"] = "integer"
    assert definitions()[0]["function"]["parameters"]["properties"]["text"]["type"] == "string"


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda each: each.name)
def test_every_schema_is_closed_and_every_parameter_is_explained(definition):
    schema = definition.schema()
    assert schema["additionalProperties"] is False
    assert len(definition.description) > 80
    for parameter in schema["properties"].values():
        assert parameter["description"].endswith(".")
        assert parameter["type"] in ("string", "integer", "number", "array", "boolean")


def test_callers_are_told_what_only_reads_and_what_hides():
    hints = {each["name"]: each["annotations"] for each in definitions("mcp")}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == {
        "memory_recall", "memory_list", "memory_stats", "memory_search", "memory_get", "recall_memory", "recall_fact",
        "archive_search", "archive_sessions", "archive_session_transcript", "archive_range", "memory_docs_search",
    }  # fmt: skip
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {
        "memory_forget", "forget", "forget_fact", "update_profile", "session_close",
    }  # fmt: skip
    assert not any(hint["openWorldHint"] for hint in hints.values())


def test_no_tool_lets_a_model_set_trust_speak_for_others_or_erase():
    parameters = {name for definition in DEFINITIONS for name in definition.parameters}
    assert not parameters & {"trust", "trust_tier", "speaker", "conversation", "actor", "after_erase", "state"}
    assert not any("erase" in definition.name or "purge" in definition.name for definition in DEFINITIONS)


def test_an_unknown_style_is_refused(memory):
    with pytest.raises(InvalidInput):
        Tools(memory).definitions("yaml")


# --- arguments


def test_defaults_are_filled_in_and_null_is_not_given():
    assert BY_NAME["memory_recall"].checked({"query": "x", "limit": None}) == {"query": "x", "limit": 5}
    assert BY_NAME["memory_recall"].checked('{"query": "x", "limit": 3.0}') == {"query": "x", "limit": 3}
    assert BY_NAME["memory_list"].checked("") == {"limit": 50}
    assert BY_NAME["memory_list"].checked(None) == {"limit": 50}


@pytest.mark.parametrize(
    ("name", "parameter", "written", "meant"),
    [
        ("memory_recall", "limit", "3", 3),
        ("memory_recall", "limit", " 3.0 ", 3),
        ("memory_recall", "limit", 3.0, 3),
        ("memory_list", "limit", "5000", 5_000),
        ("memory_store", "importance", "0.7", 0.7),
        ("memory_store", "importance", "1", 1),
        ("memory_store", "importance", 1, 1),
        ("remember", "importance", "+5", 5),
    ],
)
def test_a_number_may_be_written_as_text(name, parameter, written, meant):
    needed = dict.fromkeys(BY_NAME[name].required, "x")
    checked = BY_NAME[name].checked({**needed, parameter: written})[parameter]
    assert checked == meant
    assert isinstance(checked, int | float)
    assert BY_NAME[name].parameters[parameter]["type"] == "number" or type(checked) is int


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_recall", {"query": "x", "limit": "three"}, "not of type integer"),
        ("memory_recall", {"query": "x", "limit": "2.5"}, "not of type integer"),
        ("memory_recall", {"query": "x", "limit": "51"}, "out of range"),
        ("memory_recall", {"query": "x", "limit": ""}, "not of type integer"),
        ("memory_recall", {"query": "x", "limit": "9" * 5_000}, "not of type integer"),
        ("memory_recall", {"query": "x", "limit": "\u0663"}, "not of type integer"),
        ("memory_store", {"text": "x", "importance": "nan"}, "not of type number"),
        ("memory_store", {"text": "x", "importance": "1e-3"}, "not of type number"),
        ("memory_store", {}, "needs 'text'"),
        ("memory_store", {"text": "  "}, "text is empty"),
        ("memory_store", {"text": 3}, "not of type string"),
        ("memory_store", {"text": "x", "importance": 2}, "out of range"),
        ("memory_store", {"text": "x", "importance": True}, "not of type number"),
        ("memory_store", {"text": "x", "importance": float("nan")}, "out of range"),
        ("memory_store", {"text": "x", "category": "gossip"}, "not one of them"),
        ("memory_store", {"text": "x", "trust": "trusted"}, "no parameter 'trust'"),
        ("memory_recall", {"query": "x", "limit": 51}, "out of range"),
        ("memory_recall", {"query": "x", "limit": 2.5}, "not of type integer"),
        ("memory_list", {"limit": 5001}, "out of range"),
        ("remember", {"content": "x", "tags": "one"}, "not of type array"),
        ("remember", {"content": "x", "tags": [1]}, "an item of tags"),
        ("remember", {"content": "x", "tags": ["t"] * 17}, "more than 16"),
        ("remember", {"content": "x", "importance": 0}, "out of range"),
        ("update_profile", {"field": "mood", "action": "set", "value": "x"}, "not one of them"),
    ],
)
def test_a_wrong_argument_is_told_with_the_next_step(name, arguments, told):
    with pytest.raises(InvalidInput) as caught:
        BY_NAME[name].checked(arguments)
    assert told in str(caught.value)
    assert caught.value.hint.endswith(".")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*{name for each in DEFINITIONS for name in each.parameters}, "other"])


@given(st.sampled_from(DEFINITIONS), st.dictionaries(NAMES, ANYTHING, max_size=5) | ANYTHING)
def test_whatever_is_given_is_checked_or_refused_and_what_is_checked_stays_so(definition, arguments):
    try:
        checked = definition.checked(arguments)
    except InvalidInput:
        return
    assert set(definition.required) <= set(checked) <= set(definition.parameters)
    assert definition.checked(checked) == checked
