"""The guided tour: remembers in one process, which ends, and recalls in another, with the receipt."""

import subprocess
import sys
import tempfile
from pathlib import Path

from memoranda.cli.output import Output

_SCOPE = "tour/anna"
_STEPS = (
    ("Keep three things. Each command is a process of its own, which ends at once.", None),
    (None, ["remember", "Anna prefers short answers.", "--kind", "preference"]),
    (None, ["remember", "Anna reads by light.bedroom_lamp.", "--about", "light.bedroom_lamp"]),
    (None, ["remember", "安娜决定每周三去游泳。", "--kind", "decision"]),
    ("A new process asks, in other words. --why prints the receipt: what was searched, and why this came.", None),
    (None, ["recall", "which lamp does she use for reading?", "--why"]),
    ("The same for a model, before it answers: bounded, quoted, marked as untrusted.", None),
    (None, ["pack", "which lamp does she use for reading?"]),
    ("Another language, by meaning.", None),
    (None, ["recall", "on which day does Anna go swimming?", "--limit", "1"]),
    ("Nothing relevant is an answer.", None),
    (None, ["recall", "what is the capital of Mongolia?"]),
    ("Another person's scope sees nothing of it.", None),
    (None, ["--scope", "tour/ben", "recall", "which lamp does she use for reading?"]),
    ("Erase, and read every byte of the store to prove it.", None),
    (None, ["erase", "--about", "light.bedroom_lamp", "--yes"]),
)


def tour(output: Output) -> int:
    """Run the steps on a store in a temporary folder; the exit code of the first that fails."""
    with tempfile.TemporaryDirectory(prefix="memoranda-tour-") as folder:
        store = str(Path(folder) / "tour.db")
        output.line("Memoranda: a short tour. The store is in a temporary folder and goes with it.")
        for text, command in _STEPS:
            if text is not None:
                output.line(f"\n# {text}")
            if command is None:
                continue
            options = ["--store", store] if "--scope" in command else ["--store", store, "--scope", _SCOPE]
            shown = " ".join(f'"{part}"' if " " in part or not part.isascii() else part for part in command)
            output.line(f"$ memoranda {shown}")
            sys.stdout.flush()
            done = subprocess.run([sys.executable, "-m", "memoranda", *options, *command], check=False)  # noqa: S603
            if done.returncode:
                return done.returncode
    output.line("\nThat was all. Next: README.md, `memoranda --help`, examples/.")
    return 0
