"""The arguments of a verb are the same on both sides of a door."""

import inspect
import json
from typing import get_args
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Draft, InvalidInput
from memoranda.domain.draft import Referable
from memoranda.wire.binding import arguments_of, is_table, sent
from memoranda.wire.codec import decode, encode
from memoranda.wire.doors import DOORS

from .strategies import values

DOOR = {door.verb: door for door in DOORS}


def received(door, request):
    """As a server reads it."""
    parts = urlsplit(request.target)
    names = [part[1:-1] for part in door.path.split("/") if part.startswith("{")]
    places = [index for index, part in enumerate(door.path.split("/")) if part.startswith("{")]
    path = {name: unquote(parts.path.split("/")[place]) for name, place in zip(names, places, strict=True)}
    body = None if request.body is None else json.loads(json.dumps(request.body))
    query = parse_qsl(parts.query, keep_blank_values=True)
    return arguments_of(door, path, query, body), dict(query)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="="), min_size=1, max_size=8)
TABLES = st.dictionaries(NAMES, st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=3)


def _given(door):
    required = {
        each.name: values(Referable if each.place == "path" else each.type) for each in door.parameters if each.required
    }
    optional = {
        each.name: TABLES if is_table(each.type) else values(each.type) for each in door.parameters if not each.required
    }
    return st.fixed_dictionaries(required, optional=optional)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.verb)
def test_what_is_sent_is_what_is_received(door):
    @settings(max_examples=8)
    @given(_given(door))
    def check(arguments):
        upload = {name: "a.jsonl" for name in (door.upload, door.download) if name}
        request = sent(door, (), {**arguments, **upload}, scope="home/anna")
        found, query = received(door, request)
        assert query["scope"] == "home/anna"
        for each in door.parameters:
            if each.name not in arguments:
                assert each.name not in found
            elif arguments[each.name] in (None, {}) and each.place == "query":
                assert each.name not in found, "nothing is the default, and is left out"
            else:
                asked = decode(each.type, json.loads(json.dumps(encode(arguments[each.name]))), strict=True)
                assert _as_asked(each, found[each.name]) == _as_asked(each, asked)

    check()


def _as_asked(parameter, value):
    """In a query, one value is a list of one, and a list of one empty text is an empty list."""
    plain = encode(value)
    if parameter.place != "query":
        return plain
    listed = plain if isinstance(plain, list) else [plain]
    if {str, int} <= set(get_args(parameter.type)):  # a moment: written down, a number and its digits are the same
        listed = [str(each) for each in listed]
    return [] if listed == [""] else listed


def test_a_wrong_call_is_told_as_python_tells_it():
    for args, kwargs in [((), {}), (("a", "b"), {}), (("a",), {"colour": "red"}), (("a",), {"text": "b"})]:
        with pytest.raises(TypeError):
            sent(DOOR["remember"], args, kwargs, scope="home")


def test_an_empty_list_is_not_the_default():
    found, _ = received(DOOR["list"], sent(DOOR["list"], (), {"states": ()}, scope="home"))
    assert found["states"] == ()
    found, _ = received(DOOR["list"], sent(DOOR["list"], (), {}, scope="home"))
    assert "states" not in found


@pytest.mark.parametrize("reference", ["", " ", ".", "..", None, 7])
def test_what_would_be_another_path_is_refused(reference):
    with pytest.raises(InvalidInput):
        sent(DOOR["get"], (reference,), {}, scope="home")


@pytest.mark.parametrize("reference", ["a/b", "a?b", "a#b", "%2e%2e", "../stats", "a b", "żółw"])
def test_a_reference_stays_one_part_of_the_path(reference):
    found, _ = received(DOOR["get"], sent(DOOR["get"], (reference,), {}, scope="home"))
    assert found == {"reference": reference}


def test_a_result_stands_for_its_id(memory):
    kept = memory.remember("the lamp")
    for given_as in (kept, kept.memory, kept.id):
        assert f"/{kept.id}/" in sent(DOOR["forget"], (given_as,), {}, scope="home").target
        draft = sent(DOOR["remember"], ("x",), {"supersedes": given_as}, scope="home").body
        assert draft["supersedes"] == kept.id
        many = sent(DOOR["remember_many"], ([Draft("x", supersedes=given_as)],), {}, scope="home").body
        assert many["drafts"][0]["supersedes"] == kept.id


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("list", {"limit": "5"}),
        ("list", {"limit": None}),
        ("list", {"states": "live"}),
        ("list", {"about": "\ud800"}),
        ("conversations.list", {"archived": "yes"}),
        ("remember_many", {"drafts": [{"text": "a dict"}]}),
        ("remember", {"text": "x", "metadata": {1: 2}}),
    ],
)
def test_what_the_verb_refuses_is_refused_before_it_is_sent(verb, arguments):
    with pytest.raises(InvalidInput) as refused:
        sent(DOOR[verb], (), arguments, scope="home")
    assert refused.value.hint


@pytest.mark.parametrize(
    ("query", "body", "why"),
    [
        ([("colour", "red")], None, "'colour' is not asked for here"),
        ([("limit", "5"), ("limit", "6")], None, "limit is there 2 times"),
        ([("limit", "five")], None, "limit: a whole number is expected"),
        ([("limit", "٥")], None, "limit: a whole number is expected"),
        ([("kind", "rumour")], None, "kind"),
        ([], {"limit": 5}, "'limit' is not asked for here"),
        ([], [], "the body is a JSON object"),
    ],
)
def test_a_server_refuses_what_it_does_not_know(query, body, why):
    with pytest.raises(InvalidInput, match=why):
        arguments_of(DOOR["list"], {}, query, body)


def test_what_is_missing_is_named():
    with pytest.raises(InvalidInput, match="text is missing"):
        arguments_of(DOOR["remember"], {}, [], {})


def test_the_name_of_a_file_travels_with_it_and_with_nothing_else():
    assert arguments_of(DOOR["conversations.import_transcript"], {}, [("filename", "a.jsonl")], None) == {}
    with pytest.raises(InvalidInput):
        arguments_of(DOOR["list"], {}, [("filename", "a.jsonl")], None)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.verb)
def test_every_argument_of_a_verb_travels_or_has_a_reason_not_to(door):
    names = list(inspect.signature(door.function).parameters)[1:]
    stays = {"by", "tokenizer", door.upload, door.download, *door.stays, *door.callbacks}
    assert set(names) - {each.name for each in door.parameters} <= stays


@pytest.mark.parametrize("written", ["theirs", "=ours", ""])
def test_a_table_in_a_query_has_a_key_and_a_value_each(written):
    with pytest.raises(InvalidInput, match="key=value"):
        arguments_of(DOOR["import_memories"], {}, [("owners", written)], None)
    with pytest.raises(InvalidInput, match="key=value"):
        arguments_of(DOOR["import_memories"], {}, [("owners", "a=b"), ("owners", "a=c")], None)
    with pytest.raises(InvalidInput, match="equals sign"):
        sent(DOOR["import_memories"], ("a.jsonl",), {"owners": {"a=b": "c"}}, scope="home")
