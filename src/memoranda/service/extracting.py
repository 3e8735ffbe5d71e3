"""Extracting: asks a model, within a hard budget, what else is worth keeping. Its word alone makes nothing trusted."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.capture.candidates import is_declined
from memoranda.capture.classify import has_contact
from memoranda.capture.extraction import supported
from memoranda.capture.pipeline import Plan, Words
from memoranda.capture.secrets import redacted
from memoranda.domain.candidate import Candidate
from memoranda.domain.errors import ProviderError
from memoranda.domain.ports import Extractor
from memoranda.models.registry import EXTRACTING, budget_of
from memoranda.service.engine import Engine
from memoranda.service.spending import Spending


class Extracted(NamedTuple):
    """What a model proposes, each with the message that bears it out."""

    candidates: tuple[tuple[Words, Candidate], ...]
    refused: Counter[str]
    model: str
    note: str = ""


def extracted(engine: Engine, new: Sequence[Words], plan: Plan) -> Extracted | None:
    """What the model finds in these messages; None when no model is asked. Never raises for the model's sake."""
    said = [each for each in new if each.message.role == "user" and _may_be_sent(each)]
    name = engine.settings.extractor
    if not said or plan.mode in ("off", "explicit"):
        return None
    try:
        extractor = engine.extractor()
        if extractor is None:
            return None
        with engine.breaker.asking(name) as may_ask:
            if not may_ask:
                return Extracted((), Counter(), name, "the extractor failed a moment ago and is left alone")
            try:
                return _asked(engine, extractor, said, plan)
            except ProviderError:
                engine.breaker.failed(name)
                raise
    except Exception as error:  # noqa: BLE001 what was plain has been kept: nothing that a model does may hide that
        # Not the error's own words: a service may repeat what it was sent.
        return Extracted((), Counter(), name, f"the extractor gave nothing ({type(error).__name__})")


def _may_be_sent(words: Words) -> bool:
    """Whether somebody said it, and nobody that it is not to be kept."""
    return bool(words.own.text) and not words.own.private and not is_declined(words.own.text)


def _asked(engine: Engine, extractor: Extractor, said: Sequence[Words], plan: Plan) -> Extracted:
    # What leaves the machine has no secrets in it, whatever becomes of the answer.
    messages = [each.message._replace(text=redacted(each.own.text), speaker="", id="") for each in said]
    most = extractor.cost(messages)
    if not most:
        return Extracted((), Counter(), extractor.name)
    spending = Spending(engine.ledger, called="model", budget=budget_of(EXTRACTING, engine.settings), most=most)
    if not spending.pay():
        return Extracted((), Counter(), extractor.name, "the extractor's budget of today is used up")
    claims = extractor.extract(messages, seconds=engine.settings.extractor_timeout, again=spending.pay)
    spending.settle(calls=claims.calls, tokens=claims.tokens)
    engine.breaker.answered(engine.settings.extractor)
    candidates, counted = supported(
        claims.items, messages, shortest=plan.shortest, longest=plan.longest, most=plan.most
    )
    refused: Counter[str] = Counter(dict(counted.items()))
    kept = [each for each in candidates if not has_contact(each.text)]  # only who asks for it has that kept
    refused.update(["contact data"] * (len(candidates) - len(kept)))
    placed = tuple((said[each.message], each._replace(message=said[each.message].place)) for each in kept)
    return Extracted(placed, refused, extractor.name)
