"""Whatever is asked: an answer, an empty one with a reason, or a clear refusal; never another scope's memory."""

import pytest

from memoranda import InvalidInput
from support import open_store

QUERIES = {
    "empty": "",
    "blank": " \n\t ",
    "stop words": "the of and is to a",
    "stop words in Polish": "i w na do się że",
    "operators": 'AND OR NOT "*:^',
    "query language": 'NEAR("lamp" "hall", 5) AND text:lamp* -hall ^2 {lamp} [a TO z]',
    "SQL": "'; drop table memory; --",
    "percent and underscore": "%_%",
    "quotes": '"""""" “” „” «»',
    "a lone quote": 'the "lamp',
    "NUL": "lamp\0hall",
    "only NUL": "\0\0",
    "lone surrogates": "lamp \ud83d\udc00 \udfff",
    "only surrogates": "\ud800\udfff\ud800",
    "right to left": "\u202eאיפה המנורה\u202c أين المصباح",
    "marks of direction": "\u202e\u2066\u200f",
    "hidden tags": "lamp \U000e0041\U000e0042",
    "emoji": "💡🛋️" * 500,
    "marks on marks": "e" + "\u0301" * 5_000,
    "100 kB of words": "lamp hall " * 10_000,
    "100 kB of one word": "l" * 100_000,
    "100 kB of dots": "." * 100_000,
    "100 kB of slashes": "/" * 99_999 + "lamp",
    "100 kB of digits": "1" * 100_000,
    "many digits": "lamp " + "9" * 150,
    "100 kB of Chinese": "灯在书房" * 25_000,
    "100 kB of quotes": '"a' * 50_000,
    "100 kB of times": "yesterday or last week or 2023-05-03 " * 2_700,
    "many times": "on 3 May or 4 May or 5 May or " * 6,
    "times far away": "in the year 9999 or 0001 or 99999, 31 February, week 77",
    "a huge number of days": "999999999999999999999 days ago",
    "many lines": "\n" * 50_000 + "lamp",
    "ligatures and full width": "ﬁｌａｍｐ ǅ ℌ",
    "format codes": "%s %n {0} {} ${x}",
    "a path": "../../../etc/passwd",
    "an address": "a@" * 2_000 + "b",
    "an id": "0123456789abcdefghjk",
}


@pytest.fixture(scope="module", params=["none", "hashed:words", "auto"])
def store(request, tmp_path_factory):
    """Three scopes that keep the same: one sees only its own and what is above."""
    path = tmp_path_factory.mktemp("queries") / "store.db"
    with open_store(path, "home", embedder=request.param, injection="allow") as home:
        for scope in ("home/anna", "home/bob", "home"):
            where = home.within(scope)
            for query in QUERIES.values():
                clean = query[:500].replace("\0", " ").encode("utf-8", "replace").decode().strip()
                if clean:
                    where.remember(f"{clean} lamp hall {scope}", occurred_at="2025-05-03", conversation="talk")
        home.admin.maintain()
        yield home


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_no_query_breaks_recall_or_shows_another_scope(store, query):
    anna = store.within("home/anna")
    for asked in ({"policy": "broad", "limit": 1_000}, {"mode": "automatic"}, {"lanes": ["structured"]}):
        found = anna.recall(query, **asked)
        assert {hit.memory.scope for hit in found} <= {"home/anna", "home"}
        assert found or found.receipt.abstained
        assert len(str(found.receipt.as_json())) < 40_000
        assert anna.replay(found.receipt).same


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_no_query_breaks_a_pack_a_preview_or_a_question_why(store, query):
    anna = store.within("home/anna")
    pack = anna.pack(query, budget=400)
    assert pack.tokens <= 400
    assert "home/bob" not in pack.text
    kept = anna.list(limit=1)[0]
    assert anna.why_not(query, kept).step
    if query.strip():
        assert all(each.scope == "home/anna" for each in anna.erase(query=query, mode="preview").preview)


@pytest.mark.parametrize("name", ["100 kB of words", "100 kB of digits", "100 kB of times"])
def test_a_query_that_was_cut_says_so(store, name):
    found = store.recall(QUERIES[name])
    assert any("cut to 4,000 characters" in line for line in found.receipt.degraded)
    assert len(found.receipt.request["query"]) <= 4_000


@pytest.mark.parametrize("query", [None, 7, b"lamp", ["lamp"], {"query": "lamp"}, object(), True])
def test_what_is_no_text_is_refused(store, query):
    for ask in (store.recall, store.pack, lambda given: store.why_not(given, "0123456789abcdefghjk")):
        with pytest.raises(InvalidInput) as refused:
            ask(query)
        assert refused.value.hint


def test_ten_thousand_results_are_refused_and_a_thousand_are_not(store):
    with pytest.raises(InvalidInput) as refused:
        store.recall("lamp", limit=10_000)
    assert "1000" in str(refused.value)
    found = store.recall("lamp hall", limit=1_000, policy="broad")
    assert len(found) == store.stats().total
