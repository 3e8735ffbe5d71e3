"""Searching transcripts: what was said, with what stood around it. A corpus of its own: recall never looks here."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from memoranda.conversations.searching import Passage, TranscriptHit, grouped
from memoranda.domain.conversation import KeptMessage
from memoranda.domain.memory import State
from memoranda.domain.ports import IndexQuery
from memoranda.domain.request import Lane
from memoranda.domain.row import Row as Results
from memoranda.domain.scope import Scope
from memoranda.ledger.messages import Row
from memoranda.recall.evidence import weighed
from memoranda.recall.policies import BARS, scale_of
from memoranda.service.engine import Engine
from memoranda.service.screening import without_secrets

MAX_QUERY = 4_000
_BEHIND = 0.5
"""Beside a good hit, what is so far behind it is none: it is shown where it stands around one."""
_POOL = 64
"""Proposals that are looked at; several of them are often of one passage."""
_ONE_SIDE = frozenset[State]({"live"})
_BOTH_SIDES = frozenset[State]({"live", "archived"})


class TranscriptReceipt(NamedTuple):
    """What a search of transcripts looked at, without a word of it."""

    scope: str
    searched: int
    proposed: int
    hits: int
    passages: int
    truncated: bool
    embedder: str
    degraded: tuple[str, ...] = ()
    abstained: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "degraded": list(self.degraded)}


class Found(Results[Passage]):
    """Passages, best first. Empty when nothing of it was said here."""

    __slots__ = ("names", "receipt")
    names: dict[str, str]
    """What hosts call the conversations, by their ids."""
    receipt: TranscriptReceipt

    def __init__(self, passages: tuple[Passage, ...], names: dict[str, str], receipt: TranscriptReceipt) -> None:
        object.__setattr__(self, "_items", passages)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "receipt", receipt)

    def as_json(self) -> dict[str, Any]:
        return {
            "passages": [
                {
                    "conversation": self.names[passage.conversation],
                    "score": round(passage.score, 4),
                    "hits": [message.id for message in passage.messages if message.number in passage.hits],
                    "messages": [message.as_json() for message in passage.messages],
                    "truncated": passage.truncated,
                }
                for passage in self
            ],
            "receipt": self.receipt.as_json(),
        }


class Wanted(NamedTuple):
    """What is looked for, and where."""

    query: str
    allow: Callable[[], frozenset[int] | None]
    """Numbers of messages that may be looked at; None for all."""
    archived: bool
    limit: int
    context: int
    gap_ms: int
    most_chars: int


def searched(engine: Engine, scope: Scope, wanted: Wanted) -> Found:
    """Passages of this scope's conversations, and of those above, that bear on the query."""
    query = without_secrets(wanted.query.replace("\0", " ").strip()[:MAX_QUERY], engine.settings)
    corpus = engine.messages
    if not query or not corpus.is_used():
        why = "nothing to search" if query else "no query"
        return Found((), {}, TranscriptReceipt(scope.path, 0, 0, 0, 0, False, "not asked", abstained=why))
    standing = corpus.catch_up()
    vector, embedder, trouble = corpus.embed_query(query)
    lanes: tuple[Lane, ...] = ("lexical",) if vector is None else ("lexical", "semantic")
    answer = corpus.search(
        IndexQuery(
            scopes=scope.chain(),
            text=query,
            vector=vector,
            states=_BOTH_SIDES if wanted.archived else _ONE_SIDE,
            allow=wanted.allow(),
            vocabulary=None if vector is None else engine.embedders.vocabulary(),
            pool=_POOL,
            tail=standing.tail,
            hidden=standing.hidden,
        )
    )
    scale = scale_of(lanes)
    # The same evidence as recall's: what a chat adds is made for chats.
    evidence = weighed(
        answer.candidates, lanes=lanes, priors=engine.settings.priors, average_length=answer.average_length
    )
    scores = {
        each.candidate.number: scale.relevance(each.total, answer.searched) for each in evidence if each.total > 0
    }
    bar = max(BARS["balanced"], _BEHIND * max(scores.values(), default=0.0))
    best = sorted((number for number in scores if scores[number] >= bar), key=lambda n: (-scores[n], n))
    rows = engine.transcripts.load(best[: 4 * wanted.limit], scopes=scope.chain())
    hits = [TranscriptHit(number, scores[number], row.conversation.id) for number, (row, _) in rows.items()]
    passages = grouped(
        hits,
        _neighbours(engine, rows),
        context=wanted.context,
        gap_ms=wanted.gap_ms,
        most_chars=wanted.most_chars,
    )[: wanted.limit]
    names = {row.conversation.id: row.conversation.name for row, _ in rows.values()}
    receipt = TranscriptReceipt(
        scope=scope.path,
        searched=answer.searched,
        proposed=len(answer.candidates),
        hits=len(hits),
        passages=len(passages),
        truncated=any(passage.truncated for passage in passages),
        embedder=embedder,
        degraded=(*standing.degraded, *((trouble,) if trouble else ())),
        abstained="" if passages else "nothing cleared the bar",
    )
    return Found(passages, names, receipt)


def _neighbours(
    engine: Engine, rows: dict[int, tuple[Row, KeptMessage]]
) -> Callable[[int, int], Sequence[KeptMessage]]:
    def neighbours(number: int, context: int) -> Sequence[KeptMessage]:
        row, message = rows[number]
        return engine.transcripts.around(row, message.place, before=context, after=context)

    return neighbours
