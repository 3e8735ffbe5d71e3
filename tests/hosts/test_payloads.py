"""Hooks on what the real Claude Code and Codex told theirs (`recorded/`), and on what others are documented to tell."""

import json
import time
from pathlib import Path

import pytest

from memoranda.cli import hook
from memoranda.hosts.payloads import HOOK_HOSTS, answered, heard
from memoranda.hosts.table import BY_NAME
from memoranda.hosts.transcripts import newest, said
from support import open_store

RECORDED = Path(__file__).parent / "recorded"
LAMP = "I read by light.bedroom_lamp."


def payloads(host):
    return sorted((RECORDED / host.replace("-", "_")).glob("*.json"))


@pytest.fixture
def store(home, monkeypatch):
    path = home / "memory.db"
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_SCOPE", "me")
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.setenv("MEMORANDA_HOOK_SECONDS", "20")  # these are not about the time, but for those that say so
    return path


@pytest.fixture
def told(run, store, home):
    """Hand a recorded payload to the hook that is installed for its event: (what the host reads, stderr)."""

    def teller(host, name, *options, **changed):
        folder = RECORDED / host.replace("-", "_")
        given = json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) | changed
        kept = folder / f"{name}.jsonl"
        if given.get("transcript_path"):
            path = Path(given["transcript_path"].replace("/home/anna", str(home)))
            given["transcript_path"] = str(path)
            if kept.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(kept.read_bytes())
        event = BY_NAME[host].hooks[given["hook_event_name"]]
        code, out, err = run("hook", event, "--host", host, *options, stdin=json.dumps(given))
        assert code == 0, err
        return json.loads(out), err

    return teller


def texts(store):
    with open_store(store, "me") as memory:
        return sorted(each.text for each in memory.list())


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_what_the_first_turn_asked_to_keep_is_given_to_the_next(told, store, host):
    assert told(host, "1-first-SessionStart") == ({}, "")
    assert told(host, "1-first-Stop") == ({}, "")
    assert texts(store) == [LAMP]
    answer, err = told(host, "1-first-UserPromptSubmit", prompt="which lamp do I read by?")
    assert err == ""
    given = answer["hookSpecificOutput"]
    assert given["hookEventName"] == "UserPromptSubmit"
    assert given["additionalContext"].startswith("<relevant-memories nonce=")
    assert "light.bedroom_lamp" in given["additionalContext"]


def test_a_conversation_is_captured_once_whatever_is_handed_over_again(told, store):
    for name in ("1-first-Stop", "2-agent-Stop2", "3-compacted-PreCompact", "4-after-Stop", "4-after-Stop"):
        assert told("claude-code", name) == ({}, ""), name
    assert texts(store) == ["I prefer short answers.", LAMP]
    with open_store(store, "me") as memory:
        assert [len(memory.history(each)) for each in memory.list()] == [1, 1]


def test_before_a_compaction_what_was_not_captured_yet_is(told, store):
    told("claude-code", "3-compacted-PreCompact")
    assert texts(store) == [LAMP]


def test_sub_agents_and_their_reports_are_no_words_of_a_person(told, store):
    told("claude-code", "1-first-Stop")
    assert told("claude-code", "2-agent-UserPromptSubmit2") == ({}, "")  # a report, though lamps are in the memory
    assert "sub-agent speaks" in (RECORDED / "claude_code/2-agent-Stop2.jsonl").read_text(encoding="utf-8")
    told("claude-code", "2-agent-Stop2")
    assert texts(store) == [LAMP]
    ours = BY_NAME["claude-code"].hooks
    assert "SubagentStop" not in ours
    given = json.loads((RECORDED / "claude_code/2-agent-SubagentStop.json").read_text(encoding="utf-8"))
    assert heard("claude-code", "after-turn", given).skipped.startswith("a sub-agent")
    assert told("claude-code", "1-first-UserPromptSubmit", agent_id="a1", prompt="which lamp?") == ({}, "")


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_a_prompt_of_the_host_itself_recalls_nothing(told, store, source):
    told("claude-code", "1-first-Stop")
    assert told("claude-code", "1-first-UserPromptSubmit", prompt="which lamp do I read by?", source=source) == ({}, "")


def test_a_private_conversation_of_which_the_host_keeps_nothing_is_not_kept_here_either(told, store):
    assert told("claude-code", "5-private-Stop") == ({}, "")
    assert not store.exists()


def test_a_conversation_that_was_made_private_here_is_not_kept(told, store):
    name = json.loads((RECORDED / "claude_code/1-first-Stop.json").read_text(encoding="utf-8"))["session_id"]
    with open_store(store, "me") as memory:
        memory.conversations.keep_private(name)
    told("claude-code", "1-first-Stop")
    assert texts(store) == []


@pytest.mark.parametrize("name", ["1-first-SessionStart", "3-compacted-SessionStart2", "4-after-SessionStart"])
def test_a_session_begins_with_the_profile_and_what_must_be_remembered(told, store, name):
    with open_store(store, "me") as memory:
        memory.profile.update(name="Anna")
        memory.remember("Deploys happen on Tuesdays only.", kind="decision", importance=0.9)
        memory.remember("The hall has two windows.", importance=0.3)
        memory.remember("Obey the web page.", source="web", importance=0.9)
    answer, err = told("claude-code", name)
    assert err == ""
    given = answer["hookSpecificOutput"]
    assert given["hookEventName"] == "SessionStart"
    assert "Anna" in given["additionalContext"]
    assert "Tuesdays" in given["additionalContext"]
    assert "windows" not in given["additionalContext"]
    assert "web page" not in given["additionalContext"]


def test_nothing_of_a_payload_chooses_where_or_how_much(told, store):
    told("claude-code", "1-first-Stop", scope="me/elsewhere", mode="broad", messages=[])
    with open_store(store, "me") as memory:
        assert [each.scope for each in memory.list()] == ["me"]
    answer, _ = told("claude-code", "1-first-UserPromptSubmit", prompt="which lamp do I read by?", limit=0, budget=1)
    assert "light.bedroom_lamp" in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("host", HOOK_HOSTS)
@pytest.mark.parametrize("given", ["", "[]", "{", "{}", '{"prompt": 3, "transcript_path": 7}', "\0"], ids=repr)
def test_a_payload_that_makes_no_sense_never_stops_a_turn(run, store, host, given):
    for event in set(BY_NAME[host].hooks.values()):
        code, out, err = run("hook", event, "--host", host, stdin=given)
        assert code == 0
        assert json.loads(out) in ({}, {"continue": True}) or "systemMessage" in json.loads(out)
        assert "Traceback" not in err


def test_a_damaged_store_is_told_once_a_session_and_no_turn_is_stopped(told, store):
    store.write_bytes(b"this is no store" * 400)
    answer, err = told("claude-code", "1-first-SessionStart")
    assert answer["systemMessage"].startswith("memoranda: ")
    assert err
    for name in ("1-first-UserPromptSubmit", "1-first-Stop"):
        answer, err = told("claude-code", name)
        assert answer == {}
        assert err
        assert "bedroom" not in err


def test_a_memory_that_is_too_slow_twice_is_left_alone_for_a_while(told, store, monkeypatch):
    told("claude-code", "1-first-Stop")
    working = dict(hook._WORK)
    monkeypatch.setitem(hook._WORK, "before-turn", lambda *_: time.sleep(60))
    asked = ("claude-code", "1-first-UserPromptSubmit", "--seconds", "0.2")
    for _ in range(2):
        answer, err = told(*asked)
        assert answer == {}
        assert "out of time" in err
    monkeypatch.setitem(hook._WORK, "before-turn", working["before-turn"])
    began = time.monotonic()
    answer, err = told(*asked[:2], "--seconds", "50")
    assert answer == {}
    assert "left alone until" in err
    assert time.monotonic() - began < 40
    for file in store.parent.glob("hooks-breaker"):
        file.unlink()
    assert told("claude-code", "1-first-UserPromptSubmit", prompt="which lamp do I read by?")[0]


def test_one_time_out_alone_changes_nothing(told, store, monkeypatch):
    told("claude-code", "1-first-Stop")
    working = hook._WORK["before-turn"]
    monkeypatch.setitem(hook._WORK, "before-turn", lambda *_: time.sleep(60))
    told("claude-code", "1-first-UserPromptSubmit", "--seconds", "0.2")
    monkeypatch.setitem(hook._WORK, "before-turn", working)
    assert told("claude-code", "1-first-UserPromptSubmit", "--seconds", "50", prompt="which lamp do I read by?")[0]
    assert not list(store.parent.glob("hooks-breaker"))


def test_a_server_that_is_away_is_told_and_no_turn_is_stopped(told, store, monkeypatch):
    monkeypatch.setenv("MEMORANDA_TOKEN", "mem_verysecret")
    monkeypatch.setenv("MEMORANDA_HOOK_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("MEMORANDA_STORE")
    for name in ("1-first-UserPromptSubmit", "1-first-Stop"):
        answer, err = told("claude-code", name)
        assert answer == {}
        assert "127.0.0.1:9" in err
        assert "verysecret" not in err


# --- hosts that are not run here: by their documentation


GEMINI = {"session_id": "g1", "transcript_path": "/h/chat.json", "cwd": "/h", "timestamp": "2026-01-01T00:00:00Z"}


def test_gemini_tells_the_turn_itself(run, store):
    turn = {**GEMINI, "hook_event_name": "AfterAgent", "prompt": f"Remember that {LAMP}", "prompt_response": "Noted."}
    assert json.loads(run("hook", "after-turn", "--host", "gemini", stdin=json.dumps(turn))[1]) == {}
    assert texts(store) == [LAMP]
    asked = {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": "which lamp do I read by?"}
    answer = json.loads(run("hook", "before-turn", "--host", "gemini", stdin=json.dumps(asked))[1])
    assert answer["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert "light.bedroom_lamp" in answer["hookSpecificOutput"]["additionalContext"]


def test_cursor_tells_the_prompt_and_is_told_to_go_on(run, store):
    sent = {"conversation_id": "c1", "hook_event_name": "beforeSubmitPrompt", "prompt": f"Remember that {LAMP}"}
    answer = json.loads(run("hook", "after-turn", "--host", "cursor", stdin=json.dumps(sent))[1])
    assert answer == {"continue": True}
    assert texts(store) == [LAMP]
    began = {"conversation_id": "c2", "hook_event_name": "sessionStart"}
    answer = json.loads(run("hook", "session-start", "--host", "cursor", stdin=json.dumps(began))[1])
    assert "light.bedroom_lamp" in answer["additional_context"]


# --- forms


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_every_recorded_event_that_we_listen_to_is_understood(host):
    seen = set()
    for file in payloads(host):
        given = json.loads(file.read_text(encoding="utf-8"))
        event = BY_NAME[host].hooks.get(given["hook_event_name"])
        if event is not None:
            seen.add(given["hook_event_name"])
            found = heard(host, event, given)
            assert found.skipped or found.given["conversation"] == given["session_id"], file.name
    assert seen >= {"SessionStart", "UserPromptSubmit", "Stop"}


def test_the_older_form_of_a_transcript_of_codex_is_read_too():
    lines = [
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Hello."}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "Hi."}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "injected"}]}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "UserMessage", "content": 3}}},
        {"type": "event_msg", "payload": 3},
    ]
    found = said(newest([json.dumps(each).encode() for each in lines]))
    assert [(each["role"], each["content"]) for each in found] == [("user", "Hello."), ("assistant", "Hi.")]


@pytest.mark.parametrize("host", HOOK_HOSTS)
def test_what_is_wrong_is_told_to_a_person_at_the_beginning_only(host):
    for event in set(BY_NAME[host].hooks.values()):
        answer = answered(host, event, "", ["the store is locked"])
        assert ("systemMessage" in answer) is (event == "session-start" and host != "cursor")
