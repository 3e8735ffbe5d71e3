import json

import pytest


@pytest.fixture
def run(path, model_cache, monkeypatch, in_process):
    """Run a command in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("MEMORANDA_STORE", str(path))
    monkeypatch.setenv("MEMORANDA_SCOPE", "home/anna")
    monkeypatch.setenv("MEMORANDA_CACHE", str(model_cache))
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")

    return in_process


@pytest.fixture
def kept(run):
    """The id of one memory."""
    _, out, _ = run("remember", "Anna reads by light.bedroom_lamp.", "--about", "light.bedroom_lamp", "--json")
    return json.loads(out)["memory"]["id"]


@pytest.fixture
def household(run):
    """Lamps of several kinds, speakers and times: the id of each."""
    things = {
        "plain": ["The lamp in the hall is broken.", "--speaker", "anna", "--occurred-at", "2024-03-01"],
        "preference": ["Anna prefers a warm lamp.", "--kind", "preference", "--importance", "0.9", "--tag", "home"],
        "decision": ["We buy a new lamp.", "--kind", "decision", "--tag", "home", "--tag", "money", "--speaker", "ben"],
        "entity": ["The desk lamp is light.desk.", "--kind", "entity", "--about", "light.desk", "--source", "operator"],
        "web": ["A lamp uses forty watts.", "--source", "web"],
    }
    return {name: json.loads(run("remember", *fields, "--json")[1])["memory"]["id"] for name, fields in things.items()}
