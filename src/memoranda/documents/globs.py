"""Globs over paths as regular expressions: `*` and `?` within a name, `**` over folders, classes, escapes; as in git.

A star looks for the nearest place that goes on as the pattern does and stays there, except for the last star of a
name and the last `**` of a path: that is enough for a glob, and no pattern takes exponential time.
"""

import re

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NAMED = re.compile(r"\[:([^\]]*):\]")
_NOTHING = "(?!)"
# Expressions for one character each, or a star.
_Name = list[str]
_STAR = "*"
_ANY_FOLDERS: _Name = ["**"]
_DOT = r"\."
_NOT_HIDDEN = r"(?!\.)"


def expression_of(pattern: str, *, hidden: bool = True) -> str | None:
    """A glob over paths as a regular expression for `fullmatch`; None when it can match nothing.

    Without `hidden`, a name that begins with a dot is matched only where the pattern has that dot.
    """
    parts = _parts(pattern)
    if parts is None:
        return None
    guard = "" if hidden else _NOT_HIDDEN
    groups: list[list[str]] = [[]]
    for part in parts:
        if part is _ANY_FOLDERS:
            groups.append([])
        else:
            groups[-1].append(_name_expression(part, guard))
    folders = f"(?:{guard}[^/]+/)*"
    ends_open = parts[-1] is _ANY_FOLDERS
    if ends_open:
        groups[-1] = [f"{guard}[^/]+"]
    first, *others = groups
    if not others:
        return "/".join(first)
    made = "".join(name + "/" for name in first)
    for group in others[:-1]:
        if group:
            made += f"(?>{folders}?" + "".join(name + "/" for name in group) + ")"
    return made + folders + "/".join(others[-1])


def folders_expression_of(pattern: str) -> str | None:
    """The folders in which something that a glob matches may be, as an expression; None when there are none."""
    parts = _parts(pattern)
    if parts is None:
        return None
    made = ""
    for place, part in reversed(list(enumerate(parts))):
        if part is _ANY_FOLDERS:
            made = _any_below(parts[place + 1 :])
        elif place < len(parts) - 1:
            here = _name_expression(part, _NOT_HIDDEN)
            made = f"{here}(?:/{made})?" if made else here
    return made or None


def _any_below(parts: list[_Name]) -> str:
    """Folders at any depth. Hidden ones are among them when what follows names a hidden one."""
    guard = "" if any(part[0] == _DOT for part in parts[:-1]) else _NOT_HIDDEN
    return f"{guard}[^/]+(?:/{guard}[^/]+)*"


def _parts(pattern: str) -> list[_Name] | None:
    """The names that a pattern is made of; None when it can match nothing."""
    parts: list[_Name] = [[]]
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "/" or pattern[at : at + 2] == "\\/":
            at += 1 if character == "/" else 2
            parts.append([])
            continue
        made, end = _one(pattern, at)
        if made is None:
            return None
        if made is _STAR and end - at > 1 and not parts[-1] and pattern[end : end + 1] in ("", "/"):
            parts[-1] = _ANY_FOLDERS
        else:
            parts[-1].append(made)
        at = end
    return None if any(not part for part in parts) else parts


def _one(pattern: str, at: int) -> tuple[str | None, int]:
    """What stands at one place: an expression, a star, or None; and where the next begins."""
    character = pattern[at]
    if character == "*":
        return _STAR, at + len(pattern[at:]) - len(pattern[at:].lstrip("*"))
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        return _class(pattern, at + 1)
    if character == "\\":
        return (re.escape(pattern[at + 1]) if at + 1 < len(pattern) else None), at + 2
    return re.escape(character), at + 1


def _name_expression(tokens: _Name, guard: str) -> str:
    chunks: list[str] = [""]
    for token in tokens:
        if token is _STAR:
            chunks.append("")
        else:
            chunks[-1] += token
    first, *others = chunks
    if not others:
        made = first
    else:
        found = "".join(f"(?>[^/]*?{chunk})" for chunk in others[:-1] if chunk)
        made = f"{first}{found}[^/]*{others[-1]}"
    return made if tokens[0] == _DOT else guard + made


def _class(pattern: str, at: int) -> tuple[str | None, int]:
    """A class that begins after its bracket: an expression and where it ends; None when it has no end."""
    negated = pattern.startswith(("!", "^"), at)
    at += negated
    inside = ""
    before = ""
    first = at
    while at < len(pattern) and (at == first or pattern[at] != "]"):
        if pattern.startswith("[:", at) and (named := _NAMED.match(pattern, at)):
            if named[1] not in _CLASSES:
                return None, at
            inside += _CLASSES[named[1]]
            before, at = "", named.end()
            continue
        is_range = pattern[at] == "-" and before != "" and pattern[at + 1 : at + 2] not in ("", "]")
        at += is_range
        at += pattern[at] == "\\"
        if at >= len(pattern):
            return None, at
        character = pattern[at]
        at += 1
        if not is_range:
            inside += re.escape(character)
        elif before <= character:
            inside += f"{re.escape(before)}-{re.escape(character)}"
        before = "" if is_range else character
    if at >= len(pattern):
        return None, at
    if not inside:
        return ("[^/]" if negated else _NOTHING), at + 1
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1
