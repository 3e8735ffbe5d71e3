"""Which of the memories that bear on a query may come back: by trust, by source, by grade."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.tiers import LADDER, MUST_MOST, PER_SOURCE, UNKNOWN_MOST, admissible, admitted

from .made import IMPORTANCE, hit_of

GRADES = tuple(IMPORTANCE)
HITS = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.sampled_from(GRADES), st.sampled_from(["trusted", "untrusted"]),
              st.sampled_from(["", "notes.md", "page"])),
    max_size=25,
)  # fmt: skip


def hits_of(*grades, start=0.9, step=0.01, **fields):
    """Best first, one of each of these grades."""
    return [hit_of(number, start - step * number, grade=grade, **fields) for number, grade in enumerate(grades)]


def ids(hits):
    return [hit.id for hit in hits]


def asked(hits, limit=3):
    return admitted(hits, mode="asked", limit=limit, trust_named=False)


def automatic(hits, limit=3):
    return admitted(hits, mode="automatic", limit=limit, trust_named=False)


def test_the_ladder_is_climbed_down_only_as_far_as_needed():
    graded = hits_of("must_remember", "unknown", "nice_to_have", "ignore")
    assert ids(asked(graded, 2).hits) == ids([graded[0], graded[2]])
    assert asked(graded, 2).tier == "must+nice"
    assert asked(graded, 2).fates == dict.fromkeys(ids([graded[1], graded[3]]), "its grade was not needed")
    assert ids(asked(graded, 3).hits) == ids(graded[:3])
    assert asked(graded, 3).tier == "must+nice+unknown"
    assert ids(asked(graded, 4).hits) == ids(graded)
    assert asked(graded, 4).tier == "must+nice+unknown+ignore"


def test_something_clearly_better_below_is_not_held_back():
    better, weak = hit_of(1, 0.9, grade="unknown"), hit_of(2, 0.4, grade="must_remember")
    assert ids(asked([better, weak], 1).hits) == ids([better, weak])
    close = hit_of(3, 0.45, grade="unknown")
    assert ids(asked([close, weak], 1).hits) == ids([weak])


def test_automatic_recall_mixes_grades():
    graded = hits_of(*["must_remember"] * 5, *["nice_to_have"] * 3, *["unknown"] * 3)
    mixed = automatic(graded, 5)
    assert [hit.memory.grade for hit in mixed.hits] == ["must_remember"] * MUST_MOST + ["nice_to_have"] * 3
    assert mixed.tier == "quota"
    few = automatic(hits_of(*["must_remember"] * 5, "nice_to_have", "unknown", "unknown"), 5)
    grades = [hit.memory.grade for hit in few.hits]
    assert grades.count("nice_to_have") == 1
    assert grades.count("unknown") == UNKNOWN_MOST
    assert grades.count("must_remember") == 3, "places left over go to the best of the rest"


def test_ignore_never_comes_by_itself_and_last_when_asked_for():
    noise = hits_of("ignore", "ignore")
    assert automatic(noise).hits == []
    assert set(automatic(noise).fates.values()) == {"graded ignore, and nobody asked"}
    assert ids(asked(noise).hits) == ids(noise)


def test_what_is_not_trusted_speaks_only_when_nothing_trusted_does():
    rumour, fact = hit_of(1, 0.9, trust="untrusted"), hit_of(2, 0.3)
    assert ids(asked([rumour, fact]).hits) == ids([fact])
    assert asked([rumour, fact]).fates == {rumour.id: "untrusted, and something trusted answers"}
    assert ids(asked([rumour]).hits) == ids([rumour])
    assert automatic([rumour]).hits == []
    assert automatic([rumour]).fates == {rumour.id: "untrusted, and nobody asked"}


@pytest.mark.parametrize("mode", ["asked", "automatic"])
def test_who_names_a_trust_gets_it(mode):
    rumour, fact = hit_of(1, 0.9, trust="untrusted"), hit_of(2, 0.3)
    named = admitted([rumour, fact], mode=mode, limit=3, trust_named=True)
    assert ids(named.hits) == ids([rumour, fact])


def test_at_most_a_few_come_from_one_source():
    page = hits_of(*["unknown"] * 5, source_ref="notes.md")
    free = [hit_of(number, 0.5) for number in range(10, 15)]
    kept = asked([*page, *free], 10)
    assert ids(kept.hits) == ids([*page[:PER_SOURCE], *free])
    assert kept.fates == dict.fromkeys(ids(page[PER_SOURCE:]), "enough of its source")


@given(HITS, st.integers(1, 8), st.sampled_from(["asked", "automatic"]), st.booleans())
def test_everything_is_admitted_or_has_a_reason_and_keeps_its_order(drawn, limit, mode, named):
    hits = [
        hit_of(number, score, grade=grade, trust=trust, source_ref=source)
        for number, (score, grade, trust, source) in enumerate(sorted(drawn, key=lambda each: -each[0]), start=1)
    ]
    chosen = admitted(hits, mode=mode, limit=limit, trust_named=named)
    assert set(ids(chosen.hits)) | set(chosen.fates) == set(ids(hits))
    assert not set(ids(chosen.hits)) & set(chosen.fates)
    assert ids(chosen.hits) == [each for each in ids(hits) if each in set(ids(chosen.hits))]
    if mode == "automatic":
        assert len(chosen.hits) <= limit
        assert all(hit.memory.grade != "ignore" for hit in chosen.hits)
        assert named or all(hit.memory.trust == "trusted" for hit in chosen.hits)
    else:
        assert len(chosen.hits) >= min(limit, admissible(hits, mode, trust_named=named))
        assert chosen.tier in [tier for tier, _ in LADDER]
