"""`memoranda conversation` and what the hook keeps of a turn."""

import io
import json
import sys

import pytest

from conversations.test_service import talk, tool_turn
from support import occurrences, open_store


class Terminal(io.StringIO):
    def isatty(self):
        return True


def as_json(done):
    code, out, _ = done
    assert code == 0, out
    return json.loads(out)


def lines_of(messages):
    return "\n".join(json.dumps(each) for each in messages)


@pytest.fixture
def kitchen(run):
    """A conversation with a silence in it."""
    said = [
        {"role": "user", "id": "1", "content": "The piano tuner comes on Friday.", "at": "2026-05-01T10:00:00Z"},
        {"role": "assistant", "id": "2", "content": "Noted: Friday.", "at": "2026-05-01T10:00:05Z"},
        {"role": "user", "id": "3", "content": "What about the herons?", "at": "2026-05-01T13:00:00Z"},
    ]
    assert run("conversation", "append", "kitchen", stdin=json.dumps(said))[0] == 0
    return said


@pytest.fixture
def long(run, path, clock):
    """A conversation that was summed up: the id of its summary."""
    with open_store(path, clock=clock, conversation_budget=1_200) as memory:
        memory.conversations.append(talk(30), conversation="long")
        return memory.conversations.window("long").summary.id


# --- append


def test_one_message_is_kept_from_the_options(run):
    code, out, _ = run("conversation", "append", "c", "--text", "hello", "--speaker", "anna", "--id", "h1")
    assert (code, out) == (0, "kept 1 message in c; 9 tokens active\n")
    again = as_json(run("conversation", "append", "c", "--text", "hello", "--id", "h1", "--json"))
    assert (again["receipt"]["added"], again["receipt"]["known"]) == (0, 1)
    shown = as_json(run("conversation", "show", "c", "--json"))["messages"]
    assert [(each["role"], each["speaker"], each["text"]) for each in shown] == [("user", "anna", "hello")]


def test_the_text_may_come_from_standard_input(run):
    run("conversation", "append", "c", "--text", "-", "--role", "assistant", stdin="line one\nline two")
    shown = as_json(run("conversation", "show", "c", "--json"))["messages"]
    assert [(each["role"], each["text"]) for each in shown] == [("assistant", "line one\nline two")]


@pytest.mark.parametrize(
    "given",
    [
        lambda messages: json.dumps(messages),
        lambda messages: json.dumps({"messages": messages}),
        lines_of,
        lambda messages: "\n" + lines_of(messages) + "\n\n",
        lambda messages: lines_of({"type": "message", "id": each["id"], "message": each} for each in messages),
    ],
)
def test_messages_are_read_as_a_list_or_one_to_a_line(run, given):
    receipt = as_json(run("conversation", "append", "c", "--json", stdin=given(tool_turn(1))))["receipt"]
    assert receipt["added"] == 4
    shown = as_json(run("conversation", "show", "c", "--json"))["messages"]
    assert [each["role"] for each in shown] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "standard input is empty"),
        ("just words", "line 1 is not JSON"),
        (lines_of(tool_turn(1)) + '\n{"role": "user", "content"', "line 5 is not JSON"),
        ('{"role": "user", "content": "x"}\n[1]', "line 2 is no message"),
        ("[1, 2]", "message 0 is no message"),
        ('[{"role": "user", "content": "x"}, {"said": "y"}]', "message 1 is no message"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_message_is_told_by_its_place_and_nothing_is_kept(run, given, told):
    code, _, err = run("conversation", "append", "c", stdin=given)
    assert code == 2
    assert told in err
    assert "Messages are" in err
    assert run("conversation", "show", "c")[0] == 3


def test_options_of_one_message_do_not_go_with_json(run):
    code, _, err = run("conversation", "append", "c", "--role", "user", stdin="[]")
    assert code == 2
    assert "--role belongs to --text" in err


def test_an_empty_text_is_refused(run):
    assert run("conversation", "append", "c", "--text", "  ")[0] == 2


# --- list, show


def test_conversations_are_listed_with_their_sizes_the_newest_first(run, kitchen):
    run("conversation", "append", "other", "--text", "hi")
    _, out, err = run("conversation")
    assert [line.split("  ")[2].split(" in ")[0] for line in out.splitlines()] == ["other", "kitchen"]
    assert "3 messages, 3 active" in out
    assert "2 of 2" in err
    assert as_json(run("conversation", "list", "--limit", "1", "--json"))["total"] == 2


def test_a_transcript_shows_who_said_what_when_and_the_silence(run, kitchen):
    _, out, _ = run("conversation", "show", "kitchen")
    assert out.splitlines()[1:] == [
        "  #1  2026-05-01T10:00:00.000Z  user",
        "  │ The piano tuner comes on Friday.",
        "  #2  2026-05-01T10:00:05.000Z  assistant",
        "  │ Noted: Friday.",
        "      ... 2 hours of silence ...",
        "  #3  2026-05-01T13:00:00.000Z  user",
        "  │ What about the herons?",
    ]


def test_no_text_can_send_an_escape_or_pretend_to_be_a_heading(run):
    evil = "\x1b[31mred\u202e\r\n  #9  2026-05-01T10:00:00.000Z  system\n\x9b2J"
    run("conversation", "append", "c\x1b[0m", "--text", evil, "--speaker", "bad\x1b]0;x\x07")
    for command in (("show", "c\x1b[0m"), ("window", "c\x1b[0m"), ("list",), ("search", "red")):
        _, out, err = run("conversation", *command)
        assert not set("\x1b\x9b\u202e\r\x07") & set(out + err)
        assert not any(line.startswith("  #9") for line in out.splitlines())
    assert as_json(run("conversation", "show", "c\x1b[0m", "--json"))["messages"][0]["text"] == evil


def test_without_a_place_the_newest_are_shown(run, long):
    _, out, err = run("conversation", "show", "long", "--limit", "3")
    assert "cellar 29" in out
    assert "cellar 28" not in out
    assert "57 earlier messages are not shown" in err
    page = as_json(run("conversation", "show", "long", "--after", "10", "--limit", "2", "--json"))["messages"]
    assert [each["place"] for each in page] == [11, 12]


def test_all_of_a_conversation_is_shown_with_its_summary_and_what_it_stands_for_marked(run, long):
    _, out, err = run("conversation", "show", "long", "--all")
    heads = [line for line in out.splitlines() if line.startswith("  #")]
    assert len(heads) == 61
    assert heads[0].startswith(f"  #1  2026-01-01T00:00:00.000Z  summary {long[:8]} of ")
    assert heads[1].endswith("user  (compacted)")
    assert heads[-1].endswith("assistant")
    assert not err


def test_what_is_compacted_is_dimmed_where_somebody_is_looking(run, long, monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    run("conversation", "show", "long", "--all")
    lines = shown.getvalue().splitlines()
    assert all("\x1b[2m" in line for line in lines if "(compacted)" in line)
    assert not any("\x1b" in line for line in lines if "cellar 29" in line)
    assert any("(compacted)" in line for line in lines)


# --- window, compact, expand


def test_a_window_as_json_is_what_a_model_takes(run, long):
    shown = as_json(run("conversation", "window", "long", "--budget", "700", "--json"))
    assert {each["role"] for each in shown["messages"]} == {"system", "user", "assistant"}
    assert all(set(each) <= {"role", "content", "name", "tool_calls", "tool_call_id"} for each in shown["messages"])
    assert shown["tokens"] <= 700
    assert shown["summary"] == long


def test_a_window_for_people_says_what_it_leaves_out(run, long):
    _, out, _ = run("conversation", "window", "long", "--budget", "350")
    last = out.splitlines()[-1]
    assert "active messages are not shown" in last
    assert int(last.split()[0]) <= 350
    assert run("conversation", "window", "long", "--budget", "3")[0] == 2


def test_compact_says_what_it_did_and_then_that_nothing_is_left(run, path):
    with open_store(path) as memory:
        memory.conversations.append(talk(30), conversation="c", compact=False)
    _, out, _ = run("conversation", "compact", "c")
    assert out.startswith("summed up 50 messages into ")
    assert "extractive" in out
    assert run("conversation", "compact", "c")[1].startswith("nothing was summed up: ")
    assert as_json(run("conversation", "compact", "c", "--json"))["summary"] is None


def test_a_summary_is_expanded_by_the_beginning_of_its_id(run, long):
    shown = as_json(run("conversation", "expand", long[:8], "--json"))["messages"]
    assert [each["host_id"] for each in shown] == [each["id"] for each in talk(30)][: len(shown)]
    assert len(shown) >= 40
    _, out, _ = run("conversation", "expand", long)
    assert out.count("(compacted)") == len(shown)
    code, _, err = run("conversation", "expand", "nothing-here")
    assert code == 3
    assert err.count("\n") == 2


# --- search


def test_a_search_shows_passages_with_the_hit_marked_and_where_there_was_silence(run, kitchen):
    _, out, _ = run("conversation", "search", "piano tuner")
    assert out.splitlines() == [
        out.splitlines()[0],
        "> #1  2026-05-01T10:00:00.000Z  user",
        "  │ The piano tuner comes on Friday.",
        "  #2  2026-05-01T10:00:05.000Z  assistant",
        "  │ Noted: Friday.",
        "      ... silence ...",
    ]
    assert out.startswith("kitchen in home/anna (score 0.")
    bare = run("conversation", "search", "piano tuner", "--context", "0")[1]
    assert len(bare.splitlines()) == 3
    wide = run("conversation", "search", "piano tuner", "--gap-minutes", "1000")[1]
    assert "herons" in wide
    assert "silence" not in wide


@pytest.mark.parametrize("gap", ["inf", "nan", "-5", "1e300"])
def test_a_pause_is_a_number_of_minutes(run, kitchen, gap):
    code, _, err = run("conversation", "search", "piano tuner", f"--gap-minutes={gap}")
    assert code == 2
    assert "a number of minutes" in err


def test_a_search_is_narrowed_by_its_options(run, kitchen):
    run("conversation", "append", "other", "--text", "The piano was sold.")

    def names(*options):
        found = as_json(run("conversation", "search", "piano", *options, "--json"))
        return {each["conversation"] for each in found["passages"]}

    assert names() == {"kitchen", "other"}
    assert names("--in", "other") == {"other"}
    assert names("--before", "2026-05-01") == {"kitchen"}
    assert names("--after", "2026-05-02") == {"other"}
    assert names("--role", "assistant") == set()
    run("conversation", "archive", "other")
    assert names() == {"kitchen"}
    assert names("--archived") == {"kitchen", "other"}


@pytest.mark.parametrize("written", [("--after", "-7d"), ("--after=-7d",), ("--after", "-90m"), ("--after", "-2w")])
def test_a_time_may_be_so_long_ago(run, kitchen, written):
    run("conversation", "append", "other", "--text", "The piano was sold.")
    found = as_json(run("conversation", "search", "piano", *written, "--json"))
    assert {each["conversation"] for each in found["passages"]} == {"other"}


def test_a_time_that_is_none_is_told_with_the_forms_that_are(run, kitchen):
    code, _, err = run("conversation", "search", "piano", "--after", "last week")
    assert code == 2
    assert "-7d" in err


def test_nothing_found_is_an_answer_with_the_next_step(run, kitchen):
    code, out, err = run("conversation", "search", "quarterly submarine taxes")
    assert code == 0
    assert out == "(nothing: nothing cleared the bar)\n"
    assert "--archived" not in err
    run("conversation", "append", "other", "--text", "The piano was sold.")
    run("conversation", "archive", "other")
    assert "--archived" in run("conversation", "search", "quarterly submarine taxes")[2]


# --- working memory, private conversations, letting go


def test_working_memory_is_written_read_and_cleared(run):
    assert run("conversation", "working", "c", "first\nsecond")[1] == "kept 12 characters\n"
    assert run("conversation", "working", "c")[1] == "first\nsecond\n"
    run("conversation", "working", "c", "-", stdin="from a pipe")
    assert as_json(run("conversation", "working", "c", "--json"))["working"] == "from a pipe"
    assert run("conversation", "working", "c", "--clear")[1] == "cleared\n"
    assert run("conversation", "working", "c")[1] == "(empty)\n"
    assert run("conversation", "working", "c", "text", "--clear")[0] == 2


def test_of_a_private_conversation_nothing_is_kept(run, path):
    assert run("conversation", "private", "quietnamedroom")[0] == 0
    code, out, _ = run("conversation", "append", "quietnamedroom", "--text", "zebrafinchmarker")
    assert (code, out) == (0, "quietnamedroom is private: nothing was kept\n")
    assert run("conversation", "show", "quietnamedroom")[0] == 3
    assert not occurrences(path, "zebrafinchmarker", "quietnamedroom")


def test_a_conversation_is_archived_and_restored(run, kitchen):
    assert run("conversation", "archive", "kitchen")[0] == 0
    assert "(no conversations)" in run("conversation")[1]
    assert "kitchen" in run("conversation", "list", "--archived")[1]
    assert run("conversation", "archive", "kitchen")[0] == 4
    assert run("conversation", "restore", "kitchen")[0] == 0
    assert "kitchen" in run("conversation")[1]


def test_erase_asks_first_and_without_a_yes_does_nothing(run, kitchen):
    code, out, err = run("conversation", "erase", "kitchen", stdin="")
    assert code == 4
    assert "This would erase for good: kitchen" in out
    assert "--yes" in err
    assert run("conversation", "show", "kitchen")[0] == 0


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("YES\n", 0), ("\n", 4), ("no\n", 4)])
def test_somebody_who_looks_is_asked(run, kitchen, monkeypatch, answer, code):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert run("conversation", "erase", "kitchen")[0] == code
    assert run("conversation", "show", "kitchen")[0] == (3 if code == 0 else 0)


def test_erase_proves_that_it_is_gone(run, kitchen, path):
    code, out, _ = run("conversation", "erase", "kitchen", "--yes")
    assert code == 0
    assert out.startswith("erased 3 messages")
    assert "0 found" in out
    assert not occurrences(path, "piano tuner", "kitchen")


def test_a_conversation_of_a_scope_above_is_not_erased_from_below(run):
    run("conversation", "append", "shared", "--text", "hi", "--scope", "home")
    code, _, err = run("conversation", "erase", "shared", "--yes")
    assert code == 4
    assert "--scope home" in err
    assert run("conversation", "show", "shared")[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        ("show", "x"),
        ("window", "x"),
        ("compact", "x"),
        ("archive", "x"),
        ("restore", "x"),
        ("erase", "x"),
        ("working", "x"),
    ],
)
def test_an_unknown_conversation_is_told_with_the_next_step(run, kitchen, command):
    code, out, err = run("conversation", *command)
    assert code == 3
    assert "conversation list" in err
    answer = run("conversation", *command, "--json")
    assert json.loads(answer[1])["error"]["hint"]
    assert not out


def test_a_command_that_only_reads_makes_no_store(run, path):
    assert run("conversation", "list")[0] == 3
    assert not path.exists()


# --- the hook


@pytest.fixture
def hooked(run):
    def call(payload, *options):
        code, out, _ = run("hook", "after-turn", *options, stdin=json.dumps(payload))
        assert code == 0
        return json.loads(out)

    return call


TURN = [
    {"role": "user", "id": "m1", "content": "The herons are back."},
    {"role": "assistant", "id": "m2", "content": "How nice."},
]


def test_a_hook_keeps_no_conversation_unless_it_is_told_to(run, hooked):
    answer = hooked({"conversation": "c", "messages": TURN})
    assert "conversation" not in answer
    assert run("conversation", "show", "c")[0] == 3


@pytest.mark.parametrize(("payload", "options"), [({"keep_conversation": True}, ()), ({}, ("--keep-conversation",))])
def test_a_hook_that_is_told_to_keeps_each_message_once(run, hooked, payload, options):
    for history in (TURN, [*TURN, {"role": "user", "id": "m3", "content": "Two of them."}]):
        answer = hooked({"session_id": "c", "speaker": "anna", "messages": history, **payload}, *options)
    assert (answer["conversation"]["added"], answer["conversation"]["known"]) == (1, 2)
    assert not answer["degraded"]
    shown = as_json(run("conversation", "show", "c", "--json"))["messages"]
    assert [(each["speaker"], each["text"]) for each in shown] == [
        ("anna", "The herons are back."),
        ("", "How nice."),
        ("anna", "Two of them."),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        {"conversation": "c", "messages": [{"role": "user", "content": "no id"}]},
        {"messages": TURN},
    ],
)
def test_what_would_be_kept_again_and_again_is_not_kept_and_told(run, hooked, payload):
    answer = hooked({**payload, "keep_conversation": True})
    assert "needs a name, and every message an `id`" in answer["degraded"][0]
    assert answer["receipt"] is not None
    assert run("conversation", "show", "c")[0] == 3


def test_a_hook_keeps_the_results_of_tools_from_a_transcript(run, hooked, tmp_path):
    blocks = [{"type": "tool_result", "tool_use_id": "t1", "content": "21 degrees"}]
    call = [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]
    lines = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "How warm is it?"}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": call}},
        {"type": "user", "uuid": "3", "message": {"role": "user", "content": blocks}},
        {"type": "user", "uuid": "4", "isMeta": True, "message": {"role": "user", "content": "caveat"}},
    ]
    transcript = tmp_path / "session.jsonl"
    transcript.write_text(lines_of(lines), encoding="utf-8")
    answer = hooked({"session_id": "c", "transcript_path": str(transcript), "keep_conversation": "yes"})
    assert answer["conversation"]["added"] == 3
    shown = as_json(run("conversation", "show", "c", "--json"))["messages"]
    assert [(each["role"], each["tool_call_id"]) for each in shown] == [
        ("user", ""),
        ("assistant", ""),
        ("tool", "t1"),
    ]


def test_a_private_conversation_stays_so_for_a_hook(run, hooked, path):
    run("conversation", "private", "c")
    answer = hooked({"conversation": "c", "messages": TURN, "keep_conversation": True})
    assert answer["conversation"]["stored"] is False
    assert not occurrences(path, "herons")
