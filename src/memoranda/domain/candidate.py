"""`Candidate`: something in a conversation that may be worth keeping. Not yet a memory, and perhaps never one."""

from typing import Any, Literal, NamedTuple, get_args

from memoranda.domain.memory import Basis, Kind, Source

CaptureMode = Literal["off", "explicit", "strict", "broad", "review"]
CAPTURE_MODES: tuple[CaptureMode, ...] = get_args(CaptureMode)

Refusal = Literal[
    "already seen",  # handed over again with the whole history
    "not the user's words",
    "not a conversation",  # a timer, a heartbeat, another agent's errand
    "injected block",  # our own pack, or one like it
    "envelope",  # what a channel wraps around a message
    "code",
    "tool output",
    "private",  # marked as not to be kept
    "contact data",  # an address or a number that nobody asked to keep
    "system-looking",
    "secret",
    "injection",
    "too short",
    "too long",
    "question",
    "quotation",
    "hypothetical",
    "not to be kept",  # "don't save this"
    "passing",  # true now, of no use later
    "nothing to keep",
    "over the limit",  # more than may be taken from one turn
    "not looked at",  # beyond what is scanned of one turn
    "duplicate",
    "taken back",  # corrected by what was said after it in the same turn
    "forgotten",
    "erased",
    "unsupported",  # a model's claim that no message bears out
]
REFUSALS: tuple[Refusal, ...] = get_args(Refusal)


class Candidate(NamedTuple):
    """A sentence as it would be kept: stripped, without the words that asked for it."""

    text: str
    kind: Kind
    importance: float
    explicit: bool = False
    lang: str = ""
    about: str = ""
    attribute: str = ""
    value: Any = None
    corrects: bool = False
    """Whether it says that something was otherwise before."""
    rule: str = ""
    """Which table and section let it through, such as `pl preference`."""
    message: int = 0
    """The place of its message among those that were handed over."""
    source: Source = "user"
    basis: Basis = "stated"
    confidence: float = 1.0
