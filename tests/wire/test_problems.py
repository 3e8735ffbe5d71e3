"""Errors travel as problems: the same class, words, hint and what else they know."""

import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain import errors
from memoranda.domain.errors import Ambiguous, MemorandaError, ProviderUnavailable, Refused
from memoranda.wire.problems import error_of, problem, problem_of, status_of

from .strategies import JSON

CLASSES = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, MemorandaError)]


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_is_the_same_after_its_travel(kind):
    told = json.loads(json.dumps(problem_of(kind("no such lamp", hint="Look elsewhere."))))
    again = error_of(told)
    assert type(again) is kind
    assert (str(again), again.hint) == ("no such lamp", "Look elsewhere.")
    assert told["status"] == status_of(again)
    assert set(told) >= {"type", "title", "status", "detail", "hint"}


def test_what_an_error_knows_beside_its_words_travels_too():
    ambiguous = error_of(problem_of(Ambiguous("two", candidates=("abcd1", "abcd2"))))
    assert ambiguous.candidates == ("abcd1", "abcd2")
    assert error_of(problem_of(ProviderUnavailable("busy", retry_after=2.5))).retry_after == 2.5


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Refused), (403, Refused), (413, errors.InvalidInput), (404, errors.NotFound)]
)
def test_a_problem_of_the_server_itself_is_told_by_its_status(status, kind):
    error = error_of(problem(status, "something-new", "no", "Do this."))
    assert type(error) is kind
    assert (str(error), error.hint) == ("no", "Do this.")


def test_when_to_come_back_is_kept_whatever_the_problem_is_called():
    error = error_of(problem(429, "too-many-requests", "too often", "Wait.", retry_after=3))
    assert isinstance(error, ProviderUnavailable)
    assert error.retry_after == 3


@given(st.dictionaries(st.sampled_from(["type", "status", "detail", "hint", "candidates", "retry_after"]), JSON))
def test_whatever_a_server_says_it_is_an_error_of_ours(told):
    error = error_of(told)
    assert isinstance(error, MemorandaError)
    assert error.hint
    assert len(str(error)) <= 4_000


def test_a_type_that_names_one_of_our_errors_is_no_way_to_another_class():
    assert type(error_of({"type": "urn:memoranda:exception", "status": 500})) is MemorandaError
    assert type(error_of({"type": "urn:memoranda:", "status": "500"})) is MemorandaError
