"""What a model is shown: the newest, within the budget, beginning with a user, no tool call without its results."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.conversations.abridging import abridged
from memoranda.conversations.compaction import rendered
from memoranda.conversations.exchanges import exchanges
from memoranda.conversations.window import LEAST_BUDGET, shortened, window
from memoranda.domain.conversation import WORKING_IS_DATA, Gist
from memoranda.domain.errors import InvalidInput
from memoranda.domain.tokens import estimated_tokens, message_tokens

from .made import NOON, conversations, kept, places, talk, texts

PLENTY = 100_000
MORE = re.compile(r"- \[\.\.\. (\d+) more; see the summary sum\]")
MARK = re.compile(r"\[\.\.\. \d+ tokens left out \.\.\.\]")
budgets = st.one_of(st.integers(LEAST_BUDGET, 300), st.integers(LEAST_BUDGET, 3_000))
counts = st.sampled_from([None, estimated_tokens, len, lambda text: (len(text) + 3) // 4])


def summary_at(place, text="What was said before.", **fields):
    return kept(place, "system", text, id="sum", number=1_000 + place, kind="summary", **fields)


def shown(script, budget=PLENTY):
    return places(window(talk(script), budget=budget).messages)


def cost(messages):
    return sum(message.tokens for message in messages)


# -- promises for everything that comes in --


@given(conversations(), budgets, texts, counts)
@example([kept(0, "user", "a word " * 900, speaker="s" * 512)], LEAST_BUDGET, "", None)
@example([kept(0, "system", "a rule " * 900), kept(1, "user", "x " * 900)], LEAST_BUDGET, "w " * 500, None)
def test_the_budget_is_never_exceeded(messages, budget, working, count):
    found = window(messages, budget=budget, working=working, count=count)
    shown = kept(0, "system", f"{WORKING_IS_DATA}\n{found.working}")
    of_working = message_tokens(shown, count or estimated_tokens) if found.working else 0
    assert sum(message_tokens(each, count or estimated_tokens) for each in found.messages) + of_working == found.tokens
    assert found.tokens <= budget


@given(conversations(), budgets)
def test_no_call_is_shown_without_its_results_nor_a_result_without_its_call(messages, budget):
    found = exchanges([each for each in window(messages, budget=budget).messages if each.role != "system"])
    assert not any(each.orphan for each in found)
    assert not any(each.open for each in found[:-1])


@given(conversations(), budgets)
def test_a_window_begins_with_a_user_when_there_is_one_and_the_newest_is_shown(messages, budget):
    body = [each for each in window(messages, budget=budget).messages if each.role != "system"]
    said = [message.place for message in messages if message.role == "user"]
    if said:
        assert body[0].role == "user"
        assert said[-1] in places(body)


@given(conversations(), budgets, texts)
def test_the_order_is_that_of_the_conversation_behind_system_prompts_and_summary(messages, budget, working):
    found = window(messages, budget=budget, working=working)
    spoken = [message for message in found.messages if message.kind == "message"]
    assert places(spoken) == sorted(places(spoken))
    if found.summary:
        before = found.messages[: found.messages.index(found.summary)]
        assert all(message.role == "system" for message in before)
    assert [each.kind for each in found.messages].count("summary") == (found.summary is not None)
    assert found.dropped == sum(message.kind == "message" for message in messages) - len(spoken)


@given(conversations(), budgets, st.randoms())
def test_the_same_messages_give_the_same_window_however_they_are_handed_over(messages, budget, chance):
    shuffled = list(messages)
    chance.shuffle(shuffled)
    assert window(shuffled, budget=budget) == window(messages, budget=budget)


@given(conversations())
def test_with_room_for_all_only_what_no_model_takes_is_left_out(messages):
    found = window(messages, budget=10_000_000)
    body = [message for message in messages if message.role != "system"]
    called = [each for each in exchanges(body) if not each.orphan]
    taken = [each for each in called if not each.open or each is called[-1]]
    first = next((place for place, each in enumerate(taken) if each.asked), 0)
    expected = sorted(message.place for each in taken[first:] for message in each.messages)
    assert places(each for each in found.messages if each.role != "system") == expected
    assert not found.truncated


@given(conversations(), budgets, texts, counts, st.lists(st.text(max_size=60), max_size=40))
def test_a_summary_has_its_quarter_and_leaves_half_when_messages_want_it(messages, budget, working, count, points):
    counted = count or estimated_tokens
    text = rendered(Gist(tuple(points), ("Looked it up.",), ("Call Ben.",)), start_at=NOON, end_at=NOON)
    without = [message for message in messages if message.kind == "message"]
    found = window([*without, summary_at(0, text)], budget=budget, working=working, count=count)
    whole = message_tokens(summary_at(0, text), counted)
    prompts = [message for message in found.messages if message.role == "system" and message.kind == "message"]
    left = budget - sum(message_tokens(message, counted) for message in prompts)
    if whole <= left // 4 and budget >= 300:
        assert found.summary is not None
        assert found.summary.text == text
    if found.summary:
        every = window(without, budget=10_000_000, count=count).messages
        wanted = sum(message_tokens(message, counted) for message in every if message.role != "system")
        assert message_tokens(found.summary, counted) <= max(left // 2, left - wanted)


@given(
    st.lists(st.text(max_size=60), max_size=40), st.lists(st.text(max_size=60), max_size=9), st.integers(0, 900), counts
)
def test_an_abridged_summary_has_whole_statements_and_says_how_many_more(points, items, most, count):
    text = rendered(Gist(tuple(points), (), tuple(items)), start_at=NOON, end_at=NOON)
    shorter = abridged(text, name="sum", most=most, count=count or estimated_tokens)
    if not shorter:
        return
    assert (count or estimated_tokens)(shorter) <= most
    before, after = text.split("\n"), shorter.split("\n")
    marks = [line for line in after if MORE.fullmatch(line)]
    kept = [line for line in after if line not in marks]
    rest = iter(before)
    assert all(line in rest for line in kept if line)
    assert any(line.startswith("- ") for line in kept)
    gone = sum(line.startswith("- ") for line in before) - sum(line.startswith("- ") for line in kept)
    assert [int(MORE.fullmatch(line)[1]) for line in marks] == ([gone] if gone else [])


# -- by example --


def test_the_newest_are_shown_not_the_oldest():
    messages = talk("s " + "u a " * 500)
    found = window(messages, budget=400)
    assert places(found.messages)[0] == 0
    assert places(found.messages)[-1] == messages[-1].place
    assert 10 < len(found.messages) < 60
    assert found.dropped == len(messages) - len(found.messages)


def test_system_prompts_are_kept_wherever_they_stand_and_the_summary_follows_the_first():
    messages = [*talk("s u a s u a"), summary_at(1)]
    found = window(messages, budget=PLENTY)
    assert [message.id for message in found.messages] == ["m0", "sum", "m1", "m2", "m3", "m4", "m5"]
    assert found.summary == messages[-1]


def test_only_the_newest_of_two_summaries_is_shown():
    messages = [summary_at(0, "old"), *talk("u a"), summary_at(1, "new")]
    found = window(messages, budget=PLENTY)
    assert [each.text for each in found.messages if each.kind == "summary"] == ["new"]


def test_what_is_compacted_or_archived_is_not_seen():
    messages = [each._replace(status="compacted") for each in talk("u a u a")] + [kept(4, "user", "now")]
    assert places(window(messages, budget=PLENTY).messages) == [4]
    assert window(messages, budget=PLENTY).dropped == 0


def test_orphans_are_left_out():
    assert shown("u t1 a") == [0, 2]


def test_open_calls_are_shown_only_as_the_newest_exchange():
    assert shown("u c1") == [0, 1]
    assert shown("u c1+2 t1") == [0, 1, 2]
    assert shown("u c1 u a") == [0, 2, 3]
    assert shown("u c1+2 t1 u") == [0, 3]


def test_a_late_result_brings_its_call_along_or_goes_with_it():
    messages = talk("u c1 u a t1 a")
    assert places(window(messages, budget=PLENTY).messages) == [0, 1, 2, 3, 4, 5]
    # Room for the newest turn only: the late result has no call there.
    budget = max(LEAST_BUDGET, cost(messages[2:4]) + cost(messages[5:]))
    assert places(window([each._replace(tokens=20) for each in messages], budget=budget).messages) == [2, 3, 5]


def test_a_turn_that_does_not_fit_shows_its_question_and_its_end():
    messages = talk("u a a a a a a a a u")
    sized = [each._replace(tokens=20) for each in messages]
    assert places(window(sized, budget=100).messages) == [0, 6, 7, 8, 9]


def test_an_agent_that_works_long_for_one_question_sees_the_question_and_its_newest_steps():
    messages = talk("u " + "c1 t1 " * 200)
    found = window(messages, budget=600)
    assert found.messages[0].role == "user"
    assert places(found.messages)[-2:] == [399, 400]
    assert 10 < len(found.messages) < 60


def test_what_nobody_asked_for_is_shown_when_nobody_asks():
    assert shown("a a a") == [0, 1, 2]
    assert shown("a u a") == [1, 2]


def test_a_long_message_of_the_user_is_cut_in_the_middle_and_says_so():
    text = "First the beginning. " + "Padding in between. " * 2_000 + "Last the end."
    found = window([kept(0, "user", "earlier"), kept(1, "user", text)], budget=300)
    assert found.truncated
    (message,) = found.messages
    assert message.text.startswith("First the beginning.")
    assert message.text.endswith("Last the end.")
    assert MARK.search(message.text)
    assert 250 < found.tokens <= 300


def test_a_long_message_cannot_push_the_system_prompt_out():
    prompt = kept(0, "system", "Never open the door to strangers. " * 5)
    found = window([prompt, kept(1, "user", "Open it. " * 5_000)], budget=500)
    assert found.messages[0] == prompt
    assert MARK.search(found.messages[1].text)


def test_a_system_prompt_longer_than_the_budget_leaves_room_for_the_user():
    found = window([kept(0, "system", "A rule. " * 5_000), kept(1, "user", "Hello?")], budget=200)
    assert MARK.search(found.messages[0].text)
    assert found.messages[1].text == "Hello?"
    assert found.truncated


def test_a_result_that_is_too_long_is_cut_so_that_the_agent_does_not_ask_again():
    messages = [*talk("u c1"), kept(2, "tool", "line of a log\n" * 5_000, answers="1")]
    found = window(messages, budget=500)
    assert places(found.messages) == [0, 1, 2]
    assert found.messages[1] == messages[1]
    assert MARK.search(found.messages[2].text)


def test_working_memory_and_summary_are_shown_and_counted():
    messages = [*talk("s u a u a"), summary_at(1)]
    found = window(messages, budget=PLENTY, working="Goal: the lamp.")
    assert found.working == "Goal: the lamp."
    assert found.tokens == cost(found.messages) + message_tokens(
        kept(0, "system", f"{WORKING_IS_DATA}\nGoal: the lamp.")
    )
    contents = [each["content"] for each in found.for_model()]
    assert contents[:2] == ["s at 0", f"{WORKING_IS_DATA}\nGoal: the lamp."]
    assert contents[2].endswith("What was said before.")
    assert len(contents) == 7


def test_a_late_result_is_handed_over_right_behind_its_call():
    messages = talk("u c1 u t1 a")
    roles = [each["role"] for each in window(messages, budget=PLENTY).for_model()]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


def test_long_working_memory_and_a_long_summary_share_and_leave_room_for_the_newest_exchange():
    messages = [*talk("u a u c1 t1"), summary_at(0, "It was so. " * 3_000)]
    found = window(messages, budget=600, working="Goal. " * 3_000)
    assert MARK.search(found.working)
    assert MARK.search(found.summary.text)
    assert places(found.messages)[-3:] == [2, 3, 4]


def long_summary():
    gist = Gist(
        tuple(f"Point {number} was made about the house and its heating." for number in range(200)),
        tuple(f"Looked at valve {number}." for number in range(50)),
        ("Call the plumber.", "Order a new pump."),
    )
    return summary_at(0, rendered(gist, start_at=NOON, end_at=NOON))


def test_a_long_newest_message_does_not_push_the_summary_out():
    before = summary_at(0, "- Anna lives in Vienna.\n" * 20)
    messages = [before, *talk("u a " * 10), kept(20, "user", "a long word " * 5_000)]
    for budget in (1_000, 2_000, 4_000):
        found = window(messages, budget=budget)
        assert found.summary == before
        assert MARK.search(found.messages[-1].text)
        assert found.tokens > 0.9 * budget


def test_a_long_newest_message_is_seen_beside_a_long_summary_and_the_newest_exchange():
    messages = [long_summary(), kept(1, "user", "a long word " * 5_000), *talk("s s c1 t1")[2:]]
    found = window(messages, budget=1_000)
    assert places(found.messages)[1:] == [1, 2, 3]
    assert 200 < found.summary.tokens <= 500


@pytest.mark.parametrize("budget", [1_000, 2_000, 4_000])
def test_a_long_summary_leaves_half_of_the_room_to_the_newest_messages(budget):
    messages = [long_summary(), *(each._replace(tokens=40) for each in talk("u a " * 70))]
    found = window(messages, budget=budget)
    assert budget // 4 <= found.summary.tokens <= budget // 2
    assert len(found.messages) - 1 >= budget // 2 // 40 - 2
    assert found.messages[-1] == messages[-1]


def test_a_long_summary_is_shown_whole_when_nobody_else_wants_the_room():
    summary = long_summary()
    assert window([summary, *talk("u a")], budget=summary.tokens + 100).summary == summary


def test_an_abridged_summary_keeps_open_items_then_the_newest_and_says_where_the_rest_is():
    lines = window([long_summary(), *talk("u a " * 70)], budget=1_000).summary.text.split("\n")
    assert lines[0].startswith("[Conversation Summary - ")
    assert MORE.fullmatch(lines[1])
    assert lines[-2:] == ["- Call the plumber.", "- Order a new pump."]
    assert "- Point 199 was made about the house and its heating." in lines
    assert "- Looked at valve 49." in lines
    assert "- Point 0 was made about the house and its heating." not in lines
    assert [line for line in lines if line.endswith(":")] == ["Key points discussed:", "Actions taken:", "Open items:"]


def test_a_statement_that_is_too_long_keeps_no_other_out():
    text = rendered(Gist(("First.", "word " * 5_000, "Last.")), start_at=NOON, end_at=NOON)
    shorter = abridged(text, name="sum", most=150, count=estimated_tokens)
    assert shorter.endswith("- [... 1 more; see the summary sum]\n\nKey points discussed:\n- First.\n- Last.")


def test_tokens_that_were_counted_when_kept_are_trusted_unless_a_tokenizer_is_given():
    messages = [each._replace(tokens=50) for each in talk("u a u a")]
    assert places(window(messages, budget=110).messages) == [2, 3]
    assert places(window(messages, budget=110, count=lambda text: 1).messages) == [0, 1, 2, 3]
    uncounted = [each._replace(tokens=0) for each in talk("u a u a")]
    assert window(uncounted, budget=PLENTY).tokens == cost(talk("u a u a"))


def test_nothing_said_is_an_empty_window():
    assert window([], budget=1_000) == ((), 0, 0, None, False, "")


@pytest.mark.parametrize("budget", [0, -1, LEAST_BUDGET - 1, True, 1_000.0])
def test_a_budget_that_holds_nothing_is_refused(budget):
    with pytest.raises(InvalidInput) as caught:
        window([], budget=budget)
    assert caught.value.hint


@given(texts, st.integers(-5, 200), counts.filter(bool))
def test_a_shortened_text_keeps_to_its_tokens_and_says_that_it_was_cut(text, most, count):
    cut = shortened(text, most=most, count=count)
    assert cut == "" or count(cut) <= most
    assert cut in ("", text) or MARK.search(cut)
    if count(text) <= most:
        assert cut == text
