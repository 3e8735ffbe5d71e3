"""The settings of hosts: written where each looks, merged, with a copy of what was there, and restored exactly."""

import json
import os
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from memoranda.cli import hook, install, mcp
from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.memory import SOURCES
from memoranda.hosts import files, payloads
from memoranda.hosts.edits import Member
from memoranda.hosts.launch import Launch, command_of
from memoranda.hosts.plans import Edited
from memoranda.hosts.table import BY_NAME, HOSTS
from memoranda.testing.fakes import FixedClock
from memoranda.tools.toolbox import TOOLSETS

LINUX = {
    "codex": {"config.toml", "hooks.json"},
    "cursor": {"mcp.json", "hooks.json"},
    "gemini": {"settings.json"},
    "opencode": {"opencode.json"},
    "vscode": {"mcp.json"},
    "claude-desktop": {"claude_desktop_config.json"},
    "windsurf": {"mcp_config.json"},
}
FOLDER = {
    "linux": {
        "claude-code": ".claude",
        "codex": ".codex",
        "cursor": ".cursor",
        "gemini": ".gemini",
        "opencode": ".config/opencode",
        "vscode": ".config/Code/User",
        "claude-desktop": ".config/Claude",
        "windsurf": ".codeium/windsurf",
    },
    "darwin": {
        "vscode": "Library/Application Support/Code/User",
        "claude-desktop": "Library/Application Support/Claude",
    },
    "win32": {"vscode": "AppData/Roaming/Code/User", "claude-desktop": "AppData/Roaming/Claude"},
}
JSON_HOSTS = {
    "cursor": "mcp.json",
    "gemini": "settings.json",
    "opencode": "opencode.json",
    "vscode": "mcp.json",
    "claude-desktop": "claude_desktop_config.json",
    "windsurf": "mcp_config.json",
}
SECTION = {"vscode": "servers", "opencode": "mcp"}
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks at the places of Linux")


def folder_of(home, host):
    return home / FOLDER["linux"][host]


def section(host):
    return SECTION.get(host, "mcpServers")


def everything(home):
    """Every file below the home folder, with its bytes; no backups."""
    found = (path for path in home.rglob("*") if path.is_file() and ".bak-" not in path.name)
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in found}


def backups(path):
    return sorted(path.parent.glob(path.name + ".bak-*"))


def test_the_words_of_the_commands_are_those_of_the_rooms_below():
    assert (mcp.TOOLSETS, install.HOSTS) == (TOOLSETS, HOSTS)
    assert set(mcp.SOURCES) < set(SOURCES)
    assert set(hook.HOSTS) == set(payloads.HOOK_HOSTS)
    assert {ours for host in BY_NAME.values() for ours in host.hooks.values()} <= set(hook._NOTHING)


@pytest.mark.parametrize("platform", FOLDER)
@pytest.mark.parametrize("host", HOSTS)
def test_each_host_has_its_place_on_each_platform(host, platform):
    wanted = FOLDER[platform].get(host, FOLDER["linux"][host])
    assert BY_NAME[host].place(Path("/h"), platform=platform) == Path("/h") / wanted


@linux_only
@pytest.mark.parametrize("host", LINUX)
def test_a_host_is_set_up_in_a_home_without_settings_and_removing_leaves_nothing(run, home, host):
    code, out, _ = run("install", host, "--scope", "me", "--store", "notes/m.db")
    assert code == 0
    place = folder_of(home, host)
    assert {each.name for each in place.iterdir()} == LINUX[host]
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in place.iterdir())
    assert str(place) in out
    assert run("uninstall", host)[0] == 0
    assert everything(home) == {}


@linux_only
@pytest.mark.parametrize("host", JSON_HOSTS)
def test_the_server_is_started_with_full_paths(run, home, host):
    run("install", host, "--scope", "me", "--store", "notes/m.db", "--no-hooks")
    entry = json.loads((folder_of(home, host) / JSON_HOSTS[host]).read_text())[section(host)]["memoranda"]
    line = entry["command"] if host == "opencode" else [entry["command"], *entry["args"]]
    assert os.access(line[0], os.X_OK)
    assert line[1:] == ["mcp", "--store", str(home / "notes/m.db"), "--scope", "me"]
    assert entry.get("type") == {"vscode": "stdio", "opencode": "local"}.get(host)


@linux_only
@pytest.mark.parametrize("host", JSON_HOSTS)
def test_what_others_wrote_stays_and_has_a_copy_and_removing_brings_it_back(run, home, host):
    path = folder_of(home, host) / JSON_HOSTS[host]
    path.parent.mkdir(parents=True)
    before = f'{{"zoom":1.50,\n "{section(host)}": {{\n    "other": {{"command": "x"}}\n }},"theme" : "dark"}}\n'
    path.write_text(before)
    path.chmod(0o640)
    assert run("install", host, "--scope", "me")[0] == 0
    after = json.loads(path.read_text())
    assert set(after[section(host)]) == {"other", "memoranda"}
    assert '"zoom":1.50,' in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = backups(path)
    assert backup.read_text() == before
    assert run("uninstall", host)[0] == 0
    assert path.read_text() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@linux_only
@pytest.mark.parametrize("before", ["{}", '{"a": 1}\n', '{"hooks": {"AfterAgent": []}, "mcpServers": {}}'])
def test_a_file_that_had_no_place_for_us_is_the_same_afterwards(run, home, before):
    path = folder_of(home, "gemini") / "settings.json"
    path.parent.mkdir()
    path.write_text(before)
    run("install", "gemini", "--scope", "me")
    run("install", "gemini", "--scope", "me/work")
    assert path.read_text() != before
    run("uninstall", "gemini")
    assert path.read_text() == before


@linux_only
def test_what_somebody_edited_since_stays_when_we_go(run, home):
    path = folder_of(home, "gemini") / "settings.json"
    path.parent.mkdir()
    path.write_text('{"theme": "dark"}')
    run("install", "gemini", "--scope", "me")
    whole = json.loads(path.read_text())
    whole["theme"] = "light"
    whole["hooks"]["AfterAgent"].append({"hooks": [{"type": "command", "command": "mine"}]})
    path.write_text(json.dumps(whole))
    run("uninstall", "gemini")
    left = json.loads(path.read_text())
    assert left["theme"] == "light"
    assert left["hooks"] == {"AfterAgent": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    assert "memoranda" not in path.read_text()


@linux_only
@pytest.mark.parametrize("host", ["codex", "cursor", "gemini"])
def test_hooks_of_others_stay_beside_ours(run, home, host):
    path = folder_of(home, host) / ("settings.json" if host == "gemini" else "hooks.json")
    event = next(iter(BY_NAME[host].hooks))
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "hooks": {event: [{"command": "mine"}]}}))
    run("install", host, "--scope", "me")
    run("install", host, "--scope", "me")
    found = json.loads(path.read_text())["hooks"]
    assert found[event][0] == {"command": "mine"}
    assert {name: len(each) for name, each in found.items()} == {
        name: 1 + (name == event) for name in BY_NAME[host].hooks
    }
    unit = 1_000 if host == "gemini" else 1
    assert f'"timeout": {10 * unit}' in path.read_text()


@linux_only
@pytest.mark.parametrize("host", ["codex", "cursor", "gemini"])
def test_a_hook_of_somebody_elses_that_sounds_like_ours_stays_with_its_file(run, home, host):
    path = folder_of(home, host) / ("settings.json" if host == "gemini" else "hooks.json")
    path.parent.mkdir()
    theirs = {"command": f"/opt/audit/run.sh --host {host}-laptop"}
    event = next(iter(BY_NAME[host].hooks))
    value = theirs if host == "cursor" else {"hooks": [{"type": "command", **theirs}]}
    before = json.dumps({"version": 1, "hooks": {event: [value]}}, indent=2)
    path.write_text(before)
    run("uninstall", host)
    assert path.read_text() == before, "nothing of ours was there"
    run("install", host, "--scope", "me")
    found = json.loads(path.read_text())["hooks"][event]
    assert (found[0], len(found)) == (value, 2)
    run("uninstall", host)
    assert path.read_text() == before


@linux_only
@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_a_command_that_somebody_put_into_our_group_stays(run, home, host):
    path = folder_of(home, host) / ("settings.json" if host == "gemini" else "hooks.json")
    event = list(BY_NAME[host].hooks)[-1]
    theirs = {"type": "command", "command": "notify-send done"}
    run("install", host, "--scope", "me")
    whole = json.loads(path.read_text())
    whole["hooks"][event][0]["hooks"].append(theirs)
    path.write_text(json.dumps(whole))
    run("install", host, "--scope", "me/work")
    found = json.loads(path.read_text())["hooks"][event]
    commands = [each["command"] for group in found for each in group["hooks"]]
    assert len(commands) == 2
    assert commands[0] == "notify-send done"
    assert commands[1].endswith("--scope me/work")
    run("uninstall", host)
    assert json.loads(path.read_text())["hooks"] == {event: [{"hooks": [theirs]}]}


CODEX = '# mine\nmodel = "x"   # fast\n\n[mcp_servers.other]\ncommand = "y"\n\n[tui]\ntheme = "dark"\n'


@linux_only
def test_the_table_of_codex_is_added_and_comments_stay(run, home):
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text(CODEX)
    run("install", "codex", "--scope", "me")
    assert path.read_text().startswith(CODEX)
    table = tomllib.loads(path.read_text())["mcp_servers"]["memoranda"]
    assert table["args"][-2:] == ["--scope", "me"]
    path.write_text(path.read_text() + '\n[profiles.fast]\nmodel = "z" # new\n')
    run("install", "codex", "--scope", "other")
    assert '[profiles.fast]\nmodel = "z" # new\n' in path.read_text()
    assert tomllib.loads(path.read_text())["mcp_servers"]["memoranda"]["args"][-1] == "other"
    run("uninstall", "codex")
    assert path.read_text().startswith(CODEX)
    assert tomllib.loads(path.read_text())["profiles"] == {"fast": {"model": "z"}}
    assert "memoranda" not in path.read_text()


@linux_only
def test_claude_code_gets_a_folder_of_its_own_and_no_file_of_it_is_changed(run, home):
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"theme": "dark"}')
    before = everything(home)
    assert run("install", "claude-code", "--scope", "me", "--store", "m.db")[0] == 0
    folder = home / ".claude/skills/memoranda"
    hooks = json.loads((folder / "hooks/hooks.json").read_text())["hooks"]
    assert {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact"} <= set(hooks)
    assert all(each["hooks"][0]["timeout"] == 10 for (each,) in hooks.values())
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["memoranda"]
    assert server["args"] == ["mcp", "--store", str(home / "m.db"), "--scope", "me"]
    assert "name: memory" in (folder / "skills/memory/SKILL.md").read_text()
    assert "nothing to change" in run("install", "claude-code", "--scope", "me", "--store", "m.db")[1]
    assert run("uninstall", "claude-code")[0] == 0
    assert everything(home) == before
    assert not folder.exists()


@linux_only
def test_what_somebody_wrote_into_our_folder_is_not_lost(run, home):
    run("install", "claude-code", "--scope", "me")
    folder = home / ".claude/skills/memoranda"
    skill = folder / "skills/memory/SKILL.md"
    skill.write_text("mine")
    (folder / "notes.md").write_text("also mine")
    run("install", "claude-code", "--scope", "me")
    assert [each.read_text() for each in backups(skill)] == ["mine"]
    skill.write_text("mine again")
    run("install", "claude-code", "--scope", "me", "--no-tools")
    assert not (folder / ".mcp.json").exists()
    run("uninstall", "claude-code")
    assert sorted(each.read_text() for each in backups(skill)) == ["mine", "mine again"]
    assert (folder / "notes.md").read_text() == "also mine"
    assert not (folder / ".claude-plugin").exists()


@linux_only
def test_a_folder_that_is_not_ours_is_left_alone(run, home):
    theirs = home / ".claude/skills/memoranda/SKILL.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    code, _, err = run("install", "claude-code", "--scope", "me")
    assert (code, "is not ours" in err) == (4, True)
    assert "nothing to change" in run("uninstall", "claude-code")[1]
    assert everything(home) == {".claude/skills/memoranda/SKILL.md": b"theirs"}
    assert run("install", "claude-code", "--scope", "me", "--name", "ours")[0] == 0


@linux_only
@pytest.mark.parametrize("name", ["README.md", ".claude-plugin", ".installed-by-memoranda.json"])
def test_a_link_that_leads_out_of_our_folder_is_not_followed(run, home, name):
    """A project that was cloned brings the folder along, with a record as if it were ours."""
    outside = home / "outside"
    outside.mkdir()
    victim = outside / "plugin.json"
    victim.write_text("{}")
    folder = home / ".claude/skills/memoranda"
    folder.mkdir(parents=True)
    (folder / ".installed-by-memoranda.json").write_text("{}")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside if name == ".claude-plugin" else victim)
    code, _, err = run("install", "claude-code", "--project", "--scope", "me")
    assert (code, "leads out of it" in err) == (4, True)
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"plugin.json": "{}"}


@pytest.mark.parametrize("host", [name for name, each in BY_NAME.items() if each.project is not None])
def test_a_project_has_settings_of_its_own(run, home, host):
    assert run("install", host, "--project", "--scope", "me")[0] == 0
    assert (home / BY_NAME[host].project).is_dir()
    assert run("uninstall", host, "--project")[0] == 0
    assert everything(home) == {}


def test_a_host_without_projects_says_so(run):
    code, _, err = run("install", "claude-desktop", "--project", "--scope", "me")
    assert code == 2
    assert "--project" in err


def test_installing_again_changes_nothing_and_makes_no_copy(run, home):
    run("install", "cursor", "--scope", "me")
    before = everything(home)
    code, out, _ = run("install", "cursor", "--scope", "me")
    assert code == 0
    assert "nothing to change" in out
    assert everything(home) == before
    assert list(home.rglob("*.bak-*")) == []
    assert run("uninstall", "windsurf")[0] == 0


def test_other_options_replace_what_was_there(run, home):
    run("install", "cursor", "--scope", "me")
    more = ("--toolset", "langbot", "--source", "user", "--speaker", "anna")
    run("install", "cursor", "--scope", "me/work", *more)
    (entry,) = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"].values()
    assert entry["args"][-8:] == ["--scope", "me/work", *more]
    for (each,) in json.loads((home / ".cursor/hooks.json").read_text())["hooks"].values():
        assert each["command"].endswith("--scope me/work")


def test_a_server_is_named_by_its_address_and_no_token_is_written(run, home, monkeypatch):
    monkeypatch.setenv("MEMORANDA_TOKEN", "mem_secret")
    options = ("--url", "http://127.0.0.1:8765", "--token-file", "t.txt")
    Path("t.txt").write_text("mem_secret")
    assert run("install", "cursor", *options)[0] == 0
    text = (home / ".cursor/mcp.json").read_text() + (home / ".cursor/hooks.json").read_text()
    assert "mem_secret" not in text
    (entry,) = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"].values()
    where = ["--url", "http://127.0.0.1:8765", "--token-file", str(home / "t.txt")]
    assert entry["args"] == ["mcp", *where]
    assert " ".join(where) in text


def test_a_dry_run_shows_what_is_ours_and_writes_nothing(run, home):
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"oauth": "somebody\'s secret"}')
    code, out, err = run("install", "gemini", "--scope", "me", "--dry-run")
    assert code == 0
    assert f"would write {path}" in out
    assert '"--scope"' in out
    assert "secret" not in out + err
    assert run("install", "claude-code", "--scope", "me", "--dry-run")[0] == 0
    told = json.loads(run("install", "codex", "--scope", "me", "--dry-run", "--json")[1])
    assert [each["changed"] for each in told["files"]] == [True, True]
    assert "[mcp_servers.memoranda]" in told["entries"][str(home / ".codex/config.toml")]
    assert everything(home) == {".gemini/settings.json": b'{"oauth": "somebody\'s secret"}'}


MALFORMED = [b'{"a": 1,}', b'{\n // mine\n "a": 1}', b"[]", b'{"mcpServers": 3}', b"\xff\xfe{}", b'{"a": ']


@pytest.mark.parametrize("text", MALFORMED, ids=repr)
def test_what_is_not_plain_json_is_left_alone_and_what_to_paste_is_shown(run, home, text):
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_bytes(text)
    code, out, err = run("install", "cursor", "--scope", "me")
    assert (code, out) == (4, "")
    assert '"mcpServers": { "memoranda": {' in err
    assert everything(home) == {".cursor/mcp.json": text}
    assert list(home.rglob("*.bak-*")) == []


@pytest.mark.parametrize(
    "text", ["[mcp_servers\n", "mcp_servers = 3\n", 'mcp_servers = {memoranda = {command = "x"}}\n'], ids=repr
)
def test_a_file_of_codex_that_cannot_be_changed_stops_all_of_it(run, home, text):
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(text)
    assert run("install", "codex", "--scope", "me")[0] == 4
    assert everything(home) == {".codex/config.toml": text.encode()}


def test_hooks_that_are_no_list_are_left_alone_with_everything_else(run, home):
    (home / ".codex").mkdir()
    (home / ".codex/hooks.json").write_text('{"hooks": {"Stop": "x"}}')
    assert run("install", "codex", "--scope", "me")[0] == 4
    assert set(everything(home)) == {".codex/hooks.json"}


def test_a_link_stays_a_link_and_marks_and_line_ends_stay(run, home):
    real = home / "dotfiles.json"
    real.write_bytes(b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n')
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(real)
    assert run("install", "cursor", "--scope", "me", "--no-hooks")[0] == 0
    assert (home / ".cursor/mcp.json").is_symlink()
    data = real.read_bytes()
    assert data.startswith(b'\xef\xbb\xbf{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "memoranda": {\r\n')
    assert data.count(b"\n") == data.count(b"\r\n")
    run("uninstall", "cursor")
    assert real.read_bytes() == b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n'


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    path.write_text("{}")
    fill = files._fill

    def slow(handle, data, mode, name):
        fill(handle, data, mode, name)
        path.write_text('{"new": 1}')

    monkeypatch.setattr(files, "_fill", slow)
    with pytest.raises(Conflict):
        Edited(path, (Member(("mcpServers", "memoranda"), {}),)).install(clock=FixedClock())
    assert path.read_text() == '{"new": 1}'
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_the_settings_may_be_elsewhere(run, home):
    assert run("install", "codex", "--scope", "me", "--folder", "there")[0] == 0
    assert {each.name for each in (home / "there").iterdir()} == LINUX["codex"]
    assert run("uninstall", "codex", "--folder", "there")[0] == 0
    assert everything(home) == {}


def test_without_a_host_they_are_listed(run, home):
    code, out, _ = run("install")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(HOSTS)
    assert [each["host"] for each in json.loads(run("install", "--json")[1])["hosts"]] == list(HOSTS)
    assert everything(home) == {}


@pytest.mark.parametrize(
    "line",
    [
        ("install", "cursor"),
        ("install", "emacs", "--scope", "me"),
        ("uninstall",),
        ("install", "cursor", "--scope", "me", "--no-hooks", "--no-tools"),
        ("install", "windsurf", "--scope", "me", "--no-tools"),
        ("mcp", "install", "cursor", "--scope", "me"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_does_nothing(run, home, line):
    assert run(*line)[0] == 2
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a/b", '"', "..", "ż"])
def test_a_name_that_a_host_could_not_use_is_refused(run, home, name):
    assert run("install", "claude-code", "--scope", "me", "--name", name)[0] == 2
    assert list(home.iterdir()) == []


def test_without_a_script_the_interpreter_starts_it(tmp_path):
    assert command_of(tmp_path / "python") == (str(tmp_path / "python"), "-m", "memoranda")


def test_a_hook_is_one_line_for_the_shell_of_the_platform():
    launch = Launch(("/my apps/memoranda",), hooks=("--scope", "me"))
    assert launch.hook("after-turn", "codex", platform="linux") == (
        "'/my apps/memoranda' hook after-turn --host codex --scope me"
    )
    assert launch.hook("after-turn", "codex", platform="win32").startswith('"/my apps/memoranda" hook')


def test_a_record_that_leads_out_of_our_folder_is_refused(run, home):
    run("install", "claude-code", "--scope", "me")
    victim = home / "victim.txt"
    victim.write_text("keep me")
    record = home / ".claude/skills/memoranda/.installed-by-memoranda.json"
    record.write_text('{"../../../victim.txt": "x"}')
    assert run("uninstall", "claude-code")[0] == 4
    assert victim.read_text() == "keep me"


def test_what_is_no_place_in_json_is_told():
    with pytest.raises(InvalidInput):
        Member(("a", "b", "c"), 1).put('{"a": {"b": 3}}')
    assert json.loads(Member(("a", "b", "c"), 1).put('{"a": {"x": 0}}')) == {"a": {"x": 0, "b": {"c": 1}}}


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://"])
def test_an_address_that_no_server_has_is_refused_before_anything_is_written(run, home, url):
    code, _, err = run("install", "cursor", "--scope", "me", "--url", url)
    assert code == 2
    assert "http://127.0.0.1:8765" in err
    assert not (home / ".cursor").exists()


def test_a_token_file_has_to_be_there(run, home, tmp_path):
    token = tmp_path / "token"
    install = ("install", "cursor", "--scope", "me", "--url", "http://127.0.0.1:8765", "--token-file", str(token))
    code, _, err = run(*install)
    assert code == 3
    assert str(token) in err
    assert not (home / ".cursor").exists()
    token.write_text("secret")
    assert run(*install)[0] == 0


@pytest.mark.parametrize("host", ["codex", "cursor", "gemini"])
def test_a_dry_run_shows_one_object_for_each_file_as_it_would_be_written(run, home, host):
    shown = json.loads(run("install", host, "--scope", "me", "--dry-run", "--json")[1])["entries"]
    run("install", host, "--scope", "me")
    for name, text in shown.items():
        written = Path(name).read_text()
        assert json.loads(text) == json.loads(written) if name.endswith(".json") else text in written
