"""Text of a memory made harmless for a prompt: first cleaned of what does not show, then quoted in one line.

It says nothing about what the text means: an instruction stays readable, as a quotation. The ledger keeps the
text as it was given; only what is shown to a model goes through here.
"""

import re
import unicodedata

_MAX_MARKS = 8

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Many kinds of blank would be a way to write in blanks; the Braille one is a symbol, but shows as a space.
_BLANKS = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")

# Where emoji are; wider than the real list, which grows each year.
_PICTURE = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Arabic, Syriac, N'Ko, the scripts of India, Burmese, Khmer, Mongolian: a joiner after a letter changes the word.
_JOINING = "[\u0620-\u07ff\u0860-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u180a\u1820-\u18af]"
_SCOTLAND_WALES_ENGLAND = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073"
    "|\U000e0065\U000e006e\U000e0067)\U000e007f"
)
# Invisible, but part of what is seen. One of each kind at most, so that no run of them can carry a message.
_NEEDED = "|".join(
    [
        _SCOTLAND_WALES_ENGLAND,
        f"(?<={_JOINING})[\u200c\u200d]",
        f"(?:(?<={_PICTURE})|(?<={_PICTURE}\ufe0f))\u200d(?={_PICTURE})",
        f"(?<={_PICTURE})[\ufe0e\ufe0f]",
        "(?<=[0-9#*])\ufe0f(?=\u20e3)",
    ]
)
# Controls, soft hyphen, fillers, zero-width and bidirectional controls, invisible operators, variation selectors,
# annotations, private use, non-characters, tags. Ideographic variants go, too: the plain form says the same.
_HIDDEN = (
    "[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_NEEDED_OR_HIDDEN = re.compile(f"({_NEEDED})|{_HIDDEN}")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Beside what JSON asks for: marks of tags, entities, links, code and templates, whatever looks like an angle
# bracket, and the colon and the dot without which nothing turns an address into a link.
_UNSAFE = re.compile(
    '[\0-\x1f\x7f-\x9f"\\\\<>&`\\[\\]{}\u2028\u2029\ud800-\udfff'
    "\u02c2\u02c3\u1433\u1438\u2039\u203a\u2329\u232a\u276e\u276f\u27e8\u27e9\u3008\u3009"
    "\ufe60\ufe64\ufe65\uff02\uff06\uff1c\uff1e\uff3b\uff3d\uff40\uff5b\uff5d]"
    "|:(?=//)|(?<=[wW]{3})\\."
)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def cleaned(text: str) -> str:
    """The text without what does not show. Line ends are \\n, blanks are spaces, lone surrogates are U+FFFD.

    Kept are joiners inside emoji and after letters that need them, and the tags of three flags.
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _NEEDED_OR_HIDDEN.sub(lambda found: found[1] or "", _spaced(text))
    return _without_towers(_SURROGATE.sub("\ufffd", shown))


def hides_something(text: str) -> bool:
    """Whether cleaning takes characters away."""
    return len(cleaned(text)) < len(_spaced(text))


def shortened(text: str, limit: int) -> str:
    """At most so many characters: cut at a word, or where there is none between two whole characters, with an ellipsis.

    To be called before quoting, never after, so that no escape is cut in two.
    """
    if len(text) <= limit:
        return text
    end = limit - 1
    blank = max(text.rfind(" ", 0, end + 1), text.rfind("\n", 0, end + 1))
    if blank > end // 2:
        end = blank
    else:
        while end > 0 and _belongs_together(text[end - 1], text[end]):
            end -= 1
    return text[:end].rstrip() + "…"


def quoted(text: str) -> str:
    """A JSON string in one line in which no tag, entity, link, code, template or role marker can stand."""
    return f'"{_UNSAFE.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def _spaced(text: str) -> str:
    return _BLANKS.sub(" ", _LINE_ENDS.sub("\n", text))


def _without_towers(text: str) -> str:
    """No more than a few marks on one letter: a tower of them breaks the line that it stands in."""
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _belongs_together(before: str, after: str) -> bool:
    """Whether a cut between the two would split what is seen as one."""
    joined = "\u200d" in (before, after)
    modifier = "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f"
    flag = "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff"
    return joined or modifier or flag or unicodedata.category(after).startswith("M")
