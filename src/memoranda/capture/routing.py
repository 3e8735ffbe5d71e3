"""Routing: one thing is kept in one place. What is always to be known about a person belongs to their profile.

A name does, and how they want to be answered: the question that it bears on does not come up, so that recall alone
would never bring it back. How to answer goes there only when somebody asked for it to be remembered: it stands before
every answer, and no sentence that was merely said, or pasted, should. Everything else stays among the memories.
"""

from memoranda.capture.letters import small
from memoranda.capture.tables import UNSPACED, phrases
from memoranda.domain.candidate import Candidate
from memoranda.domain.profile import KIND_OF, MAX_ENTRY, PREFIX, Field, subject_of, text_of

# Slots that a profile has a field for.
_FIELDS: dict[str, Field] = {"name": "name"}


def routed(candidate: Candidate, speaker: str) -> Candidate:
    """The candidate as an entry of the speaker's profile, where it is one; otherwise as it was."""
    if candidate.about or candidate.source != "user":
        return candidate
    field = _FIELDS.get(candidate.attribute)
    if field is not None and isinstance(candidate.value, str) and candidate.value:
        return _entry(candidate, field, candidate.value, speaker)
    unslotted = candidate.kind == "preference" and not candidate.attribute
    if candidate.explicit and unslotted and _is_about_answers(candidate):
        return _entry(candidate, "preferences", candidate.text, speaker)
    return candidate


def _entry(candidate: Candidate, field: Field, entry: str, speaker: str) -> Candidate:
    return candidate._replace(
        text=text_of(field, entry),
        kind=KIND_OF[field],
        about=subject_of(speaker),
        attribute=PREFIX + field,
        value=entry,
    )


def _is_about_answers(candidate: Candidate) -> bool:
    """Whether it says how somebody wants to be answered or addressed."""
    if len(candidate.text) > MAX_ENTRY:
        return False
    plain = small(candidate.text)
    if candidate.lang in UNSPACED or candidate.lang == "ko":
        return any(phrase in plain for phrase in phrases("answers", candidate.lang))
    spaced = f" {''.join(letter if letter.isalnum() or letter == '-' else ' ' for letter in plain)} "
    return any(f" {phrase} " in spaced for phrase in phrases("answers", candidate.lang or "en"))
