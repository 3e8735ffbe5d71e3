"""Parameters of a tool, as JSON schema. Each says what it is for."""

from typing import Any


def text(description: str, **more: Any) -> dict[str, Any]:
    """Words, or none."""
    return {"type": "string", "description": description, **more}


def needed(description: str) -> dict[str, Any]:
    """Words that must be there."""
    return text(description, minLength=1)


def choice(description: str, choices: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """One of a few words."""
    return text(description, enum=list(choices), **more)


def whole(description: str, least: int, most: int, usual: int | None = None) -> dict[str, Any]:
    """A whole number within bounds."""
    limits: dict[str, Any] = {"type": "integer", "description": description, "minimum": least, "maximum": most}
    return limits if usual is None else {**limits, "default": usual}


def share(description: str, usual: float) -> dict[str, Any]:
    """A number from 0 to 1."""
    return {"type": "number", "description": description, "minimum": 0, "maximum": 1, "default": usual}


def flag(description: str, *, usual: bool = False) -> dict[str, Any]:
    """Yes or no; no when it is left out, unless something else is usual."""
    return {"type": "boolean", "description": description, "default": usual}


def texts(description: str, most: int) -> dict[str, Any]:
    """A list of words."""
    return {"type": "array", "description": description, "items": {"type": "string", "minLength": 1}, "maxItems": most}
