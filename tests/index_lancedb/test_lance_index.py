"""What the index in LanceDB promises beyond the contract: real indexes, the embedded answers, versions, and erasure."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from memoranda.domain.errors import LedgerLocked
from memoranda.domain.ports import IndexEntry, IndexQuery, Meaning, Times
from memoranda.index.embedded import EmbeddedIndex
from memoranda.index.lancedb import blocks, index, upkeep
from memoranda.index.lancedb.filters import ScopeCode
from memoranda.index.lancedb.rows import Row, token
from memoranda.ledger.locking import held
from memoranda.testing.index_entries import HERE, QUERIES, FewWords, ask, entry, many, numbers, vector_of

_CANARY = "the canary zyxwvut sang qwertzy in xanadu yesterday evening"
_POLISH = (
    "lampa",
    "lampy",
    "lampę",
    "kocioł",
    "kotła",
    "kotle",
    "piwnica",
    "w",
    "piwnicy",
    "herbata",
    "Zażółć",
    "jaźń",
)
_CHINESE = ("灯在书房", "书房的灯", "锅炉", "说明书", "在地下室")
_WORDS = (*_POLISH, *_CHINESE, "lamp", "boiler", "cellar", "Anna", "tea", "milk", "light.office", "192.168.1.7", "ten")


@pytest.fixture
def proposing(monkeypatch):
    """LanceDB proposes from few entries on, with every index that it has."""
    monkeypatch.setattr(blocks, "SMALL", 50)
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 50)
    monkeypatch.setattr(upkeep, "TRAINED_FROM", 300)


def _sentences(count, *, seed=7):
    chosen = random.Random(seed)
    made = []
    for number in range(1, count + 1):
        text = " ".join(chosen.choice(_WORDS) for _ in range(chosen.randint(2, 12))) + f" {number}"
        made.append(
            entry(
                number,
                text,
                state=chosen.choice(["live"] * 8 + ["superseded", "forgotten"]),
                valid_until=chosen.choice([None, None, None, 1_000]),
                vector=number % 11 != 0,
                words=number % 3 == 0,
                speaker=chosen.choice(["anna", "bob", ""]),
                conversation=chosen.choice(["", "one", "two", "three"]),
                occurred_at=chosen.choice([0, 86_400_000 * chosen.randint(1, 50)]),
            )
        )
    return made


def _queries():
    times = (None, Times(((86_400_000, 86_400_000 * 9),)), Times((), ((2, 2), (-1, -1))))
    texts = (
        "gdzie jest lampa w piwnicy",
        "书房的灯",
        "锅炉说明书在哪里",
        "Anna herbata",
        "light.office",
        "boiler cellar 77",
    )
    return [
        IndexQuery(
            (HERE,), text, vector_of(text), times=when, subjects=subjects, vocabulary=FewWords(), now=now, allow=allow
        )
        for text in texts
        for when in times
        for subjects, now, allow in ((frozenset(), 500, None), (frozenset({3, 9}), None, range(1, 900, 2)))
    ]


def _rank(candidate):
    """Of the lane that has it foremost."""
    return min(candidate.lexical_rank or 99, candidate.semantic_rank or 99)


def test_answers_are_those_of_the_embedded_index(opener, tmp_path):
    lance, embedded = opener(), EmbeddedIndex(tmp_path / "embedded.db", fingerprint="x")
    for each in (lance, embedded):
        each.apply(put=_sentences(400), drop=(), sequence=1)
    for query in _queries():
        assert lance.search(query) == embedded.search(query)
    embedded.close()


def test_what_lancedb_proposes_is_scored_as_the_embedded_index_scores_it(opener, tmp_path, proposing):
    lance, embedded = opener(), EmbeddedIndex(tmp_path / "embedded.db", fingerprint="x")
    for each in (lance, embedded):
        each.apply(put=_sentences(400), drop=(), sequence=1)
        each.optimize()
    assert "words FTS" in lance.health().indexes
    for query in _queries():
        proposed, whole = lance.search(query._replace(pool=40)), embedded.search(query._replace(pool=40))
        assert proposed.searched == whole.searched
        assert proposed.with_vector == whole.with_vector
        known = {each.number: each for each in whole.candidates}
        best = [each.number for each in whole.candidates if _rank(each) <= 10]
        found = {each.number: each for each in proposed.candidates}
        assert len(set(best) & set(found)) >= 0.9 * len(best)
        for number in found.keys() & known.keys():
            assert found[number].coverage == known[number].coverage
            assert found[number].cosine == known[number].cosine
            assert found[number].closeness == known[number].closeness
    embedded.close()


def test_chinese_and_polish_words_are_found_by_lancedb(opener, proposing):
    lance = opener()
    crowd = [entry(number, f"something else {number}", vector=False) for number in range(10, 200)]
    lance.apply(
        put=[entry(1, "灯在书房。", vector=False), entry(2, "instrukcja kotła jest w piwnicy", vector=False), *crowd],
        drop=(),
        sequence=1,
    )
    lance.optimize()
    for text, number in (("书房有什么", 1), ("gdzie instrukcja do kocioł", 2), ("piwnica", 2)):
        assert lance.search(IndexQuery((HERE,), text)).candidates[0].number == number


def test_indexes_are_made_and_used(opener, proposing):
    lance = opener()
    lance.apply(put=_sentences(400), drop=(), sequence=1)
    assert lance.health().indexes == ()
    lance.optimize()
    made = lance.health()
    assert made.indexes == (
        "conversation BTree",
        "number BTree",
        "scope BTree",
        "state Bitmap",
        "terms LabelList",
        "valid_from BTree",
        "valid_until BTree",
        "vector IvfRq",
        "vectored Bitmap",
        "words FTS",
    )
    assert made.unindexed == 0
    handle = lance._table.handle
    code = ScopeCode.of(HERE)
    where = f"(scope IN ({code.code})) AND (state IN (0))"
    by_words = handle.search(token(5), query_type="fts").where(where, prefilter=True).limit(9).explain_plan()
    assert "MatchQuery" in by_words
    assert "@scope_idx" in by_words
    assert "@state_idx" in by_words
    by_meaning = handle.search(vector_of("lamp"), vector_column_name="vector").distance_type("cosine")
    plan = by_meaning.where(where, prefilter=True).refine_factor(8).limit(9).explain_plan()
    assert "ANNSubIndex" in plan
    assert "@scope_idx" in plan
    counted = handle.search().where("array_has(terms, 7)").explain_plan()
    assert "@terms_idx" in counted


def test_what_no_index_has_yet_is_found_and_told_of(opener, proposing):
    lance = opener()
    lance.apply(put=_sentences(400), drop=(), sequence=1)
    lance.optimize()
    lance.apply(put=[entry(900, "a zeppelin over the harbour")], drop=(), sequence=2)
    assert lance.health().unindexed > 0
    assert numbers(ask(lance, "zeppelin harbour"))[0] == 900
    by_meaning = lance.search(IndexQuery((HERE,), vector=vector_of("a zeppelin over the harbour")))
    assert by_meaning.candidates[0].number == 900


def test_many_small_writes_leave_few_files(opener, monkeypatch):
    monkeypatch.setattr(index, "EVERY", 16)
    lance = opener()
    for number in range(1, 70):
        lance.apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=number)
    assert lance.health().fragments < 20
    assert not lance.health().needs_optimizing
    assert lance.counts().entries == 69


def test_optimizing_twice_writes_nothing_the_second_time(opener):
    lance = opener()
    lance.apply(put=many(30), drop=(), sequence=1)
    lance.optimize()
    before = lance.version()
    lance.optimize()
    assert lance.scrub()
    assert lance.version() == before


# -- the way back --


def test_an_index_that_is_ahead_of_its_ledger_steps_back(opener, monkeypatch):
    monkeypatch.setattr(index, "EVERY", 4)
    lance, other = opener(), opener()
    for number in range(1, 13):
        lance.apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=number, mark=f"mark {number}")
    assert len(numbers(ask(other, "lamp"))) == 12
    assert lance.step_back(lambda sequence, mark: sequence <= 9 and mark == f"mark {sequence}")
    assert lance.standing == other.standing == (8, "mark 8")
    assert sorted(numbers(ask(other, "lamp"))) == list(range(1, 9))
    lance.apply(put=[entry(9, "another lamp")], drop=(), sequence=9, after=8)
    assert sorted(numbers(ask(other, "lamp"))) == list(range(1, 10))


def test_without_a_version_that_the_ledger_knows_nothing_changes(opener, monkeypatch):
    monkeypatch.setattr(index, "EVERY", 4)
    lance = opener()
    for number in range(1, 9):
        lance.apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=number, mark=f"mark {number}")
    assert not lance.step_back(lambda sequence, mark: mark == "another life")
    assert lance.standing == (8, "mark 8")
    assert lance.counts().entries == 8


def test_tags_stay_few_and_old_versions_go(opener, monkeypatch):
    monkeypatch.setattr(index, "EVERY", 2)
    lance = opener()
    for number in range(1, 25):
        lance.apply(put=[entry(number, f"lamp {number}")], drop=(), sequence=number)
    assert lance.health().tags == 4


# -- erasure --


def test_nothing_of_an_erased_entry_is_left_in_any_file_or_version(opener, proposing):
    lance = opener()
    gone = [entry(999, _CANARY, words=True)]
    lance.apply(put=[*_sentences(400), *gone], drop=(), sequence=1)
    lance.optimize()
    lance.apply(put=[entry(999, "only a finch")], drop=(), sequence=2)
    before = set(lance.files())
    marks = [token(term).encode() for term in Row.of(gone[0]).packed.terms.tolist()]
    assert _seen(lance, marks), "they must be findable at all"
    tags = lance.health().tags
    assert tags
    lance.apply(put=(), drop=[999], sequence=3)
    assert lance.health().owed == 1
    assert lance.scrub()
    left = before & set(lance.files())
    assert {Path(name).name for name in left} <= {"latest_version_hint.json"}, "no file of before is left"
    assert lance.health().owed == 0
    assert not _seen(lance, [mark for mark in marks if mark not in _tokens(lance)])
    assert not lance._table.rows("number = 999", ("number",)).num_rows
    for version in lance._table.handle.list_versions():
        lance._table.handle.checkout(version["version"])
        assert lance._table.handle.count_rows("number = 999") == 0
    lance._table.version()
    assert "words FTS" in lance.health().indexes


def test_what_is_owed_stays_owed_until_nothing_is_left(opener, monkeypatch):
    lance = opener()
    lance.apply(put=many(30), drop=(), sequence=1)
    lance.apply(put=(), drop=[3], sequence=2)
    with monkeypatch.context() as patch:
        patch.setattr(upkeep, "_versions", lambda table: [1, 2])
        assert not lance.scrub()
    assert opener().health().owed == 1
    assert lance.scrub()
    assert opener().health().owed == 0


def test_what_was_never_there_costs_no_rewriting(opener):
    lance = opener()
    lance.apply(put=many(30), drop=[77], sequence=1)
    before = lance.version()
    assert lance.scrub()
    assert lance.version() == before


def test_who_reads_while_everything_is_written_anew_goes_on(opener):
    one, other = opener(), opener()
    one.apply(put=many(30), drop=(), sequence=1)
    assert ask(other, "lamp").candidates
    one.apply(put=(), drop=[3], sequence=2)
    assert one.scrub()
    # What the other had in view is gone from the disk.
    assert other._table.rows("number = 4", ("number",)).num_rows == 1
    assert 3 not in numbers(ask(other, QUERIES[0], pool=100))


# -- several at once, and damage --


def test_who_writes_keeps_others_out_and_they_are_told(opener, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "_PATIENCE", 0.1)
    lance = opener()
    with held(tmp_path / "lock-index-one-1"), pytest.raises(LedgerLocked):
        lance.apply(put=many(3), drop=(), sequence=1)
    assert lance.apply(put=many(3), drop=(), sequence=1)


def test_a_table_whose_last_writes_were_torn_goes_back_to_the_last_whole_version(homes, tmp_path, proposing):
    lance = homes().open("x")
    lance.apply(put=many(80), drop=(), sequence=1, mark="one")
    lance.optimize()
    lance.apply(put=[entry(100, "lamp")], drop=(), sequence=2, mark="two")
    before = ask(lance, "lamp", pool=500)
    known = _names(tmp_path, "_versions/*.manifest"), _names(tmp_path, "data/*.lance")
    lance.apply(put=[entry(101, "lamp")], drop=(), sequence=3, mark="three")
    lance.apply(put=[entry(102, "lamp")], drop=(), sequence=4, mark="four")
    newest = min(_names(tmp_path, "_versions/*.manifest") - known[0])
    newest.write_bytes(b"")  # the newest version, and what the one before it has in view
    for path in _names(tmp_path, "data/*.lance") - known[1]:
        path.write_bytes(b"")
    mark = homes().mark()
    mended = homes().open("x")
    assert mended.standing == (2, "two")
    assert ask(mended, "lamp", pool=500) == before
    assert homes().mark() == mark
    assert mended.apply(put=[entry(101, "lamp")], drop=(), sequence=3, after=2)
    assert homes().open("x").holds([100, 101, 102]) == {100, 101}


@pytest.mark.parametrize("pattern", ["_versions/*.manifest", "data/*.lance"])
def test_a_table_of_which_nothing_is_whole_is_made_anew(homes, tmp_path, pattern):
    lance = homes().open("x")
    lance.apply(put=many(30), drop=(), sequence=30)
    for path in _names(tmp_path, pattern):
        path.write_bytes(b"")
    before = homes().mark()
    empty = homes().open("x")
    assert empty.standing == (0, "")
    assert homes().mark() != before
    assert empty.apply(put=many(30), drop=(), sequence=30)
    assert ask(empty, "lamp").candidates


def _names(tmp_path, pattern):
    return set((tmp_path / "lance" / "one-1.lance").glob(pattern))


def test_a_folder_that_was_removed_is_made_anew(homes, tmp_path):
    home = homes()
    home.open("x").apply(put=many(3), drop=(), sequence=3)
    shutil.rmtree(tmp_path / "lance")
    assert home.mark() == (0, 0)
    assert home.open("x").sequence == 0


def test_entries_are_bounded_in_memory(opener, monkeypatch):
    monkeypatch.setattr(blocks, "CACHE_BYTES", 1)
    lance = opener()
    lance.apply(put=[entry(n, f"lamp {n}", scope=f"home/{n}") for n in range(1, 30)], drop=(), sequence=1)
    for number in range(1, 30):
        assert numbers(ask(lance, "lamp", scopes=(f"home/{number}",))) == [number]
    assert len(lance._blocks._blocks) == 1


def test_vectors_that_are_no_vectors_are_kept_without_one(opener):
    lance = opener()
    bad = [[0.0] * 64, [float("nan")] * 64, [float("inf")] + [0.0] * 63]
    put = [IndexEntry(n, HERE, "lamp", meaning=Meaning(np.array(v, np.float32))) for n, v in enumerate(bad, start=1)]
    lance.apply(put=[*put, entry(9, "lamp")], drop=(), sequence=1)
    assert lance.missing_vectors(9) == (1, 2, 3)
    assert lance.search(IndexQuery((HERE,), vector=vector_of("lamp"))).candidates[0].number == 9


def _seen(lance, needles):
    contents = [Path(name).read_bytes() for name in lance.files()]
    return [needle for needle in needles if any(needle in content for content in contents)]


def _tokens(lance):
    table = lance._table.rows("number > 0", ("words",))
    return {word.encode() for words in table["words"].to_pylist() for word in words.split()}
