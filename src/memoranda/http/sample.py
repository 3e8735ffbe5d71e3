"""Sample data: a household, a group and a project over sixty days, to look at before there is anything of one's own.

All of it is in the scope `sample`, kept through the facade like anything else, and goes without a trace.
"""

import inspect
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.config import Settings
from memoranda.domain.clock import DAY_MS, SystemClock, iso
from memoranda.domain.errors import Conflict, NotFound
from memoranda.domain.scope import Scope
from memoranda.service.memory import LongTermMemory
from memoranda.service.store import SAMPLE, Store

_NOTES = "notes"
_PAGE = 500
_TURN_MS = 40_000


class Cleared(NamedTuple):
    """What went. `left` are files beside the store that somebody has written or changed."""

    memories: int
    conversations: int
    sources: int
    found: int
    """Traces that a search of every file still found; 0 is the proof."""
    left: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "left": list(self.left)}


class _Moving:
    """A clock that is set from step to step, so that things happened one after the other, days apart."""

    def __init__(self) -> None:
        self.end = SystemClock().now()
        self._ms = self.end

    def set(self, ago: float) -> None:
        self._ms = self.end - round(ago * DAY_MS)

    def now(self) -> int:
        self._ms += 1  # no two things happen at the very same moment
        return self._ms


def add(settings: Settings) -> int:
    """Put sample data into a store, which is made when it is new; how many memories there are."""
    story = _story()
    clock = _Moving()
    with Store.open(settings=settings.changed({"follow": False}), clock=clock) as store:
        if store.has_sample():
            raise Conflict("there is sample data already", hint="Clear it first: memoranda sample clear.")
        _tell(store, story["steps"], clock)
        _write_notes(store, story["notes"])
        clock.set(0)
        store.upkeep().admin.maintain()  # so that the first search finds vectors, and documents that were read
        return sum(each.memories for each in store.scopes(SAMPLE.path, limit=_PAGE))


def _story() -> dict[str, Any]:
    return tomllib.loads(files("memoranda.http").joinpath("sample.toml").read_text(encoding="utf-8"))


def _tell(store: Store, steps: list[dict[str, Any]], clock: _Moving) -> None:
    kept: dict[str, str] = {}
    for step in sorted(steps, key=lambda each: -each["ago"]):
        clock.set(step["ago"])
        given = {name: value for name, value in step.items() if name not in ("ago", "in", "do", "as")}
        if step["do"] == "conversations.append":
            given["messages"] = _said_since(clock.now(), given["messages"])
        scope = f"{SAMPLE}/{step['in']}" if step["in"] else SAMPLE.path
        result = _called(store.memory(Scope(scope)), step["do"], given, kept)
        if "as" in step:
            kept[step["as"]] = result.id


def _called(memory: LongTermMemory, verb: str, given: Mapping[str, Any], kept: Mapping[str, str]) -> Any:
    target: Any = memory
    for part in verb.split("."):
        target = getattr(target, part)
    act: Callable[..., Any] = target
    arguments = {name: _meant(name, value, kept) for name, value in given.items()}
    if "after_erase" in inspect.signature(act).parameters:
        arguments["after_erase"] = "allow"  # it may have been cleared before
    return act(**arguments)


def _said(lines: Sequence[str]) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for role, _, text in (line.partition(": ") for line in lines)]


def _said_since(start: int, lines: Sequence[str]) -> list[dict[str, Any]]:
    """With the moments at which it was said: people take their time."""
    return [{**each, "at": iso(start + place * _TURN_MS)} for place, each in enumerate(_said(lines))]


def _meant(name: str, value: Any, kept: Mapping[str, str]) -> Any:
    if name == "messages" and isinstance(value[0], str):
        return _said(value)
    return kept[value[1:]] if isinstance(value, str) and value.startswith("@") else value


# -- documents --


def notes_folder(store: Path) -> Path:
    """Where the sample's documents are, beside the store. Not a file of the store: those are counted and proven."""
    return store.with_name(f"{store.stem}-sample-notes")


def _write_notes(store: Store, notes: Mapping[str, str]) -> None:
    folder = notes_folder(store.path)
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    store.memory(SAMPLE).documents.add(folder, name=_NOTES, trust="trusted")


def clear(store: Store) -> Cleared:
    """Erase all of it, with a proof. Files of the sample that were edited stay where they are."""
    scopes = list(store.scopes(SAMPLE.path, limit=_PAGE))
    if not scopes:
        raise NotFound("there is no sample data here", hint="`memoranda sample add` makes some.")
    removed = 0
    for each in scopes:
        documents = store.memory(Scope(each.scope)).documents if each.sources else None
        for source in documents.list() if documents is not None else ():
            if documents is not None and source.scope == each.scope:
                documents.remove(source.name)
                removed += 1
    gone = store.memory(SAMPLE).erase(scope=SAMPLE.path).receipt
    return Cleared(len(gone.ids), gone.conversations, removed, gone.found, _remove_notes(store.path))


def _remove_notes(store: Path) -> tuple[str, ...]:
    folder = notes_folder(store)
    for name, text in _story()["notes"].items():
        path = folder / name
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text.lstrip("\n"):
            path.unlink()
    for below in sorted((each for each in folder.rglob("*") if each.is_dir()), reverse=True):
        if not any(below.iterdir()):
            below.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return tuple(sorted(str(each) for each in folder.rglob("*") if each.is_file()))
