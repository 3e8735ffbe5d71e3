"""A store in PostgreSQL is backed up as one file, of the same format as any other, and restored from one."""

import shutil

import pytest

from memoranda import restore
from memoranda.domain.errors import Conflict, KeyMissing
from memoranda.ledger import backup
from memoranda.service.backing_up import back_up, backups, compare_backup, opened_store, verify_backup
from memoranda.service.keys import make_key_file
from memoranda.service.migrating import migrate
from migrate.conftest import ENGINES

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def engine(chosen, clock):
    """The engine of a store, closed at the end."""
    held = []

    def opener(address, **given):
        held.append(opened_store(chosen(store=address, **given), clock=clock))
        return held[-1].__enter__()

    yield opener
    for context in reversed(held):
        context.__exit__(None, None, None)


@pytest.fixture
def server(place, filled, chosen):
    """A store in PostgreSQL with something in every table."""
    file, address = place("sqlite", "origin"), place("postgres", "server")
    filled(file)
    migrate(file, address, settings=chosen())
    return address


@pytest.mark.postgres
def test_it_is_a_backup_like_any_other(server, engine, chosen):
    opened = engine(server)
    made = back_up(opened)
    assert [each.path for each in backups(opened)] == [made.path]
    assert verify_backup(made.path, settings=chosen(store=server)).ok
    assert made.receipt.manifest.figures.sequence == opened.ledger.sequence()
    assert compare_backup(opened, made.path).same


@pytest.mark.postgres
def test_it_is_restored_to_a_file_and_to_a_server(server, engine, rows, place, chosen, clock):
    made = back_up(engine(server))
    before = rows(server)
    file, other = place("sqlite", "file"), place("postgres", "other")
    restored = restore(made.path, file, settings=chosen(), clock=clock)
    assert restored.path == file
    assert rows(file) == before
    restored = restore(made.path, other, settings=chosen(), clock=clock)
    assert restored.path.startswith("postgresql://")
    assert "@" in restored.path
    assert rows(other) == before


@pytest.mark.postgres
def test_a_backup_of_a_file_is_restored_to_a_server(place, filled, engine, rows, opened, chosen, clock):
    file, address = place("sqlite", "file"), place("postgres", "server")
    filled(file)
    made = back_up(engine(file))
    restore(made.path, address, settings=chosen(), clock=clock)
    assert rows(address) == rows(file)
    with opened(address) as memory:
        memory.remember("It goes on here.")
        assert memory.recall("what goes on?")


@pytest.mark.postgres
def test_a_backup_from_before_the_newest_tables_is_restored_to_a_server(
    place, filled, engine, opened, chosen, clock, tmp_path
):
    file, address = place("sqlite", "file"), place("postgres", "server")
    filled(file)
    old = shutil.copy(back_up(engine(file)).path, tmp_path / "old.memoranda")
    with backup.opened(old, None, write=True) as connection:
        manifest = backup.manifest_in(connection)
        for name in ("tag", "operation", "grading", "miss", "dismissal", "import_run", "upkeep"):
            connection.execute(f"drop table {name}")
        connection.execute("drop index if exists event_scope; delete from migration where name >= 'm006'").fetchall()
        manifest = manifest._replace(figures=backup.figures(connection))
    backup.settle(old, None, manifest)
    restore(old, address, settings=chosen(), clock=clock)
    with opened(address) as memory:
        assert memory.recall("where does the quokka live?")
        assert not memory.tags()
        memory.tag("here")


@pytest.mark.postgres
def test_it_is_not_restored_over_a_store_that_holds_something(server, engine, opened, place, chosen, clock):
    made = back_up(engine(server))
    used = place("postgres", "used")
    with opened(used) as memory:
        memory.remember("This one is in use.")
    with pytest.raises(Conflict, match="something in it"):
        restore(made.path, used, settings=chosen(), clock=clock)
    with opened(used) as memory:
        assert len(memory.list()) == 1


@pytest.mark.postgres
def test_a_restore_that_was_killed_is_begun_anew(server, engine, rows, place, chosen, clock, monkeypatch):
    from memoranda.ledger import copying_run

    made = back_up(engine(server))
    other = place("postgres", "other")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(copying_run.Copy, "compare", killed)
        with pytest.raises(KeyboardInterrupt):
            restore(made.path, other, settings=chosen(), clock=clock)
    restore(made.path, other, settings=chosen(), clock=clock)
    assert rows(other) == rows(server)


@pytest.mark.postgres
def test_with_a_passphrase_nothing_of_it_can_be_read(server, engine, rows, place, chosen, clock):
    made = back_up(engine(server), passphrase=PASSPHRASE)
    with open(made.path, "rb") as file:
        assert b"quokka" not in file.read()
    other = place("postgres", "other")
    with pytest.raises(KeyMissing):
        restore(made.path, other, settings=chosen(), clock=clock)
    restore(made.path, other, passphrase=PASSPHRASE, settings=chosen(), clock=clock)
    assert rows(other) == rows(server)


@pytest.mark.postgres
def test_a_backup_of_an_encrypted_file_is_restored_to_a_server(place, filled, engine, rows, chosen, clock, tmp_path):
    make_key_file(tmp_path / "key")
    key = {"key_file": str(tmp_path / "key")}
    file, address = place("sqlite", "file"), place("postgres", "server")
    filled(file, **key)
    made = back_up(engine(file, **key))
    restored = restore(made.path, address, settings=chosen(**key), clock=clock)
    assert not restored.receipt.encrypted
    assert rows(address) == rows(file, **key)


@pytest.mark.postgres
def test_what_a_newer_server_has_erased_stays_away(place, filled, engine, opened, chosen, clock):
    file, newer, other = place("sqlite", "file"), place("postgres", "newer"), place("postgres", "other")
    filled(file)
    made = back_up(engine(file))
    migrate(file, newer, settings=chosen())
    with opened(newer) as memory:
        memory.erase(next(each for each in memory.list(limit=100) if "quoll7 " in each.text))
    restored = restore(made.path, other, tombstones_from=newer, settings=chosen(), clock=clock)
    assert restored.receipt.erased == 1
    with opened(other) as memory:
        assert not [each for each in memory.list(limit=100) if "quoll7 " in each.text]


@pytest.mark.parametrize("engine_name", ENGINES)
def test_a_store_that_was_moved_is_backed_up_as_one_that_was_not(
    engine_name, place, filled, engine, rows, opened, chosen, clock
):
    source, target, again = place(engine_name, "source"), place("sqlite", "target"), place("sqlite", "again")
    filled(source)
    migrate(source, target, settings=chosen())
    made = back_up(engine(source))
    restore(made.path, again, settings=chosen(), clock=clock)
    assert rows(again) == rows(target)
    with opened(again) as memory:
        memory.remember("It goes on here.")
