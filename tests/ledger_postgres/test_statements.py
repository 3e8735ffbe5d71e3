"""Statements are written once; these are the differences that are made on their way."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.ledger.postgres.statements import translated


def test_names_become_numbers_in_the_order_of_their_first_use():
    text, names = translated("select * from memory where scope = :scope and (state = :state or about = :scope)")
    assert text == "select * from memory where scope = $1 and (state = $2 or about = $1)"
    assert names == ("scope", "state")


def test_what_is_quoted_is_left_alone():
    statement = """select ':name like +x', "a:b" from t where x = ':a''s :b'"""
    assert translated(statement) == (statement, ())


def test_a_cast_is_no_name():
    assert translated("select :a::text, '1'::regclass") == ("select $1::text, '1'::regclass", ("a",))


def test_cases_of_ascii_are_not_minded():
    text, _ = translated("select 1 where about like :word escape '^' and attribute not like 'profile.%'")
    assert text == "select 1 where about ilike $1 escape '^' and attribute not ilike 'profile.%'"


def test_a_plus_that_only_steers_sqlite_is_dropped_and_a_sum_stays():
    text, _ = translated("select 1 + number, a+b from t where +state = 'live' and (+m.kind in (:kind))")
    assert text == "select 1 + number, a+b from t where state = 'live' and (m.kind in ($1))"


def test_numbered_places_are_numbered():
    assert translated("select ? + ? from t where a = '?'") == ("select $1 + $2 from t where a = '?'", None)


@given(st.text(st.characters(exclude_characters="'\"", max_codepoint=0x2FF)))
def test_whatever_stands_between_quotes_comes_through(text):
    statement = f"select '{text}' where a = :a"
    assert translated(statement) == (f"select '{text}' where a = $1", ("a",))
