"""Wording: a sentence as it is kept, without what asked for it or led up to it. First person stays first person."""

import re

from memoranda.capture.letters import small
from memoranda.capture.triggers import places

_CLOSING = " ,;:-"
# Hearts and smileys after the words.
_SIGNS_AFTER = re.compile("[\\s\u2600-\u27bf\u2b05-\u2b55\ufe0f\u200d\U0001f1e6-\U0001faff]+$")
_DASS = re.compile(r"\b(?:dass|daß)\W*$", re.IGNORECASE)
_VERB_LAST = re.compile(
    r"((?:ich|du|wir|ihr|er|sie|es|man|(?:der|die|das|meine?|unsere?|[a-zäöü]+e) [A-ZÄÖÜ]\w+"
    r"|[A-ZÄÖÜ]\w+(?= [a-zäöü\d]))) (.+) (\w+)([.!]*)"
)
# "aufstehe" falls apart in a main clause; it is left where it stands.
_FALLS_APART = re.compile(
    r"(?:auf|an|ab|aus|ein|mit|zu|vor|nach|um|her|hin|weg|los|statt|fern|fest|teil)\w{3}", re.IGNORECASE
)


def kept_text(text: str, *, language: str, before: str = "", after: str = "") -> str:
    """The text without "well, " and "oh, " before it and with a capital letter.

    `before` and `after` are what was cut away: a clause that hung on it is made to stand alone.
    """
    lead = next(places(small(text), "interjection", language), None) if language else None
    if lead is not None and lead.end() < len(text):
        text = text[lead.end() :]
    text = _SIGNS_AFTER.sub("", text.strip()).strip(_CLOSING)
    if text[:1] in '"“„' and len(text) > 2 and text.rstrip(".")[-1:] in '"”':
        text = text.rstrip(".")[1:-1]
    if language == "de" and _DASS.search(before):
        text = _main_clause(text)
    if language == "ko" and after.startswith("라"):
        text += "다"
    first = text.split(" ", 1)[0]
    # light.office is a name as it stands.
    return text if "." in first[:-1] or ":" in first or "_" in first else text[:1].upper() + text[1:]


def _main_clause(text: str) -> str:
    """ "dass ich Tee mag" said by itself: "ich mag Tee". Where that is not safe, the clause keeps its "dass"."""
    clause = _VERB_LAST.fullmatch(text)
    if clause is None or "," in text or _FALLS_APART.match(clause[3]):
        return f"dass {text}"
    return f"{clause[1]} {clause[3]} {clause[2]}{clause[4]}"
