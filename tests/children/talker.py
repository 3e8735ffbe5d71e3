"""Talks in two conversations until all is said or it is killed; tells each append when it is acknowledged.

argv: store, name of this talker, the first turn, the turn before which it ends. Begun again with a turn that was told
before, it hands the same messages over again, under the same ids. Every window that it sees must be one that a model
takes; if not, it ends with an error.
"""

import json
import sys

from support import open_store

CONVERSATIONS = ("one", "two")
SETTINGS = {"conversation_budget": 2_000, "compact_messages": 0}
TURNS_AT_ONCE = 3
MESSAGES_A_TURN = 7
_SAME_CONVERSATION = 10
_LATE = 5


def conversation(turn):
    """A few turns in one, then a few in the other."""
    return CONVERSATIONS[turn // _SAME_CONVERSATION % len(CONVERSATIONS)]


def said(who, turn, last):
    """What is handed over in a turn, under the host's ids. Some results and answers come a turn late."""
    earlier = said_late(who, turn - 1) if is_late(turn - 1, last) else []
    calls = [
        {"id": f"{who}-{turn}{part}", "type": "function", "function": {"name": "read_meter", "arguments": part}}
        for part in "xy"
    ]
    now = [
        {"role": "user", "id": f"{who}-q{turn}", "content": f"What do the meters {who}{turn}x and {who}{turn}y show?"},
        {"role": "assistant", "id": f"{who}-c{turn}", "content": "", "tool_calls": calls},
        _result(who, turn, "x"),
        *([] if is_late(turn, last) else said_late(who, turn)),
        {
            "role": "user",
            "id": f"{who}-u{turn}",
            "content": f"The boiler {who}{turn} runs at {turn % 60 + 20} degrees.",
        },
        {"role": "assistant", "id": f"{who}-a{turn}", "content": f"We decided to check boiler {who}{turn} weekly."},
    ]
    return [*earlier, *now]


def _fact(who, turn):
    return f"The boiler {who}{turn} runs at {turn % 60 + 20} degrees."


def said_late(who, turn):
    return [
        _result(who, turn, "y"),
        {"role": "assistant", "id": f"{who}-s{turn}", "content": f"Both meters of {who}{turn} show {turn * 7} kWh."},
    ]


def is_late(turn, last):
    return turn >= 0 and turn % _LATE == 0 and turn + 1 < last


def _result(who, turn, part):
    return {
        "role": "tool",
        "id": f"{who}-r{turn}{part}",
        "tool_call_id": f"{who}-{turn}{part}",
        "content": f"meter {who}{turn}{part}: {turn * 7} kWh",
    }


def torn(window):
    """What no model would take: a result that does not follow its call, or a call without its results."""
    wrong, waiting = [], set()
    for each in window.for_model():
        if each["role"] == "tool":
            if each["tool_call_id"] not in waiting:
                wrong.append(f"the result {each['tool_call_id']} has no call before it")
            waiting.discard(each["tool_call_id"])
            continue
        wrong += [f"the call {call} has no result" for call in waiting]
        waiting = {call["id"] for call in each.get("tool_calls", ())}
    return wrong  # the calls of the newest exchange may still be waiting


def main():
    path, who, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    memory = open_store(path, **SETTINGS)
    conversations = memory.conversations
    print(json.dumps({"ready": who}), flush=True)
    for turn in range(first, last, TURNS_AT_ONCE):
        several = range(turn, min(turn + TURNS_AT_ONCE, last))
        known = 0
        for name in CONVERSATIONS:
            messages = [each for one in several if conversation(one) == name for each in said(who, one, last)]
            if messages:
                known += conversations.append(messages, conversation=name).receipt.known
                wrong = torn(conversations.window(name))
                assert not wrong, wrong
        print(json.dumps({"turn": turn, "known": known}), flush=True)
        if turn % (TURNS_AT_ONCE * 5) == 0:
            conversations.compact(conversation(turn))
    memory.close()
    print(json.dumps({"done": who}), flush=True)


if __name__ == "__main__":
    main()
