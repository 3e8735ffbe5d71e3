"""A result that fits: long texts in it are cut, then the last of its items are left out, and it says so."""

from typing import Any

from memoranda.tools.results import ToolResult, as_json

MOST_CHARACTERS = 16_000
CUT = " [cut]"
_NOT_FOR_MODELS = frozenset({"receipt", "receipts", "latency_ms"})
_SHORTER = (4_000, 2_000, 1_000, 500)


def bounded(result: ToolResult, *, most: int = MOST_CHARACTERS) -> ToolResult:
    """The same in so many characters, as text and as data. Receipts are left out: they are for programs of the store.

    What is cut in the data is cut in the text, too, which then is the data as JSON.
    """
    data = {name: value for name, value in result.data.items() if name not in _NOT_FOR_MODELS}
    if len(result.text) <= most and len(as_json(data)) <= most:
        return result._replace(data=data)
    for longest in _SHORTER:
        data = _shortened(data, longest)
        if len(as_json(data)) <= most:
            break
    while len(as_json(data)) > most and (name := _longest_list(data)):
        keep = max(0, min(len(data[name]) - 1, len(data[name]) * most // len(as_json(data))))
        left_out = data.get("left_out", 0) + len(data[name]) - keep
        data = {**data, name: data[name][:keep], "left_out": left_out}
    return result._replace(text=as_json(data), data=data)


def _longest_list(data: dict[str, Any]) -> str:
    """The name of the list that takes most room; empty when none has anything in it."""
    lists = {name: len(as_json(value)) for name, value in data.items() if isinstance(value, list) and value}
    return max(lists, key=lambda name: lists[name]) if lists else ""


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[: longest - len(CUT)].removesuffix(CUT) + CUT
    if isinstance(value, list):
        return [_shortened(each, longest) for each in value]
    if isinstance(value, dict):
        return {name: _shortened(each, longest) for name, each in value.items()}
    return value
