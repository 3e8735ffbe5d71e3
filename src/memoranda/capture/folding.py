"""The form of a text for detection only: what a reader sees, in plain letters. Never stored, never shown."""

import re
import unicodedata

# Controls, soft hyphen, fillers, joiners, zero widths, directions, invisible operators, variation selectors, tags.
_IGNORED = (
    "\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
IGNORED = re.compile(f"[{_IGNORED}]+")
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_TOWER = re.compile(f"([{_MARKS}]{{2}})[{_MARKS}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_UNUSUAL = re.compile("[^\t\n -~\xa1-\xaa\xac\xae-\xba\xbc-\u0130\u0132-\u024f]")
_SURROGATES = re.compile("[\ud800-\udfff]")

# Marks that are written in several ways, and letters that compatibility leaves as they are.
_ALWAYS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\xab\xbb", '"'),
        **dict.fromkeys("\u2039\u2329\u27e8\u3008\u276e\u02c2", "<"),
        **dict.fromkeys("\u203a\u232a\u27e9\u3009\u276f\u02c3", ">"),
        **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɡɑɩ", "abcdefghijklmnoprstuvwyzigai", strict=True)),
        **{chr(0x1F150 + place): chr(0x61 + place) for place in range(26)},
        **{chr(0x1F170 + place): chr(0x61 + place) for place in range(26)},
    }
)
# Small letters of other scripts that look like Latin ones, or whose capitals do.
_LOOKALIKES = str.maketrans(
    dict(zip("абвгеѐёзийіїјкӏмнопрстуѕхүһԁԛԝѵьґғқԍ", "abbreeeeuuiijklmhonpctysxyhdqwvbrfkg", strict=True))
    | dict(zip("αβγεζηικμνορστυχωϲϳἰ", "abyeznikuvopotuxwcji", strict=True))
    | dict(zip("օոսհցզաքյյ", "onuhgqwpjj", strict=True))
    | dict(zip("ꭰꭱꭲᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏂᏃᏒᏔᏚᏞᏟᏢᏦ", "detdetajewmhghzrwslcpk", strict=True))
)
_LOOKALIKE = re.compile("[\u0370-\u058f\u13a0-\u13ff\uab70-\uabbf\u1f00-\u1fff]")
_MIXED_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z]")
_STROKED = re.compile("[łøđðæœþħ]")
_PLAIN_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h"})

_LETTERS_FOR = str.maketrans("0134578@$!|", "oieastbasil")
_LEET_WORD = re.compile(r"[0134578@$](?:(?<=[a-z].)|(?=[a-z]))|[!|](?<=[a-z].)(?=[a-z])")
_WHOLE_LEET_WORD = re.compile(r"[a-z0134578@$!|]+")
_SPELLING = re.compile(r"[ .*_-][a-z0134578@$][ .*_-][a-z0134578@$][ .*_-]")
_SPELLED = re.compile(r"\b[a-z0134578@$](?:([ .*_-])[a-z0134578@$])(?:\1[a-z0134578@$]){2,40}\b")
_STRUNG = re.compile(r"(?<=[a-z])(?:[_+]|%20)(?=[a-z])")
_STRUNG_WORDS = 3


def folded(text: str) -> str:
    """Compatibility form, small letters, nothing invisible; look-alikes of Latin letters inside Latin words are Latin.

    Accents stay, and so do line ends. It can be longer than the text.
    """
    if text.isascii():
        return IGNORED.sub("", _LINE_ENDS.sub("\n", text)).lower()
    seen = unicodedata.normalize("NFKC", text).casefold()
    if not _UNUSUAL.search(seen):
        return seen
    seen = _SURROGATES.sub("\ufffd", seen)
    seen = IGNORED.sub("", _LINE_ENDS.sub("\n", seen)).translate(_ALWAYS)
    seen = unicodedata.normalize("NFC", _TOWER.sub(r"\1", seen))
    return _MIXED_WORD.sub(_as_latin, seen) if _LOOKALIKE.search(seen) else seen


def unaccented(text: str) -> str:
    """A folded text as those write it who have no accents on their keyboard."""
    if text.isascii():
        return text
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    return bare.translate(_PLAIN_LETTERS) if _STROKED.search(bare) else bare


def unleeted(text: str) -> str:
    """A folded text with digits inside words read as the letters they stand for, spelled words put together,
    and words that are strung together, as in an address, taken apart."""
    joined = text
    if _SPELLING.search(text):
        joined = _SPELLED.sub(lambda found: found[0].replace(found[1], ""), text)
    if len(_STRUNG.findall(joined)) >= _STRUNG_WORDS:
        joined = _STRUNG.sub(" ", joined)
    return _WHOLE_LEET_WORD.sub(_as_letters, joined) if _LEET_WORD.search(joined) else joined


def _as_latin(word: re.Match[str]) -> str:
    return word[0].translate(_LOOKALIKES) if _LATIN.search(word[0]) else word[0]


def _as_letters(word: re.Match[str]) -> str:
    if not _LATIN.search(word[0]):
        return word[0]
    # A mark at the end of a word is a mark.
    body = word[0].rstrip("!|")
    return body.replace("11", "ll").translate(_LETTERS_FOR) + word[0][len(body) :]


# -- what does not show --

_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_IDEOGRAPH_VARIANT = re.compile("([\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_SUSPECT = re.compile("[\x1b\x9d\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
                      "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")  # fmt: skip
_HIDING = re.compile(
    "[\U000e0000-\U000e0fff]"  # tags and variants that stand where they mean nothing
    "|[\ufe00-\ufe0f]{2}"
    "|[\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0]{4}"
    "|\u2800{4}"
    "|[\u202d\u202e]"  # overrides show the letters in another order than they are read
    "|[\x1b]\\]|\x9d"  # a terminal follows these without showing them
)
_INSIDE_WORDS = re.compile("(?<=[0-9A-Za-z])[\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]+(?=[0-9A-Za-z])")
_MANY = 3


def hides(text: str) -> bool:
    """Whether characters that do not show carry or conceal something.

    Joiners of emoji and of scripts that need them, flags and ideographic variants do not.
    """
    if not _SUSPECT.search(text):
        return False
    plain = _IDEOGRAPH_VARIANT.sub(r"\1", _FLAG.sub("", text))
    if _HIDING.search(plain) or len(_INSIDE_WORDS.findall(plain)) >= _MANY:
        return True
    # To turn the direction makes sense only where something is written from right to left.
    return bool(re.search("[\u202b\u2067]", plain)) and not _RIGHT_TO_LEFT.search(plain)
