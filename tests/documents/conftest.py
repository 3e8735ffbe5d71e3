"""Folders of notes, and stores that search them."""

import os
from pathlib import Path

import pytest

import faces

LONG_AGO_NS = 1_700_000_000_000_000_000


def rested(path, *, ns=LONG_AGO_NS):
    """Make a file one that was written long ago: what is younger than two seconds is looked into once more."""
    os.utime(path, ns=(ns, ns))
    return path


@pytest.fixture
def write(tmp_path):
    """Write a note that has rested for long."""
    moments = iter(range(LONG_AGO_NS, LONG_AGO_NS + 10**15, 10**9))

    def writer(name, text, *, folder="notes"):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return rested(path, ns=next(moments))

    return writer


@pytest.fixture
def notes(write):
    """A folder with three notes."""
    write("boiler.md", "# Boiler\n\nThe boiler manual is in the blue folder.\n")
    write("lamps.md", "# Lamps\n\nAnna reads by the desk lamp.\n\nBen broke the hall lamp in May.\n")
    return write("garden/trees.md", "# Trees\n\nThe pear tree was planted in 1998.\n").parents[1]


@pytest.fixture
def documents(opened, notes):
    """Documents by words only, with one source that has been read."""
    found = opened().documents
    found.add(notes)
    found.sync()
    return found


@pytest.fixture
def opens(monkeypatch):
    """Paths of documents that were opened."""
    from memoranda.service import document_sync

    read, seen = document_sync.read_document, []

    def counting(root, path, **options):
        seen.append(path)
        return read(root, path, **options)

    monkeypatch.setattr(document_sync, "read_document", counting)
    return seen


@pytest.fixture
def folder(path):
    """Where the derived files of documents are."""
    return Path(f"{faces.local_path(path)}-documents")
