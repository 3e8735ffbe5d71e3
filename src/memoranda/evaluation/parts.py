"""Long documents as several memories. Pure."""

PART = 2_000
"""About how long a part is, at most: as much as the bundled embedder reads of one text."""

_ENDS = ("\n\n", "\n", ". ", "。", " ")


def split(text: str, *, whole: int, part: int = PART) -> list[str]:
    """The text itself when it is at most `whole` long, or parts of at most `part`, cut where something ends."""
    if len(text) <= whole:
        return [text]
    size = min(whole, part)
    parts = []
    rest = text.strip()
    while len(rest) > size:
        at = _cut(rest, size)
        parts.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*parts, rest] if rest else parts


def _cut(text: str, size: int) -> int:
    """Where to cut: after the last paragraph, line, sentence or word of the second half; else in the middle of one."""
    for end in _ENDS:
        at = text.rfind(end, size // 2, size)
        if at >= 0:
            return min(at + len(end), size)
    return size
