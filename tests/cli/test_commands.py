"""The commands as a person or a program uses them."""

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest

from memoranda.cli import app
from memoranda.domain import errors


def test_every_field_can_be_given_and_comes_back(run):
    _, out, _ = run(
        "remember", "Evening brightness is 40 %.", "--kind", "preference", "--about", "lighting",
        "--attribute", "evening_brightness", "--value", '"40%"', "--context", "after_sunset", "--importance", "0.9",
        "--confidence", "0.8", "--source", "operator", "--source-ref", "panel", "--basis", "observed",
        "--speaker", "anna", "--conversation", "c1", "--tag", "home", "--tag", "light", "--lang", "en",
        "--metadata", '{"a": [1, null]}', "--occurred-at", "2026-03-01", "--valid-from", "2026-01-01T00:00:00Z",
        "--valid-until", "2099-01-01", "--json",
    )  # fmt: skip
    shown = json.loads(out)["memory"]
    _, out, _ = run("show", shown["id"][:8], "--json")
    assert json.loads(out) == shown
    assert shown["value"] == "40%"
    assert shown["tags"] == ["home", "light"]
    assert shown["metadata"] == {"a": [1, None]}
    assert shown["occurred_at"] == "2026-03-01T00:00:00.000Z"
    assert shown["grade"] == "must_remember"


def test_text_may_come_from_standard_input_one_memory_a_line(run):
    code, out, _ = run("remember", "-", "--lines", stdin="first thing\n\nsecond thing\n")
    assert code == 0
    assert out.count("remembered") == 2
    _, out, _ = run("list", "--json")
    assert json.loads(out)["total"] == 2


def test_forget_hides_restore_brings_back_and_history_tells(run, kept):
    code, out, _ = run("forget", kept, "--reason", "sold")
    assert code == 0
    assert "can be restored until" in out
    assert json.loads(run("list", "--json")[1])["total"] == 0
    assert json.loads(run("list", "--state", "any", "--json")[1])["total"] == 1
    assert run("restore", kept)[0] == 0
    assert run("archive", kept)[0] == 0
    actions = [line.split("\t")[2] for line in run("history", kept)[1].splitlines()]
    assert actions == ["remembered", "forgotten", "restored", "archived"]


def test_a_correction_supersedes_and_the_past_can_be_asked_for(run, kept):
    run("remember", "Anna reads by light.desk_lamp now.", "--supersedes", kept[:8])
    _, out, _ = run("recall", "which lamp does she read by", "--json")
    assert [hit["memory"]["text"] for hit in json.loads(out)["hits"]] == ["Anna reads by light.desk_lamp now."]
    assert json.loads(run("recall", "lamp", "--as-of", "2020-01-01", "--json")[1])["hits"] == []


def test_erase_asks_first_and_does_nothing_when_nobody_answers(run, kept):
    code, out, err = run("erase", kept, stdin="")
    assert code == 4
    assert "would erase 1" in out
    assert "--yes" in err
    assert run("show", kept)[0] == 0


def test_erase_with_yes_shows_its_proof(run, kept):
    code, out, _ = run("erase", "--about", "light.bedroom_lamp", "--yes", "--json")
    erased = json.loads(out)
    assert code == 0
    assert erased["purged"] is True
    assert erased["receipt"]["found"] == 0
    assert {scan["file"] for scan in erased["receipt"]["scanned"]} >= {"store.db", "CURRENT"} or erased["receipt"][
        "scanned"
    ]
    assert run("show", kept)[0] == 3


def test_erase_by_query_needs_the_code_of_the_preview_even_with_yes(run, kept):
    code, out, _ = run("erase", "--query", "bedroom lamp", "--yes", "--json", stdin="")
    assert code == 4
    shown = json.loads(out)
    assert shown["would_erase"] == [kept]
    assert run("erase", "--query", "bedroom lamp", "--confirm", "0123456789abcdef")[0] == 4
    assert run("erase", "--query", "bedroom lamp", "--confirm", shown["confirm"])[0] == 0
    assert run("show", kept)[0] == 3


def test_erase_by_scope_takes_what_lies_below(run):
    run("--scope", "home/anna/phone", "remember", "Anna's phone is a Pixel.")
    code, out, _ = run("erase", "--in-scope", "home/anna", "--yes", "--json")
    assert code == 0
    assert len(json.loads(out)["erased"]) == 1


@pytest.mark.parametrize(
    ("argv", "code", "name"),
    [
        (["show", "zzzzzzzzzzzzzzzzzzzz"], 3, "NotFound"),
        (["show", "not an id!"], 2, "InvalidInput"),
        (["remember", "   "], 2, "InvalidInput"),
        (["remember", "x", "--value", "{"], 2, "InvalidInput"),
        (["remember", "x", "--valid-until", "soon"], 2, "InvalidInput"),
        (["--scope", "../etc", "list"], 2, "InvalidInput"),
        (["--embedder", "nonsense:x", "recall", "x"], 2, "ConfigError"),
        (["--store", "/proc/nowhere/x.db", "remember", "x"], 6, "LedgerError"),
        (["--store", "typo.db", "list"], 3, "NotFound"),
        (["--store", "", "list"], 2, "InvalidInput"),
        (["--store", "x" * 300, "remember", "x"], 2, "InvalidInput"),
    ],
)
def test_an_error_has_its_exit_code_its_name_and_a_hint(run, kept, argv, code, name):
    given, out, _ = run(*argv, "--json")
    assert given == code
    shown = json.loads(out)["error"]
    assert shown["name"] == name
    assert shown["message"]
    assert shown["hint"]


def test_a_scope_is_needed(run, monkeypatch):
    monkeypatch.delenv("MEMORANDA_SCOPE")
    code, _, err = run("list")
    assert code == 2
    assert "--scope me" in err


def test_a_terminal_cannot_be_commanded_by_a_memory(run, monkeypatch):
    monkeypatch.setenv("MEMORANDA_INJECTION", "allow")
    run("remember", "red \x1b[31malert\x07 and \u202ereversed")
    for argv in (["list"], ["recall", "red alert"], ["recall", "red alert", "--why"]):
        _, out, _ = run(*argv)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "alert" in out


def test_the_store_can_be_looked_after(run, kept):
    assert json.loads(run("index", "status", "--json")[1])["self_test"] == "ok"
    assert run("index", "rebuild")[0] == 0
    assert run("optimize")[0] == 0
    assert run("maintain")[0] == 0
    assert json.loads(run("verify", "--json")[1])["ok"] is True
    code, out, _ = run("doctor")
    assert code == 0
    assert "FAIL" not in out


def test_doctor_names_the_fix(run, kept, path):
    path.chmod(0o644)
    code, out, _ = run("doctor")
    assert code == 6
    assert f"chmod 600 {path}" in out


def test_stats_count_by_scope_kind_and_state(run, kept):
    stats = json.loads(run("stats", "--json")[1])
    assert stats["total"] == 1
    assert stats["by_scope"] == {"home/anna": 1}


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_the_commands(run, shell):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert "remember" in out


def test_the_exit_code_table_covers_every_error():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.MemorandaError):
            assert app.exit_code(kind("x")) in range(1, 7)


def test_every_command_is_in_the_help_and_has_one(run):
    code, out, _ = run("--help")
    assert code == 0
    found = {}
    for module in dict.fromkeys(app.MODULES.values()):
        found.update(dict.fromkeys(import_module(f"memoranda.cli.{module}").COMMANDS, module))
    assert found == app.MODULES
    for name, module in found.items():
        assert name in out
        assert import_module(f"memoranda.cli.{module}").COMMANDS[name][0]


def test_a_command_alone_parses_like_among_all_others():
    argv = ["--store", "list", "recall", "x", "--limit", "3"]
    assert vars(app.build_parser("recall").parse_args(argv)) == vars(app.build_parser().parse_args(argv))


def test_a_settings_file_is_read_and_a_wrong_one_is_named(run, tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text('scope = "from/file"\n', encoding="utf-8")
    monkeypatch.setenv("MEMORANDA_CONFIG", str(file))
    monkeypatch.delenv("MEMORANDA_SCOPE")
    assert "in from/file" in run("remember", "hello there")[1]
    file.write_text("colour = 1\n", encoding="utf-8")
    code, _, err = run("list")
    assert code == 2
    assert "'colour', which is not a setting" in err


def environment(path, model_cache):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(path.parent),
        "MEMORANDA_STORE": str(path),
        "MEMORANDA_SCOPE": "home/anna",
        "MEMORANDA_CACHE": str(model_cache),
    }


def command(*argv, env, **options):
    return subprocess.run(
        [sys.executable, "-m", "memoranda", *argv], env=env, capture_output=True, text=True, check=False, **options
    )


def test_a_new_process_recalls_by_meaning_what_an_ended_one_remembered(path, model_cache):
    env = environment(path, model_cache)
    assert command("remember", "Wolę szczegółowe odpowiedzi.", "--kind", "preference", env=env).returncode == 0
    found = command("recall", "how detailed should answers be?", "--json", env=env)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["hits"][0]["memory"]["text"] == "Wolę szczegółowe odpowiedzi."


def test_the_tour_goes_through(path, model_cache):
    done = command("tour", env=environment(path, model_cache))
    assert done.returncode == 0, done.stderr
    assert "Anna reads by light.bedroom_lamp." in done.stdout
    assert "0 found" in done.stdout


def test_keeping_something_loads_neither_numpy_nor_rich(path, model_cache):
    code = (
        "import sys; from memoranda.cli import app; app.run(['remember', 'x y z']); "
        "print(sorted({'numpy', 'rich', 'asyncio', 'dataclasses'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(path, model_cache),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_output_that_nobody_reads_to_the_end_is_no_error(path, model_cache):
    env = environment(path, model_cache)
    lines = "\n".join(f"thing number {number}" for number in range(2000))
    command("remember", "-", "--lines", env=env, input=lines)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m memoranda list --limit 1000 | head -1"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
