"""Extracting: asks a model, within a hard budget, what else is worth keeping. Its word alone makes nothing trusted."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.capture.extraction import supported
from memoranda.capture.pipeline import Plan, Words
from memoranda.capture.secrets import redacted
from memoranda.domain.candidate import Candidate
from memoranda.domain.errors import MemorandaError
from memoranda.domain.ports import Extractor
from memoranda.models.budget import Spent, reservation, settlement
from memoranda.models.registry import budget_of
from memoranda.service.engine import Engine

_CALLS, _TOKENS = "model calls", "model tokens"


class Extracted(NamedTuple):
    """What a model proposes, each with the message that bears it out."""

    candidates: tuple[tuple[Words, Candidate], ...]
    refused: Counter[str]
    model: str
    note: str = ""


def extracted(engine: Engine, new: Sequence[Words], plan: Plan) -> Extracted | None:
    """What the model finds in these messages; None when no model is asked. Never raises for the model's sake."""
    said = [each for each in new if each.message.role == "user" and each.own.text and not each.own.private]
    if not said or plan.mode in ("off", "explicit"):
        return None
    try:
        extractor = engine.extractor()
        return None if extractor is None else _asked(engine, extractor, said, plan)
    except MemorandaError as error:
        return Extracted((), Counter(), engine.settings.extractor, f"the extractor gave nothing: {error}")


def _asked(engine: Engine, extractor: Extractor, said: Sequence[Words], plan: Plan) -> Extracted:
    # What leaves the machine has no secrets in it, whatever becomes of the answer.
    messages = [each.message._replace(text=redacted(each.own.text), speaker="", id="") for each in said]
    most = extractor.cost(messages)
    if not most:
        return Extracted((), Counter(), extractor.name)
    budget = budget_of(engine.settings)
    reserved = reservation(most)
    day = engine.ledger.spend(
        _counts(reserved),
        allowed=lambda spent: budget.allows(Spent(spent.get(_CALLS, 0), spent.get(_TOKENS, 0)), tokens=most),
    )
    if day is None:
        return Extracted((), Counter(), extractor.name, "the extractor's budget of today is used up")
    claims = extractor.extract(messages, seconds=engine.settings.extractor_timeout)
    engine.ledger.recount(_counts(settlement(reserved, claims)), day=day)
    candidates, refused = supported(
        claims.items, messages, shortest=plan.shortest, longest=plan.longest, most=plan.most
    )
    placed = tuple((said[each.message], each._replace(message=said[each.message].place)) for each in candidates)
    return Extracted(placed, Counter(refused), extractor.name)


def _counts(spent: Spent) -> dict[str, int]:
    return {_CALLS: spent.calls, _TOKENS: spent.tokens}
