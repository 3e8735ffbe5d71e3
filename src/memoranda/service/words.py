"""Words for front ends: what kind of memory a text is, and how a text may be shown to a model."""

from memoranda.domain.memory import Kind
from memoranda.recall.escaping import cleaned as cleaned

# A sentence says in its beginning what it is, and looking costs more than twice as much for twice as much text.
_LOOKED_AT = 2_000


def kind_of(text: str) -> Kind:
    """The kind of a text that somebody asks to keep, told from its beginning."""
    from memoranda.capture.classify import classified

    return classified(text[:_LOOKED_AT], section="request", language="", known=lambda _: "").kind
