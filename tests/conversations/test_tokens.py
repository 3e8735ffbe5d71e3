"""Counting without a tokenizer: an estimate from above that holds for every script and grows with the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.message import Message, ToolCall
from memoranda.domain.tokens import estimated_tokens, message_tokens

from .made import kept

SCRIPTS = {
    "latin": "The lamp in the office, please: 40%!",
    "diacritics": "Zażółć gęślą jaźń, wyłącz światło.",
    "cyrillic": "Анна читает при настольной лампе.",
    "greek": "Η Άννα πίνει καφέ το πρωί.",
    "hebrew": "אנה שותה קפה בבוקר",
    "arabic": "آنا تفضل الإجابات القصيرة",
    "devanagari": "अन्ना सुबह कॉफी पीती है।",
    "thai": "แอนนาชอบคำตอบสั้น",
    "kana": "アンナはコーヒーを飲みます。",
    "han": "我喜欢喝茶，不喜欢咖啡。",
    "hangul": "안나는 짧은 답변을 좋아한다.",
    "emoji": "👨\u200d👩\u200d👧 🏔️ 🇵🇱",
    "rare": "ᚠᚢᚦ 𓀀𓁐 ꙮ ლამპა",
}
any_script = st.text(st.one_of(st.sampled_from("".join(SCRIPTS.values()) + "  \n\tabcde0123"), st.characters()))


@given(any_script, any_script)
def test_more_text_at_the_end_is_never_fewer_tokens(text, more):
    assert estimated_tokens(text) <= estimated_tokens(text + more)


@given(any_script, any_script)
def test_two_lines_cost_no_more_than_each_alone_and_the_line_end(one, two):
    assert estimated_tokens(f"{one}\n{two}") <= estimated_tokens(one) + estimated_tokens(two) + 1


@given(any_script)
def test_only_the_empty_text_is_free(text):
    assert (estimated_tokens(text) == 0) == (text == "")


@given(any_script)
def test_no_estimate_exceeds_the_bytes_by_more_than_a_half(text):
    # A lone letter with a diacritic takes two bytes, a lone space one: both are estimated within that.
    assert estimated_tokens(text) <= 1.5 * len(text.encode("utf-8", "replace")) + 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_estimated_in_proportion(script):
    text = SCRIPTS[script]
    once, often = estimated_tokens(text), estimated_tokens("\n".join([text] * 50))
    assert once >= len(text.split())
    assert 49 * once <= often <= 50 * (once + 1)


def test_a_message_costs_more_than_its_text():
    assert message_tokens(Message("user", "Hello")) > estimated_tokens("Hello")
    assert message_tokens(Message("user", "")) > 0


def test_everything_that_a_model_is_shown_is_counted():
    plain = Message("assistant", "Let me look.")
    named = plain._replace(speaker="Anna")
    calling = plain._replace(tool_calls=(ToolCall("call_1", "look_up", '{"room": "office"}'),))
    calling_more = plain._replace(tool_calls=(ToolCall("call_1", "look_up", '{"room": "office", "floor": "second"}'),))
    twice = plain._replace(tool_calls=calling.tool_calls * 2)
    answering = plain._replace(tool_call_id="call_1")
    costs = [message_tokens(each) for each in (plain, named, calling, calling_more, twice)]
    assert costs == sorted(set(costs))
    assert message_tokens(answering) > message_tokens(plain)
    summary = kept(0, "system", "It was so.", kind="summary")
    assert summary.tokens >= 4 + estimated_tokens(summary.for_model()["content"])


def test_a_tokenizer_takes_the_place_of_the_estimate():
    message = Message("assistant", "x" * 7, tool_calls=(ToolCall("id", "name", "{}"),))
    assert message_tokens(message, len) - message_tokens(message, lambda text: 0) == 7 + 2 + 4 + 2


@given(any_script, st.lists(st.tuples(any_script, any_script), max_size=3))
def test_a_message_costs_at_least_its_parts(text, calls):
    message = Message("assistant", text, tool_calls=tuple(ToolCall("1", *call) for call in calls))
    parts = [text, *(part for call in calls for part in call)]
    assert message_tokens(message) >= sum(map(estimated_tokens, parts))


def test_ten_thousand_messages_are_counted_in_a_blink():
    texts = [
        f"Turn {number}: the lamp in room {number % 7} is at {number % 100}% now. " * 6 for number in range(10_000)
    ]
    began = time.process_time()
    assert sum(message_tokens(Message("user", text)) for text in texts) > 10_000
    # Some 4 MB take 0.5 s here; ten times that would show on an import.
    assert time.process_time() - began < 5
