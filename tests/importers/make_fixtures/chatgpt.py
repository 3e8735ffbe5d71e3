"""Makes fixtures/chatgpt: a data export in the shape in which ChatGPT sends it, with an invented person in it.

    python tests/importers/make_fixtures/chatgpt.py tests/importers/fixtures/chatgpt

Only the service itself can make a real one; see the README of the fixture.
"""

import json
import sys
from pathlib import Path

BEGIN = 1767225600.0  # 2026-01-01
PROFILE = "Preferred name: Anna\nRole: librarian"
WISHES = "Answer shortly. Use metric units."
AROUND = "The user provided the following information about themselves.\nUser profile:\n```{}```"


def text(*parts):
    return {"content_type": "text", "parts": list(parts)}


def node(name, role, content, *, at, to="all", tool=None, **metadata):
    return {
        "id": name,
        "author": {"role": role, "name": tool, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": metadata,
        "recipient": to,
        "channel": None,
    }


def conversation(number, title, messages):
    names = ["root", *(message["id"] for message in messages)]
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": names[1:2]}}
    for at, message in enumerate(messages, start=1):
        mapping[names[at]] = {
            "id": names[at],
            "message": message,
            "parent": names[at - 1],
            "children": names[at + 1 : at + 2],
        }
    made = f"c0000000-0000-4000-8000-{number:012d}"
    return {
        "title": title,
        "create_time": BEGIN + number * 86400,
        "update_time": BEGIN + number * 86400 + 60,
        "mapping": mapping,
        "current_node": names[-1],
        "conversation_id": made,
        "id": made,
    }


def instructions(name):
    return node(
        name,
        "user",
        {
            "content_type": "user_editable_context",
            "user_profile": AROUND.format(PROFILE),
            "user_instructions": AROUND.format(WISHES),
        },
        at=None,
        is_visually_hidden_from_conversation=True,
        is_user_system_message=True,
        user_context_message_data={"about_user_message": PROFILE, "about_model_message": WISHES},
    )


def shown(name, *memories):
    listed = "\n\n".join(f"{at}. [{day}]. {said}" for at, (day, said) in enumerate(memories, start=1))
    return node(name, "assistant", {"content_type": "model_editable_context", "model_set_context": listed}, at=None)


def main(target):
    cello = "User plays the cello."
    conversations = [
        conversation(
            2,
            "Supper",
            [
                instructions("b1"),
                shown("b2", ("2025-11-02", "User works at a library."), ("2026-01-02", cello)),
                node("b3", "user", text("Remember that I do not eat meat."), at=BEGIN + 172810),
                node("b4", "assistant", text("User does not eat meat."), at=BEGIN + 172811.5, to="bio"),
                node("b5", "tool", text("Model set context updated."), at=BEGIN + 172812, tool="bio"),
                node("b6", "assistant", text("I will remember that."), at=BEGIN + 172813),
            ],
        ),
        conversation(
            1,
            "Music",
            [
                instructions("a1"),
                shown("a2", ("2025-11-02", "User works at a library.")),
                node("a3", "user", text("I play the cello."), at=BEGIN + 86410),
                node("a4", "assistant", text(cello), at=BEGIN + 86411, to="bio"),
                node("a5", "tool", text("Model set context updated."), at=BEGIN + 86412, tool="bio"),
                node("a6", "assistant", text("Nobody answered this call."), at=BEGIN + 86413, to="bio"),
                node("a7", "assistant", text("Lovely!"), at=BEGIN + 86414),
            ],
        ),
    ]
    target.mkdir(parents=True, exist_ok=True)
    user = {"id": "user-anna", "email": "anna@example.com", "chatgpt_plus_user": False}
    for name, value in (("conversations.json", conversations), ("user.json", user)):
        (target / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
