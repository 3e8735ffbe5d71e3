"""Values travel without loss, and what does not fit its type is refused by name."""

import contextlib
import json

import pytest
from hypothesis import given, settings

from memoranda import Draft, InvalidInput, Memory
from memoranda.domain.row import Row
from memoranda.wire.answers import from_body, is_empty, to_body, wrapping
from memoranda.wire.codec import decode, encode
from memoranda.wire.doors import DOORS

from .strategies import JSON, values

RESULTS = {door.verb: door.result for door in DOORS if not is_empty(door.result)}


def travelled(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("verb", RESULTS)
def test_what_a_verb_gives_is_the_same_after_its_travel(verb):
    of = RESULTS[verb]

    @settings(max_examples=6)
    @given(values(of))
    def check(result):
        body = travelled(to_body(of, result))
        assert isinstance(body, dict)
        again = from_body(of, body)
        assert type(again) is type(result)
        assert to_body(of, again) == to_body(of, result)
        if not isinstance(result, Row):  # those are compared by what they are, not by what they hold
            assert again == result or encode(again) == encode(result)

    check()


PARAMETERS = {f"{door.verb} {each.name}": each.type for door in DOORS for each in door.parameters}


@pytest.mark.parametrize("place", PARAMETERS)
def test_what_does_not_fit_is_refused_and_nothing_else_happens(place):
    @settings(max_examples=8)
    @given(JSON)
    def check(data):
        with contextlib.suppress(InvalidInput):
            decode(PARAMETERS[place], data, name="it", strict=True)

    check()


def test_a_wrong_part_is_named_by_its_place():
    with pytest.raises(InvalidInput, match=r"drafts\[1\]\.confidence: a number is expected, not 'high'"):
        decode(tuple[Draft, ...], [{"text": "a"}, {"text": "b", "confidence": "high"}], name="drafts", strict=True)


def test_an_unknown_part_is_refused_when_it_is_sent_and_skipped_when_it_is_received():
    with pytest.raises(InvalidInput, match="there is no 'colour'") as refused:
        decode(Draft, {"text": "a", "colour": "red"}, strict=True)
    assert "importance" in refused.value.hint
    assert decode(Draft, {"text": "a", "colour": "red"}) == Draft("a"), "a newer server may tell more"


@pytest.mark.parametrize("number", [True, False, 1.5, "1", None])
def test_only_a_whole_number_is_one(number):
    with pytest.raises(InvalidInput):
        decode(int, number)


def test_moments_are_shown_as_iso_and_read_from_both():
    draft = Draft("a", occurred_at=1_772_366_400_123)
    assert encode(draft)["occurred_at"] == "2026-03-01T12:00:00.123Z"
    assert decode(int | None, None) is None
    kept = {"at": "2026-03-01T12:00:00.123Z"}
    assert decode(Draft, {"text": "a", "occurred_at": kept["at"]}).occurred_at == kept["at"]


def test_results_do_not_change_and_arguments_are_plain(memory):
    kept = memory.remember("the lamp", metadata={"a": 1}).memory
    again = decode(Memory, travelled(encode(kept)))
    assert again == kept
    with pytest.raises(TypeError):
        again.metadata["a"] = 2
    assert type(decode(Draft, {"text": "a", "metadata": {"a": 1}}, strict=True).metadata) is dict


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {(1, 2): 3}, iter([1])])
def test_what_json_does_not_have_is_refused(value):
    with pytest.raises(InvalidInput) as refused:
        encode({"it": value})
    assert refused.value.hint


@given(JSON)
def test_plain_values_travel_as_they_are(value):
    assert travelled(encode(value)) == travelled(value)


def test_several_stand_under_items_and_a_plain_one_under_value():
    assert [wrapping(of) for of in (tuple[int, ...], str, bool, Memory, dict[str, int])] == [
        "items",
        "value",
        "value",
        "",
        "",
    ]
