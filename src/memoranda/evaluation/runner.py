"""A run over the packs that were chosen, from their files to the report. One store is open at a time."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput
from memoranda.evaluation import bench, precision
from memoranda.evaluation.packs import read_pack
from memoranda.evaluation.report import Run
from memoranda.evaluation.stores import Plan, bar, loaded
from memoranda.evaluation.suites import Chosen


class Order(NamedTuple):
    """What is wanted of a run."""

    chosen: Chosen
    pooled: bool = False
    questions: int | None = None
    """A sample of so many of each set; None is all."""


def run(order: Order, plan: Plan, how: Mapping[str, Any]) -> Run:
    """Measure every set."""
    if order.pooled and order.chosen.precision and not order.chosen.packs:
        raise InvalidInput("in a pooled store there is no wrong group to ask", hint="Leave --pooled out.")
    sets, asked_elsewhere = [], []
    for folder in dict.fromkeys((*order.chosen.packs, *order.chosen.precision)):
        pack = read_pack(folder)
        if order.pooled:
            pack = pack.pooled()
        questions = bench.sample(pack.questions, order.questions)
        with loaded(pack, plan) as store:
            if folder in order.chosen.packs:
                with bar(plan, f"{pack.name}: asking") as tell:
                    sets.append(bench.measure(store, questions, tell))
            if folder in order.chosen.precision and not order.pooled:
                with bar(plan, f"{pack.name}: asking where the answer is not") as tell:
                    asked_elsewhere.append(precision.measure(store, questions, tell))
    return Run(how, sets, asked_elsewhere)


def prepared(folder: Path) -> Path:
    """The folder for results, made before the long work: what cannot be written is told first."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be made: {error}", hint="Give --out another folder.") from error
    return folder


def publish(found: Run, folder: Path) -> list[Path]:
    """Write the results, the report and the plots into a folder; what was written."""
    texts = {
        "results.json": json.dumps(found.as_json(), ensure_ascii=False, indent=1) + "\n",
        "report.md": found.markdown(),
        **found.drawings(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
