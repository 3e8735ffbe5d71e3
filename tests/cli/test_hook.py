"""What hosts run around a turn: one JSON object in, one out, exit code 0, within the time."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoranda.cli import hook
from memoranda.embedding.layout import prepared
from memoranda.testing.servers import ChatServer, EmbeddingServer
from support import open_store

EMPTY_BEFORE = {"context": "", "tokens": 0, "items": [], "receipt": None}
EMPTY_AFTER = {"kept": [], "waiting": 0, "receipt": None}
LAMP = "Remember that I read by light.bedroom_lamp."


@pytest.fixture
def hooked(run, monkeypatch):
    """Run a hook in this process: (its answer, stderr). The exit code is 0, whatever it is given."""
    # On a machine with other work two seconds may be too few; tests of the time limit give their own.
    monkeypatch.setenv("MEMORANDA_HOOK_SECONDS", "20")

    def runner(event, given, *options):
        text = given if isinstance(given, str) else json.dumps(given)
        code, out, err = run("hook", event, *options, stdin=text)
        assert code == 0, err
        (line,) = out.splitlines()
        return json.loads(line), err

    return runner


@pytest.fixture
def process(path, model_cache):
    """Run a hook as a host does: (its answer, stderr, seconds)."""

    def runner(event, given, *options, **settings):
        variables = {"store": path, "scope": "home/anna", "cache": model_cache, "embedder": "none", **settings}
        named = {f"MEMORANDA_{name.upper()}": str(value) for name, value in variables.items()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "memoranda", "hook", event, *options],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=50,
            env={**kept, **named},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr, time.monotonic() - began

    return runner


def user(text):
    return {"messages": [{"role": "user", "content": text}]}


# --- a turn


def test_what_a_turn_asked_to_keep_is_in_the_context_of_the_next(hooked):
    kept, err = hooked("after-turn", {**user(LAMP), "conversation": "c1", "speaker": "anna"})
    assert err == ""
    assert kept.keys() == {"kept", "waiting", "receipt", "degraded", "elapsed_ms"}
    ((identity, kind),) = [each.values() for each in kept["kept"]]
    assert (kind, kept["waiting"], kept["degraded"]) == ("entity", 0, [])
    assert kept["receipt"]["kept"] == [identity]

    answer, err = hooked("before-turn", {"prompt": "which lamp do I read by?", "conversation": "c2"})
    assert err == ""
    assert answer.keys() == {"context", "tokens", "items", "receipt", "degraded", "elapsed_ms"}
    assert answer["context"].startswith("<relevant-memories nonce=")
    assert "light.bedroom_lamp" in answer["context"]
    assert answer["tokens"] > 0
    ((shown),) = answer["items"]
    assert (shown["id"], shown["kind"]) == (identity, "entity")
    assert 0 < shown["score"] <= 1
    assert answer["receipt"]["pack"]["included"] == [identity]


def test_after_a_turn_no_text_comes_out(hooked):
    answer, err = hooked("after-turn", user("Remember that zanzibar is an island. I prefer zanzibar."))
    assert answer["kept"]
    assert "zanzibar" not in json.dumps(answer) + err


def test_the_whole_history_may_be_given_every_time(hooked):
    history = user(LAMP)["messages"]
    first, _ = hooked("after-turn", {"messages": history, "session_id": "s"})
    history += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "I prefer short answers."}]
    second, _ = hooked("after-turn", {"messages": history, "session_id": "s"})
    assert (len(first["kept"]), len(second["kept"])) == (1, 1)
    assert second["receipt"]["refused"]["already seen"] == 1


def test_nothing_is_kept_of_a_turn_that_failed_and_no_store_is_made(hooked, path):
    answer, err = hooked("after-turn", {**user(LAMP), "success": False})
    assert {name: answer[name] for name in EMPTY_AFTER} == EMPTY_AFTER
    assert (answer["degraded"], err) == ([], "")
    assert not path.exists()


@pytest.mark.parametrize("kind", ["cron", "heartbeat"])
def test_of_a_session_that_is_no_conversation_nothing_is_kept(hooked, kind):
    answer, _ = hooked("after-turn", {**user(LAMP), "kind": kind})
    assert answer["kept"] == []
    assert answer["receipt"]["refused"] == {"not a conversation": 1}


def test_what_waits_is_counted_and_not_shown(hooked):
    answer, _ = hooked("after-turn", {**user("I prefer short answers."), "mode": "review"})
    assert (answer["kept"], answer["waiting"]) == ([], 1)
    assert hooked("before-turn", {"prompt": "how long should answers be?"})[0]["context"] == ""


def test_what_an_assistant_wrote_is_not_given_to_a_model_unasked(hooked, path):
    with open_store(path) as memory:
        memory.remember("The lamp is blue.", source="assistant")
    answer, _ = hooked("before-turn", {"prompt": "which colour has the lamp?"})
    assert (answer["context"], answer["items"]) == ("", [])


def test_a_trivial_prompt_gets_an_empty_context_and_the_reason(hooked):
    hooked("after-turn", user(LAMP))
    answer, _ = hooked("before-turn", {"prompt": "ok👍"})
    assert (answer["context"], answer["receipt"]["abstained"], answer["degraded"]) == ("", "trivial prompt", [])


@pytest.mark.parametrize("shape", ["xml", "markdown", "json"])
def test_budget_limit_format_and_policy_are_obeyed(hooked, shape):
    hooked("after-turn", user("Remember that the red lamp is broken. Remember that the blue lamp is new."))
    asked = {"prompt": "what about the lamp?", "format": shape, "limit": 1, "policy": "broad"}
    one, _ = hooked("before-turn", asked)
    assert len(one["items"]) == 1
    assert one["receipt"]["pack"]["format"] == shape
    assert one["receipt"]["request"]["policy"] == "broad"
    none, _ = hooked("before-turn", {**asked, "budget": 5})
    assert (none["context"], none["receipt"]["pack"]["abstained"]) == ("", "budget too small")


def test_the_receipt_can_be_replayed(hooked, run, tmp_path):
    hooked("after-turn", user(LAMP))
    answer, _ = hooked("before-turn", {"prompt": "which lamp do I read by?"})
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer), encoding="utf-8")
    code, out, _ = run("replay", str(file))
    assert code == 0, out


# --- what hosts call it


@pytest.mark.parametrize("name", hook._NAMES["prompt"])
def test_the_prompt_may_have_the_names_that_hosts_use(hooked, name):
    hooked("after-turn", user(LAMP))
    assert hooked("before-turn", {name: "which lamp do I read by?", "hook_event_name": "UserPromptSubmit"})[0]["items"]


@pytest.mark.parametrize("name", hook._NAMES["conversation"])
def test_the_conversation_may_have_the_names_that_hosts_use(hooked, name):
    hooked("after-turn", {**user(LAMP), name: "c1"})
    again, _ = hooked("after-turn", {**user(LAMP), "conversation": "c1"})
    assert again["receipt"]["refused"] == {"already seen": 1}


def test_a_speaker_may_be_a_number_as_some_hosts_have_it(hooked, path):
    hooked("after-turn", {**user(LAMP), "sender_id": 4711})
    with open_store(path) as memory:
        assert [each.speaker for each in memory.list()] == ["4711"]


def test_the_profile_of_the_speaker_is_in_the_context(hooked, path):
    with open_store(path) as memory:
        memory.profile.add("traits", "reads at night", speaker="anna")
    with_speaker, _ = hooked("before-turn", {"prompt": "turn on the light", "speaker": "anna"})
    without, _ = hooked("before-turn", {"prompt": "turn on the light"})
    assert "reads at night" in with_speaker["context"]
    assert "reads at night" not in without["context"]


@pytest.mark.parametrize("success", [False, 0, 0.0, "no", "No", "false", " FALSE ", "0", "off"])
def test_a_turn_that_failed_may_be_told_as_text_or_as_a_number(hooked, path, success):
    answer, err = hooked("after-turn", {**user(LAMP), "success": success})
    assert (answer["kept"], answer["receipt"], answer["degraded"], err) == ([], None, [], "")
    assert not path.exists()


@pytest.mark.parametrize("success", [True, 1, "yes", "true", "ok", "1", None])
def test_any_other_word_is_a_turn_that_went_well(hooked, success):
    assert hooked("after-turn", {**user(LAMP), "success": success})[0]["kept"]


@pytest.mark.parametrize("prompt", [5, 0, True, 2.5, ["which lamp?"], {}, None])
def test_a_prompt_that_is_no_text_is_missing(hooked, prompt):
    hooked("after-turn", user(LAMP))
    answer, err = hooked("before-turn", {"prompt": prompt})
    assert answer["context"] == ""
    assert "`prompt` is missing" in answer["degraded"][0]
    assert "`prompt` is missing" in err


def test_the_prompt_is_the_first_text_among_its_names(hooked):
    hooked("after-turn", user(LAMP))
    assert hooked("before-turn", {"prompt": 5, "message": "which lamp do I read by?"})[0]["items"]


# --- transcripts


def line(role, content, **more):
    return {"type": role, "message": {"role": role, "content": content}, "sessionId": "s", **more}


TRANSCRIPT = [
    {"type": "summary", "summary": "Remember that the summary is no memory.", "leafUuid": "x"},
    line("user", "Remember that this caveat is no memory.", isMeta=True),
    line("user", "Remember that the errand of another agent is no memory.", isSidechain=True),
    line("user", "Remember that what was compacted is no memory.", isCompactSummary=True),
    line("user", LAMP, uuid="u-1", timestamp="2026-01-16T19:00:00.000Z"),
    line("assistant", [{"type": "text", "text": "Noted."}, {"type": "tool_use", "name": "Bash", "input": {}}]),
    line("user", [{"type": "tool_result", "content": "Remember that tool output is no memory."}], timestamp="soon"),
    line("user", 7),
    {"type": "file-history-snapshot", "snapshot": {}},
]


@pytest.fixture
def transcript(tmp_path):
    """Write a transcript as a host keeps it, with a line that is only half written: its path."""

    def writer(lines, name="session.jsonl"):
        file = tmp_path / name
        file.write_text("\n".join(map(json.dumps, lines)) + '\n{"type": "user", "mess', encoding="utf-8")
        return str(file)

    return writer


@pytest.mark.parametrize("name", hook._NAMES["transcript"])
def test_the_messages_of_a_transcript_are_captured_and_what_the_host_wrote_is_not(hooked, path, transcript, name):
    answer, err = hooked("after-turn", {"session_id": "s", name: transcript(TRANSCRIPT), "hook_event_name": "Stop"})
    assert (len(answer["kept"]), answer["degraded"], err) == (1, [], "")
    with open_store(path) as memory:
        assert [each.text for each in memory.list()] == ["I read by light.bedroom_lamp."]


def test_a_transcript_that_grows_is_looked_at_from_where_it_ended(hooked, transcript):
    given = {"session_id": "s", "transcript_path": transcript(TRANSCRIPT)}
    assert hooked("after-turn", given)[0]["receipt"]["new"] == 2
    assert hooked("after-turn", given)[0]["receipt"]["new"] == 0
    transcript([*TRANSCRIPT, line("user", "I prefer short answers.", uuid="u-2")])
    again, _ = hooked("after-turn", given)
    assert (again["receipt"]["new"], len(again["kept"])) == (1, 1)


def test_messages_win_over_a_transcript(hooked, transcript):
    answer, _ = hooked("after-turn", {"messages": [], "transcript_path": transcript(TRANSCRIPT)})
    assert (answer["kept"], answer["receipt"]["messages"]) == ([], 0)


def test_lines_of_other_hosts_are_read_too(hooked, transcript):
    lines = [{"role": "user", "content": LAMP}, {"type": "message", "message": {"role": "user", "content": "Hm."}}]
    lines.append({"type": "message", "message": {"role": "toolResult", "content": "Remember that it is a tool."}})
    answer, _ = hooked("after-turn", {"transcript_path": transcript(lines)})
    assert (len(answer["kept"]), answer["receipt"]["messages"]) == (1, 2)


def test_of_a_long_transcript_the_newest_part_is_read(hooked, transcript, monkeypatch):
    from memoranda.hosts import transcripts as reading

    long = transcript([line("user", f"Word number {number}.") for number in range(50)] + TRANSCRIPT)
    monkeypatch.setattr(reading, "MOST_BYTES", len(json.dumps(TRANSCRIPT)) + 60)
    answer, _ = hooked("after-turn", {"session_id": "s", "transcript_path": long})
    assert len(answer["kept"]) == 1
    assert answer["receipt"]["messages"] < 10
    monkeypatch.setattr(reading, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(reading, "MOST_MESSAGES", 5)
    assert hooked("after-turn", {"session_id": "t", "transcript_path": long})[0]["receipt"]["messages"] == 5


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder that is neither in the home folder nor in the one for temporary files."""
    for name in ("home", "temporary", "outside"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "outside"


def _refused(folder, transcript):
    """Paths that a host has no business with: (path, what is told)."""
    home = folder.parent / "home"
    secret = transcript(TRANSCRIPT, "outside/secret.jsonl")
    (home / "link.jsonl").symlink_to(secret)
    (home / "folder.jsonl").mkdir()
    os.mkfifo(home / "pipe.jsonl")
    kept = Path(transcript(TRANSCRIPT, "home/notes.txt"))
    return [
        (secret, "inside the home folder"),
        (str(home / "link.jsonl"), "inside the home folder"),
        (f"{home}/../outside/secret.jsonl", "inside the home folder"),
        (str(home / "folder.jsonl"), "regular file"),
        (str(home / "pipe.jsonl"), "regular file"),
        (str(kept), ".jsonl"),
        (str(home / "nothing.jsonl"), "there is no transcript"),
        ("~nobody-of-this-name/x.jsonl", "transcript_path"),
        ("a\0b.jsonl", "not a path"),
        ("", "not a path"),
        (7, "not a path"),
        (["x"], "not a path"),
    ]


def test_only_a_regular_transcript_inside_the_home_or_temporary_folder_is_read(hooked, outside, transcript, path):
    for given, told in _refused(outside, transcript):
        answer, err = hooked("after-turn", {"session_id": "s", "transcript_path": given})
        assert (answer["kept"], answer["receipt"]) == ([], None), given
        assert told in answer["degraded"][0], given
        assert "bedroom" not in err
    assert not path.exists()
    for place in ("home/good.jsonl", "temporary/good.jsonl"):
        answer, _ = hooked("after-turn", {"session_id": place, "transcript_path": transcript(TRANSCRIPT, place)})
        assert answer["degraded"] == [], place
        assert answer["receipt"]["new"] == 2
    assert hooked("after-turn", {"session_id": "tilde", "transcript_path": "~/good.jsonl"})[0]["receipt"]["new"] == 2


def test_a_relative_path_is_refused(hooked, outside, transcript, monkeypatch):
    transcript(TRANSCRIPT, "home/good.jsonl")
    monkeypatch.chdir(outside.parent / "home")
    assert "inside the home folder" in hooked("after-turn", {"transcript_path": "good.jsonl"})[0]["degraded"][0]


def test_a_home_that_is_everything_confines_nothing(hooked, outside, transcript, monkeypatch):
    monkeypatch.setenv("HOME", "/")
    secret = transcript(TRANSCRIPT, "outside/secret.jsonl")
    assert "inside the home folder" in hooked("after-turn", {"transcript_path": secret})[0]["degraded"][0]


# --- scope


def test_a_scope_inside_the_configured_one_is_used(hooked):
    hooked("after-turn", {**user(LAMP), "scope": "home/anna/work"})
    prompt = {"prompt": "which lamp do I read by?"}
    assert hooked("before-turn", {**prompt, "scope": "home/anna/work"})[0]["items"]
    assert not hooked("before-turn", prompt)[0]["items"]


@pytest.mark.parametrize("scope", ["home", "home/ben", "home/annabel", "", 7, [], {}, "../x", "home/anna/"])
@pytest.mark.parametrize("event", ["before-turn", "after-turn"])
def test_any_other_scope_is_refused_and_nothing_is_read_or_kept(hooked, path, scope, event):
    with open_store(path, "home/ben") as memory:
        memory.remember("Ben reads by light.bedroom_lamp.")
        before = memory._engine.ledger.sequence()
    answer, err = hooked(event, {**user(LAMP), "prompt": "which lamp?", "scope": scope})
    assert answer["degraded"]
    assert err
    assert not answer.get("context")
    assert not answer.get("kept")
    with open_store(path, "home/ben") as memory:
        assert memory._engine.ledger.sequence() == before


def test_without_any_scope_nothing_is_done(hooked, monkeypatch, path):
    monkeypatch.delenv("MEMORANDA_SCOPE")
    answer, _ = hooked("after-turn", user(LAMP))
    assert "a scope is needed" in answer["degraded"][0]
    assert not path.exists()
    named, _ = hooked("after-turn", {**user(LAMP), "scope": "bot-1/group-7"})
    assert named["kept"]


# --- whatever goes wrong


BAD = [
    "",
    "no",
    "[]",
    "3",
    "null",
    '"text"',
    "{",
    "{}",
    '{"prompt": 3.5, "messages": 3}',
    "[" * 9_999,
    '{"prompt": []}',
]


@pytest.mark.parametrize("given", BAD, ids=lambda given: given[:20])
@pytest.mark.parametrize("event", ["before-turn", "after-turn"])
def test_bad_input_gives_an_empty_answer_and_the_reason(hooked, path, event, given):
    hooked("after-turn", user(LAMP))
    answer, err = hooked(event, given)
    empty = EMPTY_BEFORE if event == "before-turn" else EMPTY_AFTER
    assert {name: answer[name] for name in empty} == empty
    (reason,) = answer["degraded"]
    assert reason in err


@pytest.mark.parametrize(
    "wrong", [{"budget": "many"}, {"limit": -1}, {"format": "yaml"}, {"policy": "wild"}, {"conversation": ["c"]}]
)
def test_a_wrong_field_is_named(hooked, wrong):
    hooked("after-turn", user(LAMP))
    answer, _ = hooked("before-turn", {"prompt": "which lamp?", **wrong})
    assert answer["context"] == ""
    assert next(iter(wrong)) in answer["degraded"][0]


def test_a_bad_message_or_mode_keeps_nothing(hooked):
    for wrong in ({"messages": [{"content": LAMP}]}, {**user(LAMP), "mode": "all"}):
        answer, err = hooked("after-turn", wrong)
        assert (answer["kept"], len(answer["degraded"])) == ([], 1)
        assert "bedroom" not in err


def test_before_the_first_turn_there_is_no_store_and_none_is_made(hooked, path):
    answer, err = hooked("before-turn", {"prompt": "which lamp?"})
    assert {name: answer[name] for name in EMPTY_BEFORE} == EMPTY_BEFORE
    assert "there is no store" in answer["degraded"][0]
    assert "there is no store" in err
    assert not path.exists()


@pytest.mark.parametrize("event", ["before-turn", "after-turn"])
def test_a_damaged_store_is_told_and_not_touched(hooked, path, event):
    path.write_bytes(b"this is no store" * 400)
    answer, _ = hooked(event, {**user(LAMP), "prompt": "which lamp?"})
    assert len(answer["degraded"]) == 1
    assert path.read_bytes() == b"this is no store" * 400


def test_wrong_settings_are_told(hooked, monkeypatch):
    monkeypatch.setenv("MEMORANDA_MAX_TEXT", "many")
    answer, _ = hooked("before-turn", {"prompt": "which lamp?"})
    assert "max_text" in answer["degraded"][0]


def test_what_we_did_wrong_is_told_without_the_words_of_anybody(hooked, monkeypatch):
    def broken(*_):
        raise RuntimeError("zanzibar")

    monkeypatch.setitem(hook._WORK, "before-turn", broken)
    answer, err = hooked("before-turn", {"prompt": "zanzibar?"})
    assert answer["degraded"] == ["this is our fault: RuntimeError; please report it"]
    assert "zanzibar" not in err


def test_too_much_input_is_refused(hooked, monkeypatch):
    monkeypatch.setattr(hook, "_MOST_INPUT", 100)
    assert "on standard input" in hooked("before-turn", {"prompt": "x" * 100})[0]["degraded"][0]


@pytest.mark.parametrize(
    "line",
    [
        ["hook"],
        ["hook", "during-turn"],
        ["hook", "before-turn", "--seconds", "soon"],
        ["hook", "before-turn", "--seconds", "0"],
        ["hook", "before-turn", "--seconds", "-1"],
        ["hook", "before-turn", "--seconds", "nan"],
        ["hook", "before-turn", "--nothing"],
    ],
    ids=" ".join,
)
def test_only_a_wrong_command_line_is_an_error(run, line):
    assert run(*line, stdin="{}")[0] == 2


# --- time


def test_a_store_that_is_locked_is_told_within_the_time(hooked, path):
    with open_store(path) as memory:
        memory.remember("the lamp is red")
        with memory._engine.ledger.database._writing:
            writer = memory._engine.ledger.database._writer
            writer.execute("begin immediate")
            began = time.monotonic()
            answer, err = hooked("after-turn", user(LAMP), "--seconds", "1")
            took = time.monotonic() - began
            writer.execute("rollback")
    assert answer["kept"] == []
    assert "held the store" in err or "locked" in err or "out of time" in err
    assert took < 1.5


def test_when_the_time_is_over_the_process_ends_though_the_work_hangs(path):
    with subprocess.Popen(
        [sys.executable, "-m", "memoranda", "hook", "before-turn", "--seconds", "0.3"],
        stdin=subprocess.PIPE,  # and never closed: the host forgot it
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMORANDA_STORE": str(path)},
    ) as started:
        began = time.monotonic()
        answer = json.loads(started.stdout.readline())
        assert started.wait(timeout=10) == 0
    assert answer["degraded"] == ["out of time: it was not done within 0.3 s"]
    assert {name: answer[name] for name in EMPTY_BEFORE} == EMPTY_BEFORE
    assert time.monotonic() - began < 8


def test_an_embedder_that_hangs_costs_one_turn_and_not_the_next(process, path, model_cache):
    prepared(Path(model_cache))
    with EmbeddingServer(dimensions=48) as server:
        remote = {"embedder": "compatible:some-model", "embedder_url": server.openai_url}
        with open_store(path) as memory:
            memory.remember("Anna reads by light.bedroom_lamp.")
        server.fail("hang", times=99)
        prompt = {"prompt": "which lamp does Anna read by?"}
        first, err, took = process("before-turn", prompt, "--seconds", "5", **remote)
        assert first["degraded"]
        assert err
        asked = len(server.requests)
        assert asked
        second, _, _ = process("before-turn", prompt, "--seconds", "8", **remote)
    assert took < 15
    assert len(server.requests) == asked, "it was asked again although it hangs"
    assert "light.bedroom_lamp" in second["context"]
    assert any("left alone until" in reason for reason in second["degraded"])
    assert second["elapsed_ms"] < 8_000


def test_a_model_that_hangs_costs_nothing_of_what_is_plain(process):
    with ChatServer() as server:
        server.fail("hang", times=9)
        remote = {"extractor": "compatible:some-model", "extractor_url": server.openai_url}
        answer, _, _ = process("after-turn", user(LAMP), "--seconds", "6", **remote)
        assert server.requests
    assert len(answer["kept"]) == 1
    assert any("extractor" in reason for reason in answer["degraded"])


def test_on_a_new_machine_a_turn_goes_by_words_until_the_model_is_unpacked(process, path, tmp_path):
    settings = {"embedder": "auto", "cache": tmp_path / "cache"}
    kept, _, _ = process(
        "after-turn", user("Remember that the physician comes on Monday."), "--seconds", "9", **settings
    )
    first, _, _ = process("before-turn", {"prompt": "when does the physician come?"}, "--seconds", "9", **settings)
    for answer in (kept, first):
        assert any("not unpacked yet" in reason for reason in answer["degraded"])
    assert [each["id"] for each in first["items"]] == [each["id"] for each in kept["kept"]]
    for _ in range(400):
        if list((tmp_path / "cache").glob("*/complete")) and not (tmp_path / "cache" / "unpacking").exists():
            break
        time.sleep(0.1)
    assert [each.name for each in (tmp_path / "cache").iterdir()] == [prepared(tmp_path / "cache").name]
    second, _, _ = process("before-turn", {"prompt": "when do I see the doctor?"}, "--seconds", "9", **settings)
    assert second["degraded"] == []
    assert "semantic" in second["receipt"]["lanes"]
    assert second["items"]


def test_what_was_committed_before_the_time_was_over_stays(process, path):
    done, _, _ = process("after-turn", user(LAMP), "--seconds", "20")
    assert done["kept"]
    with open_store(path) as memory:
        assert [each.id for each in memory.list()] == [each["id"] for each in done["kept"]]


def test_a_hook_imports_no_terminal_and_no_network(tmp_path):
    program = (
        "import sys\nfrom memoranda.cli import hook\n"
        "heavy = {'numpy', 'apsw', 'rich', 'threading', 'queue', 'http.client', 'memoranda.service.memory', "
        "'memoranda.capture', 'memoranda.tools'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [name for name in json.loads(done.stdout.replace("'", '"')) if name != "threading"] == []
