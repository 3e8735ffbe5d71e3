"""What a store signs: statements of erasures, and exports. One key for each store, made once, and never shown.

Whoever has the store's files could sign as well. A signature proves what this store says, and that nobody has changed
it since; it is no proof for who trusts neither the operator nor the machine.
"""

from typing import TYPE_CHECKING

from memoranda.ledger.erasing import Erasing
from memoranda.service.engine import Engine

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def signing_key(engine: Engine) -> "Ed25519PrivateKey":
    """The key of this store, made when it is first needed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    rows = Erasing(engine.ledger.database)
    kept = rows.signing_key() or rows.keep_signing_key(Ed25519PrivateKey.generate().private_bytes_raw().hex())
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(kept))


def public_half(key: "Ed25519PrivateKey") -> str:
    """By which everybody can check what was signed, in hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def public_key(engine: Engine) -> str:
    """By which what this store signed is checked; empty when it has signed nothing yet."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Erasing(engine.ledger.database).signing_key()
    return public_half(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private))) if private else ""


def is_signed(message: bytes, *, signature: str, signer: str) -> bool:
    """Whether a message was signed by whoever has the other half of this key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer)).verify(bytes.fromhex(signature), message)
    except (ValueError, InvalidSignature):
        return False
    return True
