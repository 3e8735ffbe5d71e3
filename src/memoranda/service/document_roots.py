"""Where the documents of a source are looked for now: at its root, unless that has become a link to elsewhere."""

import os

from memoranda.domain.document import Source
from memoranda.domain.errors import NotFound
from memoranda.ledger.sources import RealPath


def root_of(source: Source) -> str:
    """The root, to be read from now. Who opened the store by itself may keep links; a root that was named through a
    server is a place, and is not there when something else is."""
    if isinstance(source.root, RealPath) and os.path.realpath(source.root) != source.root:
        raise NotFound(
            "the folder of these documents has become a link to elsewhere",
            hint="Put the folder back, or remove the source and add it where it is now.",
        )
    return source.root


def is_there(source: Source) -> bool:
    """Whether its documents can be looked at."""
    try:
        return os.path.isdir(root_of(source))
    except NotFound:
        return False
