"""Carrying over: when documents are made anew, what cannot be read now is taken from the generation before."""

from collections.abc import Sequence

from memoranda.domain.document import Source
from memoranda.index.catalogue import Catalogue
from memoranda.index.catalogue_rows import FileRead
from memoranda.service.document_secrets import Screen, screened_chunk


def carry(
    new: Catalogue, old: Catalogue, source: Source, paths: Sequence[str], *, screen: Screen, fingerprint: str
) -> int:
    """Take over what is known of these files, cut as it was, marked as stale; how many chunks came."""
    scope, name = source.scope, source.name
    carried = [_screened(each, screen) for each in old.files(scope, name, paths)]
    came, _ = new.apply(scope, name, put=carried, seeds=old, fingerprint=fingerprint)
    known = new.known(scope, name)
    new.apply(scope, name, stale=[known[each.seen.path].number for each in carried])
    return came


def _screened(read: FileRead, screen: Screen) -> FileRead:
    """What was read before, as it may be kept now."""
    matter = read.matter._replace(title=screen(read.matter.title), tags=tuple(map(screen, read.matter.tags)))
    return read._replace(matter=matter, chunks=tuple(screened_chunk(each, screen) for each in read.chunks))
