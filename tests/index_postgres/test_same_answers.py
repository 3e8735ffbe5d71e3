"""The index in PostgreSQL answers what the embedded one answers, number for number."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.domain.memory import STATES
from memoranda.domain.ports import IndexEntry, IndexQuery, Meaning, Times
from memoranda.index.embedded import EmbeddedIndex
from memoranda.index.postgres import searching, writer
from memoranda.testing.index_entries import FewWords, pieces_of, vector_of

_SCOPES = ("home/anna", "home", "home/bob")
_WORDS = (
    "lamp", "boiler", "manual", "tea", "lampa", "lampy", "kuchni", "kuchnia", "zażółć", "gęślą", "jaźń", "herbatę",
    "light.office", "/etc/hosts", "v2.1", "灯在书房", "书房的灯", "客厅", "コーヒー", "the", "was", "Anna", "Łucja",
)  # fmt: skip
_DAY = 86_400_000
_WIDE = 60  # more than there are entries, so that no lane ends before another engine's would
texts = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join)


@st.composite
def entries(draw):
    made = []
    for number in range(1, draw(st.integers(1, 24)) + 1):
        text = draw(texts)
        meaning = Meaning(vector_of(text), pieces_of(text)) if draw(st.integers(0, 5)) else None
        made.append(
            IndexEntry(
                number,
                draw(st.sampled_from(_SCOPES)),
                text,
                draw(st.sampled_from(("live", "live", "live", *STATES))),
                draw(st.sampled_from((None, None, 500))),
                draw(st.sampled_from((None, None, 600))),
                meaning,
                draw(st.sampled_from(("", "Anna", "person:łucja"))),
                draw(st.sampled_from(("", "one", "two"))),
                draw(st.integers(0, 9)) * _DAY,
            )
        )
    return made


@st.composite
def queries(draw):
    text = draw(st.one_of(st.just(""), texts))
    times = st.sampled_from(
        (None, Times(((2 * _DAY, 5 * _DAY),)), Times((), ((1, 1),)), Times(((0, _DAY),), ((-1, -1),)))
    )
    return IndexQuery(
        draw(st.sampled_from((_SCOPES[:1], _SCOPES[:2], _SCOPES))),
        text,
        draw(st.sampled_from((None, vector_of(text or "tea")))),
        draw(st.sampled_from((None, 499, 550, 601))),
        draw(st.sampled_from((frozenset({"live"}), frozenset(STATES), frozenset({"forgotten", "live"})))),
        draw(st.one_of(st.none(), st.frozensets(st.integers(1, 30), max_size=20))),
        draw(times),
        draw(st.frozensets(st.integers(1, 30), max_size=4)),
        draw(st.sampled_from((None, FewWords()))),
        _WIDE,
        tuple(draw(entries())[:3]) if draw(st.booleans()) else (),
        draw(st.frozensets(st.integers(1, 30), max_size=3)),
    )


def _told(answer):
    """Everything of an answer; the order of what no lane ranked says nothing."""
    return answer._replace(candidates=tuple(sorted(answer.candidates, key=lambda each: each.number)))


def _same(one, other):
    """Sums over vectors may differ in their last bit with the order of the rows: nothing else may differ."""
    assert (one.searched, one.with_vector, one.average_length) == (
        other.searched,
        other.with_vector,
        other.average_length,
    )
    assert [each.number for each in one.candidates] == [each.number for each in other.candidates]
    for mine, theirs in zip(one.candidates, other.candidates, strict=True):
        for name, value in mine._asdict().items():
            there = getattr(theirs, name)
            if isinstance(value, float):
                assert math.isclose(value, there, rel_tol=1e-6, abs_tol=1e-7), name
            elif name == "around" and value is not None:
                assert math.isclose(value.coverage, there.coverage, rel_tol=1e-6, abs_tol=1e-7)
                assert math.isclose(value.cosine, there.cosine, rel_tol=1e-6, abs_tol=1e-6)
            else:
                assert value == there, name


def _compare(index, embedded, put, dropped, asked):
    for each in (embedded, index):
        each.apply(put=put[: len(put) // 2], drop=(), sequence=1)
        each.apply(put=put[len(put) // 2 :], drop=dropped, sequence=2)
    for query in asked:
        _same(_told(index.search(query)), _told(embedded.search(query)))
        assert index.extent(query.scopes) == embedded.extent(query.scopes)
    assert index.missing_vectors(50) == embedded.missing_vectors(50)
    embedded.close()


_some = {
    "put": entries(),
    "dropped": st.frozensets(st.integers(1, 24), max_size=4),
    "asked": st.lists(queries(), min_size=1, max_size=4),
}
_slowly = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@_slowly
@given(**_some)
def test_the_same_entries_in_small_scopes_give_the_same_answers(store, tmp_path_factory, put, dropped, asked):
    embedded = EmbeddedIndex(tmp_path_factory.mktemp("one") / "one.db", fingerprint="x|1")
    _compare(store.opener()(), embedded, put, dropped, asked)


@_slowly
@given(**_some)
def test_the_same_entries_in_large_scopes_beside_small_ones_give_the_same_answers(
    store, tmp_path_factory, monkeypatch, put, dropped, asked
):
    monkeypatch.setattr(writer, "SMALL", 4)
    monkeypatch.setattr(searching, "LOADED", 2)
    embedded = EmbeddedIndex(tmp_path_factory.mktemp("one") / "one.db", fingerprint="x|1")
    _compare(store.opener()(), embedded, put, dropped, asked)


@pytest.mark.parametrize("small", [4_096, 3])
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("gdzie są instrukcje kotła", 1),
        ("zapalić lampę w kuchni", 2),
        ("书房的灯", 3),
        ("咖啡", 4),
        ("紅茶はどこ", 5),
        ("/etc/hosts", 6),
    ],
)
def test_polish_and_scripts_without_spaces_are_found_as_by_the_embedded_index(
    store, tmp_path, monkeypatch, small, text, first
):
    monkeypatch.setattr(writer, "SMALL", small)
    put = [
        IndexEntry(number, "home", each)
        for number, each in enumerate(
            (
                "Instrukcja kotła leży w piwnicy.", "Lampa w kuchni ma słabą żarówkę.", "安娜在书房里开灯看书。",
                "她喜欢喝咖啡。", "紅茶は棚にあります。", "The name is in /etc/hosts on the server.", "Nothing of it.",
            ),
            start=1,
        )
    ]  # fmt: skip
    embedded = EmbeddedIndex(tmp_path / "one.db", fingerprint="x|1")
    index = store.opener()()
    for each in (embedded, index):
        each.apply(put=put, drop=(), sequence=1)
    answer = index.search(IndexQuery(("home",), text))
    assert answer.candidates[0].number == first
    assert answer == embedded.search(IndexQuery(("home",), text))
    embedded.close()
