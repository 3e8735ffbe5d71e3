"""Candidates: what in a person's words may be worth keeping, sentence by sentence.

Steps: sentences -> the statements that one joins -> a request to keep something, always -> else a preference, a
decision or a fact, as the mode allows -> what takes it back -> classified. The text comes without blocks, envelopes
and code; secrets are looked for later.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memoranda.capture.classify import classified, has_contact
from memoranda.capture.clauses import JOINED, Clause, clauses
from memoranda.capture.letters import small, tidied, unquoted
from memoranda.capture.pasted import Piece, pieces
from memoranda.capture.requests import SECTIONS as REQUESTS
from memoranda.capture.requests import Request, request_in
from memoranda.capture.sentences import Span, spans
from memoranda.capture.triggers import fired
from memoranda.capture.wording import kept_text
from memoranda.capture.worth import Worth, worth_of
from memoranda.domain.candidate import Candidate, CaptureMode, Refusal

_SECTIONS: Mapping[CaptureMode, tuple[str, ...]] = {
    "explicit": (),
    "strict": ("preference", "address", "decision"),
    "broad": ("preference", "address", "decision", "fact", "other"),
    "review": ("preference", "address", "decision", "fact", "other"),
}
# A sign of a script without spaces says about as much as three letters.
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DENSITY = 3
# A piece of JSON, escaped or not: a program wrote it.
_RECORD = re.compile(r"[{\[]\s*(?:\"|&quot;)|(?:\"|&quot;)\s*:\s*(?:\"|&quot;|[{\[])")
_CLAUSE = re.compile(r"[.;!?。；！？]+(?=\s|$)|[。；！？]")
_LONGEST_PHRASE = 100
_MOST_PHRASES = 50


class Found(NamedTuple):
    """What may be kept, in the order it was said, and why the other sentences are not."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[Refusal, int]


class _Sentence(NamedTuple):
    text: str
    plain: str
    masked: str
    span: Span
    found: Sequence[tuple[str, str]]
    """The languages and headings that have a phrase in it."""
    quoted: bool
    """Whether they had one only in what it quotes."""
    request: Request | None
    foreign: Refusal | None = None
    """Why all of it is another's words."""
    joined: Sequence[str] = ()
    """The languages in which it may join statements."""


class _Limits(NamedTuple):
    shortest: int
    longest: int


def _unknown(_: str) -> str:
    return ""


def found_in(
    text: str,
    *,
    mode: CaptureMode,
    known: Callable[[str], str] = _unknown,
    custom: Sequence[str] = (),
    speaker: str = "",
    shortest: int = 10,
    longest: int = 500,
    most: int = 16,
) -> Found:
    """What in a text may be worth keeping. `known` names the thing that a sentence calls by a nickname.

    A line with a name before it is another's, unless it is the name of the `speaker`.
    """
    tidy = tidied(text)
    if mode == "off" or not tidy:
        return Found((), MappingProxyType({}))
    refused: Counter[Refusal] = Counter()
    every = spans(tidy)
    refused["not looked at"] += len(every[most:])
    phrases = [small(phrase) for phrase in custom[:_MOST_PHRASES] if 0 < len(phrase) <= _LONGEST_PHRASE]
    looked = _looked_at(tidy, every[:most], (*REQUESTS, *_SECTIONS[mode]), phrases, speaker)
    asked = _asked_for(looked)
    candidates: list[Candidate] = []
    for number, sentence in enumerate(looked):
        limits = _Limits(shortest, longest)
        for part, request in _parts(sentence, asked.get(number), phrases, limits, _SECTIONS[mode]):
            outcome = _judged(part, request, phrases, limits, known)
            if isinstance(outcome, Candidate):
                candidates.append(outcome)
            elif outcome:
                refused[outcome] += 1
    kept = _as_allowed(candidates, small(tidy), refused) if candidates else ()
    return Found(kept, MappingProxyType({reason: count for reason, count in refused.items() if count}))


def _looked_at(
    tidy: str, chosen: Sequence[Span], sections: tuple[str, ...], phrases: Sequence[str], speaker: str
) -> list[_Sentence]:
    plain = small(tidy)
    masked = unquoted(plain)
    pasted = pieces(tidy, plain, speaker=speaker, own=lambda line: any(_has_phrase(line, phrase) for phrase in phrases))
    return [_seen(tidy, plain, masked, span, sections, pasted) for span in chosen]


def _seen(
    tidy: str, plain: str, masked: str, span: Span, sections: tuple[str, ...], pasted: Sequence[Piece]
) -> _Sentence:
    for piece in pasted:
        if piece.start <= span.start < piece.end and piece.reason:
            return _Sentence("", "", "", span, (), False, None, piece.reason)
        if piece.start <= span.start < piece.end < span.end:
            span = span._replace(start=piece.end)
    there = slice(span.start, span.end)
    own, unmasked = masked[there], plain[there]
    found = fired(unmasked, *sections, JOINED, around=plain)
    joined = [language for language, section in found if section == JOINED]
    found = found[: len(found) - len(joined)]
    quoted = False
    if found and own != unmasked:
        found = fired(own, *sections, around=plain)
        quoted = not found
    request = request_in(own, found) if found else None
    return _Sentence(tidy[there].replace("\n", " "), unmasked, own, span, found, quoted, request, None, joined)


def _asked_for(looked: Sequence[_Sentence]) -> dict[int, Request]:
    """Which sentence each request asks to keep: "Please remember that." speaks of the one before it."""
    asked: dict[int, Request] = {}
    for number, sentence in enumerate(looked):
        request = sentence.request
        if request is None:
            continue
        if request.points == 0:
            asked[number] = request
            if sentence.plain[: request.start].rstrip().endswith(":"):
                asked |= _in_its_paragraph(looked, number, request)
        elif request.points < 0 and number > 0 and not looked[number - 1].plain.endswith("?"):
            asked.setdefault(number - 1, Request(request.language, 0, len(looked[number - 1].plain)))
        elif request.points > 0:
            for later in range(number + 1, len(looked)):
                if later > number + 1 and looked[later].span.paragraph != looked[number + 1].span.paragraph:
                    break
                asked.setdefault(later, Request(request.language, 0, len(looked[later].plain)))
    return asked


def _in_its_paragraph(looked: Sequence[_Sentence], number: int, request: Request) -> dict[int, Request]:
    """What "remember:" asks for beyond its own sentence: those after it, up to a question."""
    found: dict[int, Request] = {}
    for later in range(number + 1, len(looked)):
        sentence = looked[later]
        other_paragraph = sentence.span.paragraph != looked[number].span.paragraph
        if other_paragraph or sentence.foreign or sentence.request or sentence.plain.endswith("?"):
            break
        found[later] = Request(request.language, 0, len(sentence.plain))
    return found


def _parts(
    sentence: _Sentence,
    request: Request | None,
    phrases: Sequence[str],
    limits: _Limits,
    sections: tuple[str, ...],
) -> list[tuple[_Sentence, Request | None]]:
    """The statements that a sentence joins, each as a sentence of its own; most are one."""
    whole = [(sentence, request)]
    # A phrase of the person's own lets all of its sentence through; what is too long stays that.
    if not sentence.joined or sentence.quoted or len(sentence.text) > limits.longest:
        return whole
    if request is None and (sentence.request or _RECORD.search(sentence.text)):
        return whole
    if request is None and any(_has_phrase(sentence.plain, phrase) for phrase in phrases):
        return whole
    if request is not None and request.reminder:
        return whole
    said = slice(request.start, request.end) if request else slice(None)
    found = clauses(sentence.text[said], sentence.masked[said], sentence.joined)
    if len(found) == 1:
        return whole
    return [_part(sentence, request, said, clause, sections) for clause in found]


def _part(
    sentence: _Sentence, request: Request | None, said: slice, clause: Clause, sections: tuple[str, ...]
) -> tuple[_Sentence, Request | None]:
    text = clause.of(sentence.text[said], closed=True)
    masked = small(clause.of(sentence.masked[said], closed=True))
    found = fired(masked, *sections, around=sentence.masked)
    part = sentence._replace(text=text, plain=small(text), masked=masked, found=found, request=None)
    return part, request and Request(request.language, 0, len(text))


def _judged(
    sentence: _Sentence,
    request: Request | None,
    phrases: Sequence[str],
    limits: _Limits,
    known: Callable[[str], str],
) -> Candidate | Refusal | None:
    if sentence.foreign:
        return sentence.foreign
    if request is not None:
        return _asked(sentence, request, limits, known)
    if sentence.request is not None:
        return None  # it spoke of another sentence
    if _RECORD.search(sentence.text):
        return "system-looking"
    if any(_has_phrase(sentence.plain, phrase) for phrase in phrases):
        worth: Worth | Refusal = (
            "question" if sentence.plain.endswith("?") else Worth("", "custom", len(sentence.plain))
        )
    elif sentence.quoted:
        return "quotation"
    else:
        found = [each for each in sentence.found if each[1] not in REQUESTS]
        worth = worth_of(sentence.text, sentence.masked, found)
    if not isinstance(worth, Worth):
        return worth
    text = kept_text(sentence.text[: worth.end], language=worth.language)
    if refusal := _wrong_length(text, limits):
        return refusal
    if has_contact(text):
        return "contact data"
    return classified(text, section=worth.section, language=worth.language, known=known)


def _asked(sentence: _Sentence, request: Request, limits: _Limits, known: Callable[[str], str]) -> Candidate | Refusal:
    text = kept_text(
        sentence.text[request.start : request.end],
        language=request.language,
        before=sentence.text[: request.start],
        after=sentence.text[request.end :],
    )
    text = _shortened(text, limits.longest)
    # What was asked for may be shorter than what is taken unasked: "I'm Bob".
    if refusal := _wrong_length(text, limits._replace(shortest=min(limits.shortest, 3))):
        return refusal
    if " " not in text and not _DENSE.search(text):
        return "too short"  # "Decision." says that something is, and not what
    section = "reminder" if request.reminder else "request"
    return classified(text, section=section, language=request.language, known=known)


def _shortened(text: str, longest: int) -> str:
    """The first clauses of what is too long; all of it when there is no place to cut."""
    if len(text) <= longest:
        return text
    end = max((mark.end() for mark in _CLAUSE.finditer(text, 0, longest)), default=0)
    return text[:end].rstrip(" ;；") if end else text


def _wrong_length(text: str, limits: _Limits) -> Refusal | None:
    weight = len(text) + (_DENSITY - 1) * len(_DENSE.findall(text))
    if weight < limits.shortest:
        return "too short"
    return "too long" if len(text) > limits.longest else None


def _has_phrase(plain: str, phrase: str) -> bool:
    """Between words, where the phrase begins and ends with one; a script without spaces has no such edge."""
    start = plain.find(phrase)
    while start >= 0:
        before, after = plain[start - 1 : start], plain[start + len(phrase) : start + len(phrase) + 1]
        if not (_joins(before, phrase[0]) or _joins(phrase[-1], after)):
            return True
        start = plain.find(phrase, start + 1)
    return False


def _joins(one: str, other: str) -> bool:
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()


def is_declined(text: str) -> bool:
    """Whether a message says that it is not to be kept, or tells a story."""
    return bool(fired(small(tidied(text)), "not to be kept", "story"))


def _as_allowed(candidates: list[Candidate], plain: str, refused: Counter[Refusal]) -> tuple[Candidate, ...]:
    """Nothing of a message that says not to keep it; of a story, only what was asked for."""
    said = {section for _, section in fired(plain, "not to be kept", "story")}
    if "not to be kept" in said:
        refused["not to be kept"] += len(candidates)
        return ()
    if "story" in said:
        asked = tuple(each for each in candidates if each.explicit)
        refused["hypothetical"] += len(candidates) - len(asked)
        return asked
    return tuple(candidates)
