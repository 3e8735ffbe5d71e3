"""How many entries of a large scope have its common words, as a process last counted them.

Such a word says little and costs most: once it has been counted, it need not be looked for in each question again.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from memoranda.index.tokens import Term

FEW = 2_048
"""A word that no more entries have than this is looked for each time."""
_DRIFT = 16
"""What was counted is forgotten when the scope has grown or shrunk by one part in so many."""
_MOST_PLACES = 256
_MOST_WORDS = 4_096

Place = tuple[object, ...]
Forms = tuple[int, ...]


class _Counted(NamedTuple):
    entries: int
    often: Forms


class Frequent:
    """Counts of words by place: scopes and what is eligible in them. The places that were asked last are remembered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: OrderedDict[Place, dict[Forms, _Counted]] = OrderedDict()

    def known(self, place: Place, entries: int, terms: tuple[Term, ...]) -> dict[int, Forms]:
        """Of the terms that are known to be common, by their place, how many of these entries have each form."""
        with self._lock:
            words = self._places.get(place, {})
            found = {at: words[term.hashes] for at, term in enumerate(terms) if term.hashes in words}
        return {
            at: tuple(round(each * entries / counted.entries) for each in counted.often)
            for at, counted in found.items()
            if abs(entries - counted.entries) * _DRIFT <= counted.entries
        }

    def note(self, place: Place, entries: int, often: Mapping[Forms, Forms]) -> None:
        """Remember what was counted, of terms that are common."""
        common = {forms: _Counted(entries, counts) for forms, counts in often.items() if max(counts) > FEW}
        if not common:
            return
        with self._lock:
            words = self._places.setdefault(place, {})
            self._places.move_to_end(place)
            if len(words) + len(common) > _MOST_WORDS:
                words.clear()
            words.update(common)
            while len(self._places) > _MOST_PLACES:
                self._places.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._places.clear()
