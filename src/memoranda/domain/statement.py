"""What an erasure was asked for, and the statement that it was done: signed, and without a word of what is gone."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput

FORMAT = "memoranda.erasure.v1"
_PERSONAL = ("about", "speaker", "conversation", "source_ref", "query", "in_scope")
_ALONE = ("ids", "query", "in_scope")
_LARGEST = 64 << 20


class Asked(NamedTuple):
    """In which way something is to be erased. Ids, a scope and a query stand alone; the others narrow one another."""

    ids: tuple[str, ...] = ()
    query: str = ""
    in_scope: str = ""
    about: str = ""
    speaker: str = ""
    conversation: str = ""
    source: str = ""
    source_ref: str = ""
    kind: str = ""
    time_after: int | None = None
    time_before: int | None = None
    below: bool = False
    """Whether what memories are like is looked for in the scopes below, too. No way by itself."""

    @property
    def ways(self) -> tuple[str, ...]:
        """Names of what was given."""
        given = zip(self._fields[:-1], self[:-1], strict=True)
        return tuple(name for name, value in given if value not in ((), "", None))

    def reaches(self, home: str, scope: str) -> bool:
        """Whether it is looked for in a scope, when it is asked for at home."""
        return scope == home or (self.below and scope.startswith(home + "/"))

    def checked(self) -> "Asked":
        """The same, or what is wrong with it."""
        ways = self.ways
        if not ways or (len(ways) > 1 and any(name in _ALONE for name in ways)):
            raise InvalidInput(
                "say in one way what to erase",
                hint="Give an id, scope= or query= alone; or any of about=, speaker=, conversation=, source=, "
                "source_ref=, time_after= and time_before=.",
            )
        if ways == ("kind",):
            raise InvalidInput(
                "a kind alone is too much to erase at once",
                hint="Give kind= beside about=, speaker=, conversation=, source=, time_after= or time_before=.",
            )
        if self.below and not self.filters:
            raise InvalidInput(
                "below goes with what memories are like",
                hint="An id and a query are of this scope; scope= takes all below it along anyway.",
            )
        if self.time_after is not None and self.time_before is not None and self.time_before <= self.time_after:
            raise InvalidInput(
                "time_before is not after time_after", hint="Give an end that is later than the beginning."
            )
        return self

    @property
    def filters(self) -> bool:
        """Whether it says what memories are like, not which they are."""
        return bool(self.ways) and not any(name in _ALONE for name in self.ways)

    @property
    def of_messages(self) -> bool:
        """Whether what was said is meant, too, whatever was kept of it: messages have no subject, source or kind."""
        return bool(self.ways) and set(self.ways) <= {"speaker", "conversation", "time_after", "time_before"}

    def as_json(self, *, key: bytes | None) -> dict[str, Any]:
        """For a statement. What may name a person is a digest that only the store can make, unless there is no key."""
        shown: dict[str, Any] = {"ways": list(self.ways)}
        for name in self.ways:
            value = getattr(self, name)
            if name.startswith("time_"):
                shown[name] = iso(value)
            elif name in _PERSONAL and key is not None:
                shown[name] = {"digest": hashlib.blake2b(value.encode(), key=key, digest_size=16).hexdigest()}
            elif name != "ids":
                shown[name] = value
        return {**shown, "below": True} if self.below else shown


def canonical(statement: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: everything but the signature, in one form only."""
    unsigned = {name: value for name, value in statement.items() if name != "signature"}
    return json.dumps(unsigned, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def read_statement(text: str | bytes) -> dict[str, Any]:
    """A statement from its file, or what is wrong with the file."""
    if len(text) > _LARGEST:
        raise InvalidInput("this is too large for a statement of an erasure", hint="Give the file that --proof wrote.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "this is not a statement of an erasure: it is no JSON", hint="Give the file that --proof wrote."
        ) from error
    return checked_statement(found)


def checked_statement(found: Any) -> dict[str, Any]:
    """A statement that has all that is looked at, each of its type."""
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise InvalidInput(
            f"this is not a statement of an erasure: its format is not {FORMAT}",
            hint="Give the file that `memoranda erase --proof` wrote, as it was written.",
        )
    texts = ("id", "store", "scope", "state", "made_at", "public_key", "signature")
    well = all(isinstance(found.get(name), str) for name in texts)
    sealed = found.get("fingerprints")
    well = well and isinstance(sealed, Mapping) and isinstance(sealed.get("sealed"), str)
    ids = found.get("ids")
    if not well or not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise InvalidInput("this statement of an erasure has parts missing", hint="Use the file as it was written.")
    return dict(found)
