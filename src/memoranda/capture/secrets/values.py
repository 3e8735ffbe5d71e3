"""Whether a value beside a key word is a secret, or a remark about one."""

import re

from memoranda.capture.secrets.tokens import random_like, shape
from memoranda.capture.secrets.words import NOT_A_PASSWORD, PLACEHOLDERS

_OPENS_SOMETHING = re.compile(r"[<\[{()\]}.,;]|\$[A-Z_{(]|%[A-Z({]|\.\.\.|…")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+$")
_ADDRESS = re.compile(r"\S+@[\w-]+(?:\.[\w-]+)+$|\w{2,10}://")
# "12-character", "3rd", "8+", "24h", "2-factor", "10pm"
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|h|s|min|hrs?|k|m|x|%|\+|gb|mb|kb|ms|cm|mm|km|kg|px|in|ft)?$|\d+[-–]?\+?(?:char|digit|day|word|hour"
    r"|minute|month|week|year|letter|bit|step|factor|time|symbol|znak|stell|zeichen|caract|zna|cyfr|star|page|line|fold)\w*$"
    r"|\d+[-–]\d+$|\d{1,2}[:.]\d\d\w*$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$",
    re.IGNORECASE,
)
_SIGNS = frozenset("!#$%^&*+=~@")
_WORD = re.compile(r"[^\W\d_]+")
_STATE = re.compile(
    r".*(?:ed|ing|able|ible|ly|ful|ous|less|ive|est|ant|ent|ary|ught|iert|lich|bar|ig|one|ony|any|ane|ado|ada|ido|ida|é|ée)$"
)
_NUMBER = re.compile(r"[*#]?\d(?:[\d*#]|[ .-](?=\d)){1,14}[*#]?$")
# In a name made of words only: it says what should stand there.
_SAYS_WHAT = (
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "test",
    "example",
    "dummy",
    "sample",
)
_SAYS_HASH = ("pbkdf2", "$2a$", "$2b$", "$2y$", "$argon2", "$6$", "sha256:", "scrypt:", "{ssha}")
_REMARKS = frozenset(
    [
        "must",
        "be",
        "at",
        "least",
        "should",
        "the",
        "a",
        "is",
        "cannot",
        "not",
        "characters",
        "exceed",
        "than",
        "between",
        "chars",
        "digits",
    ]
)
_NO_DIGITS = str.maketrans("", "", "0123456789")
_FILLERS = frozenset("*•x.#-_X?")


def is_placeholder(value: str) -> bool:
    """Stars, `<password>`, `$PASSWORD`, `your_key`, a call in a program, an address: nothing to hide."""
    small = value.lower()
    if (
        small.isascii()
        and small.replace("_", "").replace("-", "").isalpha()
        and any(word in small for word in _SAYS_WHAT)
    ):
        return True
    return (
        small in PLACEHOLDERS
        or not set(small) - _FILLERS
        or len(set(small)) < 3 <= len(small)
        or bool(_OPENS_SOMETHING.match(value) or _CALL.match(value) or _ADDRESS.match(value))
        or small.startswith(
            ("your", "my_", "my-", "example", "insert", "enter", "replace", "change", "put_", "secret:")
        )
        or small.lstrip("b'\"").startswith(_SAYS_HASH)
    )


def is_strong(value: str) -> bool:
    """Whether it is written as no word is: letters with digits, or with signs inside."""
    if len(value) < 5 or " " in value or is_placeholder(value) or _MEASURE.match(value):
        return False
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    return letters and (digits or (len(value) >= 6 and _has_sign(value)))


def _has_sign(value: str) -> bool:
    """A sign that no word has, not counting what ends a sentence."""
    return not _SIGNS.isdisjoint(value.rstrip("!?.=")[:-1]) or value[-1] in "#$%^&*+~@"


def is_password(value: str, *, assigned: bool, last: bool, quoted: bool, its_own: bool) -> bool:
    """After a word for password. `assigned`: after a colon or an equals sign; `last`: nothing follows in its sentence;
    `its_own`: it is the password that is spoken of, not its manager or its length."""
    if is_placeholder(value) or (quoted and assigned and is_placeholder(value.rstrip("0123456789"))):
        return False
    if is_strong(value):
        return True
    if value.isdigit():
        return len(value) >= 4 and last
    if quoted and len(value) > 5 and " " in value:
        return any(c.isdigit() for c in value) and value.count(" ") < 4 and not set(value.lower().split()) & _REMARKS
    if not (last or quoted) or len(value) < 4 or value.lower() in NOT_A_PASSWORD:
        return False
    if not _WORD.fullmatch(value):
        return assigned and _mixed(value)
    if not quoted and value[0].islower() and not value.islower():
        return False
    return its_own and (assigned or quoted or (value.isascii() and len(value) > 4 and not _STATE.match(value.lower())))


def is_code(value: str) -> bool:
    """After a word for a number that is to be kept: digits, or a few characters with digits among them."""
    digits = sum(c.isdigit() for c in value)
    if _NUMBER.match(value):
        return 3 <= digits <= 12
    return (
        digits >= 2
        and 4 <= len(value) <= 12
        and value.isalnum()
        and not _MEASURE.match(value)
        and not is_placeholder(value)
    )


def is_key(value: str, *, beside: bool) -> bool:
    """After a word for a key; `beside` says that nothing stands between the two."""
    if is_placeholder(value) or (sum(map(str.isdigit, value)) < 4 and is_placeholder(value.translate(_NO_DIGITS))):
        return False
    return random_like(shape(value), shortest=8 if beside else 16, turning=0.15 if beside else 0.2)


def _mixed(value: str) -> bool:
    """`Two-Words`, `TwoWords`: no plain word, and no name in a program."""
    return (
        len(value) >= 6
        and value[0].isupper()
        and value[1:].lower() != value[1:]
        and not value.replace("_", "").isupper()
    )
