"""Secrets in documents: taken out before anything of a file is kept or shown. Every line stays where it is."""

import hashlib
import re
from collections.abc import Callable

from memoranda.config import Settings
from memoranda.domain.document import Chunk

Screen = Callable[[str], str]
"""A document as it may be kept and shown, with as many lines as it has."""
# What gives a secret away does not stand above the heading of its section; one strange sign makes all of a text slow.
_SECTION = re.compile(r"(?<=\n\n)(?=#{1,6} )")
_MORE = "\n[…]"
"""Each further line of a secret."""


def screen(settings: Settings) -> Screen:
    """How documents are read in a store with these settings."""
    return _unchanged if settings.secrets == "allow" else lines_without_secrets


def lines_without_secrets(text: str) -> str:
    """The text with each secret replaced by its kind in brackets. Its lines end with LF."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_section_without_secrets, _SECTION.split(lines)))


def screened_chunk(chunk: Chunk, screen: Screen) -> Chunk:
    """What was cut before, as it may be kept and shown now."""
    text = screen(chunk.text)
    digest = chunk.digest if text == chunk.text else hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return chunk._replace(text=text, heading=screen(chunk.heading), digest=digest)


def _section_without_secrets(text: str) -> str:
    from memoranda.capture.secrets import secrets

    parts: list[str] = []
    at = 0
    for secret in secrets(text):
        # A key goes over many lines; what stands below it must be cited as before.
        more = _MORE * text.count("\n", secret.start, secret.end)
        parts += (text[at : secret.start], f"[secret: {secret.rule}]", more)
        at = secret.end
    return "".join((*parts, text[at:]))


def _unchanged(text: str) -> str:
    return text
