"""The command, as somebody types it."""

import json

import pytest

import postgres
from cli.conftest import run  # noqa: F401 a fixture


@pytest.fixture
def kept(run):  # noqa: F811
    for number in range(3):
        assert run("remember", f"Thing number {number}.")[0] == 0


def test_it_tells_what_it_did(run, kept, path, tmp_path):  # noqa: F811
    code, out, err = run("migrate", "--to", str(tmp_path / "new.db"))
    assert code == 0, err
    assert "3 rows" in out
    assert f"{path} was moved to {tmp_path / 'new.db'}: it refuses writes from now on" in out
    assert "note: the index is not copied" in out
    assert "Thing number" not in out
    code, out, _ = run("list", "--store", str(tmp_path / "new.db"), "--json")
    assert json.loads(out)["total"] == 3


def test_as_json_it_is_the_receipt(run, kept, path, tmp_path):  # noqa: F811
    code, out, _ = run("migrate", "--from", str(path), "--to", str(tmp_path / "new.db"), "--leave-open", "--json")
    assert code == 0
    receipt = json.loads(out)["receipt"]
    assert receipt["left_open"]
    assert {"store", "sequence", "contents", "tables", "seconds", "bytes", "rows"} <= set(receipt)
    assert run("remember", "It goes on here.")[0] == 0


def test_a_dry_run_changes_nothing(run, kept, tmp_path):  # noqa: F811
    code, out, _ = run("migrate", "--to", str(tmp_path / "new.db"), "--dry-run")
    assert code == 0
    assert "memory" in out
    assert not (tmp_path / "new.db").exists()
    assert run("remember", "It goes on here.")[0] == 0


def test_what_was_moved_can_be_reopened(run, kept, path, tmp_path):  # noqa: F811
    run("migrate", "--to", str(tmp_path / "new.db"))
    code, _, err = run("migrate", "--to", str(tmp_path / "other.db"))
    assert code == 4
    assert "was moved to" in err
    code, out, _ = run("migrate", "--reopen")
    assert code == 0
    assert "can be written to again" in out
    assert run("remember", "It goes on here.")[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "--to is needed"),
        (["--to", "a.db", "--reopen"], 2, "stands alone"),
        (["--from", "nowhere.db", "--to", "a.db"], 3, "there is no store"),
        (["--to", "postgresql://127.0.0.1/db?schema=public"], 2, "not the name of a schema"),
    ],
)
def test_mistakes_are_told_with_a_way_out(run, kept, words, code, said, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    found, _, err = run("migrate", *words)
    assert found == code
    assert said in err


@pytest.mark.postgres
def test_to_a_server_and_restored_from_a_backup_of_it(run, kept, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("MEMORANDA_LOCAL_FOLDER", str(tmp_path / "local"))
    monkeypatch.setenv("MEMORANDA_INDEX_HOME", "embedded")
    schema = "m_command"
    address = postgres.shared().address(schema)
    try:
        code, out, err = run("migrate", "--to", address)
        assert code == 0, err
        assert postgres.shared()._cluster.password not in out + err
        code, out, err = run("backup", "--store", address, "--json")
        assert code == 0, err
        made = json.loads(out)["path"]
        code, out, err = run("backup", "restore", made, "--to", str(tmp_path / "back.db"))
        assert code == 0, err
        code, out, _ = run("list", "--store", str(tmp_path / "back.db"), "--json")
        assert json.loads(out)["total"] == 3
    finally:
        postgres.shared().sql(f"drop schema if exists {schema} cascade")
