"""What may never be torn apart is one group, whatever a host hands over."""

from hypothesis import given

from memoranda.conversations.exchanges import exchanges, turns

from .made import conversations, places, talk


def grouped(script):
    return [places(each.messages) for each in exchanges(talk(script))]


def test_a_call_and_its_results_are_one_exchange():
    assert grouped("u c1 t1 a") == [[0], [1, 2], [3]]


def test_several_calls_of_one_message_take_all_their_results():
    assert grouped("u c1+2 t2 t1 a") == [[0], [1, 2, 3], [4]]


def test_results_that_are_interleaved_or_late_go_to_their_call():
    assert grouped("u c1 c2 t2 t1") == [[0], [1, 4], [2, 3]]
    assert grouped("u c1 u a t1") == [[0], [1, 4], [2], [3]]


def test_a_result_belongs_to_the_nearest_earlier_call_with_its_id():
    assert grouped("u c1 t1 u c1 t1") == [[0], [1, 2], [3], [4, 5]]
    assert grouped("u c1 c1 t1") == [[0], [1], [2, 3]]


def test_a_second_result_of_one_call_stays_with_it():
    assert grouped("u c1 t1 t1") == [[0], [1, 2, 3]]


def test_a_result_without_a_call_is_an_orphan_also_when_the_call_comes_later():
    found = exchanges(talk("u t1 c1"))
    assert [each.orphan for each in found] == [False, True, False]
    assert found[2].open


def test_a_call_is_open_until_every_one_of_its_results_is_there():
    assert [each.open for each in exchanges(talk("c1+2 t1"))] == [True]
    assert exchanges(talk("c1+2 t1"))[0].unanswered == {"2"}
    assert [each.open for each in exchanges(talk("c1+2 t1 t2"))] == [False]


def test_a_turn_is_a_users_message_with_what_follows():
    found = turns(exchanges(talk("a u a c1 t1 a u u a")))
    assert [places(turn.messages) for turn in found] == [[0], [1, 2, 3, 4, 5], [6], [7, 8]]
    assert [turn.asked for turn in found] == [False, True, True, True]
    assert [turn.calls for turn in found] == [False, True, False, False]


def test_a_late_result_belongs_to_the_turn_of_its_call():
    found = turns(exchanges(talk("u c1 u t1 a")))
    assert [places(turn.messages) for turn in found] == [[0, 1, 3], [2, 4]]
    assert turns(exchanges(talk("u c1 u")))[0].open


@given(conversations())
def test_every_message_is_in_one_exchange_and_every_exchange_in_one_turn(messages):
    found = exchanges(messages)
    assert sorted(message.number for each in found for message in each.messages) == sorted(m.number for m in messages)
    assert [each for turn in turns(found) for each in turn.exchanges] == list(found)
    assert all(turn.asked for turn in turns(found)[1:])


@given(conversations())
def test_no_exchange_but_an_orphan_begins_with_a_result(messages):
    for each in exchanges(messages):
        asked_for = {call.id for message in each.messages for call in message.tool_calls}
        results = {message.tool_call_id for message in each.messages if message.role == "tool"}
        assert each.orphan or results <= asked_for
        assert each.unanswered == asked_for - results
