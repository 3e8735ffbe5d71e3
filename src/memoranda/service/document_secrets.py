"""Secrets in documents: taken out before anything of a file is kept or shown. Every line stays where it is."""

import re
from collections.abc import Callable

from memoranda.config import Settings

Screen = Callable[[str], str]
"""A document as it may be kept and shown, with as many lines as it has."""
# What gives a secret away does not stand above the heading of its section; one strange sign makes all of a text slow.
_SECTION = re.compile(r"(?<=\n\n)(?=#{1,6} )")


def screen(settings: Settings) -> Screen:
    """How documents are read in a store with these settings."""
    return _unchanged if settings.secrets == "allow" else lines_without_secrets


def lines_without_secrets(text: str) -> str:
    """The text with each secret replaced by its kind in brackets. Its lines end with LF."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_section_without_secrets, _SECTION.split(lines)))


def _section_without_secrets(text: str) -> str:
    from memoranda.capture.secrets import secrets

    parts: list[str] = []
    at = 0
    for secret in secrets(text):
        # A key goes over many lines; what stands below it must be cited as before.
        ends = "\n" * text.count("\n", secret.start, secret.end)
        parts += (text[at : secret.start], f"[secret: {secret.rule}]", ends)
        at = secret.end
    return "".join((*parts, text[at:]))


def _unchanged(text: str) -> str:
    return text
