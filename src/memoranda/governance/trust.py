"""Trust is given by code and by people, never by words: what is derived is trusted no more than what it was made of.

Some names in the metadata of a memory are notes of ours about where it came from. Nobody may write them from outside.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memoranda.domain.errors import InvalidInput
from memoranda.domain.governance import DERIVED_FROM
from memoranda.domain.lasting import BY_RULE
from memoranda.domain.memory import TRUSTS, Memory, Trust, outranks

RESERVED = frozenset({DERIVED_FROM, BY_RULE, "review", "grading", "capture", "message", "said_at", "mirror"})
"""Names in the metadata that only our own code writes: what something was made of, whose its end is, why it waits, how
it was graded; of what was captured the rule, the message, and when it was said; what an edit of a mirror conflicts
with."""
MOST_PARENTS = 100


def inherited(parents: Iterable[Trust]) -> Trust:
    """The least trust among these. What was made of nothing that is known has nobody to vouch for it."""
    return max(parents, key=TRUSTS.index, default="untrusted")


def lowered(own: Trust, parents: Iterable[Trust]) -> Trust:
    """What something derived may have: its own trust, or less."""
    limit = inherited(parents)
    return limit if outranks(own, limit) else own


def derived(memory: Memory, parents: Sequence[Memory]) -> Memory:
    """A memory about to be kept that was made of others: as trusted as the least of them, and with their ids noted."""
    if len(parents) > MOST_PARENTS:
        raise InvalidInput(
            f"derived from {len(parents)} memories; the limit is {MOST_PARENTS}", hint="Derive it in several steps."
        )
    ids = list(dict.fromkeys(parent.id for parent in parents))
    return memory._replace(
        trust=lowered(memory.trust, (parent.trust for parent in parents)),
        metadata=MappingProxyType({**memory.metadata, DERIVED_FROM: ids}),
    )


def parents_of(memory: Memory) -> tuple[str, ...]:
    """The ids that it was derived from."""
    noted = memory.metadata.get(DERIVED_FROM)
    return tuple(each for each in noted if isinstance(each, str)) if isinstance(noted, list) else ()


def refuse_reserved_metadata(metadata: Mapping[str, Any] | None) -> None:
    """Raise when a caller writes what only our own code may write."""
    taken = sorted(RESERVED.intersection(metadata)) if isinstance(metadata, Mapping) else []
    if taken:
        raise InvalidInput(
            f"metadata: {taken[0]!r} is a name of the store's own", hint="Choose another name; provenance is not given."
        )


def without_reserved(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of another system, without what it could pretend to be ours."""
    return {name: value for name, value in metadata.items() if name not in RESERVED}
