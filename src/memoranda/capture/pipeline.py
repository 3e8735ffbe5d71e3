"""The pipeline of capture: new messages -> own words -> candidates -> decisions. It keeps nothing itself."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Literal, NamedTuple

from memoranda.capture.candidates import found_in
from memoranda.capture.injection import suspicion
from memoranda.capture.secrets import secrets
from memoranda.capture.stripping import Stripped, stripped
from memoranda.domain.candidate import Candidate, CaptureMode, Refusal
from memoranda.domain.memory import Memory, Source, Trust, outranks, trust_of
from memoranda.domain.message import Message, Role

if TYPE_CHECKING:
    from memoranda.capture.sameness import Said

# Of one call. A turn has one or two; so many come only when a history is handed over for the first time.
MOST_MESSAGES = 512
MOST_CHARACTERS = 480_000
_MOST_SENTENCES = 64
_MOST_COMPARED = 16
_SHORTEST_SECRET = 4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
# Longer than anything that is kept by far: only its beginning is looked at for blocks and fences.
_LONGEST_MESSAGE = 64_000

InjectionPolicy = Literal["quarantine", "refuse", "allow"]
Similar = Callable[[Candidate, str], Sequence[tuple[Memory, float | None]]]
"""What is kept already and may say the same as a candidate of a speaker, each with its closeness, if known."""


class Plan(NamedTuple):
    """How a capture is done."""

    scope: str
    mode: CaptureMode = "strict"
    roles: tuple[Role, ...] = ("user",)
    most: int = 3
    shortest: int = 10
    longest: int = 500
    custom: tuple[str, ...] = ()
    injection: InjectionPolicy = "quarantine"
    keep_secrets: bool = False
    known: Callable[[str], str] = lambda _: ""
    """The thing that a sentence names by one of its names, or nothing."""


class Words(NamedTuple):
    """A message with what is left of it: its own words."""

    place: int
    message: Message
    own: Stripped


class Decision(NamedTuple):
    """What is to become of one candidate."""

    candidate: Candidate
    speaker: str
    trust: Trust
    supersedes: str | None = None
    reinforces: str | None = None
    waits: str = ""
    """Why somebody has to say yes to it first; empty when nobody has to."""


class Decided(NamedTuple):
    """What a turn came to."""

    decisions: tuple[Decision, ...]
    candidates: int
    messages: int
    characters: int
    refused: Mapping[str, int]


def own_words(messages: Iterable[tuple[int, Message]]) -> list[Words]:
    """Messages with their places, with what others put around them taken off."""
    return [Words(place, message, stripped(message.text[:_LONGEST_MESSAGE])) for place, message in messages]


def decided(words: Sequence[Words], plan: Plan, similar: Similar) -> Decided:
    """What is to be kept of these messages, which are all new."""
    refused: Counter[str] = Counter()
    looked_at = _bounded(words, refused)
    candidates: list[tuple[Words, Candidate]] = []
    for each in looked_at:
        refused.update(each.own.removed)
        if each.own.private:
            refused["private"] += 1
        elif each.own.text:
            candidates += [(each, candidate) for candidate in _candidates(each, plan, refused)]
    decisions = judged(candidates, plan, similar, refused)
    return Decided(
        tuple(decisions),
        len(candidates),
        len(looked_at),
        sum(len(each.message.text) for each in looked_at),
        dict(refused),
    )


def judged(
    candidates: Sequence[tuple[Words, Candidate]], plan: Plan, similar: Similar, refused: Counter[str]
) -> list[Decision]:
    """Each candidate against what is kept, and against those before it. Also for what a model proposes."""
    decisions: list[Decision] = []
    hidden = {words.place: _hidden(words.own.text, plan) for words, _ in candidates}
    # One sentence that steers taints the others of its message.
    tainted = {words.place for words, _ in candidates if plan.injection != "allow" and _steers(words.own.text)}
    for words, candidate in candidates:
        if any(secret in candidate.text for secret in hidden[words.place]):
            refused["secret"] += 1
            continue
        decision = _judged(candidate, words, plan, similar, decisions, refused, tainted=words.place in tainted)
        if isinstance(decision, Decision):
            decisions.append(decision)
        else:
            refused[decision] += 1
    return decisions


def _bounded(words: Sequence[Words], refused: Counter[str]) -> list[Words]:
    """The newest of them, as many as are looked at in one turn."""
    chosen: list[Words] = []
    left = MOST_CHARACTERS
    for each in reversed(words[-MOST_MESSAGES:]):
        if len(each.message.text) > left and chosen:
            break
        left -= len(each.message.text)
        chosen.append(each)
    if len(chosen) < len(words):
        refused["not looked at"] += len(words) - len(chosen)
    return chosen[::-1]


def _candidates(words: Words, plan: Plan, refused: Counter[str]) -> list[Candidate]:
    """At most so many of one message, in their order; but all of what was asked for."""
    found = found_in(
        words.own.text,
        mode=plan.mode,
        known=plan.known,
        custom=plan.custom,
        shortest=plan.shortest,
        longest=plan.longest,
        most=_MOST_SENTENCES,
        speaker=words.message.speaker,
    )
    refused.update(found.refused)
    source: Source = "user" if words.message.role == "user" else "assistant"
    placed = [each._replace(message=words.place, source=source) for each in found.candidates]
    room = max(0, plan.most - sum(each.explicit for each in placed))
    beyond = [each for each in placed if not each.explicit][room:]
    refused.update(["over the limit"] * len(beyond))
    return [each for each in placed if each not in beyond]


def _hidden(text: str, plan: Plan) -> list[str]:
    """What of a message is secret, in pieces: the word that says so may stand in another sentence."""
    if plan.keep_secrets:
        return []
    pieces = [piece for secret in secrets(text) for piece in text[secret.start : secret.end].split()]
    return [piece for piece in pieces if len(piece) >= _SHORTEST_SECRET]


def _steers(text: str) -> bool:
    suspected = suspicion(text)
    return suspected is not None and suspected.severity == "injection"


def _judged(
    candidate: Candidate,
    words: Words,
    plan: Plan,
    similar: Similar,
    before: list[Decision],
    refused: Counter[str],
    *,
    tainted: bool,
) -> Decision | Refusal:
    speaker = words.message.speaker
    if not plan.keep_secrets and secrets(candidate.text):
        return "secret"
    trust = trust_of(candidate.source)
    waits = "review" if plan.mode == "review" else ""
    if tainted or (plan.injection != "allow" and _steers(candidate.text)):
        if plan.injection == "refuse":
            return "injection"
        waits = "injection"
    elif trust == "trusted" and plan.injection != "allow" and suspicion(candidate.text) is not None:
        trust = "untrusted"
    decision = Decision(candidate, speaker, "quarantined" if waits else trust, waits=waits)
    from memoranda.capture.sameness import choice  # most turns have nothing to compare

    said = _said(candidate, speaker, corrects=candidate.corrects)
    # What is trusted more than this is neither repeated nor taken back by it.
    nearest = _nearest(candidate.text, [other for other in before if other.trust == decision.trust])
    earlier = choice(said, [(_said(other.candidate, other.speaker), None) for other in nearest])
    if earlier is not None and earlier[1].relation != "supersedes":
        return "duplicate"
    if earlier is not None:
        # Corrected before it was kept: what it was to replace is replaced by the correction.
        gone = nearest[earlier[0]]
        before.remove(gone)
        refused["taken back"] += 1
        decision = decision._replace(supersedes=gone.supersedes or gone.reinforces)
    return _against_what_is_kept(decision, said, plan.scope, similar(candidate, speaker))


def _nearest(text: str, before: Sequence[Decision]) -> list[Decision]:
    """Those of the same call that share the most words with a text: all of them would be too many to compare."""
    if len(before) <= _MOST_COMPARED:
        return list(before)
    words = set(_WORD.findall(text.casefold()))
    return nlargest(
        _MOST_COMPARED,
        before,
        key=lambda other: len(words.intersection(_WORD.findall(other.candidate.text.casefold()))),
    )


def _against_what_is_kept(
    decision: Decision, said: "Said", scope: str, others: Sequence[tuple[Memory, float | None]]
) -> Decision | Refusal:
    from memoranda.capture.sameness import choice

    chosen = choice(
        said, [(_said(memory, memory.speaker, context=memory.context), closeness) for memory, closeness in others]
    )
    if chosen is None:
        return decision
    old, relation = others[chosen[0]][0], chosen[1].relation
    here = old.scope == scope
    if relation == "supersedes":
        # What is above may not be changed from here, nor what is trusted by what is not.
        may = here and (bool(decision.waits) or not outranks(old.trust, decision.trust))
        return decision._replace(supersedes=old.id) if may else decision
    if old.trust == decision.trust:
        return decision._replace(reinforces=old.id) if here else "duplicate"
    # Less trusted words add nothing to what is trusted; more trusted ones are worth having beside the others.
    return "duplicate" if outranks(old.trust, decision.trust) else decision


def _said(given: Candidate | Memory, speaker: str, *, context: str = "", corrects: bool = False) -> "Said":
    from memoranda.capture.sameness import Said

    slot = {"about": given.about, "attribute": given.attribute, "value": given.value, "context": context}
    return Said(given.text, kind=given.kind, corrects=corrects, speaker=speaker, **slot)
