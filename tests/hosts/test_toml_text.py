"""One table of a TOML text is set or taken away; everything else stays as it was, comments too."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.errors import InvalidInput
from memoranda.hosts.toml_text import with_table, without_table

KEYS = ("mcp_servers", "memoranda")
VALUES = {"command": "/bin/memoranda", "args": ["mcp", "--scope", 'ż"\\'], "startup_timeout_sec": 30}
PIECES = st.lists(
    st.sampled_from(
        [
            "# a comment\n",
            "\n",
            "[tui]\ntheme = 'dark' # why\n",
            "[mcp_servers.other]\ncommand = 'x'\n",
            "[mcp_servers.memoranda]\ncommand = 'old'\n# inside\n",
            '[mcp_servers.memoranda.env]\nA = "1"\n',
            "[[profiles]]\nname = 'a'\n",
            "[notes]\ntext = '''\n[tricky]\n'''\n",
        ]
    ),
    unique=True,
    max_size=6,
)


@given(PIECES, st.booleans())
def test_the_table_is_there_afterwards_and_everything_else_says_what_it_said(pieces, windows):
    text = "top = 1\n" + "".join(pieces)
    text = text.replace("\n", "\r\n") if windows else text
    whole = tomllib.loads(text)
    new = with_table(text, KEYS, VALUES)
    others = {name: each for name, each in whole.get("mcp_servers", {}).items() if name != "memoranda"}
    assert tomllib.loads(new) == {**whole, "mcp_servers": {**others, "memoranda": VALUES}}
    assert with_table(new, KEYS, VALUES) == new
    gone = without_table(new, KEYS)
    assert tomllib.loads(gone).get("mcp_servers", {}) == others
    assert "memoranda" not in gone
    for line in text.splitlines():
        if line and "memoranda" not in line and line not in ("command = 'old'", "# inside", 'A = "1"'):
            assert line in gone.splitlines()


@pytest.mark.parametrize("text", ["", "a = 1\n", "a = 1", "# only\n", "[x]\ny = 1\n\n"], ids=repr)
def test_what_was_added_at_the_end_is_taken_away_again(text):
    back = without_table(with_table(text, KEYS, VALUES), KEYS)
    assert back.rstrip("\n") == text.rstrip("\n")


def test_a_name_that_is_no_bare_key_is_quoted():
    assert with_table("", ("a b", "c"), {"x": 1}) == '["a b".c]\nx = 1\n'


@pytest.mark.parametrize(
    "text",
    ["[a", "a = ", "mcp_servers = 3", "mcp_servers = {memoranda = {a = 1}}", "[mcp_servers]\nmemoranda = {a = 1}\n"],
    ids=repr,
)
def test_what_cannot_be_changed_by_lines_is_refused(text):
    with pytest.raises(InvalidInput):
        with_table(text, KEYS, VALUES)


def test_a_table_in_another_form_is_not_taken_out_by_force():
    with pytest.raises(InvalidInput):
        without_table("mcp_servers = {memoranda = {a = 1}}", KEYS)
    assert without_table("a = 1", KEYS) == "a = 1"
