"""One member of a JSON text is set or taken away; everything else stays as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import InvalidInput
from memoranda.hosts.json_text import with_member, without_member

ENTRY = {"command": "/bin/memoranda", "args": ["mcp", "--scope", "ż"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(st.sampled_from(["memoranda", "other", "third", "é"]), VALUES, max_size=4)
FILES = st.builds(
    lambda before, servers, after: {**before, **({} if servers is None else {"mcpServers": servers}), **after},
    st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, max_size=3),
    st.none() | SERVERS,
    st.dictionaries(st.text("xyz", min_size=1, max_size=3), VALUES, max_size=3),
)
FORMS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@given(FILES, FORMS, st.booleans(), st.booleans())
def test_the_entry_is_there_afterwards_and_everything_else_says_what_it_said(whole, indent, windows, ascii_only):
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if windows else text
    new = with_member(text, ("mcpServers", "memoranda"), ENTRY)
    assert json.loads(new) == {**whole, "mcpServers": {**whole.get("mcpServers", {}), "memoranda": ENTRY}}
    assert with_member(new, ("mcpServers", "memoranda"), ENTRY) == new
    gone = without_member(new, ("mcpServers", "memoranda"))
    left = {name: each for name, each in whole.get("mcpServers", {}).items() if name != "memoranda"}
    assert json.loads(gone) == {**whole, "mcpServers": left}
    assert without_member(gone, ("mcpServers", "memoranda")) == gone


@given(FILES, FORMS)
def test_what_stands_around_the_entry_stays_byte_for_byte(whole, indent):
    servers = {name: each for name, each in whole.get("mcpServers", {}).items() if name != "memoranda"}
    text = json.dumps({**whole, "mcpServers": {"first": 1, **servers}}, indent=indent)
    new = with_member(text, ("mcpServers", "memoranda"), ENTRY)
    assert without_member(new, ("mcpServers", "memoranda")) == text


def test_numbers_spaces_and_order_that_others_wrote_are_theirs():
    text = '{ "z" : 1.10e1,\n\t"mcpServers"  :{"b":{"x":  1}} , "a":[1,2 ,3]}\n\n'
    new = with_member(text, ("mcpServers", "memoranda"), 1)
    assert new == '{ "z" : 1.10e1,\n\t"mcpServers"  :{"b":{"x":  1},\n    "memoranda": 1} , "a":[1,2 ,3]}\n\n'


def test_an_empty_file_becomes_one_with_the_entry():
    for text in ("", " \n"):
        assert json.loads(with_member(text, ("servers", "m"), ENTRY)) == {"servers": {"m": ENTRY}}


def test_a_name_that_stands_there_twice_is_replaced_where_it_counts_and_removed_everywhere():
    text = '{"servers": {"m": 1, "n": 2, "m": 3}}'
    assert json.loads(with_member(text, ("servers", "m"), 4)) == {"servers": {"m": 4, "n": 2}}
    assert without_member(text, ("servers", "m")) == '{"servers": {"n": 2}}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        '{\n  // mine\n  "a": 1}',
        "[1]",
        '"x"',
        '{"servers": []}',
        '{"servers": null}',
        "{" * 100_000,
        '{"a":' * 100_000,
        "nonsense",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_plain_json_object_is_refused(text):
    with pytest.raises(InvalidInput):
        with_member(text, ("servers", "m"), 1)
