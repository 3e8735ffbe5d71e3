"""`memoranda openclaw writeback`."""

import json

import pytest

from memoranda.cli import app


@pytest.fixture
def run(path, memory, imported, table, monkeypatch, capsys):
    """Run the command on the table: exit code, standard output, standard error."""
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_SCOPE", "home/anna")
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")

    def runner(*argv, folder=table.folder):
        code = app.run(["openclaw", "writeback", "--lancedb", str(folder), "--table", "memories", *argv])
        out, err = capsys.readouterr()
        return code, out, err

    return runner


def test_the_receipt_is_printed_for_programs(run, table):
    code, out, _ = run("--json", "--dry-run", "--limit", "3", "--batch", "2")
    planned = json.loads(out)
    assert (code, planned["dryRun"], planned["limit"], planned["batch"], planned["updated"]) == (0, True, 3, 2, 3)
    assert (planned["db"], planned["table"]) == (str(table.folder), "memories")
    assert "importance_label" not in table.columns()

    code, out, _ = run("--json")
    assert (code, json.loads(out)["updated"]) == (0, 5)
    assert {row["scope"] for row in table.rows().values()} == {"home/anna"}


def test_people_are_told_what_was_done_and_what_is_left(run):
    code, out, err = run("--limit", "3")
    assert (code, out) == (0, "3 rows of memories written, 0 had nothing to write\n")
    assert "3 of 5 memories were looked at: --limit 5 takes all" in err


@pytest.mark.parametrize("word", ["--force", "--overwrite"])
def test_forcing_has_two_names(run, table, word):
    run("--force-fields", "trust_tier")
    table.opened.update(values={"category": "other", "trust_tier": "trusted"})
    code, out, _ = run(word, "--force-fields", "category, trust_tier")
    assert (code, out.splitlines()[-1]) == (0, "5 of them overwritten: category 4, trust_tier 5")


def test_an_unknown_field_ends_with_1_and_says_which_there_are(run, table):
    version = table.opened.version
    code, out, _ = run("--force", "--force-fields", "vector", "--json")
    said = json.loads(out)
    assert (code, said["ok"]) == (1, False)
    assert said["allowedFields"] == ["importance", "importance_label", "scope", "category", "trust_tier"]

    code, out, err = run("--force", "--force-fields", "vector")
    assert (code, out) == (1, "")
    assert "'vector' is not a field" in err
    assert "trust_tier" in err
    assert table.opened.version == version


def test_a_folder_without_a_table_is_not_found(run, tmp_path):
    code, _, err = run(folder=tmp_path / "nowhere")
    assert code == 3
    assert "there is no LanceDB table" in err


def test_without_its_word_nothing_is_written(run, table, capsys):
    version = table.opened.version
    assert app.run(["openclaw", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["name"] == "InvalidInput"
    assert table.opened.version == version


def test_naming_fields_without_force_is_told(run):
    _, _, err = run("--force-fields", "category")
    assert "without it only what was empty was filled" in err
