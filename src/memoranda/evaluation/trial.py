"""A golden set, asked: in a store made for it, or in one that is there already, to which nothing is written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from memoranda.domain.clock import SystemClock
from memoranda.domain.errors import MemorandaError, NotFound
from memoranda.domain.ports import Progress
from memoranda.domain.request import POLICIES, Policy
from memoranda.domain.scope import Scope
from memoranda.evaluation.asking import COLUMNS, Answer, ask
from memoranda.evaluation.golden import GoldenQuestion, GoldenSet
from memoranda.evaluation.lines import wrong
from memoranda.evaluation.metrics import DEPTH
from memoranda.evaluation.stores import Door, SettableClock
from memoranda.service.memory import LongTermMemory


class Asked(NamedTuple):
    """One question and everything that came back."""

    source: str
    question: GoldenQuestion
    expect: frozenset[str]
    """Ids; so is `forbid`."""
    forbid: frozenset[str]
    columns: Mapping[str, Answer]
    """By column, under the policy that was chosen."""
    policies: Mapping[Policy, Answer]
    """By policy, the hybrid column."""
    names: Mapping[str, str]
    """What is told to people, and its id: the keys of the set, or the ids themselves when it has no memories."""

    def out_of_scope(self) -> int:
        """Hits, of all answers, from a scope that the question's scope does not see. Any is a leak."""
        scope = Scope(self.question.scope)
        answers = (*self.columns.values(), *self.policies.values())
        return sum(not scope.sees(each) for answer in answers for each in answer.scopes)

    def hits(self) -> int:
        """Hits of all answers."""
        return sum(len(answer.ids) for answer in (*self.columns.values(), *self.policies.values()))


class Trial(NamedTuple):
    """How to ask."""

    door: Door
    policy: Policy
    k: int
    semantic: bool
    """Whether there is an embedder, so that vectors alone can be asked."""
    store: Path | None = None
    """For a golden set without memories: the store that its ids are of."""


def run(golden: GoldenSet, trial: Trial, tell: Progress) -> list[Asked]:
    """Ask every question of one golden set."""
    if golden.memories:
        with TemporaryDirectory(prefix="memoranda-eval-") as folder, _opened(trial, Path(folder) / "store.db") as store:
            ids = _remember(golden, store)
            store.settle()
            return _ask_all(golden, trial, store, ids, tell)
    if trial.store is None:
        raise NotFound(f"{golden.path} has no memories", hint="Add memory lines, or name a store with --store.")
    with _opened(trial, trial.store) as store:
        ids = _looked_up(golden, store)
        return _ask_all(golden, trial, store, ids, tell)


class _Store:
    """One store seen from any scope: a handle for each root, opened when it is first needed."""

    def __init__(self, door: Door, path: Path, stack: ExitStack) -> None:
        self.clock = SettableClock(SystemClock().now())
        self.started = self.clock.ms
        self._door = door
        self._path = path
        self._stack = stack
        self._roots: dict[str, LongTermMemory] = {}

    def within(self, scope: str) -> LongTermMemory:
        root = scope.split("/")[0]
        if root not in self._roots:
            opened = self._door(self._path, scope=root, clock=self.clock)
            self._roots[root] = self._stack.enter_context(opened)
        return self._roots[root].within(scope)

    def settle(self) -> None:
        """Make every vector before anything is asked."""
        for memory in list(self._roots.values())[:1]:
            memory.admin.maintain()


@contextmanager
def _opened(trial: Trial, path: Path) -> Iterator[_Store]:
    with ExitStack() as stack:
        yield _Store(trial.door, path, stack)


def _remember(golden: GoldenSet, store: _Store) -> dict[str, str]:
    """Keep the memories in their order; the id of each key."""
    # Kept before the first question is asked.
    moments = [question.now for question in golden.questions if question.now is not None]
    store.clock.ms = min([store.started, *moments])
    ids: dict[str, str] = {}
    for memory in golden.memories:
        try:
            kept = store.within(memory.scope).remember(**memory.fields, supersedes=ids.get(memory.supersedes))
        except MemorandaError as error:
            raise wrong(golden.path, memory.line, str(error)) from error
        ids[memory.key] = kept.id
    return ids


def _looked_up(golden: GoldenSet, store: _Store) -> dict[str, str]:
    """The whole id for each that is named. What is forbidden may be out of sight; what is expected may not."""
    ids: dict[str, str] = {}
    for question in golden.questions:
        view = store.within(question.scope)
        for name in (*question.expect, *question.forbid):
            try:
                ids[name] = view.get(name).id
            except MemorandaError as error:
                if name in question.expect:
                    raise wrong(golden.path, question.line, str(error)) from error
                ids.setdefault(name, name)
    return ids


def _ask_all(golden: GoldenSet, trial: Trial, store: _Store, ids: Mapping[str, str], tell: Progress) -> list[Asked]:
    asked = []
    for done, question in enumerate(golden.questions, 1):
        store.clock.ms = store.started if question.now is None else question.now
        view = store.within(question.scope)
        try:
            asked.append(_ask(golden, trial, view, question, ids))
        except MemorandaError as error:
            raise wrong(golden.path, question.line, str(error)) from error
        tell(done, len(golden.questions))
    return asked


def _ask(
    golden: GoldenSet, trial: Trial, view: LongTermMemory, question: GoldenQuestion, ids: Mapping[str, str]
) -> Asked:
    limit = max(trial.k, DEPTH)

    def answer(column: str, policy: Policy) -> Answer:
        return ask(view, question.query, column=column, policy=policy, limit=limit, filters=question.filters)

    # Hybrid first: it pays for the vector of the question, as it does for a user.
    hybrid = answer("hybrid", trial.policy)
    columns = {name: hybrid if name == "hybrid" else answer(name, trial.policy) for name in _columns(trial)}
    policies = {each: hybrid if each == trial.policy else answer("hybrid", each) for each in POLICIES}
    return Asked(
        golden.path.name,
        question,
        frozenset(ids[key] for key in question.expect),
        frozenset(ids[key] for key in question.forbid),
        columns,
        policies,
        {key if golden.memories else ids[key]: ids[key] for key in (*question.expect, *question.forbid)},
    )


def _columns(trial: Trial) -> Sequence[str]:
    return [name for name in COLUMNS if name != "semantic" or trial.semantic]
