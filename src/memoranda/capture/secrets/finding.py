"""All secrets of a text: what says whose it is, what stands in a place for secrets, what a sentence gives away, and
what is too random to be anything else. On the text as it reads, and once more with what was pulled apart put together.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice

from memoranda.capture.secrets.forms import Form, addresses, plain, spelled, unbroken
from memoranda.capture.secrets.secret import RANDOM, Secret
from memoranda.capture.secrets.sentences import sentences
from memoranda.capture.secrets.services import SERVICES
from memoranda.capture.secrets.structures import public_blocks, structures
from memoranda.capture.secrets.tokens import (
    TOKEN,
    UUID,
    Shape,
    decoded,
    harmless,
    key_of_usual_length,
    luhn,
    random_like,
    shape,
    very_random,
)
from memoranda.capture.secrets.values import is_placeholder
from memoranda.capture.secrets.vendors import needs_word, rules_for
from memoranda.capture.secrets.words import KEYS, NAMES_OF_HASHES

_CONTEXT = 70
_DIGIT = re.compile("[0-9]")
_NEAR = 40
_SIGN = 8
_ASSIGNED = re.compile(r"(?:=|:|>|\|\||\?)[\s\"'`=(\[]{0,5}$")
_NAMES_AN_ID = re.compile(r"(?:id|ids|uid|ref|name|path|href|src|url|class|slug|title)[\"'\]]?\s*$")
_DIGITS = re.compile(r"\d(?:[ -]?\d)*")
_GROUP = re.compile(r"\d+")
_MOST_GROUPS = 8
_CARD_GROUPS = frozenset({*((size,) for size in range(13, 20)), (4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4)})
_CARD_BEGINS = re.compile(r"4|5[1-5]|2[2-7]|3[4-7]|30|38|6")
_WORDS = re.compile(r"[a-z]+")
_SHORT_SERVICES = frozenset(name for name in SERVICES if len(name) < 4)
_LONG_SERVICES = tuple(sorted(SERVICES - _SHORT_SERVICES))
_KEY_WORDS = tuple(word for word in KEYS if len(word) > 4 or word in ("key", "auth"))


def found_in(text: str) -> tuple[Secret, ...]:
    """All secrets in a text, in order, not overlapping, without a first look."""
    form = plain(text)
    low = _small(form.text)
    found = [*_said(form.text, low), *_tokens(form.text, low)]
    together = spelled(form.text)
    if together is not None:
        low = _small(together.text)
        found += _crossing([*_said(together.text, low), *_tokens(together.text, low)], together)
    together = unbroken(form.text)
    if together is not None:
        low = _small(together.text)
        found += _crossing([*_vendors(together.text, low), *_tokens(together.text, low)], together)
    return tuple(_apart([Secret(each.rule, *form.span(each.start, each.end)) for each in found]))


def _small(text: str) -> str:
    """In small letters, and as long as before."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _crossing(found: list[Secret], form: Form) -> Iterator[Secret]:
    """Those that go over a place where something was put together; the others are known already."""
    for secret in found:
        start, end = form.span(secret.start, secret.end)
        if end - start > secret.end - secret.start:
            yield Secret(secret.rule, start, end)


def _said(text: str, low: str) -> Iterator[Secret]:
    """What says by its form or by what stands beside it that it is a secret."""
    yield from _vendors(text, low)
    yield from structures(text, low)
    yield from sentences(text, low)
    yield from _cards(text)


def _vendors(text: str, low: str) -> Iterator[Secret]:
    # All of them are long and no words: most words of a text need not be searched.
    odd = " ".join(word for word in text.split() if len(word) > 15 and (_DIGIT.search(word) or not word[1:].islower()))
    if not odd:
        return
    for rule in rules_for(odd.lower()):
        for start, end in rule.places(text, low):
            secret = text[start:end]
            if len(set(secret)) < 8 or is_placeholder(secret.rpartition("/")[2]) or "EXAMPLE" in secret:
                continue
            if rule.marks[0].isalnum() and not (_DIGIT.search(secret) or secret.isupper()):
                continue
            if not needs_word(rule.name) or _has_key_word(low, start) or very_random(shape(secret)):
                yield Secret(rule.name, start, end)


def _cards(text: str) -> Iterator[Secret]:
    for run in _DIGITS.finditer(text):
        if len(run[0]) < 13:
            continue
        groups = list(islice(_GROUP.finditer(run[0]), _MOST_GROUPS))
        for place in range(len(groups)):
            for count in (1, 3, 4, 5):
                chosen = groups[place : place + count]
                sizes = tuple(len(group[0]) for group in chosen)
                if (
                    sizes in _CARD_GROUPS
                    and _CARD_BEGINS.match(chosen[0][0])
                    and luhn("".join(group[0] for group in chosen))
                ):
                    yield Secret("card number", run.start() + chosen[0].start(), run.start() + chosen[-1].end())


def _tokens(text: str, low: str) -> Iterator[Secret]:
    hidden = sorted([*addresses(text), *public_blocks(text, low)])
    alone = text.strip()
    encoded: list[tuple[int, int, str]] = []
    for found in TOKEN.finditer(text):
        token = found[0].rstrip(".-")
        if len(token) < 14 or (not _DIGIT.search(token) and token[1:].islower()):
            continue
        start, end = found.start(), found.start() + len(token)
        place = bisect_right(hidden, (start, len(text))) - 1
        if place >= 0 and start < hidden[place][1]:
            continue
        if _is_secret_token(token, low, start, alone=token == alone):
            yield Secret(RANDOM, start, end)
        elif said := decoded(token):
            encoded.append((start, end, said))
    if encoded:
        yield from _encoded(encoded)


def _encoded(encoded: list[tuple[int, int, str]]) -> Iterator[Secret]:
    """Base64 of something that would be found if it were written plainly."""
    together = "\n".join(said for _, _, said in encoded)
    places = list(accumulate((len(said) + 1 for _, _, said in encoded), initial=0))
    for secret in _vendors(together, together.lower()):
        start, end, _ = encoded[bisect_right(places, secret.start) - 1]
        yield Secret(secret.rule, start, end)


def _is_secret_token(token: str, low: str, start: int, *, alone: bool) -> bool:
    before = low[max(0, start - _CONTEXT) : start]
    if harmless(token):
        # An id is a secret only as the value of a setting of a service.
        return bool(UUID.fullmatch(token) and _ASSIGNED.search(before[-_SIGN:])) and _names_service(before)
    is_ = shape(token)
    if key_of_usual_length(token, is_) or very_random(is_) or (alone and random_like(is_, shortest=16)):
        return _is_set_for_service(is_, before) or not _names_hash(before, low[start + len(token) :][:16])
    return _is_assigned_secret(is_, before, low[start + len(token) :][:16])


def _is_assigned_secret(is_: Shape, before: str, after: str) -> bool:
    if "arn:" in before or not _ASSIGNED.search(before[-_SIGN:]):
        return False
    if random_like(is_, shortest=20) and not _NAMES_AN_ID.search(before.rstrip(" \"'`=:>")):
        return not _names_hash(before, after)
    return _is_set_for_service(is_, before)


def _is_set_for_service(is_: Shape, before: str) -> bool:
    """Whether it is the value of a setting that has the name of a service in it."""
    if not _ASSIGNED.search(before[-_SIGN:]) or not _names_service(before):
        return False
    return random_like(is_, shortest=14, turning=0.08) or is_.digits == is_.length >= 15


def _names_hash(before: str, after: str) -> bool:
    """Whether it is called by the name of something that only looks random. A data URL says so itself."""
    near = before[-_NEAR:]
    return near.endswith(";base64,") or any(name in near or name in after for name in NAMES_OF_HASHES)


def _names_service(before: str) -> bool:
    return any(name in before for name in _LONG_SERVICES) or not _SHORT_SERVICES.isdisjoint(_WORDS.findall(before))


def _has_key_word(low: str, start: int) -> bool:
    before = low[max(0, start - _NEAR) : start]
    return any(word in before for word in _KEY_WORDS) or _names_service(before)


def _apart(found: list[Secret]) -> Iterator[Secret]:
    """In order, those that overlap made one, with the name of the longest."""
    last: Secret | None = None
    longest = 0
    for secret in sorted(found, key=lambda each: each.start):
        length = secret.end - secret.start
        if last is not None and secret.start < last.end:
            rule = secret.rule if length > longest else last.rule
            longest = max(longest, length)
            last = Secret(rule, last.start, max(last.end, secret.end))
            continue
        if last is not None:
            yield last
        last, longest = secret, length
    if last is not None:
        yield last
