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
    rows_of: dict[int, list[int]] = {}
    for place, row in keys:
        rows_of.setdefault(place, []).append(row)
    found: dict[Key, list[Key]] = {}
    scattered: dict[int, list[Key]] = {}
    for place, rows in rows_of.items():
        part, mask = parts[place], allowed[place]
        before, after = part.beside(rows)
        alone = _alone(parts, place, part.conversations[rows])
        columns = zip(
            rows, part.conversations[rows].tolist(), alone.tolist(), before.tolist(), after.tolist(), strict=True
        )
        for row, conversation, here_only, one, other in columns:
            if not conversation:
                continue
            beside = [each for each in (one, other) if each >= 0]
            if here_only and (mask is None or all(mask[each] for each in beside)):
                found[place, row] = [(place, each) for each in beside]
            else:
                scattered.setdefault(conversation, []).append((place, row))
    for conversation, members in scattered.items():
        found.update(_among_parts(parts, allowed, conversation, members))
    return found


def _alone(parts: Sequence[Part], place: int, conversations: np.ndarray) -> np.ndarray:
    """Of each conversation, whether no other part has anything of it."""
    alone = np.ones(len(conversations), np.bool_)
    for other, part in enumerate(parts):
        if other != place and part.size:
            alone &= ~np.isin(conversations, part.distinct_conversations)
    return alone


def _among_parts(
    parts: Sequence[Part], allowed: Sequence[Mask | None], conversation: int, members: Sequence[Key]
) -> dict[Key, list[Key]]:
    """The slow way: all that is allowed of a conversation is put in order of number first."""
    lying = []
    for place, (part, mask) in enumerate(zip(parts, allowed, strict=True)):
        rows = part.thread(conversation)
        if mask is not None:
            rows = rows[mask[rows]]
        lying.append((np.full(len(rows), place), rows, part.numbers[rows]))
    places, rows, numbers = (np.concatenate([each[column] for each in lying]) for column in range(3))
    order = np.argsort(numbers, kind="stable")
    ordered = list(zip(places[order].tolist(), rows[order].tolist(), strict=True))
    at = np.searchsorted(numbers[order], [int(parts[place].numbers[row]) for place, row in members])
    return {
        member: [ordered[side] for side in (middle - 1, middle + 1) if 0 <= side < len(ordered)]
        for member, middle in zip(members, at.tolist(), strict=True)
    }
