"""`memory.documents`: sources, search with citations, reading, status, removal, and making anew."""

import os
import shutil
import signal
import time

import pytest

from documents.conftest import rested
from memoranda.domain.errors import Conflict, InvalidInput, LedgerError, NotFound, ProviderUnavailable, Refused
from memoranda.testing.fakes import HashedEmbedder
from support import answer, child, end, finish, tell


def paths(found):
    return [hit.path for hit in found]


def occurrences_in(folder, text):
    """Files of a folder that have a text in them: plain bytes."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


@pytest.fixture
def embedder(monkeypatch):
    from memoranda.embedding import registry

    made = HashedEmbedder("words")
    monkeypatch.setitem(registry._PROVIDERS, "counted", lambda model, settings: made)
    return made


# -- sources --


def test_a_store_without_sources_has_no_files_of_documents(opened, folder):
    documents = opened().documents
    assert not documents.search("anything")
    assert documents.search("anything").receipt.abstained == "no documents"
    assert documents.cold("anything", 0) == ()
    assert documents.status().files == 0
    assert documents.read("MEMORY.md").text == ""
    assert not folder.exists()


def test_a_folder_of_an_agent_is_taken_by_its_usual_names(opened, write, tmp_path):
    write("MEMORY.md", "The boiler is old.")
    write("memory/2026-01-01.md", "A quiet day.")
    write("other.md", "Not for you.")
    documents = opened().documents
    source = documents.add(tmp_path / "notes")
    assert source.patterns == ("MEMORY.md", "memory.md", "USER.md", "memory/**/*.md")
    assert documents.sync().added == 2


def test_any_other_folder_is_taken_with_all_its_markdown(documents):
    assert documents.list()[0].patterns == ("**/*.md",)
    assert documents.status().files == 3


def test_a_single_file_is_a_source_whatever_is_in_its_name(opened, write):
    note = write("plans [draft]*.md", "The pear tree moves to the east wall.")
    write("plans d.md", "Not this one.")
    documents = opened().documents
    documents.add(note)
    assert documents.sync().added == 1
    assert paths(documents.search("pear tree")) == ["plans [draft]*.md"]


def test_the_same_source_again_may_have_other_words(documents, notes):
    documents.add(notes, trust="trusted", pattern="*.md")
    (source,) = documents.list()
    assert (source.trust, source.patterns) == ("trusted", ("*.md",))
    assert documents.sync().removed == 1


def test_a_name_that_another_folder_has_is_a_conflict(documents, write, tmp_path):
    write("notes/x.md", "x", folder="elsewhere")
    with pytest.raises(Conflict, match="name of another source"):
        documents.add(tmp_path / "elsewhere" / "notes")
    documents.add(tmp_path / "elsewhere" / "notes", name="more")
    assert [source.name for source in documents.list()] == ["more", "notes"]


@pytest.mark.parametrize(
    ("named", "options", "error"),
    [
        ("nowhere", {}, NotFound),
        ("", {}, InvalidInput),
        ("/", {}, InvalidInput),
        (".", {"trust": "divine"}, InvalidInput),
        (".", {"pattern": "../**/*.md"}, InvalidInput),
        (".", {"pattern": "/etc/*.md"}, InvalidInput),
        (".", {"name": "a\nb"}, InvalidInput),
    ],
)
def test_what_is_no_source_is_refused_with_a_hint(opened, tmp_path, monkeypatch, named, options, error):
    monkeypatch.chdir(tmp_path)
    documents = opened().documents
    with pytest.raises(error) as caught:
        documents.add(named, **options)
    assert caught.value.hint
    assert documents.list() == ()


def test_a_scope_sees_the_sources_above_it_and_no_others(opened, write, tmp_path):
    home = opened("home")
    for scope in ("home", "home/anna", "home/ben"):
        name = scope.replace("/", "-")
        write(f"{name}.md", f"The boiler of {name} is loud.", folder=name)
        home.within(scope).documents.add(tmp_path / name)
    anna, ben = home.within("home/anna").documents, home.within("home/ben").documents
    assert sorted(paths(anna.search("loud boiler"))) == ["home-anna.md", "home.md"]
    assert sorted(paths(ben.search("loud boiler"))) == ["home-ben.md", "home.md"]
    assert paths(home.documents.search("loud boiler")) == ["home.md"]
    assert anna.read("home-ben.md").text == ""
    with pytest.raises(Refused, match="belongs to home"):
        anna.remove("home")
    with pytest.raises(NotFound):
        anna.remove("home-ben")
    assert anna.status().files == 2


# -- searching --


def test_a_hit_says_where_it_is_and_the_lines_contain_it(documents, notes):
    (hit,) = documents.search("who broke the hall lamp?")
    assert hit.citation == f"lamps.md#L{hit.start_line}-L{hit.end_line}"
    lines = (notes / "lamps.md").read_text().split("\n")[hit.start_line - 1 : hit.end_line]
    assert "Ben broke the hall lamp in May." in lines
    assert (hit.source, hit.trust) == ("notes", "untrusted")
    assert 0.35 <= hit.score <= 1
    assert sum(value for name, value in hit.factors if name != "recency") == pytest.approx(hit.score, abs=1e-5)
    assert "Ben broke" in hit.snippet


def test_a_search_takes_in_what_has_changed_since(opened, notes, write):
    documents = opened().documents
    documents.add(notes)
    assert paths(documents.search("boiler manual")) == ["boiler.md"]
    write("cat.md", "The cat is called Mruczek.")
    documents._library.dirty = True
    assert paths(documents.search("what is the cat called")) == ["cat.md"]


def test_a_search_looks_at_the_folder_again_only_after_a_while(opened, notes, write, monkeypatch):
    from memoranda.service import document_library

    documents = opened().documents
    documents.add(notes)
    documents.search("boiler")
    write("cat.md", "The cat is called Mruczek.")
    assert not documents.search("what is the cat called")
    monkeypatch.setattr(document_library, "_LOOK_AGAIN_SECONDS", 0.0)
    assert documents.search("what is the cat called")


@pytest.mark.parametrize(("when", "first", "later"), [("open", 1, 0), ("none", 0, 0), ("search", 1, 1)])
def test_the_setting_says_when_the_folder_is_looked_at(opened, notes, write, monkeypatch, when, first, later):
    from memoranda.service import document_library

    monkeypatch.setattr(document_library, "_LOOK_AGAIN_SECONDS", 0.0)
    documents = opened(documents_sync=when).documents
    documents.add(notes)
    documents._library.dirty = False
    assert len(documents.search("boiler manual")) == first
    write("cat.md", "The cat is called Mruczek.")
    assert len(documents.search("what is the cat called")) == later


def test_a_hit_whose_file_changed_meanwhile_is_told_and_one_that_is_gone_is_not_shown(opened, notes):
    documents = opened(documents_sync="none").documents
    documents.add(notes)
    documents.sync()
    with (notes / "lamps.md").open("a") as note:
        note.write("More on lamps.\n")
    found = documents.search("desk lamp")
    assert (found.receipt.stale, found.receipt.dirty) == (1, True)
    assert "documents sync" in found.receipt.action
    (notes / "lamps.md").unlink()
    assert not documents.search("desk lamp")


def test_a_search_may_be_narrowed_to_a_source_a_file_or_a_folder(documents, write, tmp_path):
    write("boiler.md", "The boiler of the neighbours is new.", folder="more")
    documents.add(tmp_path / "more")
    everything = documents.search("boiler", min_score=0.0)
    assert {hit.source for hit in everything} == {"notes", "more"}
    assert {hit.source for hit in documents.search("boiler", source="more")} == {"more"}
    assert paths(documents.search("tree boiler lamp", path="garden/", min_score=0.0)) == ["garden/trees.md"]
    assert paths(documents.search("tree boiler lamp", path="lamps.md", min_score=0.0)) == ["lamps.md"]
    with pytest.raises(NotFound):
        documents.search("boiler", source="nothing")


def test_a_score_that_is_asked_for_is_a_bar_and_an_old_note_is_still_found(opened, write, tmp_path):
    write("memory/2019-05-01.md", "The shop in Elm street sells lamps.")
    documents = opened(embedder="hashed:words").documents
    documents.add(tmp_path / "notes")
    (hit,) = documents.search("Elm street shop")
    assert hit.score > 0.005
    assert dict(hit.factors)["recency"] == 0.3
    assert not documents.search("Elm street shop", min_score=0.9)
    assert documents.search("Elm street shop", min_score=0.9).receipt.min_score == 0.9
    assert documents.search("Elm street shop", min_score=0.0)


def test_of_overlapping_sources_a_passage_comes_once(opened, notes):
    documents = opened().documents
    for place in (notes / "boiler.md", notes.parent, notes):
        documents.add(place)
    (hit,) = documents.search("boiler manual")
    first = documents.list()[0]
    assert hit.source == first.name
    assert len(documents.search("boiler", min_score=0.0)) == 1


def test_of_equal_text_the_nearest_scope_wins_unless_its_file_is_gone(opened, write, tmp_path):
    for name in ("far", "near"):
        write(f"{name}.md", "The otter lives by the mill.", folder=name)
    home = opened("home", documents_sync="open")
    home.documents.add(tmp_path / "far")
    anna = home.within("home/anna").documents
    anna.add(tmp_path / "near")
    assert paths(anna.search("where does the otter live?")) == ["near.md"]
    assert paths(home.documents.search("where does the otter live?")) == ["far.md"]
    (tmp_path / "near" / "near.md").unlink()
    assert paths(anna.search("where does the otter live?")) == ["far.md"]


def test_nothing_relevant_is_an_answer(documents):
    found = documents.search("quantum chromodynamics lattice")
    assert not found
    assert found.receipt.abstained == "nothing cleared the bar"


@pytest.mark.parametrize("query", ["", "   ", "\0", "?!", "\ud800", "x" * 9_000, "a\0b OR * NEAR(1)"])
def test_no_query_breaks_a_search(documents, query):
    documents.search(query)


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": True}, {"min_score": 2}, {"min_score": "x"}])
def test_options_that_make_no_sense_are_refused(documents, options):
    with pytest.raises(InvalidInput):
        documents.search("boiler", **options)


def test_a_receipt_has_no_text_in_it(documents):
    shown = str(documents.search("who broke the hall lamp?").receipt.as_json())
    assert "lamp" not in shown


def test_a_snippet_is_short_and_has_the_words_that_were_asked_for(opened, write, tmp_path):
    filler = " ".join(f"filler{number}" for number in range(60))
    write("long.md", f"{filler}. {filler}. The zebra crossed the road.\n{filler}\n")
    documents = opened(chunk_tokens=2_000).documents
    documents.add(tmp_path / "notes")
    (hit,) = documents.search("zebra crossed the road")
    assert "zebra crossed" in hit.snippet
    assert len(hit.snippet) <= 700


def test_dated_notes_fade_and_evergreen_ones_do_not(opened, write, tmp_path, clock):
    for name in ("memory/2025-11-02.md", "memory/2025-12-31.md", "MEMORY.md"):
        write(name, f"The gate code was written on the {name[-5:-3]}th page of the gate book.")
    documents = opened(clock=clock).documents
    documents.add(tmp_path / "notes")
    scores = {hit.path: hit.score for hit in documents.search("gate book page gate code", min_score=0.0)}
    assert scores["MEMORY.md"] > scores["memory/2025-12-31.md"] > 2 * scores["memory/2025-11-02.md"]


def test_front_matter_lowers_trust_and_never_raises_it(opened, write, tmp_path):
    write("a.md", "---\ntrust: trusted\n---\nThe safe is behind the pear painting.\n", folder="clips")
    write("b.md", "---\ntrust: untrusted\n---\nThe safe is behind the plum painting.\n", folder="own")
    write("c.md", "---\ntrust: quarantined\n---\nThe safe is behind the fig painting.\n", folder="own")
    documents = opened().documents
    documents.add(tmp_path / "clips")
    documents.add(tmp_path / "own", trust="trusted")
    trust = {hit.path: hit.trust for hit in documents.search("safe behind the painting")}
    assert trust == {"a.md": "untrusted", "b.md": "untrusted"}


def test_a_source_that_is_no_longer_registered_is_not_searched(documents):
    library = documents._library
    library.sources.remove(documents.list()[0])
    assert documents.search("boiler").receipt.abstained == "no documents"


# -- reading --


def test_reading_gives_lines_and_says_where_to_go_on(documents):
    assert documents.read("lamps.md", from_line=3, lines=1) == ("Anna reads by the desk lamp.", "lamps.md", 3, 4)
    assert documents.read("boiler.md#L3-L3").text == "The boiler manual is in the blue folder."
    assert documents.read("missing.md").text == ""


@pytest.mark.parametrize("out", ["../store.db", "/etc/passwd", "garden/../../store.db", "boiler.md/../../store.db"])
def test_no_path_leads_out_of_a_source(documents, out):
    with pytest.raises(Refused):
        documents.read(out)


def test_only_documents_are_read(documents, notes):
    (notes / "secret.env").write_text("KEY=1")
    with pytest.raises(Refused):
        documents.read("secret.env")


def test_of_several_sources_the_one_that_has_the_file_is_read(documents, write, tmp_path):
    write("boiler.md", "The other boiler.", folder="more")
    write("only.md", "Only here.", folder="more")
    documents.add(tmp_path / "more")
    assert documents.read("only.md").text == "Only here."
    assert documents.read("boiler.md", source="more").text == "The other boiler."
    with pytest.raises(NotFound):
        documents.read("boiler.md", source="nothing")


# -- status --


def test_status_counts_what_is_there(opened, notes, write, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    documents.sync()
    status = documents.status()
    assert "Indexed: 3/3 files · 3 chunks" in status.lines()
    assert (status.dirty, status.vector, status.dimensions, status.vectors) == (False, "ready", 64, 3)
    assert (status.provider, status.model) == ("counted", "words") or status.provider == "hashed"
    write("new.md", "Something new.")
    (notes / "boiler.md").unlink()
    status = documents.status()
    assert (status.files, status.on_disk, status.dirty) == (3, 3, True)
    assert status.sources[0].changed == 2


def test_status_tells_of_files_that_could_not_be_read_until_they_can(documents, notes, write, opened):
    (notes / "junk.md").write_bytes(bytes(range(128, 256)) * 40)
    documents.sync()
    for asked in (documents, opened().documents):
        assert asked.status().trouble == ("notes: junk.md: this is not text in UTF-8 or UTF-16",)
    assert "notes: junk.md: this is not text in UTF-8 or UTF-16" in documents.status().lines()
    write("junk.md", "Words at last.")
    documents.sync()
    assert documents.status().trouble == ()
    (notes / "junk.md").write_bytes(bytes(range(128, 256)) * 40)
    documents.sync()
    (notes / "junk.md").unlink()
    documents.sync()
    assert documents.status().trouble == ()


def test_a_file_that_is_not_utf_8_is_taken_in_and_told(documents, notes, write):
    note = notes / "latin.md"
    note.write_bytes("Frau Müller wohnt am Markt.".encode("latin-1"))
    rested(note)
    synced = documents.sync()
    ((source, path, reason),) = synced.notes
    assert (synced.added, source, path) == (1, "notes", "latin.md")
    assert "not UTF-8" in reason
    assert synced.as_json()["notes"][0]["path"] == "latin.md"
    assert documents.sync().notes == (), "it is told when it is read"
    assert documents.status().trouble == (f"notes: latin.md: {reason}",), "and as long as it is so"
    write("latin.md", "Frau Müller wohnt am Markt.")
    assert documents.sync().notes == ()
    assert documents.status().trouble == ()


def test_what_is_wrong_with_a_source_goes_with_it(documents, notes, folder):
    (notes / "junk-of-anna.md").write_bytes(bytes(range(128, 256)) * 40)
    documents.sync()
    assert occurrences_in(folder, "junk-of-anna")
    assert documents.remove("notes").purged
    assert not occurrences_in(folder, "junk-of-anna")


def test_status_does_not_believe_an_index_that_lost_its_rows(opened, notes, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    documents.sync()
    index = documents._library.serving().corpus.index()
    index.apply(put=(), drop=[1], sequence=None)
    assert documents.status().fts == 2


def test_when_the_embedder_changes_words_go_on_and_a_rebuild_is_asked_for(opened, notes):
    first = opened(embedder="hashed:one").documents
    first.add(notes)
    first.sync()
    documents = opened(embedder="hashed:two").documents
    assert documents.status().vector == "stale"
    assert "sync --full" in " ".join(documents.status().trouble)
    assert paths(documents.search("boiler manual", limit=1)) == ["boiler.md"]
    synced = documents.rebuild()
    assert synced.embedded == 3
    status = documents.status()
    assert (status.vector, status.vectors, status.cache_entries) == ("ready", 3, 3)


# -- removing --


def test_removing_a_source_purges_it_and_proves_it(opened, notes, folder, write, tmp_path, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    write("kept.md", "The plum tree stays.", folder="more")
    documents.add(tmp_path / "more")
    documents.sync()
    documents.search("boiler")
    assert occurrences_in(folder, "blue folder")
    gone = documents.remove("notes")
    assert (gone.purged, gone.files, gone.chunks, gone.found) == (True, 3, 3, 0)
    assert gone.traces > 0
    assert not occurrences_in(folder, "blue folder")
    assert not occurrences_in(folder, "trees.md")
    assert occurrences_in(folder, "plum tree")
    assert paths(documents.search("tree", min_score=0.0)) == ["kept.md"]
    assert (notes / "boiler.md").exists()


def test_a_proof_that_finds_something_says_so(documents, folder):
    (folder / "copy-of-somebody.txt").write_text("The boiler manual is in the blue folder.")
    gone = documents.remove("notes")
    assert not gone.purged
    assert "copy-of-somebody.txt" in gone.pending


# -- making anew --


def test_a_rebuild_embeds_nothing_that_has_a_vector(opened, notes, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    documents.sync()
    before = embedder.asked
    synced = documents.rebuild()
    assert (synced.why, synced.added, synced.embedded) == ("rebuild", 3, 0)
    assert embedder.asked == before
    status = documents.status()
    assert (status.generation, status.vector, status.vectors) == (2, "ready", 3)


def test_the_folder_may_be_deleted_at_any_time(documents, folder):
    before = [(hit.citation, hit.score) for hit in documents.search("desk lamp")]
    shutil.rmtree(folder)
    assert [(hit.citation, hit.score) for hit in documents.search("desk lamp")] == before


def test_other_chunk_settings_make_documents_anew_when_a_sync_is_asked_for(opened, write, tmp_path):
    write("long.md", "\n\n".join(f"Sentence number {number} is about topic{number}." for number in range(80)))
    first = opened().documents
    first.add(tmp_path / "notes")
    first.sync()
    documents = opened(chunk_tokens=60, chunk_overlap=10).documents
    found = documents.search("topic42", min_score=0.0)
    assert found.receipt.dirty
    assert documents.status().dirty
    assert documents.sync().why == "rebuild"
    assert documents.status().chunks > first.status().chunks / 2 > 1
    assert documents.status().generation == first.status().generation == 2
    assert not documents.search("topic42", min_score=0.0).receipt.dirty


def test_an_embedder_that_fails_leaves_the_old_generation_serving(opened, notes, embedder, monkeypatch):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    documents.sync()
    other = HashedEmbedder("other")
    from memoranda.embedding import registry

    monkeypatch.setitem(registry._PROVIDERS, "failing", lambda model, settings: other)

    def failing(texts, role):
        raise ProviderUnavailable("no route")

    monkeypatch.setattr(other, "embed", failing)
    broken = opened(embedder="failing:other").documents
    with pytest.raises(ProviderUnavailable, match="could not be embedded"):
        broken.rebuild()
    assert documents.status().generation == 1
    assert paths(documents.search("boiler manual", limit=1)) == ["boiler.md"]


def test_another_process_that_rebuilds_is_noticed(path, opened, notes):
    documents = opened().documents
    documents.add(notes)
    documents.sync()
    process = child("document_syncer", path, "rebuild")
    answer(process)
    tell(process, "go")
    assert finish(process)[-1]["added"] == 3
    assert paths(documents.search("boiler manual")) == ["boiler.md"]
    assert documents.status().generation == 2
    assert documents.sync().is_noop


def test_a_rebuild_keeps_what_cannot_be_read_now(opened, notes, write, tmp_path, embedder):
    documents = opened(embedder="counted:words").documents
    documents.add(notes)
    write("kept.md", "The plum tree stays.", folder="more")
    documents.add(tmp_path / "more")
    documents.sync()
    asked = embedder.asked
    (tmp_path / "more").rename(tmp_path / "away")
    (notes / "boiler.md").write_bytes(bytes(range(128, 256)) * 40)
    synced = documents.rebuild()
    assert sorted(each.path for each in synced.failures) == [".", "boiler.md"]
    assert paths(documents.search("plum tree", limit=1)) == ["kept.md"]
    found = documents.search("boiler manual", limit=1)
    assert (paths(found), found.receipt.stale) == (["boiler.md"], 1)
    assert (documents.status().chunks, documents.status().vectors) == (4, 4)
    assert embedder.asked == asked + 2, "only the two searches"
    (tmp_path / "away").rename(tmp_path / "more")
    write("boiler.md", "# Boiler\n\nA new boiler.\n")
    assert documents.sync().changed == 1
    assert not documents.search("plum tree", limit=1).receipt.stale


def test_while_one_rebuilds_another_is_told_so_and_searches(documents):
    with documents._library.folder.rebuilding():
        with pytest.raises(Conflict, match="making the documents anew"):
            documents.rebuild()
        assert paths(documents.search("boiler manual")) == ["boiler.md"]


@pytest.mark.parametrize("pause", [0.0, 0.03, 0.15])
def test_a_rebuild_that_is_killed_leaves_an_index_that_serves(path, tmp_path, write, opened, folder, pause):
    for number in range(300):
        write(f"note-{number}.md", f"# Note {number}\n\nThe token{number} is here.\n")
    documents = opened(embedder="hashed:words").documents
    documents.add(tmp_path / "notes")
    documents.sync()
    process = child("document_syncer", path, "rebuild", "hashed:words")
    answer(process)
    tell(process, "go")
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    end(process)
    for _ in range(2):
        found = documents.search("token123", limit=1)
        assert paths(found) == ["note-123.md"]
        fresh = opened(embedder="hashed:words").documents
        status = fresh.status()
        assert (status.files, status.chunks, status.fts, status.vectors) == (300, 300, 300, 300)
        fresh.rebuild()
    names = {name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm"))}
    number = fresh.status().generation
    assert names == {"CURRENT", "REBUILDING", "SYNCING", f"catalogue-{number}.db", f"index-{number}"}


def test_a_closed_store_says_so(path):
    from support import open_store

    memory = open_store(path)
    documents = memory.documents
    memory.close()
    with pytest.raises(LedgerError, match="closed"):
        documents.search("boiler")


def test_a_file_that_was_added_may_get_another_trust(opened, write):
    note = write("plan.md", "The pear tree moves.")
    documents = opened().documents
    documents.add(note)
    documents.add(note, trust="trusted")
    assert [(source.name, source.trust) for source in documents.list()] == [("notes/plan.md", "trusted")]


def test_no_search_comes_back_empty_while_others_rebuild(path, opened, tmp_path, write):
    for number in range(60):
        write(f"note-{number}.md", f"# Note {number}\n\nThe token{number} is here.\n")
    documents = opened(documents_sync="open").documents
    documents.add(tmp_path / "notes")
    documents.sync()
    for _ in range(4):
        process = child("document_syncer", path, "rebuild")
        answer(process)
        tell(process, "go")
        while process.poll() is None:
            assert paths(documents.search("token42", limit=1)) == ["note-42.md"]
        assert finish(process)[-1]["added"] == 60
    assert documents.status().generation == 5


def test_what_was_written_over_before_is_purged_with_its_source(opened, notes, write, folder):
    documents = opened().documents
    documents.add(notes)
    for number in range(600):  # enough for a segment of the index
        write(f"many/{number}.md", f"The token{number} is here.")
    documents.sync()
    for number in range(5):
        write(f"many/{number}.md", f"The successor{number} is here.")
        (notes / f"many/{number + 100}.md").unlink()
    documents.sync()
    assert not documents.search("token3"), "what was written over is not found"
    assert not documents.search("token103"), "nor what was deleted"
    gone = documents.remove("notes")
    assert (gone.purged, gone.found) == (True, 0)
    assert not occurrences_in(folder, "is here")


# -- what another process, another scope or a mirror does --


def test_a_search_whose_generation_is_swapped_goes_on_with_the_new_one(documents, monkeypatch):
    library, searching = documents._library, documents._searching
    found, asked = searching._found, []

    def swapped_meanwhile(generation, *given):
        asked.append(generation.number)
        if len(asked) == 1:
            library.rebuild(documents.list())
            raise LedgerError("the file is gone")
        return found(generation, *given)

    monkeypatch.setattr(searching, "_found", swapped_meanwhile)
    assert paths(documents.search("boiler manual")) == ["boiler.md"]
    assert asked == [1, 2]


def test_a_search_that_fails_in_what_serves_says_so_at_once(documents, monkeypatch):
    asked = []

    def failing(generation, *_):
        asked.append(generation.number)
        raise LedgerError("the disk is broken")

    monkeypatch.setattr(documents._searching, "_found", failing)
    with pytest.raises(LedgerError, match="broken"):
        documents.search("boiler manual")
    assert asked == [1]


def test_a_mirror_among_the_notes_is_no_source_and_what_was_taken_from_it_goes(opened, notes):
    memory = opened()
    memory.remember("The spare key is under the blue pot.")
    memory.mirror(notes / "mirror")
    mark = notes / "mirror" / ".memoranda-mirror.json"
    kept = mark.read_bytes()
    mark.unlink()
    memory.documents.add(notes, trust="trusted")
    assert memory.documents.sync().added > 3
    mark.write_bytes(kept)
    synced = memory.documents.sync()
    assert synced.removed > 0
    assert [(each.path, "mirror" in each.reason) for each in synced.skipped] == [("mirror", True)]
    assert not memory.documents.search("spare key under the blue pot")
    assert memory.documents.status().files == 3


def test_making_anew_tells_nothing_of_the_files_of_other_scopes(opened, write, tmp_path):
    write("a.md", "The boiler is loud.", folder="anna")
    write("lawyer.md", "x" * 2_000_000, folder="ben")
    home = opened("home")
    home.within("home/anna").documents.add(tmp_path / "anna")
    home.within("home/ben").documents.add(tmp_path / "ben")
    synced = home.within("home/anna").documents.rebuild()
    assert (synced.added, synced.skipped) == (1, ())
    assert [each.path for each in home.within("home/ben").documents.rebuild().skipped] == ["lawyer.md"]
    home.close()
    synced = opened("home/anna", chunk_tokens=300).documents.sync()
    assert (synced.why, synced.skipped) == ("rebuild", ())


def test_a_title_and_tags_that_change_are_searched_as_they_are_now(opened, write, tmp_path):
    write("a.md", "---\ntitle: Quarterly Penguin\ntags: [hedgehog]\n---\nThe manual is in the blue folder.\n")
    documents = opened().documents
    documents.add(tmp_path / "notes")
    documents.sync()
    assert documents.search("penguin hedgehog")
    write("a.md", "---\ntitle: Yearly Walrus\ntags: [badger]\n---\nThe manual is in the blue folder.\n")
    documents.sync()
    assert documents.search("walrus")
    assert documents.search("badger")
    assert not documents.search("penguin")
    assert not documents.search("hedgehog")


def test_files_that_ask_for_less_trust_take_no_place_from_those_that_may_speak(opened, write, tmp_path):
    for number in range(220):
        write(f"q{number}.md", f"---\ntrust: quarantined\n---\nOtter mill otter mill {number}.\n")
    write("z.md", "The otter lives by the mill, and a lot more is said of it here than of the others in this place.\n")
    documents = opened().documents
    documents.add(tmp_path / "notes", trust="trusted")
    documents.sync()
    found = documents.search("otter mill", limit=1)
    assert paths(found) == ["z.md"]
    assert found.receipt.proposed == 1


def test_a_first_look_that_ran_out_of_time_is_gone_on_with(opened, notes, monkeypatch):
    from memoranda.service import document_library

    documents = opened(documents_sync="open").documents
    documents.add(notes)
    monkeypatch.setattr(document_library, "_IN_PASSING_SECONDS", -1.0)
    found = documents.search("boiler manual")
    assert not found
    assert "not all documents are read" in found.receipt.degraded[0]
    monkeypatch.setattr(document_library, "_IN_PASSING_SECONDS", 60.0)
    assert paths(documents.search("boiler manual")) == ["boiler.md"]
