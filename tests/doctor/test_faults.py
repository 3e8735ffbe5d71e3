"""Each fault is put into a real store; `doctor` names it on the right line with the way out, and is well after it."""

import json
import os
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import apsw
import pytest

from memoranda import Settings
from memoranda.index.embedded import EmbeddedIndex
from memoranda.service import importing
from memoranda.service.admin import Admin
from memoranda.service.corpus import Corpus
from memoranda.service.doctor import examine
from memoranda.service.memory import LongTermMemory
from support import open_store

PLAIN = {"embedder": "none", "follow": False, "sweep": False}


@pytest.fixture
def kept(path, clock):
    """A store with a few memories, closed again."""
    with open_store(path, clock=clock, sweep=False) as memory:
        for number in range(3):
            memory.remember(f"Heron number {number} nests on the lake.")
        memory.recall("herons")
    return path


@pytest.fixture
def look(path, clock):
    """What doctor says: the lines that are not well, by name; `fix=True` mends first."""

    def looked(fix=False, **settings):
        return examine(Settings(**{**PLAIN, "store": str(path), **settings}), clock, fix=fix)

    return looked


def ill(verification):
    return {check.name: check for check in verification.checks if not check.ok}


def backed_up(path, clock, target):
    """A real backup, with its note; its path."""
    target.parent.mkdir(mode=0o700, exist_ok=True)
    with open_store(path, clock=clock, sweep=False) as memory:
        memory.admin.backup(target)
    return target


def ruin(target, how):
    content = target.read_bytes()
    middle = len(content) // 2
    if how == "cut":
        content = content[:middle]
    elif how == "emptied":
        content = b""
    elif how == "overwritten in the middle":
        content = content[:middle] + bytes(512) + content[middle + 512 :]
    else:
        content = b"shopping list" + content[13:]
    target.write_bytes(content)


@pytest.mark.parametrize("note", [True, False])
@pytest.mark.parametrize("how", ["cut", "emptied", "overwritten in the middle", "overwritten at the beginning"])
def test_a_backup_that_was_ruined_is_named(kept, look, clock, how, note):
    target = backed_up(kept, clock, kept.with_name(f"{kept.name}-backups") / "good.memoranda")
    assert look().ok
    ruin(target, how)
    if not note:
        target.with_name(f"{target.name}.json").unlink()
    found = ill(look())
    assert "good.memoranda" in found.pop("backups").detail
    assert set(found) <= {"erasures"}
    assert "memoranda backup" in ill(look())["backups"].fix
    clock.advance(days=1)
    target.unlink()
    backed_up(kept, clock, target.with_name("better.memoranda"))
    assert look().ok


def test_a_store_that_is_well_is_said_to_be(kept, look):
    verification = look()
    assert verification.ok, ill(verification)
    names = {check.name for check in verification.checks}
    promised = {
        "environment", "extras", "permissions", "disk", "leftovers", "clock", "embedder", "capture", "file", "index",
        "isolation", "self-test", "lag", "vectors", "space", "forgotten", "maintenance", "imports", "backups",
    }  # fmt: skip
    assert promised <= names


# -- the files --


@pytest.mark.skipif(os.name == "nt", reason="modes of files are of POSIX")
@pytest.mark.parametrize("which", ["the ledger", "the index", "its folder", "a backup"])
def test_what_others_may_read_is_named_and_closed(kept, look, clock, which):
    backups = kept.with_name(f"{kept.name}-backups")
    backed_up(kept, clock, backups / "old.memoranda")
    folder = kept.with_name(f"{kept.name}-index")
    target = {
        "the ledger": kept,
        "the index": next(folder.glob("index-*.db")),
        "its folder": folder,
        "a backup": backups / "old.memoranda",
    }[which]
    target.chmod(0o755 if target.is_dir() else 0o644)
    found = ill(look())
    assert set(found) == {"permissions"}
    assert target.name in found["permissions"].detail
    assert found["permissions"].fix.startswith(f"chmod {'700' if target.is_dir() else '600'} {target}")
    mended = look(fix=True)
    assert mended.ok
    assert len(mended.repaired) == 1
    assert mended.repaired[0].endswith("closed to others")
    assert not target.stat().st_mode & 0o077


def test_what_is_called_alike_or_lies_among_the_backups_is_no_business_of_it(kept, look, tmp_path):
    shared = tmp_path / "nas"
    alike = (kept.with_name(f"{kept.name}2"), kept.with_name(f"{kept.name}-video") / "film.part")
    for other in (*alike, shared / "a.jpg"):
        other.parent.mkdir(mode=0o755, exist_ok=True)
        other.touch(mode=0o644)
    shared.chmod(0o755)
    assert look(fix=True, backups=str(shared)).repaired == ()
    assert (shared / "a.jpg").stat().st_mode & 0o777 == 0o644
    assert shared.stat().st_mode & 0o777 == 0o755


def test_what_killed_work_left_behind_is_named_and_removed(kept, look):
    backups = kept.with_name(f"{kept.name}-backups")
    backups.mkdir(mode=0o700)
    old, young = backups / ".a.memoranda.part", backups / ".b.memoranda.part"
    for each in (old, young):
        each.touch(mode=0o600)
    long_ago = time.time() - 7_200
    os.utime(old, (long_ago, long_ago))
    found = ill(look())
    assert set(found) == {"leftovers"}
    assert old.name in found["leftovers"].detail
    assert "--fix" in found["leftovers"].fix
    assert look(fix=True).ok
    assert not old.exists()
    assert young.exists()  # somebody may be at it


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_disk_that_is_nearly_full_is_named(tmp_path, clock):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        with open_store(disk / "store.db", clock=clock) as memory:
            memory.remember("Herons nest on the lake.")
        settings = Settings(**{**PLAIN, "store": str(disk / "store.db")})
        found = ill(examine(settings, clock))
        assert set(found) == {"disk"}
        assert "Free some space" in found["disk"].fix
    finally:
        subprocess.run(["umount", disk], check=True)


# -- the ledger --


def test_a_page_that_was_damaged_is_named_with_the_way_back(kept, look, clock):
    backups = kept.with_name(f"{kept.name}-backups")
    backed_up(kept, clock, backups / "store-20260101.memoranda")
    clock.advance(days=1)
    ruin(backed_up(kept, clock, backups / "store-20260102.memoranda"), "cut")
    size = kept.stat().st_size
    with kept.open("r+b") as file:
        for page in range(1, size // 4096):
            file.seek(page * 4096)
            file.write(os.urandom(64))
    found = ill(look())
    assert set(found) <= {"file", "store"}
    assert any("estore" in check.fix for check in found.values())
    assert any("store-20260101.memoranda" in check.fix for check in found.values() if check.name == "store") or (
        "file" in found
    )
    assert not any("store-20260102.memoranda" in check.fix for check in found.values() if check.name == "store")


def test_a_store_of_a_newer_version_is_named_and_left_alone(kept, look):
    connection = apsw.Connection(str(kept))
    connection.execute("insert into migration (name, applied_at) values ('m999_future', 0)")
    connection.close()
    before = kept.read_bytes()
    found = ill(look(fix=True))
    assert set(found) == {"store"}
    assert "Upgrade" in found["store"].fix
    assert kept.read_bytes() == before


def test_a_file_that_is_no_ledger_is_named_and_left_alone(path, look):
    path.write_bytes(b"shopping list: milk, eggs, flour\n" * 200)
    path.chmod(0o600)
    found = ill(look(fix=True))
    assert set(found) == {"store"}
    assert path.read_bytes().startswith(b"shopping list")


def test_a_clock_that_was_put_back_is_named(kept, look, clock):
    clock.advance(days=-3)
    found = ill(look())
    assert set(found) == {"clock"}
    assert "Set the clock" in found["clock"].fix
    clock.advance(days=3)
    assert look().ok


# -- what is searched --


def test_rows_that_the_index_lost_are_named_and_made_anew(kept, look):
    connection = apsw.Connection(str(next(kept.with_name(f"{kept.name}-index").glob("index-*.db"))))
    connection.execute("delete from entry")
    connection.close()
    found = ill(look())
    assert "index" in found
    assert "index rebuild" in found["index"].fix
    mended = look(fix=True)
    assert mended.ok, ill(mended)
    assert "the index is made anew" in mended.repaired


@pytest.fixture
def service():
    """A service for embeddings that answers as it is told to: a status and a body, or nothing at all."""
    told = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            if "status" not in told:
                told["over"].wait(60)
                return
            body = told["body"].encode()
            self.send_response(told["status"])
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.update(url=f"http://127.0.0.1:{server.server_port}/v1", over=threading.Event())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield told
    told["over"].set()
    server.shutdown()
    thread.join(60)
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "why", "way_out"),
    [
        (401, "{}", "the key was refused", "Set OPENAI_API_KEY"),
        (404, '{"error": {"message": "no such model"}}', "no such model", "the model's name"),
        (429, "{}", "status 429", "too often"),
        (500, "{}", "status 500", "look at its log"),
        (200, "<html>welcome</html>", "not JSON", "leads to something else"),
        (200, '{"data": []}', "wrong number of vectors", "choose another"),
        (None, "", "no answer in time", "raise query_timeout"),
    ],
)
def test_what_is_wrong_with_the_embedder_is_told_and_not_that_it_is_left_alone(
    kept, look, service, monkeypatch, status, body, why, way_out
):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-good-one")
    service.update({} if status is None else {"status": status, "body": body})
    settings = {"embedder": "openai:small", "embedder_url": service["url"], "query_timeout": 1.0}
    for _ in range(2):  # once it has failed it is left alone, which says nothing of what is wrong
        found = ill(look(**settings))["embedder"]
        assert why in found.detail
        assert way_out in found.fix
    service.update(status=200, body=json.dumps({"data": [{"index": 0, "embedding": [0.6, 0.8]}]}))
    assert "embedder" not in ill(look(**settings)), "it is well again, and that shows at once"


@pytest.mark.parametrize(
    ("url", "way_out"),
    [("http://127.0.0.1:9/v1", "Nobody listens at"), ("http://nowhere.invalid/v1", "is not known")],
)
def test_an_embedder_that_is_out_of_reach_is_named(kept, look, url, way_out):
    settings = {"embedder": "openai:small", "embedder_url": url, "query_timeout": 1.0}
    found = ill(look(**settings))
    assert way_out in found["embedder"].fix
    assert url in found["embedder"].fix


def test_it_is_the_configured_embedder_that_is_asked_and_what_waits_for_it_says_so(path, look, clock):
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        memory.remember("Herons nest on the lake.")
        memory.recall("herons")
    settings = {"embedder": "openai:small", "embedder_url": "http://127.0.0.1:9/v1", "query_timeout": 1.0}
    found = ill(look(**settings))
    assert {"embedder", "space"} <= set(found)
    assert "openai" in found["embedder"].detail
    assert "once the embedder answers" in found["space"].fix
    tried = look(fix=True, **settings)
    assert tried.repaired == ()
    assert {"embedder", "space"} <= set(ill(tried))


def test_what_could_not_be_mended_says_why_on_its_line(kept, look, monkeypatch):
    monkeypatch.setattr(Admin, "_self_test", lambda self: "words are lost")

    def failing(self, progress=None):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Corpus, "rebuild", failing)
    tried = look(fix=True)
    assert tried.repaired == ()
    assert ill(tried)["self-test"].detail.endswith("not mended: [Errno 28] No space left on device")


def test_a_probe_that_is_not_found_is_mended_by_a_new_index(kept, look, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(LongTermMemory, "recall", lambda self, query, **_: [])
        found = ill(look())
        assert set(found) == {"isolation"}
        assert "--fix" in found["isolation"].fix
        assert look(fix=True).repaired == ("the index is made anew",)
    assert look().ok


def test_many_missing_vectors_are_named_and_made(path, look, clock):
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        memory.remember_many([f"Heron {number} nests at place {number * 7}." for number in range(150)])
        memory.admin.maintain()
    ledger = apsw.Connection(str(path))
    ledger.execute("delete from vector")
    ledger.close()
    index = apsw.Connection(str(next(path.with_name(f"{path.name}-index").glob("index-*.db"))))
    index.close()
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        memory._engine.embedders.forget([])
        memory._engine.memories.home.discard()
    found = ill(look(embedder="hashed:words"))
    assert set(found) <= {"vectors"}
    mended = look(fix=True, embedder="hashed:words")
    assert mended.ok, ill(mended)


@pytest.mark.parametrize("body", [b"\xff" * 64, b"\x00" * 512, b"short"], ids=["not finite", "nothing", "short"])
def test_a_damaged_vector_is_named_and_made_anew(path, look, clock, body):
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        memory.remember_many([f"Heron {number} nests at place {number * 7}." for number in range(5)])
        memory.admin.maintain()
    ledger = apsw.Connection(str(path))
    [(whole,)] = ledger.execute("select body from vector where number = 3").fetchall()
    written = body if body == b"short" else (body + whole[len(body) :] if any(body) else bytes(len(whole)))
    ledger.execute("update vector set body = ? where number = 3", (written,))
    ledger.close()
    found = ill(look(embedder="hashed:words"))
    assert set(found) == {"vectors"}
    assert found["vectors"].detail == "1 is damaged"
    assert "--fix" in found["vectors"].fix
    mended = look(fix=True, embedder="hashed:words")
    assert mended.ok, ill(mended)
    assert mended.repaired == ("1 damaged vectors are made anew",)
    ledger = apsw.Connection(str(path))
    assert ledger.execute("select body from vector where number = 3").fetchall() == [(whole,)]
    ledger.close()


def test_an_index_that_does_not_stop_at_the_scope_is_named(kept, look, monkeypatch):
    real = EmbeddedIndex.search

    def careless(self, query):
        with self._database.read() as connection:
            everywhere = tuple(str(row[0]) for row in connection.execute("select path from scope"))
        return real(self, query._replace(scopes=everywhere))

    monkeypatch.setattr(EmbeddedIndex, "search", careless)
    found = ill(look())
    assert "isolation" in found
    assert "the index" in found["isolation"].detail
    assert "Stop serving" in found["isolation"].fix


def test_the_probe_leaves_nothing_behind(kept, look, clock):
    with open_store(kept, clock=clock, sweep=False) as memory:
        before = memory.contents(below=True).digest, memory.stats().total
    look()
    with open_store(kept, clock=clock, sweep=False) as memory:
        assert (memory.contents(below=True).digest, memory.stats().total) == before
    connection = apsw.Connection(str(kept), flags=apsw.SQLITE_OPEN_READONLY)
    for table in ("memory", "tombstone"):
        rows = connection.execute(f"select count(*) from {table} where scope like 'memoranda.probe%'").fetchone()
        assert rows == (0,)
    connection.close()


def test_what_a_killed_probe_left_is_cleared_by_the_next(kept, look, clock):
    with open_store(kept, "memoranda.probe/abcd", clock=clock) as memory:
        memory.remember("The probe abcd quiet violin of memoranda.probe/abcd.", source="system")
    look()
    clock.advance(ms=3_600_001)
    assert look().ok
    with open_store(kept, "memoranda.probe/abcd", clock=clock) as memory:
        assert memory.stats().total == 0


# -- in time --


def test_what_should_have_been_erased_is_named(kept, look, clock):
    with open_store(kept, clock=clock, sweep=False) as memory:
        memory.forget(memory.list()[0])
    clock.advance(days=31)
    with open_store(kept, clock=clock, sweep=False) as memory:
        memory.admin.optimize()  # whatever else, the maintenance is not overdue because of this test's clock
    found = ill(look())
    assert "forgotten" in found
    assert found["forgotten"].fix == "Run: memoranda maintain"
    with open_store(kept, clock=clock, sweep=False) as memory:
        memory.admin.maintain()
    assert look().ok


def test_a_maintenance_that_is_overdue_or_failed_is_named(kept, look, clock, monkeypatch):
    clock.advance(days=31)
    assert ill(look())["maintenance"].fix == "Run: memoranda maintain"
    with open_store(kept, clock=clock, sweep=False) as memory:
        memory.admin.maintain()
        assert memory.admin.upkeep()[0].at == clock.now()
        assert look().ok
        monkeypatch.setattr(type(memory._engine.ledger), "expire", lambda self, **_: (_ for _ in ()).throw(OSError(5)))
        with pytest.raises(OSError, match="5"):
            memory.admin.maintain()
    assert "OSError" in ill(look())["maintenance"].detail


def test_an_import_that_was_not_ended_is_named(kept, look):
    connection = apsw.Connection(str(kept))
    connection.execute(
        "insert into import_run (id, scope, format, digest, started_at, updated_at) "
        "values ('r', 'home', 'own', x'00', 0, 0)"
    )
    connection.close()
    found = ill(look())
    assert set(found) == {"imports"}
    assert "goes on where it was" in found["imports"].fix


@pytest.mark.parametrize("then", ["undone", "rolled back", "begun anew", "gone on with"])
def test_an_import_that_was_taken_back_or_begun_anew_is_not_waited_for(kept, look, clock, tmp_path, monkeypatch, then):
    monkeypatch.setattr(importing, "_BATCH", 5)
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps({"text": f"Fact number{each} of the house."}) + "\n" for each in range(12)))

    def stop(done, total):
        if total:
            raise KeyboardInterrupt

    with open_store(kept, clock=clock, sweep=False) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.import_memories(file, progress=stop)
        assert set(ill(look())) == {"imports"}
        clock.advance(ms=1)
        if then in ("undone", "begun anew"):
            memory.undo()
        if then == "rolled back":
            memory.rollback(memory.tags()[0].name)
        if then in ("begun anew", "gone on with"):
            assert memory.import_memories(file).resumed == (then == "gone on with")
    assert look().ok


def test_a_mirror_that_is_gone_is_named(kept, look, clock, tmp_path):
    folder = tmp_path / "mirror"
    with open_store(kept, clock=clock, sweep=False) as memory:
        memory.mirror(folder)
    folder.rename(tmp_path / "elsewhere")
    found = ill(look())
    assert set(found) == {"mirror"}
    assert f"memoranda mirror {folder} --detach" in found["mirror"].fix


# -- upkeep --


def test_upkeep_is_done_by_one_at_a_time_between_processes(kept, clock):
    from memoranda.domain.errors import Conflict
    from memoranda.ledger.locking import held

    with open_store(kept, clock=clock) as memory:
        with held(kept.with_name(f"{kept.name}-upkeep")), pytest.raises(Conflict, match="being done already"):
            memory.admin.maintain()
        assert memory.admin.upkeep() == ()
        memory.admin.maintain()
        (receipt,) = memory.admin.upkeep()
        assert receipt.ok
        assert set(receipt.counts) >= {"erased", "expired", "compacted", "vectors_made"}


def test_only_the_newest_hundred_receipts_are_kept(kept, clock):
    from memoranda.ledger.upkeep import UpkeepBook

    with open_store(kept, clock=clock) as memory:
        book = UpkeepBook(memory._engine.ledger.database, clock)
        for _ in range(105):
            clock.advance(ms=1)
            book.note(seconds=0.1)
        assert len(memory.admin.upkeep(limit=200)) == 100
        assert memory.admin.upkeep(limit=1)[0].at == clock.now()


def test_optimize_tells_before_and_after(path, clock):
    with open_store(path, clock=clock, embedder="hashed:words") as memory:
        for batch in range(12):
            memory.remember_many([f"Heron {batch}-{number} nests by the lake {'x' * 900}." for number in range(200)])
            memory.recall("herons")
        chosen = [each.id for each in memory.list(limit=500)]
        for each in chosen:
            memory.forget(each)
        clock.advance(days=31)
        memory.admin.maintain()
        done = memory.admin.optimize()
    assert done.before.self_test == done.after.self_test == "ok"
    assert done.after.segments <= done.before.segments
    assert done.bytes_after <= done.bytes_before
    assert done.seconds > 0


def test_a_failed_upkeep_is_tried_again_sooner_and_less_and_less_often():
    from memoranda.http.upkeep import pause

    assert 21 < pause(24, 0) < 27
    assert 0.2 < pause(24, 1) < 0.3
    assert 0.4 < pause(24, 2) < 0.6
    assert 21 < pause(24, 20) < 27
    assert pause(0.1, 1) <= 0.11


def test_a_key_that_is_missing_or_wrong_is_named_and_nothing_is_changed(path, clock, look, tmp_path):
    key, other = tmp_path / "key", tmp_path / "other"
    for each, content in ((key, "ab" * 32), (other, "cd" * 32)):
        each.write_text(content)
        each.chmod(0o600)
    with open_store(path, clock=clock, key_file=str(key)) as memory:
        memory.remember("Herons nest on the lake.")
        memory.recall("herons")
    before = path.read_bytes()
    assert look(key_file=str(key)).ok
    after = path.read_bytes()
    for settings in ({}, {"key_file": str(other)}):
        found = ill(look(fix=True, **settings))
        assert set(found) == {"store"}
        assert "damaged" not in found["store"].detail
    assert path.read_bytes() == after
    assert len(before) == len(after)
    key.chmod(0o644)
    assert "key" in ill(look(key_file=str(key)))
