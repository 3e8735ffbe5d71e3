"""Secrets that a sentence gives away: "my wifi password is ...", "hasłem jest ...", "4821 is my PIN", "token: ...".

A key word is found first, then what stands around it is read in a window of bounded length. What is said about a
secret ("I forgot it", "it is too long") is no secret.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memoranda.capture.secrets.lists import codes_after, phrases
from memoranda.capture.secrets.secret import Secret
from memoranda.capture.secrets.tokens import TOKEN
from memoranda.capture.secrets.values import is_code, is_key, is_password, is_strong
from memoranda.capture.secrets.words import CODES, KEYS, LISTS, NAMES_OF_HASHES, PASSWORDS, PHRASES

_WINDOW = 160
_BEFORE = 90
_MOST_WORDS = 8
# Short words for a password that are also other words: a sign of assignment is needed.
_ONLY_ASSIGNED = frozenset({"pass", "pw", "psk", "wpa", "login", "clave"})

_TAIL = re.compile(r"[\w.-]{0,24}[\"'\]`*]{0,4}\s{0,3}(?::=|=>|->|→|={1,2}|::?|\|)[>\s]{0,6}")
_BREAK = re.compile(r"[.!?;,]\s|\n|[。，！？；]")
_MARKUP = re.compile('["<>{}=|]')
_SAID = re.compile(
    r"(?:^|(?<=\s))(?:is|was|are|be|becomes|reads|equals|(?:changed|set|reset|updated|switched|changing|it)\s+to"
    r"|to|jest|brzmi|było|będzie|(?:zmienione|zmienione|ustawione|zmieniłem|zmieniłam|zmieniono)\s+na"
    r"|ist|lautet|lautete|war|heißt|(?:geändert|gesetzt)\s+(?:auf|in|zu)|es|era|será|est|était|sera|c'est|je|zní|bylo"
    r"|è|era|é|foi|luidt|это|является|är|:|-|–|—|->|→)(?=\s)|\s?:(?=\s)|(?:是|为|為|改成|改为|改為|叫|は|が|는|은|이|가|를|을)\s?[:\"']?"
    r"|：",
    re.IGNORECASE,
)
_TO_IS_IS = ("has", "hes")
_ADVERB = re.compile(
    r"\s*(?:(?:now|still|just|actually|simply|currently|set to|called|again|also|always|the following|as follows|teraz"
    r"|nadal|jetzt|nun|ahora|maintenant|nyní|teď|adesso|agora|nu|теперь|still the same)\b[:,]?\s*)*",
    re.IGNORECASE,
)
_OPENING = "\"'`“”„«‚‘’「『*_(["
_CLOSING = {"“": "”", "„": "”", "«": "»", "‚": "‘", "‘": "’", "「": "」", "『": "』"}
_VALUE = re.compile(r"[^\s\u2e80-\ufaff]{1,4000}")
_NUMBERS = re.compile(r"[*#]?\d[\d*#]*(?:[ .-]\d[\d*#]*){0,5}")
_OF = re.compile(
    r"\s*\(?(?:for|to|of|on|at|in|here|do|od|na|w|für|zu|zum|vom|im|am|para|de|del|al|en|pour|du|au|k|ke|pro|per|di|voor|van|от|для|к)\b"
    r"|\s+(?:there|here|now|tu|hier|aquí|ici|tady|has|was|had)\b|[^\x00-\x7f]",
    re.IGNORECASE,
)
_UNTIL_BLANK = re.compile(r"\S{0,200}")
_REST = re.compile(r"(?:[^\s\"'`,;)\]}<>&.:\u2e80-\ufaff]|[.:](?=[A-Za-z0-9])){0,1000}")
_TRAILING = ".,;:)]}\"'`»”’*"
_OTHER_CODE = re.compile(
    r"zip|post|area|promo|discount|coupon|country|dial|error|status|qr|dress|colou?r|rabat|poczt|kierunk|voucher|product|booking"
    r"|reserv|morse|source|tax|swift|sort|iso|airport|course|cheat|exit|referral|gift|bar ?code|http|plz|cp|lines? of"
)
_UNIT = re.compile(
    r"\s*(?:%|°|\$|€|£)|\s+(?:line|people|year|day|char|digit|letter|percent|dollar|euro|minute|min|hour|time|km|m|kg|month|week|second"
    r"|second|sec|point|step|word|page|people|znak|cyfr|lat|dni|stell|zeichen|jahr|caract|año|an|ans|mile|bit|byte|mb|gb|hz|cent|degree"
    r"|of|in a row|x|by)\w*"
)
_DIGIT = re.compile("[0-9]")
_NAME = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_OPEN_ENDED = (" do", " the", " my", " our", " k", " od", " für", " de", " la", " l", " du", " от", " для")
_NAMED_CODE = re.compile(r"(?:\s+[^\W\d]+){1,3}\s+(?=[\d#*]{3,}\s*[.!]?$)")
# A sign, a digit, or a second word in its sentence: without one of them there is no value.
_PROMISING = re.compile(r"[:=\d!#$%^&*~@→–—-]|\S\s+\S|[^\x00-\x7f]")
_LAST = re.compile(r"[\"'`»”’*)\]}]{0,3}(?:[.!,;。，、]|\s*$|\s*\n|[\u2e80-\ufaff]|\"|&|\s+(?:and|but|und|oraz)\s)")
_IS = frozenset({"", "is", "to", "jest", "ist", "es", "est", "je"})
_SETTING = re.compile(r"[A-Za-z_][\w-]*[=:]|[A-Za-z]+\d*_[A-Za-z]+$")
_SHORT_CODE = re.compile(r"[A-Za-z]\d[A-Za-z]?\d")
_THREE_DIGITS = re.compile(r"\d\D?\d\D?\d")
_ODD = re.compile("[0-9!#$%^&*+=~@]")
_FIRST = re.compile(
    r"(\S{3,64})[\"'”]?\s+(?:is|was|to|jest|ist|war|est|es|je|è|é|as|jako|als|comme|como|jako)\s+"
    r"(?:my|the|our|your|his|her|their|a|moje|mój|nasze|mein|meine|das|die|der|mi|la|el|mon|ma|le|moje|můj|o|a|il|mijn|het)\s+(?:\S+\s+){0,3}$",
    re.IGNORECASE,
)


class _Place(NamedTuple):
    """A key word in a text, and where the words that belong to it end."""

    word: str
    start: int
    end: int
    until: int


def sentences(text: str, low: str) -> Iterator[Secret]:
    """All that is given away beside a key word. `low` is the text in small letters, as long as the text."""
    for place in _places(low, text, PASSWORDS):
        yield from _password(text, place)
    if _DIGIT.search(text):
        names = _names(text)
        for place in _places(low, text, _named(CODES, names)):
            yield from _code(text, low, place)
        for place in _places(low, text, _named(KEYS, names)):
            yield from _key(text, low, place)
    for place in _places(low, text, LISTS):
        yield from codes_after(text, place.end)
    ends = [place.end for place in _places(low, text, PHRASES)]
    if ends:
        yield from phrases(text, ends)


def _names(text: str) -> set[str]:
    """The words of a text, also those inside the names of a program, without the s of a plural."""
    words = {word.lower() for word in set(_NAME.findall(text))}
    return words | {word[:-1] for word in words if word.endswith("s")}


def _named(words: tuple[str, ...], names: set[str]) -> tuple[str, ...]:
    """Those that can be in a text with these names: a search for each of hundreds would take longer."""
    return tuple(word for word, begins in _beginnings(words) if begins is None or begins in names)


@cache
def _beginnings(words: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    return tuple((word, _NAME.findall(word)[0] if word.isascii() else None) for word in words)


def _places(low: str, text: str, words: tuple[str, ...]) -> Iterator[_Place]:
    """Where these words stand, the longest of those that overlap, each with its part of the text until the next one."""
    apart: list[tuple[int, int, str]] = []
    for each in sorted(_found(low, text, words), key=_earliest_longest):
        if not apart or each[1] > apart[-1][1]:
            apart.append(each)
    for (start, end, word), later in pairwise((*apart, (len(text) + _WINDOW, 0, ""))):
        until = end + _WINDOW
        if later[0] < until:
            # The next key word may be the beginning of a value.
            until = min(until, _UNTIL_BLANK.match(text, later[0]).end()) if word.isascii() else later[0]  # type: ignore[union-attr]
        yield _Place(word, start, end, until)


def _earliest_longest(found: tuple[int, int, str]) -> tuple[int, int]:
    return found[0], -found[1]


def _found(low: str, text: str, words: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    ascii_only = low.isascii()
    for word in words:
        if ascii_only and not word.isascii():
            continue
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            if word[0] > "\u2e7f" or _is_word(low, text, at, end):
                yield at, end, word
            at = low.find(word, end)


def _is_word(low: str, text: str, start: int, end: int) -> bool:
    before = low[start - 1] if start else " "
    if before.isalpha() and end - start < 6 and not (text[start].isupper() and text[start - 1].islower()):
        return False
    after = low[end : end + 2]
    return (
        end - start >= 8
        or not after[:1].isalpha()
        or (after[:1] == "s" and not after[1:].isalpha())
        or text[end].isupper()
    )


def _password(text: str, place: _Place) -> Iterator[Secret]:
    window = text[place.end : place.until]
    first = _first(text, place)
    if first:
        value, start = first
        if is_strong(value):
            yield Secret("password", start, start + len(value))
    if not _PROMISING.search(window):
        return
    tail = _TAIL.match(window)
    if tail:
        secret = _judged(text, place.end, window, tail.end(), assigned=True)
        if secret:
            yield secret
            return
    if window[:1].isascii() and window[:1].isalpha():
        return
    for at, sign, lead in _connectors(window):
        if sign == "to" and not place.word.startswith(_TO_IS_IS):
            continue
        secret = _judged(text, place.end, window, at, assigned=sign in (":", "：", "->", "→"), lead=lead)
        if secret:
            yield secret
            return
    direct = re.match(r"s?\s+", window)
    if direct:
        value, start, _ = _value(window, direct.end())
        if is_strong(value) and not _SETTING.match(value):
            yield _uncut(text, place.end + start, place.end + start + len(value))


def _connectors(window: str) -> Iterator[tuple[int, str, str]]:
    """Where a value may begin, after what, and what is before that; in the sentence, and near the word."""
    for found in _SAID.finditer(window):
        lead = window[: found.start()]
        if _BREAK.search(lead) or _MARKUP.search(lead) or lead.count(" ") > _MOST_WORDS:
            return
        adverb = _ADVERB.match(window, found.end())
        yield (adverb.end() if adverb else found.end()), found[0].strip().lower(), lead


def _judged(text: str, offset: int, window: str, at: int, *, assigned: bool, lead: str = "") -> Secret | None:
    value, start, quoted = _value(window, at)
    end = start + len(value)
    rest = window[end:]
    last = not rest or bool(_LAST.match(rest))
    if "\n" in window[:start].rstrip() or ("\n" in window[:start] and (not is_strong(value) or _SETTING.match(value))):
        return None
    its_own = assigned or not lead.strip() or bool(_OF.match(lead))
    if not value or not is_password(value, assigned=assigned, last=last, quoted=quoted, its_own=its_own):
        return None
    return _uncut(text, offset + start, offset + end)


def _uncut(text: str, start: int, end: int) -> Secret:
    """The password to its end, which the window may have cut off."""
    found = _VALUE.match(text, end)
    return Secret("password", start, end + len(found[0].rstrip(_TRAILING)) if found else end)


def _value(window: str, at: int) -> tuple[str, int, bool]:
    """The value at a place, where it begins, and whether it stands in quotation marks."""
    while at < len(window) and window[at] in " \t\n":
        at += 1
    if at >= len(window):
        return "", at, False
    opening = window[at]
    if opening in _OPENING:
        closing = window.find(_CLOSING.get(opening, opening), at + 1, at + 100)
        if closing > at + 2 and opening not in "(*_[":
            return window[at + 1 : closing], at + 1, True
        while at < len(window) and window[at] in _OPENING:
            at += 1
    found = _VALUE.match(window, at)
    return (found[0].rstrip(_TRAILING) if found else ""), at, False


def _first(text: str, place: _Place) -> tuple[str, int] | None:
    """ "X is my password": the value before the word."""
    begin = max(0, place.start - _BEFORE)
    before = text[begin : place.start]
    found = _FIRST.search(before) if _ODD.search(before) else None
    if not found:
        return None
    value = found[1].lstrip(_OPENING).rstrip(_TRAILING)
    return value, begin + found.start(1) + found[1].find(value)


def _code(text: str, low: str, place: _Place) -> Iterator[Secret]:
    window = text[place.end : min(place.until, place.end + _WINDOW // 2)]
    before = text[max(0, place.start - _BEFORE) : place.start]
    first = _first(text, place) if _THREE_DIGITS.search(before) else None
    if not first and not _THREE_DIGITS.search(window) and not _SHORT_CODE.search(window):
        return
    if first and is_code(first[0]) and first[0].strip("#*").isdigit():
        yield Secret("code", first[1], first[1] + len(first[0]))
    if _OTHER_CODE.search(low[max(0, place.start - 24) : place.start]):
        return
    places = [at for at, _, _ in _connectors(window)]
    direct = re.match(r"[s'’]?(?:\s+(?:code|number|kod|nr|no\.?))?\s*[:=#]?\s+|[:=]", window)
    if place.word.endswith(_OPEN_ENDED):
        named = _NAMED_CODE.match(window)
        direct = named or direct
    for at in [*places, *([direct.end()] if direct else ())]:
        if _OTHER_CODE.search(window[:at].lower()):
            continue
        value, start, _ = _value(window, at)
        number = _NUMBERS.match(window, start)
        if number and len(number[0]) >= len(value):
            value = number[0]
        if is_code(value) and not _UNIT.match(window[start + len(value) :].lower()):
            yield Secret("code", place.end + start, place.end + start + len(value))
            return


def _key(text: str, low: str, place: _Place) -> Iterator[Secret]:
    window = text[place.end : place.until]
    if not _DIGIT.search(window):
        return
    tail = _TAIL.match(window)
    if tail and place.word in _ONLY_ASSIGNED:
        secret = _judged(text, place.end, window, tail.end(), assigned=True)
        if secret:
            yield secret
            return
    for found in TOKEN.finditer(window):
        lead = window[: found.start()]
        if _BREAK.search(lead.strip(" \n") + " ") or lead.count(" ") > _MOST_WORDS or "://" in lead:
            return
        if not lead:
            continue
        token = found[0].rstrip(".-")
        if window[found.end() : found.end() + 1] == "(":
            continue
        beside = bool(tail and tail.end() + 1 >= found.start()) or lead.strip(" \"'`:=(") in _IS
        named = low[max(0, place.start - 24) : place.end + found.start()]
        if window[found.end() : found.end() + 1] == ":":
            start = place.end + found.start()
            token = text[slice(*_whole(text, start, start + len(token)))]
        if is_key(token, beside=beside) and not any(name in named for name in NAMES_OF_HASHES):
            whole = _whole(text, place.end + found.start(), place.end + found.start() + len(token))
            yield Secret("key", *whole)
            return


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """To the end of the token, if the window cut it, or a sign stands in it."""
    found = _REST.match(text, end)
    return start, found.end() if found else end
