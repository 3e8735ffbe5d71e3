"""Names: whether words are what somebody may be called by. By their letters only; it knows no names."""

import re

# In Latin letters one to three words with a capital each, perhaps with "van" or "de" between them.
_LINK = "(?:van|von|de|da|del|di|la|le|der|den|ter|el|al|bin|zu|und zu)"
_WORD = r"[^\W\d_a-z][\w'’.-]*"
_NAME = re.compile(rf"{_WORD}(?:(?: {_LINK}){{0,2}} {_WORD}){{0,2}}")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DENSE_NAME = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7afA-Za-z・ ]{1,10}")


def name_at(text: str) -> str:
    """The name that a text begins with; nothing when it begins with something else."""
    if _DENSE.search(text):
        return text if _DENSE_NAME.fullmatch(text) else ""
    found = _NAME.match(text)
    if found is None or not found[0][0].isupper():
        return ""
    return found[0].rstrip(".'’-")
