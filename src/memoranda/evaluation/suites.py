"""Names for several packs at once, and what the project wants to reach on each."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.evaluation.packs import is_pack

SUITES: dict[str, tuple[str, ...]] = {
    "locomo": ("locomo",),
    "longmemeval": ("longmemeval*",),
    "beam": ("beam_*",),
    "realtalk": ("realtalk",),
    "time": ("tmd",),
    "multilingual": ("madial_*", "poquad", "cmrc*", "xquad_*", "ha_devices_*"),
    "preferences": ("prefeval", "locomo_plus"),
    "documents": ("multihop_rag",),
    "all": ("*",),
}
PRECISION = "precision"
"""The suite that asks where the answer is not."""
PRECISION_PACKS = ("locomo", "realtalk", "beam_100K", "longmemeval*")


class Target(NamedTuple):
    """What a set's hybrid column should reach, in percent."""

    metric: str
    percent: float


TARGETS: dict[str, tuple[Target, ...]] = {
    "locomo": (Target("R@10", 72), Target("N@10", 58)),
    "realtalk": (Target("R@10", 62), Target("N@10", 50)),
    "longmemeval_s_lite": (Target("all@5", 91),),
    "beam_100K": (Target("R@10", 62), Target("N@10", 48)),
    "madial_zh": (Target("R@10", 72),),
    "madial_en": (Target("R@10", 72),),
    "prefeval": (Target("R@10", 45),),
    "ha_devices_polish": (Target("R@5", 85),),
    "poquad": (Target("R@10", 95),),
    "tmd": (Target("N@10", 60),),
    "multihop_rag": (Target("all@5", 45),),
}


class Chosen(NamedTuple):
    """The packs to measure, and those to ask where the answer is not."""

    packs: tuple[Path, ...]
    precision: tuple[Path, ...]


def choose(names: Sequence[str], data: Path) -> Chosen:
    """Folders for the names that were given: suites, or folders of `data`."""
    if not data.is_dir():
        raise NotFound(f"there is no folder {data}", hint="Give the folder that holds the packs with --data.")
    there = sorted(folder for folder in data.iterdir() if folder.is_dir() and is_pack(folder))
    packs: dict[Path, None] = {}
    precision: dict[Path, None] = {}
    for name in names:
        if name in (PRECISION, "all"):
            precision.update(dict.fromkeys(_fitting(there, PRECISION_PACKS)))
        if name == PRECISION:
            found = list(precision)
        else:
            found = _fitting(there, SUITES.get(name, (name,)))
            packs.update(dict.fromkeys(found))
        if not found:
            known = ", ".join(dict.fromkeys([*SUITES, PRECISION, *(folder.name for folder in there)]))
            raise InvalidInput(f"{name!r} is neither a pack in {data} nor a suite", hint=f"There are: {known}.")
    return Chosen(tuple(packs), tuple(precision))


def _fitting(folders: Sequence[Path], patterns: Sequence[str]) -> list[Path]:
    return [folder for pattern in patterns for folder in folders if fnmatchcase(folder.name, pattern)]
