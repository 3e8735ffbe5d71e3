"""Values as JSON, and back. What `encode` gives, `decode` takes, and the value is the same.

`decode` believes nothing: what does not fit the type is an InvalidInput that names the place.
"""

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from memoranda.domain.clock import iso, to_ms
from memoranda.domain.draft import Referable
from memoranda.domain.errors import InvalidInput
from memoranda.domain.message import Message
from memoranda.domain.row import Row
from memoranda.wire.shapes import TIMES, Field, Shape, is_shaped, shape_of

_PLAIN = (str, int, float, bool, type(None))
_MISSING = object()


def encode(value: Any) -> Any:
    """A value as JSON has it."""
    kind: Any = type(value)
    return value if kind in _PLAIN else _encoder(kind)(value)


@lru_cache(maxsize=512)
def _encoder(kind: type) -> Callable[[Any], Any]:
    """What writes one type. Made once for each."""
    if issubclass(kind, _PLAIN):
        return lambda value: value
    if issubclass(kind, Message):  # in the form that every host has
        return lambda value: value.as_json()
    if issubclass(kind, Row):
        return _row_encoder(shape_of(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _tuple_encoder(shape_of(kind))
    if issubclass(kind, Mapping):
        return lambda value: {_name(key): encode(each) for key, each in value.items()}
    if issubclass(kind, datetime | date):
        return lambda value: value.isoformat()
    if issubclass(kind, Path):
        return str
    if issubclass(kind, Sequence) and not issubclass(kind, bytes | bytearray | memoryview):
        return lambda value: [encode(each) for each in value]
    raise InvalidInput(f"a {kind.__name__} cannot be sent", hint="Pass plain values, or a result of ours.")


def _name(key: Any) -> str:
    """As JSON has it."""
    if isinstance(key, str):
        return key
    if isinstance(key, int | float) and not isinstance(key, bool):
        return str(key)
    raise InvalidInput(f"a name is a text, not a {type(key).__name__}", hint="Pass a dict with text as keys.")


def _row_encoder(shape: Shape) -> Callable[[Any], Any]:
    first, *rest = shape.fields
    beside = [field.name for field in (*rest, *shape.also)]

    def write(value: Any) -> dict[str, Any]:
        told: dict[str, Any] = {first.name: [encode(item) for item in value]}
        told.update((name, encode(getattr(value, name))) for name in beside)
        return told

    return write


def _tuple_encoder(shape: Shape) -> Callable[[Any], Any]:
    parts = [(field.name, _part_encoder(field)) for field in shape.fields]
    also = [field.name for field in shape.also]

    def write(value: Any) -> dict[str, Any]:
        told = {name: write_part(part) for (name, write_part), part in zip(parts, value, strict=True)}
        for name in also:
            told[name] = encode(getattr(value, name))
        return told

    return write


def _part_encoder(field: Field) -> Callable[[Any], Any]:
    if field.name in TIMES:
        return lambda part: iso(part) if type(part) is int else encode(part)
    if Referable in get_args(field.type):
        # A draft may name what it supersedes by a result: what travels is its id.
        return lambda part: encode(part if isinstance(part, str) else getattr(part, "id", part))
    return encode


def decode(of: Any, data: Any, *, name: str = "", strict: bool = False) -> Any:
    """A value of this type from JSON. `strict` is for what a caller sends: it refuses fields that the type does not
    have; without it, the value is a result, which does not change."""
    return _decoder(of, strict)(data, name)


@lru_cache(maxsize=2048)
def _decoder(of: Any, strict: bool) -> Any:
    """What reads one type. Made once for each."""
    origin = get_origin(of)
    if of is Any or of is object:
        return lambda data, name: data
    if of in _READERS:
        return _READERS[of]
    if origin is Literal:
        return _choice(get_args(of))
    if origin in (Union, types.UnionType):
        return _union(get_args(of), strict)
    if origin is tuple or of is tuple:
        return _tuple(get_args(of), strict)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping((*get_args(of), Any, Any)[1], strict, frozen=not strict and origin is Mapping)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Iterable):
        return _several(get_args(of)[0], strict)
    if of is Message:
        return _message
    if is_shaped(of):
        return _shaped(of, strict)
    raise TypeError(f"{of!r} does not travel")


def _wrong(name: str, expected: str, data: Any) -> InvalidInput:
    shown = type(data).__name__ if isinstance(data, list | dict) else repr(data)[:40]
    told = {"list": "a list", "dict": "an object", "None": "null"}.get(shown, shown)
    return InvalidInput(f"{name or 'the value'}: {expected} is expected, not {told}")


def _text(data: Any, name: str) -> str:
    if not isinstance(data, str):
        raise _wrong(name, "a text", data)
    return data


def _whole(data: Any, name: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int):
        raise _wrong(name, "a whole number", data)
    return data


def _number(data: Any, name: str) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise _wrong(name, "a number", data)
    return data


def _yes_or_no(data: Any, name: str) -> bool:
    if not isinstance(data, bool):
        raise _wrong(name, "true or false", data)
    return data


def _nothing(data: Any, name: str) -> None:
    if data is not None:
        raise _wrong(name, "null", data)


def _message(data: Any, name: str) -> Any:
    """As hosts have them; the facade reads them."""
    if not isinstance(data, Mapping):
        raise _wrong(name, "a message", data)
    return dict(data)


_READERS: dict[Any, Any] = {
    str: _text,
    Path: _text,
    Referable: _text,
    date: _text,
    datetime: _text,
    int: _whole,
    float: _number,
    bool: _yes_or_no,
    type(None): _nothing,
    None: _nothing,
}


def _choice(choices: tuple[Any, ...]) -> Any:
    def read(data: Any, name: str) -> Any:
        if not isinstance(data, str | int) or data not in choices:
            raise InvalidInput(
                f"{name}: {str(data)[:40]!r} is not one of them", hint=f"Use one of: {', '.join(map(str, choices))}."
            )
        return data

    return read


def _union(members: tuple[Any, ...], strict: bool) -> Any:
    """The first member that takes it. What is told of a failure is what the likeliest member says."""
    shaped = [_decoder(each, strict) for each in members if is_shaped(each)]
    others = [_decoder(each, strict) for each in members if not is_shaped(each)]

    def read(data: Any, name: str) -> Any:
        likely = [*shaped, *others] if isinstance(data, Mapping) else [*others, *shaped]
        first: InvalidInput | None = None
        for reader in likely:
            try:
                return reader(data, name)
            except InvalidInput as error:
                first = first or error
        assert first is not None
        raise first

    return read


def _tuple(parts: tuple[Any, ...], strict: bool) -> Any:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return _several(parts[0], strict)
    readers = [_decoder(each, strict) for each in parts]

    def read(data: Any, name: str) -> Any:
        if not isinstance(data, list) or len(data) != len(readers):
            raise _wrong(name, f"a list of {len(readers)}", data)
        return tuple(
            reader(each, f"{name}[{place}]") for place, (reader, each) in enumerate(zip(readers, data, strict=True))
        )

    return read


def _several(part: Any, strict: bool) -> Any:
    reader = _decoder(part, strict)

    def read(data: Any, name: str) -> Any:
        if not isinstance(data, list):
            raise _wrong(name, "a list", data)
        return tuple(reader(each, f"{name}[{place}]") for place, each in enumerate(data))

    return read


def _mapping(part: Any, strict: bool, *, frozen: bool) -> Any:
    reader = _decoder(part, strict)

    def read(data: Any, name: str) -> Any:
        if not isinstance(data, Mapping):
            raise _wrong(name, "an object", data)
        read = {key: reader(each, f"{name}.{key}") for key, each in data.items()}
        return types.MappingProxyType(read) if frozen else read

    return read


def _shaped(cls: type, strict: bool) -> Any:
    shape = shape_of(cls)
    known = {field.name for field in (*shape.fields, *shape.also)}
    readers: list[tuple[Any, Any]] | None = None

    def made() -> list[tuple[Any, Any]]:  # late: a type may contain itself
        return [(field, _timed(field.name, _decoder(field.type, strict))) for field in shape.fields]

    def read(data: Any, name: str) -> Any:
        nonlocal readers
        if not isinstance(data, Mapping):
            raise _wrong(name, "an object", data)
        readers = made() if readers is None else readers
        if strict and (unknown := sorted(set(data) - known)):
            raise InvalidInput(
                f"{name}: there is no {unknown[0][:40]!r}", hint=f"There are: {', '.join(sorted(known))}."
            )
        values: dict[str, Any] = {}
        for field, reader in readers:
            part = data.get(field.name, _MISSING)
            if part is not _MISSING:
                values[field.name] = reader(part, f"{name}.{field.name}" if name else field.name)
            elif field.required:
                raise InvalidInput(f"{name}: {field.name} is missing" if name else f"{field.name} is missing")
        return shape.made(values)

    return read


def _timed(name: str, reader: Any) -> Any:
    """Milliseconds from ISO-8601, where the type has only those. A draft takes a moment in any form."""
    if name not in TIMES:
        return reader

    def read(data: Any, place: str) -> Any:
        try:
            return reader(data, place)
        except InvalidInput:
            if not isinstance(data, str):
                raise
            return reader(to_ms(data, name=place), place)

    return read
