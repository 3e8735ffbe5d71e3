"""Transcripts of hosts: what was said comes out whole and in order, and nothing in a file can stop the reading."""

import json
import tracemalloc
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda import InvalidInput
from memoranda.conversations.transcripts import FORMATS, HEAD, Bad, LeftOut, Spoken, detect, pieces, read

FOLDER = Path(__file__).parent / "transcripts"
FILES = {
    "openclaw.jsonl": "openclaw",
    "claude_code.jsonl": "claude_code",
    "chatgpt.json": "chatgpt",
    "openai.json": "openai",
    "openai.jsonl": "openai",
    "openai_conversations.jsonl": "openai",
}
RAW = {name: (FOLDER / name).read_bytes() for name in FILES}
every_file = pytest.mark.parametrize("file", FILES)


def items(raw, host, name="talk"):
    return list(read(lambda: BytesIO(raw), format=host, name=name))


def spoken(raw, host):
    return [item for item in items(raw, host) if isinstance(item, Spoken)]


def messages(raw, host):
    return [(item.conversation, item.message) for item in spoken(raw, host)]


def said(raw, host):
    return [(item.message.role, item.message.text) for item in spoken(raw, host)]


def bad(raw, host):
    return [(item.number, item.reason) for item in items(raw, host) if isinstance(item, Bad)]


def left_out(raw, host):
    counted = Counter()
    for item in items(raw, host):
        if isinstance(item, LeftOut):
            counted[item.why] += item.messages
    return dict(counted)


def jsonl(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# -- each host --


def test_openclaw():
    found = spoken(RAW["openclaw.jsonl"], "openclaw")
    assert [(each.message.id, each.message.role, each.message.text) for each in found] == [
        ("a1000001", "user", "Which lamp do I read by?"),
        ("a1000002", "assistant", "Let me look."),
        ("a1000003", "tool", "- Anna reads by light.bedroom_lamp"),
        ("a1000004", "tool", "2026-02-06.md\n\n[image]"),
        ("a1000005", "assistant", "You read by light.bedroom_lamp."),
        ("a1000007", "user", "Dziękuję! Zażółć gęślą jaźń 🪔"),
        ("a1000009", "assistant", "Nie ma za co."),
    ]
    assert {(each.conversation, each.title) for each in found} == {("b96c88e2-b875-4762-a8c3-fd495a27f5bd", "Lamps")}
    assert [call.id for call in found[1].message.tool_calls] == [each.message.tool_call_id for each in found[2:4]]
    assert found[2].message.speaker == "read"
    assert left_out(RAW["openclaw.jsonl"], "openclaw") == {"record": 5, "repeated": 1, "summary": 1, "meta": 2}


def test_claude_code():
    found = spoken(RAW["claude_code.jsonl"], "claude_code")
    assert [(each.message.role, each.message.text, each.number) for each in found] == [
        ("user", "We decided to deploy with Ansible. Check both hosts.", 4),
        ("assistant", "I check both.", 6),
        ("assistant", "", 7),
        ("assistant", "", 8),
        ("tool", "alpha is up", 11),
        ("tool", "beta is down\n\n[image]", 12),
        ("assistant", "alpha is up, beta is down.", 13),
        ("user", "What does this show?\n\n[image]", 17),
        ("assistant", "A lamp.", 19),
    ]
    called = [call.id for each in found for call in each.message.tool_calls]
    assert (
        called == [each.message.tool_call_id for each in found if each.message.role == "tool"] == ["toolu_A", "toolu_B"]
    )
    assert {each.title for each in found} == {"Deploying with Ansible"}
    expected = {"summary": 3, "record": 3, "meta": 2, "empty": 1, "sidechain": 2}
    assert left_out(RAW["claude_code.jsonl"], "claude_code") == expected


def test_chatgpt():
    found = spoken(RAW["chatgpt.json"], "chatgpt")
    assert [(each.title, each.message.role, each.message.text) for each in found] == [
        ("Seventeen by 23", "user", "How much is 17 × 23?"),
        ("Seventeen by 23", "assistant", ""),
        ("Seventeen by 23", "tool", "391"),
        ("Seventeen by 23", "assistant", "It is 391."),
        ("Seventeen by 23", "user", "[image]\n\nAnd this?"),
        ("Seventeen by 23", "assistant", "A boiler, Model B-7."),
        ("Leaving", "user", 'Remember that I leave at seven "sharp" {[\\'),
        ("Leaving", "assistant", "Noted."),
    ]
    (call,) = found[1].message.tool_calls
    assert (call.name, call.arguments, call.id) == ("python", "17*23", found[2].message.tool_call_id)
    assert found[0].message.at == 1762383601500
    assert [each.number for each in found] == [1] * 6 + [2] * 2
    assert left_out(RAW["chatgpt.json"], "chatgpt") == {"meta": 2, "empty": 2, "branch": 1}


def test_openai_reads_a_list_and_lines_alike():
    as_list, as_lines = (messages(RAW[f"openai.{end}"], "openai") for end in ("json", "jsonl"))
    assert as_list == as_lines
    assert [(message.role, message.text) for _, message in as_list] == [
        ("system", "You are brief."),
        ("user", "Weather in Łódź and 北京?"),
        ("assistant", ""),
        ("tool", "7 °C"),
        ("tool", "12 °C"),
        ("assistant", "7 °C and 12 °C."),
        ("user", "And what is this?\n\n[image]"),
        ("assistant", "A kettle."),
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_openai_reads_an_object_with_messages(indent):
    whole = json.dumps({"messages": json.loads(RAW["openai.json"])}, indent=indent).encode()
    assert messages(whole, "openai") == messages(RAW["openai.json"], "openai")


def test_conversations_one_to_a_line_have_their_own_names_or_the_next():
    raw = RAW["openai_conversations.jsonl"] + jsonl({"messages": [{"role": "user", "content": "third"}]})
    raw += jsonl([{"role": "user", "content": "fourth"}])
    found = spoken(raw, "openai")
    assert [each.conversation for each in found] == ["talk"] * 3 + ["weather-2"] * 2 + ["talk#3", "talk#4"]
    assert found[3].title == "Kettle"


def test_lists_one_to_a_line_are_conversations():
    raw = jsonl(*([{"role": "user", "content": text}] for text in ("one", "two")))
    assert [(name, message.text) for name, message in messages(raw, "openai")] == [("talk", "one"), ("talk#2", "two")]


def test_the_order_of_results_does_not_matter_in_a_turn_of_several_calls():
    rows = [json.loads(line) for line in RAW["claude_code.jsonl"].splitlines()]
    alpha, beta, after = 10, 11, 12  # where they stand in the file
    rows[alpha], rows[beta] = rows[beta], rows[alpha]
    rows[after]["parentUuid"] = rows[beta]["uuid"]
    swapped = said(jsonl(*rows), "claude_code")
    assert sorted(swapped) == sorted(said(RAW["claude_code.jsonl"], "claude_code"))
    # The session ends while one of the results is the last line.
    assert said(jsonl(*rows[:after]), "claude_code") == swapped[:6]
    assert [text for _, text in swapped[4:6]] == ["beta is down\n\n[image]", "alpha is up"]


# -- which branch --


def turn(name, parent, text, role="user", **more):
    return {"type": role, "uuid": name, "parentUuid": parent, "message": {"role": role, "content": text}, **more}


def entry(name, parent, text, role="user"):
    return {"type": "message", "id": name, "parentId": parent, "message": {"role": role, "content": text}}


@pytest.mark.parametrize(("host", "make"), [("claude_code", turn), ("openclaw", entry)])
def test_what_was_taken_back_is_left_out_and_counted(host, make):
    raw = jsonl(
        make("1", None, "tea"),
        make("2", "1", "Here is tea.", "assistant"),
        make("3", "2", "with milk"),
        make("4", "3", "Here is milk.", "assistant"),
        make("5", "2", "with lemon"),
        make("6", "5", "Here is lemon.", "assistant"),
    )
    assert [text for _, text in said(raw, host)] == ["tea", "Here is tea.", "with lemon", "Here is lemon."]
    assert left_out(raw, host) == {"branch": 2}


@pytest.mark.parametrize(("host", "make"), [("claude_code", turn), ("openclaw", entry)])
def test_a_new_beginning_leaves_out_what_was_before(host, make):
    raw = jsonl(make("1", None, "tea"), make("2", "1", "Tea.", "assistant"), make("3", None, "coffee"))
    assert said(raw, host) == [("user", "coffee")]


@pytest.mark.parametrize(("host", "make"), [("claude_code", turn), ("openclaw", entry)])
def test_a_parent_that_was_lost_costs_nothing_else(host, make):
    raw = jsonl(make("1", None, "tea")) + b'{"broken\n' + jsonl(make("3", "2", "milk"), make("4", "3", "lemon"))
    assert [text for _, text in said(raw, host)] == ["tea", "milk", "lemon"]
    assert bad(raw, host) == [(2, "not JSON")]


@pytest.mark.parametrize(("host", "make"), [("claude_code", turn), ("openclaw", entry)])
def test_lines_without_ids_or_parents_are_all_there(host, make):
    rows = [make(str(number), None, f"tea {number}") for number in range(4)]
    for row in rows:
        for key in ("id", "uuid", "parentId", "parentUuid"):
            row.pop(key, None)
    assert [text for _, text in said(jsonl(*rows), host)] == [f"tea {number}" for number in range(4)]
    assert len({each.message.id for each in spoken(jsonl(*rows), host)}) == 4


@pytest.mark.parametrize(("host", "make"), [("claude_code", turn), ("openclaw", entry)])
def test_a_line_that_is_there_twice_is_read_once(host, make):
    raw = jsonl(make("1", None, "tea"), make("2", "1", "Tea.", "assistant"), make("1", None, "tea"))
    assert [text for _, text in said(raw, host)] == ["tea", "Tea."]
    assert left_out(raw, host) == {"repeated": 1}


def test_what_was_said_before_a_compaction_stays_whichever_way_the_host_begins_anew():
    before = [turn("1", None, "tea"), turn("2", "1", "Tea.", "assistant")]
    after = [turn("5", "4", "milk")]
    summary = turn("4", None, "You talked about tea.", isCompactSummary=True)
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "3", "parentUuid": None}
    for middle in (
        [summary],
        [boundary, {**summary, "parentUuid": "3"}],
        [{**boundary, "logicalParentUuid": "2"}, {**summary, "parentUuid": "3"}],
        [{**boundary, "logicalParentUuid": "of another file"}, {**summary, "parentUuid": "3"}],
    ):
        raw = jsonl(*before, *middle, *after)
        assert [text for _, text in said(raw, "claude_code")] == ["tea", "Tea.", "milk"]


def test_a_line_of_the_host_that_hangs_elsewhere_does_not_end_the_conversation():
    late = {"type": "progress", "uuid": "9", "parentUuid": "1", "data": {}}
    raw = jsonl(turn("1", None, "tea"), turn("2", "1", "Tea.", "assistant"), turn("3", "2", "milk"), late)
    assert [text for _, text in said(raw, "claude_code")] == ["tea", "Tea.", "milk"]


def test_sessions_that_were_joined_in_one_file_are_all_there():
    openclaw = b"".join(
        jsonl({"type": "session", "id": name}, entry("1", None, f"hello {name}"), entry("2", "1", "Hi.", "assistant"))
        for name in ("one", "two")
    )
    claude = jsonl(*(turn(f"{name}-{n}", None, f"{name} {n}", sessionId=name) for name in ("one", "two") for n in (1,)))
    assert [(name, message.text) for name, message in messages(openclaw, "openclaw")] == [
        ("one", "hello one"),
        ("one", "Hi."),
        ("two", "hello two"),
        ("two", "Hi."),
    ]
    assert [name for name, _ in messages(claude, "claude_code")] == ["one", "two"]


def test_a_summary_names_only_the_conversation_of_its_leaf():
    raw = jsonl(
        {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"},
        {"type": "summary", "summary": "About tea", "leafUuid": "2"},
        turn("1", None, "tea", sessionId="one"),
        turn("2", "1", "Tea.", "assistant", sessionId="one"),
    )
    assert {each.title for each in spoken(raw, "claude_code")} == {"About tea"}


def test_a_mirrored_answer_that_says_something_else_is_kept():
    mirror = entry("2", "1", "Sent to the channel.", "assistant")
    mirror["message"]["model"] = "delivery-mirror"
    raw = jsonl(entry("1", None, "Tell them.", "user"), mirror)
    assert said(raw, "openclaw") == [("user", "Tell them."), ("assistant", "Sent to the channel.")]


def grown(**change):
    conversation = json.loads(RAW["chatgpt.json"])[0]
    conversation.update(change)
    return json.dumps([conversation]).encode()


def test_without_a_current_message_the_last_end_of_the_tree_is_taken():
    for current in (None, "nowhere", ["n4"]):
        assert said(grown(current_node=current), "chatgpt")[-1] == ("assistant", "A boiler, Model B-7.")
    assert said(grown(current_node="n4"), "chatgpt") == [("user", "How much is 17 × 23?"), ("assistant", "It is 400.")]


def test_a_tree_that_is_a_circle_ends():
    mapping = json.loads(RAW["chatgpt.json"])[1]["mapping"]
    mapping["m1"]["parent"] = "m2"
    raw = json.dumps([{"mapping": mapping, "current_node": "m2"}]).encode()
    assert len(said(raw, "chatgpt")) == 2


def test_a_single_conversation_of_chatgpt_is_read_too():
    one = json.dumps(json.loads(RAW["chatgpt.json"])[0], indent=1).encode()
    assert messages(one, "chatgpt") == messages(RAW["chatgpt.json"], "chatgpt")[:6]


def test_a_tool_may_answer_in_several_messages():
    mapping = {}
    for number, (role, text) in enumerate(
        [("assistant", "search"), ("tool", "one"), ("tool", "two"), ("tool", "three")]
    ):
        message = {
            "author": {"role": role},
            "recipient": "browser" if number == 0 else "all",
            "content": {"text": text},
        }
        mapping[str(number)] = {"message": message, "parent": str(number - 1), "children": []}
    raw = json.dumps([{"mapping": mapping, "current_node": "3"}]).encode()
    assert [message.tool_call_id for _, message in messages(raw, "chatgpt")] == ["", "0", "0", "0"]


def test_a_call_that_nothing_answered_is_what_was_said():
    mapping = {
        "1": {"message": {"author": {"role": "user"}, "content": {"parts": ["go"]}}, "parent": None, "children": ["2"]},
        "2": {
            "message": {"author": {"role": "assistant"}, "recipient": "python", "content": {"text": "17*23"}},
            "parent": "1",
            "children": [],
        },
    }
    raw = json.dumps([{"mapping": mapping, "current_node": "2"}]).encode()
    assert [(m.text, m.tool_calls) for _, m in messages(raw, "chatgpt")] == [("go", ()), ("17*23", ())]


# -- what is wrong with files --


@every_file
def test_a_mark_of_the_encoding_and_other_ends_of_lines_change_nothing(file):
    raw = RAW[file]
    expected = messages(raw, FILES[file])
    assert messages(b"\xef\xbb\xbf" + raw, FILES[file]) == expected
    assert messages(raw.replace(b"\n", b"\r\n"), FILES[file]) == expected
    assert messages(raw.rstrip(b"\n"), FILES[file]) == expected
    assert messages(b"\n \n" + raw + b"\n\n", FILES[file]) == expected


@pytest.mark.parametrize("host", ["openai", "openclaw", "claude_code"])
def test_bad_lines_are_told_by_number_and_skipped(host):
    one, two = jsonl(turn("1", None, "tea")), jsonl(turn("2", "1", "milk"))
    raw = one + b"\n" + b'{"half": \n' + b"[[[[\n" + b"7\n" + b'"text"\n' + two + b'{"type":"user","mess'
    assert [text for _, text in said(raw, host)] == ["tea", "milk"]
    told = bad(raw, host)
    assert [number for number, _ in told] == [3, 4, 5, 6, 8]
    assert [reason for _, reason in told][:2] == ["not JSON", "not JSON"]
    assert told[-1] == (8, "cut off")


def test_bytes_that_are_no_text_are_replaced_and_said_once():
    raw = jsonl(turn("1", None, "t#a"), turn("2", "1", "m#lk")).replace(b"#", b"\xff")
    assert [text for _, text in said(raw, "claude_code")] == ["t�a", "m�lk"]
    assert bad(raw, "claude_code") == [(1, "bytes that are not UTF-8 were replaced (said once)")]


@pytest.mark.parametrize("host", FORMATS)
def test_deep_nesting_and_odd_numbers_are_bad_or_read(host):
    deep = b'{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    odd = b'{"type":"user","uuid":"1","message":{"role":"user","content":"tea"},"timestamp":NaN}\n'
    odd += b'{"type":"user","uuid":"2","message":{"role":"user","content":"milk"},"timestamp":1e999}\n'
    odd += b'{"type":"user","uuid":"3","n":' + b"9" * 5000 + b',"message":{"role":"user","content":"lemon"}}\n'
    found = items(deep + odd, host)
    assert "nested too deep" in [item.reason for item in found if isinstance(item, Bad)]
    if host != "chatgpt":
        assert [
            (text, at) for text, at in ((i.message.text, i.message.at) for i in found if isinstance(i, Spoken))
        ] == [
            ("tea", None),
            ("milk", None),
        ]


def test_a_line_that_is_too_long_is_bad_and_is_never_held(monkeypatch):
    monkeypatch.setattr(pieces, "LONGEST_LINE", 300)
    monkeypatch.setattr(pieces, "_CHUNK", 64)
    raw = jsonl(turn("1", None, "tea"), turn("2", "1", "x" * 5_000), turn("3", "2", "milk"))
    assert [text for _, text in said(raw, "claude_code")] == ["tea", "milk"]
    assert bad(raw, "claude_code") == [(2, "too long")]
    assert bad(raw[:3_000], "claude_code") == [(2, "too long")]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_entries_are_found_however_the_file_is_cut_into_chunks(chunk, monkeypatch):
    monkeypatch.setattr(pieces, "_CHUNK", chunk)
    for file in ("chatgpt.json", "openai.json"):
        found = items(RAW[file], FILES[file])
        monkeypatch.setattr(pieces, "_CHUNK", 1 << 20)
        assert found == items(RAW[file], FILES[file])
        monkeypatch.setattr(pieces, "_CHUNK", chunk)


def test_an_entry_that_is_too_long_is_bad_and_the_next_is_read(monkeypatch):
    monkeypatch.setattr(pieces, "_CHUNK", 64)
    monkeypatch.setattr(pieces, "LONGEST_ENTRY", 400)
    rows = [{"role": "user", "content": text} for text in ("tea", 'x"{' * 2_000, "milk")]
    raw = json.dumps(rows).encode()
    assert [text for _, text in said(raw, "openai")] == ["tea", "milk"]
    assert bad(raw, "openai") == [(2, "too long")]


def test_an_entry_that_is_none_is_bad_and_the_next_is_read():
    raw = b'[{"role":"user","content":"tea"}, 7, {"role": nonsense}, {"role":"user","content":"milk"}] and more'
    assert [text for _, text in said(raw, "openai")] == ["tea", "milk"]
    assert bad(raw, "openai") == [(2, "no message"), (3, "not JSON"), (5, "not JSON")]


def test_a_list_that_was_cut_off_between_its_entries_is_one_complaint():
    raw = b'[{"role":"user","content":"tea"}, nul'
    assert said(raw, "openai") == [("user", "tea")]
    assert bad(raw, "openai") == [(2, "cut off")]


def test_an_entry_that_is_too_long_is_never_held(monkeypatch):
    monkeypatch.setattr(pieces, "LONGEST_ENTRY", 1 << 20)
    raw = b'[{"role":"user","content":"' + b"x" * (24 << 20) + b'"}]'
    tracemalloc.start()
    try:
        found = items(raw, "openai")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.reason for item in found] == ["too long"]
    assert most < 8 << 20


def test_a_message_that_cannot_be_read_is_told_with_its_place():
    conversation = {
        "messages": [{"role": "user", "content": 7}, 8, {"role": "user"}, {"role": "user", "content": "tea"}]
    }
    raw = jsonl(conversation)
    assert [text for _, text in said(raw, "openai")] == ["tea"]
    assert bad(raw, "openai") == [
        (1, "the content and the speaker of a message are text"),
        (1, "no message at place 2"),
    ]
    assert left_out(raw, "openai") == {"empty": 1}


def test_what_is_added_during_the_reading_is_left_to_the_next_time():
    whole = jsonl(turn("1", None, "tea"), turn("2", "1", "milk"))
    half = whole[:-10]
    opened = iter([half, whole])
    found = list(read(lambda: BytesIO(next(opened)), format="claude_code", name="talk"))
    assert [(type(item), item.number) for item in found] == [(Spoken, 1), (Bad, 2)]
    again = items(whole, "claude_code")
    assert again[0] == found[0]
    assert again[1].message.text == "milk"


def test_what_was_opened_is_closed():
    opened = []

    def source():
        opened.append(BytesIO(RAW["openclaw.jsonl"]))
        return opened[-1]

    list(read(source, format="openclaw", name="talk"))
    assert len(opened) == 2
    assert all(stream.closed for stream in opened)


def test_an_unknown_format_is_refused_at_once():
    with pytest.raises(InvalidInput, match="no format"):
        read(lambda: BytesIO(b""), format="carrier_pigeon", name="talk")


# -- detection --


@every_file
def test_the_format_is_told_by_the_beginning(file):
    assert detect(RAW[file][:HEAD]) == FILES[file]
    assert detect(b"\xef\xbb\xbf" + RAW[file][:HEAD]) == FILES[file]


@pytest.mark.parametrize("file", ["chatgpt.json", "openai.json", "claude_code.jsonl"])
def test_the_format_is_told_by_a_part_of_a_long_first_line(file):
    assert detect(RAW[file].replace(b"\n", b" ")[:900]) == FILES[file]


def test_words_of_a_message_do_not_tell_the_format():
    message = {"role": "user", "content": 'Explain {"mapping": {}, "parentUuid": 1}'}
    for text in (json.dumps([message], indent=1), json.dumps(message), json.dumps([message])[:-3]):
        assert detect(text.encode()) == "openai"


@pytest.mark.parametrize("head", [b"", b"hello", b"\x00\xff", b"[]", b"{}", b"[1, 2]"])
def test_what_is_no_transcript_is_refused_with_a_hint(head):
    with pytest.raises(InvalidInput) as refused:
        detect(head)
    assert "openclaw" in refused.value.hint


# -- whatever is in the file --


@every_file
def test_reading_again_gives_the_same_and_every_message_has_a_name_of_its_own(file):
    found = spoken(RAW[file], FILES[file])
    assert found == spoken(RAW[file], FILES[file])
    names = [(each.conversation, each.message.id) for each in found]
    assert all(name for _, name in names)
    assert len(set(names)) == len(names)


def test_those_who_repeat_themselves_say_it_twice():
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    raw = jsonl(*[{"role": "user", "content": "yes"}] * 3, {"role": "user", "content": [result, result]})
    assert len({each.message.id for each in spoken(raw, "openai")}) == 5


@every_file
def test_offsets_grow_to_the_end(file):
    offsets = [item.offset for item in items(RAW[file], FILES[file])]
    assert offsets == sorted(offsets)
    assert len(RAW[file]) - 3 <= offsets[-1] <= len(RAW[file])


@every_file
def test_a_file_that_was_cut_anywhere_gives_a_prefix_and_at_most_one_complaint(file):
    whole = messages(RAW[file], FILES[file])
    step = 1 if len(RAW[file]) < 2_000 else 7
    for end in range(0, len(RAW[file]), step):
        found = items(RAW[file][:end], FILES[file])
        before = [(item.conversation, item.message) for item in found if isinstance(item, Spoken)]
        assert before == whole[: len(before)], end
        assert sum(isinstance(item, Bad) for item in found) <= 1, end


@pytest.mark.parametrize("host", FORMATS)
@settings(deadline=None)
@given(raw=st.binary(max_size=300))
@example(raw=b"[" * 5_000)
@example(raw=b'{"mapping": {"a": 1}, "current_node": []}')
@example(raw=b'{"type": [], "message": {"role": {}, "content": {}}, "uuid": {}, "id": []}')
def test_no_bytes_stop_the_reading(host, raw):
    items(raw, host)


@pytest.mark.parametrize("host", FORMATS)
@settings(deadline=None)
@given(
    file=st.sampled_from(sorted(FILES)), at=st.integers(0, 9_000), length=st.integers(0, 40), put=st.binary(max_size=9)
)
def test_no_damage_to_a_real_file_stops_the_reading(host, file, at, length, put):
    raw = RAW[file]
    for item in items(raw[:at] + put + raw[at + length :], host):
        if isinstance(item, Spoken):
            assert item.message.id
            item.message.text.encode()
            (item.conversation + item.title).encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("file", [name for name in FILES if name.endswith("l")])
@settings(deadline=None)
@given(data=st.data())
def test_no_value_in_the_place_of_another_stops_the_reading(file, data):
    rows = [json.loads(line) for line in RAW[file].splitlines()]
    row = data.draw(st.sampled_from(rows))
    holder = row["message"] if isinstance(row.get("message"), dict) and data.draw(st.booleans()) else row
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(VALUES)
    found = items(jsonl(*rows), FILES[file])
    assert len(found) >= len(rows)
