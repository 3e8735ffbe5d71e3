"""A pack in a store, loaded the way a user would: through the facade, one scope for each group.

A store may be kept between runs. The note beside it says what it holds; it is used again only when that is still
what is wanted, so that nothing is embedded twice.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

from memoranda.domain.clock import Clock
from memoranda.domain.draft import Draft
from memoranda.domain.errors import InvalidInput
from memoranda.domain.ports import Progress
from memoranda.evaluation.moments import asked_at
from memoranda.evaluation.packs import Document, Pack
from memoranda.evaluation.parts import split
from memoranda.service.memory import LongTermMemory

ROOT = "bench"
Told = Callable[[str], AbstractContextManager[Progress]]
"""Makes a progress bar with a title."""

# Raise it when a pack is remembered in another way: kept stores are then made anew.
_LOADING = 1
_NOTE = "loaded.json"
_BATCH = 500
_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+~-]{0,99}")


class Door(Protocol):
    """How stores are opened here: with the settings of whoever measures."""

    def __call__(self, path: Path, *, scope: str, clock: Clock | None = None) -> LongTermMemory: ...


class SettableClock:
    """Shows the time that it was set to. Not the machine's: a question is asked at its own time."""

    def __init__(self, ms: int) -> None:
        self.ms = ms

    def now(self) -> int:
        return self.ms


class Plan(NamedTuple):
    """How to load."""

    door: Door
    longest: int
    """Documents longer than this become several memories."""
    keep: Path | None = None
    told: Told | None = None


class Loaded(NamedTuple):
    """A pack that can be asked. Documents that were kept as one memory stand for each other."""

    pack: Pack
    memory: LongTermMemory
    clock: SettableClock
    document_of: Mapping[str, Mapping[str, str]]
    """By group: the id of a memory -> the document that it came from, the first one if there were several."""
    stands_for: Mapping[str, Mapping[str, str]]
    """By group: a document -> the document that stands for it."""
    memories: int
    vectors_missing: int
    embedder: str

    def within(self, group: str) -> LongTermMemory:
        return self.memory.within(scope_of(group))


def scope_of(group: str) -> str:
    """The scope of a group. A name that no scope may have is told apart by its hash."""
    if _SEGMENT.fullmatch(group):
        return f"{ROOT}/{group}"
    return f"{ROOT}/group-{hashlib.blake2b(group.encode(), digest_size=6).hexdigest()}"


@contextmanager
def loaded(pack: Pack, plan: Plan) -> Iterator[Loaded]:
    """The pack in a store of its own, with all its vectors; gone afterwards unless it is to be kept."""
    if plan.keep is None:
        with TemporaryDirectory(prefix="memoranda-bench-") as made, _opened(pack, plan, Path(made)) as found:
            yield found
        return
    folder = plan.keep / (pack.name + ("-pooled" if pack.digest.endswith("-pooled") else ""))
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(pack, plan, folder) as found:
        yield found


@contextmanager
def _opened(pack: Pack, plan: Plan, folder: Path) -> Iterator[Loaded]:
    wanted = {"pack": pack.name, "digest": pack.digest, "loading": _LOADING, "longest": plan.longest}
    ids = _kept(folder, wanted)
    clock = SettableClock(asked_at(None, None))
    with plan.door(folder / "store.db", scope=ROOT, clock=clock) as memory:
        if ids is None:
            (folder / _NOTE).write_text(json.dumps({**wanted, "complete": False}), encoding="utf-8")
            ids = _load(pack, plan, memory, clock)
            (folder / _NOTE).write_text(json.dumps({**wanted, "complete": True, "ids": ids}), encoding="utf-8")
        missing, embedder = _vectors(plan, memory, pack.name)
        yield _as_loaded(pack, memory, clock, ids, missing, embedder)


def _kept(folder: Path, wanted: Mapping[str, Any]) -> dict[str, list[list[str]]] | None:
    """What the store in this folder holds, if it is what is wanted; else the folder is made empty."""
    note = folder / _NOTE
    if not note.exists():
        if any(folder.iterdir()):
            raise InvalidInput(f"{folder} is not empty and was not made here", hint="Give --keep another folder.")
        return None
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except ValueError:
        found = {}
    if found.get("complete") and all(found.get(name) == value for name, value in wanted.items()):
        ids: dict[str, list[list[str]]] = found["ids"]
        return ids
    shutil.rmtree(folder)
    folder.mkdir()
    return None


def _load(pack: Pack, plan: Plan, memory: LongTermMemory, clock: SettableClock) -> dict[str, list[list[str]]]:
    """Remember every document of every group: by group, pairs of document and memory."""
    ids: dict[str, list[list[str]]] = {}
    total = sum(len(each) for each in pack.groups.values())
    with bar(plan, f"{pack.name}: remembering") as tell:
        done = 0
        for group, documents in pack.groups.items():
            # Written when it was all known; a question comes later.
            clock.ms = asked_at(None, pack.newest(group))
            view = memory.within(scope_of(group))
            ids[group] = []
            for start in range(0, len(documents), _BATCH):
                some = documents[start : start + _BATCH]
                drafts = [(each, draft) for each in some for draft in _drafts(pack.documents[each], plan.longest)]
                kept = view.remember_many([draft for _, draft in drafts])
                ids[group] += [[name, each.id] for (name, _), each in zip(drafts, kept, strict=True)]
                done += len(some)
                tell(done, total)
    return ids


def _drafts(document: Document, longest: int) -> list[Draft]:
    return [
        Draft(
            text,
            speaker=document.speaker,
            conversation=document.session,
            source=document.source,
            occurred_at=document.time,
            tags=document.tags,
        )
        for text in split(document.text, whole=longest)
    ]


def _vectors(plan: Plan, memory: LongTermMemory, name: str) -> tuple[int, str]:
    """Make the vectors that are missing; how many still are, and the space they are in."""
    status = memory.admin.index_status()
    if status.configured != "none" and (status.vectors_missing or status.lag or status.rebuild_needed):
        with bar(plan, f"{name}: embedding") as tell:
            status = memory.admin.rebuild(tell) if status.rebuild_needed else memory.admin.maintain(tell).status
    if status.configured == "none":
        return 0, "none"
    return status.vectors_missing, status.configured


def _as_loaded(
    pack: Pack,
    memory: LongTermMemory,
    clock: SettableClock,
    ids: Mapping[str, list[list[str]]],
    missing: int,
    embedder: str,
) -> Loaded:
    document_of: dict[str, dict[str, str]] = {}
    stands_for: dict[str, dict[str, str]] = {}
    for group, pairs in ids.items():
        firsts = document_of.setdefault(group, {})
        same = stands_for.setdefault(group, {})
        for document, kept in pairs:
            # Known by its first part: where that was there before, the older document stands for this one.
            standing = same.setdefault(document, firsts.get(kept, document))
            firsts.setdefault(kept, standing)
    memories = sum(len(each) for each in document_of.values())
    return Loaded(pack, memory, clock, document_of, stands_for, memories, missing, embedder)


@contextmanager
def bar(plan: Plan, title: str) -> Iterator[Progress]:
    """A progress bar, if somebody wants to be told."""
    if plan.told is None:
        yield lambda done, total: None
        return
    with plan.told(title) as tell:
        yield tell
