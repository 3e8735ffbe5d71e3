"""Ids: 20 characters of Crockford's base 32, random from the first one on, so that a short prefix is enough.

Not sortable by time: the ledger numbers its rows itself.
"""

import re
import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 20  # 100 random bits
_ID_OR_PREFIX = re.compile(f"[{_ALPHABET}]{{4,{_LENGTH}}}")


def new_id() -> str:
    """A fresh id."""
    return "".join(_ALPHABET[byte & 31] for byte in secrets.token_bytes(_LENGTH))


def is_id_or_prefix(text: str) -> bool:
    """Whether this could be an id or the first four or more characters of one."""
    return _ID_OR_PREFIX.fullmatch(text) is not None


def is_whole_id(text: str) -> bool:
    """Whether this could be a whole id."""
    return len(text) == _LENGTH and is_id_or_prefix(text)
