"""Routing: one thing is kept in one place. A person's name belongs to their profile, not among the sentences."""

from memoranda.domain.candidate import Candidate
from memoranda.domain.profile import KIND_OF, PREFIX, Field, subject_of, text_of

# Slots that a profile has a field for; what else a person says of themselves stays a sentence.
_FIELDS: dict[str, Field] = {"name": "name"}


def routed(candidate: Candidate, speaker: str) -> Candidate:
    """The candidate as an entry of the speaker's profile, where it is one; otherwise as it was."""
    field = _FIELDS.get(candidate.attribute)
    if field is None or candidate.about or not isinstance(candidate.value, str) or not candidate.value:
        return candidate
    return candidate._replace(
        text=text_of(field, candidate.value),
        kind=KIND_OF[field],
        about=subject_of(speaker),
        attribute=PREFIX + field,
    )
