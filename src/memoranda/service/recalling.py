"""Recalling: brings the pure rooms together with the ledger, the index and the embedder, for one scope."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import STATES, Memory
from memoranda.domain.pack import Pack, PackFormat
from memoranda.domain.ports import IndexAnswer, IndexQuery, Times
from memoranda.domain.receipt import RecallReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Recall, Replay, WhyNot
from memoranda.domain.scope import Scope
from memoranda.ledger.ledger import Filter
from memoranda.recall.factors import Circumstances
from memoranda.recall.gate import gate
from memoranda.recall.pipeline import Fate, Load, Outcome, Plan, recall, traced
from memoranda.recall.policies import BARS
from memoranda.recall.times import When, when
from memoranda.service.engine import Engine

MAX_QUERY = 4_000
# A time named in a longer text is a part of what is told, not of what is asked.
_LONGEST_WITH_TIME = 200
_POOL = 100


class _Asked(NamedTuple):
    """A request made ready: what is searched with, and what is planned."""

    query: IndexQuery
    plan: Plan


class Recaller:
    """Recall in one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def recall(self, request: Request, *, gated: bool = True) -> Recall:
        """What bears on the query, best first."""
        return recall(*self._searched(request, gated=gated))

    def why_not(self, request: Request, reference: Reference) -> WhyNot:
        """At which step, and why, a memory was not returned."""
        outcome = traced(*self._searched(request))
        receipt = outcome.recall.receipt
        for rank, hit in enumerate(outcome.recall, start=1):
            if hit.id.startswith(id_of(reference)):
                return WhyNot(
                    hit.id, True, "returned", f"it came back, as number {rank}", {"score": hit.score}, receipt
                )
        try:
            memory = self._engine.ledger.get(id_of(reference), scope=self._scope, as_of=request.as_of)
        except NotFound:
            reason = "other scope: this scope sees no such memory, whether or not another has it"
            return WhyNot(id_of(reference), False, "scope", reason, {}, receipt)
        if memory is None:
            return WhyNot(id_of(reference), False, "ledger", "it did not exist at that moment", {}, receipt)
        return self._fate(request, outcome, memory)

    def replay(self, receipt: RecallReceipt | Mapping[str, Any]) -> Replay:
        """The same recall again, from its receipt."""
        shown = receipt.as_json() if isinstance(receipt, RecallReceipt) else receipt
        if not isinstance(shown, Mapping) or not isinstance(shown.get("request"), Mapping):
            raise InvalidInput("this is no receipt of a recall", hint="Give a receipt as recall --json shows it.")
        if tuple(shown.get("scopes", ())) != self._scope.chain():
            raise InvalidInput(
                f"this receipt is of another scope than {self._scope}",
                hint="Replay it where it was made: with the same scope.",
            )
        again = self.recall(Request.from_json(shown["request"]))
        before, after = str(shown.get("digest", "")), again.receipt.digest
        same = before == after
        moved = shown.get("sequence") != again.receipt.sequence
        reason = "the same ids, scores and order" if same else "other ids, scores or order"
        if moved:
            reason += f"; the store went from sequence {shown.get('sequence')} to {again.receipt.sequence}"
        elif not same and again.receipt.embedder != shown.get("embedder"):
            reason += "; the embedder is another"
        return Replay(same, reason, before, after, again)

    def pack(self, found: Recall, *, budget: int, format: PackFormat) -> Pack:  # noqa: A002 the word users know
        """Hits as a bounded block for a model."""
        from memoranda.recall.packing import pack

        return pack(
            found,
            budget=budget,
            format=format,
            key=self._engine.ledger.key_for("pack"),
            excluded=found.receipt.dropped,
        )

    # -- the steps --

    def _searched(self, request: Request, *, gated: bool = True) -> tuple[Plan, IndexAnswer, Load]:
        """What the pure pipeline needs: the plan, the proposals, and a way to load rows."""
        request, notes = _cleaned(request)
        skipped = gate(request.query) if gated else ("" if request.query else "no query")
        asked = self._asked(request, skipped, notes)
        return asked.plan, IndexAnswer((), 0, 0) if skipped else self._engine.search(asked.query), self._load(request)

    def _load(self, request: Request) -> Load:
        ledger = self._engine.ledger
        return lambda numbers: ledger.load(numbers, scope=self._scope, as_of=request.as_of)

    def _asked(self, request: Request, skipped: str, notes: Sequence[str]) -> _Asked:
        engine = self._engine
        settings = engine.settings
        standing = engine.catch_up()
        time = None if skipped else self._when(request)
        only_time = time is not None and time.only
        vector, embedder, trouble = None, "none", ""
        if "semantic" in request.lanes and not skipped and not only_time:
            vector, embedder, trouble = engine.embed_query(request.query)
        lanes = tuple(
            lane
            for lane in request.lanes
            if not (lane == "semantic" and vector is None) and not (lane == "structured" and time is None)
        )
        hybrid = vector is not None and "lexical" in lanes
        query = IndexQuery(
            scopes=self._scope.chain(),
            text=request.query if "lexical" in request.lanes and not only_time else "",
            vector=vector,
            now=request.now if request.as_of is None else None,
            # At another moment the ledger says which may come back.
            states=frozenset(request.states if request.as_of is None else STATES),
            allow=self._allowed(request),
            times=None if time is None else Times(tuple((s.start, s.until) for s in time.spans), time.sessions),
            vocabulary=engine.vocabulary() if hybrid else None,
            pool=max(_POOL, 4 * request.limit),
            tail=standing.tail,
            hidden=standing.hidden,
        )
        from memoranda.index.tokens import exactness

        plan = Plan(
            request=request,
            scope=self._scope,
            sequence=engine.ledger.sequence(),
            lanes=lanes,
            priors=settings.priors,
            embedder=embedder,
            only_time=only_time,
            degraded=(*notes, *standing.degraded, *((trouble,) if trouble else ())),
            skipped=skipped,
            circumstances=Circumstances(
                now=request.now if request.as_of is None else request.as_of,
                half_life_days=settings.half_life_days,
                speaker=request.prefer_speaker,
                repeated=frozenset(request.repeated),
                exactness=exactness(request.query),
            ),
            receipt_items=settings.receipt_items,
            receipt_tops=settings.receipt_verbosity == "high",
        )
        return _Asked(query, plan)

    def _when(self, request: Request) -> When | None:
        """What the query says of time, against what there is."""
        if "structured" not in request.lanes or len(request.query) > _LONGEST_WITH_TIME:
            return None
        if when(request.query, now=request.now) is None:
            return None
        extent = self._engine.index().extent(self._scope.chain())
        first, last = extent or (None, None)
        return when(request.query, now=request.now, first=first, last=last)

    def _allowed(self, request: Request) -> frozenset[int] | None:
        """The numbers that may be looked at; None when nothing narrows it."""
        if not request.narrowed:
            return None
        moment = request.as_of
        wanted = Filter(
            kinds=request.kinds,
            states=request.states,
            sources=request.sources,
            trust=request.trust,
            about=request.about,
            speaker=request.speaker,
            tags=request.tags,
            time_after=request.time_after,
            time_before=request.time_before,
            importance_min=request.importance_min,
            as_of=moment,
            valid_at=request.now if moment is None else moment,
        )
        return self._engine.ledger.numbers_that_fit(wanted, scope=self._scope)

    # -- why not --

    def _fate(self, request: Request, outcome: Outcome, memory: Memory) -> WhyNot:
        receipt = outcome.recall.receipt

        def because(step: str, reason: str, numbers: dict[str, float] | None = None) -> WhyNot:
            return WhyNot(memory.id, False, step, reason, numbers or {}, receipt)

        if receipt.abstained in ("no query", "trivial prompt"):
            return because("gate", receipt.abstained)
        objection = _objection(request, memory)
        if objection:
            return because(*objection)
        number = self._engine.ledger.number_of(memory.id, scope=self._scope)
        fate = outcome.fates.get(number) or self._looked_at_alone(request, number)
        if fate is None:
            return because("lanes", "no lane proposed it: it has nothing of what was asked")
        numbers = {"relevance": round(fate.relevance, 6), "bar": BARS[request.policy], **fate.parts}
        return because(fate.step, fate.reason, {name: round(value, 6) for name, value in numbers.items()})

    def _looked_at_alone(self, request: Request, number: int) -> Fate | None:
        """What the lanes would have said of it, had they had no limit."""
        cleaned, notes = _cleaned(request)
        asked = self._asked(cleaned, "", notes)
        answer = self._engine.search(asked.query._replace(allow=frozenset({number})))
        if not answer.candidates:
            return None
        broad = asked.plan._replace(request=cleaned._replace(policy="broad"))
        alone = traced(broad, answer, self._load(request))
        if number in alone.fates:
            return alone.fates[number]
        if not alone.recall:
            return None
        hit = alone.recall[0].receipt
        bar = BARS[request.policy]
        if hit.relevance < bar:
            return Fate("bar", "below the bar", hit.relevance, hit.parts)
        return Fate(
            "lanes", "beyond what the lanes propose: others have more of what was asked", hit.relevance, hit.parts
        )


def _objection(request: Request, memory: Memory) -> tuple[str, str] | None:
    """The step and the reason for which this memory cannot come back, whatever was asked."""
    if memory.state not in request.states:
        successor = f" by {memory.superseded_by}" if memory.superseded_by else ""
        return "ledger", f"{memory.state}{successor}"
    if not memory.holds_at(request.now if request.as_of is None else request.as_of):
        return "ledger", "not valid then"
    if memory.trust == "quarantined" and "quarantined" not in request.trust:
        return "trust", "quarantined: it comes back only when an operator names that"
    happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
    filters = (
        ("trust", not request.trust or memory.trust in request.trust),
        ("kind", not request.kinds or memory.kind in request.kinds),
        ("source", not request.sources or memory.source in request.sources),
        ("about", not request.about or memory.about == request.about),
        ("speaker", not request.speaker or memory.speaker == request.speaker),
        ("tags", set(request.tags) <= set(memory.tags)),
        ("time_after", request.time_after is None or happened >= request.time_after),
        ("time_before", request.time_before is None or happened < request.time_before),
        ("importance_min", request.importance_min is None or (memory.importance or 0.0) >= request.importance_min),
    )
    for name, fits in filters:
        if not fits:
            return "filter", f"the filter {name} leaves it out"
    return None


def _cleaned(request: Request) -> tuple[Request, list[str]]:
    """A query is never refused for its characters: what is not text is taken out of it."""
    if not isinstance(request.query, str):
        raise InvalidInput(f"query: text is expected, not {type(request.query).__name__}")
    text = request.query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
    if len(text) > MAX_QUERY:
        return request._replace(query=text[:MAX_QUERY]), [f"the query was cut to {MAX_QUERY:,} characters"]
    return request._replace(query=text), []
