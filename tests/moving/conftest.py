import json

import pytest

from support import open_store


@pytest.fixture
def another(tmp_path):
    """Opens further stores; everything is closed at the end."""
    handles = []

    def opener(name, scope="home/anna", **settings):
        handles.append(open_store(tmp_path / name, scope, **settings))
        return handles[-1]

    yield opener
    for handle in reversed(handles):
        handle.close()


@pytest.fixture
def written(tmp_path):
    """Writes records as JSON lines; the path."""

    def writer(*records, name="others.jsonl"):
        file = tmp_path / name
        file.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in records) + "\n", encoding="utf-8")
        return file

    return writer
