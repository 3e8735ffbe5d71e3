"""The command `mirror`, for people and for programs."""

import json

import pytest

from memoranda import LongTermMemory
from memoranda.cli import app
from memoranda.service import mirroring


@pytest.fixture
def run(path, monkeypatch, capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_SCOPE", "home/anna")
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.setitem(app.MODULES, "mirror", "mirror")

    def verb(memory, folder, **options):
        return mirroring.mirror(memory._engine, memory._scope, folder, **options)

    monkeypatch.setattr(LongTermMemory, "mirror", verb, raising=False)

    def runner(*argv):
        code = app.run(list(argv))
        out, err = capsys.readouterr()
        return code, out, err

    return runner


@pytest.fixture
def folder(run, tmp_path):
    """The mirror of one fact."""
    run("remember", "The lamp is red.", "--kind", "fact")
    assert run("mirror", str(tmp_path / "mirror"))[0] == 0
    return tmp_path / "mirror"


def test_people_read_what_was_taken_and_written(run, folder):
    facts = folder / "home/anna/facts.md"
    facts.write_text(facts.read_text(encoding="utf-8").replace("red", "blue") + "prose\n", encoding="utf-8")
    code, out, err = run("mirror", str(folder), "--dry-run")
    assert code == 0
    assert out.startswith("would supersede\t")
    assert "home/anna/facts.md:7" in out
    code, out, err = run("mirror", str(folder))
    assert code == 0
    assert out.startswith("superseded\t")
    assert "1 memory in" in out
    assert "home/anna/facts.md:8: not a list item" in err
    assert "blue" not in out + err


def test_programs_read_the_receipt(run, folder):
    code, out, _ = run("mirror", str(folder), "--json")
    told = json.loads(out)
    assert code == 0
    assert told["path"] == str(folder.resolve())
    assert told["receipt"]["mode"] == "sync"
    assert told["receipt"]["unchanged"] == 1


def test_a_refusal_has_its_code_and_the_way_out(run, folder):
    (folder / "home/anna/facts.md").unlink()
    code, _, err = run("mirror", str(folder))
    assert code == 4
    assert "--confirm" in err
    code, out, _ = run("mirror", str(folder), "--confirm")
    assert code == 0
    assert out.startswith("forgotten\t")


def test_lost_files_come_back_and_files_of_nobody_are_told_together(run, folder):
    (folder / "home/anna/facts.md").unlink()
    for number in range(8):
        (folder / f"idea-{number}.md").write_text("- mine\n", encoding="utf-8")
    code, out, err = run("mirror", str(folder), "--export-only")
    assert code == 0
    assert "1 file written, 0 unchanged" in out
    assert "idea-4.md and 3 more (--json shows all): a mirror has no such file" in err


def test_a_folder_that_cannot_be_written_is_no_fault_of_ours(run, folder, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    code, _, err = run("mirror", str(tmp_path / "file" / "sub"))
    assert code == 4
    assert "cannot be opened for writing" in err
    assert "our fault" not in err


def test_a_folder_can_be_exported_to_and_let_go(run, folder):
    assert run("mirror", str(folder), "--export-only")[0] == 0
    code, out, _ = run("mirror", str(folder), "--detach")
    assert code == 0
    assert "no longer known" in out
