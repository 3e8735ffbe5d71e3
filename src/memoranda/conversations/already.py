"""Whether what somebody wished is done already: the deeds that share enough words with it.

Thousands of wishes may meet thousands of deeds. So each word knows its deeds as the bits of one number, and all of them
are counted at once.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable

_FEWEST = 2
_SHARE = 0.5


class Already:
    """Deeds, each given by its stems, its order and its source."""

    def __init__(self, deeds: Iterable[tuple[frozenset[str], int, int]]) -> None:
        self._orders: list[int] = []
        self._having: dict[str, int] = {}
        self._of_source: dict[int, int] = {}
        for place, (stems, order, source) in enumerate(sorted(deeds, key=lambda deed: deed[1])):
            self._orders.append(order)
            self._of_source[source] = self._of_source.get(source, 0) | 1 << place
            for stem in stems:
                self._having[stem] = self._having.get(stem, 0) | 1 << place
        self._all = (1 << len(self._orders)) - 1

    def covers(self, wished: frozenset[str], *, after: int | None = None, apart_from: int | None = None) -> bool:
        """Whether a deed after this order, of another source, has at least two and half of these stems."""
        first = 0 if after is None else bisect_right(self._orders, after)
        among = self._all >> first << first
        if apart_from is not None:
            among &= ~self._of_source.get(apart_from, 0)
        enough = max(_FEWEST, math.ceil(_SHARE * len(wished)))
        return among != 0 and self._reached(wished, among, enough)

    def _reached(self, wished: frozenset[str], among: int, enough: int) -> bool:
        # Each deed has a counter, one bit of it in each digit. It begins so high that `enough` makes it run over.
        begin = (1 << enough.bit_length()) - enough
        digits = [self._all if begin >> digit & 1 else 0 for digit in range(enough.bit_length())]
        for stem in wished:
            carry = self._having.get(stem, 0) & among
            for digit, bits in enumerate(digits):
                if not carry:
                    break
                digits[digit], carry = bits ^ carry, bits & carry
            if carry:
                return True
        return False
