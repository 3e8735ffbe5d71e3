"""Encrypted files: how a key is given to SQLite, how such a file looks from outside, and how it is read to its end.

The cipher is ChaCha20 with a Poly1305 tag on every page (SQLite3 Multiple Ciphers), keyed with 32 raw bytes: nothing
has to be derived when a connection is opened. Logs and journals of such a file are encrypted as well.
"""

from collections.abc import Iterator
from pathlib import Path

import apsw

from memoranda.domain.errors import KeyMissing, KeyUnwanted, KeyWrong, LedgerError, ProviderMissing
from memoranda.domain.keys import SALT_BYTES, Key
from memoranda.ledger import reading

_PLAIN = b"SQLite format 3\0"
# Behind the salt the cipher leaves eight bytes of the header as they are. These four are the same in every file: 32
# bytes of each page are the cipher's own, and three fractions that the format fixes.
_SEALED = b"\x20\x40\x20\x20"
_SEALED_AT = 20
_HEAD_BYTES = 24
_LOGS = ("-wal", "-journal")


def unlock(connection: apsw.Connection, key: Key) -> None:
    """Give a connection its key. Before anything else is done with it; whether it fits shows at the first read."""
    if not hasattr(apsw, "mc_version"):
        raise ProviderMissing(
            "this build of SQLite cannot encrypt",
            hint="Run: pip uninstall --yes apsw && pip install --force-reinstall apsw-sqlite3mc",
        )
    connection.execute(f"pragma key = '{passed(key)}'").fetchall()


def passed(key: Key) -> str:
    """A key as SQLite takes it: hexadecimal digits, so that nothing in it can be mistaken for anything else."""
    return f"raw:{key.raw.hex()}{key.salt.hex()}"


def head(path: Path) -> bytes:
    """The first bytes of a file; none when it is empty or not there."""
    try:
        return next(reading.chunks(str(path), _HEAD_BYTES), b"")
    except OSError:
        return b""


def is_sealed(begins: bytes) -> bool:
    """Whether a file that begins like this is encrypted by us."""
    return not begins.startswith(_PLAIN) and begins[_SEALED_AT:] == _SEALED


def salt_of(begins: bytes) -> bytes:
    """The salt of an encrypted file."""
    return begins[:SALT_BYTES]


def refusal(path: Path, key: Key | None) -> LedgerError | None:
    """Why SQLite takes a file for something else, as far as a key explains it; None: it is damaged, or not a ledger."""
    begins = head(path)
    if is_sealed(begins):
        if key is None:
            return KeyMissing(f"{path.name} is encrypted")
        return KeyWrong(f"{path.name} is encrypted with another key")
    if key is not None and begins.startswith(_PLAIN):
        return KeyUnwanted(f"{path.name} is not encrypted, but a key was given")
    return None


def fits(path: Path, key: Key) -> bool:
    """Whether an encrypted file opens with this key."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        unlock(connection, key)
        connection.execute("select count(*) from sqlite_schema").fetchall()
    except apsw.NotADBError:
        return False
    finally:
        connection.close()
    return True


def chunks(name: str, size: int, *, key: Key | None) -> Iterator[bytes]:
    """What a file of a store says, in pieces of so many bytes: of an encrypted database, every page in clear.

    Also pages that are not in use, so that whatever a plain file would show is shown. The log of an encrypted file
    cannot be read so: it has to be empty, else nothing is known of it (`is_opaque`). Takes as much memory as the file.
    """
    if key is None or name.endswith(_LOGS) or not is_sealed(head(Path(name))):
        yield from reading.chunks(name, size)
        return
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        unlock(connection, key)
        # Without a read before it, a key that does not fit would give nothing at all: nothing is no proof.
        connection.execute("select count(*) from sqlite_schema").fetchall()
        whole = memoryview(connection.serialize("main"))
    except apsw.NotADBError as error:
        raise refusal(Path(name), key) or LedgerError(f"{Path(name).name} cannot be read") from error
    finally:
        connection.close()
    for offset in range(0, len(whole), size):
        yield bytes(whole[offset : offset + size])


def is_opaque(name: str, *, key: Key | None) -> bool:
    """Whether a file is a log of an encrypted one with something in it, of which nothing can be proven."""
    if key is None or not name.endswith(_LOGS):
        return False
    path = Path(name)
    return path.exists() and path.stat().st_size > 0
