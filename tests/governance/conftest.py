import json

import pytest

import faces
from memoranda import Draft
from memoranda.domain.request import Request
from memoranda.governance.trust import derived
from memoranda.ledger.ledger import Keep


@pytest.fixture
def derive():
    """Keep something that was made of others, as our own code does."""

    def keep(memory, text, *parents, **fields):
        engine = faces.engine_of(memory)
        draft = Draft(text, **fields).checked(memory._scope, now=engine.clock.now(), max_text=8_000)
        made = derived(draft, [memory.get(parent) for parent in parents])
        return engine.ledger.remember([Keep(made)], scope=memory._scope, actor="test")[0].memory

    return keep


@pytest.fixture
def miss():
    """A recall, and what is noted of it when it finds nothing."""

    def ask(memory, query, **fields):
        request = Request.of({"query": query, "now": memory.now, **fields})
        found = memory._recaller.recall(request)
        memory._engine.misses.note(memory._scope, found.receipt)
        return found

    return ask


@pytest.fixture
def run(path, model_cache, monkeypatch, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""
    settings = {"STORE": path, "SCOPE": "home/anna", "CACHE": model_cache, "EMBEDDER": "none"}
    for name, value in settings.items():
        monkeypatch.setenv(f"MEMORANDA_{name}", str(value))

    return in_process


@pytest.fixture
def told(run):
    """The JSON that a command prints; it must succeed."""

    def runner(*argv):
        code, out, err = run(*argv, "--json")
        assert code == 0, out + err
        return json.loads(out)

    return runner
