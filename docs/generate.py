"""Writes the reference pages and the plugin for Claude Code from the code: `python docs/generate.py`. Tests compare."""

import argparse
import inspect
import json
import re
import sys
import tempfile
from pathlib import Path

REFERENCE = Path(__file__).parent / "reference"
PLUGIN = Path(__file__).parents[1] / "plugins" / "claude_code"


def settings_page() -> str:
    from memoranda.config import Settings

    source = inspect.getsource(Settings)
    rows = []
    for name in Settings._fields:
        told = re.search(rf'\n    {name}: [^\n]+\n    """(.*?)"""', source, re.DOTALL)
        text = " ".join(told[1].split()) if told else ""
        default = Settings._field_defaults[name]
        rows.append(f"| `{name}` | `MEMORANDA_{name.upper()}` | `{default!r}` | {text} |")
    return "\n".join(
        [
            "# Settings",
            "",
            "Defaults, then the file `config.toml` in your configuration folder (or the one that `MEMORANDA_CONFIG`",
            "names), then the environment, then arguments. Keys of remote services are not settings: they come from",
            "the environment (`OPENAI_API_KEY`, `GEMINI_API_KEY`, `VOYAGE_API_KEY`, `MEMORANDA_EMBEDDER_KEY`,",
            "`MEMORANDA_EXTRACTOR_KEY`).",
            "",
            "| name | variable | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def cli_page() -> str:
    from memoranda.cli import app

    def help_of(parser: argparse.ArgumentParser) -> str:
        parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
        return parser.format_help().strip()

    whole = app.build_parser()
    commands = next(action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    parts = [
        "# Command line",
        "",
        "Text for people; `--json` for programs. Errors are a line and a hint on standard error, or with `--json` an",
        'object `{"error": {"name", "message", "hint"}}` on standard output. After a mistake in the options the usage',
        "is on standard error, too. Programs must ignore fields that they do not know.",
        "",
        "```text",
        help_of(whole),
        "```",
    ]
    for name, parser in commands.choices.items():
        parts += ["", f"## memoranda {name}", "", "```text", help_of(parser), "```"]
        for each in parser._actions:
            if isinstance(each, argparse._SubParsersAction):
                for action, below in each.choices.items():
                    parts += ["", f"### memoranda {name} {action}", "", "```text", help_of(below), "```"]
    return "\n".join([*parts, ""])


def errors_page() -> str:
    from memoranda.cli.app import exit_code
    from memoranda.domain import errors

    tree = inspect.getdoc(errors) or ""
    rows = []
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.MemorandaError):
            code = exit_code(kind("x"))
            rows.append(f"| `{name}` | {code} | {(inspect.getdoc(kind) or '').splitlines()[0]} | {kind.default_hint} |")
    return "\n".join(
        [
            "# Errors",
            "",
            "```text",
            tree,
            "```",
            "",
            "| error | exit code | when | hint unless a better one is given |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def schema_page() -> str:
    import apsw

    from memoranda.domain.clock import SystemClock
    from memoranda.ledger.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        Ledger(path, clock=SystemClock()).close()
        connection = apsw.Connection(str(path))
        found = connection.execute(
            "select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by rowid"
        ).fetchall()
        connection.close()
    statements = [inspect.cleandoc(str(row[0])).strip() + ";" for row in found]
    return "\n".join(
        [
            "# The ledger file",
            "",
            "One SQLite file, readable with any SQLite tool. Times are UTC in milliseconds; the views show ISO-8601.",
            "The views `entity_facts`, `preferences`, `profiles` and `memory_log` are there for reading; write through",
            "Memoranda.",
            "",
            "```sql",
            "\n\n".join(statements),
            "```",
            "",
        ]
    )


PAGES = {
    "settings.md": settings_page,
    "cli.md": cli_page,
    "errors.md": errors_page,
    "schema.md": schema_page,
}


def plugin_files() -> dict[str, str]:
    """The plugin for Claude Code as it stands in this repository: with the command that is on the PATH."""
    import memoranda
    from memoranda.hosts import claude_plugin
    from memoranda.hosts.launch import Launch

    listing = {
        "name": "memoranda",
        "owner": {"name": "Memoranda"},
        "metadata": {"description": "Long-term memory for Claude Code."},
        "plugins": [{"name": "memoranda", "source": "./", "description": "Long-term memory that stays with you."}],
    }
    found = claude_plugin.files(Launch(("memoranda",), version=memoranda.__version__))
    return {**found, ".claude-plugin/marketplace.json": json.dumps(listing, indent=2) + "\n"}


def main() -> int:
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
    for name, text in plugin_files().items():
        path = PLUGIN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
