"""The cursor: which messages of a history are new. Hosts hand over the whole history every turn."""

from collections.abc import Sequence
from hashlib import blake2b

from memoranda.domain.message import Message
from memoranda.domain.text import normal_form

DIGEST = 8
# Enough to find the place again in any window of a history that a host may hand over.
REMEMBERED = 60
# So many in a row are no coincidence.
_SURE = 8


def digest(message: Message, *, key: bytes) -> bytes:
    """A message by its own name, or by who said what. Nobody can read it back."""
    said = f"id\n{message.id}" if message.id else f"{message.role}\n{message.speaker}\n{normal_form(message.text)}"
    return blake2b(said.encode(), digest_size=DIGEST, key=key, person=b"message").digest()


def unseen(tail: bytes, current: Sequence[bytes]) -> list[int]:
    """The places of those that were not there before, of a history or of a window of it."""
    known = [tail[start : start + DIGEST] for start in range(0, len(tail), DIGEST)]
    if not known or not current:
        return list(range(len(current)))
    if len(known) < REMEMBERED and list(current[: len(known)]) == known:
        return list(range(len(known), len(current)))  # the whole history again, also where people repeat themselves
    # Where the last known message stands, with most of what was before it before it.
    ends = [end for end in range(len(current), 0, -1) if current[end - 1] == known[-1]]
    if ends:
        return list(range(max(ends, key=lambda end: _overlap(current, end, known)), len(current)))
    if len(current) == 1:
        return [0]  # the host hands over the last turn alone: this was just said, perhaps again
    # The history was rewritten, or is out of date: what stands before something known is old.
    seen = set(known)
    last = max((place for place, each in enumerate(current) if each in seen), default=-1)
    return list(range(last + 1, len(current)))


def is_found(tail: bytes, window: Sequence[bytes]) -> bool:
    """Whether a window of a history surely has the place where the last turn ended."""
    known = [tail[start : start + DIGEST] for start in range(0, len(tail), DIGEST)]
    if not known:
        return False
    sure = min(len(known), _SURE)
    return any(each == known[-1] and _overlap(window, end, known) >= sure for end, each in enumerate(window, start=1))


def _overlap(current: Sequence[bytes], end: int, known: Sequence[bytes]) -> int:
    """How many messages before this place are the last known ones."""
    length = 0
    while length < min(end, len(known)) and current[end - 1 - length] == known[-1 - length]:
        length += 1
    return length


def moved(tail: bytes, new: Sequence[bytes]) -> bytes:
    """The cursor after these."""
    return (tail + b"".join(new))[-DIGEST * REMEMBERED :]
