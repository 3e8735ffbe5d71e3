import hashlib

import pytest

import memoranda
import postgres
from memoranda import Settings
from memoranda.ledger.copying_tables import tables

SCOPE = "home/anna"
PAIRS = [
    pytest.param(("sqlite", "sqlite"), id="file-file"),
    pytest.param(("sqlite", "postgres"), id="file-server", marks=pytest.mark.postgres),
    pytest.param(("postgres", "sqlite"), id="server-file", marks=pytest.mark.postgres),
    pytest.param(("postgres", "postgres"), id="server-server", marks=pytest.mark.postgres),
]
ENGINES = [pytest.param("sqlite", id="file"), pytest.param("postgres", id="server", marks=pytest.mark.postgres)]

# What nothing in the facade makes as easily.
_ODD_ROWS = (
    "insert into private_conversation (scope, digest) values ('home/anna', :blob)",
    "insert into dismissal (scope, digest, at) values ('home/anna', :blob, 7)",
    "insert into miss (scope, digest, reason, text, first_at, last_at, times) "
    "values ('home/anna', :blob, 'none', 'ąę ''quoted'' \"twice\" \\ \n\t 日本', 1, 2, 3)",
    "insert into import_run (id, scope, format, digest, counts, started_at, updated_at) "
    "values ('run', 'home/anna', 'mem0', :blob, '{}', 1, 2)",
    "insert into answer (principal, key, request, at, boot, body) values ('p', :blob, :blob, 1, 'b', 'said')",
    "insert into mirror (path, scope, noted_at) values ('/notes', 'home/anna', 1)",
    "insert into source (scope, name, root, patterns, trust, added_at) "
    "values ('home/anna', 'n', '/n', '[]', 'trusted', 1)",
    "insert into space (fingerprint, dimensions) values ('made/8', 8)",
    "insert into vector (space, number, content_hash, body) select 1, number, content_hash, :blob from memory",
    "insert into message_vector (space, number, content_hash, body) select 1, number, content_hash, :blob from message",
    "insert into token (id, digest, role, created_at) values ('t', :blob, 'reader', 1)",
)


@pytest.fixture(autouse=True)
def _no_key_of_somebodys_own(monkeypatch):
    for name in ("MEMORANDA_KEY", "MEMORANDA_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def chosen(tmp_path):
    """Settings that read nothing of the machine."""

    def settings(**given):
        usual = {"embedder": "none", "follow": False, "local_folder": str(tmp_path / "local")}
        return Settings(**{**usual, "index_home": "embedded", **given})

    return settings


@pytest.fixture
def place(tmp_path, request):
    """The address of a store that is not there yet."""
    made = []

    def new(engine, name):
        if engine == "sqlite":
            return str(tmp_path / f"{name}.db")
        made.append("m_" + hashlib.blake2b(f"{tmp_path}{name}".encode(), digest_size=10).hexdigest())
        return postgres.shared().address(made[-1])

    yield new
    for schema in made:
        postgres.shared().sql(f"drop schema if exists {schema} cascade")


@pytest.fixture
def opened(chosen, clock):
    def opener(address, *, scope=SCOPE, **given):
        return memoranda.open(address, scope=scope, settings=chosen(**given), clock=clock)

    return opener


@pytest.fixture
def filled(opened):
    """A store with something in every table, closed again."""

    def fill(address, *, count=40, **given):
        with opened(address, **given) as memory:
            first = memory.remember("The quokka lives on the island.", about="animal:quokka", speaker="anna")
            memory.remember_many([f"Thing number {number} is in the quoll{number} drawer." for number in range(count)])
            memory.forget(memory.remember("Forgotten wombats sleep in the attic."))
            memory.erase(memory.remember("Erased echidnas never come back."))
            memory.remember("The quokka moved to the mainland.", supersedes=first)
            memory.grade(first, 0.9, rationale="said twice")
            memory.tag("before-the-flood", note="all was well")
            memory.capture([memoranda.user("Please remember that Anna likes her tea strong.")], conversation="talk")
            memory.conversations.append(
                [memoranda.user(f"Where is numbat {number} in the long evening?") for number in range(30)],
                conversation="talk",
            )
            memory.conversations.compact("talk")
            memory.recall("where is the quokka?")
            memory.conversations.search("numbat burrow")
            memory.admin.maintain()
            database = memory._engine.ledger.database
            values = {"blob": bytes(range(16))}
            database.write(lambda connection: [_run(connection, each, values) for each in _ODD_ROWS] and None)

    return fill


def _run(connection, statement, values):
    used = {name: value for name, value in values.items() if f":{name}" in statement}
    return connection.execute(statement, used).fetchall()


@pytest.fixture
def rows(opened):
    """Every row of every table that belongs to the store, read in a way that owes nothing to how it was copied."""

    def read(address, **given):
        with opened(address, **given) as memory, memory._engine.ledger.database.read() as connection:
            found = {}
            for table in tables():
                names = ", ".join(f'"{name}"' for name in table.columns)
                lines = connection.execute(f"select {names} from {table.name}").fetchall()
                own = [row for row in lines if table.name != "store" or row[0] not in ("moved_to", "moving")]
                found[table.name] = sorted(map(repr, own))
            return found

    return read
