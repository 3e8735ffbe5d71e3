"""The real Claude Code with our plugin: its turns are packed and captured, its model calls our tools."""

import json
import sys

import pytest

from hosts.places import ROOT, installed

from .conftest import BIN

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="starts the scripts of npm"),
]
installed("claude_code")
LAMP = "I read by light.bedroom_lamp."
RECALL = "mcp__plugin_memoranda_memoranda__recall"


def test_a_turn_is_captured_and_given_to_the_next_and_the_model_calls_our_tool(anna, model):
    anna.install("claude-code")
    answer, conversation = anna.claude(f"Remember that {LAMP}")
    assert "[MEM]" not in answer
    assert anna.memories() == [LAMP]

    # Another conversation: its beginning and its prompt bring it back.
    before = len(model.prompts)
    answer, _ = anna.claude("which lamp do I read by?")
    assert "[MEM]" in answer
    prompt = model.prompts[before]
    assert prompt.count("<relevant-memories nonce=") == 2
    assert "UserPromptSubmit hook additional context" in prompt
    assert "SessionStart hook additional context" in prompt
    assert "light.bedroom_lamp" in prompt
    assert "memoranda:memory" in prompt  # the skill

    # The first one again: what was captured is not captured twice, and what is new is.
    anna.claude("I prefer short answers.", "--resume", conversation)
    assert anna.memories() == ["I prefer short answers.", LAMP]

    call = json.dumps({"query": "which lamp do I read by?"})
    answer, _ = anna.claude(f"CALL {RECALL} {call} ", "--allowedTools", RECALL)
    assert answer.startswith("TOOLRESULT: ")
    assert "light.bedroom_lamp" in answer


def test_it_is_connected_and_gone_without_a_trace(anna):
    settings = anna.home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"}')
    anna.install("claude-code")
    assert "✔ Connected" in next(
        line for line in anna.run(BIN / "claude", "mcp", "list").splitlines() if line.startswith("plugin:memoranda:")
    )
    assert "memoranda@skills-dir" in anna.run(BIN / "claude", "plugin", "list")
    anna.memoranda("uninstall", "claude-code")
    assert "memoranda" not in anna.run(BIN / "claude", "mcp", "list")
    assert settings.read_text() == '{"theme": "dark"}'
    assert not (anna.home / ".claude/skills/memoranda").exists()


def test_before_a_compaction_it_is_captured_and_after_it_told_again(anna, model):
    anna.install("claude-code")
    # The hook at the end of the turn is away: what is said is not captured.
    hooks = anna.home / ".claude/skills/memoranda/hooks/hooks.json"
    whole = hooks.read_text()
    less = json.loads(whole)
    for event in ("Stop", "SessionEnd"):
        del less["hooks"][event]
    hooks.write_text(json.dumps(less))
    _, conversation = anna.claude(f"Remember that {LAMP}")
    assert not anna.store.exists() or anna.memories() == []  # the tools may have made it
    anna.claude("/compact", "--resume", conversation)
    assert anna.memories() == [LAMP]


def test_a_sub_agent_and_a_private_conversation_are_not_captured(anna, model):
    anna.install("claude-code")
    # Spelt so that only the sub-agent reads the word: what a person types is captured, whatever it is for.
    task = {"description": "x", "prompt": "Remember that a sub-agent said it.", "subagent_type": "general-purpose"}
    spelt = json.dumps(task).replace("Remember", "R\\u0065member")
    anna.claude(f"CALL Agent {spelt} ", "--allowedTools", "Agent")
    assert "a sub-agent said it" in json.dumps(model.prompts)
    anna.claude(f"Remember that {LAMP}", "--no-session-persistence")
    assert not anna.store.exists() or anna.memories() == []


def test_a_broken_memory_stops_no_turn(anna):
    anna.install("claude-code")
    anna.store.write_bytes(b"this is no store" * 400)
    answer, _ = anna.claude("Hello there.")
    assert "ECHO: " in answer
    assert anna.store.read_bytes() == b"this is no store" * 400


def test_the_plugin_of_this_repository_is_valid_and_installed_by_the_program_itself(anna):
    folder = ROOT / "plugins/claude_code"
    told = json.loads(anna.run(BIN / "claude", "plugin", "validate", folder, "--json"))
    assert not told.get("errors"), told
    anna.run(BIN / "claude", "plugin", "marketplace", "add", folder)
    anna.run(BIN / "claude", "plugin", "install", "memoranda@memoranda")
    assert "memoranda@memoranda" in anna.run(BIN / "claude", "plugin", "list")
