"""`heuristic-v1`: how important a memory is, by signs in its text and by where it came from. Asks nobody.

It was made for the notes of operators, where most is said once and never needed. What a person says of themselves has
few of its signs and matters all the same: there it may raise, and lowers only small talk, progress and secrets.
"""

from typing import NamedTuple

from memoranda.domain.labels import label
from memoranda.domain.memory import GRADE_FLOORS, Grade, Kind, Memory, Source
from memoranda.governance.signals import Signs, signs_in

METHOD = "heuristic-v1"
VERSION = "1"
"""Goes up when the words or weights change, so that old grades can be told from new ones."""
BASE = 0.30
FLOOR = dict(GRADE_FLOORS)["nice_to_have"]

_STRUCTURED: frozenset[Kind] = frozenset({"fact", "preference", "entity", "decision"})
# Somebody put these in knowingly. What a model, a tool or a page says of a person earns no floor by its kind.
_DELIBERATE: frozenset[Source] = frozenset({"operator", "system", "import"})


class Assessment(NamedTuple):
    """A grade that is proposed, and why: signs and numbers, never words of the text."""

    score: float
    label: Grade
    rationale: str
    method: str = METHOD
    version: str = VERSION


class _Weight(NamedTuple):
    what: str
    amount: float


def assess(memory: Memory, *, has_secret: bool) -> Assessment:
    """The grade of one memory. Whether there is a secret in it is found out elsewhere."""
    signs = signs_in(memory.text)
    raised = _raised(signs)
    lowered = _lowered(signs, has_secret, alone=not raised)
    score = _clamped(BASE + sum(weight.amount for weight in (*raised, *lowered)))
    junk = has_secret or (not raised and (signs.chatter or signs.only_progress))
    held = is_personal(memory) and not junk and score < FLOOR
    if held:
        score = FLOOR
    return Assessment(score, label(score), _rationale(raised, lowered, held=held))


def is_personal(memory: Memory) -> bool:
    """Whether it tells of a person and their things, rather than being a note of whoever runs the agent. By where it
    came from and what it is kept as, never by what it says."""
    return memory.source == "user" or (memory.source in _DELIBERATE and memory.kind in _STRUCTURED)


def _raised(signs: Signs) -> list[_Weight]:
    weights = (
        (signs.preference, "words of preference or policy", 0.40),
        # A task is something to be decided or set up, not something that was.
        (signs.decision and not signs.task, "a decision or how something is set up", 0.30),
        (signs.identifier, "an identifier", 0.20),
        (signs.runbook, "how something is done", 0.20),
        (signs.error, "an error", 0.15),
        (signs.error and signs.fix, "what mended it", 0.10),
        (signs.task, "a task", 0.20),
        (signs.task and signs.deadline, "when it is due", 0.10),
    )
    return [_Weight(what, amount) for shown, what, amount in weights if shown]


def _lowered(signs: Signs, has_secret: bool, *, alone: bool) -> list[_Weight]:
    """What is only small talk, progress or a date; beside something that matters it lowers nothing."""
    weights = (
        (has_secret, "a secret", -0.40),
        (alone and signs.chatter, "small talk", -0.25),
        (alone and (signs.progress or signs.only_progress), "progress and nothing else", -0.20),
        (alone and signs.calendar, "a date and nothing else", -0.15),
    )
    return [_Weight(what, amount) for shown, what, amount in weights if shown]


def _rationale(raised: list[_Weight], lowered: list[_Weight], *, held: bool) -> str:
    """At most three sentences."""
    sentences = []
    if raised:
        sentences.append(f"Raised by {_listed(raised)}.")
    if lowered:
        sentences.append(f"Lowered by {_listed(lowered)}.")
    if held:
        sentences.append(f"Held at {FLOOR:.2f}: what a person keeps is not ignored.")
    return " ".join(sentences) or "Nothing in it raises or lowers it."


def _listed(weights: list[_Weight]) -> str:
    return ", ".join(f"{weight.what} ({weight.amount:+.2f})" for weight in weights)


def _clamped(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 4)
