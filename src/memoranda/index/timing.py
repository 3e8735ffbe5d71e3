"""Which rows happened when a query says: within spans of time, or in the third conversation, or the last."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memoranda.domain.ports import Times
from memoranda.index.segment import Mask, Part, kept

Began = Mapping[int, tuple[int, int]]
"""Of each conversation, when its first entry happened, and the number of that."""


def timely_masks(
    parts: Sequence[Part], allowed: Sequence[Mask | None], times: Times | None, told: Began | None = None
) -> list[Mask] | None:
    """Of each part, the rows of that time; None when the query says nothing of time.

    `told` is when conversations began of which only some entries lie here.
    """
    if times is None or not (times.spans or times.conversations):
        return None
    which: set[int] = set()
    if times.conversations:
        which = meant(times, (told or {}, began(parts, allowed)))
    wanted = np.array(sorted(which), np.uint64)
    masks = []
    for part, mask in zip(parts, allowed, strict=True):
        fits = np.isin(part.conversations, wanted) if len(wanted) else np.zeros(part.size, np.bool_)
        for start, until in times.spans:
            fits |= (part.occurred >= max(start, 1)) & (part.occurred < until)  # 0 is no time
        masks.append(fits if mask is None else fits & mask)
    return masks


def began(parts: Sequence[Part], allowed: Sequence[Mask | None]) -> Began:
    """When each conversation began, of what may be seen here."""
    found: dict[int, tuple[int, int]] = {}
    for part, mask in zip(parts, allowed, strict=True):
        conversations = kept(part.conversations, mask)
        # When it happened, and of equals what was kept first: the first of each conversation in that order.
        order = np.lexsort((kept(part.numbers, mask), kept(part.occurred, mask)))
        distinct, at = np.unique(conversations[order], return_index=True)
        moments = zip(
            kept(part.occurred, mask)[order[at]].tolist(),
            kept(part.numbers, mask)[order[at]].tolist(),
            strict=True,
        )
        for conversation, moment in zip(distinct.tolist(), moments, strict=True):
            found[conversation] = min(moment, found.get(conversation, moment))
    found.pop(0, None)
    return found


def meant(times: Times, told: Iterable[Began]) -> set[int]:
    """The conversations that the ordinals mean, in the order in which they began."""
    first: dict[int, tuple[int, int]] = {}
    for each in told:
        for conversation, moment in each.items():
            first[conversation] = min(moment, first.get(conversation, moment))
    ordered = sorted(first, key=lambda conversation: first[conversation])
    which: set[int] = set()
    for one, other in times.conversations:
        start, end = (place - 1 if place > 0 else place + len(ordered) for place in (one, other))
        which.update(ordered[max(start, 0) : max(end + 1, 0)])
    return which
