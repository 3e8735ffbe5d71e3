"""What several test folders share: opening stores, child processes, and a scan of bytes that owes nothing to src."""

import json
import os
import subprocess
import sys
from pathlib import Path

import faces
import memoranda
from memoranda import Settings
from memoranda.embedding import registry
from memoranda.testing.fakes import HashedEmbedder

SCOPE = "home/anna"
CHILDREN = Path(__file__).parent / "children"


def register_test_embedders():
    """`hashed:<model>` by name, in this process."""
    registry._PROVIDERS["hashed"] = lambda model, settings: HashedEmbedder(model or "words")


def open_store(path, scope=SCOPE, *, clock=None, **settings):
    """A store that reads no settings of the machine and works by words, with no thread of its own, unless told."""
    chosen = Settings(**{"embedder": "none", "follow": False, **settings})
    return faces.opened(path, scope=scope, settings=chosen, clock=clock)


def files_of(path):
    """Every file of a store."""
    path = Path(path)
    beside = list(path.parent.glob(path.name + "*"))
    below = [file for folder in beside if folder.is_dir() for file in folder.rglob("*")]
    return sorted(file for file in (*beside, *below) if file.is_file())


def occurrences(path, *needles):
    """(file, needle) for each needle that is in a file of the store: plain bytes, plain find. Of a store in PostgreSQL
    its tables and indexes are such files; the server's log of changes is not its own."""
    found = []
    for name, content in (*((file.name, file.read_bytes()) for file in files_of(path)), *faces.tables_of(path)):
        for needle in needles:
            raw = needle if isinstance(needle, bytes) else needle.encode()
            if content.find(raw) >= 0:
                found.append((name, needle))
    return found


def child(name, *args, **options):
    """Start a script of tests/children. Its lines come over stdout."""
    paths = [str(Path(memoranda.__file__).parents[1]), str(Path(__file__).parent)]
    return subprocess.Popen(
        [sys.executable, str(CHILDREN / f"{name}.py"), *(str(arg) for arg in args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **faces.for_children(), "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)},
        **options,
    )


def finish(process, *, timeout=120):
    """Its exit code must be 0; its lines, each read as JSON."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, f"exit {process.returncode}\n{out[-2000:]}\n{err[-4000:]}"
    return [json.loads(line) for line in out.splitlines()]


def answer(process):
    """The next line that a child says."""
    line = process.stdout.readline()
    assert line, f"the child said nothing: {process.stderr.read()[-4000:]}"
    return json.loads(line)


def tell(process, line):
    """A line to a child."""
    process.stdin.write(line + "\n")
    process.stdin.flush()


def end(process):
    """Kill a child, whatever it does, and close its pipes."""
    if process.poll() is None:
        process.kill()
    process.communicate()


def ids(recalled):
    """The ids that came back, in order."""
    return [hit.id for hit in recalled]


def quarantine(memory, kept):
    """As an operator would do it, once there is a verb for it."""
    engine = faces.engine_of(memory)
    for table, key in (("memory", "number"), ("revision", "number")):
        statement = f"update {table} set trust = 'quarantined' where {key} = (select number from memory where id = ?)"
        engine.ledger.database.write(lambda connection, sql=statement: connection.execute(sql, (kept.id,)).fetchall())
    return kept


def as_pairs(recalled):
    """What two recalls must share to be the same: ids and scores, in order."""
    return [(hit.id, hit.score) for hit in recalled]
