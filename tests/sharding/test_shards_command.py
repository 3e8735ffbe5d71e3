"""The command `shards`, and the commands on whole stores when there are several."""

import json

import pytest

from memoranda.cli import app


@pytest.fixture
def run(addresses, monkeypatch, capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("MEMORANDA_SHARDS", "|".join(addresses))
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.delenv("MEMORANDA_STORE", raising=False)

    def runner(*argv):
        code = app.run(list(argv))
        out, err = capsys.readouterr()
        return code, out, err

    return runner


def test_where_a_scope_is_kept_is_told_and_nothing_is_made(run, root_on, addresses, tmp_path):
    code, out, _ = run("shards", "where", f"{root_on(2)}/anna", "--json")
    assert code == 0
    assert json.loads(out) == [{"scope": f"{root_on(2)}/anna", "root": root_on(2), "place": 2, "address": addresses[1]}]
    assert "shard 2" in run("shards", "where", root_on(2))[1]
    assert not list(tmp_path.glob("*.db"))


def test_remember_recall_scopes_maintain_and_doctor_work_over_all(run, root_on):
    for place in (1, 2, 3):
        assert run("remember", f"Anna is in place {place}.", "--scope", root_on(place))[0] == 0
    assert "place 3" in run("recall", "where is Anna?", "--scope", root_on(3))[1]
    assert run("maintain")[0] == 0
    assert run("verify")[0] == 0
    code, out, _ = run("doctor", "--json")
    names = {check["name"] for check in json.loads(out)["checks"]}
    assert {"shard 1: list", "shard 2: list", "shard 3: list"} <= names
    code, out, _ = run("shards", "--json")
    assert (code, [each["memories"] for each in json.loads(out)]) == (0, [1, 1, 1])
    assert "1 root, 1 memory, 1 live" in run("shards")[1]


def test_a_backup_asks_for_one_of_them(run, root_on, addresses, tmp_path):
    run("remember", "Back me up.", "--scope", root_on(2))
    code, _, err = run("backup", "--out", str(tmp_path / "all.memoranda"))
    assert code == 2
    assert "--store ADDRESS" in err
    assert run("backup", "--out", str(tmp_path / "one.memoranda"), "--store", addresses[1])[0] == 0


def test_a_changed_list_is_refused_told_and_adopted(run, root_on, addresses, monkeypatch):
    run("remember", "Stay.", "--scope", root_on(1))
    monkeypatch.setenv("MEMORANDA_SHARDS", "|".join([*addresses, f"{root_on(1)}=1", "new=2"]))
    code, _, err = run("list", "--scope", root_on(1))
    assert code == 4
    assert "memoranda shards adopt" in err
    assert run("shards")[0] == 6
    assert run("shards", "adopt")[0] == 0
    assert run("list", "--scope", root_on(1))[0] == 0


def test_a_shard_that_was_not_used_yet_is_no_stranger(run, root_on):
    run("remember", "Stay.", "--scope", root_on(1))
    code, out, _ = run("shards")
    assert code == 0
    assert [line.endswith("not used yet") for line in out.splitlines()] == [False, True, True]


def test_a_shorter_list_is_adopted_only_with_drop(run, root_on, addresses, monkeypatch):
    run("remember", "Stay.", "--scope", root_on(1))
    monkeypatch.setenv("MEMORANDA_SHARDS", "|".join(addresses[:2]))
    code, _, err = run("shards", "adopt")
    assert code == 4
    assert "--drop" in err
    assert run("shards", "adopt", "--drop")[0] == 0


def test_without_shards_the_command_says_how_to_set_them(run, monkeypatch):
    monkeypatch.delenv("MEMORANDA_SHARDS")
    code, _, err = run("shards")
    assert code == 2
    assert "MEMORANDA_SHARDS" in err


def test_long_addresses_and_many_pins_are_taken_from_the_environment(run, root_on, addresses, monkeypatch):
    pins = [f"tenant-{number}={number % 3 + 1}" for number in range(200)]
    long = [f"{address}{'x' * 150}" for address in addresses]
    monkeypatch.setenv("MEMORANDA_SHARDS", "|".join([*long, *pins]))
    code, out, err = run("shards", "where", "tenant-7/anna", "--json")
    assert code == 0, err
    assert json.loads(out)[0]["place"] == 2


def test_tokens_are_made_listed_and_revoked_with_shards_set(run, root_on):
    code, out, err = run("token", "create", "--role", "reader", "--scope", root_on(3), "--json")
    assert code == 0, err
    assert root_on(3) in run("token", "list")[1]
    assert run("token", "revoke", json.loads(out)["token"]["id"])[0] == 0
