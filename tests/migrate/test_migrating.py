"""A store is moved with everything in it, from any engine to any other, and goes on as if nothing had happened."""

import json

import pytest

import memoranda
from memoranda.domain.errors import Conflict, InvalidInput, LedgerDamaged, NotFound, Refused
from memoranda.ledger import copying_run
from memoranda.service.keys import make_key_file
from memoranda.service.migrating import Place, migrate, plan_migration, reopen
from migrate.conftest import ENGINES, PAIRS


@pytest.mark.parametrize("pair", PAIRS)
def test_every_row_of_every_table_arrives(pair, place, filled, rows, chosen):
    source, target = place(pair[0], "source"), place(pair[1], "target")
    filled(source)
    before = rows(source)
    assert all(before.values()), [name for name, lines in before.items() if not lines]
    done = migrate(source, target, settings=chosen())
    assert rows(target) == before
    receipt = done.receipt
    assert {table.name: table.rows for table in receipt.tables} == {name: len(lines) for name, lines in before.items()}
    assert receipt.rows == sum(map(len, before.values()))
    assert (receipt.followed, receipt.resumed, receipt.left_open) == (0, False, False)
    assert receipt.bytes > 0


@pytest.mark.parametrize("pair", PAIRS)
def test_it_answers_and_goes_on_from_where_it_was(pair, place, filled, opened, chosen):
    source, target = place(pair[0], "source"), place(pair[1], "target")
    filled(source)
    with opened(source) as memory:
        memory.erase(memory.remember("Erased bandicoots never come back."))
        contents, sequence = memory.contents(below=True), memory.stats().sequence
        asked = _recalled(memory)
        history = _history(memory, asked[0][0])
    migrate(source, target, settings=chosen())
    with opened(target) as memory:
        assert memory.contents(below=True) == contents
        assert _recalled(memory) == asked
        assert _history(memory, asked[0][0]) == history
        with pytest.raises(Refused):
            memory.remember("Erased bandicoots never come back.")
        kept = memory.remember("The first thing that is kept in the new place.")
        assert kept.receipt.sequence == sequence + 1
        assert memory.rollback("before-the-flood", mode="preview")
        assert memory.admin.verify().ok


def _recalled(memory):
    return [(hit.id, round(hit.score, 6)) for hit in memory.recall("where does the quokka live?")]


def _history(memory, reference):
    return [(each.event.sequence, each.event.action, each.event.at) for each in memory.history(reference)]


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_of_what_was_erased_are_never_given_again(engine, place, opened, chosen):
    """The newest rows are gone: only what the engine remembers of them says where to count on."""
    source, target = place("sqlite", "source"), place(engine, "target")
    with opened(source) as memory:
        memory.remember("The first of all.")
        last = memory.remember("The last of all, which is erased.")
        number = memory._engine.ledger.number_of(last.id, scope=memory._scope)
        memory.erase(last)
    migrate(source, target, settings=chosen())
    with opened(target) as memory:
        kept = memory.remember("The next one.")
        assert memory._engine.ledger.number_of(kept.id, scope=memory._scope) == number + 1


def test_a_file_is_moved_into_an_encrypted_one_and_out_of_it(place, filled, rows, chosen, tmp_path):
    make_key_file(tmp_path / "key")
    plain, sealed, again = (place("sqlite", name) for name in ("plain", "sealed", "again"))
    filled(plain)
    with_key = chosen(key_file=str(tmp_path / "key"))
    migrate(plain, sealed, settings=with_key)
    with open(sealed, "rb") as file:
        assert not file.read(16).startswith(b"SQLite")
    migrate(sealed, again, settings=with_key, leave_open=True)
    assert rows(again, key_file=str(tmp_path / "key")) == rows(plain)


# -- what is refused --


@pytest.mark.parametrize("engine", ENGINES)
def test_a_store_with_something_in_it_is_no_target(engine, place, filled, opened, chosen):
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source)
    with opened(target) as memory:
        memory.remember("This one is in use.")
    with pytest.raises(Conflict, match="something in it"):
        migrate(source, target, settings=chosen())
    with opened(target) as memory:
        assert len(memory.list()) == 1
    with opened(source) as memory:
        memory.remember("The source goes on.")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_store_that_was_opened_and_never_used_is_one(engine, place, filled, rows, opened, chosen):
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source)
    opened(target).close()
    migrate(source, target, settings=chosen())
    assert rows(target) == rows(source)


def test_a_source_that_is_not_there_is_told_and_not_made(place, chosen, tmp_path):
    with pytest.raises(NotFound):
        migrate(place("sqlite", "nowhere"), place("sqlite", "target"), settings=chosen())
    assert not list(tmp_path.glob("*.db*"))


@pytest.mark.postgres
def test_a_server_without_a_store_is_no_source(place, chosen):
    with pytest.raises(NotFound):
        migrate(place("postgres", "nowhere"), place("sqlite", "target"), settings=chosen())


def test_a_store_is_not_moved_onto_itself(place, filled, chosen):
    source = place("sqlite", "source")
    filled(source)
    with pytest.raises(InvalidInput):
        migrate(source, source, settings=chosen())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_differs_is_named_and_the_source_stays_open(engine, place, filled, opened, chosen, monkeypatch):
    source, target = place("sqlite", "source"), place(engine, "target")
    filled(source)
    real = copying_run.Copy.compare

    def spoiled(copy, connection):
        with copy.target.transaction():
            copy.target.connection.execute("update memory set text = 'spoiled' where number = 3")
        return real(copy, connection)

    monkeypatch.setattr(copying_run.Copy, "compare", spoiled)
    with pytest.raises(LedgerDamaged, match="in memory the row with the key 3 differs"):
        migrate(source, target, settings=chosen())
    with opened(source) as memory:
        memory.remember("The source goes on.")


def test_a_row_that_is_missing_or_too_much_is_named(place, filled, chosen, monkeypatch):
    real = copying_run.Copy.compare
    for statement, said in (
        ("delete from tag", "is missing"),
        ("insert into tombstone (digest, scope, at) values (x'00', 'a', 1)", "is too much"),
    ):
        source, target = place("sqlite", "source" + said[3:5]), place("sqlite", "target" + said[3:5])
        filled(source)

        def spoiled(copy, connection, statement=statement):
            with copy.target.transaction():
                copy.target.connection.execute(statement)
            return real(copy, connection)

        monkeypatch.setattr(copying_run.Copy, "compare", spoiled)
        with pytest.raises(LedgerDamaged, match=said):
            migrate(source, target, settings=chosen())


# -- the source afterwards --


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_that_was_moved_is_read_and_refuses_every_write(engine, place, filled, opened, chosen):
    source, target = place(engine, "source"), place("sqlite", "target")
    filled(source)
    migrate(source, target, settings=chosen())
    with opened(source) as memory:
        assert memory.list()
        refused = (
            lambda: memory.remember("Too late."),
            lambda: memory.forget(memory.list()[0]),
            lambda: memory.tag("late"),
            lambda: memory.conversations.append([memoranda.user("Too late.")], conversation="talk"),
        )
        for write in refused:
            with pytest.raises(Exception, match=r"moved"):
                write()
    with pytest.raises(Conflict, match="moved"):
        migrate(source, place("sqlite", "elsewhere"), settings=chosen())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_that_was_reopened_is_an_ordinary_store(engine, place, filled, opened, chosen):
    source, target = place(engine, "source"), place("sqlite", "target")
    filled(source)
    migrate(source, target, settings=chosen())
    assert reopen(source, settings=chosen()) == target
    with opened(source) as memory:
        memory.remember("It goes on here.")
        memory.forget(memory.list()[0])
    migrate(source, place("sqlite", "elsewhere"), settings=chosen())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_source_that_is_left_open_goes_its_own_way(engine, place, filled, rows, opened, chosen):
    source, target = place(engine, "source"), place("sqlite", "target")
    filled(source)
    migrate(source, target, settings=chosen(), leave_open=True)
    assert rows(source) == rows(target)
    with opened(source) as memory:
        memory.remember("It goes on here.")
    assert len(rows(source)["memory"]) == len(rows(target)["memory"]) + 1


def test_where_it_went_is_said_without_a_password(chosen):
    secret = "postgresql://me:hunter2@127.0.0.1:1/none"
    assert "hunter2" not in Place.of(secret, chosen()).shown


# -- looking before --


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_counts_and_changes_nothing(engine, place, filled, rows, chosen, tmp_path):
    source = place(engine, "source")
    filled(source)
    before = rows(source)
    plan = plan_migration(source, place("sqlite", "target"), settings=chosen())
    assert {table.name: table.rows for table in plan.tables} == {name: len(lines) for name, lines in before.items()}
    assert plan.bytes > 0
    assert not plan.resumes
    assert json.dumps(plan.as_json())
    assert rows(source) == before
    assert not (tmp_path / "target.db").exists()


def test_progress_comes_to_its_end(place, filled, chosen):
    source = place("sqlite", "source")
    filled(source)
    told = []
    migrate(
        source, place("sqlite", "target"), settings=chosen(), progress=lambda done, total: told.append((done, total))
    )
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
