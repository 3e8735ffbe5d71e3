"""OpenClaw's own commands, with the plugin as people install it: packed, in the slot, after memory-lancedb."""

import json
import shutil
import subprocess

import pytest

from hosts.openclaw.running import PATIENCE, PLUGIN, Home, memoranda, plain_environment, serving
from hosts.places import ROOT

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(600)]

TABLE = ROOT / "tests" / "importers" / "fixtures" / "openclaw_lancedb" / "memory-lancedb"
TOOLS = {
    "memory_store",
    "memory_recall",
    "memory_forget",
    "memory_list",
    "memory_stats",
    "memory_export",
    "memory_import",
    "memory_search",
    "memory_get",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(scope="module")
def home(tmp_path_factory, server):
    """OpenClaw with the packed plugin installed by its own command, which takes the slot."""
    made = Home(tmp_path_factory.mktemp("openclaw") / "claw")
    (packed,) = PLUGIN.glob("*.tgz")
    made.run("plugins", "install", f"npm-pack:{packed}", "--force", "--accept-capabilities")
    settings = made.settings
    assert settings["plugins"]["slots"]["memory"] == "memoranda"
    entry = settings["plugins"]["entries"]["memoranda"]
    entry["hooks"] = {"allowConversationAccess": True}
    entry["config"] = {"url": server.url, "token": server.token}
    made.write(settings)
    return made


def test_the_packed_plugin_is_loaded_in_the_slot_with_tools_hooks_and_commands(home):
    found = home.json("plugins", "inspect", "memoranda", "--runtime")
    assert (found["plugin"]["status"], found["plugin"]["activationReason"]) == ("loaded", "selected memory slot")
    assert set(found["plugin"]["toolNames"]) == TOOLS
    hooks = {each["name"] for each in found["typedHooks"]}
    assert hooks == {"agent_end", "before_compaction", "before_prompt_build"}
    assert found["plugin"]["cliCommands"] == ["ltm"]
    assert found["plugin"]["configUiHints"]["token"]["sensitive"] is True
    assert [each for each in found["diagnostics"] if each["level"] == "error"] == []


def test_moving_from_memory_lancedb_and_the_commands(home, server, tmp_path):
    folder = shutil.copytree(TABLE, tmp_path / "lancedb")
    where = ("--store", server.store, "--scope", "openclaw/main", "--embedder", "none")
    done = subprocess.run(
        memoranda(*where, "import", folder, "--from", "openclaw-lancedb", "--trust", "trusted", "--json"),
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["taken"] == 5

    (line,) = home.run("ltm", "list", "--category", "preference").splitlines()
    assert line.startswith("- ")
    assert "[preference|must_remember] scope=openclaw/main createdAt=" in line
    assert line.endswith(" I prefer short answers.")
    found = home.json("ltm", "search", "which lamp do I read by?")
    assert found["ok"]
    assert found["memories"][0]["text"] == "The reading lamp is light.office."

    out = tmp_path / "out.jsonl"
    assert home.run("ltm", "export", "--out", out).strip() == f"Exported 5 memories to {out}"
    records = [json.loads(each) for each in out.read_text(encoding="utf-8").splitlines()]
    assert records == sorted(records, key=lambda each: (each["createdAt"], each["id"]))
    back = home.json("ltm", "import", "--in", out, "--scope", "openclaw/other", "--dry-run")
    assert (back["wouldImport"], back["imported"], back["failed"]) == (5, 0, 0)
    assert home.json("ltm", "import", "--in", out, "--scope", "openclaw/other", "--trust")["imported"] == 5
    _, kept = server.ask("GET", "/v1/memories?scope=openclaw/other&here=true")
    assert {each["trust"] for each in kept["memories"]} == {"trusted"}, "an admin's token vouches for a file"


def test_without_memory_core_the_command_memory_is_ours_too(home):
    settings = home.settings
    settings["plugins"]["entries"]["memory-core"] = {"enabled": False}
    with home.with_settings(settings):
        printed = home.run("memory", "stats")
    assert printed.startswith("Total memories: 5\nCategories:\n  - decision: 1\n")


def test_a_server_that_is_away_is_told_with_the_next_step(home):
    settings = home.settings
    settings["plugins"]["entries"]["memoranda"]["config"]["url"] = "http://127.0.0.1:9"
    with home.with_settings(settings):
        told = home.json("ltm", "status", code=1)
    assert told["ok"] is False
    assert "memoranda serve" in told["hint"]
