"""A snippet: the part of a chunk that has most of the words that were asked for."""

import re
from collections.abc import Sequence

_START = re.compile(r"(?:\A|\n+|(?<=[.!?。！？])\s*)(?=\S)")
_SPACED = re.compile(r"\s")
_BEGINNING = 6
_CUT = "…"
_MOST_PLACES = 200


def snippet(text: str, words: Sequence[str], *, most: int = 700) -> str:
    """At most so many characters of a text, from the beginning of a line or a sentence. A cut shows."""
    bare = text.strip()
    if len(bare) <= most:
        return bare
    length = most - 2 * len(_CUT)
    folded = bare.casefold()
    looked_at = folded if len(folded) == len(bare) else bare
    places = sorted((at, word) for word in _beginnings(words) for at in _found(looked_at, word))
    starts = {match.end() for match in _START.finditer(bare)} | {0}
    # In a line that goes on for longer than a snippet, what was meant may begin anywhere.
    anywhere = [at for at, _ in places[:_MOST_PLACES]]
    best = max((*starts, *anywhere), key=lambda start: (_kinds(places, start, start + length), start in starts, -start))
    end = min(len(bare), best + length)
    if end < len(bare):
        spaces = [match.start() for match in _SPACED.finditer(bare, best + length // 2, end)]
        end = spaces[-1] if spaces else end
    shown = bare[best:end].strip()
    return f"{_CUT if best else ''}{shown}{_CUT if end < len(bare) else ''}"


def _kinds(places: Sequence[tuple[int, str]], start: int, end: int) -> int:
    """How many different words are in a part."""
    return len({word for at, word in places if start <= at < end})


def _beginnings(words: Sequence[str]) -> list[str]:
    """What is looked for: words by their first letters; of scripts without spaces, pairs of characters."""
    found: list[str] = []
    for word in words:
        if word.isascii() or len(word) < 2 or ord(word[0]) < 0x0E00:
            found.append(word[:_BEGINNING])
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return list(dict.fromkeys(each for each in found if each))


def _found(text: str, word: str) -> list[int]:
    places = []
    at = text.find(word)
    while at >= 0:
        places.append(at)
        at = text.find(word, at + 1)
    return places
