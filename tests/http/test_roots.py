"""Folders that may be named over HTTP: how they are written, and whom each is for."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import loopback
from running import run, serving

from memoranda.domain.access import Principal
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.scope import Scope
from memoranda.http.roots import Root, confined

OPERATOR = Principal("operator", "admin", "")
ADMIN = Principal("an admin", "admin", "bot-1")


@pytest.mark.parametrize(
    ("written", "folder", "scope"),
    [
        ("/srv/notes", "/srv/notes", None),
        ("bot-1=/srv/notes", "/srv/notes", "bot-1"),
        ("bot-1/group-7=/srv/a=b", "/srv/a=b", "bot-1/group-7"),
        ("/srv/a=b", "/srv/a=b", None),
        ("./bot-1=b", "bot-1=b", None),
        ("bot-1/=b", "bot-1/=b", None),
    ],
)
def test_a_root_is_a_folder_or_a_scope_and_a_folder(written, folder, scope):
    found = Root.of(written)
    assert found.folder == Path(folder).resolve()
    assert (found.scope and found.scope.path) == scope


@pytest.mark.parametrize("written", ["", " ", "bot-1=", "bot-1= "])
def test_no_folder_is_not_the_one_that_the_server_was_started_in(written):
    with pytest.raises(InvalidInput):
        Root.of(written)


def test_a_link_is_a_root_for_what_it_leads_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Root.of(f"bot-1={tmp_path}/link").folder == tmp_path / "real"


segments = st.lists(st.sampled_from(["bot-1", "bot-10", "a", "b"]), min_size=1, max_size=3).map("/".join)


@given(own=segments, asked=segments)
def test_a_folder_of_a_scope_opens_for_that_scope_and_below_and_for_nobody_else(own, asked):
    root = Root(Path("/srv/notes"), Scope(own))
    admin = Principal("an admin", "admin", asked)
    below = asked.split("/")[: len(own.split("/"))] == own.split("/")
    assert root.opens("/srv/notes/a", admin, Scope(asked)) is below
    assert root.opens("/srv/notes/a", OPERATOR, Scope(asked))
    assert not root.opens("/srv/notes-too", OPERATOR, Scope(asked))


def test_a_folder_without_a_scope_is_the_operators():
    root = Root(Path("/srv/notes"))
    assert root.opens("/srv/notes", OPERATOR, Scope("bot-1"))
    assert not root.opens("/srv/notes", ADMIN, Scope("bot-1"))


def test_a_verb_is_given_the_place_and_not_the_way_to_it(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    roots = [Root.of(f"bot-1={tmp_path}")]
    assert confined(str(tmp_path / "link" / "new"), roots, ADMIN, Scope("bot-1")) == str(tmp_path / "real" / "new")
    (tmp_path / "out").symlink_to("/etc")
    for path in ("out", "out/new", "../elsewhere"):
        with pytest.raises(Refused):
            confined(str(tmp_path / path), roots, ADMIN, Scope("bot-1"))


def test_the_settings_have_the_same_form(tmp_path):
    (tmp_path / "notes").mkdir()
    with loopback(tmp_path / "store.db", server_roots=(f"bot-1={tmp_path / 'notes'}",)) as server:
        body = {"path": str(tmp_path / "notes")}
        statuses = [
            server.post("/v1/documents", body, token=server.token(scope, "admin")).status
            for scope in ("bot-1", "bot-2")
        ]
        assert statuses == [200, 403]


def test_the_command_opens_a_folder_for_a_scope(tmp_path):
    (tmp_path / "notes").mkdir()
    store = str(tmp_path / "store.db")
    token = run("--store", store, "token", "create", "--scope", "bot-1", "--role", "admin", "--quiet").stdout.strip()
    with serving("--store", store, "--root", f"bot-1={tmp_path / 'notes'}") as server:
        body = {"path": str(tmp_path / "notes")}
        assert server.ask("POST", "/v1/documents", body, token=token)[0] == 200
    missing = run("--store", store, "serve", "--root", f"bot-1={tmp_path / 'none'}")
    assert missing.returncode == 3
    assert "is not a folder" in missing.stderr


def test_who_opens_the_store_itself_may_have_a_root_that_is_a_link(tmp_path):
    """On purpose: what it leads to may change."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\nThe lamp is in room {name}.\n")
    (tmp_path / "notes").symlink_to(tmp_path / "one")
    with loopback(tmp_path / "store.db") as server:
        memory = server.store.memory(Scope("home"))
        assert memory.documents.add(tmp_path / "notes").root == str(tmp_path / "notes")
        assert memory.documents.read("a.md").text.splitlines()[0] == "# one"
        os.unlink(tmp_path / "notes")
        (tmp_path / "notes").symlink_to(tmp_path / "two")
        assert memory.documents.sync().failures == ()
        assert memory.documents.read("a.md").text.splitlines()[0] == "# two"
