"""The settings of clients: written where each looks, merged, with a copy of what was there, or not at all."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from memoranda.cli import mcp as command
from memoranda.domain.errors import Conflict
from memoranda.domain.memory import SOURCES
from memoranda.mcp import installing
from memoranda.mcp.clients import CLIENTS, Place, launch_of_this, place_of
from memoranda.testing.fakes import FixedClock
from memoranda.tools.toolbox import TOOLSETS

OWN = {
    "linux": {
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
    },
    "darwin": {
        "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
    },
    "win32": {
        "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
    },
}
PROJECT = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}
SECTION = {"vscode": "servers"}
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks at the places of Linux")


def section(client):
    return SECTION.get(client, "mcpServers")


def backups(path):
    return sorted(path.parent.glob(path.name + ".bak-*"))


def test_the_words_of_the_command_are_those_of_the_rooms_below():
    assert (command.TOOLSETS, command.CLIENTS) == (TOOLSETS, CLIENTS)
    assert set(command.SOURCES) < set(SOURCES)


@pytest.mark.parametrize("platform", OWN)
@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_has_its_place_on_each_platform(client, platform):
    assert place_of(client, home=Path("/h"), platform=platform) == Place(
        Path("/h") / OWN[platform][client], section(client)
    )


@linux_only
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_set_up_in_a_home_without_settings(run, home, client):
    code, out, _ = run("mcp", "install", client, "--scope", "me", "--store", "notes/m.db")
    path = home / OWN["linux"][client]
    assert code == 0
    assert str(path) in out
    entry = json.loads(path.read_text())[section(client)]["memoranda"]
    assert os.path.isabs(entry["command"])
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"] == ["mcp", "--store", str(home / "notes/m.db"), "--scope", "me"]
    assert ("type" in entry) is (client in ("claude-code", "vscode"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert backups(path) == []


@linux_only
@pytest.mark.parametrize("client", CLIENTS)
def test_what_others_wrote_stays_and_has_a_copy_and_removing_brings_it_back(run, home, client):
    path = home / OWN["linux"][client]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = f'{{"zoom":1.50,\n "{section(client)}": {{\n    "other": {{"command": "x"}}\n }},"theme" : "dark"}}\n'
    path.write_text(before)
    path.chmod(0o640)
    assert run("mcp", "install", client, "--scope", "me")[0] == 0
    after = json.loads(path.read_text())
    assert set(after[section(client)]) == {"other", "memoranda"}
    assert '"zoom":1.50,' in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = backups(path)
    assert backup.read_text() == before
    assert run("mcp", "install", client, "--uninstall")[0] == 0
    assert path.read_text() == before
    assert len(backups(path)) == 2


@pytest.mark.parametrize("client", PROJECT)
def test_a_project_has_settings_of_its_own(run, home, client):
    assert run("mcp", "install", client, "--project", "--scope", "me")[0] == 0
    assert "memoranda" in json.loads((home / PROJECT[client]).read_text())[section(client)]
    assert not (home / ".claude.json").exists()


def test_a_client_without_projects_says_so(run):
    code, _, err = run("mcp", "install", "claude-desktop", "--project", "--scope", "me")
    assert code == 2
    assert "--project" in err


def test_installing_again_changes_nothing_and_makes_no_copy(run, home):
    run("mcp", "install", "cursor", "--scope", "me")
    code, out, _ = run("mcp", "install", "cursor", "--scope", "me")
    assert code == 0
    assert "nothing to change" in out
    assert backups(home / ".cursor/mcp.json") == []
    assert "nothing to change" in run("mcp", "install", "cursor", "--uninstall", "--name", "other")[1]


def test_other_options_replace_the_entry(run, home):
    run("mcp", "install", "cursor", "--scope", "me")
    run(
        "mcp",
        "install",
        "cursor",
        "--scope",
        "me/work",
        "--toolset",
        "langbot",
        "--source",
        "user",
        "--speaker",
        "anna",
    )
    (entry,) = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"].values()
    assert entry["args"][-8:] == [
        "--scope", "me/work", "--toolset", "langbot", "--source", "user", "--speaker", "anna",
    ]  # fmt: skip


def test_a_server_is_named_by_its_address_and_no_token_is_written(run, home, monkeypatch):
    monkeypatch.setenv("MEMORANDA_TOKEN", "mem_secret")
    options = ("--url", "http://127.0.0.1:8765", "--token-file", "t.txt")
    assert run("mcp", "install", "cursor", *options)[0] == 0
    text = (home / ".cursor/mcp.json").read_text()
    assert "mem_secret" not in text
    (entry,) = json.loads(text)["mcpServers"].values()
    assert entry["args"] == ["mcp", "--url", "http://127.0.0.1:8765", "--token-file", str(home / "t.txt")]


def test_a_dry_run_shows_our_entry_and_writes_nothing(run, home):
    path = home / ".claude.json"
    path.write_text('{"oauth": "somebody\'s secret"}')
    code, out, err = run("mcp", "install", "claude-code", "--scope", "me", "--dry-run")
    assert code == 0
    assert "would write it into" in out
    assert '"--scope"' in out
    assert "secret" not in out + err
    assert path.read_text() == '{"oauth": "somebody\'s secret"}'
    assert backups(path) == []
    assert run("mcp", "install", "cursor", "--scope", "me", "--dry-run")[0] == 0
    assert not (home / ".cursor").exists()


@pytest.mark.parametrize(
    "text", [b'{"a": 1,}', b'{\n // mine\n "a": 1}', b"[]", b'{"mcpServers": 3}', b"\xff\xfe{}", b'{"a": '], ids=repr
)
def test_what_is_not_plain_json_is_left_alone_and_the_snippet_is_shown(run, home, text):
    path = home / ".claude.json"
    path.write_bytes(text)
    code, out, err = run("mcp", "install", "claude-code", "--scope", "me")
    assert code == 4
    assert out == ""
    assert '{"mcpServers": {"memoranda": {' in err
    assert path.read_bytes() == text
    assert list(home.iterdir()) == [path]


def test_a_link_stays_a_link_and_marks_and_line_ends_stay(run, home):
    real = home / "dotfiles.json"
    real.write_bytes(b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n')
    (home / ".claude.json").symlink_to(real)
    assert run("mcp", "install", "claude-code", "--scope", "me")[0] == 0
    assert (home / ".claude.json").is_symlink()
    data = real.read_bytes()
    assert data.startswith(b'\xef\xbb\xbf{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "memoranda": {\r\n')
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    path.write_text("{}")
    fill = installing._fill

    def slow(handle, data, mode, name):
        fill(handle, data, mode, name)
        path.write_text('{"new": 1}')

    monkeypatch.setattr(installing, "_fill", slow)
    with pytest.raises(Conflict):
        installing.install(Place(path, "mcpServers"), "memoranda", {}, clock=FixedClock())
    assert path.read_text() == '{"new": 1}'
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_the_file_may_be_elsewhere(run, home):
    assert run("mcp", "install", "claude-code", "--scope", "me", "--file", "there/c.json")[0] == 0
    assert "memoranda" in json.loads((home / "there/c.json").read_text())["mcpServers"]


def test_config_prints_the_snippet_alone_and_as_json_what_was_done(run, home):
    code, out, err = run("mcp", "config", "vscode", "--scope", "me", "--name", "mine")
    assert code == 0
    assert set(json.loads(out)["servers"]) == {"mine"}
    assert "mcp.json" in err
    code, out, _ = run("mcp", "install", "cursor", "--scope", "me", "--json")
    told = json.loads(out)
    assert (told["changed"], told["path"]) == (True, str(home / ".cursor/mcp.json"))


@pytest.mark.parametrize(
    "options", [("install", "cursor"), ("config", "cursor"), ("install", "emacs", "--scope", "me"), ()], ids=repr
)
def test_without_a_scope_or_a_known_client_nothing_is_done(run, home, options):
    assert run("mcp", *options)[0] == 2
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a/b", '"'])
def test_a_name_that_a_client_could_not_use_is_refused(run, home, name):
    assert run("mcp", "install", "cursor", "--scope", "me", "--name", name)[0] == 2
    assert list(home.iterdir()) == []


def test_without_a_script_the_interpreter_starts_the_server(tmp_path):
    launch = launch_of_this(tmp_path / "python", ("mcp",))
    assert launch == (str(tmp_path / "python"), ("-m", "memoranda", "mcp"))
