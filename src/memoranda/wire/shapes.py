"""What a value is made of, by its type: the fields of a frozen result, in the names and types that they are given.

A NamedTuple is its fields; a `Row` is what its constructor takes, of which the first are its items.
"""

import inspect
import typing
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from memoranda.domain.row import Row

_TIMES = """
    at created_at updated_at occurred_at valid_from valid_until archived_at expires_at revoked_at last_used_at
    erased_after oldest newest dated last_sync graded_at first_at last_at since erased_first erased_last made_at
    started_at finished_at
"""
TIMES = frozenset(_TIMES.split())
"""Fields that are moments: milliseconds inside, ISO-8601 outside."""

# What people look for first is told, though it follows from the rest.
_ALSO: dict[str, tuple[str, ...]] = {
    "memoranda.domain.memory.Memory": ("grade",),
    "memoranda.domain.document.DocumentHit": ("citation",),
    "memoranda.domain.document.Excerpt": ("truncated",),
    "memoranda.domain.document.Synced": ("is_noop",),
    "memoranda.domain.conversation.CompactReceipt": ("done",),
    "memoranda.domain.results.Erasure": ("purged",),
    "memoranda.domain.results.Verification": ("ok",),
    "memoranda.domain.fact.Fact": ("source",),
}

# Names that verbs are annotated with and that their modules import for type checkers only.
_HOMES = (
    "memoranda.domain.candidate",
    "memoranda.domain.message",
    "memoranda.domain.mirror",
    "memoranda.domain.moving",
    "memoranda.domain.travel",
    "memoranda.domain.governance",
    "memoranda.domain.clock",
    "memoranda.ledger.contents",
    "memoranda.domain.ports",
    "memoranda.service.document_watch",
    "memoranda.service.maintaining",
    "memoranda.service.transcript_import",
    "memoranda.service.transcript_search",
)


class Field(NamedTuple):
    """One part of a value. Required when there is nothing to take for it."""

    name: str
    type: Any
    required: bool
    default: Any = None


class Shape(NamedTuple):
    """All parts of a value, and what is told beside them."""

    cls: type
    fields: tuple[Field, ...]
    also: tuple[Field, ...]

    def made(self, values: dict[str, Any]) -> Any:
        """The value again."""
        return self.cls(**values)


def is_shaped(of: Any) -> bool:
    """Whether a type is one of our frozen results."""
    return inspect.isclass(of) and (_is_named_tuple(of) or issubclass(of, Row))


def _is_named_tuple(of: type) -> bool:
    return issubclass(of, tuple) and hasattr(of, "_fields")


@lru_cache(maxsize=512)
def shape_of(cls: type) -> Shape:
    """The shape of a frozen result."""
    also = tuple(
        Field(name, _of_property(cls, name), required=False)
        for name in _ALSO.get(f"{cls.__module__}.{cls.__qualname__}", ())
    )
    if _is_named_tuple(cls):
        hints = hints_of(cls)
        defaults = cls._field_defaults  # type: ignore[attr-defined]
        names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
        fields = tuple(Field(name, hints[name], name not in defaults, defaults.get(name)) for name in names)
    else:
        hints = hints_of(cls.__init__)  # type: ignore[misc]
        taken = list(inspect.signature(cls).parameters.values())
        fields = tuple(
            Field(each.name, hints[each.name], each.default is inspect.Parameter.empty, each.default) for each in taken
        )
    return Shape(cls, fields, also)


def _of_property(cls: type, name: str) -> Any:
    getter = inspect.getattr_static(cls, name).fget
    return hints_of(getter)["return"]


def hints_of(of: Any) -> dict[str, Any]:
    """The annotations of a class or a function, whatever its module has imported."""
    module = inspect.getmodule(of)
    return typing.get_type_hints(of, globalns={**_names(), **(vars(module) if module else {})})


@lru_cache(maxsize=1)
def _names() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for home in _HOMES:
        found.update(vars(import_module(home)))
    return found
