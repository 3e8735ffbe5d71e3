"""Where the key of an encrypted store comes from: a file, or the environment. Not a setting; never shown or logged."""

import hashlib
import os
import stat
import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoranda.config import Settings, secret
from memoranda.domain.errors import ConfigError, InvalidInput, KeyMissing, KeyUnwanted
from memoranda.domain.keys import KEY_BYTES, SALT_BYTES, Key
from memoranda.ledger.sealing import fits, head, is_sealed, salt_of

VARIABLE = "MEMORANDA_KEY"
PASSPHRASE = "MEMORANDA_PASSPHRASE"  # noqa: S105 the name of a variable
SHORTEST = 12
_LARGEST_FILE = 65_536
# Half a second and 64 MiB on an ordinary machine, for each process that opens the store; a key file costs nothing.
_COST = {"n": 1 << 16, "r": 8, "p": 2, "maxmem": 96 << 20}


def key_of(settings: Settings, path: Path) -> Key | None:
    """The key that the settings give for a file, which may be new; None when there is none."""
    if settings.store_address() is not None:
        if settings.key_file:
            raise KeyUnwanted(
                "a store in PostgreSQL is encrypted by its server, or not at all",
                hint="Take key_file away, and encrypt the disk of the server.",
            )
        return None
    if settings.key_file:
        return key_from_file(Path(settings.key_file).expanduser())
    given = secret(VARIABLE)
    return key_from_text(given, path, name=VARIABLE) if given else None


def key_from_text(given: str, path: Path, *, name: str) -> Key:
    """The key for a file: 64 hexadecimal digits, else a passphrase."""
    return _raw(given) or from_passphrase(given, path, name=name)


def key_for(path: Path, settings: Settings, *, passphrase: str | None) -> Key | None:
    """The key of a file that is there: that of the settings or of a passphrase, whichever fits; None when it is not
    encrypted."""
    if not is_sealed(head(path)):
        return None
    own = key_of(settings, path)
    if passphrase and (own is None or not fits(path, own)):
        return from_passphrase(passphrase, path, name="the passphrase")
    if own is None:
        raise KeyMissing(
            f"{path.name} is encrypted",
            hint=f"Give its passphrase ({PASSPHRASE}), or the key of the store that it was made from.",
        )
    return own


def from_passphrase(passphrase: str, path: Path, *, name: str) -> Key:
    """The key that a passphrase makes for a file: with the salt that the file begins with, or a new one."""
    if not isinstance(passphrase, str) or len(passphrase) < SHORTEST:
        raise InvalidInput(
            f"{name} has fewer than {SHORTEST} characters",
            hint="Take a longer one: several words, or 64 hexadecimal digits from a good source.",
        )
    begins = head(path)
    salt = salt_of(begins) if is_sealed(begins) else os.urandom(SALT_BYTES)
    raw = hashlib.scrypt(passphrase.encode("utf-8", "surrogateescape"), salt=salt, dklen=KEY_BYTES, **_COST)
    return Key(raw, salt)


def key_from_file(path: Path) -> Key:
    """The key in a file: 64 hexadecimal digits, or at least 32 random bytes."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            # Whoever waited for a device could wait for ever.
            content = file.read(_LARGEST_FILE + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        raise ConfigError(
            f"the key file {path} cannot be read ({error.strerror})", hint="Check the setting key_file."
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"the key file {path} is not an ordinary file", hint="Check the setting key_file.")
    if os.name == "posix" and status.st_mode & 0o077:
        raise ConfigError(
            f"the key file {path} can be read by others (mode {status.st_mode & 0o777:o})",
            hint=f"Run: chmod 600 {path}",
        )
    key = _raw(content.decode("ascii", "replace"))
    if key is not None:
        return key
    if not KEY_BYTES <= len(content) <= _LARGEST_FILE:
        raise ConfigError(
            f"the key file {path} has to hold 64 hexadecimal digits, or at least {KEY_BYTES} random bytes",
            hint="`memoranda encrypt --make-key FILE` makes one. A passphrase belongs into MEMORANDA_KEY.",
        )
    return Key(content if len(content) == KEY_BYTES else hashlib.blake2b(content, digest_size=KEY_BYTES).digest())


def make_key_file(path: Path) -> Key:
    """A new file with a new key, for its owner alone. One that is there is never overwritten."""
    raw = os.urandom(KEY_BYTES)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        there = isinstance(error, FileExistsError)
        raise InvalidInput(
            f"{path} cannot be made ({error.strerror})",
            hint="Give a file that is not there." if there else "Give a file in a folder that you may write to.",
        ) from error
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(raw.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Key(raw)


@contextmanager
def key_made(path: str, store: Path) -> Iterator[Key]:
    """A new key in a new file, which goes again when the store was not encrypted with it."""
    file = Path(path).expanduser()
    key = make_key_file(file)
    try:
        yield key
    except BaseException:
        # What went wrong may have come after the swap: then this is the only key that there is.
        if not is_sealed(head(store)) or not fits(store, key):
            file.unlink(missing_ok=True)
        raise


def _raw(given: str) -> Key | None:
    digits = given.strip()
    is_hexadecimal = len(digits) == 2 * KEY_BYTES and all(char in string.hexdigits for char in digits)
    return Key(bytes.fromhex(digits)) if is_hexadecimal else None
