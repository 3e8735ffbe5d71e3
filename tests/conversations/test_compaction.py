"""What is chosen to be summed up: whole exchanges, from a turn edge, never what is recent, and always an end to it."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.conversations.compaction import choose, due, one_line, parsed, rendered
from memoranda.conversations.exchanges import exchanges, turns
from memoranda.domain.conversation import Gist
from memoranda.domain.errors import InvalidInput
from memoranda.domain.tokens import message_tokens

from .made import MINUTE, NOON, conversations, kept, places, talk

BUDGET = 32_000
budgets = st.one_of(st.integers(1, 600), st.integers(1_000, 40_000))
lines = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(one_line).filter(bool)
gists = st.builds(Gist, *[st.lists(lines, max_size=5).map(tuple)] * 3)


def chosen(script, **options):
    return choose(talk(script), **{"budget": BUDGET, "keep": 4, "asked": True, **options})


def after(messages, choice, text="[Conversation Summary - old to new]\n\nKey points discussed:\n- all of it"):
    """The messages as they are when a choice was carried out."""
    gone = {message.number for message in [*choice.fold, *filter(None, [choice.earlier])]}
    stayed = [message._replace(status="compacted") if message.number in gone else message for message in messages]
    new = kept(choice.place, "system", text, id="new", number=2_000, kind="summary", at=choice.start_at)
    return [*stayed, new]


def staying(messages, choice):
    return [each for each in after(messages, choice) if each.status == "active" and each.kind == "message"]


# -- promises for everything that comes in --


@given(conversations(), budgets, st.integers(1, 20), st.booleans())
def test_right_after_a_compaction_there_is_nothing_to_do(messages, budget, keep, asked):
    options = {"budget": budget, "keep": keep, "least": 6, "asked": asked}
    choice = choose(messages, **options)
    if not choice.fold:
        assert choice.reason
        return
    again = choose(after(messages, choice), **options)
    assert again.fold == ()
    assert again.reason


@given(conversations(), budgets, st.integers(1, 20))
def test_no_exchange_is_torn_apart(messages, budget, keep):
    folded = {message.number for message in choose(messages, budget=budget, keep=keep, asked=True).fold}
    for each in exchanges([message for message in messages if message.role != "system"]):
        assert len({message.number in folded for message in each.messages}) == 1


@given(conversations(), st.integers(1, 20))
def test_with_room_enough_the_last_messages_and_system_prompts_stay_and_begin_with_a_user(messages, keep):
    choice = choose(messages, budget=10_000_000, keep=keep, asked=True)
    folded = {message.number for message in choice.fold}
    body = [message for message in messages if message.role != "system"]
    assert not folded & {message.number for message in body[-keep:]}
    assert all(message.role != "system" for message in choice.fold)
    stayed = [message for message in body if message.number not in folded]
    if choice.fold and stayed and turns(exchanges(body))[0].asked:
        assert stayed[0].role == "user"


@given(conversations(), budgets, st.integers(1, 20))
def test_whatever_the_budget_the_newest_question_and_the_newest_exchange_stay(messages, budget, keep):
    folded = {message.number for message in choose(messages, budget=budget, keep=keep, asked=True).fold}
    found = exchanges([message for message in messages if message.role != "system"])
    if found:
        assert not folded & {message.number for message in found[-1].messages}
    for turn in [each for each in turns(found) if each.asked][-1:]:
        assert turn.exchanges[0].messages[0].number not in folded


@given(conversations(), budgets)
def test_the_summary_stands_at_the_start_of_what_it_replaces_and_tells_its_whole_span(messages, budget):
    choice = choose(messages, budget=budget, asked=True)
    if choice.fold:
        every = [*choice.fold, *filter(None, [choice.earlier])]
        assert choice.place == min(places(every))
        assert choice.start_at <= min(message.at for message in choice.fold)
        assert choice.end_at >= max(message.at for message in choice.fold)
        assert places(choice.fold) == sorted(places(choice.fold))
        assert all(message.status == "active" for message in every)


@given(conversations(max_size=60), st.integers(1, 20))
def test_an_open_call_of_the_last_two_turns_and_everything_after_it_stay(messages, keep):
    body = [message for message in messages if message.role != "system"]
    folded = {message.number for message in choose(messages, budget=10_000_000, keep=keep, asked=True).fold}
    found = turns(exchanges(body))
    opened = [each.messages[0].place for turn in found[-2:] for each in turn.exchanges if each.open]
    if opened:
        assert not folded & {message.number for message in body if message.place >= opened[0]}


# -- by example --


def test_the_cut_is_snapped_back_to_a_turn_edge():
    assert places(chosen("u a u a a a a a").fold) == [0, 1]
    assert places(chosen("u a u a u a u a").fold) == [0, 1, 2, 3]
    assert chosen("u a a a a a a a").fold == ()


def test_a_question_is_not_folded_without_its_answer():
    assert places(chosen("u a u a u u a u a").fold) == [0, 1, 2, 3]


def test_where_nobody_answers_something_is_folded_nevertheless():
    assert places(chosen("u " * 30).fold) == list(range(26))
    assert places(chosen("u a " + "u " * 28).fold) == list(range(26))


def test_few_messages_are_left_alone_unless_asked_or_too_long():
    messages = talk("u a " * 9)
    assert choose(messages, budget=BUDGET).reason == "fewer than 20 messages"
    assert places(choose(messages, budget=BUDGET, asked=True).fold) == list(range(8))
    assert choose([each._replace(tokens=3_000) for each in messages], budget=BUDGET).fold


def test_when_asked_with_nothing_to_fold_it_is_said_why():
    assert "last 10" in choose(talk("s u a"), budget=BUDGET, asked=True).reason
    assert choose([], budget=BUDGET, asked=True).reason


def test_system_prompts_stay():
    assert places(chosen("s u a s u a u a u a").fold) == [1, 2, 4, 5]


def test_turns_with_tool_calls_stay_as_they_are_newest_first_within_their_share():
    messages = talk("u a u c1 t1 a u a u c2 t2 a u a u a")
    whole = choose(messages, budget=BUDGET, keep=4, asked=True)
    assert places(whole.fold) == [0, 1, 6, 7]
    one_turn = sum(message.tokens for message in messages[8:12]) + 1
    assert places(choose(messages, budget=one_turn * 4, keep=4, asked=True, share=None).fold) == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
    ]
    assert places(choose(messages, budget=BUDGET, keep=4, asked=True, tools_share=0).fold) == list(range(12))


def test_an_agent_that_lives_by_its_tools_is_compacted():
    messages = talk("u c1 t1 a " * 500)
    assert due(messages, budget=8_000) == "tokens"
    choice = choose(messages, budget=8_000)
    assert len(choice.fold) > 1_500
    assert due(after(messages, choice), budget=8_000) == ""


def test_an_agent_that_was_asked_once_is_compacted():
    messages = talk("u " + "c1 t1 " * 500)
    choice = choose(messages, budget=8_000)
    assert places(choice.fold)[0] == 1
    assert due(after(messages, choice), budget=8_000) == ""
    assert places(staying(messages, choice))[0] == 0


def test_a_huge_recent_part_is_folded_down_to_its_last_two_turns():
    messages = [each._replace(tokens=2_500) for each in talk("u a " * 10)]
    choice = choose(messages, budget=BUDGET)
    stayed = staying(messages, choice)
    assert 4 <= len(stayed) < 10
    assert stayed[0].role == "user"
    assert due(after(messages, choice), budget=BUDGET) == ""
    huge = [each._replace(tokens=9_000) for each in messages]
    assert places(staying(huge, choose(huge, budget=BUDGET))) == [16, 18, 19]


def test_open_calls_and_what_follows_stay():
    assert places(chosen("u a u c1 a a a a a a").fold) == [0, 1]
    assert places(chosen("u a u c1 a a a u a").fold) == [0, 1]
    assert chosen("u c1 a a a a u a").fold == ()


def test_a_call_that_nobody_answered_for_two_turns_does_not_hold_up_the_rest():
    assert places(chosen("u c1 u a u a u a").fold) == [0, 1, 2, 3]


def test_a_late_result_among_the_last_keeps_its_call_and_its_question():
    assert places(chosen("u a u c1 u a u a t1 a u a", tools_share=0).fold) == [0, 1, 4, 5]


def test_the_earlier_summary_is_folded_in_and_its_time_is_kept():
    text = rendered(Gist(("tea",)), start_at=NOON - 60 * MINUTE, end_at=NOON)
    earlier = kept(0, "system", text, kind="summary", number=500)
    messages = [earlier, *talk("u a u a u a u a")[2:]]
    choice = choose(messages, budget=BUDGET, keep=4, asked=True)
    assert choice.earlier == earlier
    assert places(choice.fold) == [2, 3]
    assert (choice.place, choice.start_at, choice.end_at) == (0, NOON - 60 * MINUTE, NOON + 3 * MINUTE)


def test_of_two_active_summaries_one_is_folded_as_a_message_so_that_one_is_left():
    messages = [kept(0, "system", "one", kind="summary", number=500), *talk("u a")]
    messages.append(kept(1, "system", "two", kind="summary", number=501))
    choice = choose(messages, budget=BUDGET, asked=True)
    assert [each.text for each in choice.fold] == ["one"]
    assert choice.earlier.text == "two"


def test_a_trigger_tells_why():
    messages = [each._replace(tokens=10) for each in talk("s u a u a")]
    assert due(messages, budget=100) == ""
    assert due(messages, budget=70) == "tokens"
    assert due(messages, budget=70, share=0.8) == ""
    assert due(messages, budget=100, most=4) == ""
    assert due(messages, budget=100, most=3) == "messages"
    assert due(messages, budget=1, share=None) == ""
    assert due([each._replace(status="compacted") for each in messages], budget=70, most=1) == ""


@pytest.mark.parametrize("options", [{"budget": 0}, {"budget": 100, "keep": 0}])
def test_senseless_numbers_are_refused(options):
    with pytest.raises(InvalidInput):
        choose([], **options)


def test_ten_thousand_messages_are_chosen_from_at_once():
    messages = [each._replace(tokens=50) for each in talk("u a c1 t1 a " * 2_000)]
    choice = choose(messages, budget=BUDGET)
    assert 9_000 < len(choice.fold) < 10_000


@pytest.mark.parametrize("script", ["u a ", "u c1 t1 a ", "u c1+2 t1 t2 c3 t3 a ", "u u a u ", "a c1 t1 "])
def test_a_conversation_that_goes_on_and_on_is_compacted_now_and_then_and_stays_small(script):
    spoken = [each._replace(tokens=40) for each in talk("s u " + script * 300)]
    active, compacted, folded = [], 0, []
    for number, message in enumerate(spoken):
        active.append(message)
        if not due(active, budget=4_000):
            continue
        choice = choose(active, budget=4_000)
        assert choice.fold
        folded += [each.number for each in choice.fold]
        gone = {*(each.number for each in choice.fold), choice.earlier.number if choice.earlier else 0}
        summary = kept(choice.place, "system", "x", kind="summary", number=10_000 + number, tokens=480)
        active = [summary, *(each for each in active if each.number not in gone)]
        compacted += 1
        assert not due(active, budget=4_000)
    # Not at every message, and every message is folded once or still there.
    assert 3 < compacted < len(spoken) / 20
    there = [each.number for each in active if each.kind == "message"]
    assert sorted(folded + there) == [each.number for each in spoken]


# -- how a summary is written --


def test_a_summary_reads_as_agreed():
    gist = Gist(("Anna likes tea.",), ("Turned on light.office.",), ("Buy a lamp.", "Call Jan."))
    assert rendered(gist, start_at=NOON, end_at=NOON + MINUTE) == (
        "[Conversation Summary - 2026-01-01T12:00:00.000Z to 2026-01-01T12:01:00.000Z]\n"
        "\n"
        "Key points discussed:\n"
        "- Anna likes tea.\n"
        "\n"
        "Actions taken:\n"
        "- Turned on light.office.\n"
        "\n"
        "Open items:\n"
        "- Buy a lamp.\n"
        "- Call Jan."
    )


def test_empty_sections_are_left_out():
    text = rendered(Gist((), ("Closed the door.",)), start_at=NOON, end_at=NOON)
    assert text.split("\n")[1:] == ["", "Actions taken:", "- Closed the door."]


@given(gists)
@example(Gist(("Actions taken:", "- Open items:", "[Conversation Summary - a to b]")))
def test_what_is_written_is_read_back(gist):
    assert parsed(rendered(gist, start_at=NOON, end_at=NOON)) == gist


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_no_statement_can_imitate_a_heading_or_another_statement(points, actions):
    text = rendered(Gist(tuple(points), tuple(actions)), start_at=NOON, end_at=NOON)
    found = parsed(text)
    assert len(found.points) <= len(points)
    assert len(found.actions) <= len(actions)
    assert found.open_items == ()
    assert len(text.splitlines()) <= 1 + 2 * 2 + len(points) + len(actions)
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)


def test_a_statement_of_several_lines_becomes_one():
    gist = Gist(("one\n\nActions taken:\r\n- Opened the safe.\u2028now\0",))
    assert parsed(rendered(gist, start_at=0, end_at=0)) == Gist(("one Actions taken: - Opened the safe. now",))


def test_a_summary_of_another_hand_is_read_as_points():
    assert parsed("We spoke of tea.\n\n- And of lamps.") == Gist(("We spoke of tea.", "And of lamps."))


def test_a_summary_is_counted_with_what_is_said_around_it():
    plain = kept(0, "system", "It was so.")
    assert message_tokens(plain._replace(kind="summary")) > message_tokens(plain)
