"""Ids: 20 characters of Crockford's base 32, random from the first one on, so that a short prefix is enough.

Not sortable by time: the ledger numbers its rows itself.
"""

import re
from random import SystemRandom

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 20  # 100 random bits
_random = SystemRandom()
_ID_OR_PREFIX = re.compile(f"[{_ALPHABET}]{{4,{_LENGTH}}}")


def new_id() -> str:
    """A fresh id."""
    return id_of_bits(_random.getrandbits(5 * _LENGTH))


def id_of_bits(bits: int) -> str:
    """The id that the lowest hundred bits of a number make."""
    return "".join(_ALPHABET[bits >> shift & 31] for shift in range(0, 5 * _LENGTH, 5))


def is_id_or_prefix(text: str) -> bool:
    """Whether this could be an id or the first four or more characters of one."""
    return _ID_OR_PREFIX.fullmatch(text) is not None


def is_whole_id(text: str) -> bool:
    """Whether this could be a whole id."""
    return len(text) == _LENGTH and is_id_or_prefix(text)
