"""The golden sets are sound: what they expect can be found, and what they forbid must not be. No engine runs here."""

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memoranda import Draft
from memoranda.domain.clock import to_ms
from memoranda.domain.memory import KINDS, Memory
from memoranda.domain.scope import Scope

FOLDER = Path(__file__).parents[2] / "golden"
NAMES = (
    "abstain",
    "chinese",
    "decisions",
    "documents",
    "identifiers",
    "mixed",
    "polish",
    "preferences",
    "time",
)
TIMES = ("now", "time_after", "time_before")
REQUIRED_OF_QUERY = {"query", "scope", "expect", "tags"}
FIELDS_OF_QUERY = REQUIRED_OF_QUERY | {"forbid", "abstain", "speaker", "kind", "about", *TIMES}
FIELDS_OF_MEMORY = (set(Draft._fields) - {"after_erase"}) | {"key", "scope"}
NOT_OF_THE_DRAFT = {"key", "scope", "supersedes"}
TAG = re.compile(r"[a-z]+(-[a-z]+)*")
ADDRESS = re.compile(r"[\w.+-]+@([\w.-]+\.\w+)")


class GoldenSet(NamedTuple):
    """One file, by the kinds of its lines."""

    titles: list[str]
    memories: dict[str, Memory]
    supersedes: dict[str, str]
    queries: list[dict[str, Any]]

    def superseded(self, key: str) -> bool:
        return key in self.supersedes.values()

    def shown_to(self, query: dict[str, Any], key: str) -> bool:
        """Whether a perfect recall may show this memory: in sight, in force, let through by the filters."""
        memory = self.memories[key]
        when = memory.occurred_at
        return (
            Scope(query["scope"]).sees(memory.scope)
            and not self.superseded(key)
            and memory.holds_at(to_ms(query["now"], name="now"))
            and all(query[name] == getattr(memory, name) for name in ("speaker", "kind", "about") if name in query)
            and ("time_after" not in query or (when is not None and when >= to_ms(query["time_after"], name="after")))
            and ("time_before" not in query or (when is not None and when < to_ms(query["time_before"], name="before")))
        )


def _lines(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _read(name: str) -> GoldenSet:
    golden = GoldenSet([], {}, {}, [])
    for line in _lines(name):
        if "query" in line:
            golden.queries.append(line)
        elif "memory" in line:
            given = line["memory"]
            fields = {field: value for field, value in given.items() if field not in NOT_OF_THE_DRAFT}
            memory = Draft(**fields).checked(Scope(given["scope"]), now=0, max_text=2_000)
            assert given["key"] not in golden.memories, f"{given['key']} is there twice"
            golden.memories[given["key"]] = memory
            if "supersedes" in given:
                golden.supersedes[given["key"]] = given["supersedes"]
        else:
            golden.titles.append(line["about"])
    return golden


SETS = {name: _read(name) for name in NAMES}
each_set = pytest.mark.parametrize("golden", SETS.values(), ids=SETS.keys())
each_name = pytest.mark.parametrize("name", NAMES)


def test_every_file_of_the_folder_is_checked_here() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.jsonl")) == sorted(NAMES)


@each_name
def test_lines_have_one_form_and_only_known_fields(name: str) -> None:
    lines = _lines(name)
    assert list(lines[0]) == ["about"]
    for line in lines:
        if "query" in line:
            assert set(line) >= REQUIRED_OF_QUERY, line
            assert set(line) <= FIELDS_OF_QUERY, line
        elif "memory" in line:
            assert list(line) == ["memory"]
            assert set(line["memory"]) <= FIELDS_OF_MEMORY, line
        else:
            assert list(line) == ["about"]


@each_name
def test_files_are_composed_unicode_with_one_newline_per_line(name: str) -> None:
    data = (FOLDER / f"{name}.jsonl").read_bytes()
    text = data.decode("utf-8")
    assert text == unicodedata.normalize("NFC", text)
    assert "\r" not in text
    assert text.endswith("}\n")
    assert "\n\n" not in text


@each_set
def test_a_set_has_a_title_and_is_large_enough_that_finding_is_not_trivial(golden: GoldenSet) -> None:
    assert len(golden.titles) == 1
    assert len(golden.memories) >= 60
    assert len(golden.queries) >= 55


def test_all_sets_together_are_large_enough_to_show_a_change() -> None:
    assert sum(len(golden.memories) for golden in SETS.values()) >= 600
    assert sum(len(golden.queries) for golden in SETS.values()) >= 580


@each_set
def test_no_text_is_kept_twice_in_a_scope(golden: GoldenSet) -> None:
    counted = Counter((memory.scope, memory.content_hash) for memory in golden.memories.values())
    assert [each for each, times in counted.items() if times > 1] == []


@each_set
def test_no_slot_is_taken_twice_without_saying_so(golden: GoldenSet) -> None:
    """A second value for the same slot would supersede the first one, and a query would expect what is gone."""
    counted = Counter(
        (memory.scope, memory.about, memory.attribute, memory.context)
        for key, memory in golden.memories.items()
        if memory.attribute and not golden.superseded(key)
    )
    assert [each for each, times in counted.items() if times > 1] == []


@each_set
def test_a_memory_supersedes_an_earlier_one_of_its_scope(golden: GoldenSet) -> None:
    order = list(golden.memories)
    for new, old in golden.supersedes.items():
        assert order.index(old) < order.index(new)
        assert golden.memories[old].scope == golden.memories[new].scope
    assert len(set(golden.supersedes.values())) == len(golden.supersedes)


@each_set
def test_every_scope_and_date_and_filter_of_a_query_is_valid(golden: GoldenSet) -> None:
    for query in golden.queries:
        assert query["query"].strip() == query["query"] != ""
        assert Scope(query["scope"]).path == query["scope"]
        for name in TIMES:
            if name in query:
                assert query[name].endswith("Z")
                assert to_ms(query[name], name=name) > 0
        assert "now" in query, query
        assert query.get("kind", KINDS[0]) in KINDS


@each_set
def test_every_query_has_tags_to_group_it_by(golden: GoldenSet) -> None:
    for query in golden.queries:
        assert query["tags"], query
        assert len(set(query["tags"])) == len(query["tags"])
        assert all(TAG.fullmatch(tag) for tag in query["tags"]), query


@each_set
def test_no_query_is_asked_twice(golden: GoldenSet) -> None:
    counted = Counter((query["scope"], query["query"].casefold(), query["now"]) for query in golden.queries)
    assert [each for each, times in counted.items() if times > 1] == []


@each_set
def test_a_query_expects_one_to_three_memories_or_says_that_there_is_none(golden: GoldenSet) -> None:
    for query in golden.queries:
        if query.get("abstain", False):
            assert query["expect"] == [], query
        else:
            assert 1 <= len(set(query["expect"])) == len(query["expect"]) <= 3, query


@each_set
def test_what_is_expected_is_there_and_may_be_shown(golden: GoldenSet) -> None:
    for query in golden.queries:
        for key in query["expect"]:
            assert key in golden.memories, (query["query"], key)
            assert golden.shown_to(query, key), (query["query"], key)


@each_set
def test_what_is_forbidden_is_there_and_may_not_be_shown(golden: GoldenSet) -> None:
    """Forbidden is what no recall may bring: out of sight, superseded, over, or filtered out. A near miss is not."""
    for query in golden.queries:
        for key in query.get("forbid", []):
            assert key in golden.memories, (query["query"], key)
            assert not golden.shown_to(query, key), (query["query"], key)


@each_set
def test_every_set_can_catch_a_leak_into_a_sibling_scope(golden: GoldenSet) -> None:
    catching = [
        query
        for query in golden.queries
        if any(not Scope(query["scope"]).sees(golden.memories[key].scope) for key in query.get("forbid", []))
    ]
    assert len(catching) >= 4
    assert len({memory.scope for memory in golden.memories.values()}) >= 3


def test_what_a_set_is_for_is_in_it() -> None:
    abstaining = [query for query in SETS["abstain"].queries if query.get("abstain")]
    assert 30 <= len(abstaining) <= len(SETS["abstain"].queries) - 30
    assert len(SETS["time"].supersedes) >= 10
    assert sum(memory.valid_until is not None for memory in SETS["time"].memories.values()) >= 8
    assert sum("nodiacritics" in query["tags"] and query["query"].isascii() for query in SETS["polish"].queries) >= 15
    assert all(not query["query"].isascii() or "identifier" in query["tags"] for query in SETS["chinese"].queries)
    assert {tag for query in SETS["mixed"].queries for tag in query["tags"]} >= {"english-polish", "polish-english"}


@each_name
def test_addresses_are_of_reserved_domains(name: str) -> None:
    for domain in ADDRESS.findall((FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")):
        assert domain.endswith((".example.com", ".example.org")) or domain in ("example.com", "example.org")
