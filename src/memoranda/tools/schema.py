"""A tool as it is described to a model, and the check of what a model gives. Knows no memory."""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

from memoranda.domain.errors import InvalidInput

Style = Literal["openai", "mcp"]
STYLES: tuple[Style, ...] = ("openai", "mcp")
_TYPES: dict[str, Any] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
}


# Short enough to be exact.
_WRITTEN = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")


class Definition(NamedTuple):
    """A tool: its name, what it is for, and its parameters as JSON schema.

    `reads`: it changes nothing. `hides`: it may take something away. `gives`: what programs read, as JSON schema.
    `carries`: it reads or writes a file of the caller's, so that it is offered only where files are bound.
    """

    name: str
    title: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    reads: bool = False
    hides: bool = False
    gives: Mapping[str, Any] | None = None
    carries: bool = False

    def schema(self) -> dict[str, Any]:
        """Its parameters, and nothing else, as JSON schema."""
        return {
            "type": "object",
            "properties": {name: dict(parameter) for name, parameter in self.parameters.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }

    def as_json(self, style: Style) -> dict[str, Any]:
        """As one of the two kinds of caller wants it."""
        if style == "openai":
            function = {"name": self.name, "description": self.description, "parameters": self.schema()}
            return {"type": "function", "function": function}
        gives = {} if self.gives is None else {"outputSchema": deepcopy(dict(self.gives))}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema(),
            **gives,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads,
                "destructiveHint": self.hides,
                "idempotentHint": self.reads or self.hides,
                "openWorldHint": False,
            },
        }

    def checked(self, given: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """Arguments as the schema has them, with its defaults; or the error that says what is wrong."""
        arguments = {name: value for name, value in _object(given).items() if value is not None}
        unknown = sorted(set(arguments) - set(self.parameters))
        if unknown:
            known = ", ".join(self.parameters) or "no parameters"
            raise InvalidInput(f"{self.name} has no parameter {unknown[0][:40]!r}", hint=f"It has: {known}.")
        for name in self.required:
            if name not in arguments:
                raise InvalidInput(f"{self.name} needs {name!r}", hint=f"Call it again with {name}.")
        defaults = {name: each["default"] for name, each in self.parameters.items() if "default" in each}
        return {**defaults, **{name: _value(name, value, self.parameters[name]) for name, value in arguments.items()}}


def _object(given: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    hint = "Pass the arguments as one JSON object."
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError) as error:
            raise InvalidInput("the arguments are not JSON", hint=hint) from error
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidInput("the arguments are not a JSON object", hint=hint)
    return given


def _value(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema["type"]
    if kind in ("integer", "number"):
        value = _number(value, kind)
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise InvalidInput(f"{name} is not of type {kind}", hint=_wanted(name, schema))
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"{name}: {str(value)[:40]!r} is not one of them", hint=_wanted(name, schema))
    if kind in ("integer", "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        raise InvalidInput(f"{name}: {value!r} is out of range", hint=_wanted(name, schema))
    if kind == "string" and not schema.get("minLength", 0) <= len(value.strip()):
        raise InvalidInput(f"{name} is empty", hint=f"Say it in {name}.")
    if kind == "string" and len(value) > schema.get("maxLength", len(value)):
        most = schema["maxLength"]
        raise InvalidInput(f"{name} has more than {most:,} characters", hint=f"Say it in at most {most:,}.")
    if kind == "array":
        if len(value) > schema["maxItems"]:
            raise InvalidInput(f"{name} has more than {schema['maxItems']} items", hint="Give fewer.")
        return [_value(f"an item of {name}", each, schema["items"]) for each in value]
    return value


def _number(value: Any, kind: str) -> Any:
    """A number that was written as text, and a whole one that came as a fraction: some callers know no better."""
    if isinstance(value, str) and _WRITTEN.fullmatch(value.strip()):
        value = float(value)
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if kind == "integer" and whole else value


def _wanted(name: str, schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"Use one of: {', '.join(schema['enum'])}."
    if "minimum" in schema and "maximum" in schema:
        return f"Give {name} as a number from {schema['minimum']:g} to {schema['maximum']:g}."
    return f"Give {name} as {schema['type']}."
