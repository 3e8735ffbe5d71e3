"""When a memory ends by the rule of its kind, and what no rule reaches."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import DAY_MS, MAX_MS
from memoranda.domain.lasting import end_said_again, ends_by_rule, without_end
from memoranda.domain.memory import KINDS, Memory
from memoranda.governance.retention import aged, lasts, with_end

WEEK = 7 * DAY_MS
NOW = 1_767_225_600_000

moments = st.integers(0, MAX_MS)
memories = st.builds(
    lambda **fields: Memory(**fields),
    id=st.just("0" * 20),
    scope=st.just("home"),
    kind=st.sampled_from(KINDS),
    text=st.just("The heron came back."),
    attribute=st.sampled_from(["", "location", "profile.traits"]),
    importance=st.none() | st.floats(0, 1),
    metadata=st.sampled_from([{}, {"capture": "en"}]),
    updated_at=moments,
    valid_from=st.none() | moments,
    valid_until=st.none() | moments,
)
rules = st.dictionaries(st.sampled_from(KINDS), st.integers(1, 10_000 * DAY_MS))


def memory(**fields):
    return Memory("0" * 20, "home", **{"kind": "note", "text": "The heron came back.", "updated_at": NOW, **fields})


def test_a_kind_with_a_rule_ends_so_long_after_it_was_last_said():
    ended = with_end(memory(), {"note": WEEK})
    assert ended.valid_until == NOW + WEEK
    assert ends_by_rule(ended)


def test_what_begins_later_ends_later():
    assert with_end(memory(valid_from=NOW + DAY_MS), {"note": WEEK}).valid_until == NOW + DAY_MS + WEEK


@given(memories, rules)
def test_an_end_that_was_said_stays(kept, ttl):
    if kept.valid_until is not None:
        assert with_end(kept, ttl) == kept


@given(memories, rules)
def test_what_lasts_never_gets_an_end(kept, ttl):
    if kept.grade == "must_remember" or kept.attribute.startswith("profile."):
        assert lasts(kept)
        assert with_end(kept, ttl) == kept


@given(memories, rules)
def test_a_rule_changes_the_end_and_nothing_else_and_can_be_taken_back(kept, ttl):
    ended = with_end(kept, ttl)
    assert with_end(ended, ttl) == ended
    if ended != kept:
        assert ended.kind in ttl
        assert dict(without_end(ended).metadata) == dict(kept.metadata)
        assert without_end(ended)._replace(metadata=kept.metadata) == kept
    else:
        assert without_end(kept) == kept


@given(memories, rules, moments)
def test_aging_twice_is_aging_once_and_what_has_ended_is_expired(kept, ttl, now):
    once = aged(kept, ttl, now=now)
    assert aged(once, ttl, now=now) == once
    assert (once.state == "expired") == (once.valid_until is not None and once.valid_until <= now)


def test_what_becomes_important_is_freed_of_its_end():
    ended = with_end(memory(), {"note": WEEK})
    assert aged(ended._replace(importance=0.9), {"note": WEEK}, now=NOW + 2 * WEEK).valid_until is None
    said = memory(valid_until=NOW + 1, importance=0.9)
    assert aged(said, {"note": WEEK}, now=NOW + 2).state == "expired"


def test_said_again_a_rule_prolongs_its_own_end_and_leaves_one_that_was_said():
    ruled, later = with_end(memory(), {"note": WEEK}), with_end(memory(updated_at=NOW + DAY_MS), {"note": WEEK})
    said, over = memory(valid_until=NOW + 2 * DAY_MS), memory(valid_until=NOW + 5)
    assert end_said_again(ruled, later) == (NOW + DAY_MS + WEEK, True)
    assert end_said_again(said, later) == (NOW + 2 * DAY_MS, False)
    assert end_said_again(over, later) == (NOW + DAY_MS + WEEK, True)
    assert end_said_again(ruled, said) == (NOW + 2 * DAY_MS, False)
    assert end_said_again(ruled, memory()) == (NOW + WEEK, True)
    assert end_said_again(memory(), memory()) == (None, False)
