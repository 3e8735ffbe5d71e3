"""What a scope reaches, as a condition of SQL. In one place: a slip here is a leak between scopes."""

from typing import Any

from memoranda.domain.scope import Scope


def inside(scope: Scope, *, below: bool, column: str = "scope") -> tuple[str, dict[str, Any]]:
    """The condition for what a scope keeps itself; with `below`, also the scopes below it."""
    if not below:
        return f"{column} = :scope", {"scope": scope.path}
    # '0' is the character after '/': a range, so that an index is used and `bot-1` never reaches `bot-10`.
    values = {"scope": scope.path, "below": scope.path + "/", "beyond": scope.path + "0"}
    return f"({column} = :scope or ({column} > :below and {column} < :beyond))", values
