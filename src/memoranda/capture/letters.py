"""Letters: a text as the trigger tables see it, in small letters without marks, and character for character as long.

Because nothing moves, a place found in it is the same place in what the person wrote. Not a normal form by which two
texts are the same; that is `domain.text.normal_form`.
"""

import re
import unicodedata

_ALIKE = str.maketrans(
    "łŁøØđĐßæÆœŒıİ’‘‚ʼ`´“”„«»〝〞。、…—–‐‑・\u00a0\u3000\t\n",
    'llooddsaaooii\'\'\'\'\'\'""""""".,.----.    ',
)
_BLANKS = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")
_AROUND_LINES = re.compile(r" ?\n ?")
# An apostrophe is a quotation mark only where a word cannot have one.
_QUOTED = re.compile(r"\"[^\"]{2,600}\"|「[^」]{1,600}」|『[^』]{1,600}』|(?<![^\s(])'[^']{3,300}'(?![a-z0-9])")
_OPENING = ('"', "「", "『", " '", "('", "\n'")
_LETTER = re.compile(r"[^\W\d_]")


class _Small(dict[int, int]):
    """What each character becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> int:
        alike = chr(code).translate(_ALIKE)
        narrow = unicodedata.normalize("NFKC", alike)
        small = (narrow if len(narrow) == 1 and narrow.isascii() else alike).lower()[:1]
        base = unicodedata.normalize("NFD", small)[0]
        self[code] = found = ord(base if base.isascii() else small)
        return found


_SMALL = _Small()


def tidied(text: str) -> str:
    """Composed, with one blank for a run of blanks; lines stay lines."""
    tidy = _BLANKS.sub(" ", unicodedata.normalize("NFC", text))
    return (_AROUND_LINES.sub("\n", tidy) if "\n" in tidy else tidy).strip()


def small(text: str) -> str:
    """The text in small plain letters, with one kind of quotation mark, apostrophe, dash, comma and full stop."""
    return text.translate(_SMALL)


def unquoted(plain: str) -> str:
    """Small letters with those of every quotation made dumb, so that nothing in it is taken for the speaker's."""
    if not (plain.startswith("'") or any(mark in plain for mark in _OPENING)):
        return plain
    return _QUOTED.sub(lambda quotation: _LETTER.sub("x", quotation[0]), plain)
