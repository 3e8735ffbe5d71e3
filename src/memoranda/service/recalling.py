"""Recalling: brings the pure rooms together with the ledger, the index and the embedder, for one scope."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import STATES, Memory, State
from memoranda.domain.pack import Pack, PackFormat
from memoranda.domain.ports import IndexAnswer, IndexQuery, Times
from memoranda.domain.receipt import RecallReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Recall, Replay, WhyNot
from memoranda.domain.scope import Scope
from memoranda.ledger.ledger import Filter
from memoranda.recall.factors import Circumstances
from memoranda.recall.gate import NO_QUERY, TRIVIAL, gate
from memoranda.recall.objections import objection
from memoranda.recall.pipeline import Fate, Load, Plan, recall, traced
from memoranda.recall.policies import BARS
from memoranda.recall.subjects import named_kinds, named_subjects
from memoranda.recall.times import When, when
from memoranda.service.corpus import Standing
from memoranda.service.engine import Engine
from memoranda.service.screening import without_secrets

MAX_QUERY = 4_000
SMALL_WORDS = "only small words"
# A time named in a longer text is a part of what is told, not of what is asked.
_LONGEST_WITH_TIME = 200
_POOL = 64
# So many that are not trusted among the proposals may have pushed out what is.
_CROWD = _POOL // 2


class _Asked(NamedTuple):
    """A request made ready: what is searched with, and what is planned."""

    plan: Plan
    query: IndexQuery


class Recaller:
    """Recall in one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    def recall(self, request: Request) -> Recall:
        """What bears on the query, best first."""
        found = recall(*self._searched(request))
        if request.trust or found.distrusted < _CROWD:
            return found.recall
        # What is trusted comes first, however much there is of what is not.
        trusted = recall(*self._searched(request, only_trusted=True)).recall
        return trusted if trusted or request.mode == "automatic" else found.recall

    def everything(self, request: Request) -> Recall:
        """All that bears on the query, whatever it is, best first: to be erased, not to be answered with."""
        return recall(*self._searched(request, everything=True)).recall

    def why_not(self, request: Request, reference: Reference) -> WhyNot:
        """At which step, and why, a memory was not returned."""
        found = self.recall(request)
        try:
            memory = self._engine.ledger.get(id_of(reference), scope=self._scope, as_of=request.as_of)
        except NotFound:
            reason = "other scope: this scope sees no such memory, whether or not another has it"
            return WhyNot(id_of(reference), False, "scope", reason, {}, found.receipt)
        if memory is None:
            return WhyNot(id_of(reference), False, "ledger", "it did not exist at that moment", {}, found.receipt)
        for rank, hit in enumerate(found, start=1):
            if hit.id == memory.id:
                reason = f"it came back, as number {rank}"
                return WhyNot(hit.id, True, "returned", reason, {"score": hit.score}, found.receipt)
        return self._fate(request, found.receipt, memory)

    def replay(self, receipt: RecallReceipt | Mapping[str, Any]) -> Replay:
        """The same recall again, from its receipt."""
        shown = receipt.as_json() if isinstance(receipt, RecallReceipt) else receipt
        if not isinstance(shown, Mapping) or not isinstance(shown.get("request"), Mapping):
            raise InvalidInput("this is no receipt of a recall", hint="Give a receipt as recall --json shows it.")
        if _home(shown) != self._scope.path:
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

    def pack(
        self,
        found: Recall,
        *,
        budget: int,
        format: PackFormat,  # noqa: A002 the word users know
        profile: Sequence[str] = (),
        told: Sequence[str] = (),
    ) -> Pack:
        """Hits as a bounded block for a model, after the lines of a profile. What `told` says is not said again."""
        from memoranda.recall.packing import pack
        from memoranda.recall.repetition import told_by

        return pack(
            found,
            profile=profile,
            said=told_by(told, found) if told else (),
            budget=budget,
            format=format,
            key=self._engine.ledger.key_for("pack"),
            documents=found.documents,
            excluded=found.receipt.dropped,
        )

    # -- the steps --

    def _searched(
        self, request: Request, *, everything: bool = False, only_trusted: bool = False
    ) -> tuple[Plan, IndexAnswer, Load]:
        """What the pure pipeline needs: the plan, the proposals, and a way to load rows."""
        request, notes = self._cleaned(request, everything=everything)
        skipped = gate(request.query) if not everything else ("" if request.query else NO_QUERY)
        time = None if skipped else self._when(request)
        if not skipped and not everything and _says_nothing(request, time):
            skipped = SMALL_WORDS
        plan, query = self._asked(request, skipped, time, notes)
        if only_trusted:
            query = query._replace(allow=self._allowed(request._replace(trust=("trusted",))))
        answer = IndexAnswer((), 0, 0) if skipped else self._engine.memories.search(query)
        return plan._replace(everything=everything), answer, self._load(request)

    def _cleaned(self, request: Request, *, everything: bool = False) -> tuple[Request, list[str]]:
        """A query is never refused for its characters: what is not text is taken out of it, and so is what is secret,
        before it goes to an embedder or into a receipt. Who wants to erase may have to name even that."""
        if not isinstance(request.query, str):
            what = type(request.query).__name__
            raise InvalidInput(f"query: text is expected, not {what}", hint="Pass the question as text.")
        text = request.query.replace("\0", " ").encode("utf-8", "replace").decode().strip()
        notes = [f"the query was cut to {MAX_QUERY:,} characters"] if len(text) > MAX_QUERY else []
        text = text[:MAX_QUERY]
        if not everything:
            text = without_secrets(text, self._engine.settings)
        return request._replace(query=text), notes

    def _load(self, request: Request) -> Load:
        ledger = self._engine.ledger
        return lambda numbers: ledger.load(numbers, scope=self._scope, as_of=request.as_of)

    def _asked(self, request: Request, skipped: str, time: When | None, notes: Sequence[str]) -> _Asked:
        engine = self._engine
        settings = engine.settings
        standing = Standing() if skipped else engine.memories.catch_up()
        only_time = time is not None and time.only
        subjects = frozenset() if skipped else self._subjects(request)
        vector, embedder, trouble = None, "not asked", ""
        if "semantic" in request.lanes and not skipped and not only_time:
            vector, embedder, trouble = engine.memories.embed_query(request.query)
        idle = {"lexical": only_time, "semantic": vector is None, "structured": time is None and not subjects}
        lanes = tuple(lane for lane in request.lanes if not idle[lane])
        hybrid = vector is not None and "lexical" in lanes
        query = IndexQuery(
            scopes=self._scope.chain(),
            text=request.query if "lexical" in request.lanes and not only_time else "",
            vector=vector,
            now=request.now if request.as_of is None and "expired" not in request.states else None,
            # At another moment the ledger says which may come back.
            states=frozenset(_kept_as(request.states) if request.as_of is None else STATES),
            allow=self._allowed(request),
            times=None if time is None else Times(tuple((s.start, s.until) for s in time.spans), time.sessions),
            subjects=subjects,
            vocabulary=engine.embedders.vocabulary() if hybrid else None,
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
            in_conversation=time is not None and bool(time.sessions),
            degraded=(*notes, *standing.degraded, *((trouble,) if trouble else ())),
            skipped=skipped,
            circumstances=Circumstances(
                now=request.now if request.as_of is None else request.as_of,
                half_life_days=settings.half_life_days,
                speaker=request.prefer_speaker,
                repeated=frozenset(request.repeated),
                kinds=named_kinds(request.query),
                exactness=exactness(request.query),
            ),
            receipt_items=settings.receipt_items,
            receipt_tops=settings.receipt_verbosity == "high",
        )
        return _Asked(plan, query)

    def _when(self, request: Request) -> When | None:
        """What the query says of time, against what there is."""
        if "structured" not in request.lanes or len(request.query) > _LONGEST_WITH_TIME:
            return None
        if when(request.query, now=request.now) is None:
            return None
        extent = self._engine.memories.index().extent(self._scope.chain())
        first, last = extent or (None, None)
        return when(request.query, now=request.now, first=first, last=last)

    def _subjects(self, request: Request) -> frozenset[int]:
        """Numbers of what is about a thing that the query names."""
        if "structured" not in request.lanes:
            return frozenset()
        ledger = self._engine.ledger
        # What things were called at another moment is not looked up: there, only identifiers name them.
        aliases = ledger.aliases(scope=self._scope) if request.as_of is None else ()
        named = named_subjects(request.query, aliases)
        return ledger.numbers_about(sorted(named), scope=self._scope) if named else frozenset()

    def _allowed(self, request: Request) -> frozenset[int] | None:
        """The numbers that may be looked at; None when nothing narrows it."""
        expired = "expired" in request.states
        if not request.narrowed and (not expired or "live" in request.states):
            return None
        moment = request.now if request.as_of is None else request.as_of
        wanted = Filter(
            kinds=request.kinds,
            states=_kept_as(request.states),
            sources=request.sources,
            trust=request.trust,
            about=request.about,
            speaker=request.speaker,
            tags=request.tags,
            time_after=request.time_after,
            time_before=request.time_before,
            importance_min=request.importance_min,
            as_of=request.as_of,
            valid_at=None if expired else moment,
        )
        fitting = self._engine.ledger.numbers_that_fit(wanted, scope=self._scope)
        if expired and "live" not in request.states:
            valid = wanted._replace(states=("live",), valid_at=moment)
            fitting -= self._engine.ledger.numbers_that_fit(valid, scope=self._scope)
        return fitting

    # -- why not --

    def _fate(self, request: Request, receipt: RecallReceipt, memory: Memory) -> WhyNot:
        def because(step: str, reason: str, numbers: dict[str, float] | None = None) -> WhyNot:
            return WhyNot(memory.id, False, step, reason, numbers or {}, receipt)

        if receipt.abstained in (NO_QUERY, TRIVIAL, SMALL_WORDS):
            return because("gate", receipt.abstained)
        stopped = objection(request, memory, self._scope)
        if stopped is not None:
            more = f" by {memory.superseded_by}" if stopped.reason == "superseded" and memory.superseded_by else ""
            return because(stopped.step, stopped.reason + more)
        number = self._engine.ledger.number_of(memory.id, scope=self._scope)
        fate = traced(*self._searched(request)).fates.get(number) or self._looked_at_alone(request, receipt, number)
        if fate is None:
            then = receipt.lanes == ("structured",)
            told = "it did not happen then" if then else "no lane proposed it: it has nothing of what was asked"
            return because("time" if then else "lanes", told)
        numbers = {"relevance": round(fate.relevance, 6), "bar": BARS[request.policy], **fate.parts}
        return because(fate.step, fate.reason, {name: round(value, 6) for name, value in numbers.items()})

    def _looked_at_alone(self, request: Request, receipt: RecallReceipt, number: int) -> Fate | None:
        """What the lanes would have said of it, had they had no limit."""
        cleaned, notes = self._cleaned(request)
        asked = self._asked(cleaned, "", self._when(cleaned), notes)
        answer = self._engine.memories.search(asked.query._replace(allow=frozenset({number})))
        if not answer.candidates:
            return None
        broad = asked.plan._replace(request=cleaned._replace(policy="broad"))
        # As relevant as it would have been among all the others.
        alone = traced(broad, answer._replace(searched=receipt.searched), self._load(request))
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


def _says_nothing(request: Request, time: When | None) -> bool:
    """Whether there is no word of content in it, and no time is asked for either."""
    from memoranda.index.tokens import content_words

    if time is not None and time.only:
        return False
    return next(iter(content_words(request.query if time is None else time.rest)), None) is None


def _home(shown: Mapping[str, Any]) -> str:
    """The scope in which the recall of a receipt was done."""
    scopes = shown.get("scopes")
    return scopes[0] if isinstance(scopes, Sequence) and scopes and isinstance(scopes[0], str) else ""


def _kept_as(states: Sequence[State]) -> tuple[State, ...]:
    """The states under which the ledger keeps these: what has expired may still be written down as live."""
    return tuple(dict.fromkeys((*states, "live"))) if "expired" in states else tuple(states)
