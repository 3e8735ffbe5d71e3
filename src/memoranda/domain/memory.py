"""`Memory`: one kept thing, and the closed vocabularies of its fields."""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput

Kind = Literal["fact", "preference", "decision", "entity", "episode", "note"]
State = Literal["live", "superseded", "archived", "forgotten", "expired"]
Trust = Literal["trusted", "untrusted", "quarantined"]
Source = Literal["user", "assistant", "operator", "tool", "web", "import", "system"]
Basis = Literal["stated", "observed", "inferred"]
Grade = Literal["must_remember", "nice_to_have", "ignore", "unknown"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATES: tuple[State, ...] = get_args(State)
TRUSTS: tuple[Trust, ...] = get_args(Trust)
SOURCES: tuple[Source, ...] = get_args(Source)
BASES: tuple[Basis, ...] = get_args(Basis)
GRADES: tuple[Grade, ...] = get_args(Grade)
GRADE_FLOORS: tuple[tuple[Grade, float], ...] = (("must_remember", 0.8), ("nice_to_have", 0.5), ("ignore", 0.0))
"""The least importance of each grade, highest first. What has no importance is `unknown`."""

_TRUSTED_SOURCES: frozenset[Source] = frozenset({"user", "operator", "system"})
OPERATORS: frozenset[Source] = frozenset({"operator", "system"})
"""Who runs the store: nobody that a conversation, a plugin or a model speaks for."""
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
UNVOUCHED = 0.8
"""The most confidence that repetition gives to what nobody vouches for."""
MAX_JSON = 16_000
MAX_TAGS = 64
_MAX_DEPTH = 64
_Choice = TypeVar("_Choice", bound=str)
_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Memory(NamedTuple):
    """One kept thing. `text` never changes: a correction is a new memory that supersedes this one."""

    id: str
    scope: str
    kind: Kind
    text: str
    about: str = ""
    attribute: str = ""
    value: Any = None
    context: str = ""
    importance: float | None = None
    confidence: float = 1.0
    trust: Trust = "trusted"
    state: State = "live"
    source: Source = "user"
    source_ref: str = ""
    basis: Basis = "stated"
    speaker: str = ""
    conversation: str = ""
    tags: tuple[str, ...] = ()
    lang: str = ""
    metadata: Mapping[str, Any] = _EMPTY
    media_refs: tuple[str, ...] = ()
    media_kind: str = ""
    created_at: int = 0
    updated_at: int = 0
    occurred_at: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    superseded_by: str | None = None
    content_hash: str = ""

    @property
    def grade(self) -> Grade:
        """Importance in words; computed, never stored."""
        if self.importance is None:
            return "unknown"
        return next(grade for grade, floor in GRADE_FLOORS if self.importance >= floor)

    @property
    def spoken(self) -> str:
        """The text as it is embedded: with who said it."""
        return spoken(self.speaker, self.text)

    def holds_at(self, now: int) -> bool:
        """Whether its validity covers this moment."""
        return (self.valid_from is None or self.valid_from <= now) and (
            self.valid_until is None or now < self.valid_until
        )

    def as_json(self) -> dict[str, Any]:
        """The memory for programs: ISO times, plain containers."""
        shown: dict[str, Any] = {}
        for name in self._fields:
            value = getattr(self, name)
            if name in _TIMES:
                value = None if value is None else iso(value)
            elif isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            shown[name] = value
        shown["grade"] = self.grade
        return shown


_TIMES = frozenset({"created_at", "updated_at", "occurred_at", "valid_from", "valid_until"})


def spoken(speaker: str, text: str) -> str:
    """A text with who said it, if anybody is known to have."""
    return f"{speaker}: {text}" if speaker else text


def trust_of(source: Source) -> Trust:
    """Trust comes from the channel, never from the text."""
    return "trusted" if source in _TRUSTED_SOURCES else "untrusted"


def basis_of(source: Source) -> Basis:
    """What comes through a door that is not trusted was stated by nobody."""
    return "stated" if trust_of(source) == "trusted" else "inferred"


def confidence_of(source: Source) -> float:
    """How sure something is that came through a door, before anybody has said more."""
    return 1.0 if trust_of(source) == "trusted" else UNVOUCHED


def outranks(one: Trust, other: Trust) -> bool:
    """Whether `one` is trusted more than `other`."""
    return TRUSTS.index(one) < TRUSTS.index(other)


def checked_choice(value: _Choice, choices: tuple[_Choice, ...], *, name: str) -> _Choice:
    """A member of a closed set, or an error that lists the set."""
    if value not in choices:
        raise InvalidInput(f"{name}: {str(value)[:40]!r} is not one of them", hint=f"Use one of: {', '.join(choices)}.")
    return value


def checked_share(value: float | None, *, name: str) -> float | None:
    """A number from 0 to 1, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{name}: {value!r} is not a number from 0 to 1", hint="0 is none, 1 is full.")
    return float(value)


def checked_json(value: Any, *, name: str, limit: int = MAX_JSON) -> Any:
    """A copy of the value as JSON gives it back, bounded; NaN, cycles and foreign objects are refused."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be written as JSON: {error}", hint="Use plain JSON values.") from error
    if _ESCAPED_NUL.search(text):
        raise InvalidInput(f"{name} has a NUL byte in it", hint="Remove the NUL byte.")
    if len(text) > limit:
        raise InvalidInput(f"{name} is longer than {limit:,} characters as JSON", hint="Keep large data elsewhere.")
    if _deeper_than(_MAX_DEPTH, value):
        raise InvalidInput(f"{name} is nested deeper than {_MAX_DEPTH} levels", hint="Use a flatter value.")
    return json.loads(text)


def json_size(value: Any) -> int:
    """How long a value is as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _deeper_than(levels: int, value: Any) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return False
    return levels == 0 or any(_deeper_than(levels - 1, each) for each in value)
