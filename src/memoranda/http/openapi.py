"""The description of the server for programs: OpenAPI 3.1, made from the doors and from the types of the facade."""

import inspect
import re
from typing import Any

import memoranda
from memoranda.domain.memory import SOURCES
from memoranda.http.examples import EXAMPLES, PARAMETERS
from memoranda.http.own import OWN, Own
from memoranda.http.performing import JSON
from memoranda.http.tooling import CALL_DOOR, CALL_PATH, LIST_DOOR, LIST_PATH
from memoranda.tools.toolbox import TOOLSETS
from memoranda.wire import answers
from memoranda.wire.binding import FILE_NAME, SCOPE, is_table
from memoranda.wire.codec import encode
from memoranda.wire.doors import DOORS, Door, Parameter
from memoranda.wire.problems import CONTENT_TYPE
from memoranda.wire.schema import Schemas

_SPACES = re.compile(r"\s+")
_SCOPE_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_.:@+~-]*(/[A-Za-z0-9][A-Za-z0-9_.:@+~-]*)*$"
_TAGS = {
    "": "memories",
    "profile": "profile",
    "facts": "facts",
    "preferences": "preferences",
    "conversations": "conversations",
    "documents": "documents",
    "review": "review",
    "governance": "governance",
    "consolidation": "consolidation",
    "retention": "retention",
    "admin": "the whole store",
    "tokens": "tokens",
}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, and the next move.",
    "properties": {
        "type": {"type": "string", "description": "What kind of problem it is, such as urn:memoranda:not-found."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string", "description": "What to do next, in one sentence."},
        "candidates": {"type": "array", "items": {"type": "string"}, "description": "Ids that a short one fits."},
        "retry_after": {"type": "number", "description": "Seconds to wait."},
    },
    "required": ["type", "title", "status", "detail", "hint"],
}
# Why a request may fail, whatever it asks for.
_EVERYWHERE = {
    400: "The request cannot be read.",
    401: "The token is missing, or no good.",
    403: "The role, the scope or a rule does not allow it.",
    408: "The body did not come.",
    421: "The server is not called so.",
    422: "An argument is wrong; nothing was done.",
    429: "Too many requests.",
    500: "Our fault, or the store's.",
    503: "Busy, stopping, or the store is locked.",
    504: "It took too long.",
}
_WITH_BODY = {413: "The body is too large.", 415: "The body is not JSON."}
_FACADE = {
    404: "There is no such thing in this scope.",
    409: "It is not in the state that this needs, or the id fits several.",
    501: "A part that this needs is not installed.",
    502: "A service that this needs said no.",
    507: "The disk is full.",
}


def document() -> dict[str, Any]:
    """The whole description."""
    schemas = Schemas()
    schemas.components["Problem"] = PROBLEM
    paths: dict[str, dict[str, Any]] = {}
    for door in DOORS:
        paths.setdefault(door.path, {})[door.method.lower()] = _operation(door, schemas)
    for own in OWN:
        paths[own.path] = {own.method.lower(): _own(own)}
    paths[LIST_PATH] = {"get": _tool_list()}
    paths[CALL_PATH] = {"post": _tool_call()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memoranda",
            "version": memoranda.__version__,
            "description": "Long-term memory for agents and assistants. Every call has a scope; errors are "
            "problem+json with a hint; writes may carry an Idempotency-Key.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": name} for name in (*_TAGS.values(), "tools", "server")],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(door: Door, schemas: Schemas) -> dict[str, Any]:
    about = inspect.getdoc(door.function) or door.verb
    summary, _, rest = about.partition("\n\n")
    needs = f"Needs the role {door.role}" + (", of the whole store." if door.whole else ".")
    found: dict[str, Any] = {
        "operationId": door.verb.replace(".", "_"),
        "tags": [_TAGS[door.noun]],
        "summary": _SPACES.sub(" ", summary),
        "description": _SPACES.sub(" ", f"{rest} {needs}").strip(),
        "parameters": [_scope(), *(_parameter(each, schemas) for each in door.parameters if each.place != "body")],
        "responses": _responses(door, schemas),
    }
    if door.writes and door.noun != "tokens":
        found["parameters"].append(_KEY)
    if door.upload:
        file = {"schema": {"type": "string", "format": "binary"}}
        found["requestBody"] = {"required": True, "content": {"application/octet-stream": file}}
        found["parameters"].append(_FILE_NAME)
    elif door.method != "GET":
        found["requestBody"] = _body(door, schemas)
    return found


_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request with the same key is done once; the answer is repeated for a day, or, when "
    "something was erased since, 409 says that it was done.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


_FILE_NAME: dict[str, Any] = {
    "name": FILE_NAME,
    "in": "query",
    "required": False,
    "description": "What the file is called: a conversation that has no name of its own is named after it.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "example": "talk.jsonl",
}


def _scope() -> dict[str, Any]:
    return {
        "name": SCOPE,
        "in": "query",
        "required": False,
        "description": "Where to work; the token's own scope when it is left out.",
        "schema": {"type": "string", "maxLength": 256, "pattern": _SCOPE_PATTERN},
        "example": "home/anna",
    }


def _parameter(parameter: Parameter, schemas: Schemas) -> dict[str, Any]:
    schema = _pairs() if is_table(parameter.type) else _with_default(schemas.of(parameter.type), parameter)
    found = {"name": parameter.name, "in": parameter.place, "required": parameter.required, "schema": schema}
    if parameter.required and parameter.name in PARAMETERS:
        found["example"] = PARAMETERS[parameter.name]
    return {**found, "required": True} if parameter.place == "path" else found


def _pairs() -> dict[str, Any]:
    """A table in a query."""
    return {"type": "array", "items": {"type": "string", "pattern": "^[^=]+=", "example": "theirs=ours"}}


def _with_default(schema: dict[str, Any], parameter: Parameter) -> dict[str, Any]:
    if parameter.most is not None:
        schema = {**schema, "maxItems": parameter.most}
    if parameter.required or parameter.default is None:
        return schema
    return {**schema, "default": encode(parameter.default)}


def _body(door: Door, schemas: Schemas) -> dict[str, Any]:
    inside = [each for each in door.parameters if each.place == "body"]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: _with_default(schemas.of(each.type), each) for each in inside},
        "additionalProperties": False,
    }
    needed = [each.name for each in inside if each.required]
    if needed:
        schema["required"] = needed
    content: dict[str, Any] = {"schema": schema}
    if door.verb in EXAMPLES:
        content["example"] = EXAMPLES[door.verb]
    return {"required": bool(needed), "content": {JSON: content}}


def _responses(door: Door, schemas: Schemas) -> dict[str, Any]:
    if answers.is_empty(door.result):
        good: dict[str, Any] = {"204": {"description": "Done."}}
    else:
        schema = schemas.of(door.result)
        name = answers.wrapping(door.result)
        if name:
            schema = {"type": "object", "properties": {name: schema}, "required": [name]}
        if door.download:
            written = {"type": "string", "description": "What was written."}
            beside = {"type": "object", "properties": {answers.CONTENT: written}, "required": [answers.CONTENT]}
            schema = {"allOf": [schema, beside]}
        content: dict[str, Any] = {JSON: {"schema": schema}}
        if door.callbacks:
            content["text/event-stream"] = {"schema": {"type": "string"}}
        good = {"200": {"description": "What was asked for, with its receipt.", "content": content}}
        if door.pages:
            good["200"]["headers"] = {"Link": {"description": "The next page.", "schema": {"type": "string"}}}
    reasons = {**_EVERYWHERE, **_FACADE, **(_WITH_BODY if door.method != "GET" else {})}
    return {**good, **_problems(reasons)}


def _problems(reasons: dict[int, str]) -> dict[str, Any]:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {str(status): {"description": why, "content": content} for status, why in sorted(reasons.items())}


def _own(own: Own) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": own.name,
        "tags": ["server"],
        "summary": own.about,
        "responses": {
            "200": {"description": own.about, "content": {own.content_type: {"schema": own.answer}}},
            **_problems({**_EVERYWHERE, **({**_FACADE, **_WITH_BODY} if own.method == "POST" else {})}),
        },
    }
    if own.role is None:
        found["security"] = []
    if own.minutes:
        schema = {"type": "integer", "minimum": 1, "maximum": 1_440, "default": 60}
        found["parameters"] = [{"name": "minutes", "in": "query", "required": False, "schema": schema}]
    return found


# -- tools by name --

_TOOLSET: dict[str, Any] = {
    "name": "toolset",
    "in": "path",
    "required": True,
    "description": "Which family of tools.",
    "schema": {"type": "string", "enum": list(TOOLSETS)},
}
_TOOL: dict[str, Any] = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "Which tool of the family.",
    "schema": {"type": "string", "minLength": 1, "pattern": "^[a-z_]+$"},
    "example": "memory_recall",
}
_CALL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "arguments": {"type": "object", "description": "What the model wrote."},
        "source": {
            "type": "string",
            "enum": list(SOURCES),
            "default": "assistant",
            "description": "Who vouches for what is written; `user` when a person approved the call.",
        },
        "speaker": {"type": "string", "maxLength": 512, "description": "Who speaks to the model."},
        "conversation": {"type": "string", "maxLength": 512},
        "whole": {
            "type": "boolean",
            "default": False,
            "description": "All of the result; otherwise as much as a model should be given at once.",
        },
        "file": {"type": ["string", "null"], "description": "What is in the file that memory_import reads."},
    },
    "additionalProperties": False,
}
_CALLED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "For the model."},
        "data": {"type": "object", "description": "For programs."},
        "failed": {"type": "boolean", "description": "Nothing was done, and the text says what to do next."},
        "receipt": {"type": ["object", "null"], "description": "What was done and why; never what a memory says."},
        "latency_ms": {"type": "number"},
        "file": {"type": ["string", "null"], "description": "What memory_export writes."},
    },
    "required": ["text", "data", "failed", "receipt", "latency_ms", "file"],
}


def _tool_list() -> dict[str, Any]:
    listed = {"type": "object", "properties": {"tools": {"type": "array", "items": {"type": "object"}}}}
    return {
        "operationId": LIST_DOOR,
        "tags": ["tools"],
        "summary": "The tools of a family, as a model is told of them.",
        "description": "Needs the role reader, who is shown the tools that only read.",
        "parameters": [_TOOLSET],
        "responses": {
            "200": {"description": "The tools.", "content": {JSON: {"schema": listed}}},
            **_problems({**_EVERYWHERE, 404: _FACADE[404]}),
        },
    }


def _tool_call() -> dict[str, Any]:
    example = {"arguments": {"query": "which lamp does Anna read by?"}}
    return {
        "operationId": CALL_DOOR.replace(".", "_"),
        "tags": ["tools"],
        "summary": "Call a tool by name, as a plugin of a host does for its model.",
        "description": "A wrong call is answered with `failed` and what to do next, for the model. Needs the role "
        "reader for tools that only read, writer for the others.",
        "parameters": [_TOOLSET, _TOOL, _scope()],
        "requestBody": {"required": False, "content": {JSON: {"schema": _CALL, "example": example}}},
        "responses": {
            "200": {"description": "What the tool gave.", "content": {JSON: {"schema": _CALLED}}},
            **_problems({**_EVERYWHERE, **_FACADE, **_WITH_BODY}),
        },
    }
