import pytest

import memoranda
from memoranda import Settings
from memoranda.service import keys
from memoranda.service.backing_up import opened_store
from memoranda.service.keys import make_key_file
from support import open_store


@pytest.fixture(autouse=True)
def _no_key_of_somebodys_own(monkeypatch):
    for name in ("MEMORANDA_KEY", "MEMORANDA_NEW_KEY", "MEMORANDA_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _cheap_passphrases(monkeypatch):
    """Deriving a key is made to take long. In this process it does not."""
    monkeypatch.setitem(keys._COST, "n", 2)


@pytest.fixture
def key_file(tmp_path):
    """A key, in a folder that no store is in."""
    folder = tmp_path / "keys"
    folder.mkdir()
    make_key_file(folder / "key")
    return str(folder / "key")


@pytest.fixture
def chosen(path):
    """Settings for the store of this test."""

    def settings(**given):
        return Settings(**{"store": str(path), "embedder": "none", "follow": False, **given})

    return settings


@pytest.fixture
def engine(chosen, clock):
    """The engine of the store, as often as wanted; closed at the end."""
    held = []

    def opener(**given):
        context = opened_store(chosen(**given), clock=clock)
        held.append(context)
        return context.__enter__()

    yield opener
    for context in reversed(held):
        context.__exit__(None, None, None)


@pytest.fixture
def filled(path, clock):
    """A store with something of everything, closed again. Gives the texts that it holds."""

    def fill(at=path, *, count=30, notes=None, **settings):
        texts = [f"Memory number {number} tells of the quokka{number}." for number in range(count)]
        with open_store(at, clock=clock, **settings) as memory:
            first = memory.remember(texts[0], kind="fact", about="animal:quokka", speaker="anna")
            for text in texts[1:]:
                memory.remember(text)
            memory.forget(memory.remember("Forgotten wombats sleep in the attic."))
            memory.erase(memory.remember("Erased echidnas never come back."))
            memory.remember("The quokka moved to the island.", supersedes=first)
            memory.conversations.append([memoranda.user("Where is the numbat burrow today?")], conversation="talk")
            memory.profile.update(name="Annabella Quoll")
            memory.recall("where is the quokka?")
            memory.conversations.search("numbat burrow")
            if notes is not None:
                memory.documents.add(str(notes))
                memory.documents.sync()
                memory.documents.search("bilby")
        return [*texts, "Forgotten wombats sleep in the attic.", "Where is the numbat burrow", "Annabella Quoll"]

    return fill
