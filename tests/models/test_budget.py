"""A daily budget is hard: whatever is asked and however it ends, the limits are not passed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.models.budget import Budget, Spent, most_tokens, reservation, settlement

_small = st.integers(0, 50)
_call = st.tuples(_small, st.floats(0, 1), st.booleans())


def added(spent, more):
    return Spent(spent.calls + more.calls, spent.tokens + more.tokens)


@given(limits=st.tuples(_small, st.integers(0, 300)), calls=st.lists(_call, max_size=60))
def test_no_sequence_of_calls_passes_the_limits(limits, calls):
    budget, spent = Budget(*limits), Spent()
    used = 0
    for cost, share, fails in calls:
        if not budget.allows(spent, tokens=cost):
            continue
        reserved = reservation(cost)
        spent = added(spent, reserved)
        real = int(cost * share)
        used += real
        if not fails:
            spent = added(spent, settlement(reserved, Spent(1, real)))
        assert used <= spent.tokens <= budget.tokens
        assert spent.calls <= budget.calls


@given(spent=st.builds(Spent, _small, _small), tokens=_small, limits=st.tuples(_small, _small))
def test_a_call_is_allowed_exactly_when_both_limits_have_room(spent, tokens, limits):
    after = added(spent, reservation(tokens))
    fits = after.calls <= limits[0] and after.tokens <= limits[1] and 0 not in limits
    assert Budget(*limits).allows(spent, tokens=tokens) == fits


@given(spent=st.builds(Spent, _small, _small), reserved=_small, real=_small, calls=st.integers(1, 3))
def test_settling_leaves_the_real_cost_and_nothing_of_what_was_put_aside(spent, reserved, real, calls):
    aside = reservation(reserved)
    after = added(added(spent, aside), settlement(aside, Spent(calls, real)))
    assert after == Spent(spent.calls + calls, spent.tokens + real)


def test_nothing_sent_is_paid_back_whole():
    aside = reservation(70)
    assert added(aside, settlement(aside, Spent(0, 0))) == Spent(0, 0)


@pytest.mark.parametrize("limits", [(0, 100), (100, 0), (0, 0)])
def test_a_limit_of_zero_is_off(limits):
    assert Budget(*limits).off
    assert not Budget(*limits).allows(Spent(), tokens=0)


def test_a_call_that_costs_less_than_nothing_frees_nothing():
    assert not Budget(5, 10).allows(Spent(0, 11), tokens=-100)
    assert reservation(-100) == Spent(1, 0)


@given(texts=st.lists(st.text(max_size=30), max_size=4), answer=st.integers(0, 1000))
def test_the_most_tokens_are_never_fewer_than_the_bytes(texts, answer):
    assert most_tokens(*texts, answer=answer) >= sum(len(text.encode("utf-8", "replace")) for text in texts) + answer
