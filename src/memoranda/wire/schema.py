"""The JSON Schema of a type, with the frozen results as named components."""

import re
import types
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from memoranda.domain.draft import Referable
from memoranda.domain.message import Message
from memoranda.wire.shapes import TIMES, Field, is_shaped, shape_of

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    Referable: {"type": "string"},
    date: {"type": "string"},
    datetime: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}
_MESSAGE: dict[str, Any] = {
    "type": "object",
    "description": "A message as hosts have it.",
    "properties": {"role": {"type": "string"}, "content": {}, "speaker": {"type": "string"}, "id": {"type": "string"}},
    "required": ["role"],
}
MOMENT: dict[str, Any] = {"type": "string", "format": "date-time", "description": "ISO-8601, UTC."}
_SPACES = re.compile(r"\s+")


class Schemas:
    """Schemas of types, gathering the components that they refer to."""

    def __init__(self) -> None:
        self.components: dict[str, dict[str, Any]] = {}
        self._names: dict[type, str] = {}

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of a type."""
        if kind is Any or kind is object:
            return {}
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if kind is Message:
            self.components.setdefault("Message", _MESSAGE)
            return {"$ref": "#/components/schemas/Message"}
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"type": "string", "enum": list(parts)}
        if origin in (Union, types.UnionType):
            return self._any_of(parts)
        if origin is tuple and not (len(parts) == 2 and parts[1] is Ellipsis):
            return {
                "type": "array",
                "prefixItems": [self.of(each) for each in parts],
                "minItems": len(parts),
                "maxItems": len(parts),
            }
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(parts[1]) or True}
        if isinstance(origin, type) and issubclass(origin, Iterable):
            return {"type": "array", "items": self.of(parts[0])}
        if is_shaped(kind):
            return {"$ref": f"#/components/schemas/{self._component(kind)}"}
        raise TypeError(f"{kind!r} has no schema")

    def _any_of(self, parts: tuple[Any, ...]) -> dict[str, Any]:
        schemas: list[dict[str, Any]] = []
        for each in parts:
            one = self.of(each)
            if one not in schemas:
                schemas.append(one)
        plain = [each for each in schemas if set(each) == {"type"}]
        if len(plain) == len(schemas):
            kinds = [each["type"] for each in schemas]
            return {"type": kinds[0] if len(kinds) == 1 else kinds}
        return {"anyOf": schemas}

    def _component(self, cls: type) -> str:
        if cls in self._names:
            return self._names[cls]
        taken = set(self._names.values())
        # Two things of one name are told apart by where they live: a mirror's trouble, a document's trouble.
        name = (
            cls.__name__
            if cls.__name__ not in taken
            else cls.__module__.rpartition(".")[2].title().replace("_", "") + cls.__name__
        )
        self._names[cls] = name
        self.components[name] = {}  # taken before its fields are read: it may contain itself
        shape = shape_of(cls)
        properties = {field.name: self._field(field) for field in shape.fields}
        properties |= {field.name: {**self._field(field), "readOnly": True} for field in shape.also}
        self.components[name].update(
            type="object",
            description=_SPACES.sub(" ", (cls.__doc__ or "").strip()),
            properties=properties,
            required=[field.name for field in shape.fields if field.required],
        )
        return name

    def _field(self, field: Field) -> dict[str, Any]:
        members = get_args(field.type) if get_origin(field.type) in (Union, types.UnionType) else (field.type,)
        if field.name in TIMES and int in members and str not in members:
            return {"anyOf": [MOMENT, {"type": "null"}]} if type(None) in members else dict(MOMENT)
        return self.of(field.type)
