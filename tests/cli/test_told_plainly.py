"""Mistakes on the command line are told in its own words, with the path that is meant and a way out."""

import json
import stat

import apsw
import pytest

from memoranda.cli.flags import in_flags
from memoranda.domain.errors import LedgerError
from memoranda.ledger import sqlite


@pytest.mark.parametrize("store", [".", "/", ".."])
@pytest.mark.parametrize("command", [["list"], ["remember", "x"], ["doctor"], ["stats"]])
def test_a_folder_is_no_store_whatever_it_is_called(run, store, command):
    code, out, err = run(*command, "--store", store)
    assert code not in (0, 1)
    assert "is a folder" in out + err
    assert "our fault" not in out + err


def test_an_empty_file_becomes_a_store_for_its_owner_alone(run, path):
    path.touch(mode=0o644)
    assert run("list")[0] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_hints_name_options_not_parameters(run, kept):
    code, _, err = run("erase", "--yes")
    assert code == 2
    assert "--in-scope or --query alone" in err
    assert "--source-ref, --after and --before" in err
    assert "=" not in err
    _, _, err = run("erase", "--after", "2025-01-01", "--before", "2024-01-01", "--yes")
    assert "--before is not after --after" in err
    hint = json.loads(run("erase", "--kind", "note", "--yes", "--json")[1])["error"]["hint"]
    assert hint.startswith("Give --kind beside --about")
    assert "dict" not in run("remember", "x", "--metadata", "[1]")[2]


def test_only_parameters_of_the_command_become_options():
    flags = {"foreign": "--foreign", "below": "--below", "time_after": "--after", "limit": "--limit"}
    assert in_flags("pass foreign='map' or below=True", flags) == "pass --foreign map or --below"
    assert in_flags("limit: a number; name=x, ?limit=3, 'time_after'", flags) == (
        "--limit: a number; name=x, ?limit=3, 'time_after'"
    )


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["erase", "--all"], "memoranda erase"),
        (["token", "list", "--all"], "memoranda token list"),
        (["--all"], "memoranda"),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(run, words, usage):
    code, _, err = run(*words)
    assert code == 2
    assert err.startswith(f"usage: {usage} [-h]")
    assert "unrecognized arguments: --all" in err
    assert f"`{usage} --help`" in err


def test_a_store_that_may_only_be_read_says_how(run, kept, path, monkeypatch):
    monkeypatch.setattr(sqlite.os, "access", lambda _, mode: mode == sqlite.os.R_OK)
    code, _, err = run("list")
    assert code == 6
    assert f"{path} cannot be opened for writing (Permission denied)" in err
    assert "MEMORANDA_READ_ONLY=1" in err


def test_a_folder_that_cannot_be_written_to_is_told_also_to_who_only_reads(path):
    with pytest.raises(LedgerError, match="cannot be opened ") as caught, sqlite.translated(path, None):
        raise apsw.CantOpenError("unable to open database file")
    assert "also while it is only read" in caught.value.hint


def test_what_no_longer_holds_is_kept_with_a_warning(run):
    code, _, err = run("remember", "The old bridge is open.", "--valid-until", "1999-01-01")
    assert code == 0
    assert "no longer holds: it was valid until 1999-01-01" in err
    assert run("remember", "The new bridge is open.", "--valid-until", "2999-01-01")[2] == ""


def test_a_number_that_is_too_large_is_a_sequence_not_a_tag(run, kept):
    code, _, err = run("rollback", "9" * 30)
    assert code == 2
    assert "there is no sequence 999" in err


def test_a_key_comes_from_an_ordinary_file_and_goes_into_a_new_one(run, kept, tmp_path, monkeypatch):
    _, _, err = run("encrypt", "--make-key", str(tmp_path / "no" / "key"))
    assert "No such file" in err
    assert "in a folder that you may write to" in err
    (tmp_path / "key").touch()
    assert "Give a file that is not there" in run("encrypt", "--make-key", str(tmp_path / "key"))[2]
    for command in ("encrypt", "decrypt", "rekey"):
        assert "encrypted by its server" in run(command, "--store", "postgresql://127.0.0.1:1/none")[2]
    monkeypatch.setenv("MEMORANDA_KEY_FILE", "/dev/null")
    code, _, err = run("list")
    assert code == 2
    assert "/dev/null is not an ordinary file" in err
    assert "chmod" not in err


def test_sample_without_an_action_only_looks(run, kept):
    code, out, _ = run("sample")
    assert code == 0
    assert "there is no sample data" in out
    assert json.loads(run("list", "--scope", "sample", "--json")[1])["total"] == 0


def test_a_backup_that_cannot_be_read_is_named(run, kept, tmp_path, monkeypatch):
    copy = tmp_path / "copy.memoranda"
    run("backup", "make", "--out", str(copy))
    opened = open

    def refusing(file, *args, **options):
        if str(file) == str(copy):
            raise PermissionError(13, "Permission denied", str(file))
        return opened(file, *args, **options)

    monkeypatch.setattr("builtins.open", refusing)  # root may read everything
    for command in (["verify", str(copy)], ["restore", str(copy), "--to", str(tmp_path / "other.db")]):
        code, out, err = run("backup", *command)
        assert code not in (0, 1)
        assert str(copy) in out + err
