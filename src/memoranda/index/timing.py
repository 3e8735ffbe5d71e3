"""Which rows happened when a query says: within spans of time, or in the third conversation, or the last."""

from collections.abc import Sequence

import numpy as np

from memoranda.domain.ports import Times
from memoranda.index.segment import Mask, Part, kept


def timely_masks(parts: Sequence[Part], allowed: Sequence[Mask | None], times: Times | None) -> list[Mask] | None:
    """Of each part, the rows of that time; None when the query says nothing of time."""
    if times is None or not (times.spans or times.conversations):
        return None
    meant = np.array(sorted(_meant(parts, allowed, times)), np.uint64)
    masks = []
    for part, mask in zip(parts, allowed, strict=True):
        fits = np.isin(part.conversations, meant) if len(meant) else np.zeros(part.size, np.bool_)
        for start, until in times.spans:
            fits |= (part.occurred >= max(start, 1)) & (part.occurred < until)  # 0 is no time
        masks.append(fits if mask is None else fits & mask)
    return masks


def _meant(parts: Sequence[Part], allowed: Sequence[Mask | None], times: Times) -> set[int]:
    """The conversations that the ordinals mean, in the order in which they began, of what may be seen."""
    if not times.conversations:
        return set()
    began: dict[int, tuple[int, int]] = {}
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
            began[conversation] = min(moment, began.get(conversation, moment))
    began.pop(0, None)
    ordered = sorted(began, key=lambda conversation: began[conversation])
    meant: set[int] = set()
    for first, last in times.conversations:
        start, end = (place - 1 if place > 0 else place + len(ordered) for place in (first, last))
        meant.update(ordered[max(start, 0) : max(end + 1, 0)])
    return meant
