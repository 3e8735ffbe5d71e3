"""Said alike: whether two sentences say the same in other words, for who is asked before anything is done about it.

Wider than `sameness`, which acts by itself: words that stand for one another, times and dates however they are
written, an adverbial that stands first or last, "X is Y" turned round, the passive. Still a guard and no measure:
numbers, negation, names, identifiers, what is small but decides (to, from, over, only, must) and the order of what
is told must agree. Pure; the words are in the language tables, and a language without them says nothing here.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memoranda.capture.reading import even, words_of
from memoranda.capture.tables import LANGUAGES, table
from memoranda.capture.vocabulary import BREAK, Vocabulary, likely, vocabulary, votes

_SECTION, _TIMES = "said alike", "times alike"
_READ = 4_096
_LONGEST = 60
_FEWEST = 2
_MOST_SLOT = 3
_SLOT = "*"
_IS = "="
_HOURS = 24
_LONG_STEM = 5
_CASED = re.compile(r"(?:a|ą|ej|y|i|ego|emu|ym|im|ich|ych|ami|om|ach|owi)")
_NAME = re.compile(r"(?<=\S )[^\W\d_a-z]\w+")
_POSSESSIVE = re.compile(r"(?<=\w)(?:'s|s'|')(?!\w)")
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::([0-5]\d))?(?::00)? ?(?:([ap])\.?m\.?)(?!\w)|(?<![\d:.])(\d{1,2}):([0-5]\d)(?![\d:])"
)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_POLISH = re.compile("[ąęłńśźż]")
_MANY = frozenset({"are", "were", "są", "byli", "były"})
_MONTHS: dict[str, str] = {
    "en": "january february march april may june july august september october november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
}


class _Grammar(NamedTuple):
    """The few words of a language that the order of a sentence hangs on."""

    copulas: frozenset[str]
    weak: frozenset[str]
    """Before a place or a time."""
    strong: frozenset[str]
    """Before what somebody does something to, from or with: which one it is decides."""
    joins: frozenset[str]
    """What makes two sayings of one: then nothing may be moved."""
    at: frozenset[str]
    """Before a time of day."""
    focus: frozenset[str]
    drops: frozenset[str]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GRAMMARS = {
    "en": _Grammar(
        _set("be was"),
        _set("in at on"),
        _set("to from with for before after over than by about under above between against into since until as of"),
        _set("and or but then while because if when unless nor so which who that"),
        _set("at"),
        _set("only every"),
        _set("there a an"),
    ),
    "pl": _Grammar(
        _set("jest są to był była było ="),
        _set("w we na o u przy"),
        _set("z ze do od po dla przez pod nad przed za niż między obok jako"),
        _set("i a oraz ale lub albo bo więc potem najpierw jeśli gdy kiedy który która które"),
        _set("o"),
        _set("tylko każdy każdą"),
        _set("ja"),
    ),
}


class _Read(NamedTuple):
    """A sentence as it is compared."""

    words: tuple[str, ...]
    raised: frozenset[str]
    """Words that are written with a capital letter, or may be because they stand first."""
    named: bool
    """Whether somebody or something is called by a name, an identifier or a number."""
    many: bool
    """Whether it tells what several are: all of these may be those, and not all those be these."""
    joined: bool


def said_alike(one: str, other: str) -> str:
    """Why both say the same, in a few words; empty when they may not."""
    if "?" in one or "?" in other:
        return ""
    for language in _languages(one, other):
        mine, theirs = _read(one, language), _read(other, language)
        if _FEWEST <= len(mine.words) <= _LONGEST and _FEWEST <= len(theirs.words) <= _LONGEST:
            why = _Comparing(mine, theirs, language).verdict()
            if why:
                return why
    return ""


def _languages(one: str, other: str) -> Iterator[str]:
    """In which they may be: the likeliest; and what its letters say, or English when that is nearly as likely, as
    in a short sentence."""
    both = [first + second for first, second in zip(votes(even(one)), votes(even(other)), strict=True)]
    first = likely(both)
    if first in _GRAMMARS:
        yield first
    if first != "pl" and _POLISH.search(even(one + other)):
        yield "pl"
    elif first != "en" and one.isascii() and other.isascii() and both[LANGUAGES.index("en")] >= max(both) - 1:
        yield "en"


class _Comparing:
    def __init__(self, mine: _Read, theirs: _Read, language: str) -> None:
        self._mine = mine
        self._theirs = theirs
        self._grammar = _GRAMMARS[language]
        self._inflected = language == "pl"

    def verdict(self) -> str:
        mine, theirs = self._mine.words, self._theirs.words
        if self._equal(mine, theirs):
            return "other words for the same"
        if self._turned_round(mine, theirs):
            return "turned round"
        if self._mine.joined or self._theirs.joined:
            return ""
        (rest, when), (other, then) = self._apart(mine), self._apart(theirs)
        if when != then or len(rest) < 1:
            return ""
        if self._equal(rest, other):
            return "another order"
        return "another order" if self._moved(rest, other) or self._moved(other, rest) else ""

    # -- words --

    def _equal(self, one: Sequence[str], other: Sequence[str]) -> bool:
        """The same words in the same order; those that only join a subject with what it is are passed over."""
        mine, theirs = ([word for word in each if not self._is_copula(word)] for each in (one, other))
        return len(mine) == len(theirs) and all(map(self._same, mine, theirs))

    def _is_copula(self, word: str) -> bool:
        # What was is not what is.
        return word in self._grammar.copulas and word not in ("was", "był", "była", "było")

    def _same(self, one: str, other: str) -> bool:
        if one == other:
            return True
        if not self._inflected or one in self._mine.raised or other in self._theirs.raised:
            return False
        stem = _shared(one, other)
        ends = (one[len(stem) :], other[len(stem) :])
        return len(stem) >= _LONG_STEM and all(_CASED.fullmatch(end) for end in ends)

    # -- order --

    def _turned_round(self, one: Sequence[str], other: Sequence[str]) -> bool:
        """ "X is Y" and "Y is X", where one of them is a certain thing."""
        if not (self._mine.named or self._theirs.named) or self._mine.many or self._theirs.many:
            return False
        places = [[place for place, word in enumerate(each) if word in self._grammar.copulas] for each in (one, other)]
        if [len(each) for each in places] != [1, 1]:
            return False
        (first,), (second,) = places
        if one[first] != other[second] and "was" in (one[first], other[second]):
            return False
        moved = self._exactly(one[:first], other[second + 1 :]) and self._exactly(one[first + 1 :], other[:second])
        return moved and bool(one[:first]) and bool(other[:second])

    def _exactly(self, one: Sequence[str], other: Sequence[str]) -> bool:
        return list(one) == list(other)

    def _apart(self, words: Sequence[str]) -> tuple[list[str], list[tuple[str, ...]]]:
        """The words without those that say when, and those by themselves, whatever their order."""
        rest: list[str] = []
        when: list[tuple[str, ...]] = []
        place = 0
        while place < len(words):
            end = place
            while end < len(words) and (words[end] in self._grammar.focus or words[end] in self._grammar.weak):
                end += 1
            begin, said = end, [word for word in words[place:end] if word in self._grammar.focus]
            while end < len(words) and (_is_time(words[end]) or (end > begin and words[end] in self._grammar.weak)):
                end += 1
            while end > begin and words[end - 1] in self._grammar.weak:
                end -= 1
            if end > begin:
                named = [word for word in words[begin:end] if word not in self._grammar.weak]
                when += ([(*said, named[0])] if said else [(named[0],)]) + [(word,) for word in named[1:]]
                place = end
            else:
                rest.append(words[place])
                place += 1
        return rest, sorted(when)

    def _moved(self, one: Sequence[str], other: Sequence[str]) -> bool:
        """Whether what begins with a preposition stands first in the one and last in the other."""
        place = 1 if one and one[0] in self._grammar.focus else 0
        if len(one) <= place:
            return False
        bare = [word for word in one if not self._is_copula(word)]
        if one[place] not in self._grammar.weak and one[place] not in self._grammar.strong:
            # No adverbial: who does what, of which there are only two words, may stand either way.
            left = [word for word in other if not self._is_copula(word)]
            return self._inflected and len(bare) == _FEWEST and sorted(bare) == sorted(left)
        left = [word for word in other if not self._is_copula(word)]
        for cut in range(place + 2, len(bare)):
            first, rest = bare[:cut], bare[cut:]
            if left[-cut:] != first:
                continue
            if rest == left[:-cut]:
                return True
            if self._inflected and len(rest) == _FEWEST and sorted(rest) == sorted(left[:-cut]):
                return True
        return False


def _shared(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    # The ending is what differs, and whatever of it both begin with.
    return one[:length]


def _is_time(word: str) -> bool:
    return word.startswith("@")


# -- reading --


@lru_cache(maxsize=_READ)
def _read(text: str, language: str) -> _Read:
    known = vocabulary(language, folded=False)
    grammar = _GRAMMARS[language]
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    raised = {fold_word for name in (*_NAME.findall(text), first) for fold_word in known.tokens(even(name))}
    prepared = _with_times(even(text).replace(": ", f" {_IS} "), language)
    said = known.tokens(_POSSESSIVE.sub("", prepared))
    tokens = _active(list(_plain(said, language)), language)
    tokens = _after_of(_replaced(tokens, language), language)
    words: list[str] = []
    for word in words_of(" ".join(tokens), known):
        if word.sort in ("small", "article") or word.text in grammar.drops:
            continue
        words.append(word.text)
    while words and words[-1] == BREAK:
        words.pop()
    timed = list(_timed(words, known, grammar))
    joined = any(word in grammar.joins or word == BREAK for word in timed)
    named = bool(_NAME.search(text)) or any(_tells(word) for word in timed)
    return _Read(tuple(timed), frozenset(raised), named, not _MANY.isdisjoint(said), joined)


def _tells(word: str) -> bool:
    """An identifier or a number."""
    return any(char.isdigit() for char in word) or "." in word or "_" in word


def _with_times(text: str, language: str) -> str:
    """Times of day and dates in one form each; `@` begins what is a time."""
    months = _MONTHS[language].split()
    named = "|".join(months)
    text = _ISO.sub(lambda each: _date(each[3], each[2], each[1]), text)
    text = _DOTTED.sub(lambda each: _date(each[1], each[2], each[3]), text)
    text = re.sub(
        rf"(?<![\d.])(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({named})(?:,? (\d{{4}}))?(?![\w:])",
        lambda each: _date(each[1], str(months.index(each[2]) + 1), each[3]),
        text,
    )
    if language == "en":
        text = re.sub(
            rf"(?<!\w)({named}) (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?(?![\w:])",
            lambda each: _date(each[2], str(months.index(each[1]) + 1), each[3]),
            text,
        )
    return _CLOCK.sub(_clock, text)


def _date(day: str, month: str, year: str | None) -> str:
    return f"dated{int(year or 0)}x{int(month)}x{int(day)}"


def _clock(found: "re.Match[str]") -> str:
    hour, minute = int(found[1] or found[4]), int(found[2] or found[5] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3] == "p" else 0)
    return f"clock{hour}x{minute}"


def _timed(words: Sequence[str], known: Vocabulary, grammar: _Grammar) -> Iterator[str]:
    """The words, with a sign before each that says when: a day, a month, an hour, a date."""
    before = ""
    for word in words:
        if before in grammar.at and word.isdigit() and int(word) <= _HOURS:
            yield f"@clock{int(word)}x0"
        elif word.startswith(("dated", "clock", "timed")) or word in known.times or _is_year(before, word, known):
            yield f"@{word}"
        else:
            yield word
        before = word


def _is_year(before: str, word: str, known: Vocabulary) -> bool:
    return before in known.times and word.isdigit() and len(word) == len("2026")


def _plain(tokens: Sequence[str], language: str) -> Iterator[str]:
    """With one form of `to be` for each tense. No other ending is passed over: one son is not two sons."""
    forms = _TO_BE if language == "en" else {}
    for token in tokens:
        yield forms.get(token, token)


_TO_BE = {"is": "be", "are": "be", "am": "be", "were": "was"}


def _one_of(token: str) -> str:
    """Of what stands in a slot, one: a peanut allergy is one to peanuts."""
    return token[:-1] if len(token) > _LONG_STEM and token.endswith("s") and not token.endswith("ss") else token


# -- phrases that stand for one another --


class _Pattern(NamedTuple):
    before: tuple[str, ...]
    slot: bool
    after: tuple[str, ...]
    head: str


@cache
def _patterns(language: str) -> dict[str, tuple[_Pattern, ...]]:
    """By the first word, the longest first."""
    known = vocabulary(language, folded=False)
    found: dict[str, list[_Pattern]] = {}
    lines = [
        (f"{head}{number}", line)
        for head, section in (("alike", _SECTION), ("timed", _TIMES))
        for number, line in enumerate(table(language).get(section, ()))
    ]
    for head, line in lines:
        for entry in line.split("|"):
            before, slot, after = entry.partition(_SLOT)
            parts = [tuple(_plain(known.tokens(part), language)) for part in (before, after)]
            pattern = _Pattern(parts[0], bool(slot), parts[1], head)
            found.setdefault(pattern.before[0], []).append(pattern)
    return {word: tuple(sorted(each, key=_longest)) for word, each in found.items()}


def _longest(pattern: _Pattern) -> tuple[int, int]:
    return -len(pattern.before) - len(pattern.after), pattern.slot


def _replaced(tokens: Sequence[str], language: str) -> list[str]:
    """The tokens with one word for each phrase of the table, and behind it what stood in its slot."""
    patterns = _patterns(language)
    found: list[str] = []
    place = 0
    while place < len(tokens):
        for pattern in patterns.get(tokens[place], ()):
            taken = _taken(tokens, place, pattern)
            if taken is not None:
                found += (pattern.head, *taken[1])
                place = taken[0]
                break
        else:
            found.append(tokens[place])
            place += 1
    return found


def _taken(tokens: Sequence[str], place: int, pattern: _Pattern) -> tuple[int, Sequence[str]] | None:
    """Where a phrase ends that begins here, and what is in its slot."""
    start = place + len(pattern.before)
    if tuple(tokens[place:start]) != pattern.before:
        return None
    if not pattern.slot:
        return start, ()
    if not pattern.after:
        return (start + 1, [_one_of(tokens[start])]) if start < len(tokens) else None
    for end in range(start + 1, min(start + _MOST_SLOT, len(tokens) - len(pattern.after)) + 1):
        if tuple(tokens[end : end + len(pattern.after)]) == pattern.after:
            return end + len(pattern.after), [*tokens[start : end - 1], _one_of(tokens[end - 1])]
    return None


def _after_of(tokens: Sequence[str], language: str) -> list[str]:
    """ "The number of Anna" as "Anna's number", where both are plain to see."""
    found = list(tokens)
    if language != "en" or found.count("of") != 1:
        return found
    place = found.index("of")
    start = max((at for at, word in enumerate(found[:place]) if word in ("the", "a", "an")), default=-1)
    owner = [word for word in found[place + 1 : place + 3] if word not in ("the", "a", "an")][:1]
    if start < 0 or not owner or not 0 < place - start - 1 <= _MOST_SLOT:
        return found
    end = found.index(owner[0], place) + 1
    return [*found[:start], *owner, *found[start + 1 : place], *found[end:]]


def _active(tokens: Sequence[str], language: str) -> list[str]:
    """ "The report was finished by Tom" as "Tom finished the report"."""
    found = list(tokens)
    if language != "en" or found.count("by") != 1 or "was" not in found:
        return found
    was, by = found.index("was"), found.index("by")
    if by != was + 2 or not found[was + 1].endswith("ed") or was == 0 or by + 1 >= len(found):
        return found
    return [found[by + 1], found[was + 1], *found[:was], *found[by + 2 :]]
