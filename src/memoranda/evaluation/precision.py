"""Questions asked where the answer is not: does the score tell, and what does each policy let through?

Every question is asked of its own group, where the answer is, and of another group, where it is not. Once as it
stands, and once without the names of the speakers, which would give a wrong group away.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.domain.ports import Progress
from memoranda.domain.request import POLICIES
from memoranda.evaluation.abstention import Separation, separation
from memoranda.evaluation.asking import ask
from memoranda.evaluation.metrics import mean
from memoranda.evaluation.moments import asked_at
from memoranda.evaluation.packs import Pack, Question
from memoranda.evaluation.stores import Loaded

COLUMNS = ("hybrid", "lexical")
_LIMIT = 5


class Bar(NamedTuple):
    """What one policy answers."""

    policy: str
    right_answered: float
    wrong_answered: float
    hits: float
    """Memories returned for a question that is asked in the right place, on average."""

    def as_json(self) -> dict[str, Any]:
        return {name: value if isinstance(value, str) else round(value, 6) for name, value in self._asdict().items()}


class Wording(NamedTuple):
    """Everything about one way to put the questions."""

    name: str
    columns: dict[str, Separation]
    bars: tuple[Bar, ...]


class PrecisionResult(NamedTuple):
    """One set, asked in the right place and in the wrong one."""

    name: str
    questions: int
    wordings: tuple[Wording, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "set": self.name,
            "questions": self.questions,
            "wordings": {
                wording.name: {
                    "columns": {name: _json_of(each) for name, each in wording.columns.items()},
                    "policies": [bar.as_json() for bar in wording.bars],
                }
                for wording in self.wordings
            },
        }


def wrong_group(pack: Pack, question: Question) -> str | None:
    """The next group in the order of the pack that holds none of the gold; None when there is no such group."""
    names = list(pack.groups)
    at = names.index(question.group)
    for name in (*names[at + 1 :], *names[:at]):
        if question.gold.isdisjoint(pack.groups[name]):
            return name
    return None


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without these names, with or without a possessive. A word that begins small is not a name."""
    known = sorted({name for name in names if name}, key=len, reverse=True)
    if not known:
        return text
    one = "|".join(re.escape(name) for name in known)

    def taken_out(found: re.Match[str]) -> str:
        return " " if found[0][0].isupper() else found[0]

    return " ".join(re.sub(rf"\b(?:{one})\b(?:['’]s?)?", taken_out, text, flags=re.IGNORECASE).split())


def measure(loaded: Loaded, questions: Sequence[Question], tell: Progress) -> PrecisionResult:
    """Ask every question in both places and both wordings, in both columns and under every policy.

    Where no question has a name in it, there is one wording.
    """
    pairs = [(question, wrong) for question in questions if (wrong := wrong_group(loaded.pack, question))]
    if not pairs:
        raise InvalidInput(f"{loaded.pack.name} has no two groups to mix up", hint="Take a pack with several groups.")
    speakers = loaded.pack.speakers
    stripped = [(question._replace(text=without_names(question.text, speakers)), wrong) for question, wrong in pairs]
    ways = [("as asked", pairs), *([("names stripped", stripped)] if stripped != pairs else [])]
    asked = 0

    def step() -> None:
        nonlocal asked
        asked += 1
        tell(asked, len(pairs) * len(ways))

    wordings = tuple(_wording(loaded, name, way, step) for name, way in ways)
    return PrecisionResult(loaded.pack.name, len(pairs), wordings)


def _wording(loaded: Loaded, name: str, pairs: Sequence[tuple[Question, str]], step: Callable[[], None]) -> Wording:
    best: dict[tuple[str, bool], list[float]] = {(column, right): [] for column in COLUMNS for right in (True, False)}
    counts: dict[tuple[str, bool], list[int]] = {(each, right): [] for each in POLICIES for right in (True, False)}
    for question, wrong in pairs:
        for right, group in ((True, question.group), (False, wrong)):
            # The time of the question belongs to its own group; elsewhere the group's own end is "now".
            time = question.time if right else None
            loaded.clock.ms = asked_at(time, loaded.pack.newest(group))
            view = loaded.within(group)
            for column in COLUMNS:
                best[column, right].append(ask(view, question.text, column=column, policy="broad", limit=_LIMIT).best)
            for policy in POLICIES:
                counts[policy, right].append(
                    len(ask(view, question.text, column="hybrid", policy=policy, limit=_LIMIT).ids)
                )
        step()
    return Wording(
        name,
        {column: separation(best[column, True], best[column, False]) for column in COLUMNS},
        tuple(
            Bar(
                policy,
                mean([float(count > 0) for count in counts[policy, True]]),
                mean([float(count > 0) for count in counts[policy, False]]),
                mean(counts[policy, True]),
            )
            for policy in POLICIES
        ),
    )


def _json_of(each: Separation) -> dict[str, Any]:
    return {
        "auc": round(each.auc, 6),
        "at": [point.as_json() for point in each.at],
        "curve": [point.as_json() for point in each.curve],
    }
