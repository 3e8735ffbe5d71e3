"""One public set, asked in three columns: words only, vectors only, and both as a user gets them."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.errors import MemorandaError
from memoranda.domain.ports import Progress
from memoranda.evaluation.asking import COLUMNS, Answer, ask
from memoranda.evaluation.confidence import SEED, Estimate, differences, estimates
from memoranda.evaluation.metrics import DEPTH, Stopwatch, first_of_each, means, ranking_metrics
from memoranda.evaluation.moments import asked_at
from memoranda.evaluation.packs import Pack, Question
from memoranda.evaluation.stores import Loaded
from memoranda.evaluation.suites import TARGETS

DEEP = 50
"""Hits asked for where several of them may be one: parts of a document, turns of a session."""

Rows = list[dict[str, float]]


class Column(NamedTuple):
    """What one column brought: the metrics of each question, in the order of the questions."""

    rows: Rows
    sessions: Rows
    """The same where the best turn of a session counts for the session; empty when the set has none."""
    watch: Stopwatch


class SetResult(NamedTuple):
    """One set, measured."""

    pack: Pack
    questions: tuple[Question, ...]
    columns: Mapping[str, Column]
    memories: int
    embedder: str
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.pack.name

    @property
    def sampled(self) -> bool:
        return len(self.questions) < len(self.pack.questions)

    def overall(self) -> dict[str, dict[str, Estimate]]:
        """By column: an estimate for each metric."""
        return {name: estimates(column.rows) for name, column in self.columns.items()}

    def by_session(self) -> dict[str, dict[str, Estimate]]:
        """By column, for whole sessions; empty when the set has none."""
        return {name: estimates(column.sessions) for name, column in self.columns.items() if column.sessions}

    def gain(self) -> dict[str, Estimate]:
        """Hybrid minus lexical, paired question by question."""
        return differences(self.columns["hybrid"].rows, self.columns["lexical"].rows)

    def by_category(self) -> dict[str, tuple[int, dict[str, dict[str, float]]]]:
        """By category: how many questions, and by column the mean of each metric."""
        kinds = [question.category for question in self.questions]
        found = {}
        for kind in sorted(set(kinds)):
            places = [at for at, each in enumerate(kinds) if each == kind]
            found[kind] = (
                len(places),
                {name: means([column.rows[at] for at in places]) for name, column in self.columns.items()},
            )
        return found

    def targets(self) -> list[dict[str, Any]]:
        """What the project wants here, and whether hybrid reaches it."""
        reached = means(self.columns["hybrid"].rows)
        return [
            {
                "metric": target.metric,
                "wanted": target.percent,
                "measured": round(100 * reached[target.metric], 1),
                "reached": round(100 * reached[target.metric], 1) >= target.percent,
            }
            for target in TARGETS.get(self.name, ())
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "set": self.name,
            "documents": len(self.pack.documents),
            "memories": self.memories,
            "questions": len(self.questions),
            "embedder": self.embedder,
            "columns": _json_of(self.overall()),
            "hybrid_minus_lexical": {name: each.as_json() for name, each in self.gain().items()},
            "sessions": _json_of(self.by_session()),
            "categories": {kind: {"questions": count, **shown} for kind, (count, shown) in self.by_category().items()},
            "latency": {name: column.watch.summary() for name, column in self.columns.items()},
            "targets": self.targets(),
            "notes": list(self.notes),
        }


def sample(questions: Sequence[Question], count: int | None) -> tuple[Question, ...]:
    """All of them, or so many chosen by a fixed seed, in their own order."""
    if count is None or count >= len(questions):
        return tuple(questions)
    chosen = sorted(random.Random(SEED).sample(range(len(questions)), count))  # noqa: S311 a sample, not a secret
    return tuple(questions[at] for at in chosen)


def measure(loaded: Loaded, questions: Sequence[Question], tell: Progress) -> SetResult:
    """Ask every question in every column, under the policy that holds nothing back."""
    names = [name for name in COLUMNS if name != "semantic" or loaded.embedder != "none"]
    columns = {name: Column([], [], Stopwatch()) for name in names}
    degraded: Counter[str] = Counter()
    depth = DEEP if loaded.pack.is_chat or _has_parts(loaded) else DEPTH
    for done, question in enumerate(questions, 1):
        loaded.clock.ms = asked_at(question.time, loaded.pack.newest(question.group))
        view = loaded.within(question.group)
        # Hybrid first: it pays for the vector of the question, as it does for a user.
        for name, column in reversed(columns.items()):
            answer = ask(view, question.text, column=name, policy="broad", limit=depth)
            column.watch.add(answer.nanoseconds)
            degraded.update(answer.degraded)
            _score(loaded, question, answer, column)
        tell(done, len(questions))
    notes = (*_notes(loaded, questions, depth), *(f"{reason} ({count} answers)" for reason, count in degraded.items()))
    return SetResult(loaded.pack, tuple(questions), columns, loaded.memories, loaded.embedder, notes)


def gold_of(loaded: Loaded, question: Question) -> frozenset[str]:
    """The gold documents, each as the one that stands for it in the store."""
    same = loaded.stands_for[question.group]
    return frozenset(same[each] for each in question.gold)


def documents_of(loaded: Loaded, group: str, answer: Answer) -> list[str]:
    """The documents of the memories that came back; of the parts of a document the best counts."""
    known = loaded.document_of[group]
    if strangers := [each for each in answer.ids if each not in known]:
        raise MemorandaError(f"{strangers[0]} came back in {group}, where it is not", hint="This is a leak: report it.")
    return first_of_each(known[each] for each in answer.ids)


def _score(loaded: Loaded, question: Question, answer: Answer, column: Column) -> None:
    ranking = documents_of(loaded, question.group, answer)
    column.rows.append(ranking_metrics(ranking, gold_of(loaded, question)))
    if loaded.pack.is_chat:
        gold = set(_sessions(loaded.pack, question.gold))
        column.sessions.append(ranking_metrics(first_of_each(_sessions(loaded.pack, ranking)), gold))


def _sessions(pack: Pack, documents: Iterable[str]) -> list[str]:
    """The session of each document; a document outside any session is one of its own."""
    return [pack.documents[each].session or each for each in documents]


def _has_parts(loaded: Loaded) -> bool:
    return any(len(each) > len(set(each.values())) for each in loaded.document_of.values())


def _notes(loaded: Loaded, questions: Sequence[Question], depth: int) -> tuple[str, ...]:
    notes = []
    pack = loaded.pack
    if len(questions) < len(pack.questions):
        notes.append(f"a sample of {len(questions)} of {len(pack.questions)} questions, drawn with a fixed seed")
    if depth == DEEP:
        notes.append(f"{DEEP} hits were asked for, of which the first ten different documents (or sessions) count")
    if _has_parts(loaded):
        notes.append("documents too long for one memory were kept in parts; the best part counts for the document")
    together = sum(key != value for each in loaded.stands_for.values() for key, value in each.items())
    if together:
        notes.append(f"{together} documents had the same text as one before and were kept as one memory with it")
    if any(document.source == "assistant" for document in pack.documents.values()):
        notes.append("what the assistant said was remembered with the source assistant, which is not trusted")
    if any(document.tags for document in pack.documents.values()):
        notes.append("the publisher of a document is a tag of its memory")
    if loaded.vectors_missing:
        notes.append(f"{loaded.vectors_missing} memories have no vector: the figures by meaning are too low")
    return tuple(notes)


def _json_of(columns: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
    return {name: {metric: each.as_json() for metric, each in shown.items()} for name, shown in columns.items()}
