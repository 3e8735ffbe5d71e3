"""What was said just before and just after: the neighbours of a row in its conversation.

A conversation may lie in several parts; how it lies makes no difference.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from memoranda.index.segment import Mask, Part

Key = tuple[int, int]
"""(place, row): a row of the part at that place."""


def neighbours(parts: Sequence[Part], allowed: Sequence[Mask | None], keys: Iterable[Key]) -> dict[Key, list[Key]]:
    """The rows before and after each of these, of those that are allowed. What stands alone is left out."""
    by_conversation: dict[int, list[Key]] = {}
    for place, row in keys:
        conversation = int(parts[place].conversations[row])
        if conversation:
            by_conversation.setdefault(conversation, []).append((place, row))
    found: dict[Key, list[Key]] = {}
    for conversation, members in by_conversation.items():
        places, rows, numbers = _thread(parts, allowed, conversation)
        at = np.searchsorted(numbers, [int(parts[place].numbers[row]) for place, row in members])
        for member, middle in zip(members, at.tolist(), strict=True):
            beside = [side for side in (middle - 1, middle + 1) if 0 <= side < len(rows)]
            found[member] = [(places[side], rows[side]) for side in beside]
    return found


def _thread(
    parts: Sequence[Part], allowed: Sequence[Mask | None], conversation: int
) -> tuple[list[int], list[int], list[int]]:
    """Place, row and number of everything in a conversation, in order of number."""
    lying = []
    for place, (part, mask) in enumerate(zip(parts, allowed, strict=True)):
        rows = part.thread(conversation)
        if mask is not None:
            rows = rows[mask[rows]]
        if len(rows):
            lying.append((np.full(len(rows), place), rows, part.numbers[rows]))
    if len(lying) == 1:
        (places, rows, numbers) = lying[0]
        return places.tolist(), rows.tolist(), numbers.tolist()
    places, rows, numbers = (np.concatenate([each[column] for each in lying]) for column in range(3))
    order = np.argsort(numbers, kind="stable")
    return places[order].tolist(), rows[order].tolist(), numbers[order].tolist()
