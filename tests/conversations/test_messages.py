"""Messages as hosts have them: one for each, or spread as a conversation keeps them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import InvalidInput
from memoranda.domain.clock import MAX_MS
from memoranda.domain.conversation import KeptMessage
from memoranda.domain.message import (
    CUT,
    MOST_ARGUMENTS,
    MOST_CALLS,
    ROLES,
    Message,
    ToolCall,
    message_in,
    messages_from,
    spread,
    user,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
NAME = st.text("abc-_1ł", max_size=8)
CALLS = st.lists(st.builds(ToolCall, NAME.filter(bool), NAME.filter(bool), TEXT), max_size=4, unique_by=lambda c: c.id)


@st.composite
def a_message(draw):
    role = draw(st.sampled_from(ROLES))
    return Message(
        role,
        draw(TEXT),
        draw(NAME),
        draw(st.none() | st.integers(0, MAX_MS)),
        draw(NAME),
        tuple(draw(CALLS)) if role == "assistant" else (),
        draw(NAME) if role == "tool" else "",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image", "toolCall"]) | JSON,
            "text": st.text(max_size=9) | JSON,
            "id": st.text(max_size=4) | JSON,
            "tool_use_id": st.text(max_size=4) | JSON,
            "name": st.text(max_size=4) | JSON,
            "input": JSON,
            "content": JSON,
        },
    )
    | JSON,
    max_size=6,
)
ODD = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "toolResult", "function", "oracle"]) | JSON},
    optional={
        "content": st.text(max_size=9) | BLOCKS,
        "tool_calls": JSON | st.lists(st.fixed_dictionaries({"id": JSON, "function": JSON}), max_size=4),
        "function_call": JSON,
        "tool_call_id": JSON,
        "timestamp": JSON,
        "id": JSON,
        "name": JSON,
    },
)


# -- one for each --


@given(a_message())
def test_a_message_comes_back_from_its_json(message):
    assert messages_from([json.loads(json.dumps(message.as_json()))]) == (message,)


@given(a_message())
def test_a_message_comes_back_as_it_was_given(message):
    assert messages_from([message]) == (message,)


@given(a_message(), st.integers(0, MAX_MS))
def test_what_is_shown_to_a_model_can_be_handed_over_again(message, at):
    kept = KeptMessage(
        "k1", 1, 1, message.role, message.text, at, 3, tool_calls=message.tool_calls, tool_call_id=message.tool_call_id
    )
    bare = Message(message.role, message.text, tool_calls=message.tool_calls, tool_call_id=message.tool_call_id)
    assert messages_from([kept.for_model()]) == (bare,)
    assert messages_from([kept.as_json()]) == (bare._replace(at=at, id="k1"),)


@given(st.lists(ODD, max_size=5))
def test_one_message_for_each_whatever_a_host_hands_over(history):
    assert len(messages_from(history)) == len(history)


@given(st.lists(ODD, max_size=5))
def test_spreading_refuses_nothing_but_roles_and_times_and_never_changes_words_that_are_alone(history):
    roles = {*ROLES, "human", "ai", "bot", "model", "developer", "function", "toolresult", "tool_result"}
    if not all(str(each.get("role")).casefold().strip() in roles for each in history):
        return
    parts = spread([{**each, "timestamp": None, "at": None} for each in history])
    assert all(part.text.strip() or part.tool_calls or part.tool_call_id for part in parts)
    assert json.dumps([part.as_json() for part in parts])
    for each in history:
        if isinstance(each.get("content"), str):
            each = {**each, "timestamp": None, "at": None}
            assert [part.text for part in spread([each])] in ([messages_from([each])[0].text], [])


@pytest.mark.parametrize("odd", [{"role": "alien"}, {"role": ""}, {"role": "user", "timestamp": "gestern"}])
def test_what_is_kept_word_for_word_has_a_role_and_a_time_that_can_be_read(odd):
    with pytest.raises(InvalidInput):
        spread([{"content": "Obey me.", **odd}])
    assert len(messages_from([{"content": "Obey me.", **odd}])) == 1


def test_results_inside_a_message_of_the_user_are_no_words_of_theirs():
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "secret"}]}
    assert messages_from([told]) == (Message("user", ""),)


def test_calls_are_read_in_every_form():
    weather = ToolCall("c1", "weather", '{"city": "Łódź"}')
    forms = [
        {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": weather[2]}}]},
        {"tool_calls": [{"id": "c1", "name": "weather", "args": {"city": "Łódź"}}]},
        {"content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Łódź"}}]},
        {"content": [{"type": "toolCall", "id": "c1", "name": "weather", "arguments": {"city": "Łódź"}}]},
    ]
    for form in forms:
        assert messages_from([{"role": "assistant", **form}]) == (Message("assistant", "", tool_calls=(weather,)),), (
            form
        )


def test_a_call_that_is_given_twice_is_one():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    (message,) = messages_from([{"role": "assistant", "content": [block], "tool_calls": [call]}])
    assert message.tool_calls == (ToolCall("c1", "f", "{}"),)


def test_an_old_call_of_a_function_and_its_result_belong_together():
    call, result = messages_from(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}},
            {"role": "function", "name": "weather", "content": "7 °C"},
        ]
    )
    assert [each.id for each in call.tool_calls] == [result.tool_call_id]
    assert (result.role, result.text) == ("tool", "7 °C")


def test_results_of_both_kinds_name_their_call():
    for result in ({"role": "tool", "tool_call_id": "c1"}, {"role": "toolResult", "toolCallId": "c1"}):
        assert messages_from([{**result, "content": "ok"}])[0].tool_call_id == "c1"


def test_only_tools_answer_and_only_assistants_call():
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    (message,) = messages_from([{"role": "user", "content": "x", "tool_calls": [call], "tool_call_id": "c1"}])
    assert (message.tool_calls, message.tool_call_id) == ((), "")


def test_calls_that_are_no_calls_are_refused_in_ours():
    with pytest.raises(InvalidInput, match="ToolCall"):
        messages_from([Message("assistant", "x", tool_calls=({"id": "c1"},))])


# -- bounds --


def test_too_many_calls_are_cut_and_said():
    calls = [{"id": f"c{number}", "function": {"name": "f", "arguments": "{}"}} for number in range(MOST_CALLS + 44)]
    given = {"role": "assistant", "content": "Working.", "tool_calls": calls}
    assert len(messages_from([given])[0].tool_calls) == MOST_CALLS
    assert messages_from([given])[0].text == "Working."
    assert spread([given])[0].text == "Working.\n\n[44 more calls were cut]"
    assert spread([{**given, "tool_calls": calls[:MOST_CALLS]}])[0].text == "Working."


def test_long_arguments_are_cut_with_a_mark():
    call = {"id": "c1", "function": {"name": "f", "arguments": "x" * (MOST_ARGUMENTS + 1)}}
    (message,) = messages_from([{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert message.tool_calls[0].arguments == "x" * MOST_ARGUMENTS + CUT


# -- spread --


def test_each_result_is_a_message_before_the_words_beside_it():
    given = {
        "role": "user",
        "id": "u1",
        "timestamp": "2026-03-01T12:00:00Z",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {"type": "text", "text": "And now?"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [{"type": "text", "text": "two"}, {"type": "image"}],
            },
        ],
    }
    at = 1772366400000
    assert spread([given]) == (
        Message("tool", "one", "", at, "u1", (), "t1"),
        Message("tool", "two\n\n[image]", "", at, "u1#2", (), "t2"),
        Message("user", "And now?", "", at, "u1#3"),
    )


def test_thinking_is_left_out_and_an_image_is_marked_where_it_stood():
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "before"},
        {"type": "image", "source": {}},
        {"type": "text", "text": "after"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    ]
    (message,) = spread([{"role": "assistant", "content": blocks}])
    assert message == Message("assistant", "before\n\n[image]\n\nafter", tool_calls=(ToolCall("t1", "f", "{}"),))


def test_a_message_in_which_nothing_remains_is_no_message():
    assert spread([{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, user("  ")]) == ()


def test_an_empty_result_still_answers_its_call():
    assert spread([{"role": "tool", "tool_call_id": "c1", "content": ""}]) == (Message("tool", "", tool_call_id="c1"),)


def test_a_result_that_is_no_text_is_kept_as_json():
    block = {"type": "tool_result", "tool_use_id": "t1", "content": {"degrees": 7}}
    assert spread([{"role": "user", "content": [block]}])[0].text == '{"degrees": 7}'


@pytest.mark.parametrize("given", ["text", {"role": "user"}, Message("user", "x"), 7, None])
def test_a_list_is_expected(given):
    for reader in (messages_from, spread):
        with pytest.raises(InvalidInput, match="list"):
            reader(given)


# -- lines of transcripts --


def test_the_message_of_a_line_is_itself_or_in_its_envelope():
    bare = {"role": "user", "content": "hi"}
    assert message_in(bare) == bare
    line = {"type": "user", "message": {**bare, "id": "msg_1"}, "uuid": "u1", "timestamp": "2026-03-01"}
    assert message_in(line) == {**bare, "id": "u1", "timestamp": "2026-03-01"}
    entry = {"type": "message", "message": {**bare, "timestamp": 5}, "id": "a1", "parentId": None}
    assert message_in(entry) == {**bare, "id": "a1", "timestamp": 5}


@pytest.mark.parametrize(
    "line",
    [
        None,
        [],
        {"type": "summary", "summary": "x"},
        {"type": "user", "message": "x"},
        {"type": "user", "message": {"content": "x"}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "x"}},
        {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "x"}},
        {"type": "progress", "message": {"role": "user", "content": "x"}},
    ],
)
def test_what_nobody_said_is_no_message(line):
    assert message_in(line) is None
