"""The cursor: hosts hand over the whole history, or a window of it, and each message is looked at once."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import assistant, user
from memoranda.capture import cursor
from memoranda.domain.message import Message
from support import SCOPE, occurrences, open_store

from .support import everything, in_another_process, lines_of

KEY = b"k" * 32


def digests(said):
    return [cursor.digest(Message("user", each), key=KEY) for each in said]


def looked_at(tail, history):
    """(places that are new, the cursor afterwards)."""
    current = digests(history)
    places = cursor.unseen(tail, current)
    return places, cursor.moved(tail, [current[place] for place in places])


# -- a history that grows --


@given(steps=st.lists(st.integers(0, 9), min_size=1, max_size=40), window=st.data())
def test_any_window_of_a_growing_history_shows_each_message_once(steps, window):
    history, seen, tail = [], [], b""
    for number in steps:
        known = len(history)
        history += [f"message {len(history) + more}" for more in range(number)]
        # The window may begin anywhere, as long as it does not leave out what is new.
        start = window.draw(st.integers(0, known))
        places, tail = looked_at(tail, history[start:])
        seen += [start + place for place in places]
    assert seen == list(range(len(history)))


@given(said=st.lists(st.sampled_from("ab"), max_size=30), steps=st.lists(st.integers(1, 4), min_size=1, max_size=30))
def test_people_repeat_themselves_and_the_whole_history_still_shows_each_message_once(said, steps):
    seen, tail, end = [], b"", 0
    for step in steps:
        end = min(len(said), end + step)
        places, tail = looked_at(tail, said[:end])
        seen += places
    assert seen == list(range(end))


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_history_of_any_length_that_is_handed_over_again_has_nothing_new(before, more):
    history = [f"message {number}" for number in range(before + more)]
    _, tail = looked_at(b"", history[:before])
    places, tail = looked_at(tail, history)
    assert places == list(range(before, before + more))
    assert looked_at(tail, history)[0] == []


@given(st.integers(0, 500))
def test_the_cursor_is_bounded(number):
    _, tail = looked_at(b"", [f"message {each}" for each in range(number)])
    assert len(tail) == cursor.DIGEST * min(number, cursor.REMEMBERED)


# -- a history that is rewritten --


@given(length=st.integers(1, 150), kept=st.integers(0, 40), new=st.integers(0, 5))
def test_after_a_compaction_only_the_summary_and_what_came_after_it_are_new(length, kept, new):
    history = [f"message {number}" for number in range(length)]
    _, tail = looked_at(b"", history)
    rewritten = ["what was said so far", *history[max(0, length - kept) :], *(f"later {each}" for each in range(new))]
    places, _ = looked_at(tail, rewritten)
    assert {rewritten[place] for place in places} <= {"what was said so far", *rewritten[len(rewritten) - new :]}
    assert [place for place in places if rewritten[place].startswith("later")] == list(
        range(len(rewritten) - new, len(rewritten))
    )


@given(length=st.integers(2, 150), edited=st.integers(0, 149))
def test_an_edited_message_does_not_make_old_ones_new(length, edited):
    history = [f"message {number}" for number in range(length)]
    _, tail = looked_at(b"", history)
    place = edited % length
    history[place] = "in other words"
    places, _ = looked_at(tail, history)
    assert set(places) <= {place}


@given(length=st.integers(1, 100), cut=st.integers(1, 100))
def test_a_history_that_goes_back_to_an_earlier_message_makes_nothing_before_it_new(length, cut):
    history = [f"message {number}" for number in range(length)]
    _, tail = looked_at(b"", history)
    shorter = history[: max(1, length - cut % cursor.REMEMBERED)]
    places, tail = looked_at(tail, shorter)
    assert set(places) <= ({0} if len(shorter) == 1 else set())
    assert set(looked_at(tail, history)[0]) <= set(range(len(shorter), length))


@given(st.lists(st.text(max_size=20), max_size=20))
def test_no_history_is_too_odd(said):
    places, tail = looked_at(b"", [each.encode("utf-8", "replace").decode() for each in said])
    assert places == sorted(set(places))
    assert len(tail) == cursor.DIGEST * len(places)


def test_a_digest_tells_nothing_without_the_key():
    one, other = (cursor.digest(Message("user", "I prefer tea."), key=key) for key in (b"a" * 32, b"b" * 32))
    assert one != other
    assert len(one) == cursor.DIGEST


def test_the_same_words_of_others_are_another_message():
    said = [
        Message("user", "yes", "anna"),
        Message("user", "yes", "ben"),
        Message("assistant", "yes"),
        Message("user", "yes", id="7"),
    ]
    assert len({cursor.digest(each, key=KEY) for each in said}) == 4


# -- through the facade --


def told(number):
    return user(f"Remember that box {number} is on shelf {number}.")


def turns(count):
    return [each for number in range(count) for each in (told(number), assistant("Noted."))]


def test_the_whole_history_every_turn_costs_one_look_at_each_message(memory):
    history, new = [], 0
    for number in range(12):
        history += [told(number), assistant(f"I'll remember that box {number} is on shelf {number}.")]
        receipt = memory.capture(history, conversation="c").receipt
        new += receipt.new
        assert receipt.refused.get("already seen", 0) == number
    assert new == 12
    assert len(everything(memory)) == 12


def test_a_restart_does_not_forget_how_far_it_was(opened, clock):
    first = opened(clock=clock)
    first.capture(turns(5), conversation="c")
    first.close()
    receipt = opened(clock=clock).capture(turns(6), conversation="c").receipt
    assert (receipt.new, len(receipt.kept), receipt.reinforced) == (1, 1, ())


def test_another_process_goes_on_where_this_one_stopped(memory, path):
    memory.capture(turns(5), conversation="c")
    (receipt,) = in_another_process(
        path,
        SCOPE,
        "said = memory.capture(told['history'], conversation='c')\nprint(json.dumps(said.receipt.as_json()))",
        history=[{"role": each.role, "content": each.text} for each in turns(7)],
    )
    assert receipt["new"] == 2
    assert len(everything(memory)) == 7


def test_two_processes_with_the_same_turn_keep_it_once(memory, path):
    code = (
        "for end in range(4, len(told['history']) + 1, 2):\n"
        "    said = memory.capture(told['history'][:end], conversation='c')\n"
        "    print(json.dumps([said.receipt.new, len(said.receipt.kept), len(said.receipt.reinforced)]))"
    )
    history = [{"role": each.role, "content": each.text} for each in turns(15)]
    both = [in_another_process(path, SCOPE, code, wait=False, history=history) for _ in range(2)]
    counted = [each for process in both for each in lines_of(process)]
    assert sum(new for new, _, _ in counted) == 15
    assert sum(kept for _, kept, _ in counted) == 15
    assert sum(again for _, _, again in counted) == 0
    assert len(everything(memory)) == 15


def test_many_threads_with_the_same_history_keep_it_once(memory):
    history, receipts = turns(20), []

    def work():
        receipts.extend(memory.capture(history[:end], conversation="c").receipt for end in range(4, 41, 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(receipt.new for receipt in receipts) == 20
    assert sum(len(receipt.kept) for receipt in receipts) == 20
    assert len(everything(memory)) == 20


def test_a_turn_that_is_handed_over_alone_is_looked_at_when_somebody_says_it_again(memory):
    """Some hosts pass the last turn only. Going back to what was said before is saying it."""
    memory.capture([user("I prefer green tea.")], conversation="c")
    memory.capture([user("Actually, I prefer coffee now, not green tea.")], conversation="c")
    receipt = memory.capture([user("I prefer green tea.")], conversation="c").receipt
    assert receipt.new == 1


def test_who_asks_again_after_forgetting_is_heard(memory):
    kept = memory.capture([user("Remember that the key is under the mat.")], conversation="c").kept[0]
    memory.forget(kept)
    history = [user("Remember that the key is under the mat."), assistant("Noted.")]
    asked = memory.capture([*history, user("Remember that the key is under the mat.")], conversation="c")
    assert asked.receipt.new == 1
    assert [each.text for each in asked.kept] == ["The key is under the mat."]


def test_an_old_message_of_a_long_history_does_not_come_back_when_a_newer_one_is_edited(memory):
    filler = [user(f"And what about box {number}?") for number in range(80)]
    history = [user("I prefer tea."), *filler[:40], user("Actually, I prefer coffee now, not tea."), *filler[40:]]
    for end in range(1, len(history) + 1, 8):
        memory.capture(history[:end], conversation="c")
    memory.capture(history, conversation="c")
    before = [(each.text, each.state) for each in everything(memory)]
    memory.capture([*history[:-1], user("And what about box seventy-nine?")], conversation="c")
    assert [(each.text, each.state) for each in everything(memory)] == before


# -- apart from one another --


def test_cursors_of_conversations_and_scopes_are_apart(memory):
    for where in (memory, memory.within(f"{SCOPE}/desk")):
        for conversation in ("", "a", "b"):
            assert where.capture(turns(2), conversation=conversation).receipt.new == 2
            assert where.capture(turns(2), conversation=conversation).receipt.new == 0


def test_a_sibling_neither_moves_nor_sees_the_cursor(opened, clock):
    anna, ben = opened(clock=clock), opened("home/ben", clock=clock)
    anna.capture(turns(3), conversation="c")
    assert ben.capture(turns(3), conversation="c").receipt.new == 3
    assert anna.capture(turns(3), conversation="c").receipt.new == 0


def test_the_name_of_a_conversation_is_not_on_the_disk_because_of_the_cursor(path, clock):
    name = "whatsapp +48 600 123 456"
    with open_store(path, clock=clock) as memory:
        memory.capture([user("How late is it?")], conversation=name)
    assert occurrences(path, name) == []


def test_mode_off_looks_at_nothing_and_later_modes_do_not_go_back(memory):
    assert memory.capture(turns(3), conversation="c", mode="off").kept == ()
    receipt = memory.capture(turns(4), conversation="c").receipt
    assert receipt.new == 1


@pytest.mark.parametrize("count", [0, 1, 30])
def test_an_empty_turn_is_no_trouble(memory, count):
    receipt = memory.capture([user("")] * count, conversation="c").receipt
    assert receipt.kept == ()
