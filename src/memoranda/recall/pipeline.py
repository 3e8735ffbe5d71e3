"""Recall, step by step, and the receipt as it goes. Pure: handed proposals and a way to load rows.

1. What speaks for each proposal is weighed and becomes one relevance.
2. What does not clear the bar of the policy is dropped; nothing left is an answer, too.
3. The ledger disposes: rows are loaded, and scope, state, validity, trust and filters are checked again.
4. Factors of each memory turn relevance into the score by which they are ranked.
5. Trust, sources, grades and repetition decide which of them come back.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memoranda.domain.memory import Memory
from memoranda.domain.ports import IndexAnswer
from memoranda.domain.receipt import HitReceipt, LaneTops, RecallReceipt, hits_digest
from memoranda.domain.request import Lane, Request
from memoranda.domain.results import Hit, Recall
from memoranda.domain.scope import Scope
from memoranda.recall.diversity import diverse
from memoranda.recall.evidence import PARTS, Evidence, weighed
from memoranda.recall.factors import OTHER_IDENTIFIER, Circumstances, factors_of
from memoranda.recall.objections import objection
from memoranda.recall.policies import BARS, BEHIND, scale_of
from memoranda.recall.repetition import said_already
from memoranda.recall.tiers import Admitted, admissible, admitted

_LOADED = 24
_LOADED_PER_HIT = 3

Load = Callable[[Sequence[int]], dict[int, Memory]]


class Plan(NamedTuple):
    """What is asked, and under which circumstances."""

    request: Request
    scope: Scope
    sequence: int
    lanes: tuple[Lane, ...]
    priors: tuple[str, ...]
    embedder: str = "none"
    only_time: bool = False
    """Nothing but a time was asked: what happened then is the answer, in its order."""
    in_conversation: bool = False
    """A certain conversation was named: what was said elsewhere is not meant, if that one is there."""
    degraded: tuple[str, ...] = ()
    skipped: str = ""
    """Why nothing was searched, if so."""
    everything: bool = False
    """Whatever clears the bar comes back, unmixed: for what is to be erased."""
    circumstances: Circumstances = Circumstances(0)
    receipt_items: int = 3
    receipt_tops: bool = False


class Fate(NamedTuple):
    """What became of one proposal: the step at which it ended, and why."""

    step: str
    reason: str
    relevance: float
    parts: dict[str, float]


class Outcome(NamedTuple):
    """The recall, and the fate of everything that was proposed and did not come back, by number."""

    recall: Recall
    fates: dict[int, Fate]


class Found(NamedTuple):
    """The recall, and how many cleared the bar that are not trusted."""

    recall: Recall
    distrusted: int


def recall(plan: Plan, answer: IndexAnswer, load: Load) -> Found:
    """From proposals to hits."""
    run = _Run(plan, answer, load)
    return Found(run.recall(), run.distrusted)


def traced(plan: Plan, answer: IndexAnswer, load: Load) -> Outcome:
    """From proposals to hits, with what became of the others."""
    run = _Run(plan, answer, load)
    found = run.recall()
    return Outcome(found, run.fates)


class _Run:
    def __init__(self, plan: Plan, answer: IndexAnswer, load: Load) -> None:
        self._plan = plan
        self._answer = answer
        self._load = load
        self._ended: dict[int, tuple[str, str, float, Evidence]] = {}
        self._evidence: dict[str, Evidence] = {}
        self._weights: dict[str, float] = {}
        self.distrusted = 0

    @property
    def fates(self) -> dict[int, Fate]:
        """What became of everything that did not come back."""
        return {
            number: Fate(step, reason, relevance, evidence.parts)
            for number, (step, reason, relevance, evidence) in self._ended.items()
        }

    def recall(self) -> Recall:
        ranked = self._cleared(self._ranked())
        hits = self._said_once(self._near_the_best(self._named_exactly(self._disposed(ranked))))
        limit = self._plan.request.limit
        chosen = self._admitted(hits, limit)
        self._note_refused(hits, chosen.fates, "admission")
        returned = diverse(chosen.hits, limit)
        kept = {hit.id for hit in returned}
        self._note_refused(hits, {h.id: "beyond the limit" for h in chosen.hits if h.id not in kept}, "limit")
        return Recall(tuple(returned), self._receipt(returned, chosen))

    # -- weighing --

    def _ranked(self) -> list[tuple[float, Evidence]]:
        """(relevance, evidence), best first; of equals, the older."""
        if self._plan.only_time:
            return [
                (1.0, Evidence(each, (*[0.0] * PARTS.index("time"), 1.0), 1.0))
                for each in sorted(self._answer.candidates, key=lambda each: each.number)
                if each.timely
            ]
        scale = scale_of(self._plan.lanes)
        answer = self._answer
        found = weighed(
            answer.candidates,
            lanes=self._plan.lanes,
            priors=self._plan.priors,
            average_length=answer.average_length,
        )
        scored = [
            (scale.relevance(each.total, self._answer.searched) if each.total > 0 else 0.0, each) for each in found
        ]
        return self._said_there(sorted(scored, key=lambda pair: (-pair[0], pair[1].candidate.number)))

    def _said_there(self, ranked: list[tuple[float, Evidence]]) -> list[tuple[float, Evidence]]:
        there = [pair for pair in ranked if pair[1].candidate.timely]
        if not self._plan.in_conversation or not there:
            return ranked
        for relevance, evidence in ranked:
            if not evidence.candidate.timely:
                self._end(evidence, relevance, "time", "another conversation")
        return there

    def _cleared(self, ranked: list[tuple[float, Evidence]]) -> list[tuple[float, Evidence]]:
        bar = BARS[self._plan.request.policy]
        cleared = [pair for pair in ranked if pair[0] >= bar and pair[0] > 0]
        for relevance, evidence in ranked[len(cleared) :]:
            self._end(evidence, relevance, "bar", "below the bar")
        return cleared

    # -- the ledger disposes --

    def _disposed(self, ranked: Sequence[tuple[float, Evidence]]) -> list[Hit]:
        """Best first, and no more rows than are needed: a row costs more than a score."""
        enough = max(_LOADED, _LOADED_PER_HIT * self._plan.request.limit)
        hits: list[Hit] = []
        looked_at = 0
        while looked_at < len(ranked) and self._useful(hits) < enough:
            some = ranked[looked_at : looked_at + enough]
            rows = self._load([evidence.candidate.number for _, evidence in some])
            for relevance, evidence in some:
                memory = rows.get(evidence.candidate.number)
                if memory is None:
                    self._end(evidence, relevance, "ledger", "gone")
                    continue
                self.distrusted += memory.trust != "trusted"
                stopped = objection(self._plan.request, memory, self._plan.scope)
                if stopped is not None:
                    self._end(evidence, relevance, stopped.step, stopped.reason)
                else:
                    self._evidence[memory.id] = evidence
                    hits.append(self._hit(memory, relevance, evidence))
            looked_at += len(some)
        for relevance, evidence in ranked[looked_at:]:
            self._end(evidence, relevance, "limit", "beyond the limit")
        return hits

    def _useful(self, hits: Sequence[Hit]) -> int:
        """How many of these will not be refused for what they are."""
        request = self._plan.request
        return len(hits) if self._plan.everything else admissible(hits, request.mode, trust_named=bool(request.trust))

    def _admitted(self, hits: Sequence[Hit], limit: int) -> Admitted:
        request = self._plan.request
        if self._plan.everything:
            return Admitted(list(hits), "everything", {})
        return admitted(hits, mode=request.mode, limit=limit, trust_named=bool(request.trust))

    def _hit(self, memory: Memory, relevance: float, evidence: Evidence) -> Hit:
        # What happened then is told in its order, whatever else is to be said of it.
        factors = {} if self._plan.only_time else factors_of(memory, self._plan.circumstances)
        score = relevance
        for factor in factors.values():
            score *= factor
        self._weights[memory.id] = score
        candidate = evidence.candidate
        receipt = HitReceipt(
            id=memory.id,
            scope=memory.scope,
            score=round(min(score, 1.0), 6),
            relevance=round(relevance, 6),
            lexical_rank=candidate.lexical_rank,
            semantic_rank=candidate.semantic_rank,
            structured_rank=candidate.structured_rank,
            parts=evidence.parts,
            factors=factors,
            tier=memory.grade,
            trust=memory.trust,
        )
        return Hit(memory, receipt.score, receipt)

    def _named_exactly(self, hits: list[Hit]) -> list[Hit]:
        """Best first. When something has the identifier that was asked for, what has another is hardly meant."""
        how = self._plan.circumstances.exactness
        found = {hit.id: how(hit.memory.text) for hit in hits}
        # What may not come back does not speak against others.
        decided = any(found[hit.id] == "identifier" for hit in self._admitted(hits, len(hits)).hits)
        meant = {"identifier"} if decided else {"identifier", "phrase", "all terms", ""}
        ordered = [hit if found[hit.id] in meant else self._lowered(hit) for hit in hits]
        if self._plan.request.policy == "strict":
            others = {hit.id: "another identifier" for hit in ordered if found[hit.id] == "other identifier"}
            self._note_refused(ordered, others, "bar")
            ordered = [hit for hit in ordered if hit.id not in others]
        return sorted(ordered, key=self._order)

    def _lowered(self, hit: Hit) -> Hit:
        self._weights[hit.id] *= OTHER_IDENTIFIER
        factors = {**hit.receipt.factors, "other identifier": OTHER_IDENTIFIER}
        score = round(min(self._weights[hit.id], 1.0), 6)
        return Hit(hit.memory, score, hit.receipt._replace(score=score, factors=factors))

    def _order(self, hit: Hit) -> tuple[float, int]:
        """By the weight, not by the score: a score ends at 1, and the best of many good ones is still the best. Of
        equals, the older."""
        return -self._weights[hit.id], self._evidence[hit.id].candidate.number

    def _near_the_best(self, hits: list[Hit]) -> list[Hit]:
        """Without what is far behind the best, as the policy says. What may not come back is no measure for others."""
        may = self._admitted(hits, len(hits)).hits
        least = BEHIND[self._plan.request.policy] * (may[0].score if may else 0.0)
        behind = {hit.id: "far behind the best" for hit in hits if hit.score < least}
        self._note_refused(hits, behind, "bar")
        return [hit for hit in hits if hit.id not in behind]

    def _said_once(self, hits: list[Hit]) -> list[Hit]:
        """Without what a better one says that may come back."""
        if self._plan.everything:
            return hits
        again = dict.fromkeys(said_already(self._admitted(hits, len(hits)).hits), "said already")
        self._note_refused(hits, again, "admission")
        return [hit for hit in hits if hit.id not in again]

    # -- what became of the others --

    def _end(self, evidence: Evidence, relevance: float, step: str, reason: str) -> None:
        self._ended[evidence.candidate.number] = (step, reason, relevance, evidence)

    def _note_refused(self, hits: Sequence[Hit], refused: dict[str, str], step: str) -> None:
        for hit in hits:
            if hit.id in refused:
                self._end(self._evidence[hit.id], hit.receipt.relevance, step, refused[hit.id])

    # -- the receipt --

    def _receipt(self, hits: Sequence[Hit], chosen: Admitted) -> RecallReceipt:
        plan = self._plan
        abstained = plan.skipped
        if not hits and not abstained:
            abstained = self._nothing()
        dropped = Counter(reason for _, reason, _, _ in self._ended.values())
        return RecallReceipt(
            sequence=plan.sequence,
            scopes=plan.scope.chain(),
            request=plan.request.as_json(),
            lanes=plan.lanes,
            embedder=plan.embedder,
            searched=self._answer.searched,
            with_vector=self._answer.with_vector,
            proposed=len(self._answer.candidates),
            dropped=dict(sorted(dropped.items())),
            returned=len(hits),
            bar=BARS[plan.request.policy],
            tier=chosen.tier if hits else "",
            tiers=dict(sorted(Counter(hit.memory.grade for hit in hits).items())),
            abstained=abstained,
            degraded=plan.degraded,
            digest=hits_digest((hit.id, hit.score) for hit in hits),
            hits=tuple(hit.receipt for hit in hits[: plan.receipt_items]),
            tops=self._tops() if plan.receipt_tops else None,
        )

    def _nothing(self) -> str:
        """Why there is no answer."""
        if not self._answer.searched:
            return "nothing to search"
        if self._plan.only_time and not self._ended:
            return "nothing happened then"
        refused = self._plan.request.mode == "automatic" and any(
            step == "admission" for step, _, _, _ in self._ended.values()
        )
        return "nothing may speak unasked" if refused else "nothing cleared the bar"

    def _tops(self) -> LaneTops:
        """The first of each lane, by id."""
        most = self._plan.receipt_items
        lanes = [
            [number for _, number in sorted((rank, each.number) for each, rank in ranked if rank is not None)[:most]]
            for ranked in (
                [(each, each.lexical_rank) for each in self._answer.candidates],
                [(each, each.semantic_rank) for each in self._answer.candidates],
                [(each, each.structured_rank) for each in self._answer.candidates],
            )
        ]
        fused = [evidence.candidate.number for _, evidence in self._ranked()[:most]]
        rows = self._load(sorted({number for lane in [*lanes, fused] for number in lane}))
        return LaneTops(*(tuple(rows[number].id for number in lane if number in rows) for lane in [*lanes, fused]))
