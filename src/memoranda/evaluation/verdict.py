"""What a trial amounts to: every metric by name, in total and by tag, and whether it is worse than before. Pure."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.request import POLICIES
from memoranda.evaluation.asking import Answer
from memoranda.evaluation.metrics import (
    DEPTH,
    Stopwatch,
    all_at,
    any_at,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from memoranda.evaluation.tables import NOTHING, percent, table
from memoranda.evaluation.trial import Asked

VERSION = 1
TOTAL = "total"
_LOWER_IS_BETTER = frozenset({"forbidden", "answered_wrongly", "left_unanswered", "extra"})
_LEGEND = """

hit@k: at least one expected memory is among the first k. recall@k: the fraction of them. all@k: every one. MRR: one
over the rank of the first. precision: the share of expected memories among the first k; extra: how many others, a
count; both over questions that were answered. forbidden: questions that brought a forbidden memory. answered_wrongly:
questions with no answer that got one. left_unanswered: questions with an answer that got none."""

Numbers = dict[str, float | None]
"""Metrics by name. None: no question of this kind, so that there is nothing to say."""


class Worse(NamedTuple):
    """One number that is worse than in the baseline by more than is allowed."""

    where: str
    metric: str
    before: float
    now: float

    @property
    def by(self) -> float:
        """How far."""
        return abs(self.now - self.before)

    def __str__(self) -> str:
        return f"{self.where}: {self.metric} was {self.before:.3f}, is {self.now:.3f}"


def verdict(asked: Sequence[Asked], *, k: int, policy: str) -> dict[str, Any]:
    """Everything that was found, ready to be shown, saved and compared."""
    groups = _groups(asked)
    columns = list(asked[0].columns) if asked else []
    hits = sum(each.hits() for each in asked)
    leaks = sum(each.out_of_scope() for each in asked)
    return {
        "version": VERSION,
        "k": k,
        "policy": policy,
        "questions": {name: len(group) for name, group in groups.items()},
        "wrong_scope": {
            "hits": leaks,
            "rate": leaks / hits if hits else 0.0,
            "lines": [_place(each) for each in asked if each.out_of_scope()],
        },
        "columns": {
            column: {name: _numbers(group, _column(column), k) for name, group in groups.items()} for column in columns
        },
        "policies": {each: _numbers(asked, _policy(each), k) for each in POLICIES},
        "hybrid_minus": _gains(asked, k, columns),
        "latency": {column: _latency([each.columns[column] for each in asked]) for column in columns},
        "degraded": dict(Counter(why for each in asked for why in each.columns["hybrid"].degraded)),
        "misses": [_miss(each, k) for each in asked if _missed(each, k)],
    }


def read_baseline(path: Path) -> dict[str, Any]:
    """A verdict that was saved before."""
    if not path.is_file():
        raise NotFound(f"there is no baseline {path}", hint="Make one with --save.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if "hybrid" in found["columns"] and isinstance(found["policies"], dict):
            return dict(found)
    except (ValueError, TypeError, KeyError):
        pass
    raise InvalidInput(f"{path} is not a saved verdict", hint="Make one with --save.")


def worse_than(baseline: Mapping[str, Any], found: Mapping[str, Any], *, tolerance: float) -> list[Worse]:
    """Where hybrid is worse than the baseline, the worst first.

    Latency is not compared: it says something about the machine.
    """
    for name in ("version", "k", "policy"):
        if baseline.get(name) != found[name]:
            raise InvalidInput(
                f"the baseline was made with {name} {baseline.get(name)}, this run with {found[name]}",
                hint="Compare like with like, or save a new baseline with --save.",
            )
    worse = [
        Worse(where, metric, before, now)
        for where, old, new in _pairs(baseline, found)
        for metric, before in old.items()
        if before is not None and (now := new.get(metric)) is not None
        if (now - before if metric in _LOWER_IS_BETTER else before - now) > tolerance + 1e-9
    ]
    return sorted(worse, key=lambda each: -each.by)


def markdown(found: Mapping[str, Any]) -> str:
    """The tables of a verdict."""
    columns = found["columns"]
    metrics = list(columns["hybrid"][TOTAL])
    leaks = found["wrong_scope"]
    tags = [name for name in found["questions"] if name != TOTAL]
    parts = [
        f"{found['questions'][TOTAL]} questions, policy {found['policy']}, k = {found['k']}.\n",
        table(
            ["metric, percent", *columns],
            [[name, *(_shown(name, columns[column][TOTAL][name]) for column in columns)] for name in metrics],
        ),
        table(
            ["policy, hybrid", *metrics],
            [[each, *(_shown(name, numbers[name]) for name in metrics)] for each, numbers in found["policies"].items()],
        ),
    ]
    if tags:
        rows = [
            [tag, str(found["questions"][tag]), *(_shown(name, columns["hybrid"][tag][name]) for name in metrics)]
            for tag in tags
        ]
        parts.append(table(["tag, hybrid", "questions", *metrics], rows))
    parts.append(
        table(
            ["milliseconds for one question", *columns],
            [[share, *(f"{found['latency'][each][share]:.1f}" for each in columns)] for share in ("p50_ms", "p95_ms")],
        )
    )
    for name, gain in found["hybrid_minus"].items():
        parts.append(f"Hybrid minus {name}, recall@{found['k']}: {100 * gain:+.1f}.")
    parts.append(f"Hits from a scope that the question does not see: {leaks['hits']} ({percent(leaks['rate'])} %).")
    return "\n".join(parts) + _LEGEND


def _groups(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    """The questions in all, by file when there are several, and by tag."""
    groups: dict[str, list[Asked]] = {TOTAL: list(asked)}
    if len({each.source for each in asked}) > 1:
        for each in asked:
            groups.setdefault(each.source, []).append(each)
    for tag in sorted({tag for each in asked for tag in each.question.tags}):
        groups[tag] = [each for each in asked if tag in each.question.tags]
    return groups


def _column(name: str) -> Callable[[Asked], Answer]:
    return lambda asked: asked.columns[name]


def _policy(name: Any) -> Callable[[Asked], Answer]:
    return lambda asked: asked.policies[name]


def _numbers(group: Sequence[Asked], chosen: Callable[[Asked], Answer], k: int) -> Numbers:
    """Each metric over the questions for which it means something."""
    answerable = [(each, chosen(each)) for each in group if each.expect]
    hopeless = [chosen(each) for each in group if each.question.abstain]
    guarded = [(each, chosen(each)) for each in group if each.forbid]
    answered = [(each, answer.ids[:k]) for each, answer in answerable if answer.ids]
    rankings = [(answer.ids, each.expect) for each, answer in answerable]
    return {
        "hit@1": _mean([any_at(ids, gold, 1) for ids, gold in rankings]),
        f"hit@{k}": _mean([any_at(ids, gold, k) for ids, gold in rankings]),
        f"recall@{k}": _mean([recall_at(ids, gold, k) for ids, gold in rankings]),
        f"all@{k}": _mean([all_at(ids, gold, k) for ids, gold in rankings]),
        "MRR": _mean([reciprocal_rank(ids, gold, DEPTH) for ids, gold in rankings]),
        "NDCG@10": _mean([ndcg_at(ids, gold, DEPTH) for ids, gold in rankings]),
        "precision": _mean([len(each.expect & set(ids)) / len(ids) for each, ids in answered]),
        "extra": _mean([float(len(set(ids) - each.expect)) for each, ids in answered]),
        "forbidden": _mean([float(not each.forbid.isdisjoint(answer.ids)) for each, answer in guarded]),
        "answered_wrongly": _mean([float(bool(answer.ids)) for answer in hopeless]),
        "left_unanswered": _mean([float(not answer.ids) for _, answer in answerable]),
    }


def _gains(asked: Sequence[Asked], k: int, columns: Sequence[str]) -> dict[str, float]:
    """By how much hybrid is better than each other column, in recall@k."""
    found = {column: _numbers(asked, _column(column), k)[f"recall@{k}"] or 0.0 for column in columns}
    return {name: round(found["hybrid"] - value, 6) for name, value in found.items() if name != "hybrid"}


def _mean(values: Sequence[float]) -> float | None:
    return round(mean(values), 6) if values else None


def _latency(answers: Sequence[Answer]) -> dict[str, float]:
    watch = Stopwatch()
    for answer in answers:
        watch.add(answer.nanoseconds)
    return watch.summary()


def _missed(each: Asked, k: int) -> bool:
    hybrid = each.columns["hybrid"].ids
    wanted_none = each.question.abstain and hybrid
    return bool(each.expect.difference(hybrid[:k]) or each.forbid.intersection(hybrid) or wanted_none)


def _miss(each: Asked, k: int) -> dict[str, Any]:
    """A question that did not bring what it should, in keys (or ids) and counts."""
    hybrid = each.columns["hybrid"].ids
    return {
        **_place(each),
        "missing": _named(each, each.expect.difference(hybrid[:k])),
        "forbidden": _named(each, each.forbid.intersection(hybrid)),
        "returned": len(hybrid),
    }


def _named(each: Asked, ids: frozenset[str]) -> list[str]:
    return sorted(name for name, identity in each.names.items() if identity in ids)


def _place(each: Asked) -> dict[str, Any]:
    return {"file": each.source, "line": each.question.line}


def _pairs(baseline: Mapping[str, Any], found: Mapping[str, Any]) -> list[tuple[str, Numbers, Numbers]]:
    """(where, before, now) for everything that both have: hybrid in total and by tag, and each policy."""
    pairs = []
    old, new = baseline["columns"]["hybrid"], found["columns"]["hybrid"]
    pairs += [(f"hybrid, {name}", old[name], new[name]) for name in old if name in new]
    old, new = baseline["policies"], found["policies"]
    pairs += [(f"policy {name}", old[name], new[name]) for name in old if name in new]
    return pairs


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}" if name == "extra" else percent(value)
