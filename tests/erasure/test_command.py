"""`memoranda erase`: the statement is written where it was asked for, and only when there is something to state."""

import json
import stat

import pytest

from cli.conftest import run as run
from support import occurrences

TEXT = "The kanarienvogel sings in the bedroom of the yellow house."


@pytest.fixture
def kept(run):
    return json.loads(run("remember", TEXT, "--about", "bird", "--source", "web", "--json")[1])["memory"]["id"]


@pytest.fixture
def statement(tmp_path):
    return tmp_path / "statement.json"


def test_a_statement_is_written_for_its_owner_alone_and_can_be_checked(run, kept, statement, path):
    code, out, _ = run("erase", "--about", "bird", "--yes", "--proof", str(statement))
    assert code == 0
    assert "statement" in out
    told = json.loads(statement.read_text())
    assert told["ids"] == [kept]
    assert told["public_key"] in out
    assert stat.S_IMODE(statement.stat().st_mode) == 0o600
    code, out, _ = run("erase", "--verify", str(statement), "--public-key", told["public_key"])
    assert code == 0
    assert "ok    signature" in out
    assert "store.db " in out
    path.with_name("store.db-old").write_text(TEXT)
    code, out, _ = run("erase", "--verify", str(statement), "--json")
    found = json.loads(out)
    assert code == 6
    assert [each["name"] for each in found["checks"] if not each["ok"]] == ["store.db-old"]


def test_without_its_store_a_statement_still_has_a_signature(run, kept, statement, path, tmp_path):
    run("erase", kept, "--yes", "--proof", str(statement))
    path.rename(tmp_path / "elsewhere")
    assert run("erase", "--verify", str(statement))[0] == 6, "nothing was looked at, and anybody can sign"
    key = json.loads(statement.read_text())["public_key"]
    code, out, _ = run("erase", "--verify", str(statement), "--public-key", key)
    assert code == 0
    assert "not looked at: there is no store" in out
    assert not path.exists(), "looking makes no store"
    statement.write_text(statement.read_text().replace('"purged"', '"deleted"'))
    assert run("erase", "--verify", str(statement))[0] == 6


def test_a_file_that_is_there_is_not_overwritten_and_nothing_is_erased(run, kept, statement):
    statement.write_text("mine")
    code, _, err = run("erase", kept, "--yes", "--proof", str(statement))
    assert code == 2
    assert "is there already" in err
    assert statement.read_text() == "mine"
    assert run("show", kept)[0] == 0


@pytest.mark.parametrize("where", ["no/such/folder/x.json", "", "store.db"])
def test_what_cannot_be_written_is_told_before_anything_is_erased(run, kept, tmp_path, where):
    code, _, err = run("erase", kept, "--yes", "--proof", str(tmp_path / where) if where else "/")
    assert code == 2
    assert err
    assert run("show", kept)[0] == 0


def test_when_nothing_was_erased_there_is_no_file(run, kept, statement):
    assert run("erase", "--about", "bird", "--proof", str(statement), stdin="")[0] == 4
    assert not statement.exists()
    assert run("erase", "no-such-id", "--yes", "--proof", str(statement))[0] != 0
    assert not statement.exists()


def test_ways_narrow_one_another(run, kept):
    other = json.loads(run("remember", "Bird seed is bought.", "--about", "bird", "--json")[1])["memory"]["id"]
    code, out, _ = run("erase", "--about", "bird", "--source", "web", "--after", "2020-01-01", "--yes", "--json")
    assert code == 0
    assert json.loads(out)["erased"] == [kept]
    assert run("show", other)[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ["erase"],
        ["erase", "abcd", "--about", "x", "--yes"],
        ["erase", "--kind", "fact", "--yes"],
        ["erase", "--query", "x", "--in-scope", "home/anna", "--yes"],
        ["erase", "--verify", "/no/such/file"],
        ["erase", "--about", "x", "--before", "yesterday", "--yes"],
    ],
)
def test_what_cannot_be_meant_is_told(run, kept, wrong):
    code, _, err = run(*wrong)
    assert code == 2
    assert err.strip()
    assert run("show", kept)[0] == 0


def test_to_verify_erases_nothing(run, kept, statement):
    run("erase", "--about", "nobody", "--yes", "--proof", str(statement))
    for more in (["--about", "bird"], [kept], ["--yes"]):
        assert run("erase", "--verify", str(statement), *more)[0] == 2
    assert run("show", kept)[0] == 0


def test_the_tokens_and_the_traces_are_told(run, kept, path):
    run("token", "create", "--role", "reader", "--bind", "home/anna")
    code, out, _ = run("erase", "--in-scope", "home/anna", "--yes")
    assert code == 0
    assert "proof:" in out
    assert occurrences(path, "kanarienvogel") == []


def test_below_takes_along_what_a_speaker_said_in_the_scopes_below(run, path):
    run("remember", TEXT, "--speaker", "anna", "--scope", "home/anna/kid")
    assert "nothing was erased" in run("erase", "--speaker", "anna", "--yes")[1]
    code, out, _ = run("erase", "--speaker", "anna", "--below", "--yes", "--json")
    assert (code, len(json.loads(out)["erased"])) == (0, 1)
    assert occurrences(path, "kanarienvogel") == []
    code, _, err = run("erase", "--query", "bird", "--below")
    assert (code, "below" in err) == (2, True)


def test_nothing_that_fits_is_said_so_and_one_is_one(run, kept):
    code, out, _ = run("erase", "--about", "nobody")
    assert code == 0
    assert out == "nothing here fits: nothing would be erased\n"
    assert "This would erase 1 memory for good:" in run("erase", "--about", "bird")[1]
    assert "erased 1 memory;" in run("erase", "--about", "bird", "--yes")[1]


def test_the_check_of_a_statement_says_whose_key_it_fits(run, kept, statement):
    run("erase", kept, "--yes", "--proof", str(statement))
    assert "fits the key of this store" in run("erase", "--verify", str(statement))[1]
    key = json.loads(statement.read_text())["public_key"]
    assert "fits the key that was given" in run("erase", "--verify", str(statement), "--public-key", key)[1]
