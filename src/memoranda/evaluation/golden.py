"""A golden set: memories, and questions with what they must bring, as JSON lines. Read and checked whole, up front.

A line is `{"memory": {...}}`, a question `{"query": ..., "scope": ..., "expect": [...]}` or `{"about": ...}`, a title.
Without memory lines the questions are for a store that is there already, and `expect` holds its ids.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.clock import to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.scope import Scope
from memoranda.evaluation.lines import read_objects, wrong

_MEMORY_FIELDS = frozenset(
    {
        *("key", "scope", "text", "kind", "about", "attribute", "value", "context", "importance", "confidence"),
        *("source", "source_ref", "basis", "speaker", "conversation", "tags", "lang", "metadata"),
        *("occurred_at", "valid_from", "valid_until", "supersedes"),
    }
)
FILTERS = frozenset(
    {
        *("speaker", "kind", "about", "source", "time_after", "time_before", "importance_min", "states", "as_of"),
        *("mode", "trust", "prefer_speaker", "filter_tags"),
    }
)
"""What a question may pass on to recall. `tags` are the question's own; the filter by tags is `filter_tags`."""
_QUERY_FIELDS = FILTERS | {"query", "scope", "expect", "forbid", "abstain", "tags", "now"}


class GoldenMemory(NamedTuple):
    """One memory to be kept before the questions are asked."""

    line: int
    key: str
    scope: str
    supersedes: str
    fields: Mapping[str, Any]
    """What `remember` is given, the text among it."""


class GoldenQuestion(NamedTuple):
    """One question: what must come, what must not, or that nothing may."""

    line: int
    query: str
    scope: str
    expect: tuple[str, ...]
    forbid: tuple[str, ...]
    abstain: bool
    tags: tuple[str, ...]
    now: int | None
    filters: Mapping[str, Any]


class GoldenSet(NamedTuple):
    """A whole file, checked: every key that is named exists."""

    path: Path
    about: str
    memories: tuple[GoldenMemory, ...]
    questions: tuple[GoldenQuestion, ...]


def read_golden(path: Path, *, scope: str = "") -> GoldenSet:
    """The golden set in this file, or an error that names the line. `scope` is for lines that name none."""
    about: list[str] = []
    memories: dict[str, GoldenMemory] = {}
    questions: list[GoldenQuestion] = []
    for number, row in read_objects(path):
        if "memory" in row:
            _only(path, number, row, frozenset({"memory"}))
            memory = _memory(path, number, row["memory"], memories, scope)
            memories[memory.key] = memory
        elif "query" in row:
            questions.append(_question(path, number, {"scope": scope, **row}))
        else:
            _only(path, number, row, frozenset({"about"}))
            _text(path, number, row, "about")
            about.append(row["about"])
    if not questions:
        raise InvalidInput(f"{path} has no question", hint='Add a line such as {"query": ..., "expect": [...]}.')
    if memories:
        _check_keys(path, questions, memories)
    return GoldenSet(path, " ".join(about), tuple(memories.values()), tuple(questions))


def _memory(path: Path, number: int, given: Any, before: Mapping[str, GoldenMemory], scope: str) -> GoldenMemory:
    if not isinstance(given, dict):
        raise wrong(path, number, "a memory is an object with key, scope and text")
    given = {"scope": scope, **given}
    _only(path, number, given, _MEMORY_FIELDS)
    for name in ("key", "scope", "text"):
        _text(path, number, given, name)
    key, supersedes = given["key"], given.get("supersedes", "")
    if key in before:
        raise wrong(path, number, f"the key {key!r} is there twice, first in line {before[key].line}")
    if supersedes and supersedes not in before:
        raise wrong(path, number, f"it supersedes {supersedes!r}, which no line above has as its key")
    _scope(path, number, given["scope"])
    fields = {name: value for name, value in given.items() if name not in ("key", "scope", "supersedes")}
    return GoldenMemory(number, key, given["scope"], supersedes, fields)


def _question(path: Path, number: int, row: Mapping[str, Any]) -> GoldenQuestion:
    _only(path, number, row, _QUERY_FIELDS)
    _text(path, number, row, "query")
    _text(path, number, row, "scope")
    _scope(path, number, row["scope"])
    expect, forbid, tags = (_texts(path, number, row, name) for name in ("expect", "forbid", "tags"))
    abstain = row.get("abstain", False)
    if not isinstance(abstain, bool):
        raise wrong(path, number, "abstain is true or false")
    if abstain and expect:
        raise wrong(path, number, "it expects something and says that nothing should come")
    if not (abstain or expect or forbid):
        raise wrong(path, number, "a question needs expect, forbid or abstain")
    if both := set(expect) & set(forbid):
        raise wrong(path, number, f"{sorted(both)[0]!r} is both expected and forbidden")
    filters = {name: row[name] for name in FILTERS - {"filter_tags"} if name in row}
    if "filter_tags" in row:
        filters["tags"] = _texts(path, number, row, "filter_tags")
    now = _now(path, number, row.get("now"))
    return GoldenQuestion(number, row["query"], row["scope"], expect, forbid, abstain, tags, now, filters)


def _now(path: Path, number: int, given: Any) -> int | None:
    try:
        return None if given is None else to_ms(given, name="now")
    except InvalidInput as error:
        raise wrong(path, number, str(error)) from error


def _check_keys(path: Path, questions: list[GoldenQuestion], memories: Mapping[str, GoldenMemory]) -> None:
    for question in questions:
        for key in (*question.expect, *question.forbid):
            if key not in memories:
                raise wrong(path, question.line, f"no memory has the key {key!r}")
        for key in question.expect:
            if not Scope(question.scope).sees(memories[key].scope):
                raise wrong(
                    path, question.line, f"{key!r} is in {memories[key].scope}, which {question.scope} cannot see"
                )


def _only(path: Path, number: int, row: Mapping[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted(set(row) - known):
        raise wrong(path, number, f"{unknown[0]!r} is not known here; known are {', '.join(sorted(known))}")


def _text(path: Path, number: int, row: Mapping[str, Any], name: str) -> None:
    if not isinstance(row.get(name), str) or not row[name].strip():
        raise wrong(path, number, f"{name} is missing, or is not a text")


def _texts(path: Path, number: int, row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = row.get(name, [])
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise wrong(path, number, f"{name} is a list of texts")
    return tuple(dict.fromkeys(given))


def _scope(path: Path, number: int, given: str) -> None:
    try:
        Scope(given)
    except InvalidInput as error:
        raise wrong(path, number, str(error)) from error
