"""Conditions that LanceDB is asked with: whole numbers and names of ours. No text of anybody ever reaches one."""

import hashlib
from collections.abc import Collection, Iterable
from itertools import pairwise
from operator import index as whole_number
from typing import NamedTuple

from memoranda.index.proposals import signed

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_SPAN = 8
NOTHING = "false"


class ScopeCode(NamedTuple):
    """A scope as the table holds it: a number to look it up by, and another that bears witness that it is this one."""

    code: int
    witness: int

    @classmethod
    def of(cls, path: str) -> "ScopeCode":
        """The same path has the same code everywhere; its name cannot be read from it."""
        digest = hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16, person=b"memoranda.scope")
        body = digest.digest()
        return cls(signed(int.from_bytes(body[:8], "little")), signed(int.from_bytes(body[8:], "little")))


def literal(value: int) -> str:
    """A whole number of 64 bits; whatever else is refused."""
    number = whole_number(value)
    if not _LOWEST <= number <= _HIGHEST:
        raise ValueError("not a number of 64 bits")
    # The lowest number has no positive twin that could be negated.
    return f"({number + 1} - 1)" if number == _LOWEST else str(number)


def one_of(column: str, values: Collection[int]) -> str:
    """That a column has one of these values."""
    if not values:
        return NOTHING
    return f"{column} IN ({', '.join(map(literal, values))})"


def numbered(numbers: Collection[int]) -> str:
    """That an entry has one of these numbers. Those in a row are told as a span: thousands are slow to read."""
    ordered = sorted(set(numbers))
    breaks = [place for place in range(1, len(ordered)) if ordered[place] != ordered[place - 1] + 1]
    runs = [ordered[start:end] for start, end in pairwise([0, *breaks, len(ordered)])] if ordered else []
    spans = [f"number >= {literal(run[0])} AND number <= {literal(run[-1])}" for run in runs if len(run) >= _SPAN]
    single = [number for run in runs if len(run) < _SPAN for number in run]
    return any_of((*spans, one_of("number", single) if single else ""))


def has_term(form: int) -> str:
    """That an entry has this form of a word."""
    return f"array_has(terms, {literal(signed(form))})"


def within(column: str, start: int, until: int) -> str:
    """That a column lies in a half-open span."""
    return f"({column} >= {literal(start)} AND {column} < {literal(until)})"


def scopes(codes: Collection[ScopeCode]) -> str:
    """That an entry lies in one of these scopes, as far as the index of scopes tells."""
    return one_of("scope", [each.code for each in codes])


def witnessed(codes: Collection[ScopeCode]) -> str:
    """That it really does: for what is loaded. No index has it, so that it is not asked of what is only counted."""
    return all_of((scopes(codes), one_of("witness", [each.witness for each in codes])))


def all_of(conditions: Iterable[str]) -> str:
    """That every condition holds; empty ones say nothing."""
    return " AND ".join(f"({condition})" for condition in conditions if condition)


def any_of(conditions: Iterable[str]) -> str:
    """That some condition holds; empty ones say nothing."""
    return " OR ".join(f"({condition})" for condition in conditions if condition) or NOTHING
