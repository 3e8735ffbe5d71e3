"""Errors as problem+json, and back. One table says which status each class has."""

import re
from collections.abc import Mapping
from typing import Any

from memoranda.domain import errors
from memoranda.domain.errors import MemorandaError

CONTENT_TYPE = "application/problem+json"
_URN = "urn:memoranda:"
_LONGEST = 4_000
# Where the database is, is not the business of whoever asks a server.
_ADDRESS = re.compile(r"\bpostgres(?:ql)?://\S+")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")

# The most special class decides.
STATUSES: dict[type[MemorandaError], int] = {
    MemorandaError: 500,
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.Ambiguous: 409,
    errors.Conflict: 409,
    errors.Refused: 403,
    errors.ConfigError: 500,
    errors.LedgerError: 500,
    errors.LedgerLocked: 503,
    errors.LedgerUnavailable: 503,
    errors.LedgerFull: 507,
    errors.ProviderError: 502,
    errors.ProviderMissing: 501,
    errors.ProviderUnavailable: 503,
}
# Not the caller's fault, and over soon: the same may be asked again.
_PASSING = (errors.LedgerLocked, errors.LedgerUnavailable)
_PASSING_SECONDS = 1.0
_CLASSES: dict[str, type[MemorandaError]] = {
    kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MemorandaError)
}


def status_of(error: MemorandaError) -> int:
    """The status of the nearest class in the table."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def slug(kind: type[MemorandaError]) -> str:
    """`NotFound` is `not-found`."""
    return _WORD.sub("-", kind.__name__).lower()


def problem(status: int, name: str, detail: str, hint: str, **more: Any) -> dict[str, Any]:
    """A problem as it is sent. `name` says what kind it is, in words joined by hyphens."""
    title = name.replace("-", " ").capitalize()
    return {"type": _URN + name, "title": title, "status": status, "detail": detail, "hint": hint, **more}


def retry_after_of(error: MemorandaError) -> float | None:
    """The seconds after which the same may be asked again; None when nobody knows, or it would not help."""
    if isinstance(error, errors.ProviderUnavailable):
        return error.retry_after
    return _PASSING_SECONDS if isinstance(error, _PASSING) else None


def problem_of(error: MemorandaError) -> dict[str, Any]:
    """An error as a problem."""
    more: dict[str, Any] = {}
    if isinstance(error, errors.Ambiguous):
        more["candidates"] = list(error.candidates)
    after = retry_after_of(error)
    if after is not None:
        more["retry_after"] = after
    return problem(status_of(error), slug(type(error)), detail_of(error), error.hint, **more)


def detail_of(error: MemorandaError) -> str:
    """What an error says, for somebody on another machine."""
    return _ADDRESS.sub("the database", str(error)) if isinstance(error, errors.LedgerError) else str(error)


def error_of(told: Mapping[str, Any]) -> MemorandaError:
    """The error again. A kind that nobody here knows is told by its status. Nothing in it is believed to be short."""
    name = "".join(part.capitalize() for part in str(told.get("type", "")).removeprefix(_URN).split("-"))
    detail = str(told.get("detail", "the server gave no reason"))[:_LONGEST]
    hint = str(told.get("hint", ""))[:_LONGEST] or None
    kind = _CLASSES.get(name) or _by_status(told.get("status"))
    if kind is errors.Ambiguous:
        found = told.get("candidates")
        return errors.Ambiguous(detail, candidates=tuple(map(str, found)) if isinstance(found, list) else (), hint=hint)
    if kind is errors.ProviderUnavailable:
        after = told.get("retry_after")
        seconds = after if isinstance(after, int | float) and not isinstance(after, bool) else None
        return errors.ProviderUnavailable(detail, retry_after=seconds, hint=hint)
    return kind(detail, hint=hint)


def _by_status(status: Any) -> type[MemorandaError]:
    if not isinstance(status, int):
        return MemorandaError
    if status in (400, 405, 413, 415, 422):
        return errors.InvalidInput
    if status in (401, 403, 421):
        return errors.Refused
    if status in (408, 429, 502, 503, 504):
        return errors.ProviderUnavailable
    return {404: errors.NotFound, 409: errors.Conflict}.get(status, MemorandaError)
