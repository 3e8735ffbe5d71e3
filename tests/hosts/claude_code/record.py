"""Records what the real Claude Code and Codex tell their hooks, for the tests that read it: run it by hand.

    python tests/hosts/claude_code/record.py

Needs what `tests/hosts/claude_code/install` installs. The programs talk to the model service of the tests. Paths, long
texts of the programs themselves and counts of tokens are taken out.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from places import HOSTS  # noqa: E402
from responses import ResponsesServer  # noqa: E402

OUT = HERE.parent / "recorded"
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SubagentStop", "SessionEnd")
PACK = '<relevant-memories nonce="aaaaaaaaaaaa">\n- I read by light.bedroom_lamp.\n</relevant-memories aaaaaaaaaaaa>'
LONGEST = 1_200
TRANSCRIPTS = ("Stop", "Stop2", "PreCompact")
DUMP = """
import json, os, shutil, sys, time
raw = sys.stdin.read()
given = json.loads(raw)
name = f"{os.environ['RECORD']}/{time.time_ns()}-{given['hook_event_name']}"
open(name + ".json", "w").write(raw)
path = given.get("transcript_path")
if path and os.path.exists(path):
    shutil.copy(path, name + ".jsonl")
if given["hook_event_name"] in ("SessionStart", "UserPromptSubmit"):
    told = {"hookEventName": given["hook_event_name"], "additionalContext": os.environ["PACK"]}
    print(json.dumps({"hookSpecificOutput": told}))
"""
AGENT = {"description": "look", "prompt": "Remember that a sub-agent speaks here.", "subagent_type": "general-purpose"}


def main():
    with tempfile.TemporaryDirectory() as folder, ResponsesServer() as server:
        home = Path(folder)
        (home / "project").mkdir()
        (home / "dump.py").write_text(DUMP)
        command = f"{sys.executable} {home / 'dump.py'}"
        hooks = {each: [{"hooks": [{"type": "command", "command": command, "timeout": 30}]}] for each in EVENTS}
        kept = {name: each for name, each in os.environ.items() if "CLAUDE" not in name}
        base = {**kept, "HOME": str(home), "PACK": PACK}
        _claude(home, hooks, {**base, "ANTHROPIC_BASE_URL": server.anthropic_url, "ANTHROPIC_API_KEY": "none"})
        _codex(home, hooks, {**base, "FAKE_KEY": "none"}, server)


def _claude(home, hooks, environment):
    (home / "settings.json").write_text(json.dumps({"hooks": hooks}))
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "ENABLE_TOOL_SEARCH": "false"}
    name, private = str(uuid.uuid4()), str(uuid.uuid4())
    turns = {
        "1-first": ("Remember that I read by light.bedroom_lamp.", "--session-id", name),
        "2-agent": (f"CALL Agent {json.dumps(AGENT)} ", "--resume", name, "--allowedTools", "Agent"),
        "3-compacted": ("/compact", "--resume", name),
        "4-after": ("I prefer short answers.", "--resume", name),
        "5-private": ("Remember that this is private.", "--session-id", private, "--no-session-persistence"),
    }
    out = _emptied("claude_code")
    program = HOSTS / "claude_code" / "node_modules/.bin/claude"
    for turn, (prompt, *options) in turns.items():
        line = [str(program), "--settings", str(home / "settings.json"), "-p", prompt, *options]
        _recorded(home, out, turn, line, {**environment, **quiet})


def _codex(home, hooks, environment, server):
    folder = home / ".codex"
    folder.mkdir()
    (folder / "hooks.json").write_text(json.dumps({"hooks": {k: v for k, v in hooks.items() if k != "SubagentStop"}}))
    (folder / "config.toml").write_text(
        'model = "gpt-5-codex"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{server.url}/openai/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    )
    program = HOSTS / "claude_code" / "node_modules/.bin/codex"
    options = [
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "Remember that I read by light.bedroom_lamp.",
    ]
    _recorded(home, _emptied("codex"), "1-first", [str(program), "exec", *options], environment)


def _emptied(name):
    out = OUT / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    return out


def _recorded(home, out, turn, line, environment):
    record = home / f"record-{out.name}-{turn}"
    record.mkdir()
    subprocess.run(
        line,
        env={**environment, "RECORD": str(record)},
        cwd=home / "project",
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
    seen = {}
    for file in sorted(record.iterdir()):
        event = file.stem.partition("-")[2]
        if file.suffix == ".json":
            seen[event] = seen.get(event, 0) + 1
        which = f"{event}{seen[event] if seen[event] > 1 else ''}"
        if file.suffix == ".jsonl" and which not in TRANSCRIPTS:
            continue
        name = f"{turn}-{which}{file.suffix}"
        texts = file.read_text().splitlines()
        cleaned = [json.dumps(_plain(json.loads(each), home), ensure_ascii=False) for each in texts if each.strip()]
        (out / name).write_text("\n".join(_short(each) for each in cleaned) + "\n", encoding="utf-8")


def _plain(value, home):
    if isinstance(value, dict):
        return {key: _plain(each, home) for key, each in value.items() if key not in ("usage", "instructions")}
    if isinstance(value, list):
        return [_plain(each, home) for each in value]
    if not isinstance(value, str):
        return value
    dashed = str(home).replace("/", "-").replace("_", "-")
    for real, shown in ((str(home), "/home/anna"), (dashed, "-home-anna"), (sys.executable, "python3")):
        value = value.replace(real, shown)
    value = re.sub(r"/tmp/claude-\d+", "/tmp/claude", value)
    return value if len(value) <= LONGEST and "<system-reminder>" not in value else value[:60] + "…"


def _short(line):
    """Of what the program notes for itself, only of which kind it is."""
    found = json.loads(line)
    inner = found.get("attachment")
    if isinstance(inner, dict):
        return json.dumps({"type": found["type"], "attachment": {"type": inner.get("type")}, "uuid": found.get("uuid")})
    if len(line) < 8_000 and found.get("type") not in ("world_state", "turn_context", "session_meta", "api-request"):
        return line
    return json.dumps({"type": found.get("type"), "cut": True})


if __name__ == "__main__":
    main()
