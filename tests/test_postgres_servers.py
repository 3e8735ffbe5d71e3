"""The servers that tests of PostgreSQL rely on: a kill is a kill, a standby has everything, and none is left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import postgres
from postgres import Cluster

pytestmark = pytest.mark.postgres


def test_what_was_acknowledged_is_there_after_a_kill():
    with Cluster() as cluster:
        cluster.sql("create schema a authorization memoranda")
        cluster.sql("create table a.b (v vector(2))", user="memoranda")
        cluster.sql("insert into a.b values ('[1,2]')", user="memoranda")
        cluster.kill()
        assert not cluster.running
        cluster.start()
        assert cluster.sql("select v::text from a.b", user="memoranda") == [("[1,2]",)]
        assert not cluster.sql("select rolsuper from pg_roles where rolname = 'memoranda'")[0][0]


def test_a_promoted_standby_has_all_that_the_primary_acknowledged():
    with Cluster() as primary:
        standby = primary.standby()
        primary.sql("create table heard (number int)")
        primary.sql("insert into heard values (7)")
        primary.kill()
        standby.promote()
        standby.sql("insert into heard values (8)")
        assert standby.sql("select number from heard order by 1") == [(7,), (8,)]


def test_a_server_ends_with_the_process_that_started_it():
    code = (
        "import os, signal\n"
        "from postgres import Cluster\n"
        "cluster = Cluster().start()\n"
        "print(cluster.pid, cluster.folder, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    paths = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=False)
    pid, folder = done.stdout.split()
    patience = time.monotonic() + 60
    while os.path.exists(f"/proc/{pid}/exe") or Path(folder).exists():
        assert time.monotonic() < patience, "it is still there"
        time.sleep(0.2)


def test_the_tables_of_a_schema_are_read_from_the_disk():
    shared = postgres.shared()
    shared.sql("create schema seen_on_disk")
    try:
        shared.sql("create table seen_on_disk.words (text text)")
        shared.sql("insert into seen_on_disk.words values ('a heron by the lake')")
        found = shared.relations("seen_on_disk")
        assert [name for name, content in found if b"heron by the lake" in content] == ["words"]
    finally:
        shared.sql("drop schema seen_on_disk cascade")
