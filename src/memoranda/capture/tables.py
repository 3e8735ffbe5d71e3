"""Language tables: what people say when something is worth keeping, one file of data for each language.

A file has headings in brackets and one phrase a line; `#` begins a remark. Adding a language is adding a file.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

# Not importlib.resources: to load that takes longer than to read all the tables.
_FOLDER = Path(__file__).parent / "languages"
LANGUAGES = ("en", "pl", "zh", "de", "es", "fr", "cs", "ja", "ko")
# Scripts without spaces between words: a phrase is found anywhere, not only between two boundaries.
UNSPACED = frozenset({"zh", "ja"})

Table = Mapping[str, tuple[str, ...]]


@cache
def table(language: str) -> Table:
    """Heading -> phrases, in the order of the file."""
    text = (_FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("[") and line.endswith("]"):
            lines = sections.setdefault(line[1:-1], [])
        elif line:
            lines.append(line)
    return MappingProxyType({name: tuple(phrases) for name, phrases in sections.items()})


def phrases(section: str, *languages: str) -> tuple[str, ...]:
    """The phrases of one heading in these languages; in all of them when none is named."""
    return tuple(phrase for each in languages or LANGUAGES for phrase in table(each).get(section, ()))
