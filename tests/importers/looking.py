"""What the tests of readers share: their fixtures, reading one, and broken copies."""

import shutil
from pathlib import Path

from memoranda.domain.importing import Imported, Unread
from memoranda.importers.registry import importer

FIXTURES = Path(__file__).parent / "fixtures"


def read(name, path, **options):
    """Everything that a reader gives, as memories and as what could not be read."""
    given = list(importer(name).read(path, options))
    return [each for each in given if isinstance(each, Imported)], [each for each in given if isinstance(each, Unread)]


def memories(name, path, **options):
    """The memories of a file that is whole."""
    found, unread = read(name, path, **options)
    assert unread == []
    return found


def by_text(given):
    found = list(given)
    assert len({each.text for each in found}) == len(found)
    return {each.text: each for each in found}


def copied(tmp_path, *parts, name=""):
    """A copy of a fixture that a test may break."""
    source = FIXTURES.joinpath(*parts)
    target = tmp_path / (name or source.name)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def contents(folder):
    """Every file below a folder with its bytes, so that a change or a new file shows."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
