"""Whether a value fits a filter, in the words that frameworks have for it. Nothing here looks anything up."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memoranda.domain.errors import InvalidInput

Compare = Callable[[Any, Any], bool]


def _ordered(compare: Callable[[Any, Any], bool]) -> Compare:
    """A comparison by order, of numbers or of texts; what has no order with the other does not fit."""

    def fits(value: Any, wanted: Any) -> bool:
        if isinstance(value, bool) or isinstance(wanted, bool) or value is None or wanted is None:
            return False
        if isinstance(value, int | float) and isinstance(wanted, str):
            try:
                wanted = float(wanted)
            except ValueError:
                return False
        try:
            return bool(compare(value, wanted))
        except TypeError:
            return False

    return fits


def _in(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise InvalidInput("the operator takes a list", hint="Write it as {'in': ['one', 'another']}.")
    return any(same(value, each) for each in wanted)


def same(value: Any, wanted: Any) -> bool:
    """Equal as JSON is: 1 is not true."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _contains(value: Any, wanted: Any) -> bool:
    return wanted in value if isinstance(value, str | list | tuple) else False


COMPARISONS: Mapping[str, Compare] = {
    "eq": same,
    "ne": lambda value, wanted: not same(value, wanted),
    "gt": _ordered(lambda value, wanted: value > wanted),
    "gte": _ordered(lambda value, wanted: value >= wanted),
    "lt": _ordered(lambda value, wanted: value < wanted),
    "lte": _ordered(lambda value, wanted: value <= wanted),
    "in": _in,
    "nin": lambda value, wanted: not _in(value, wanted),
    "contains": _contains,
    "icontains": lambda value, wanted: str(wanted).casefold() in str(value).casefold() if value is not None else False,
}
_IN_A_STORE = ("eq", "ne", "gt", "gte", "lt", "lte")


def fits_store_filter(value: Any, wanted: Any) -> bool:
    """A filter of LangGraph: a value to be equal to, parts of an object, or operators such as `{"$gt": 3}`."""
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_operator(str(name)[1:], _IN_A_STORE)(value, each) for name, each in wanted.items())
        return isinstance(value, Mapping) and all(
            fits_store_filter(value.get(name), each) for name, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(map(fits_store_filter, value, wanted))
    return same(value, wanted)


def fits_filters(payload: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Filters of mem0: names with values or operators, joined by AND, OR and NOT."""
    return all(_fits_one(payload, name, wanted) for name, wanted in filters.items())


def _fits_one(payload: Mapping[str, Any], name: str, wanted: Any) -> bool:
    joined = name.lstrip("$").upper()
    if joined in ("AND", "OR", "NOT"):
        if isinstance(wanted, str) or not isinstance(wanted, Sequence):
            raise InvalidInput(f"{joined} takes a list of filters", hint=f"Write {joined}: [{{...}}, {{...}}].")
        fitting = (fits_filters(payload, each) for each in wanted)
        return all(fitting) if joined == "AND" else any(fitting) is (joined == "OR")
    value = payload.get(name)
    if isinstance(wanted, Mapping):
        return all(_operator(str(operator), COMPARISONS)(value, each) for operator, each in wanted.items())
    if wanted == "*":
        return value is not None
    return same(value, wanted)


def _operator(name: str, known: Sequence[str] | Mapping[str, Compare]) -> Compare:
    if name not in known:
        raise InvalidInput(f"{name[:40]!r} is no operator of filters", hint=f"Use one of: {', '.join(known)}.")
    return COMPARISONS[name]
