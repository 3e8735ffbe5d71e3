"""Erase is proven: what was erased is in no byte of any file of the store. The scan here owes nothing to src."""

import os

import numpy as np
import pytest

from memoranda import Conflict, Draft, InvalidInput, NotFound, Refused, user
from memoranda.service import proof
from memoranda.service.corpus import Corpus
from memoranda.testing.servers import hashed_vector
from support import answer, child, end, files_of, occurrences, open_store, tell

CANARY = "kanarienvogel"


def _plant(memory):
    """A canary in every place where a person can put text, with a history."""
    old = memory.remember(f"{CANARY}-old flew to the cellar", about=f"{CANARY}-about", speaker=f"{CANARY}-speaker")
    return old, memory.remember(
        f"{CANARY}-text sings in the bedroom",
        kind="fact",
        about=f"{CANARY}-about",
        attribute=f"{CANARY}-attribute",
        value={"colour": f"{CANARY}-value"},
        context=f"{CANARY}-context",
        source_ref=f"{CANARY}-source",
        speaker=f"{CANARY}-speaker",
        conversation=f"{CANARY}-conversation",
        tags=[f"{CANARY}-tag"],
        metadata={"note": f"{CANARY}-metadata", f"{CANARY}-key": 1},
        supersedes=old,
    )


def _live(memory, canary):
    """Its history: said again with more, forgotten with a reason, restored."""
    memory.remember(
        canary.memory.text,
        about=f"{CANARY}-about",
        attribute=f"{CANARY}-attribute",
        context=f"{CANARY}-context",
        speaker=f"{CANARY}-speaker",
        tags=[f"{CANARY}-second-tag"],
        metadata={"again": f"{CANARY}-again"},
    )
    memory.forget(canary, reason=f"{CANARY}-reason")
    memory.restore(canary)
    memory.recall(f"{CANARY}-text sings")


def _stored_vectors(text):
    """The vector of a text as the ledger and as the index keep it."""
    values = np.asarray(hashed_vector(text, 64))
    unit = (values / np.linalg.norm(values)).astype(np.float32).astype(np.float16)
    single = unit.astype(np.float32)
    small = np.rint(single / (np.abs(single).max() / 127.0)).astype(np.int8)
    return unit.tobytes(), small.tobytes()


@pytest.mark.parametrize("follow", [False, True])
def test_nothing_is_left_in_any_file_while_the_process_is_open_and_afterwards(opened, path, follow):
    memory = opened(embedder="hashed:words", follow=follow)
    memory.remember_many([Draft(f"bystander {number} reads a book", tags=["bird"]) for number in range(30)])
    old, canary = _plant(memory)
    _live(memory, canary)
    needles = [CANARY, CANARY[4:], *_stored_vectors(canary.memory.spoken)]
    assert {needle for _, needle in occurrences(path, *needles)} == set(needles), (
        "the scan must see it while it is there"
    )

    erased = memory.erase(about=f"{CANARY}-about")

    assert sorted(erased.ids) == sorted([old.id, canary.id])
    assert erased.purged, erased.receipt
    assert erased.receipt.found == 0
    assert erased.receipt.needles > 10
    looked_at = {scan.file for scan in erased.receipt.scanned}
    in_files, in_tables = {path.name, f"{path.name}-index/index-1.db"}, {"memory", "revision", "event"}
    assert looked_at >= in_files or {name.rpartition(".")[2] for name in looked_at} >= in_tables
    assert occurrences(path, *needles) == []
    memory.close()
    assert occurrences(path, *needles) == []
    again = opened(embedder="hashed:words")
    again.recall(canary.memory.text)
    assert occurrences(path, *needles) == []
    assert again.admin.verify().ok
    assert again.stats().total == 30


def test_the_write_ahead_logs_are_among_the_files_that_are_scanned(opened, path):
    memory = opened(embedder="hashed:words")
    _plant(memory)
    assert occurrences(path, CANARY), "fresh writes lie in the log first"
    assert any(name.endswith("-wal") for name, _ in occurrences(path, CANARY))
    erased = memory.erase(speaker=f"{CANARY}-speaker")
    # Not the shared memory: it holds numbers of pages only, and to read it would give up the locks of the store.
    assert {scan.file for scan in erased.receipt.scanned} == {
        str(file.relative_to(path.parent)) for file in files_of(path) if not file.name.endswith("-shm")
    }


def test_a_long_text_over_many_pages_is_gone_to_the_last_piece(opened, path):
    memory = opened(embedder="hashed:words")
    words = [f"{CANARY}{number:05d}" for number in range(400)]
    long = memory.remember(" ".join(words), metadata={"long": " ".join(f"meta{CANARY}{n:04d}" for n in range(600))})
    memory.remember("a bystander")
    assert len(long.memory.text) > 7_000
    assert memory.erase(long).purged
    assert occurrences(path, CANARY, *words, f"meta{CANARY}") == []


def test_cached_vectors_of_erased_text_leave_the_memory_of_the_process(opened):
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} sings")
    memory.recall(f"{CANARY} sings")
    memory.erase(kept)
    pipeline = memory._engine.embedders.configured()
    cached, _ = pipeline._cache.get([f"{CANARY} sings"], fingerprint=pipeline.fingerprint, role="document")
    assert cached == {}


@pytest.mark.parametrize("way", ["reference", "about", "speaker", "scope"])
def test_each_way_of_choosing_takes_exactly_what_it_names(opened, path, way):
    memory = opened("home", embedder="hashed:words")
    below = memory.within("home/anna")
    beside = memory.within("home/anna-2")
    wanted = below.remember("kanarienvogel in the kitchen", about="bird", speaker="anna")
    others = [
        below.remember("a finch in the kitchen", about="finch", speaker="bob"),
        beside.remember("a sparrow in the hall", about="bird", speaker="anna"),
        memory.remember("a robin on the roof", about="bird", speaker="anna"),
    ]
    if way == "scope":
        nested = memory.within("home/anna/diary").remember("kanarienvogel in the diary")
        erased = memory.erase(scope="home/anna")
        assert set(erased.ids) == {wanted.id, nested.id, others.pop(0).id}
    elif way == "reference":
        erased = below.erase(wanted.id[:10])
    else:
        erased = below.erase(**{way: {"about": "bird", "speaker": "anna"}[way]})
    assert wanted.id in erased.ids
    assert erased.purged
    assert occurrences(path, CANARY) == []
    for other in others:
        assert memory.within(other.memory.scope).get(other).text == other.memory.text
    with pytest.raises(NotFound):
        below.get(wanted)


def test_a_query_is_shown_first_and_erased_only_when_confirmed(opened, path):
    memory = opened(embedder="hashed:words")
    wanted = memory.remember(f"{CANARY} lives in the kitchen")
    memory.remember("the boiler manual is in the cellar")
    shown = memory.erase(query=CANARY)
    assert shown.ids == (wanted.id,)
    assert [each.text for each in shown.preview] == [wanted.memory.text]
    assert shown.receipt.state == "preview"
    assert memory.get(wanted).state == "live"
    assert not shown.purged
    erased = memory.erase(query=CANARY, confirm=shown.confirm)
    assert erased.ids == (wanted.id,)
    assert erased.purged
    assert occurrences(path, CANARY) == []


def test_a_confirmation_holds_only_for_what_was_shown(memory):
    first = memory.remember(f"{CANARY} lives in the kitchen")
    shown = memory.erase(query=CANARY)
    second = memory.remember(f"another {CANARY} lives in the hall")
    with pytest.raises(Conflict, match="no longer"):
        memory.erase(query=CANARY, confirm=shown.confirm)
    assert {each.id for each in memory.list()} == {first.id, second.id}
    with pytest.raises(Conflict):
        memory.erase(first, confirm="something else")


def test_a_preview_changes_nothing_whatever_the_way(memory):
    kept = memory.remember("the lamp", about="lamp", speaker="anna")
    for way in ({"reference": kept}, {"about": "lamp"}, {"speaker": "anna"}, {"scope": memory.scope}):
        shown = memory.erase(**way, mode="preview")
        assert shown.ids == (kept.id,)
        assert shown.receipt.state == "preview"
    assert memory.get(kept).state == "live"
    assert memory.erase(about="lamp", confirm=shown.confirm).ids == (kept.id,)


def test_exactly_one_way_is_needed(memory):
    kept = memory.remember("the lamp", about="lamp")
    wrong_ways = (
        {},
        {"reference": ""},
        {"reference": kept, "about": "lamp"},
        {"scope": memory.scope, "speaker": "x"},
        {"query": "lamp", "source": "user"},
        {"kind": "fact"},
        {"source": "nobody"},
        {"kind": "nothing", "about": "lamp"},
        {"time_after": "2026-01-02", "time_before": "2026-01-02"},
    )
    for wrong in wrong_ways:
        with pytest.raises(InvalidInput):
            memory.erase(**wrong)
    assert memory.get(kept)


def test_erasing_nothing_is_said_and_proves_nothing(memory):
    erased = memory.erase(about="nobody")
    assert erased.ids == ()
    assert erased.receipt.scanned == ()


def test_erased_text_does_not_come_back_by_echo_or_import(memory):
    memory.erase(memory.remember("Anna keeps a Kanarienvogel."))
    for echo in ("Anna keeps a Kanarienvogel.", "anna   keeps a KANARIENVOGEL", "Anna keeps a Kanarienvogel!"):
        for source in ("user", "assistant", "import"):
            with pytest.raises(Refused, match="erased") as refused:
                memory.remember(echo, source=source)
            assert "after_erase" in refused.value.hint
            assert "Kanarienvogel" not in str(refused.value)
    with pytest.raises(Refused):
        memory.remember_many([Draft("something new"), Draft("Anna keeps a Kanarienvogel.")])
    assert memory.stats().total == 0, "all or none"


def test_the_tombstone_stays_over_closing_and_can_be_lifted_on_purpose(opened):
    first = opened()
    first.erase(first.remember("Anna keeps a Kanarienvogel."))
    first.close()
    memory = opened()
    with pytest.raises(Refused):
        memory.remember("Anna keeps a Kanarienvogel.")
    kept = memory.remember("Anna keeps a Kanarienvogel.", after_erase="allow")
    assert memory.recall("Kanarienvogel")[0].id == kept.id
    assert memory.admin.verify().ok


def test_the_tombstone_holds_no_text(opened, path):
    memory = opened()
    memory.erase(memory.remember(f"{CANARY} lives here"))
    memory._engine.ledger.database.checkpoint()
    assert occurrences(path, CANARY) == []


@pytest.mark.parametrize("optimized", [False, True])
def test_another_scope_may_keep_the_same_text_and_the_erasure_is_still_proven(opened, path, optimized):
    memory = opened("home", embedder="hashed:words")
    anna, bob = memory.within("home/anna"), memory.within("home/bob")
    text = f"the {CANARY} sings in the kitchen every single morning"
    hers, his = anna.remember(text), bob.remember(text)
    anna.recall(CANARY)
    bob.recall(CANARY)
    if optimized:
        memory.admin.optimize()
    erased = anna.erase(hers)
    assert erased.purged, erased.receipt
    assert erased.receipt.shared > 0
    assert [hit.id for hit in bob.recall(CANARY)] == [his.id]
    assert not anna.recall(CANARY)
    with pytest.raises(Refused):
        anna.remember(text)
    assert bob.erase(his).purged
    assert occurrences(path, CANARY) == []


def test_the_scanner_finds_what_is_there(opened, path):
    """A proof that cannot fail proves nothing."""
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.recall(CANARY)
    residue = path.with_name(path.name + "-index") / "forgotten.bin"
    residue.write_bytes(b"\0" * 5_000_000 + kept.memory.text.encode() + b"\0" * 100)
    erased = memory.erase(kept)
    assert not erased.purged
    assert erased.receipt.state == "deleted"
    assert erased.receipt.found > 0
    assert [scan.file for scan in erased.receipt.scanned if scan.found] == [f"{path.name}-index/{residue.name}"]
    assert erased.receipt.pending


@pytest.mark.parametrize("kind", ["terms", "vector", "ledger vector"])
def test_the_scanner_knows_how_the_index_and_the_ledger_store_it(opened, path, kind):
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.recall(CANARY)
    wide, small = _stored_vectors(kept.memory.text)
    body = memory._engine.memories.index()._database._writer.execute("select body from tail").fetchone()[0]
    planted = {"terms": body[31 : 31 + 64], "vector": small, "ledger vector": wide}[kind]
    residue = path.with_name(path.name + "-index") / "forgotten.bin"
    residue.write_bytes(b"\0" * 777 + planted + b"\0" * 100)
    assert memory.erase(kept).receipt.found > 0


def test_the_scanner_sees_over_the_borders_of_what_it_reads_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(proof, "_CHUNK", 64)
    needles = proof.pieces([f"{CANARY} lives in the kitchen"])
    for at in range(0, 200, 3):
        file = tmp_path / "file"
        file.write_bytes(b"-" * at + f"{CANARY} lives in the kitchen".encode() + b"-" * 50)
        assert proof.scan([str(file)], needles)[0].found == 1
    file.write_bytes(b"-" * 5_000)
    assert proof.scan([str(file)], needles)[0].found == 0


@pytest.mark.parametrize("left", [False, True])
def test_what_an_interrupted_rebuild_left_does_not_stand_in_the_way(opened, path, monkeypatch, left):
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.remember("a bystander")
    memory.recall(CANARY)

    def interrupted(index, progress=None):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("memoranda.index.embedded.EmbeddedIndex.optimize", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.admin.rebuild()
    index_folder = path.with_name(path.name + "-index")
    if left:  # a killed process could not clean up after itself
        (index_folder / "index-2.db").write_bytes((index_folder / "index-1.db").read_bytes())
        (index_folder / "index-2.db-wal").write_bytes((index_folder / "index-1.db-wal").read_bytes())
    small = _stored_vectors(kept.memory.text)[1]
    erased = memory.erase(kept)
    assert erased.purged, erased.receipt
    assert occurrences(path, CANARY, small) == []


def test_a_reader_that_pins_the_log_makes_it_pending_and_upkeep_completes_it(opened, path):
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.recall(CANARY)
    reader = child("peer", path, "none", "no")
    try:
        answer(reader)
        tell(reader, "pin")
        assert answer(reader) == {"seen": 1}
        erased = memory.erase(kept)
        assert erased.receipt.state == "deleted"
        assert "maintain" in erased.receipt.pending
        assert not erased.purged
        with pytest.raises(NotFound):
            memory.get(kept)
        assert not memory.recall(CANARY)
        tell(reader, "unpin")
        answer(reader)
        memory.admin.maintain()
        assert occurrences(path, CANARY) == []
    finally:
        end(reader)


def test_a_held_index_makes_it_pending_and_upkeep_completes_it(opened, path):
    memory = opened(embedder="hashed:words")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.recall(CANARY)
    small = _stored_vectors(kept.memory.text)[1]
    holder = child("peer", path, "none", "no")
    try:
        answer(holder)
        tell(holder, "hold")
        answer(holder)
        erased = memory.erase(kept)
        assert erased.receipt.state == "deleted"
        assert erased.receipt.pending
        tell(holder, "release")
        answer(holder)
        memory.admin.maintain()
        assert occurrences(path, CANARY, small) == []
    finally:
        end(holder)


def test_what_others_write_meanwhile_does_not_keep_an_erasure_from_its_proof(opened, path, monkeypatch):
    memory = opened(embedder="none")
    kept = memory.remember(f"{CANARY} lives in the kitchen")
    memory.recall(CANARY)
    catch_up = Corpus.catch_up

    def then_somebody_writes(corpus, **options):
        standing = catch_up(corpus, **options)
        memory.remember(f"somebody writes at {memory.stats().sequence}")
        return standing

    monkeypatch.setattr(Corpus, "catch_up", then_somebody_writes)
    erased = memory.erase(kept)
    assert erased.purged, erased.receipt
    assert occurrences(path, CANARY) == []


def test_an_erased_memory_has_no_history_no_past_and_no_id(memory, clock):
    kept = memory.remember("the lamp stands in the hall")
    before = clock.now()
    clock.advance(days=1)
    memory.erase(kept)
    for ask in (memory.get, memory.history, memory.forget, memory.restore, memory.erase):
        with pytest.raises(NotFound):
            ask(kept.id)
    assert memory.list(states=()).total == 0
    assert memory.list(as_of=before).total == 0
    assert not memory.recall("lamp", as_of=before)
    assert memory.stats().total == 0


# -- the grace period --


def test_a_forgotten_memory_can_be_restored_within_the_grace_period(memory, clock):
    kept = memory.remember("the lamp stands in the hall")
    told = memory.forget(kept, reason="by mistake")
    assert told.receipt.erased_after == clock.now() + 30 * 86_400_000
    assert not memory.recall("lamp")
    clock.advance(days=29)
    assert memory.restore(kept).memory.state == "live"
    assert [hit.id for hit in memory.recall("lamp")] == [kept.id]


def test_after_the_grace_period_it_cannot_be_restored_and_opening_erases_it(opened, path, clock):
    memory = opened(clock=clock)
    kept = memory.remember(f"{CANARY} lives in the kitchen", tags=[f"{CANARY}-tag"])
    other = memory.remember("the lamp stands in the hall")
    memory.forget(kept, reason=f"{CANARY}-reason")
    clock.advance(days=15)
    memory.forget(other)
    clock.advance(days=16)
    with pytest.raises(Conflict, match="grace"):
        memory.restore(kept)
    memory.close()
    again = opened(clock=clock)
    assert occurrences(path, CANARY) == []
    with pytest.raises(NotFound):
        again.get(kept)
    assert again.restore(other).memory.state == "live", "forgotten for 16 days only"
    with pytest.raises(Refused):
        again.remember(f"{CANARY} lives in the kitchen")


def test_upkeep_erases_what_was_forgotten_long_ago(memory, path, clock):
    memory.forget(memory.remember(f"{CANARY} lives in the kitchen"))
    memory.archive(memory.remember("archived things stay for as long as they like"))
    clock.advance(days=31)
    done = memory.admin.maintain()
    assert len(done.erased.ids) == 1
    assert occurrences(path, CANARY) == []
    assert memory.stats().by_state == {"archived": 1}


def test_another_grace_period_may_be_set(path, clock):
    with open_store(path, clock=clock, grace_days=1) as memory:
        kept = memory.remember("the lamp stands in the hall")
        memory.forget(kept)
        clock.advance(days=1)
        with pytest.raises(Conflict):
            memory.restore(kept)


def test_a_scope_that_was_emptied_and_filled_again_knows_nothing_of_before(opened):
    memory = opened(embedder="hashed:words")
    first = memory.remember("The violet umbrella stands in the hall.")
    assert memory.recall("violet umbrella").receipt.searched == 1
    memory.erase(first)
    second = memory.remember("The violet umbrella was lent to Ben.")
    found = memory.recall("violet umbrella")
    assert [hit.id for hit in found] == [second.id]
    assert found.receipt.searched == 1
    assert found.receipt.dropped == {}


def test_what_a_correction_replaced_is_erased_by_query_too(opened):
    memory = opened(embedder="none")
    old = memory.remember("The spare key is under the blue pot.")
    new = memory.remember("The spare key is under the red pot.", supersedes=old)
    shown = memory.erase(query="spare key under the pot")
    assert set(shown.ids) == {old.id, new.id}
    assert memory.erase(query="spare key under the pot", confirm=shown.confirm).purged
    assert memory.list(states=()).total == 0


def test_a_rebuild_leaves_no_open_file_behind_when_something_is_erased(opened):
    memory = opened(embedder="none")
    kept = memory.remember("The violet umbrella stands in the hall.")
    memory.recall("umbrella")
    for _ in range(3):
        memory.admin.rebuild()
        memory.recall("umbrella")
    assert memory.erase(kept).purged
    links = [f"/proc/self/fd/{descriptor}" for descriptor in os.listdir("/proc/self/fd")]
    open_files = [os.readlink(link) for link in links if os.path.islink(link)]
    assert not [name for name in open_files if "store.db-index" in name and "(deleted)" in name]


def test_words_that_the_files_themselves_are_made_of_do_not_stand_in_the_way(opened):
    memory = opened("bot-1/group-7")
    memory.preferences.set("answers", "length", "short")
    memory.conversations.append([user("we decided on the herons")], conversation="group-7")

    gone = memory.erase(scope="bot-1/group-7")

    assert gone.purged
    assert gone.receipt.found == 0
