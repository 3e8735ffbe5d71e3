"""The facade, whichever face it has."""

import pytest

VERBS = (
    "remember",
    "remember_many",
    "recall",
    "pack",
    "why_not",
    "replay",
    "get",
    "list",
    "history",
    "stats",
    "archive",
    "forget",
    "restore",
    "erase",
)


@pytest.fixture
def face(memory):
    return memory
