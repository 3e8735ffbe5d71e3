"""The arguments of a verb as parts of a request, and back.

In a query a list is the name several times, and once with nothing behind it when the list is empty: to leave it out
would mean the default. A table of texts is the name several times, each with `key=value`.
"""

import inspect
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin
from urllib.parse import quote, urlencode

from memoranda.domain.draft import Referable, id_of
from memoranda.domain.errors import InvalidInput
from memoranda.wire.codec import decode, encode
from memoranda.wire.doors import Door, Parameter
from memoranda.wire.shapes import is_shaped

SCOPE = "scope"
FILE_NAME = "filename"
"""With a file comes its name: what a transcript is called may be told by it alone."""
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_WORDS = {"true": True, "false": False}


class Sent(NamedTuple):
    """What a client sends: the path with its query, the body, and the arguments that stay at home."""

    target: str
    body: Any
    kept: dict[str, Any]


# -- at the server --


def arguments_of(door: Door, path: Mapping[str, str], query: Sequence[tuple[str, str]], body: Any) -> dict[str, Any]:
    """The keyword arguments for the verb. What is unknown, missing or of a wrong type is refused by its name."""
    found: dict[str, Any] = {}
    known = {each.name: each for each in door.parameters}
    in_query = _gathered(query, leave=(SCOPE, FILE_NAME) if door.upload else (SCOPE,))
    if body is not None and not isinstance(body, Mapping):
        raise InvalidInput("the body is a JSON object", hint="Send the arguments by their names.")
    for place, given in (("query", in_query), ("body", body or {})):
        for name in given:
            if name not in known or known[name].place != place:
                allowed = ", ".join(sorted(each.name for each in door.parameters if each.place == place))
                hint = (
                    f"In the {place} there may be: {allowed}." if allowed else f"Nothing is asked for in the {place}."
                )
                raise InvalidInput(f"{name[:40]!r} is not asked for here", hint=hint)
    for each in door.parameters:
        if each.place == "path":
            found[each.name] = path[each.name]
        elif each.place == "query" and each.name in in_query:
            found[each.name] = decode(each.type, _read(each, in_query[each.name]), name=each.name, strict=True)
        elif each.place == "body" and body is not None and each.name in body:
            _refuse_too_many(each, body[each.name])
            found[each.name] = decode(each.type, body[each.name], name=each.name, strict=True)
        elif each.required:
            raise InvalidInput(f"{each.name} is missing", hint=f"Send it in the {each.place}.")
    return found


def _refuse_too_many(parameter: Parameter, given: Any) -> None:
    if parameter.most is not None and isinstance(given, list) and len(given) > parameter.most:
        raise InvalidInput(
            f"{parameter.name}: there are {len(given):,}; one request may bring {parameter.most:,}",
            hint="Send them in several requests.",
        )


def _gathered(query: Sequence[tuple[str, str]], *, leave: tuple[str, ...]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    for name, value in query:
        if name not in leave:
            gathered.setdefault(name, []).append(value)
    return gathered


def _read(parameter: Parameter, values: list[str]) -> Any:
    """What was written in a query, as JSON would have it."""
    members = _members(parameter.type)
    if any(map(is_table, members)):
        return _table(parameter.name, values)
    if any(_is_list(each) for each in members) and (len(values) > 1 or values == [""] or not _is_one(members)):
        return [] if values == [""] else values
    if len(values) > 1:
        raise InvalidInput(f"{parameter.name} is there {len(values)} times", hint="Give it once.")
    return _one(members, values[0])


def _table(name: str, values: list[str]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if not all(key and sign for key, sign, _ in pairs) or len({key for key, _, _ in pairs}) < len(pairs):
        raise InvalidInput(f"{name}: key=value is expected, each key once", hint=f"Write {name}=theirs=ours.")
    return {key: value for key, _, value in pairs}


def _one(members: tuple[Any, ...], written: str) -> Any:
    if bool in members and written in _WORDS:
        return _WORDS[written]
    if int in members and _WHOLE.fullmatch(written):
        return int(written)
    if float in members:
        try:
            return float(written)
        except ValueError:
            return written
    return written


def _members(of: Any) -> tuple[Any, ...]:
    return get_args(of) if get_origin(of) in (Union, types.UnionType) else (of,)


def _is_list(of: Any) -> bool:
    origin = get_origin(of)
    return inspect.isclass(origin) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)


def _is_one(members: tuple[Any, ...]) -> bool:
    """Whether one value may stand alone, beside a list of them."""
    return any(each is str or get_origin(each) is Literal for each in members)


# -- at the client --


def sent(door: Door, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, scope: str) -> Sent:
    """A call of a verb as a request. Raises TypeError as the verb itself does when it is called wrongly."""
    bound = _signature(door).bind(None, *args, **kwargs)
    given = dict(list(bound.arguments.items())[1:])
    known = {each.name: each for each in door.parameters}
    kept = {name: given.pop(name) for name in list(given) if name not in known}
    path = door.path
    query: list[tuple[str, str]] = [(SCOPE, scope)] if scope else []
    body: dict[str, Any] = {}
    for name, value in given.items():
        parameter = known[name]
        _refuse_objects(parameter, value)
        plain = _plain(parameter, value)
        if parameter.place == "path":
            path = path.replace("{" + name + "}", quote(_as_path(name, plain), safe=""))
        elif parameter.place == "query":
            # In a query everything is text: what is no number here would be one there.
            decode(parameter.type, plain, name=name, strict=True)
            query += _written(name, plain, parameter.default)
        else:
            body[name] = plain
    target = f"{path}?{urlencode(query)}" if query else path
    return Sent(target, body if door.method != "GET" and not door.upload else None, kept)


@lru_cache(maxsize=256)
def _signature(door: Door) -> inspect.Signature:
    return inspect.signature(door.function)


def _plain(parameter: Parameter, value: Any) -> Any:
    """As JSON. A memory, a hit or a result of a verb stands for its id where an id is asked for."""
    if Referable in _members(parameter.type) and value is not None:
        return id_of(value)
    if isinstance(value, list | tuple) and _lists_references(parameter.type):
        return [id_of(each) for each in value]
    gathered = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    one_by_one = gathered and any(get_origin(each) is Iterable for each in _members(parameter.type))
    try:
        return encode(list(value) if one_by_one else value)
    except RecursionError as error:
        raise InvalidInput(f"{parameter.name}: it is nested too deeply", hint="Pass a flatter value.") from error


def _lists_references(of: Any) -> bool:
    return any(Referable in _members(part) for each in _members(of) if _is_list(each) for part in get_args(each))


def _refuse_objects(parameter: Parameter, value: Any) -> None:
    """What must be one of our values is not taken as an object of its fields, though it would look the same there."""
    if isinstance(value, Mapping):
        _refuse_object(parameter, value, _members(parameter.type))
        if not all(isinstance(key, str) for key in value) and any(map(_is_mapping, _members(parameter.type))):
            raise InvalidInput(f"{parameter.name}: names are texts", hint="Pass a dict with text as keys.")
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [part for each in _members(parameter.type) if _is_list(each) for part in get_args(each)]
        for each in value:
            _refuse_object(parameter, each, tuple(member for part in parts for member in _members(part)))


def _refuse_object(parameter: Parameter, value: Any, members: tuple[Any, ...]) -> None:
    ours = [each.__name__ for each in members if is_shaped(each)]
    if ours and isinstance(value, Mapping) and not any(_is_mapping(each) or each is Any for each in members):
        expected = " or ".join(ours)
        raise InvalidInput(f"{parameter.name}: a {expected} is expected, not a dict", hint=f"Make a {expected} of it.")


def is_table(of: Any) -> bool:
    """Whether a type is a table of texts, which can stand in a query."""
    return _is_mapping(of) and get_args(of) == (str, str)


def _is_mapping(of: Any) -> bool:
    origin = get_origin(of)
    return inspect.isclass(origin) and issubclass(origin, Mapping)


def _as_path(name: str, value: Any) -> str:
    # An empty part or a dot would be another path.
    if not isinstance(value, str) or value.strip() in ("", ".", ".."):
        raise InvalidInput(f"{name}: {str(value)[:40]!r} is not an id", hint="`list` shows the ids of what there is.")
    return value


def _written(name: str, value: Any, default: Any) -> list[tuple[str, str]]:
    if value is None:
        if default is not None:
            raise InvalidInput(f"{name}: a value is expected", hint="Leave it out for the default.")
        return []
    if isinstance(value, list):
        return [(name, _word(name, each)) for each in value] or [(name, "")]
    if isinstance(value, dict):
        if any(not key or "=" in key for key in value):
            raise InvalidInput(f"{name}: a name is empty or has an equals sign in it", hint="Give it another name.")
        return [(name, f"{_word(name, key)}={_word(name, each)}") for key, each in value.items()]
    return [(name, _word(name, value))]


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise InvalidInput(f"{name}: {type(value).__name__} cannot stand in a query", hint="Pass a plain value.")
    written = str(value)
    try:
        written.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name}: not a text: it has half of a pair of signs", hint="Pass whole text.") from error
    return written
