"""The key of an encrypted file."""

KEY_BYTES = 32
SALT_BYTES = 16


class Key:
    """32 secret bytes. Says nothing of them, wherever it is shown.

    `salt` stands in clear at the beginning of each file that is made with the key: a passphrase becomes the same key
    again only together with it. Without one, each new file has a random one.
    """

    __slots__ = ("raw", "salt")

    def __init__(self, raw: bytes, salt: bytes = b"") -> None:
        if len(raw) != KEY_BYTES or len(salt) not in (0, SALT_BYTES):
            raise ValueError("a key has 32 bytes, and a salt of 16 or none")
        self.raw = raw
        self.salt = salt

    def __repr__(self) -> str:
        return "<Key>"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written down")
