"""A real OpenClaw gateway with Memoranda in its slot: tools, turns, gates, a server that is away, the way back."""

import json
import time

import pytest

from hosts.openclaw.running import HOOKS_TOKEN, until

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(600)]

SCOPE = "openclaw/main"


def kept(server, scope=SCOPE):
    """The texts that the server keeps in a scope."""
    status, found = server.ask("GET", f"/v1/memories?scope={scope}&here=true&limit=200")
    assert status == 200, found
    return {memory["text"]: memory for memory in found["memories"]}


def test_all_nine_tools_over_the_gateway(claw, server):
    text, stored = claw.invoke("memory_store", {"text": "The boiler is serviced in May.", "category": "fact"})
    assert not stored["isError"], text
    assert text == f"Stored memory: {stored['id']}"
    assert (stored["action"], stored["importance"], stored["trust"]) == ("created", 0.7, "untrusted")
    assert stored["receipt"]["scope"] == SCOPE
    assert list(kept(server)) == ["The boiler is serviced in May."]
    second = claw.invoke("memory_store", {"text": "We chose PostgreSQL.", "category": "decision"})[1]

    text, recalled = claw.invoke("memory_recall", {"query": "when is the boiler serviced?"})
    assert [each["id"] for each in recalled["memories"]] == [stored["id"]] == [json.loads(text)[0]["id"]]
    assert claw.invoke("memory_recall", {"query": "quantum chromodynamics"})[0] == "No relevant memories found"
    listed = claw.invoke("memory_list", {"category": "decision"})[1]
    assert [each["id"] for each in listed["memories"]] == [second["id"]]
    stats = claw.invoke("memory_stats")[1]
    assert (stats["count"], stats["byScope"], stats["byCategory"]) == (2, {SCOPE: 2}, {"decision": 1, "fact": 1})
    found = claw.invoke("memory_search", {"query": "when is the boiler serviced?", "corpus": "memory"})[1]
    assert found["results"][0]["path"] == f"memory:{stored['id']}"
    assert {"provider", "model", "fallback", "citations", "mode"} <= set(found)
    read = claw.invoke("memory_get", {"path": found["results"][0]["path"], "from": 1, "lines": 1})[1]
    assert read["text"] == "The boiler is serviced in May."

    folder = claw.home.workspace / "memory-exports"
    text, written = claw.invoke("memory_export", {"outPath": "all.jsonl"})
    assert (written["count"], text) == (2, f"Exported 2 memories to {folder / 'all.jsonl'}")
    lines = [json.loads(line) for line in (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [stored["id"], second["id"]]
    assert (folder / "all.jsonl").stat().st_mode & 0o777 == 0o600
    looked = claw.invoke("memory_import", {"inPath": "all.jsonl", "dryRun": True})[1]
    assert (looked["wouldImport"], looked["skipped"], looked["failed"]) == (0, 2, 0)

    assert claw.invoke("memory_forget", {"memoryId": stored["id"]})[0] == f"Forgot memory: {stored['id']}"
    assert claw.invoke("memory_forget", {"id": second["id"]})[1]["action"] == "forgotten"
    assert kept(server) == {}
    (folder / "more.jsonl").write_text('{"text": "The gate code is changed in June."}\nnot JSON\n', encoding="utf-8")
    taken = claw.invoke("memory_import", {"inPath": "more.jsonl"})[1]
    assert (taken["imported"], taken["failed"], taken["failures"][0]["place"]) == (1, 1, "line 2")
    assert kept(server)["The gate code is changed in June."]["trust"] == "untrusted"


def test_a_model_names_files_of_one_folder_only(claw):
    outside = claw.home.workspace / "outside.jsonl"
    outside.write_text('{"text": "Not for import."}\n', encoding="utf-8")
    link = claw.home.workspace / "memory-exports" / "link.jsonl"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    for path in ("../outside.jsonl", str(outside), "link.jsonl", "../../openclaw.json"):
        for tool, name in (("memory_import", "inPath"), ("memory_export", "outPath")):
            text, told = claw.invoke(tool, {name: path})
            assert told["isError"], (tool, path)
            assert text.startswith("Error: "), (tool, path)
    assert outside.read_text(encoding="utf-8") == '{"text": "Not for import."}\n'


def test_what_the_user_says_is_kept_and_put_before_a_later_prompt(claw, server, model):
    claw.turn("Remember that I prefer green tea over coffee.", session="first")
    memory = until(lambda: kept(server).get("I prefer green tea over coffee."), what="the capture")
    assert (memory["trust"], memory["source"], memory["kind"]) == ("trusted", "user", "preference")
    before = len(model.prompts)
    assert "[MEM]" in claw.turn("Which tea do I prefer?", session="second")
    assert "I prefer green tea over coffee." in model.prompts[before]
    receipt = claw.receipts("recall")[-1]
    assert (receipt["scope"], receipt["returned"], receipt["top"][0]["id"]) == (SCOPE, 1, memory["id"])
    done = until(lambda: [each for each in claw.receipts("autoCapture") if each.get("storedCount")], what="a receipt")
    assert done[-1]["top"] == [memory["id"]]
    # What was put before the prompt is not captured, and the same turn not again.
    claw.turn("Thanks, that is all.", session="second")
    assert sum("green tea" in text for text in kept(server)) == 1


def test_the_model_calls_a_tool_in_a_turn(claw, server, model):
    before = len(model.prompts)
    claw.turn('CALL memory_store {"text": "Anna has a cat called Mruczek."}', session="third")
    memory = kept(server)["Anna has a cat called Mruczek."]
    assert (memory["trust"], memory["source"], bool(memory["conversation"])) == ("untrusted", "assistant", True)
    # The model reads what the tool said, and is told about the memory in its system prompt.
    assert f"Stored memory: {memory['id']}" in model.prompts[-1]
    assert "## Long-term memory" in model.prompts[before]
    # What a model wrote is never put before a prompt unasked.
    assert "[MEM]" not in claw.turn("What is the name of the cat that Anna has?", session="fourth")


def test_nothing_is_kept_of_turns_that_no_person_started(claw, server):
    body = {"message": "Remember that I prefer to be woken at six.", "name": "timer", "deliver": False}
    status, answer = claw.ask("POST", "/hooks/agent", body, token=HOOKS_TOKEN)
    assert status in (200, 202), answer
    skipped = until(
        lambda: [each for each in claw.receipts("autoCapture") if "skipped" in each], what="the end of the turn"
    )
    assert skipped[-1]["skipped"] == "a turn of cron"
    assert not any("woken" in text for text in kept(server))


def test_a_silent_server_is_in_nobodys_way_and_is_then_left_alone(claw, server, between, model):
    claw.turn("Remember that I like jasmine tea.", session="before")
    until(lambda: kept(server).get("I like jasmine tea."), what="the capture")
    between.keep_silent()
    try:
        began = time.monotonic()
        text, told = claw.invoke("memory_recall", {"query": "tea"})
        assert told["isError"]
        assert "tell the user that the memory cannot be used at the moment" in text
        assert time.monotonic() - began < 60
        answer = claw.turn("Which tea do I prefer today?", session="fifth")
        assert "Which tea do I prefer today?" in answer
        assert "[MEM]" not in answer
        until(lambda: "is left alone for 20 s" in claw.log, what="the breaker")
        assert any("recall was left out" in line for line in claw.own_lines)
        # Somebody has to try again once in a while; who asks meanwhile is told at once, and nothing reaches the server.
        assert until(lambda: _asked_nothing_of(between, claw), what="a question that is not passed on")
    finally:
        between.pass_on()
    until(lambda: not claw.invoke("memory_recall", {"query": "tea"})[1]["isError"], what="the server's return")
    assert "the memory server answers again" in claw.log
    before = len(model.prompts)
    claw.turn("Which tea do I like?", session="sixth")
    assert "I like jasmine tea." in model.prompts[before]


def _asked_nothing_of(between, claw):
    """Whether a tool said that the server is left alone, without asking it."""
    tried = between.connections
    text, told = claw.invoke("memory_recall", {"query": "tea"})
    assert told["isError"]
    return "the memory server is left alone for" in text and between.connections == tried


def test_the_log_never_quotes_what_is_remembered_or_asked(claw, server):
    assert len(claw.own_lines) > 20
    said = [*kept(server), "Which tea do I prefer", "when is the boiler serviced", server.token]
    for line in claw.own_lines:
        assert not [each for each in said if each.rstrip(".") in line], line


def test_one_line_goes_back_to_memory_core(claw):
    (claw.home.workspace / "MEMORY.md").write_text("# Memory\n\nThe spare key hangs in the shed.\n", encoding="utf-8")
    settings = claw.home.settings
    settings["plugins"]["slots"]["memory"] = "memory-core"
    claw.home.write(settings)

    def is_gone():
        status, _ = claw.ask("POST", "/tools/invoke", {"tool": "memory_store", "args": {"text": "Not kept here."}})
        return status == 404

    until(is_gone, what="the change of the slot")
    found = claw.invoke("memory_search", {"query": "spare key"})[1]
    assert "provider" in found or "results" in found
    lines = len(claw.own_lines)
    answer = claw.turn("Which tea do I prefer?", session="seventh")
    assert "Which tea do I prefer?" in answer
    assert "[MEM]" not in answer
    assert len(claw.own_lines) == lines
