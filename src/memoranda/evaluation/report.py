"""What a run over public sets found, as Markdown, as JSON and as plots. Every number stands under its name."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.evaluation import plots
from memoranda.evaluation.abstention import KEPT
from memoranda.evaluation.bench import SetResult
from memoranda.evaluation.confidence import Estimate
from memoranda.evaluation.metrics import RANKING, mean
from memoranda.evaluation.precision import PrecisionResult
from memoranda.evaluation.tables import NOTHING, interval, percent, signed, table

_LEGEND = """\
Percent, with a 95 % bootstrap interval over the questions. R@k: fraction of the gold documents among the first k.
any@k: at least one of them, all@k: every one. N@10: NDCG, binary gain, log2 discount. MRR: one over the rank of the
first gold document, within ten. lexical: words only, the floor. semantic: vectors only. hybrid: what a user gets.
A star marks a difference whose interval does not contain zero.
"""
_SHORT = ("R@5", "R@10", "all@5", "N@10")


class Run(NamedTuple):
    """A whole run: how it was asked for, and what came of it."""

    how: Mapping[str, Any]
    sets: Sequence[SetResult]
    precision: Sequence[PrecisionResult]

    def as_json(self) -> dict[str, Any]:
        return {
            **self.how,
            "sets": [each.as_json() for each in self.sets],
            "precision": [each.as_json() for each in self.precision],
        }

    def markdown(self) -> str:
        """The whole report."""
        parts = ["# Recall, measured\n", _how(self.how)]
        if self.sets:
            parts += [_LEGEND, *_summary(self.sets), *(_set(each) for each in self.sets)]
        parts += [_precision(each) for each in self.precision]
        return "\n".join(parts)

    def drawings(self) -> dict[str, str]:
        """SVG text by file name."""
        drawn = {}
        if self.sets:
            groups = {each.name: {name: shown["R@10"] for name, shown in each.overall().items()} for each in self.sets}
            drawn["r10.svg"] = plots.bars("R@10 for each set", "R@10, percent", groups)
        if self.precision:
            drawn["abstention.svg"] = plots.curves(
                "Answered where the answer is, and where it is not",
                "answered in the wrong place, percent",
                "answered in the right place, percent",
                _series(self.precision),
            )
        return drawn


def _series(results: Sequence[PrecisionResult]) -> list[plots.Series]:
    wordings = [(each.name, wording) for each in results for wording in each.wordings]
    return [
        plots.Series(
            f"{name}, {wording.name}, {column}",
            [(0.0, 0.0), *((point.wrong_answered, point.right_answered) for point in found.curve)],
            colour=at,
            dashed=column == "lexical",
        )
        for at, (name, wording) in enumerate(wordings)
        for column, found in wording.columns.items()
    ]


def _how(how: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in how.items()) + ".\n"


def _summary(sets: Sequence[SetResult]) -> list[str]:
    rows = []
    for each in sets:
        shown, gain = each.overall(), each.gain()
        cells = [percent(shown[name]["R@10"].value) if name in shown else NOTHING for name in ("lexical", "semantic")]
        hybrid = [interval(shown["hybrid"][metric]) for metric in ("R@10", "N@10")]
        rows.append([each.name, str(len(each.questions)), *cells, *hybrid, signed(gain["R@10"])])
    head = ["set", "questions", "lexical R@10", "semantic R@10", "hybrid R@10", "hybrid N@10", "hybrid - lexical R@10"]
    found = ["## All sets\n", table(head, rows)]
    targets = [
        [each.name, target["metric"], f"{target['wanted']:g}", f"{target['measured']:.1f}", _reached(each, target)]
        for each in sets
        for target in each.targets()
    ]
    if targets:
        found += ["## Targets\n", table(["set", "metric", "wanted", "measured, hybrid", "reached"], targets)]
    return found


def _reached(each: SetResult, target: Mapping[str, Any]) -> str:
    said = "reached" if target["reached"] else "not reached"
    return said + ", on a sample" if each.sampled else said


def _set(each: SetResult) -> str:
    overall, sessions, gain = each.overall(), each.by_session(), each.gain()
    names = list(overall)
    parts = [
        f"## {each.name}\n",
        f"{len(each.pack.documents):,} documents, {each.memories:,} memories, {len(each.questions):,} questions.\n",
        table(
            ["metric", *names, "hybrid - lexical"],
            [
                [metric, *(interval(overall[name][metric]) for name in names), signed(gain[metric])]
                for metric in RANKING
            ],
        ),
    ]
    if sessions:
        parts += ["Whole sessions: the best memory of a session counts for it.\n", _plain(sessions)]
    categories = each.by_category()
    if len(categories) > 1:
        parts += ["By category, the hybrid column; the last line is the mean of the categories.\n", _categories(each)]
    taken = {name: column.watch.summary() for name, column in each.columns.items()}
    parts.append(
        table(
            ["milliseconds for one question", *names],
            [[share, *(f"{taken[name][share]:.1f}" for name in names)] for share in ("p50_ms", "p95_ms")],
        )
    )
    parts += [f"- {note}" for note in each.notes]
    return "\n".join(parts) + "\n"


def _plain(columns: Mapping[str, Mapping[str, Estimate]]) -> str:
    rows = [[metric, *(percent(shown[metric].value) for shown in columns.values())] for metric in RANKING]
    return table(["metric, sessions", *columns], rows)


def _categories(each: SetResult) -> str:
    found = each.by_category()
    head = ["category", "questions", *(f"{metric} hybrid" for metric in _SHORT), "R@10 lexical", "R@10 semantic"]
    rows = []
    for kind, (count, columns) in found.items():
        others = [percent(columns[name]["R@10"]) if name in columns else NOTHING for name in ("lexical", "semantic")]
        rows.append([kind, str(count), *(percent(columns["hybrid"][metric]) for metric in _SHORT), *others])
    macro = [mean([columns["hybrid"][metric] for _, columns in found.values()]) for metric in _SHORT]
    rows.append(["mean", str(len(each.questions)), *(percent(value) for value in macro), NOTHING, NOTHING])
    return table(head, rows)


def _precision(each: PrecisionResult) -> str:
    rows = []
    bars = []
    for wording in each.wordings:
        for column, found in wording.columns.items():
            kept = [percent(point.wrong_answered) for point in found.at]
            rows.append([f"{column}, {wording.name}", f"{found.auc:.3f}", *kept])
        for bar in wording.bars:
            answered = [percent(bar.right_answered), percent(bar.wrong_answered), f"{bar.hits:.1f}"]
            bars.append([f"{bar.policy}, {wording.name}", *answered])
    return "\n".join(
        [
            f"## {each.name}: asked where the answer is not\n",
            f"{each.questions:,} questions, each asked in its own group and in another. The share answered in the "
            "wrong group, at the score that keeps so many of those asked in the right one. AUC: the chance that the "
            "best score in the right group is the higher one.\n",
            table(["column, wording", "AUC", *(f"{100 * share:.0f} % kept" for share in KEPT)], rows),
            "What each policy answers, and how many memories it returns in the right group (at most five).\n",
            table(["policy, wording", "right answered", "wrong answered", "memories"], bars),
        ]
    )
