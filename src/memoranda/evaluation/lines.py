"""Files of JSON lines, with the number of the line in every complaint."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoranda.domain.errors import InvalidInput, NotFound


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of each line that is not blank."""
    if not path.is_file():
        raise NotFound(f"there is no file {path}", hint="Check the path.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}", hint="Save the file as UTF-8.") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, object) of each line."""
    for number, line in read_lines(path):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise wrong(path, number, f"not JSON: {error}") from error
        if not isinstance(found, dict):
            raise wrong(path, number, "an object is expected, in braces")
        yield number, found


def wrong(path: Path, number: int, what: str) -> InvalidInput:
    """The error for one line."""
    return InvalidInput(f"{path}, line {number}: {what}", hint="Correct the line; nothing was written.")
