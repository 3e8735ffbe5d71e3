"""Edits: what of ours stands in a file of somebody else's, how it is put there and how it is taken out again. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from memoranda.domain.errors import InvalidInput
from memoranda.hosts.json_text import MISSING, member, parsed, with_member, without_member
from memoranda.hosts.toml_text import parsed_toml, with_table, without_table


class Edit(Protocol):
    """Something of ours in a text."""

    def put(self, text: str) -> str:
        """The text with it."""

    def take(self, text: str) -> str:
        """The text without it, whatever its values are there."""

    def standing(self, text: str) -> "Edit | None":
        """It as it stands there now; None when it does not."""

    def shown(self) -> str:
        """For people, to be pasted."""


class Member(NamedTuple):
    """One member of a JSON object."""

    keys: Sequence[str]
    value: Any

    def put(self, text: str) -> str:
        return with_member(text, self.keys, self.value)

    def take(self, text: str) -> str:
        return without_member(text, self.keys)

    def standing(self, text: str) -> "Member | None":
        found = member(parsed(text), self.keys)
        return None if found is MISSING else self._replace(value=found)

    def shown(self) -> str:
        return _nested(self.keys, self.value)


class Item(NamedTuple):
    """One item of a list in a JSON object; ours is known by a word in it."""

    keys: Sequence[str]
    value: Any
    mark: str

    def put(self, text: str) -> str:
        there = self._list(text)
        ours = [each for each in there if self._is_ours(each)]
        if ours == [self.value]:
            return text
        return with_member(text, self.keys, [*self._others(there), self.value])

    def take(self, text: str) -> str:
        there = self._list(text)
        left = self._others(there)
        if left == there:
            return text
        return with_member(text, self.keys, left) if left else without_member(text, self.keys)

    def standing(self, text: str) -> "Item | None":
        return next((self._replace(value=each) for each in self._list(text) if self._is_ours(each)), None)

    def shown(self) -> str:
        return _nested(self.keys, [self.value])

    def _list(self, text: str) -> list[Any]:
        found = member(parsed(text), self.keys)
        if found is MISSING:
            return []
        if not isinstance(found, list):
            raise InvalidInput(f"{'.'.join(self.keys)} in it is not a list")
        return found

    def _others(self, there: list[Any]) -> list[Any]:
        """What is not ours; of a group in which somebody has put something beside ours, that."""
        left = []
        for each in there:
            if not self._is_ours(each):
                left.append(each)
                continue
            inner = each.get("hooks") if isinstance(each, dict) else None
            beside = [one for one in inner if not self._is_ours(one)] if isinstance(inner, list) else []
            left += [{**each, "hooks": beside}] if beside else []
        return left

    def _is_ours(self, item: Any) -> bool:
        return self.mark in json.dumps(item, ensure_ascii=False)


class Table(NamedTuple):
    """One table of a TOML file."""

    keys: Sequence[str]
    values: Mapping[str, Any]

    def put(self, text: str) -> str:
        return with_table(text, self.keys, self.values)

    def take(self, text: str) -> str:
        return without_table(text, self.keys)

    def standing(self, text: str) -> "Table | None":
        found = member(parsed_toml(text), self.keys)
        return None if found is MISSING else self._replace(values=found)

    def shown(self) -> str:
        return with_table("", self.keys, self.values).rstrip("\n")


def put_all(text: str, edits: Sequence[Edit]) -> str:
    """The text with all of them."""
    for edit in edits:
        text = edit.put(text)
    return text


def take_all(text: str, edits: Sequence[Edit]) -> str:
    """The text without any of them."""
    for edit in edits:
        text = edit.take(text)
    return text


def undone(text: str, edits: Sequence[Edit], befores: Sequence[str]) -> str:
    """The text without the edits: one of the texts before them, byte for byte, when nothing else was changed since."""
    there = [edit for edit in (edit.standing(text) for edit in edits) if edit is not None]
    for before in befores:
        try:
            if take_all(before, edits) == before and put_all(before, there) == text:
                return before
        except InvalidInput:
            continue  # an old copy that is no longer of this form
    return take_all(text, edits)


def is_bare(text: str, shell: Mapping[str, Any]) -> bool:
    """Whether a JSON text says nothing but what we needed to stand in: then nobody else wrote in it."""
    try:
        left = _pruned(parsed(text))
    except InvalidInput:
        return not text.strip()
    return left in ({}, dict(shell))


def _pruned(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inside = {key: _pruned(each) for key, each in value.items()}
    return {key: each for key, each in inside.items() if each not in ({}, [])}


def _nested(keys: Sequence[str], value: Any) -> str:
    for key in reversed(keys):
        value = {key: value}
    return json.dumps(value, ensure_ascii=False, indent=2)
