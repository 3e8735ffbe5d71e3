"""The home of the index in LanceDB: what it refuses, and several processes that share it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from memoranda.domain.errors import ConfigError, ProviderMissing
from memoranda.index.lancedb import home as lance_home
from memoranda.index.lancedb.home import open_home
from memoranda.index.probe import probe
from memoranda.ledger.locking import held
from memoranda.testing.index_entries import ask, entry, numbers

_WRITER = """
import json, sys
from pathlib import Path
from memoranda.index.lancedb.home import open_home
from memoranda.ledger.locking import held
from memoranda.testing.index_entries import entry
folder = Path(sys.argv[1])
hold = lambda name, patience=0.0: held(folder / f"lock-{name}", patience=patience)
index = open_home(str(folder / "lance"), "one", {}, local_path=folder / "local", hold=hold).open("x")
number = index.sequence
while True:
    number += 1
    index.apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=number, mark=str(number))
    print(json.dumps(number), flush=True)
"""


def _refused(tmp_path, **given):
    values = {"address": str(tmp_path), "corpus": "one", "options": {}, **given}
    with pytest.raises((ConfigError, ProviderMissing)) as caught:
        open_home(
            values.pop("address"), values.pop("corpus"), values.pop("options"), local_path=tmp_path, hold=held, **values
        )
    return f"{caught.value} {caught.value.hint}"


def test_without_the_extra_it_is_said_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_home, "find_spec", lambda name: None)
    assert 'pip install "memoranda[lancedb]"' in _refused(tmp_path)


def test_a_secret_among_the_options_is_refused_and_not_repeated(tmp_path):
    told = _refused(tmp_path, options={"aws_secret_access_key": "s3cr3t-value"})
    assert "AWS_SECRET_ACCESS_KEY" in told
    assert "s3cr3t-value" not in told


def test_an_encrypted_store_keeps_its_index_out_of_lancedb(tmp_path):
    assert "embedded" in _refused(tmp_path, encrypted=True)


def test_a_place_must_be_named(tmp_path):
    assert "lancedb:FOLDER" in _refused(tmp_path, address="")


def test_a_corpus_has_a_name_that_is_a_name(tmp_path):
    for name in ("", "../x", "a b", "A"):
        _refused(tmp_path, corpus=name)


def test_lancedb_is_not_loaded_before_it_is_needed():
    code = (
        "import sys, memoranda, memoranda.index.lancedb.home; print('lancedb' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment())
    assert done.stdout.split() == ["False", "False"]


def test_the_probe_lets_it_pass(homes):
    index = homes().open("x")
    probe(index, dimensions=64)
    assert index.counts().entries == 0
    assert index.standing == (0, "")
    assert index.health().owed == 0


@pytest.mark.timeout(120)
def test_one_process_applies_while_another_searches_and_is_killed_at_any_moment(homes, tmp_path):
    index = homes().open("x")
    acknowledged = 0
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=_environment()
        )
        for _ in range(6):
            acknowledged = json.loads(writer.stdout.readline())
            found = sorted(numbers(ask(index, "lamp", pool=500)))
            assert found == list(range(1, len(found) + 1)), "all of an apply, or nothing"
            assert len(found) >= acknowledged
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        sequence, mark = index.standing
        assert sequence >= acknowledged
        assert mark == str(sequence)
        assert index.counts().entries == sequence
    assert index.apply(put=[entry(900, "a boat")], drop=(), sequence=sequence + 1, after=sequence)


def _environment():
    return {**os.environ, "PYTHONPATH": str(Path(memoranda.__file__).parents[1])}
