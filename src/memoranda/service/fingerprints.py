"""Fingerprints of what was erased, for looking again later: keyed, and sealed with a key that only the store has.

Nothing can be read from them, and nobody without the store can try guesses on them.
"""

import base64
import hashlib
import os
import struct
from collections.abc import Collection, Iterable
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.ledger.ledger import Ledger
from memoranda.service.proof import Hasher, Pattern, Scanner, glance

MOST = 50_000
"""More would make a statement that nobody can send; the rest is chosen at random."""
_ONE = struct.Struct("<IQH8s")
_TELLING = 1 << 15
"""The bit beside the length."""
_NONCE_BYTES = 12


class Fingerprints:
    """The fingerprints of one store."""

    def __init__(self, ledger: Ledger) -> None:
        self._seal = ledger.key_for("erasure seal")
        self._key = ledger.key_for("erasure")
        self._hasher = Hasher(self._key)

    def sealed(self, needles: Iterable[bytes], *, telling: Collection[bytes], identity: str) -> dict[str, Any]:
        """Of these byte strings, for the statement with this id. The telling ones are those that nobody writes again
        by chance."""
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        found = sorted((self.mark(each), each) for each in needles if len(each) < _TELLING)
        kept = b"".join(
            _ONE.pack(
                glance(needle), self._hasher.beginning(needle), len(needle) | _TELLING * (needle in telling), mark
            )
            for mark, needle in found[:MOST]  # in the order of their hashes, so that what is left out is any
        )
        nonce = os.urandom(_NONCE_BYTES)
        body = nonce + ChaCha20Poly1305(self._seal).encrypt(nonce, kept, identity.encode())
        return {"count": min(len(found), MOST), "of": len(found), "sealed": base64.b64encode(body).decode()}

    def opened(self, sealed: str, *, identity: str) -> tuple[list[Pattern], frozenset[bytes]]:
        """Those of a statement, and the marks of the telling ones."""
        found = list(_ONE.iter_unpack(self._unsealed(sealed, identity)))
        telling = frozenset(mark for _, _, length, mark in found if length & _TELLING)
        return [Pattern(first, start, length & ~_TELLING, mark) for first, start, length, mark in found], telling

    def scanner(self, patterns: Iterable[Pattern]) -> Scanner:
        """What looks for them."""
        return Scanner(patterns, hasher=self._hasher, mark=self.mark)

    def mark(self, piece: bytes) -> bytes:
        """What proves that a byte string is the one."""
        return hashlib.blake2b(piece, key=self._key, digest_size=8).digest()

    def _unsealed(self, sealed: str, identity: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        try:
            body = base64.b64decode(sealed, validate=True)
            nonce, rest = body[:_NONCE_BYTES], body[_NONCE_BYTES:]
            return ChaCha20Poly1305(self._seal).decrypt(nonce, rest, identity.encode())
        except (ValueError, InvalidTag) as error:
            raise InvalidInput(
                "the fingerprints of this statement are not those that this store made",
                hint="Use the file as it was written, with the store that wrote it.",
            ) from error
