"""What other systems say, taken as it is: text where text is expected, nothing where something else stands."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any
from unicodedata import normalize

from memoranda.domain.clock import MAX_MS, to_ms
from memoranda.domain.errors import InvalidInput
from memoranda.domain.labels import importance
from memoranda.domain.memory import MAX_JSON, MAX_TAGS, Kind, checked_json, json_size

LONGEST_NAME = 512
_LONGEST_TAG = 64
_AMBIGUOUS = 10
# Numbers from here on are milliseconds: as seconds they would be after the year 5138.
_FIRST_MS = 100_000_000_000


def text_of(value: Any) -> str:
    """A text without what no store takes: NUL bytes and half characters are replaced. Anything else is no text."""
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode().strip()


def name_of(value: Any) -> str:
    """A short text in one line; numbers are names, too."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return " ".join(text_of(value).split())[:LONGEST_NAME].strip()


def moment_of(value: Any) -> int | None:
    """A moment as ISO-8601, seconds or milliseconds; None for what is no moment."""
    if isinstance(value, str):
        try:
            return to_ms(value, name="moment")
        except InvalidInput:
            return None
    # What is no number at all, NaN, is not between two others either.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_MS:
        return None
    return round(value if value >= _FIRST_MS else value * 1000)


def share_of(value: Any) -> float | None:
    """A number from 0 to 1, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def importance_of(value: Any) -> float | None:
    """How much something matters, as people write it: `0.86`, `86%`, `86/100`, `high`; None for what says nothing.

    A bare number from 2 to 10 may be out of five, ten or a hundred, and says nothing.
    """
    bare = value
    if isinstance(value, str):
        with suppress(ValueError):
            bare = float(normalize("NFKC", value).replace(",", "."))
    if isinstance(bare, int | float) and 1 < bare <= _AMBIGUOUS:
        return None
    with suppress(InvalidInput):
        return importance(value)
    return None


def tags_of(*values: Any) -> tuple[str, ...]:
    """Tags from lists and from texts with commas, each once, no more than a memory may have."""
    given: list[Any] = []
    for value in values:
        given += value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    named = (name_of(tag).lstrip("#")[:_LONGEST_TAG].strip() for tag in given)
    return tuple(dict.fromkeys(tag for tag in named if tag))[:MAX_TAGS]


def kept_of(values: Mapping[str, Any], *, without: Iterable[str] = ()) -> dict[str, Any] | None:
    """What a memory may carry of their other fields: plain JSON, as much as there is room for, the first ones first."""
    kept: dict[str, Any] = {}
    left_out = frozenset(without)
    room = MAX_JSON // 2
    for name, value in values.items():
        if name in left_out or value is None or value in ("", [], {}):
            continue
        try:
            plain = checked_json({name_of(name): value}, name="metadata", limit=room)
        except InvalidInput:
            continue
        room -= json_size(plain)
        kept |= plain
    return kept or None


def kind_of(word: Any, table: Mapping[str, Kind]) -> Kind | None:
    """The kind that their word stands for; None when it is not in the table."""
    return table.get(name_of(word).casefold().replace("-", "_").replace(" ", "_"))


def made_id(*parts: str) -> str:
    """A name for what has none there: the same for the same words. Too short to be taken for a secret."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def said_of(subject: str, text: str) -> str:
    """A text that names its subject, so that it can be found by it and understood alone."""
    return text if not subject or subject.casefold() in text.casefold() else f"{subject}: {text}"


def sentence(subject: str, relation: str, target: str) -> str:
    """A relation in words: `Anna works at the library.`"""
    words = " ".join(relation.replace("_", " ").replace("-", " ").split()) or "relates to"
    return f"{subject} {words} {target}."
