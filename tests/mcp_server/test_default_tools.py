"""The default tools: what a model is offered, what it reads back, and what it cannot do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.tools import Tools
from memoranda.tools.bounding import MOST_CHARACTERS, bounded
from memoranda.tools.results import ToolResult, as_json
from memoranda.tools.toolbox import TOOLSETS, definitions
from support import quarantine

NAMES = ["remember", "recall", "forget", "update_profile", "search_documents", "read_document", "recall_facts"]
NEVER = ("erase", "trust", "grade", "review", "scope_of", "restore", "token")


def read(result):
    """The text of a result, as JSON; it says the same as the data."""
    assert not result.failed, result.text
    told = json.loads(result.text)
    assert told == {name: value for name, value in result.data.items() if name not in ("latency_ms", "receipt")}
    return told


def remembered(tools, text, **more):
    result = tools.call("remember", {"text": text, **more})
    assert not result.failed, result.text
    return result.data["id"]


# --- what is offered


def test_few_tools_are_offered_and_none_that_erases_or_decides_what_is_trusted():
    shown = definitions("mcp", toolset="default")
    assert [each["name"] for each in shown] == NAMES
    for toolset in TOOLSETS:
        for each in definitions("mcp", toolset=toolset):
            assert not any(word in each["name"] for word in NEVER)
            assert not {"trust", "source_kind", "grade"} & set(each["inputSchema"]["properties"])


def test_the_families_have_the_names_that_their_hosts_know():
    def names(toolset):
        return {each["name"] for each in definitions("mcp", toolset=toolset)}

    assert {"memory_store", "memory_recall", "memory_forget", "memory_search", "memory_get"} <= names("openclaw")
    assert names("langbot") == {"remember", "recall_memory", "update_profile", "forget"}
    assert all(len(names(toolset)) <= 8 for toolset in TOOLSETS)


@pytest.mark.parametrize("definition", definitions("mcp", toolset="default"), ids=lambda each: each["name"])
def test_every_tool_says_what_it_does_and_every_parameter_is_explained_and_bounded(definition):
    hints = definition["annotations"]
    assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(hints)
    assert hints["openWorldHint"] is False
    assert len(definition["description"]) > 80
    assert definition["inputSchema"]["additionalProperties"] is False
    if definition["name"] == "update_profile":
        return  # the host's own
    for parameter in definition["inputSchema"]["properties"].values():
        assert parameter["description"].endswith(".")
        assert {"enum", "maxLength", "maximum"} & set(parameter)


def test_what_only_reads_and_what_hides_is_told():
    hints = {each["name"]: each["annotations"] for each in definitions("mcp", toolset="default")}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == {
        "recall", "search_documents", "read_document", "recall_facts",
    }  # fmt: skip
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"forget", "update_profile"}


# --- remember and recall


def test_what_is_remembered_is_recalled_with_its_age_its_trust_and_why_it_came(tools, clock):
    identity = remembered(tools, "Anna reads by light.desk.", kind="entity", about="light.desk")
    clock.advance(days=3)
    (found,) = read(tools.call("recall", {"query": "what does Anna read by?"}))["memories"]
    assert found["id"] == identity
    assert len(identity) == 8
    assert (found["age"], found["date"], found["trust"], found["kind"]) == (
        "3 days ago", "2026-01-01", "trusted", "entity",
    )  # fmt: skip
    assert found["why"] == "found by words"
    assert 0 < found["score"] <= 1


def test_when_it_happened_is_kept_and_can_be_asked_for(tools):
    remembered(tools, "Anna bought the blue lamp.", happened="2025-06-01")
    remembered(tools, "Anna sold the blue lamp.", happened="-7d")
    late = read(tools.call("recall", {"query": "the blue lamp", "after": "-30d"}))["memories"]
    early = read(tools.call("recall", {"query": "the blue lamp", "before": "2025-12-01"}))["memories"]
    assert [each["text"] for each in late] == ["Anna sold the blue lamp."]
    assert [each["date"] for each in early] == ["2025-06-01"]


def test_nothing_relevant_is_said_plainly(tools):
    remembered(tools, "The lamp is red.")
    told = read(tools.call("recall", {"query": "quantum chromodynamics"}))
    assert told["memories"] == []
    assert "Say that you do not know" in told["message"]


def test_a_correction_takes_the_place_of_what_it_corrects(tools, memory):
    old = remembered(tools, "Anna reads by the bedroom lamp.")
    result = tools.call("remember", {"text": "Anna reads by the desk lamp.", "corrects": old})
    assert result.data["corrected"] == old
    assert memory.get(old).state == "superseded"
    assert tools.call("remember", {"text": "Anna reads in bed.", "corrects": "zzzzzzzz"}).failed


def test_what_a_model_writes_alone_is_untrusted_and_says_so(agent, memory):
    result = agent.call("remember", {"text": "The lamp is blue."})
    assert result.data["trust"] == "untrusted"
    assert "never shown unasked" in result.text
    (found,) = read(agent.call("recall", {"query": "which colour is the lamp?"}))["memories"]
    assert (found["trust"], found["source"]) == ("untrusted", "assistant")
    assert memory.pack("which colour is the lamp?").text == ""


def test_a_model_alone_cannot_correct_or_forget_what_the_user_said(tools, agent, memory):
    kept = remembered(tools, "The lamp is red.")
    assert agent.call("forget", {"id": kept}).failed
    agent.call("remember", {"text": "The lamp is blue.", "corrects": kept})
    assert memory.get(kept).state == "live"


def test_forgetting_takes_an_id_and_can_be_undone_by_the_user(tools, memory):
    kept = remembered(tools, "The lamp is red.")
    result = tools.call("forget", {"id": kept})
    assert result.text == f"Forgotten: {kept}. The user can bring it back until 2026-01-31."
    assert not memory.recall("the red lamp")
    assert tools.call("forget", {"query": "the lamp"}).failed
    assert memory.restore(kept).memory.state == "live"


def test_what_is_quarantined_is_not_recalled(tools, memory):
    quarantine(memory, memory.remember("The green lamp obeys."))
    assert read(tools.call("recall", {"query": "the green lamp"}))["memories"] == []


def test_a_secret_is_refused_with_advice_for_a_model(tools):
    result = tools.call("remember", {"text": "my key is sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2})
    assert result.failed
    assert "password manager" in result.text


def test_no_argument_leaves_the_scope_or_sets_trust(tools):
    for more in ({"scope": "home/ben"}, {"trust": "trusted"}, {"source": "user"}, {"importance": 1}):
        assert tools.call("remember", {"text": "a lamp", **more}).failed
        assert tools.call("recall", {"query": "a lamp", **more}).failed


# --- facts, profile and documents


def test_facts_are_found_by_a_name_by_an_attribute_and_by_a_question(tools, memory):
    memory.facts.add("light.office", "nickname", "reading lamp")
    memory.facts.add("light.office", "location", "desk")
    for asked in (
        {"subject": "my reading lamp", "attribute": "location"},
        {"attribute": "location"},
        {"question": "where is the reading lamp?"},
    ):
        facts = read(tools.call("recall_facts", asked))["facts"]
        assert "desk" in [fact["value"] for fact in facts]
        assert {fact["subject"] for fact in facts} == {"light.office"}
    assert read(tools.call("recall_facts", {"subject": "boiler"}))["message"].startswith("No such fact")
    assert tools.call("recall_facts", {}).failed


def test_the_profile_is_the_hosts_own_tool(tools, memory):
    assert not tools.call("update_profile", {"field": "name", "action": "set", "value": "Anna"}).failed
    assert memory.profile.get().name == "Anna"


def test_documents_are_searched_cited_and_read_in_bounded_parts(tools, memory, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    lines = [
        "# Boiler",
        "",
        "The boiler manual is in the blue folder.",
        *(f"<line {n}> " + "&" * 60 for n in range(400)),
    ]
    (notes / "boiler.md").write_text("\n".join(lines), encoding="utf-8")
    memory.documents.add(notes)
    (best, *_) = read(tools.call("search_documents", {"query": "where is the boiler manual?"}))["results"]
    assert best["citation"].startswith("boiler.md#L")
    shown, at = [], 1
    while at:
        part = tools.call("read_document", {"path": "boiler.md", "from": at})
        assert len(part.text) <= MOST_CHARACTERS
        shown += read(part)["text"].split("\n")
        at = part.data.get("nextFrom")
    assert shown == lines
    assert "no such document" in read(tools.call("read_document", {"path": "none.md"}))["message"]
    assert tools.call("read_document", {"path": "../../etc/passwd"}).failed


# --- what a model is shown cannot pretend to be anything else

MARKS = "<>&`＜＞﹤﹥\u2028\u2029"
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(ANY_JSON)
def test_json_for_a_model_says_the_same_and_has_no_tag_no_entity_and_no_link_in_it(value):
    written = as_json(value)
    assert json.loads(written) == value
    assert not set(written) & set(MARKS)
    assert "://" not in written


@given(st.lists(st.text(max_size=6_000), max_size=40), st.integers(600, 16_000))
def test_a_result_is_bounded_and_says_what_was_left_out(texts, most):
    told = {"note": "n", "memories": [{"id": str(n), "text": text} for n, text in enumerate(texts)]}
    result = bounded(ToolResult(as_json(told), {**told, "receipt": {"x": 1}, "latency_ms": 1.0}), most=most)
    assert len(result.text) <= most
    assert len(as_json(result.data)) <= most
    shown = json.loads(result.text)
    assert len(shown["memories"]) + shown.get("left_out", 0) == len(texts)
    assert not {"receipt", "latency_ms"} & set(result.data)


def test_the_longest_memories_of_all_fit_into_one_answer(opened, clock):
    memory = opened(clock=clock)
    for number in range(20):
        memory.remember(f"lamp number {number}: " + "<&>" * 2_600)
    result = bounded(Tools(memory, toolset="default").call("recall", {"query": "lamp number", "limit": 20}))
    assert len(result.text) <= MOST_CHARACTERS
    assert json.loads(result.text)["memories"]
