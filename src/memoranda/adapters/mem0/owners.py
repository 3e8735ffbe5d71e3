"""Whom a memory belongs to: the user, the agent and the run of mem0, as a scope and back.

What has a user lies below that user, whatever agent and run it has besides; so an agent's name alone never leads to
what is kept for its users.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.adapters.places import name_of, segment
from memoranda.domain.errors import InvalidInput

IDS = ("user_id", "agent_id", "run_id")
_MARKS = {"user_id": "user", "agent_id": "agent", "run_id": "run"}
_HINT = "Pass user_id, agent_id or run_id; in search and get_all as filters={'user_id': '...'}."


class Owner(NamedTuple):
    """One combination of ids. At least one of them is there."""

    user_id: str = ""
    agent_id: str = ""
    run_id: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Owner":
        """The owner that ids name; an error when they name none."""
        ids = {name: _checked(given[name], name) for name in IDS if given.get(name) is not None}
        if not ids:
            raise InvalidInput("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.", hint=_HINT)
        return cls(**ids)

    @classmethod
    def at(cls, base: str, scope: str) -> "Owner":
        """The owner of what is kept in a scope."""
        names = {mark: name for name, mark in _MARKS.items()}
        ids = {}
        for part in scope.removeprefix(base).strip("/").split("/"):
            mark, _, rest = part.partition(".")
            if mark in names and rest:
                ids[names[mark]] = name_of(rest)
        return cls(**ids)

    def scope(self, base: str) -> str:
        """Where what belongs to this owner is kept."""
        parts = [f"{_MARKS[name]}.{segment(value)}" for name, value in self.ids.items()]
        return "/".join([base, *parts])

    @property
    def ids(self) -> dict[str, str]:
        """Those that are there."""
        return {name: value for name, value in self._asdict().items() if value}

    def covers(self, other: "Owner") -> bool:
        """Whether the other has all of these ids."""
        return all(getattr(other, name) == value for name, value in self.ids.items())


def owners_in(filters: Mapping[str, Any]) -> list[Owner]:
    """Whose memories filters ask for: the ids beside one another and in AND; with OR, each of its parts."""
    ids: dict[str, Any] = {}
    either: list[Mapping[str, Any]] = []
    for name, wanted in filters.items():
        joined = name.lstrip("$").upper()
        if joined == "AND":
            for part in _parts(wanted):
                ids.update({each: part[each] for each in IDS if each in part})
                either += _parts(part.get("OR", ()))
        elif joined == "OR":
            either += _parts(wanted)
        elif name in IDS:
            ids[name] = wanted
    if ids or not either:
        return [Owner.of(_named(ids))]
    return list(dict.fromkeys(owner for part in either for owner in owners_in(part)))


def _named(ids: Mapping[str, Any]) -> dict[str, Any]:
    """Ids as plain values. Whoever is meant is named: any user at all is not an owner."""
    found = {}
    for name, given in ids.items():
        wanted = given.get("eq", "*") if isinstance(given, Mapping) else given
        if wanted == "*":
            raise InvalidInput(f"{name} has to name one: {given!r} would reach across owners", hint=_HINT)
        found[name] = wanted
    return found


def _parts(given: Any) -> Sequence[Mapping[str, Any]]:
    if (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or not all(isinstance(each, Mapping) for each in given)
    ):
        raise InvalidInput("AND and OR take a list of filters", hint="Write AND: [{...}, {...}].")
    return given


def _checked(value: Any, name: str) -> str:
    text = str(value).strip()
    if not text or any(letter.isspace() for letter in text):
        raise InvalidInput(f"Invalid {name}: cannot be empty or contain whitespace", hint=_HINT)
    return text
