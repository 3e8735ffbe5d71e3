"""What is written into the rows of OpenClaw's table, and what never is."""

import threading

import pytest

from memoranda.domain.errors import Conflict, InvalidInput, NotFound
from memoranda.domain.memory import Memory
from memoranda.domain.scope import Scope
from memoranda.service import writeback
from memoranda.service.writeback import write_back

lancedb = pytest.importorskip("lancedb")
pyarrow = pytest.importorskip("pyarrow")
BTree = pytest.importorskip("lancedb.index").BTree

RECEIPT = [
    "ok", "dryRun", "db", "table", "limit", "batch", "forceOverwrite", "forceFields", "checked", "updated",
    "overwritten", "overwrittenFields", "skipped", "missing", "missingIds", "error_count", "errorIds",
]  # fmt: skip
NEW = ("importance_label", "scope")


def by_text(table, start):
    return next(row for row in table.rows().values() if row["text"].startswith(start))


def regraded(memory, theirs, importance):
    """Another importance than the table has."""
    ours = next(each for each in memory.list(limit=50) if each.source_ref == f"openclaw-lancedb:{theirs}")
    memory.grade(ours, importance)


def test_what_is_empty_is_filled_and_nothing_else_is_touched(memory, table, imported, write):
    before, vectors = table.rows(), table.vectors()

    done = write()

    assert list(done) == RECEIPT
    assert (done["ok"], done["checked"], done["updated"], done["skipped"], done["overwritten"]) == (True, 5, 5, 0, 0)
    after = table.rows()
    for theirs, row in after.items():
        assert {name: row[name] for name in before[theirs]} == before[theirs]
        assert row["scope"] == "home/anna"
    assert by_text(table, "I prefer")["importance_label"] == "must_remember"
    assert by_text(table, "We decided")["importance_label"] == "nice_to_have"
    assert by_text(table, "It's")["importance_label"] == "ignore"
    assert table.vectors() == vectors
    assert table.columns() == [*before[next(iter(before))], *NEW]


def test_the_second_time_there_is_nothing_to_write(memory, table, imported, write):
    write()
    version = table.opened.version
    again = write()
    assert (again["updated"], again["skipped"], again["checked"]) == (0, 5, 5)
    assert table.opened.version == version


def test_a_dry_run_says_the_same_and_writes_nothing(memory, table, imported, write):
    version, rows = table.opened.version, table.rows()
    planned = write(mode="preview")
    assert (table.opened.version, table.rows()) == (version, rows)
    done = write()
    assert {**planned, "dryRun": False} == done
    assert planned["dryRun"] is True


def test_what_stands_there_is_overwritten_only_when_forced(memory, table, imported, write):
    theirs = by_text(table, "The boiler")["id"]
    write()
    regraded(memory, theirs, 0.95)

    assert write()["updated"] == 0
    assert table.rows()[theirs]["importance"] == 0.4
    done = write(force=True)

    assert (done["updated"], done["overwritten"], done["skipped"]) == (1, 1, 4)
    assert done["overwrittenFields"] == {"importance": 1, "importance_label": 1}
    assert done["forceFields"] == ["importance", "importance_label", "scope", "category"]
    row = table.rows()[theirs]
    assert (row["importance"], row["importance_label"]) == (0.95, "must_remember")


def test_only_the_fields_that_are_named_are_overwritten(memory, table, imported, write):
    theirs = by_text(table, "The boiler")["id"]
    write()
    regraded(memory, theirs, 0.95)

    done = write(force=True, force_fields=["importance_label"])

    assert done["overwrittenFields"] == {"importance_label": 1}
    row = table.rows()[theirs]
    assert (row["importance"], row["importance_label"]) == (0.4, "must_remember")


@pytest.mark.parametrize("options", [{}, {"force": True}, {"force": True, "force_fields": ["importance"]}])
def test_trust_is_not_written_unless_it_is_named(memory, table, imported, write, options):
    write(**options)
    assert "trust_tier" not in table.columns()
    table.opened.add_columns([pyarrow.field("trust_tier", pyarrow.string())])
    write(**options)
    assert {row["trust_tier"] for row in table.rows().values()} == {None}


def test_trust_is_filled_in_and_overwritten_when_it_is_named(memory, table, imported, write):
    assert write(force_fields=["trust_tier"])["overwritten"] == 0
    assert {row["trust_tier"] for row in table.rows().values()} == {"untrusted"}
    table.opened.update(values={"trust_tier": "trusted"})

    assert write(force_fields=["trust_tier"])["updated"] == 0
    assert write(force=True)["overwritten"] == 0
    assert write(force=True, force_fields=["trust_tier"])["overwrittenFields"] == {"trust_tier": 5}
    assert {row["trust_tier"] for row in table.rows().values()} == {"untrusted"}


def test_a_whole_regrade_comes_back_to_the_table_exactly(memory, table, imported, write):
    vectors, before = table.vectors(), table.rows()
    memory.governance.regrade(force=True)
    ours = {each.source_ref.partition(":")[2]: each for each in memory.list(limit=50)}
    changed = sum(ours[theirs].importance != row["importance"] for theirs, row in before.items())
    assert changed

    done = write(force=True)

    assert (done["updated"], done["overwritten"]) == (5, changed)
    for theirs, row in table.rows().items():
        expected = {
            "importance": ours[theirs].importance,
            "importance_label": ours[theirs].grade,
            "scope": "home/anna",
        }
        assert row == {**before[theirs], **expected}
    assert table.vectors() == vectors


def test_a_category_that_we_have_no_word_for_is_left(memory, table, imported, write):
    theirs = by_text(table, "It's")["id"]
    table.opened.update(where="category = 'other'", values={"category": "todo"})
    write(force=True)
    assert table.rows()[theirs]["category"] == "todo"


def test_an_unknown_field_is_refused_with_those_that_are_allowed(memory, table, imported, write):
    version = table.opened.version
    with pytest.raises(InvalidInput) as caught:
        write(force=True, force_fields=["importance", "text"])
    assert caught.value.allowed == ("importance", "importance_label", "scope", "category", "trust_tier")
    assert table.opened.version == version


def test_what_is_no_longer_in_the_table_is_told(memory, table, imported, write):
    theirs = by_text(table, "The boiler")["id"]
    table.opened.delete(f"id = '{theirs}'")
    done = write()
    assert (done["missing"], done["missingIds"], done["updated"], done["ok"]) == (1, [theirs], 4, True)


def test_what_changed_last_comes_first_and_no_more_than_the_limit(memory, clock, table, imported, write):
    clock.advance(days=500)  # after the day on which the table was made
    memory.archive(imported[by_text(table, "The boiler")["id"]])
    done = write(limit=1)
    assert (done["checked"], done["updated"]) == (1, 1)
    assert [row["text"] for row in table.rows().values() if row["importance_label"]] == [
        "The boiler manual is in the blue folder."
    ]
    result = write_back(memory._engine, memory._scope, table.folder, limit=2)
    assert (result.checked, result.candidates) == (2, 5)


def test_each_batch_is_one_commit(memory, table, imported, write):
    version = table.opened.version
    write(batch=2)
    assert table.opened.version == version + 1 + 3  # new columns, then 2 + 2 + 1 rows


def test_only_what_came_from_there_is_written_and_only_of_this_scope(memory, table, imported, write):
    memory.remember("Ours alone.")
    for other in ("home/ben", "home", "home/anna/work"):
        done = write_back(memory._engine, Scope(other), table.folder)
        assert (done.checked, done.updated) == (0, 0)
    assert write()["checked"] == 5


def test_what_was_forgotten_says_nothing_more(memory, table, imported, write):
    theirs = by_text(table, "The boiler")["id"]
    memory.forget(imported[theirs])
    assert write()["checked"] == 4
    assert table.rows()[theirs]["importance_label"] is None


def test_a_row_with_the_id_of_a_memory_is_its_row(memory, table, write):
    kept = memory.remember("The gate code is with Ben.", importance=0.6)
    table.opened.add([{**next(iter(table.rows().values())), "id": kept.id}])
    assert write()["updated"] == 1
    assert table.rows()[kept.id]["importance_label"] == "nice_to_have"


@pytest.mark.parametrize("odd", ["x' OR '1'='1", "'; DROP TABLE memories; --", '"', "\\", "名前", "%", "a\nb"])
def test_an_id_is_only_ever_an_id(memory, table, imported, write, odd):
    rows = table.rows()
    memory.remember("Odd one.", source="import", source_ref=f"openclaw-lancedb:{odd}", importance=0.9)

    assert write(force=True)["missingIds"] == [odd]
    table.opened.add([{**by_text(table, "It's"), "id": odd, "importance_label": None}])
    done = write(force=True)

    assert (done["missing"], done["updated"]) == (0, 1)
    assert table.rows()[odd]["importance_label"] == "must_remember"
    assert {theirs: row["text"] for theirs, row in rows.items()} == {
        theirs: row["text"] for theirs, row in table.rows().items() if theirs != odd
    }


def test_unknown_columns_and_the_indexes_stay(memory, table, imported, write):
    table.opened.add_columns({"own": "'kept'"})
    table.opened.create_index("id", config=BTree())
    write(force=True)
    assert {row["own"] for row in table.rows().values()} == {"kept"}
    assert [index.name for index in table.opened.list_indices()] == ["id_idx"]


def test_numbers_with_fewer_digits_are_not_overwritten_for_ever(memory, tmp_path, write):
    schema = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string()), ("importance", pyarrow.float32())])
    row = {"id": "one", "text": "x", "importance": None}
    lancedb.connect(str(tmp_path / "small")).create_table("memories", pyarrow.Table.from_pylist([row], schema=schema))
    memory.remember("x", source="import", source_ref="openclaw-lancedb:one", importance=0.9)

    assert write(tmp_path / "small", force=True)["updated"] == 1
    assert write(tmp_path / "small", force=True)["updated"] == 0


def test_the_scope_of_a_table_with_agents_is_theirs_unless_it_is_named(memory, agents, write):
    memory.import_memories(agents.folder, options={"agent": "main"})

    write(agents.folder, force=True)
    assert "scope" not in agents.columns()
    assert {row["importance_label"] for row in agents.rows().values()} == {"must_remember", None}
    write(agents.folder, force=True, force_fields=["scope"])
    assert sorted(row["scope"] or "" for row in agents.rows().values()) == ["", "home/anna", "home/anna"]


def test_a_scope_that_they_could_not_read_is_not_written():
    known = dict(writeback._known(Memory("id", "Home/Anna", "fact", "x")))
    assert known == {"category": "fact", "trust_tier": "trusted"}
    assert dict(writeback._known(Memory("id", "home/anna", "note", "x")))["category"] == "other"


def test_somebody_who_writes_meanwhile_is_not_overwritten(memory, table, imported, write, monkeypatch):
    theirs = by_text(table, "The boiler")["id"]
    table.opened.add_columns([pyarrow.field("importance_label", pyarrow.string())])
    first = writeback._Table.write
    done = threading.Event()

    def overtaken(self, changes):
        if not done.is_set():
            done.set()
            table.opened.update(where=f"id = '{theirs}'", values={"importance_label": "unknown"})
        return first(self, changes)

    monkeypatch.setattr(writeback._Table, "write", overtaken)
    receipt = write()

    assert table.rows()[theirs]["importance_label"] == "unknown"
    assert table.rows()[theirs]["scope"] == "home/anna"  # the rest of it is filled on the second try
    assert (receipt["ok"], receipt["updated"], receipt["overwritten"]) == (True, 5, 0)


def test_two_who_write_at_once_lose_nothing(memory, table, imported, write):
    """One writes back, the other stores and changes rows through LanceDB, as OpenClaw does."""
    stop, added = threading.Event(), []

    def others():
        opened = table.opened
        row = {name: value for name, value in by_text(table, "It's").items() if name != "id"}
        while not stop.is_set() and len(added) < 40:
            added.append(f"new-{len(added)}")
            opened.checkout_latest()
            opened.add(
                [
                    {name: row[name] for name in ("text", "vector", "importance", "category", "createdAt")}
                    | {"id": added[-1]}
                ]
            )

    thread = threading.Thread(target=others)
    thread.start()
    try:
        receipt = write(batch=1)
    finally:
        stop.set()
        thread.join()
    rows = table.rows()
    assert (receipt["ok"], receipt["updated"], receipt["error_count"]) == (True, 5, 0)
    assert len(rows) == 5 + len(added)
    assert sum(row["importance_label"] is not None for row in rows.values()) == 5


def test_what_cannot_be_written_is_told_by_its_id(memory, table, imported, write, monkeypatch):
    monkeypatch.setattr(writeback, "_PAUSE_SECONDS", 0.0)

    def refused(self, changes):
        raise RuntimeError("Too many concurrent writers")

    monkeypatch.setattr(writeback._Table, "write", refused)
    receipt = write()
    assert (receipt["ok"], receipt["updated"], receipt["error_count"]) == (False, 0, 5)
    assert sorted(receipt["errorIds"]) == sorted(imported)


def test_a_column_of_another_type_is_told_before_anything_is_written(memory, tmp_path, write):
    lancedb.connect(str(tmp_path / "odd")).create_table("memories", [{"id": "a", "text": "x", "importance": "high"}])
    with pytest.raises(Conflict, match="importance"):
        write(tmp_path / "odd")
    lancedb.connect(str(tmp_path / "other")).create_table("memories", [{"name": "x"}])
    with pytest.raises(InvalidInput, match="no column id"):
        write(tmp_path / "other")


def test_a_place_without_a_table_is_told_and_not_made(memory, tmp_path, table, write):
    with pytest.raises(NotFound):
        write(tmp_path / "nowhere")
    with pytest.raises(NotFound):
        write(table="other")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("options", [{"limit": 0}, {"batch": 0}, {"mode": "soon"}, {"force_fields": "scope"}])
def test_what_makes_no_sense_is_refused(memory, table, write, options):
    with pytest.raises(InvalidInput):
        write(**options)
