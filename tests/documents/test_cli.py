"""`memoranda documents`: each action for people and for programs, and errors with the next step."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cli.conftest import run as run

ENVIRONMENT = {"MEMORANDA_SCOPE": "home/anna", "MEMORANDA_EMBEDDER": "none", "MEMORANDA_WATCH_DEBOUNCE_MS": "50"}


@pytest.fixture
def added(run, notes):
    code, out, _ = run("documents", "add", str(notes), "--json")
    assert code == 0
    return json.loads(out)


def test_adding_a_folder_reads_it(added, notes):
    assert added["source"]["name"] == "notes"
    assert added["source"]["root"] == str(notes)
    assert added["synced"]["added"] == 3


def test_without_an_action_the_folders_are_listed(run, added):
    assert run("documents")[1].split("\t")[:3] == ["notes", "home/anna", "untrusted"]
    assert json.loads(run("documents", "list", "--json")[1])["sources"] == [added["source"]]


def test_a_search_shows_what_to_cite(run, added):
    code, out, _ = run("documents", "search", "where is the boiler manual?")
    assert code == 0
    assert "boiler.md#L1-L3 (untrusted)" in out
    hit = json.loads(run("documents", "search", "boiler manual", "--limit", "1", "--json")[1])["hits"][0]
    assert (hit["citation"], hit["source"]) == ("boiler.md#L1-L3", "notes")
    assert "nothing cleared the bar" in run("documents", "search", "quantum chromodynamics")[1]
    assert run("documents", "search", "-", stdin="boiler manual")[1] == run("documents", "search", "boiler manual")[1]


def test_what_is_in_a_document_cannot_command_a_terminal(run, added, write):
    write("boiler.md", "The boiler manual \x1b[2J\x07 is gone.")
    run("documents", "sync")
    for out in (run("documents", "search", "boiler manual")[1], run("documents", "read", "boiler.md")[1]):
        assert "boiler manual" in out
        assert "\x1b" not in out


def test_lines_can_be_read(run, added):
    assert run("documents", "read", "lamps.md", "--from", "3", "--lines", "1")[1] == "Anna reads by the desk lamp.\n"
    assert "--from 4" in run("documents", "read", "lamps.md", "--from", "3", "--lines", "1")[2]
    assert json.loads(run("documents", "read", "boiler.md#L3-L3", "--json")[1])["from"] == 3
    code, _, err = run("documents", "read", "../store.db")
    assert code == 4
    assert "within the folder" in err


def test_status_is_for_people_and_for_programs(run, added):
    assert "Indexed: 3/3 files · 3 chunks" in run("documents", "status")[1]
    assert json.loads(run("documents", "status", "--json")[1])["files"] == 3


def test_a_sync_tells_what_it_did(run, added, write, notes):
    write("cat.md", "The cat is called Mruczek.")
    (notes / "boiler.md").unlink()
    out = run("documents", "sync")[1]
    assert "files: 1 added, 1 removed, 2 unchanged" in out
    assert json.loads(run("documents", "sync", "--full", "--json")[1])["why"] == "rebuild"


def test_a_sync_that_could_not_read_all_says_so_with_its_exit_code(run, added, notes, tmp_path):
    (notes / "junk.md").write_bytes(bytes(range(128, 256)) * 40)
    code, out, _ = run("documents", "sync")
    assert code == 6
    assert "could not be read: notes: junk.md: this is not text" in out
    assert run("documents", "add", str(notes))[0] == 6
    assert "junk.md" in run("documents", "status")[1]
    (notes / "junk.md").unlink()
    assert run("documents", "sync")[0] == 0
    notes.rename(tmp_path / "away")
    assert run("documents", "sync", "--full")[0] == 6
    code, out, err = run("documents", "search", "boiler manual")
    assert (code, "boiler.md#L1-L3" in out) == (0, True)
    assert "folder of notes is not there" in err
    assert "documents remove notes" in err


@pytest.mark.parametrize(("files", "named", "more"), [(6, 6, False), (7, 5, True)])
def test_one_more_line_is_shown_rather_than_counted(run, added, notes, files, named, more):
    for number in range(files):
        (notes / f"large-{number}.md").write_text("x" * 1_100_000)
    out = run("documents", "sync")[1]
    assert (out.count("skipped: notes: large-"), "more; --json shows all" in out) == (named, more)


def test_a_bar_on_the_command_line_is_a_bar(run, added):
    assert "boiler.md" in run("documents", "search", "boiler manual cellar attic")[1]
    assert (
        "nothing cleared the bar" in run("documents", "search", "boiler manual cellar attic", "--min-score", "0.9")[1]
    )


def test_removing_is_proven(run, added, notes):
    code, out, _ = run("documents", "remove", "notes")
    assert code == 0
    assert "purged notes: 3 files, 3 chunks" in out
    assert "0 found" in out
    assert json.loads(run("documents", "list", "--json")[1]) == {"sources": []}


@pytest.mark.parametrize(
    ("argv", "code", "told"),
    [
        (("add", "nowhere"), 3, "Make the folder first"),
        (("add", ".", "--pattern", "../*.md"), 2, "leads out of the folder"),
        (("remove", "nothing"), 3, "documents list"),
        (("search", "x", "--source", "nothing"), 3, "documents list"),
        (("search", "x", "--limit", "0"), 2, "limit"),
    ],
)
def test_errors_say_what_to_do_next(run, added, argv, code, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given, _, err = run("documents", *argv)
    assert (given, told in err) == (code, True), err


def test_watching_tells_of_each_sync_until_it_is_interrupted(run, added, path, notes):
    command = [sys.executable, "-m", "memoranda", "documents", "watch", "--json"]
    environment = {**os.environ, **ENVIRONMENT, "MEMORANDA_STORE": str(path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert "watching" in process.stderr.readline()
        time.sleep(0.5)
        (notes / "cat.md").write_text("The cat is called Mruczek.")
        assert json.loads(process.stdout.readline())["added"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
    finally:
        process.kill()
        process.communicate()
