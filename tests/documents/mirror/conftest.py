import pytest

from memoranda.service import mirroring


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mirror"


@pytest.fixture
def sync(memory, folder):
    """Run the mirror of this test's store; its receipt."""

    def runner(mode="sync", **options):
        return mirroring.mirror(memory._engine, memory._scope, folder, mode=mode, **options).receipt

    return runner


@pytest.fixture
def facts(folder):
    return folder / "home" / "anna" / "facts.md"
