"""Where documents say what somebody wants gone: the files are theirs, so that they are told, and nothing is changed."""

import os
from collections.abc import Iterator, Sequence

from memoranda.domain.document import Source
from memoranda.domain.text import normal_form
from memoranda.index.catalogue import Catalogue
from memoranda.index.catalogue_rows import Passage

MOST = 10
# What is shorter is in half of all texts; it must be all that a line says.
_SHORTEST_PART = 12
_AT_ONCE = 500


def mentions(catalogue: Catalogue, sources: Sequence[Source], texts: Sequence[str]) -> tuple[str, ...]:
    """Citations with the whole path of what says one of these texts, in whatever case and spacing; at most ten."""
    wanted = sorted({form for text in texts if (form := normal_form(text))})
    found: dict[str, None] = {}
    for source in sources if wanted else ():
        for passage in _passages(catalogue, source):
            for first, last in _lines(passage.chunk.text, wanted):
                file = os.path.join(source.root, *passage.seen.path.split("/"))
                start = passage.chunk.start_line
                # Chunks overlap, and so may sources.
                found[f"{file}#L{start + first}-L{start + last}"] = None
                if len(found) >= MOST:
                    return tuple(found)
    return tuple(found)


def _passages(catalogue: Catalogue, source: Source) -> Iterator[Passage]:
    numbers = sorted(catalogue.numbers(source.scope, source.name))
    for start in range(0, len(numbers), _AT_ONCE):
        found = catalogue.passages(numbers[start : start + _AT_ONCE])
        yield from sorted(found.values(), key=lambda each: (each.seen.path, each.chunk.start_line))


def _lines(text: str, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The fewest lines that say each of these, counted from 0."""
    whole = normal_form(text)
    for form in wanted:
        if form not in whole:
            continue
        lines = text.split("\n")
        if len(form) < _SHORTEST_PART:
            yield from ((at, at) for at, line in enumerate(lines) if normal_form(line.lstrip("-*+># \t")) == form)
            continue
        last = next(at for at in range(len(lines)) if form in normal_form("\n".join(lines[: at + 1])))
        first = next(at for at in range(last, -1, -1) if form in normal_form("\n".join(lines[at : last + 1])))
        yield first, last
