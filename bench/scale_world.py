"""A made-up world of any size: scopes, what is kept in them, and questions. The same each time, nothing on disk.

Sizes of scopes follow Zipf's law, one scope for a hundred memories: at a million the largest has some hundred thousand,
the hundredth a thousand, the last ten. Words follow it too, and each scope has names and things of its own. The
embedder sums one random direction for each word, rare words weighing more: near for texts that share rare words,
made in microseconds. It is no model: it says nothing of how well meaning is found, only what finding it costs.
"""

import math
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memoranda import Draft

DIMENSIONS = 512
_SEED = 20261116
_VOCABULARY = 30_000
_BUCKETS = 8_192
_MEMORIES_A_SCOPE = 100
_WORD = re.compile(r"\w+")
_COMMON = tuple(
    re.findall(
        r"\w+",
        "the to and of a in is that for it on with was as we at be this have from by not are or an they she he when "
        "said will about after would been there more some before over because still only again last every",
    )
)
_ONSETS = ("br", "cl", "dr", "fl", "gr", "pl", "pr", "st", "tr", "sh", "ch", *"bcdfghklmnprstvw")
_VOWELS = ("ai", "ea", "ou", *"aeiou")
_CODAS = ("", "nd", "rk", "st", *"nrsltm")
_KINDS = ("fact", "fact", "note", "preference", "episode", "decision")

Vector = npt.NDArray[np.float32]


def scopes_at(size: int) -> int:
    """How many scopes a store of so many memories has."""
    return max(1, size // _MEMORIES_A_SCOPE)


def shares(size: int) -> list[int]:
    """How many memories each scope has, largest first."""
    count = scopes_at(size)
    harmonic = sum(1 / rank for rank in range(1, count + 1))
    given = [max(1, round(size / harmonic / rank)) for rank in range(1, count + 1)]
    given[0] += size - sum(given)
    return given


def asked_scopes(given: Sequence[int]) -> dict[str, int]:
    """The ranks that are asked: the largest, one of about ten thousand memories, unless that is the largest itself, one
    of about a thousand, and the last that has any."""
    there = [rank for rank, count in enumerate(given) if count]
    medium, large = (min(there, key=lambda rank: abs(math.log(given[rank] / size))) for size in (1_000, 10_000))
    largest = max(there, key=lambda rank: given[rank])
    return {"largest": largest, **({"large": large} if large != largest else {}), "medium": medium, "small": there[-1]}


def scope_path(rank: int) -> str:
    """The scope of a rank: a root of its own, as each user of a server has."""
    return f"user-{rank:06d}"


def draft(rank: int, number: int) -> Draft:
    """What is kept as number so and so of a scope."""
    rng = random.Random((rank << 34) | (number << 1))
    return Draft(_text(rank, rng), kind=_KINDS[number % len(_KINDS)])  # type: ignore[arg-type]


def question(rank: int, number: int) -> str:
    """A question that this memory answers: its subject, and some of its rarer words."""
    words = _WORD.findall(draft(rank, number).text)
    rng = random.Random((rank << 34) | (number << 1) | 1)
    rare = sorted({word for word in words[1:] if word.lower() not in _COMMON}, key=lambda word: (-len(word), word))[:6]
    return f"what was it that {words[0]} said about the {' '.join(rng.sample(rare, min(4, len(rare))))}?"


def _text(rank: int, rng: random.Random) -> str:
    own = _own_words(rank)
    words = [rng.choice(own[:12]).capitalize()]
    for _ in range(rng.randint(8, 22)):
        drawn = rng.random()
        if drawn < 0.45:
            words.append(_COMMON[int(len(_COMMON) ** rng.random()) - 1])
        elif drawn < 0.60:
            words.append(rng.choice(own))
        else:
            words.append(_vocabulary()[int(_VOCABULARY ** rng.random()) - 1])
    return " ".join(words) + "."


@lru_cache(maxsize=1)
def _vocabulary() -> list[str]:
    rng = random.Random(_SEED)
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        syllables = rng.choice((1, 2, 2, 3))
        made["".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(syllables))] = None
    return sorted(made, key=len)  # what is said often is short


@lru_cache(maxsize=1_024)
def _own_words(rank: int) -> list[str]:
    return random.Random(_SEED + rank).sample(_vocabulary(), 60)


class WordsEmbedder:
    """The sum of one direction for each word. Not a model."""

    name = "words:scale"
    fingerprint = f"words:scale|1|{DIMENSIONS}"
    dimensions: int | None = DIMENSIONS

    def __init__(self) -> None:
        self._directions = np.random.default_rng(_SEED).standard_normal((_BUCKETS, DIMENSIONS), np.float32)
        self._common = frozenset(_COMMON)

    def embed(self, texts: Sequence[str], role: str) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        words = _WORD.findall(text.lower()) or [text]
        rows = self._directions[[zlib.crc32(word.encode()) % _BUCKETS for word in words]]
        weights = np.fromiter((0.2 if word in self._common else 1.0 for word in words), np.float32, len(words))
        summed: Vector = weights @ rows
        return summed

    def close(self) -> None:
        """Nothing is held."""


def exact_nearest(embedder: WordsEmbedder, rank: int, count: int, query: Vector, best: int) -> list[int]:
    """Numbers in the scope of the nearest texts by cosine, computed from the texts alone."""
    return next(iter(exact_of_all(embedder, rank, count, [query], best)))


def exact_of_all(
    embedder: WordsEmbedder, rank: int, count: int, queries: Sequence[Vector], best: int
) -> Iterator[list[int]]:
    """The same for several queries, each text embedded once."""
    asked = _of_length_one(np.stack(queries))
    cosines = np.empty((len(queries), count), np.float32)
    for start in range(0, count, 4_096):
        stop = min(start + 4_096, count)
        texts = [draft(rank, number).text for number in range(start, stop)]
        cosines[:, start:stop] = asked @ _of_length_one(np.stack(embedder.embed(texts, "document"))).T
    for row in cosines:
        yield np.argsort(-row, kind="stable")[:best].tolist()


def _of_length_one(rows: Vector) -> Vector:
    scaled: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled
