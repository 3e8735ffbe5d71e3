"""Transcripts of other hosts, imported by command: every format, bad lines, and going on where it stopped."""

import json
from pathlib import Path

import pytest

from conversations.test_service import SECRET, every, talk, texts
from memoranda import user
from support import occurrences, open_store

FOLDER = Path(__file__).parent / "transcripts"
FILES = {
    "openai.json": ("openai", 8, 1),
    "openai.jsonl": ("openai", 8, 1),
    "openai_conversations.jsonl": ("openai", 5, 2),
    "openclaw.jsonl": ("openclaw", 7, 1),
    "claude_code.jsonl": ("claude_code", 9, 1),
    "chatgpt.json": ("chatgpt", 8, 2),
}


def imported(run, *arguments):
    code, out, _ = run("conversation", "import", *map(str, arguments), "--json")
    return code, json.loads(out)["files"]


@pytest.fixture
def written(tmp_path):
    """Writes a transcript of one message to a line; its path."""

    def write(messages, name="talk.jsonl", *, extra=()):
        file = tmp_path / name
        lines = [json.dumps(each) for each in messages]
        for place, line in extra:
            lines.insert(place, line)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("told", [True, False], ids=["told", "auto"])
def test_every_format_is_read_and_read_again_adds_nothing(run, name, told):
    chosen, messages, conversations = FILES[name]
    options = ("--format", chosen) if told else ()
    code, (done,) = imported(run, FOLDER / name, *options)
    assert code == 0
    assert (done["format"], done["added"], done["known"]) == (chosen, messages, 0)
    assert len(done["conversations"]) == conversations
    assert done["bad"] == []
    code, (again,) = imported(run, FOLDER / name, *options)
    assert (again["added"], again["known"]) == (0, messages)


def test_what_was_imported_is_searched_and_shown_with_its_own_times_and_title(run):
    imported(run, FOLDER / "claude_code.jsonl")
    page = json.loads(run("conversation", "list", "--json")[1])
    assert page["conversations"][0]["metadata"]["title"] == "Deploying with Ansible"
    name = page["conversations"][0]["name"]
    shown = json.loads(run("conversation", "show", name, "--all", "--json")[1])["messages"]
    assert len({each["at"] for each in shown}) > 1
    assert shown[0]["at"] < "2026-11"
    called = {call["id"] for each in shown for call in each["tool_calls"]}
    assert called == {each["tool_call_id"] for each in shown if each["role"] == "tool"}
    assert run("conversation", "search", "Ansible", "--in", name)[0] == 0


def test_several_files_are_read_and_one_name_joins_them(run, written):
    first = written(talk(2), "one.jsonl")
    second = written(talk(2, start=2), "two.jsonl")
    _, files = imported(run, first, second)
    assert [each["conversations"] for each in files] == [["one"], ["two"]]
    imported(run, first, second, "--name", "both")
    shown = json.loads(run("conversation", "show", "both", "--json")[1])["messages"]
    assert [each["text"] for each in shown] == [each["content"] for each in talk(4)]


def test_one_name_for_several_conversations_loses_none_that_share_their_ids(run, written):
    said = {
        name: [{"role": "user", "content": f"{name} says {nth}", "id": str(nth)} for nth in range(3)] for name in "AB"
    }
    file = written([{"id": name, "messages": messages} for name, messages in said.items()])
    assert imported(run, file, "--name", "all")[1][0]["added"] == 6
    shown = json.loads(run("conversation", "show", "all", "--json")[1])["messages"]
    assert [each["text"] for each in shown] == [f"{name} says {nth}" for name in "AB" for nth in range(3)]
    assert imported(run, file, "--name", "all")[1][0]["known"] == 6


def test_one_name_for_several_files_loses_none_that_share_their_ids(run, written):
    files = [
        written(
            [{"role": "user", "content": f"{name} says {nth}", "id": str(nth)} for nth in range(3)], f"{name}.jsonl"
        )
        for name in ("one", "two")
    ]
    assert [each["added"] for each in imported(run, *files, "--name", "all")[1]] == [3, 3]
    assert [each["known"] for each in imported(run, *files, "--name", "all")[1]] == [3, 3]


def test_the_name_that_a_conversation_has_anyway_changes_nothing(run, written):
    file = written(talk(2))
    imported(run, file)
    assert imported(run, file, "--name", "talk")[1][0]["known"] == 4


def test_bad_lines_are_told_by_their_number_and_the_rest_is_kept(run, written):
    file = written(talk(2), extra=[(1, "{half"), (3, '{"said": "x"}'), (6, '"just text"')])
    code, out, err = run("conversation", "import", str(file))
    assert code == 0
    assert "kept 4 messages in talk" in out
    for number in (2, 4, 7):
        assert f"talk.jsonl:{number}: " in err
    assert "3 lines skipped that could not be read" in err
    code, (done,) = imported(run, file)
    assert (code, done["bad_total"]) == (0, 3)
    assert [each["line"] for each in done["bad"]] == [2, 4, 7]
    assert done["known"] == 4


def test_a_message_that_is_too_long_is_told_by_its_number_and_the_rest_is_kept(run, written):
    huge = {"role": "tool", "content": "x " * 600_000, "id": "huge", "tool_call_id": "q"}
    messages = [*talk(2), huge, *talk(2, start=2)]
    code, (done,) = imported(run, written(messages))
    assert (code, done["added"], done["bad_total"]) == (0, 8, 1)
    assert done["bad"] == [{"line": 5, "reason": "a message of 1,200,000 characters; the limit is 1,000,000"}]
    assert imported(run, written(messages))[1][0]["known"] == 8


def test_a_message_of_exactly_the_limit_is_imported(run, written):
    code, (done,) = imported(run, written([{"role": "user", "content": "x " * 500_000, "id": "1"}]))
    assert (code, done["added"], done["bad"]) == (0, 1, [])


def test_of_very_many_bad_lines_the_first_are_told(run, written):
    file = written(talk(1), extra=[(2, "{half")] * 80)
    _, _, err = run("conversation", "import", str(file), "--format", "openai")
    assert err.count("not JSON") == 50
    assert "80 lines skipped that could not be read; the first 50 are shown" in err


def test_a_file_of_which_nothing_can_be_read_is_an_error(run, tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text("{half\n{half\n", encoding="utf-8")
    code, (done,) = imported(run, file, "--format", "openai")
    assert (code, done["added"]) == (2, 0)
    assert done["bad_total"] > 0
    code, (done,) = imported(run, file)
    assert code == 2
    assert "Say its format" in done["error"]["hint"]


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being(run, written, tmp_path):
    good = written(talk(1))
    code, out, err = run("conversation", "import", str(tmp_path / "none.jsonl"), str(tmp_path), str(good))
    assert code == 3
    assert "kept 2 messages" in out
    assert "there is no file" in err
    assert "is no file" in err
    code, files = imported(run, tmp_path / "none.jsonl", good)
    assert code == 3
    assert files[0]["error"]["name"] == "NotFound"
    assert files[1]["known"] == 2


def test_an_import_that_was_stopped_goes_on_where_it_ended(run, written, path, monkeypatch):
    messages = list(talk(400))
    file = written(messages)
    told = []

    def stop(done, total):
        told.append(done)
        if done > total / 2:
            raise KeyboardInterrupt

    with open_store(path) as memory, pytest.raises(KeyboardInterrupt):
        memory.conversations.import_transcript(file, progress=stop)
    with open_store(path) as memory:
        before = memory.conversations.get("talk").messages
        assert 300 < before < 800
    code, (done,) = imported(run, file)
    assert code == 0
    assert (done["added"], done["known"]) == (800 - before, before)
    with open_store(path) as memory:
        assert texts(every(memory.conversations, "talk")) == [each["content"] for each in messages]


def test_a_transcript_that_grew_adds_what_is_new(run, written):
    imported(run, written(talk(2)))
    _, (done,) = imported(run, written(talk(5)))
    assert (done["added"], done["known"]) == (6, 4)


def test_progress_is_told_beside_the_result(run, written, monkeypatch):
    monkeypatch.setattr("memoranda.cli.output._SOON_SECONDS", -1.0)
    code, out, err = run("conversation", "import", str(written(talk(300))), "--json")
    assert code == 0
    assert json.loads(out)["files"][0]["added"] == 600
    told = [line for line in err.splitlines() if line.startswith("reading ")]
    assert 5 < len(told) <= 12
    size = told[-1].rsplit(" of ", 1)[1]
    assert told[-1].endswith(f"{size} of {size}")


def test_the_name_of_a_file_sends_no_escape(run, written):
    file = written(talk(1), "a\x1b[31m[b].jsonl", extra=[(1, "{half")])
    code, out, err = run("conversation", "import", str(file))
    assert code == 0
    assert "\x1b" not in out + err


def test_secrets_and_packs_of_a_transcript_are_not_kept(run, written, path):
    file = written([{"role": "user", "content": f"my key is {SECRET}", "id": "1"}])
    imported(run, file)
    assert not occurrences(path, SECRET)


def test_nothing_is_imported_into_a_private_conversation(run, written, path):
    run("conversation", "private", "talk")
    file = written([{"role": "user", "content": "the zebrafinchmarker", "id": "1"}])
    code, out, _ = run("conversation", "import", str(file))
    assert code == 0
    assert "1 private and not kept" in out
    assert not occurrences(path, "zebrafinchmarker")


def test_nothing_is_summed_up_while_importing(run, written, path):
    imported(run, written(talk(400)))
    with open_store(path) as memory:
        assert memory.conversations.get("talk").active == 800
        assert memory.conversations.append([user("and now")], conversation="talk").receipt.compaction.done


def test_an_unknown_format_is_a_wrong_command(run, written):
    assert run("conversation", "import", str(written(talk(1))), "--format", "telegram")[0] == 2
