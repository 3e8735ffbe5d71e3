"""How random a token is, and what looks random but is no secret. Pure arithmetic on characters, no list of keys."""

import base64
import re
from typing import NamedTuple

# One class of characters and nothing behind it: this cannot backtrack.
TOKEN = re.compile(r"[A-Za-z0-9_+/~.%$-]{8,}={0,3}")
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_LOOKED_AT = 200
_KINDS = {
    place: "d" if chr(place).isdigit() else "l" if chr(place).islower() else "-" for place in range(128)
} | dict.fromkeys(range(ord("A"), ord("Z") + 1), "u")
_PIECE = re.compile(r"[A-Za-z0-9]+")
_KEY_LENGTHS = frozenset({32, 40, 48, 56, 64, 72, 80, 96, 128})
# Beginnings of pictures, sounds, fonts, archives, public keys and certificates, and of ids that services show to all.
_HARMLESS = (
    "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Z",
    "PD94bWw", "T2dnUw", "SUQz", "d09GM", "d09GR", "AAABAA", "JVBERi",
    "UEsDB", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "chatcmpl-", "msg_", "toolu_", "call_", "resp_", "req_",
    "run_", "thread_", "asst_", "file-", "price_", "prod_", "cus_", "evt_", "sha1-", "sha256-", "sha384-", "sha512-",
    "arn.", "ami-", "$2a$", "$2b$", "$2y$", "$argon2", "$5$", "$6$", "vpc-", "subnet-", "i-0",
)  # fmt: skip
_LEFT_OPEN = ("your", "example", "my_", "my-", "insert", "replace", "change")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[-+.a-z0-9]{0,24}")
_PAGE = re.compile(
    r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|co|dev|app|ly|be|me|gl|gg|tv|ai|pl|de|fr|es|cz|it|uk|eu|jp|kr|cn)/",
    re.IGNORECASE,
)
_FILE = re.compile(r".*\.[A-Za-z][A-Za-z0-9]{1,4}")


class Shape(NamedTuple):
    """What a token is made of."""

    length: int
    digits: int
    lower: int
    upper: int
    distinct: int
    # How often a letter is beside a digit, or a small letter before a large one, without anything between.
    turns: int
    # The longest stretch of letters and digits.
    stretch: int
    hexadecimal: bool


def shape(token: str) -> Shape:
    """Measured on the first few hundred characters: what goes on like that for longer is no more random."""
    part = token[:_LOOKED_AT]
    kinds = part.translate(_KINDS)
    digits, lower, upper = kinds.count("d"), kinds.count("l"), kinds.count("u")
    # Small after large is how words begin, and no turn.
    turns = sum(map(kinds.count, ("dl", "ld", "du", "ud", "lu")))
    return Shape(
        length=len(part),
        digits=digits,
        lower=lower,
        upper=upper,
        distinct=len(set(part)),
        turns=turns,
        stretch=max(map(len, kinds.split("-"))),
        hexadecimal=lower + upper > 0 and bool(_HEX.fullmatch(part.rstrip("="))),
    )


def random_like(is_: Shape, *, shortest: int, turning: float = 0.2) -> bool:
    """Whether letters and digits stand in it in no order that a person would write."""
    if (
        is_.length < shortest
        or is_.distinct < min(8, shortest - 2)
        or not is_.digits + is_.upper
        or not is_.lower + is_.upper
    ):
        return False
    if is_.digits:
        return is_.turns >= max(2, turning * is_.length)
    # No digit at all is rare in a key: then large and small letters have to be all mixed up.
    return is_.turns >= max(5, 0.22 * is_.length) and is_.length >= 16


def key_of_usual_length(token: str, is_: Shape) -> bool:
    """Hexadecimal, all or the most of it, and as long as keys are."""
    if is_.stretch not in _KEY_LENGTHS:
        return False
    longest = max(_PIECE.findall(token), key=len, default="")
    part = shape(longest)
    return part.hexadecimal and part.distinct >= 8 and part.digits >= 4


def very_random(is_: Shape) -> bool:
    """Random enough to be a key with nothing beside it that says so."""
    if is_.length < 24 or is_.digits < 2 or is_.distinct < 12 or is_.stretch < 12 or is_.hexadecimal:
        return False
    if is_.upper and is_.lower:
        return is_.turns >= (0.25 if is_.stretch >= 30 else 0.28) * is_.length
    return is_.length >= 30 and is_.stretch >= 20 and is_.digits >= 5 and is_.turns >= 0.25 * is_.length


def harmless(token: str) -> bool:
    """Whether it is known to be something else: an id, a version, a file, a path, a picture, a public key."""
    if (
        "%2" in token
        or token.startswith(_HARMLESS)
        or token[:7].lower().startswith(_LEFT_OPEN)
        or UUID.fullmatch(token)
    ):
        return True
    if _VERSION.fullmatch(token[:_LOOKED_AT]) or _PAGE.match(token[:_LOOKED_AT]):
        return True
    name = token[:_LOOKED_AT].rstrip(".")
    ending = name.rpartition(".")[2]
    return bool(_FILE.fullmatch(name)) and not random_like(shape(name[: -len(ending) - 1]), shortest=20, turning=0.25)


def decoded(token: str) -> str:
    """What it says in base64 or in hexadecimal digits, if that is text; otherwise nothing."""
    body = token.rstrip("=")
    if len(body) % 2 == 0 and _HEX.fullmatch(body):
        return _as_text(bytes.fromhex(body))
    if len(body) < 16 or len(body) % 4 == 1:
        return ""
    try:
        # Of what is random, hardly anything begins like text.
        if not base64.b64decode(body[:8], altchars=b"-_").isascii():
            return ""
        raw = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_" if "-" in body or "_" in body else None)
    except ValueError:
        return ""
    return _as_text(raw)


def _as_text(raw: bytes) -> str:
    """Printable characters and line ends, or nothing."""
    text = raw.decode("ascii") if raw.isascii() else ""
    return text if all(line.isprintable() for line in text.splitlines()) else ""


def luhn(digits: str) -> bool:
    """The check digit that every card number has."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
