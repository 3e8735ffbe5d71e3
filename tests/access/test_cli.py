"""The command `token`: what people see, what programs read, and what is said when it does not work."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from memoranda import Settings
from memoranda.service.store import Store
from support import occurrences

SECRET = re.compile(r"mem_[0-9a-z]{8}_[A-Za-z0-9_-]{43}")


@pytest.fixture
def holder(path):
    """Who holds this token, as a server would find it."""

    def finder(secret):
        with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
            return store.tokens.principal(secret)

    return finder


def test_the_secret_is_alone_on_its_line_with_a_warning_beside(run, holder):
    code, out, err = run("token", "create", "--scope", "bot-1", "--name", "kitchen", "--days", "30")
    assert code == 0
    told, secret = out.splitlines()
    assert SECRET.fullmatch(secret)
    assert "kitchen: writer of bot-1 and below; until 20" in told
    assert "not shown again" in err
    assert secret not in err
    assert holder(secret)[:4] == ("kitchen", "writer", "bot-1", False)


def test_quiet_prints_the_secret_and_nothing_else(run, holder):
    code, out, err = run("token", "create", "--scope", "bot-1", "--role", "reader", "--above", "--quiet")
    assert (code, err) == (0, "")
    assert SECRET.fullmatch(out.removesuffix("\n"))
    assert holder(out.strip())[1:4] == ("reader", "bot-1", True)


def test_json_for_programs(run, holder):
    code, out, err = run("token", "create", "--scope", "bot-1", "--role", "admin", "--days", "1", "--json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    assert holder(made["secret"]).token_id == made["token"]["id"]
    assert made["token"]["expires_at"].endswith("Z")
    listed = json.loads(run("token", "list", "--json")[1])["tokens"]
    # Asking who holds it was its first use.
    assert [{**each, "last_used_at": None} for each in listed] == [made["token"]]
    assert listed[0]["last_used_at"] is not None
    revoked = json.loads(run("token", "revoke", made["token"]["id"], "--json")[1])
    assert revoked["token"]["revoked_at"].endswith("Z")
    assert revoked["others"] == []
    assert holder(made["secret"]) is None


def test_what_was_made_with_a_token_is_told_when_it_is_revoked(run, path):
    with Store.open(path, settings=Settings(embedder="none", follow=False)) as store:
        stolen = store.tokens.create(role="admin", scope="bot-1")
        by = store.tokens.principal(stolen.secret)
        made = store.tokens.create(role="reader", scope="bot-1/group-7", by=by)
    code, out, _ = run("token", "revoke", stolen.token.id)
    assert code == 0
    assert f"1 that were made with it: {made.token.id}" in out
    assert [line.split("\t")[1] for line in run("token", "list")[1].splitlines()] == ["revoked", "revoked"]


def test_the_role_is_writer_unless_it_is_said(run):
    out = run("token", "create", "--scope", "bot-1", "--json")[1]
    assert json.loads(out)["token"]["role"] == "writer"


def test_the_environment_names_the_scope_and_never_makes_it_everywhere(run, monkeypatch):
    monkeypatch.setenv("MEMORANDA_SCOPE", "home/anna")
    assert json.loads(run("token", "create", "--json")[1])["token"]["scope"] == "home/anna"
    assert json.loads(run("token", "create", "--scope", "bot-1", "--json")[1])["token"]["scope"] == "bot-1"
    assert json.loads(run("token", "create", "--everywhere", "--json")[1])["token"]["scope"] == ""
    assert len(json.loads(run("token", "--json")[1])["tokens"]) == 3, "all are listed, wherever one works"


def test_everywhere_is_said_or_refused(run, path):
    code, _, err = run("token", "create")
    assert code == 2
    assert "--scope bot-1" in err
    assert "--everywhere" in err
    assert run("token", "create", "--scope", "")[0] == 2
    assert run("token", "create", "--everywhere", "--scope", "bot-1")[0] == 2
    assert not path.exists(), "a command that was refused makes no store"


def test_the_list_says_who_is_let_in_and_never_a_secret(run, path):
    secrets = [
        run("token", "create", "--scope", scope, "--quiet", *more)[1].strip()
        for scope, more in (("bot-1", ["--name", "kitchen"]), ("bot-1/group-7", []), ("bot-10", ["--above"]))
    ]
    run("token", "revoke", secrets[1][4:12])
    code, out, _ = run("token", "list")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:3] for row in rows] == [
        [secrets[0][4:12], "good", "writer of bot-1 and below"],
        [secrets[1][4:12], "revoked", "writer of bot-1/group-7 and below"],
        [secrets[2][4:12], "good", "writer of bot-10 and below, and sees what is above"],
    ]
    assert rows[0][3:5] == ["kitchen", "never used"]
    for secret in secrets:
        assert secret[13:] not in out
    assert len(run("token", "list", "--scope", "bot-1")[1].splitlines()) == 2
    assert len(run("token", "list", "--good")[1].splitlines()) == 2
    assert run("token", "list", "--scope", "")[0] == 2
    assert occurrences(path, *(secret[13:] for secret in secrets)) == []


def test_no_tokens_are_said_so(run, path):
    Store.open(path, settings=Settings(embedder="none", follow=False)).close()
    assert run("token")[:2] == (0, "(none)\n")
    assert json.loads(run("token", "--json")[1]) == {"tokens": []}


@pytest.mark.parametrize(
    ("argv", "expected", "next_step"),
    [
        (["list"], 3, "token create"),
        (["revoke", "00000000"], 3, "token create"),
        (["create", "--scope", "bot-1", "--role", "owner"], 2, "--help"),
        (["create", "--scope", "bot-1/"], 2, "such as 'home/anna'"),
        (["create", "--scope", "bot-1", "--days", "0"], 2, "token that stays"),
        (["create", "--everywhere", "--above"], 2, "Leave `above` out"),
        (["create", "--scope", "bot-1", "--name", "two\nlines"], 2, "plain letters"),
    ],
)
def test_a_mistake_is_told_with_the_next_step(run, argv, expected, next_step):
    code, out, err = run("token", *argv)
    assert (code, out) == (expected, "")
    assert next_step in err
    told = json.loads(run("token", *argv, "--json")[1])["error"]
    assert next_step in told["hint"]


def test_an_unknown_id_is_not_found(run):
    run("token", "create", "--scope", "bot-1")
    code, _, err = run("token", "revoke", "00000000")
    assert code == 3
    assert "token list" in err


def test_the_secret_can_be_piped(path):
    source = str(Path(memoranda.__file__).parents[1])
    command = [
        sys.executable,
        "-m",
        "memoranda",
        "token",
        "create",
        "--scope",
        "bot-1",
        "--quiet",
        "--store",
        str(path),
    ]
    environment = {"PYTHONPATH": source, "HOME": str(path.parent), "MEMORANDA_STORE": str(path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert SECRET.fullmatch(done.stdout.removesuffix("\n"))
