"""Words for front ends: what kind of memory a text is, and how a text may be shown to a model."""

from memoranda.domain.memory import Kind
from memoranda.recall.escaping import cleaned as cleaned

# A sentence says in its beginning what it is, and looking costs more than twice as much for twice as much text.
_LOOKED_AT = 2_000


def kind_of(text: str) -> Kind:
    """The kind of a text that somebody asks to keep, told from its beginning."""
    from memoranda.capture.classify import classified

    return classified(text[:_LOOKED_AT], section="request", language="", known=lambda _: "").kind


def times_in(text: str, *, now: int) -> tuple[tuple[int, int], ...]:
    """The spans of time that a text names, as their first moment and the one after their last; none when it names none.

    All in milliseconds of one clock: a host that passes its local time as `now` has local times back.
    """
    from memoranda.recall.times import when

    found = when(text, now=now)
    return () if found is None else tuple((span.start, span.until) for span in found.spans)
