"""What a model can do about an error. The hints of the errors themselves are for people who run commands and settings,
which a model can do nothing with."""

import re

from memoranda.domain.errors import (
    Ambiguous,
    ConfigError,
    Conflict,
    InvalidInput,
    LedgerError,
    MemorandaError,
    NotFound,
    ProviderError,
    Refused,
)

_LOOK = (
    "Look for it first, with what you have of recall, recall_facts, memory_recall, memory_list, recall_memory and "
    "recall_fact, or ask the user."
)
_LATER = "Go on without it, and tell the user that the memory cannot be used at the moment."
_CORRECT = "Correct the value and call again, or ask the user; nothing was stored."
_ADVICE: dict[type[MemorandaError], str] = {
    NotFound: _LOOK,
    Ambiguous: "Give more characters of the id, or ask the user which one is meant.",
    Conflict: "Nothing was changed; tell the user how it stands.",
    Refused: "Leave it out, and tell the user that it was not done.",
    LedgerError: _LATER,
    ProviderError: _LATER,
    ConfigError: _LATER,
}
# By words of the message, where the same class has several reasons.
_REASONS: tuple[tuple[type[MemorandaError], str, str], ...] = (
    (NotFound, "there is no conversation", "Look at archive_sessions first, or ask the user which one is meant."),
    (InvalidInput, "belongs to the profile", "Use update_profile for it, or another key."),
    (Refused, "is a secret", "Leave the secret out; tell the user to keep it in a password manager."),
    (Refused, "steer a model", "Leave it out, and tell the user that it was not stored."),
    (Refused, "was erased", "Leave it out: it was erased on request, and only a person can have it kept again."),
    (Refused, "has not been added", "Ask the user to add the folder; you cannot do it."),
    (Refused, "is not inside", "Leave scope out, or give one inside your own."),
    (Refused, "cannot be changed from", "Ask the user: it belongs to a wider scope than yours."),
    (Refused, "was not written by", "Ask the user to forget it: it is not yours to let go of."),
)
# Code, commands and settings, which are no words for a model.
_FOR_OPERATORS = re.compile(r"[`=]|\bmemoranda\b|\bCLI\b")


def advice(error: MemorandaError) -> str:
    """The next move, for a model."""
    message = str(error)
    for kind, words, told in _REASONS:
        if isinstance(error, kind) and words in message:
            return told
    for kind, told in _ADVICE.items():
        if isinstance(error, kind):
            return told
    return _CORRECT if _FOR_OPERATORS.search(error.hint) else error.hint
