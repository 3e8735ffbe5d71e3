"""Memories, hits and candidates for the pure rooms, made without a store."""

from memoranda.domain.memory import Memory
from memoranda.domain.ports import Candidate, IndexAnswer
from memoranda.domain.receipt import HitReceipt
from memoranda.domain.request import Request
from memoranda.domain.results import Hit
from memoranda.domain.scope import Scope
from memoranda.recall.factors import Circumstances
from memoranda.recall.pipeline import Plan

NOW = 1_767_225_600_000
DAY = 86_400_000
IMPORTANCE = {"must_remember": 0.9, "nice_to_have": 0.6, "ignore": 0.1, "unknown": None}


def memory_of(number, text="", *, grade="unknown", **fields):
    given = {"kind": "fact", "scope": "home", "created_at": NOW, "importance": IMPORTANCE[grade], **fields}
    return Memory(id=identity(number), text=text or f"memory {number}", **given)


def identity(number):
    return f"{number:04d}".ljust(20, "k")


def hit_of(number, score, text="", **fields):
    memory = memory_of(number, text, **fields)
    receipt = HitReceipt(memory.id, "home", score, score, None, None, None, {}, {}, memory.grade, memory.trust)
    return Hit(memory, score, receipt)


def candidate_of(number, coverage=0.0, cosine=None, **fields):
    lexical = number if coverage else None
    return Candidate(number, coverage, cosine, lexical, None if cosine is None else number, **fields)


def answer_of(*candidates):
    embedded = sum(each.cosine is not None for each in candidates)
    return IndexAnswer(tuple(candidates), len(candidates), embedded)


def plan_of(query="the lamp", *, lanes=("lexical",), priors=(), scope="home", **fields):
    names = ("only_time", "skipped", "degraded", "receipt_items", "receipt_tops", "everything", "circumstances")
    of_plan = {name: fields.pop(name) for name in names if name in fields}
    of_plan.setdefault("circumstances", Circumstances(NOW))
    request = Request(query, now=NOW, **fields).checked()
    return Plan(request, Scope(scope), sequence=7, lanes=lanes, priors=priors, **of_plan)


def loads(*memories):
    """The ledger as a lambda: number 1 is the first of these."""
    rows = dict(enumerate(memories, start=1))
    return lambda numbers: {number: rows[number] for number in numbers if number in rows}
