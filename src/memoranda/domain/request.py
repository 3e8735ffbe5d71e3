"""`Request`: what a recall is asked for. Checked once, at the door, and written into the receipt to be replayed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from memoranda.domain.clock import Moment, end_of, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.memory import (
    KINDS,
    MAX_TAGS,
    SOURCES,
    STATES,
    TRUSTS,
    Kind,
    Source,
    State,
    Trust,
    checked_choice,
    checked_share,
)
from memoranda.domain.text import checked_text

Lane = Literal["lexical", "semantic", "structured"]
Policy = Literal["strict", "balanced", "broad"]
Mode = Literal["asked", "automatic"]
Prior = Literal["neighbours", "conversation", "speaker", "time"]
"""What a chat may add to recall, where a memory has it."""

LANES: tuple[Lane, ...] = get_args(Lane)
POLICIES: tuple[Policy, ...] = get_args(Policy)
MODES: tuple[Mode, ...] = get_args(Mode)
PRIORS: tuple[Prior, ...] = get_args(Prior)
MAX_LIMIT = 1_000
_MAX_OFFSET = 1 << 62
_MOST_REPEATED = 256
_SHORT = 512
_Choice = TypeVar("_Choice", bound=str)


class Request(NamedTuple):
    """One recall as it was asked: the query, how many, how sure, and what it is narrowed to."""

    query: str
    limit: int = 5
    policy: Policy = "balanced"
    mode: Mode = "asked"
    lanes: tuple[Lane, ...] = LANES
    kinds: tuple[Kind, ...] = ()
    sources: tuple[Source, ...] = ()
    states: tuple[State, ...] = ("live",)
    trust: tuple[Trust, ...] = ()
    """Exactly these; empty leaves it to the policy, which never shows what is quarantined."""
    about: str = ""
    speaker: str = ""
    tags: tuple[str, ...] = ()
    time_after: int | None = None
    time_before: int | None = None
    importance_min: float | None = None
    as_of: int | None = None
    prefer_speaker: str = ""
    """Whose memories come first when others are as good."""
    repeated: tuple[str, ...] = ()
    """Ids that were shown in this conversation a moment ago."""
    now: int = 0

    @property
    def narrowed(self) -> bool:
        """Whether the ledger has to say which memories may be looked at."""
        return bool(
            self.kinds
            or self.sources
            or self.trust
            or self.about
            or self.speaker
            or self.tags
            or self.importance_min is not None
            or self.time_after is not None
            or self.time_before is not None
            or self.as_of is not None
        )

    def as_json(self) -> dict[str, Any]:
        """For a receipt: what differs from the defaults, and the query."""
        shown: dict[str, Any] = {"query": self.query, "now": self.now}
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            if value != default:
                shown[name] = list(value) if isinstance(value, tuple) else value
        return shown

    @classmethod
    def from_json(cls, shown: Mapping[str, Any]) -> "Request":
        """A request out of a receipt, checked like any other."""
        unknown = sorted(set(shown) - set(cls._fields))
        if unknown or not isinstance(shown.get("query"), str) or not isinstance(shown.get("now"), int):
            what = f"has {unknown[0]!r}, which is unknown" if unknown else "has no query or no moment"
            raise InvalidInput(f"the request in this receipt {what}", hint="Give a receipt as recall --json shows it.")
        return cls.of({name: tuple(value) if isinstance(value, list) else value for name, value in shown.items()})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Request":
        """A request out of what a caller gave, one or several where several may be, in any form of date."""
        return cls(**values).checked()

    def checked(self) -> "Request":
        """The same, or the error that says what is wrong with it. The query is not looked at here."""
        checked_limit(self.limit)
        for name in ("about", "speaker", "prefer_speaker"):
            checked_text(getattr(self, name), name=name, limit=_SHORT, empty_ok=True)
        return self._replace(
            policy=checked_choice(self.policy, POLICIES, name="policy"),
            mode=checked_choice(self.mode, MODES, name="mode"),
            lanes=_several(self.lanes, LANES, "lanes") or LANES,
            kinds=_several(self.kinds, KINDS, "kind"),
            sources=_several(self.sources, SOURCES, "source"),
            states=_several(self.states, STATES, "states") or STATES,
            trust=_several(self.trust, TRUSTS, "trust"),
            about=self.about.strip(),
            speaker=self.speaker.strip(),
            tags=_texts(self.tags, "tags", most=MAX_TAGS),
            time_after=_moment(self.time_after, "time_after"),
            time_before=_moment(self.time_before, "time_before"),
            importance_min=checked_share(self.importance_min, name="importance_min"),
            as_of=None if self.as_of is None else end_of(self.as_of, name="as_of"),
            prefer_speaker=self.prefer_speaker.strip(),
            repeated=_texts(self.repeated, "repeated", most=_MOST_REPEATED),
            now=to_ms(self.now, name="now"),
        )._in_order()

    def _in_order(self) -> "Request":
        if self.time_after is not None and self.time_before is not None and self.time_before <= self.time_after:
            raise InvalidInput(
                "time_before is not after time_after", hint="Give an end that is later than the beginning."
            )
        return self


def checked_limit(limit: int, *, most: int = MAX_LIMIT) -> int:
    """How many are wanted, as a whole number that can be served."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidInput(
            f"limit: {str(limit)[:40]!r} is not a whole number from 1 to {most}",
            hint=f"Ask for 1 to {most:,} at a time.",
        )
    return limit


def checked_offset(offset: int) -> int:
    """How many are skipped, as a whole number that a database takes."""
    if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset <= _MAX_OFFSET:
        raise InvalidInput(f"offset: {str(offset)[:40]!r} is not a whole number from 0", hint="Begin at 0.")
    return offset


def checked_states(states: Sequence[State]) -> tuple[State, ...]:
    """Members of the closed set; none of them means all."""
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise InvalidInput("states are a list of states, not one", hint="Pass states=['live'], or [] for all.")
    return tuple(checked_choice(state, STATES, name="states") for state in states)


def _several(given: _Choice | Sequence[_Choice], choices: tuple[_Choice, ...], name: str) -> tuple[_Choice, ...]:
    """One or several members of a closed set."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Sequence):
        raise InvalidInput(f"{name}: a list is expected", hint=f"Use some of: {', '.join(choices)}.")
    return tuple(dict.fromkeys(checked_choice(each, choices, name=name) for each in listed))


def _texts(given: Sequence[str], name: str, *, most: int) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(f"{name}: a list of texts is expected, not one text", hint=f"Pass {name}=['…'].")
    if len(given) > most:
        raise InvalidInput(f"{name}: {len(given)} are too many; the limit is {most}", hint="Give fewer.")
    return tuple(dict.fromkeys(checked_text(each, name=name, limit=_SHORT).strip() for each in given))


def _moment(moment: Moment | None, name: str) -> int | None:
    return None if moment is None else to_ms(moment, name=name)
