"""The commands that move house."""

import hashlib
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import run  # noqa: F401  a fixture


@pytest.fixture
def furnished(run):  # noqa: F811
    run("remember", "Anna reads by light.bedroom_lamp.", "--about", "light.bedroom_lamp")
    run("remember", "The shop closes at six.", "--source", "web")
    run("remember", "The roses are cut in March.", "--scope", "home/anna/garden")
    return run


def test_out_and_in_again_with_equal_contents(furnished, tmp_path):
    out = tmp_path / "out.jsonl"
    code, text, err = furnished("export", "--out", str(out), "--below", "--no-redact")
    assert code == 0, err
    assert "3 memories" in text
    assert "not redacted" in text
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    _, told, _ = furnished("contents", "--below", "--json")
    other = ("--store", str(tmp_path / "other.db"))
    code, text, err = furnished("import", str(out), *other, "--dry-run")
    assert "signed by another store: taken as untrusted; --trust kept takes its word" in text
    code, text, err = furnished("import", str(out), *other, "--trust", "kept")
    assert code == 0, err
    assert "3 kept in 2 scopes" in text
    assert "untrusted" not in text
    assert "memoranda undo --below" in text
    _, again, _ = furnished("contents", "--below", "--json", *other)
    assert json.loads(told)["digest"] == json.loads(again)["digest"]
    code, text, _ = furnished("import", str(out), *other)
    assert code == 0
    assert "3 are here already" in text
    assert "nothing was changed" in text


def test_to_standard_output_comes_the_export_and_nothing_else(furnished, path):
    before = set(path.parent.iterdir())
    command = [sys.executable, "-m", "memoranda", "export", "--out", "-", "--json"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["format"] == "memoranda-export"
    assert len(lines) == 4
    told = json.loads(done.stderr)
    assert told["receipt"]["sha256"] == hashlib.sha256(done.stdout).hexdigest()
    (room,) = set(path.parent.iterdir()) - before
    assert [each.name for each in room.iterdir()] == ["lock"]


def test_a_file_that_is_there_is_refused_with_the_way_out(furnished, tmp_path):
    (tmp_path / "out.jsonl").write_text("precious")
    code, _, err = furnished("export", "--out", str(tmp_path / "out.jsonl"))
    assert code == 4
    assert "--overwrite" in err
    assert furnished("export", "--out", str(tmp_path / "out.jsonl"), "--overwrite")[0] == 0


def test_a_dry_run_shows_the_audit_and_changes_nothing(furnished, written):
    file = written(
        {"note": "Anna likes tea.", "who": "anna"},
        {"note": "ok thanks!"},
        {"note": "Ben\x1b[31m likes coffee.", "who": "ben\x1b[31m"},
        {"other": "x"},
    )
    code, text, err = furnished(
        "import", str(file), "--from", "jsonl", "--dry-run", "--map", "text=note", "--map", "owner=who",
        "--owner", "anna=home/anna",
    )  # fmt: skip
    assert code == 6, err
    assert "1 would be kept in home/anna" in text
    assert "junk: small talk 1" in text
    assert "line 4: no text in it" in text
    assert "somebody else's" in text
    assert "\x1b" not in text
    assert "likes coffee" not in text
    assert "(nothing was imported into this scope)" in furnished("imports")[1]


def test_a_dry_run_needs_no_store_and_makes_none(furnished, tmp_path):
    furnished("export", "--out", str(tmp_path / "out.jsonl"))
    code, text, err = furnished("import", str(tmp_path / "out.jsonl"), "--dry-run", "--store", str(tmp_path / "new.db"))
    assert code == 0, err
    assert "2 would be kept" in text
    assert not (tmp_path / "new.db").exists()


def test_a_table_with_a_mapping_then_imports_then_undo(furnished, tmp_path):
    file = tmp_path / "notes.csv"
    file.write_text("Notes;When\nAnna likes tea.;2024-05-01\nThe house is old.;2024-05-02\n")
    code, out, err = furnished(
        "import", str(file), "--map", "text=Notes", "--map", "created_at=When", "--from", "csv", "--json"
    )
    assert code == 0, err
    told = json.loads(out)
    assert (told["taken"], told["format"], told["audit"]["oldest"]) == (2, "csv", "2024-05-01T00:00:00.000Z")
    _, out, _ = furnished("imports", "--json")
    assert json.loads(out)["imports"][0]["id"] == told["run"]["id"]
    assert "2 kept\tfinished" in furnished("imports")[1]
    assert furnished("undo")[0] == 0
    assert "2 kept\tfinished, then undone" in furnished("imports")[1]
    assert json.loads(furnished("imports", "--json")[1])["imports"][0]["undone"] is True
    _, out, _ = furnished("list", "--json")
    assert json.loads(out)["total"] == 2


def test_validate_only_reads(furnished, written):
    file = written({"text": "Anna likes tea."}, {"nothing": 1})
    code, text, _ = furnished("import", str(file), "--from", "jsonl", "--validate-only")
    assert code == 6
    assert "1 of 2 records can be read" in text


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["import", "nothing.jsonl"], 3, "nothing at"),
        (["import", "nothing.jsonl", "--map", "text"], 2, "no '='"),
        (["import", "{file}", "--from", "gossip"], 2, "mem0"),
        (["import", "{file}", "--owner", "ben=work/ben"], 4, "not inside"),
        (["import", "{file}", "--trust", "kept", "--from", "jsonl"], 2, "trust"),
        (["export", "--out", "/nowhere/at/all/x.jsonl"], 2, "no folder"),
        (["export"], 2, "--out"),
    ],
)
def test_what_cannot_be_has_its_exit_code_and_a_hint(furnished, written, options, code, told):
    file = written({"text": "Anna likes tea."})
    found, _, err = furnished(*(each.format(file=file) for each in options))
    assert found == code
    assert told in err


def test_an_export_of_some_of_it(furnished, tmp_path):
    furnished("remember", "Anna likes tea.", "--kind", "preference")
    code, text, err = furnished("export", "--out", str(tmp_path / "some.jsonl"), "--kind", "preference", "--limit", "5")
    assert code == 0, err
    assert "1 memory" in text
    code, text, _ = furnished("export", "--out", str(tmp_path / "none.jsonl"), "--state", "archived")
    assert "0 memories" in text
    code, _, err = furnished("export", "--out", str(tmp_path / "bad.jsonl"), "--limit", "0")
    assert code != 0
    assert "limit" in err
    code, text, _ = furnished("import", str(tmp_path / "some.jsonl"), "--limit", "1", "--dry-run")
    assert code == 0
    assert "1 are here already" in text


def test_a_file_that_says_nothing_is_not_called_an_unknown_format(run, tmp_path, monkeypatch):  # noqa: F811
    empty, folder, closed = tmp_path / "empty.jsonl", tmp_path / "nothing", tmp_path / "closed.jsonl"
    empty.touch()
    folder.mkdir()
    closed.write_text('{"text": "The shed is green."}\n')
    assert f"{empty} is empty" in run("import", str(empty))[2]
    assert f"the folder {folder} is empty" in run("import", str(folder))[2]
    opened = Path.open

    def refusing(path, *args, **options):
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refusing)  # root may read everything
    for options in ([], ["--from", "jsonl"]):
        code, _, err = run("import", str(closed), *options)
        assert code == 2
        assert str(closed) in err
        assert "Permission denied" in err
