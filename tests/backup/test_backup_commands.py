"""The commands, as somebody types them. No secret is ever an argument."""

import json
import stat

import pytest

from cli.conftest import kept, run  # noqa: F401 fixtures
from memoranda.cli import backup as commands
from memoranda.ledger import sealing
from memoranda.ledger.locking import held
from support import occurrences

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def told(run, kept):  # noqa: F811
    """A store with one memory; what a command says as JSON."""

    def say(*argv):
        code, out, err = run(*argv, "--json")
        assert code == 0, out + err
        return json.loads(out)

    return say


def test_make_list_verify_diff_restore(told, run, path, tmp_path):  # noqa: F811
    made = told("backup")
    assert made["receipt"]["manifest"]["encrypted"] == "no"
    listed = told("backup", "list")["backups"]
    assert [each["path"] for each in listed] == [made["path"]]
    assert told("backup", "verify", made["path"])["ok"]
    assert told("backup", "diff", made["path"])["same"]
    run("remember", "Something new.")
    code, out, _ = run("backup", "diff", made["path"])
    assert code == 7
    assert "1 only in the store" in out
    done = told("backup", "restore", made["path"], "--store", str(tmp_path / "again.db"))
    assert done["path"] == str(tmp_path / "again.db")
    code, out, _ = run("list", "--store", str(tmp_path / "again.db"))
    assert "bedroom_lamp" in out
    assert "Something new" not in out
    code, _, err = run("backup", "restore", made["path"])
    assert code == 4
    assert "something in it" in err


def test_for_people(told, run, tmp_path):  # noqa: F811
    code, out, err = run("backup", "--out", str(tmp_path / "b.memoranda"))
    assert code == 0
    assert str(tmp_path / "b.memoranda") in out
    assert "ok    contents" in out
    assert "--encrypt" in err
    code, out, _ = run("backup", "list")
    assert "no backups" in out
    code, out, _ = run("backup", "verify", str(tmp_path / "b.memoranda"))
    assert code == 0
    (tmp_path / "b.memoranda").write_bytes(b"x" * 5000)
    code, _, err = run("backup", "verify", str(tmp_path / "b.memoranda"))
    assert code == 6


@pytest.mark.parametrize("way", ["environment", "file", "asked"])
def test_a_passphrase_comes_by_three_ways(told, run, tmp_path, monkeypatch, way):  # noqa: F811
    options = []
    if way == "environment":
        monkeypatch.setenv("MEMORANDA_PASSPHRASE", PASSPHRASE)
    elif way == "file":
        (tmp_path / "passphrase").write_text(PASSPHRASE + "\n")
        (tmp_path / "passphrase").chmod(0o600)
        options = ["--passphrase-file", str(tmp_path / "passphrase")]
    else:
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr(commands.getpass, "getpass", lambda prompt: PASSPHRASE)
    made = told("backup", "--encrypt", *options)
    assert made["receipt"]["manifest"]["encrypted"] == "passphrase"
    assert told("backup", "verify", made["path"], *options)["ok"]
    told("backup", "restore", made["path"], *options, "--store", str(tmp_path / "again.db"))
    assert PASSPHRASE not in json.dumps(made)


def test_two_passphrases_that_differ_write_nothing(told, run, monkeypatch):  # noqa: F811
    asked = iter([PASSPHRASE, PASSPHRASE + "x"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(commands.getpass, "getpass", lambda prompt: next(asked))
    code, _, err = run("backup", "--encrypt")
    assert code == 2
    assert "differ" in err
    assert told("backup", "list")["backups"] == []


def test_without_a_passphrase_and_nobody_to_ask_it_says_how(told, run):  # noqa: F811
    code, _, err = run("backup", "--encrypt", stdin="")
    assert code == 2
    assert "MEMORANDA_PASSPHRASE" in err
    code, _, err = run("backup", "--passphrase-file", "x")
    assert code == 2
    assert "--encrypt" in err


def test_encrypt_rekey_decrypt(told, run, path, tmp_path, monkeypatch):  # noqa: F811
    first, second = tmp_path / "first", tmp_path / "second"
    code, _, err = run("encrypt", "--make-key", str(first))
    assert code == 0, err
    assert f'key_file = "{first}"' in err
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert sealing.is_sealed(sealing.head(path))
    assert occurrences(path, "bedroom_lamp") == []
    code, _, err = run("list")
    assert code == 6
    assert "is encrypted" in err
    monkeypatch.setenv("MEMORANDA_KEY_FILE", str(first))
    assert "bedroom_lamp" in run("list")[1]
    code, _, err = run("encrypt", "--make-key", str(second))
    assert code == 4
    assert not second.exists(), "no key is made for nothing"
    told("rekey", "--make-key", str(second))
    assert run("list")[0] == 6
    monkeypatch.setenv("MEMORANDA_KEY_FILE", str(second))
    assert "bedroom_lamp" in run("list")[1]
    monkeypatch.setenv("MEMORANDA_NEW_KEY", PASSPHRASE)
    told("rekey")
    monkeypatch.delenv("MEMORANDA_KEY_FILE")
    monkeypatch.setenv("MEMORANDA_KEY", PASSPHRASE)
    assert "bedroom_lamp" in run("list")[1]
    told("decrypt")
    monkeypatch.delenv("MEMORANDA_KEY")
    assert "bedroom_lamp" in run("list")[1]
    for word in ("decrypt", "rekey"):
        code, _, err = run(word)
        assert code == 4
        assert "is not encrypted" in err


def test_encrypt_without_a_key_says_how(told, run):  # noqa: F811
    code, _, err = run("encrypt")
    assert code == 2
    assert "--make-key" in err


def test_no_store_is_made_by_looking(run, path):  # noqa: F811
    for argv in (["backup"], ["encrypt"], ["decrypt"], ["rekey"], ["backup", "diff", "x"]):
        assert run(*argv)[0] == 3
    assert not path.exists()


def test_a_passphrase_file_that_others_can_read_is_refused(told, run, tmp_path):  # noqa: F811
    (tmp_path / "passphrase").write_text(PASSPHRASE + "\n")
    (tmp_path / "passphrase").chmod(0o644)
    code, _, err = run("backup", "--encrypt", "--passphrase-file", str(tmp_path / "passphrase"))
    assert code == 2
    assert "chmod 600" in err


def test_nobody_who_gives_no_passphrase_sees_a_crash(told, run, monkeypatch):  # noqa: F811
    def ended(prompt):
        raise EOFError

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(commands.getpass, "getpass", ended)
    code, _, err = run("backup", "--encrypt")
    assert code == 2
    assert "no passphrase was given" in err


@pytest.mark.parametrize("command", ["encrypt", "rekey"])
def test_a_key_file_that_nothing_was_encrypted_with_goes_again(told, run, path, tmp_path, monkeypatch, command):  # noqa: F811
    if command == "rekey":
        assert run("encrypt", "--make-key", str(tmp_path / "first"))[0] == 0
        monkeypatch.setenv("MEMORANDA_KEY_FILE", str(tmp_path / "first"))
    with held(path.with_name(f"{path.name}-backing-up")):
        assert run(command, "--make-key", str(tmp_path / "key"))[0] != 0
    assert not (tmp_path / "key").exists()
    assert run(command, "--make-key", str(tmp_path / "key"))[0] == 0
    assert (tmp_path / "key").exists()


def test_a_key_file_that_the_store_was_encrypted_with_stays_whatever_fails_then(told, run, path, tmp_path, monkeypatch):  # noqa: F811
    def broken(settings, after):
        raise OSError("the disk is gone")

    monkeypatch.setattr("memoranda.service.resealing._notes", broken)
    assert run("encrypt", "--make-key", str(tmp_path / "key"))[0] != 0
    assert sealing.is_sealed(sealing.head(path))
    assert (tmp_path / "key").exists()
