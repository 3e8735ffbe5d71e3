"""Any value of a type that travels, made from its annotations."""

import functools
import types
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st

from memoranda.domain.clock import MAX_MS
from memoranda.domain.draft import Referable
from memoranda.domain.message import Message
from memoranda.wire.shapes import TIMES, is_shaped, shape_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=3,
)
_MOMENTS = st.integers(0, MAX_MS)
_PLAIN = {
    str: TEXT,
    int: st.integers(0, 10**15),
    float: st.floats(0, 1),
    bool: st.booleans(),
    type(None): st.none(),
    Path: TEXT.filter(bool).map(Path),
    Referable: st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=4, max_size=20),
    date: st.dates(date(1970, 1, 2)),
    datetime: st.datetimes(datetime(1970, 1, 2), timezones=st.just(UTC)),
    Any: JSON,
    object: JSON,
}
_MESSAGES = st.builds(
    Message, st.sampled_from(["user", "assistant"]), TEXT, speaker=TEXT, at=st.none() | _MOMENTS, id=TEXT
)


@functools.cache
def values(of):
    """A strategy for a type."""
    if of in _PLAIN:
        return _PLAIN[of]
    if of is Message:
        return _MESSAGES
    origin, parts = get_origin(of), get_args(of)
    if origin is Literal:
        return st.sampled_from(parts)
    if origin in (Union, types.UnionType):
        return st.one_of([values(part) for part in parts])
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return st.lists(values(parts[0]), max_size=2).map(tuple)
        return st.tuples(*(values(part) for part in parts))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(TEXT, values(parts[1]), max_size=2)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return st.lists(values(parts[0]), max_size=2).map(tuple)
    assert is_shaped(of), of
    return st.deferred(lambda: _shaped(of))


def _shaped(cls):
    shape = shape_of(cls)
    return st.fixed_dictionaries({field.name: _field(field) for field in shape.fields}).map(lambda given: cls(**given))


def _field(field):
    """A moment is milliseconds, whatever else a field of that name may hold."""
    if field.name not in TIMES or int not in (field.type, *get_args(field.type)):
        return values(field.type)
    return _MOMENTS | st.none() if type(None) in get_args(field.type) else _MOMENTS
