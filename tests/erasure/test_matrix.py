"""Twelve places where text can hide, each with each way of erasing: it was there, and then it is nowhere.

The scan owes nothing to src: plain bytes of every file of the folder, with plain find. Of an encrypted store,
every page as SQLite hands it out with the key.
"""

import apsw
import numpy as np
import pytest

from conversations.test_erase import chatter
from conversations.test_service import talk
from erasure.served import serving
from memoranda import assistant, user
from memoranda.service.backing_up import back_up
from memoranda.service.keys import make_key_file
from memoranda.testing.fakes import FixedClock
from memoranda.testing.servers import hashed_vector
from support import open_store

SCOPE, SUBJECT, SPEAKER = "home/anna", "profile:anna", "anna"
PLACES = (
    "rows", "revisions", "events", "lexical index", "vectors", "embedding cache", "summaries", "profile history",
    "facts", "mirror", "backups", "logs",
)  # fmt: skip
WAYS = ("id", "about", "speaker", "scope", "conversation", "source", "time")
ROW = "The kanarie-row sings in the bedroom of the yellow house."
SAID = "We decided to keep the kanarie-summary honey in cupboard 417."
LOGGED = "The kanarie-log is written down by a server."
WORDS = {
    "rows": "kanarie-row", "revisions": "kanarie-revision", "events": "kanarie-reason", "summaries": "kanarie-summary",
    "profile history": "Kanarie-name", "facts": "kanarie-fact", "mirror": "kanarie-row", "backups": "kanarie-row",
    "logs": "kanarie-log",
}  # fmt: skip
NOT_REACHED = {
    ("profile history", "conversation"): "an entry of a profile belongs to nobody's conversation",
    ("facts", "conversation"): "a fact that was put into words by a program belongs to no conversation",
}


class World:
    """A store in which a canary sits in every place, before and after it was erased in one way."""

    def __init__(self, folder, way, key_file=""):
        self.folder, self.way = folder, way
        self.path = folder / "store" / "store.db"
        self.key = bytes.fromhex(open_text(key_file)) if key_file else b""
        self.log = "" if key_file else self._served()
        self.clock = FixedClock()
        self.memory = open_store(
            self.path,
            SCOPE,
            clock=self.clock,
            embedder="hashed:words",
            capture_mode="explicit",
            compact_messages=0,
            key_file=key_file,
        )
        self._plant()
        self.before = {place: self._found(place) for place in PLACES}
        self.receipts = self._erased()
        self.after = {place: self._found(place, everywhere=True) for place in PLACES}

    # -- planting --

    def _served(self):
        """A server that is asked to keep, to find and to refuse it, and what it wrote to its log."""
        with serving(self.path) as server:
            told = {"text": LOGGED, "about": SUBJECT, "speaker": SPEAKER, "conversation": "talk", "source": "operator"}
            told["occurred_at"] = "2026-01-01T00:00:00Z"
            assert server.ask("POST", f"/v1/memories?scope={SCOPE}", told) in (200, 201)
            assert server.ask("POST", f"/v1/recall?scope={SCOPE}", {"query": LOGGED}) == 200
            assert server.ask("POST", f"/v1/memories?scope={SCOPE}", {"text": LOGGED, "kanarie-log": 1}) >= 400
            assert server.ask("GET", f"/v1/memories/kanarie-log?scope={SCOPE}&x=kanarie-log") >= 400
            return server.end()

    def _plant(self):
        memory, about = self.memory, {"about": SUBJECT, "speaker": SPEAKER, "source": "operator"}
        talked = {**about, "conversation": "talk"}
        self.row = memory.remember(ROW, **talked, metadata={"note": "kanarie-revision"})
        memory.remember(ROW, **talked, metadata={"note": "something else"})
        memory.forget(self.row, reason="kanarie-reason")
        memory.restore(self.row)
        memory.remember(SAID, **talked)
        memory.conversations.append(
            [user(SAID, speaker=SPEAKER, id="said"), assistant("Noted.", id="n"), *talk(2), *chatter(30)],
            conversation="talk",
        )
        memory.conversations.compact("talk")
        memory.profile.update(name="Kanarie-name", speaker=SPEAKER, source="operator")
        memory.profile.update(name="Somebody", speaker=SPEAKER, source="operator")
        memory.facts.add(SUBJECT, "colour", "kanarie-fact yellow", speaker=SPEAKER, source="operator")
        memory.facts.add(SUBJECT, "colour", "green as grass", speaker=SPEAKER, source="operator")
        memory.recall(ROW)
        memory.conversations.search(SAID)
        memory.mirror(self.folder / "mirror")
        back_up(memory._engine)
        self.clock.advance(days=2)
        self.stays = memory.remember("A bystander reads a book.", about="book", speaker="ben")
        memory.conversations.append([user("The bystander talks, too.", speaker="ben")], conversation="other")
        self.terms = self._terms()

    def _terms(self):
        index = self.memory._engine.memories.index()
        number = self.memory._engine.ledger.number_of(self.row.id, scope=self.memory._scope)
        rows = index._database._writer.execute("select body from tail where number = ?", (number,)).fetchall()
        return [rows[0][0][31 : 31 + 64]]

    # -- looking --

    def _found(self, place, *, everywhere=False):
        """Where it is."""
        if place == "embedding cache":
            pipeline = self.memory._engine.embedders.configured()
            spoken = self.row.memory.spoken
            return sorted(pipeline._cache.get([spoken], fingerprint=pipeline.fingerprint, role="document")[0])
        if place == "logs":
            lines = [line for line in self.log.splitlines() if not everywhere or WORDS[place] in line]
            return [*lines, *(self._bytes(WORDS[place]) if everywhere else ())]
        if everywhere:
            needles = {"lexical index": self.terms, "vectors": _vectors(self.row.memory.spoken)}
            return [each for needle in needles.get(place, [WORDS.get(place)]) for each in self._bytes(needle)]
        if place in ("lexical index", "vectors"):
            needles = self.terms if place == "lexical index" else _vectors(self.row.memory.spoken)
            found = [[name for name in self._bytes(each) if name.startswith("store/")] for each in needles]
            return found[0] if all(found) else []
        if place in ("mirror", "backups"):
            folder = {"mirror": "mirror/", "backups": "store/store.db-backups/"}[place]
            return [name for name in self._bytes(WORDS[place]) if name.startswith(folder)]
        in_table = {
            "rows": "select text from memory",
            "revisions": "select metadata from revision",
            "events": "select reason from event",
            "summaries": "select text from message where kind = 'summary'",
            "profile history": "select value from memory where state = 'superseded' and attribute like 'profile.%'",
            "facts": "select value from memory where about <> ''",
        }
        with self.memory._engine.ledger.database.read() as connection:
            rows = [str(row[0]) for row in connection.execute(in_table[place])]
        assert self._bytes(WORDS[place]), "a reader finds it: so must the scan"
        return [row for row in rows if WORDS[place] in row]

    def _bytes(self, needle):
        raw = needle if isinstance(needle, bytes) else needle.encode()
        files = sorted(file for file in self.folder.rglob("*") if file.is_file())
        return [str(file.relative_to(self.folder)) for file in files if raw in self._content(file)]

    def _content(self, file):
        content = file.read_bytes()
        if not self.key or content[16:24][4:] != b"\x20\x40\x20\x20" or file.name.endswith(("-wal", "-shm")):
            return content
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        connection.execute(f"pragma key = 'raw:{self.key.hex()}'").fetchall()
        try:
            return connection.serialize("main")
        finally:
            connection.close()

    # -- erasing --

    def _erased(self):
        memory = self.memory
        if self.way == "id":
            ids = [each.id for each in memory.list(states=(), limit=100) if each.about == SUBJECT]
            return [memory.erase(each).receipt for each in ids]
        ways = {
            "about": {"about": SUBJECT},
            "speaker": {"speaker": SPEAKER},
            "scope": {"scope": SCOPE},
            "conversation": {"conversation": "talk"},
            "source": {"source": "operator"},
            "time": {"time_before": self.clock.now() - 86_400_000},
        }
        return [memory.erase(**ways[self.way]).receipt]


def open_text(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def _vectors(text):
    values = np.asarray(hashed_vector(text, 64))
    unit = (values / np.linalg.norm(values)).astype(np.float32).astype(np.float16)
    single = unit.astype(np.float32)
    return unit.tobytes(), np.rint(single / (np.abs(single).max() / 127.0)).astype(np.int8).tobytes()


@pytest.fixture(scope="module")
def worlds(tmp_path_factory, model_cache):
    made = {}

    def world(way, sealed=False):
        if (way, sealed) not in made:
            folder = tmp_path_factory.mktemp(f"matrix-{way}")
            (folder / "store").mkdir()
            key_file = ""
            if sealed:
                key_file = str(tmp_path_factory.mktemp("keys") / "key")
                make_key_file(tmp_path_factory.getbasetemp().joinpath(key_file))
            made[way, sealed] = World(folder, way, key_file)
        return made[way, sealed]

    yield world
    for each in made.values():
        each.memory.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_it_was_there_and_is_nowhere(worlds, place, way):
    world = worlds(way)
    assert world.before[place], "what was never there proves nothing"
    if (place, way) in NOT_REACHED:
        assert world.after[place], NOT_REACHED[place, way]
        return
    assert world.after[place] == []


@pytest.mark.parametrize("way", WAYS)
def test_each_erasure_says_so_and_everything_else_stays(worlds, way):
    world = worlds(way)
    assert {each.state for each in world.receipts} == {"purged"}
    assert sum(each.backups for each in world.receipts) >= 1
    assert sum(each.mirrored for each in world.receipts) >= 1
    kept = [each.text for each in world.memory.list(limit=100)]
    assert (world.stays.memory.text in kept) == (way != "scope")
    assert world.memory.admin.verify().ok
    if way != "scope":
        assert world.memory.conversations.messages("other")[0].text == "The bystander talks, too."


@pytest.mark.parametrize("way", ["id", "about", "speaker", "scope"])
@pytest.mark.parametrize("place", [place for place in PLACES if place != "logs"])
def test_the_same_in_an_encrypted_store(worlds, place, way):
    world = worlds(way, sealed=True)
    assert world.before[place]
    assert world.after[place] == []
    assert {each.state for each in world.receipts} == {"purged"}
