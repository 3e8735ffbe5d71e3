"""Secrets in a text: found and taken out before anything is kept, searched, sent or logged.

It is hygiene, not a wall: somebody who wants to hide a secret in a text can. It asks nobody and keeps nothing.
"""

from memoranda.capture.secrets.glance import could_hold_secret
from memoranda.capture.secrets.secret import RANDOM, Secret

__all__ = ["RANDOM", "Secret", "redacted", "secrets"]


def secrets(text: str) -> tuple[Secret, ...]:
    """All secrets in a text, in order, not overlapping."""
    if not could_hold_secret(text):
        return ()
    # What is behind the first look takes a while to load, and most processes never need it.
    from memoranda.capture.secrets.finding import found_in

    return found_in(text)


def redacted(text: str) -> str:
    """The text with each secret replaced by its kind in brackets."""
    parts: list[str] = []
    at = 0
    for secret in secrets(text):
        parts += (text[at : secret.start], f"[secret: {secret.rule}]")
        at = secret.end
    return "".join((*parts, text[at:]))
