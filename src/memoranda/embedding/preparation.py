"""Text on its way to a model: made clean, clamped, grouped, prefixed; and the fingerprint that names all this.

Pure functions. What a model is called with is decided here, how it is called is not.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memoranda.domain.ports import Role

MARKER = "\n...\n"

# Raise it when anything here changes what a model is given: old vectors are then of another space.
_PREPARATION = "prep1"


class Prefixes(NamedTuple):
    """What a model was trained to see before a query and before a document."""

    query: str = ""
    document: str = ""

    def applied(self, texts: Sequence[str], role: Role) -> list[str]:
        prefix = self.query if role == "query" else self.document
        return [prefix + text for text in texts]


_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = Prefixes("task: search result | query: ", "title: none | text: ")
_E5 = Prefixes("query: ", "passage: ")

# By a part of the model's name; the first that fits. Taken from the models' own cards.
_PREFIXES: tuple[tuple[str, Prefixes], ...] = (
    ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    ("e5-small", _E5),
    ("e5-base", _E5),
    ("e5-large", _E5),
    ("embeddinggemma", _TASK),
    ("gemini-embedding-2", _TASK),
    ("arctic-embed2", Prefixes("query: ", "")),
    ("arctic-embed-m-v2", Prefixes("query: ", "")),
    ("arctic-embed-l-v2", Prefixes("query: ", "")),
    ("arctic-embed", Prefixes(_SEARCH, "")),
    ("mxbai-embed-large", Prefixes(_SEARCH, "")),
)


def prefixes_for(model: str) -> Prefixes:
    """The prefixes that a model needs, by its name; none for most."""
    lowered = model.lower()
    return next((prefixes for part, prefixes in _PREFIXES if part in lowered), Prefixes())


def clean(text: str) -> str:
    """The text as valid Unicode: halves of a surrogate pair are joined, a lone one is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clamp(text: str, *, limit: int, head: int) -> str:
    """The clean text, or its head and its tail when it is too long. Clamping twice changes nothing."""
    cleaned = clean(text)
    if len(cleaned) <= limit:
        return cleaned
    tail = limit - head - len(MARKER)
    return cleaned[:head] + MARKER + cleaned[-tail:]


def estimated_tokens(text: str) -> int:
    """About how many tokens: four ASCII characters make one, any other character is one."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def batches(texts: Sequence[str], *, tokens: int, items: int) -> Iterator[list[str]]:
    """The texts in order, in groups within both limits. A text over the limit goes alone."""
    batch: list[str] = []
    used = 0
    for text in texts:
        cost = estimated_tokens(text)
        if batch and (used + cost > tokens or len(batch) >= items):
            yield batch
            batch, used = [], 0
        batch.append(text)
        used += cost
    if batch:
        yield batch


def digest(*parts: str) -> str:
    """Eight hexadecimal digits that stand for the parts."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=4).hexdigest()


def fingerprint(name: str, *, place: str = "", prefixes: Prefixes, dimensions: int | None) -> str:
    """The identity of a vector space. `place` is shown as a digest only: an address may be private."""
    parts = [name]
    if place:
        parts.append(digest(place))
    parts.append(
        _PREPARATION if prefixes == Prefixes() else f"{_PREPARATION}-{digest(prefixes.query, prefixes.document)}"
    )
    parts.append("auto" if dimensions is None else str(dimensions))
    return "|".join(parts)
