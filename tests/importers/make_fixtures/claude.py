"""Makes fixtures/claude: a data export in the shape in which claude.ai sends it, with an invented person in it.

    python tests/importers/make_fixtures/claude.py tests/importers/fixtures/claude

Only the service itself can make a real one; see the README of the fixture.
"""

import json
import sys
from pathlib import Path

ACCOUNT = "00000000-0000-4000-8000-0000000000aa"
PROJECT = "0198aaaa-0000-7000-8000-000000000001"
MEMORIES = [
    {
        "conversations_memory": (
            "**Work context**\n\nAnna works at the library by the harbour. She catalogues old maps.\n\n"
            "**Personal context**\n\nAnna reads at night and prefers short answers.\n\n"
            "- Plays the cello\n- Keeps two cats:\n  Miso and Pixel\n"
        ),
        "project_memories": {PROJECT: "**Purpose**\n\nThe catalogue moves to a new database in May.\n"},
        "account_uuid": ACCOUNT,
    }
]
FILES = {
    "conversations_memory": "",
    "project_memories": {},
    "memory_files": [
        {
            "path": "/profile.md",
            "content": "# Profile\n\n- [stated] Prefers metric units\n- [inferred] Lives near Gdańsk\n",
            "updated_at": "2026-01-02T03:04:05.000000Z",
        }
    ],
    "account_uuid": ACCOUNT,
}
PROJECTS = [
    {
        "uuid": PROJECT,
        "name": "Map catalogue",
        "description": "Everything about the catalogue of maps.",
        "is_private": True,
        "is_starter_project": False,
        "prompt_template": "Always name the year of a map.\n\nAnswer in Polish.",
        "created_at": "2026-01-10T08:00:00.000000+00:00",
        "updated_at": "2026-02-11T09:30:00.000000+00:00",
        "creator": {"uuid": ACCOUNT, "full_name": "Anna"},
        "docs": [
            {"uuid": "d1", "filename": "maps.md", "content": "A long document.", "created_at": "2026-01-10T08:00:00Z"}
        ],
    }
]
CONVERSATIONS = [
    {
        "uuid": "c0000000-0000-4000-8000-000000000001",
        "name": "Maps",
        "created_at": "2026-01-10T08:00:00.000000Z",
        "updated_at": "2026-01-10T08:05:00.000000Z",
        "account": {"uuid": ACCOUNT},
        "chat_messages": [
            {
                "uuid": "m0000000-0000-4000-8000-000000000001",
                "text": "Which maps are the oldest?",
                "content": [{"type": "text", "text": "Which maps are the oldest?"}],
                "sender": "human",
                "created_at": "2026-01-10T08:00:00.000000Z",
                "updated_at": "2026-01-10T08:00:00.000000Z",
                "attachments": [],
                "files": [],
            }
        ],
    }
]
USERS = [{"uuid": ACCOUNT, "full_name": "Anna", "email_address": "anna@example.com", "verified_phone_number": None}]


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main(target):
    write(target / "export" / "memories.json", MEMORIES)
    write(target / "export" / "projects.json", PROJECTS)
    write(target / "export" / "conversations.json", CONVERSATIONS)
    write(target / "export" / "users.json", USERS)
    write(target / "by_account" / "memories" / f"{ACCOUNT}.json", FILES)
    write(target / "by_account" / "projects" / f"{PROJECT}.json", PROJECTS[0])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
