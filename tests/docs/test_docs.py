"""The documentation is run: every Python block, the README's shell blocks, and the generated pages."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guides").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def environment(tmp_path: Path, model_cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")}
    scripts = str(Path(sys.executable).parent)
    return {
        **kept,
        "HOME": str(tmp_path),
        "PATH": scripts + os.pathsep + kept.get("PATH", ""),
        "MEMORANDA_CACHE": str(model_cache),
        "PYTHONWARNINGS": "error",
    }


def run_in(folder: Path, model_cache: Path, *command: str) -> str:
    """What a command prints in an empty folder; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, env=environment(folder, model_cache), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_as_it_stands(page, tmp_path, model_cache):
    found = blocks(page, "python")
    # A page is read from top to bottom; so is its code. Only whole programs stand apart.
    programs = [code for code in found if "asyncio.run(" in code]
    story = "\n".join(code for code in found if code not in programs)
    for code in [story, *programs]:
        run_in(tmp_path, model_cache, sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("README.md", "Wolę szczegółowe odpowiedzi."),
        ("docs/guides/recall.md", "</relevant-memories"),
        ("docs/guides/structured-memory.md", "light.office"),
        ("docs/guides/around-a-turn.md", '"context"'),
        ("docs/guides/tools.md", "memory_store"),
        ("docs/guides/time.md", "auto-rollback-"),
        ("docs/guides/backup.md", ".memoranda"),
        ("docs/guides/moving-house.md", "memories"),
        ("docs/guides/governance.md", "heuristic-v1"),
        ("docs/guides/retention.md", "memories 1"),
        ("docs/guides/consolidation.md", "superseded 1"),
        ("docs/guides/conversations.md", "The herons are back"),
        ("docs/guides/documents.md", "#L"),
        ("docs/guides/access.md", "mem_"),
        ("docs/guides/mcp.md", "command"),
        ("docs/guides/hosts.md", "[mcp_servers.memoranda]"),
        ("docs/guides/claude-code.md", "hooks/hooks.json"),
    ],
)
def test_the_shell_commands_of_a_page_run_as_they_stand(page, shown, tmp_path, model_cache):
    commands = "\n".join(block for block in blocks(ROOT / page, "sh") if "make run" not in block)
    assert shown in run_in(tmp_path, model_cache, "bash", "-euo", "pipefail", "-c", commands)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_in_an_empty_folder(example, tmp_path, model_cache):
    assert run_in(tmp_path, model_cache, sys.executable, str(example)).strip()


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["settings.md", "cli.md", "errors.md", "schema.md"])
def test_a_reference_page_is_what_the_code_says(name):
    written = (ROOT / "docs/reference" / name).read_text(encoding="utf-8")
    assert written == generator().PAGES[name](), "run: python docs/generate.py"


def test_the_plugin_for_claude_code_is_what_the_code_says():
    folder, wanted = ROOT / "plugins/claude_code", generator().plugin_files()
    written = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert written == wanted, "run: python docs/generate.py"


def test_every_link_in_the_documentation_leads_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_decision_has_its_four_parts():
    for page in (ROOT / "docs/decisions").glob("0*.md"):
        text = page.read_text(encoding="utf-8")
        for heading in ("## Context", "## Decision", "## Consequences", "## When to reopen it"):
            assert heading in text, f"{page.name}: {heading}"
