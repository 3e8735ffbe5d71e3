"""Conversations of our own writing, with what a summary of each has to keep and what it must not say.

A file is one language of one half: `tuned` was looked at while the tables were written, `held` was written before
them and is only counted; its four stories are told in all nine languages. Each case is a few turns that matter (`U:`
user, `A:` assistant, `C:` a tool call and `R:` its result), followed by the strings that have to be kept: `!` numbers
and ids, `=` sentences of decisions, wishes and things to do. The small talk of both halves is put around them, so that
what matters is less than a tenth; `~` marks those of its lines that are nothing but courtesy and must never be quoted.
"""

import random
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.message import Message, ToolCall, assistant, user

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "pl", "de", "es", "fr", "cs", "zh", "ja", "ko")
HALVES = ("tuned", "held")


class Case(NamedTuple):
    """One labelled conversation."""

    name: str
    half: str
    language: str
    messages: tuple[Message, ...]
    particulars: tuple[str, ...]
    sentences: tuple[str, ...]
    courtesies: tuple[str, ...]


def cases(half: str) -> list[Case]:
    """Every case of one half."""
    found = []
    for language in LANGUAGES:
        parts = {each: _sections(each, language) for each in HALVES}
        small_talk = [turn for each in HALVES for turn in _turns(parts[each]["small talk"])]
        courtesies = tuple(line[2:].strip() for line in parts[half]["small talk"] if line[1:2] == "~")
        for title, lines in parts[half].items():
            if title == "small talk":
                continue
            turns = _turns(lines)
            messages = _woven(turns, small_talk, seed=f"{half} {language} {title}")
            marked = {mark: tuple(line[2:] for line in lines if line[0] == mark) for mark in "!="}
            found.append(Case(title, half, language, messages, marked["!"], marked["="], courtesies))
    return found


def _sections(half: str, language: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (FOLDER / half / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            lines = sections.setdefault(line[3:], [])
        elif line.startswith("- "):
            lines[-1] += "\n" + line
        elif line:
            lines.append(line)
    return sections


def _turns(lines: list[str]) -> list[list[Message]]:
    """Messages in turns: each begins with what a user says."""
    turns: list[list[Message]] = []
    for number, line in enumerate(lines):
        mark, text = line[0], line[2:].strip()
        if mark == "U":
            turns.append([user(text)])
        elif mark == "A":
            turns[-1].append(assistant(text))
        elif mark == "C":
            name, _, arguments = text.partition(" ")
            turns[-1].append(Message("assistant", "", tool_calls=(ToolCall(f"call{number}", name, arguments),)))
        elif mark == "R":
            turns[-1].append(Message("tool", text, tool_call_id=f"call{number - 1}"))
    return turns


def _woven(turns: list[list[Message]], small_talk: list[list[Message]], *, seed: str) -> tuple[Message, ...]:
    """The turns in their order with small talk between them, ending with the last turn: the same every time."""
    chance = random.Random(seed)
    talk = chance.sample(small_talk, len(small_talk))
    places = sorted(chance.randrange(len(turns)) for _ in talk)
    woven: list[Message] = []
    for place, turn in enumerate(turns):
        for at, said in zip(places, talk, strict=True):
            if at == place:
                woven += said
        woven += turn
    return tuple(woven)
