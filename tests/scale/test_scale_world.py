"""The made-up world of the growth measure: the same each time, and shaped as it says."""

import numpy as np
import pytest
from bench import scale_world as world
from bench.scale_plot import growth
from bench.scale_report import report

from memoranda.domain.text import normal_form


@pytest.mark.parametrize("size", [10_000, 100_000, 1_000_000])
def test_the_sizes_of_scopes_add_up_and_fall(size):
    given = world.shares(size)
    assert sum(given) == size
    assert given == sorted(given, reverse=True)
    assert given[-1] >= 1


def test_a_million_memories_are_over_ten_thousand_scopes_as_zipf_has_it():
    given = world.shares(1_000_000)
    asked = world.asked_scopes(given)
    assert len(given) == 10_000
    assert 90_000 < given[asked["largest"]] < 110_000
    assert 900 < given[asked["medium"]] < 1_100
    assert 5 < given[asked["small"]] < 20


def test_a_scope_that_is_empty_still_is_not_asked():
    assert world.asked_scopes([50, 0, 900, 3, 0]) == {"largest": 2, "medium": 2, "small": 3}


def test_a_store_only_ever_grows():
    """A scope of a smaller store is at least as large in a larger one: what is there need not be taken away."""
    small, large = world.shares(10_000), world.shares(100_000)
    assert all(after >= before for before, after in zip(small, large, strict=False))


def test_a_memory_is_the_same_each_time_and_no_two_are_alike():
    assert world.draft(7, 3) == world.draft(7, 3)
    texts = [normal_form(world.draft(rank, number).text) for rank in range(5) for number in range(2_000)]
    assert len(set(texts)) == len(texts)


def test_a_question_shares_rare_words_with_what_it_asks_for():
    text, asked = world.draft(4, 9).text.lower(), world.question(4, 9).lower()
    shared = set(text.strip(".").split()) & set(asked.strip("?").split())
    assert len(shared - {"the", "that", "was", "said", "about"}) >= 3


def test_the_nearest_text_to_a_question_is_the_one_that_it_asks_for():
    embedder = world.WordsEmbedder()
    vectors = embedder.embed([world.question(0, number) for number in range(20)], "query")
    found = list(world.exact_of_all(embedder, 0, 3_000, vectors, 10))
    assert all(len(best) == 10 for best in found)
    assert sum(number in best for number, best in enumerate(found)) >= 18


def test_vectors_do_not_depend_on_what_stands_beside():
    embedder = world.WordsEmbedder()
    alone = embedder.embed([world.draft(1, 1).text], "document")[0]
    beside = embedder.embed([world.draft(1, number).text for number in range(5)], "document")[1]
    assert np.array_equal(alone, beside)


MEASURED = {
    "sizes": {
        "10000": {
            "grow": {"rounds": [{"memories": 10_000, "kept_s": 4.0, "indexed_s": 1.0}]},
            "ask": {"largest": {"p50_ms": 5.0, "cpu_p50_ms": 4.0}, "rss_mb": {"any": 150.0}},
            "upkeep": {"bytes": {"ledger": 20_000_000, "index": 10_000_000}},
        }
    }
}


def test_what_was_not_measured_is_a_dash():
    printed = report(MEASURED)
    assert "| kept, memories/s | 2,500 |" in printed
    assert "| ledger, bytes a memory | 2,000 |" in printed
    assert "| doctor, s | - |" in printed


def test_the_plot_is_an_svg_with_a_curve_for_each_engine():
    drawn = growth({"embedded": MEASURED, "postgres": MEASURED})
    assert drawn.startswith("<svg")
    assert "embedded largest" in drawn
    assert "postgres largest" in drawn
    assert "<script" not in drawn
