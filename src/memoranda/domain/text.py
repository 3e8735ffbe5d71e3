"""Text at the door: what is refused, and the normal form by which two texts are the same; and numbers in words."""

import hashlib
import unicodedata

from memoranda.domain.errors import InvalidInput

MAX_TEXT = 8_000
_HASH_TAG = "b2:"
_VOWELS = frozenset("aeiou")


def checked_text(text: str, *, name: str, limit: int = MAX_TEXT, empty_ok: bool = False) -> str:
    """The text in NFC, or a clear error. NUL bytes and lone surrogates never reach a store or a model."""
    if not isinstance(text, str):
        raise InvalidInput(f"{name}: text is expected, not {type(text).__name__}")
    if not empty_ok and not text.strip():
        raise InvalidInput(f"{name} is empty", hint=f"Give {name} at least one visible character.")
    if "\0" in text:
        raise InvalidInput(f"{name} has a NUL byte in it", hint="Remove the NUL byte; this looks like binary data.")
    if not text.isascii() and _has_surrogate(text):
        raise InvalidInput(
            f"{name} has a lone surrogate in it, which is not text",
            hint="Decode the input again, for example with errors='replace'.",
        )
    composed = unicodedata.normalize("NFC", text)
    if len(composed) > limit:
        raise InvalidInput(
            f"{name} has {len(composed):,} characters; the limit is {limit:,}",
            hint="Make it shorter, or several.",
        )
    return composed


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def normal_form(text: str) -> str:
    """What two texts must share to count as the same: NFKC, case, spaces and final punctuation do not matter."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.rstrip(".!。！ ") or folded


def content_hash(text: str) -> str:
    """The identity of a text, with the algorithm written on it."""
    return _HASH_TAG + hashlib.blake2b(normal_form(text).encode(), digest_size=16).hexdigest()


def so_many(number: int, one: str, many: str = "") -> str:
    """So many of something, in words that fit."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or (one[:-1] + 'ies' if one.endswith('y') and one[-2:-1] not in _VOWELS else one + 's')}"
