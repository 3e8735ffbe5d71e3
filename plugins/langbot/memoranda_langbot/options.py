"""`Options`: what the operator set, in the plugin's configuration and in that of the memory knowledge base."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeVar, get_args

Isolation = Literal["session", "bot", "speaker"]
CaptureMode = Literal["off", "explicit", "strict", "broad", "review"]

_MOST_RECALLED = 50
_Choice = TypeVar("_Choice", bound=str)


class Options(NamedTuple):
    """Settings that hold now. What the knowledge base says comes before what the plugin's configuration says."""

    server_url: str = ""
    token: str = ""
    store: str = ""
    scope: str = "langbot"
    isolation: Isolation = "session"
    recency_half_life_days: float = 30.0
    auto_recall_top_k: int = 3
    budget: int = 800
    timeout: float = 5.0
    capture: CaptureMode = "explicit"
    trust_agent: bool = False
    trust_uploads: bool = True

    @classmethod
    def of(cls, config: Mapping[str, Any], base: Mapping[str, Any] | None = None) -> "Options":
        """From what LangBot hands over, which may lack anything and have numbers as text."""
        given = {**config, **{name: value for name, value in (base or {}).items() if value not in (None, "")}}
        usual = cls()
        return cls(
            server_url=_text(given, "server_url", usual.server_url),
            token=_text(given, "token", usual.token),
            store=_text(given, "store", usual.store),
            scope=_text(given, "scope", usual.scope),
            isolation=_chosen(given, "isolation", get_args(Isolation), usual.isolation),
            recency_half_life_days=_number(given, "recency_half_life_days", usual.recency_half_life_days, 0, 36_500),
            auto_recall_top_k=int(_number(given, "auto_recall_top_k", usual.auto_recall_top_k, 0, _MOST_RECALLED)),
            budget=int(_number(given, "budget", usual.budget, 100, 100_000)),
            timeout=_number(given, "timeout", usual.timeout, 0.5, 60),
            capture=_chosen(given, "capture", get_args(CaptureMode), usual.capture),
            trust_agent=_flag(given, "trust_agent", usual.trust_agent),
            trust_uploads=_flag(given, "trust_uploads", usual.trust_uploads),
        )

    def __repr__(self) -> str:
        """Without the token: options are logged."""
        shown = (f"{name}={value!r}" for name, value in self._asdict().items() if name != "token")
        return f"Options({', '.join(shown)})"


def _text(given: Mapping[str, Any], name: str, usual: str) -> str:
    value = given.get(name)
    return value.strip() if isinstance(value, str) and value.strip() else usual


def _chosen(given: Mapping[str, Any], name: str, choices: tuple[_Choice, ...], usual: _Choice) -> _Choice:
    value = given.get(name)
    if value is None or value == "":
        return usual
    for choice in choices:
        if value == choice:
            return choice
    # Another word must not become a wider isolation, or capture that nobody asked for.
    raise ValueError(f"{name}: {str(value)[:40]!r} is none of {', '.join(choices)}")


def _number(given: Mapping[str, Any], name: str, usual: float, least: float, most: float) -> float:
    value = given.get(name)
    if value is None or value == "" or isinstance(value, bool):
        return usual
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {str(value)[:40]!r} is not a number") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {number:g} is not from {least:g} to {most:g}")
    return number


def _flag(given: Mapping[str, Any], name: str, usual: bool) -> bool:
    value = given.get(name)
    if isinstance(value, str):
        return value.strip().casefold() in ("1", "true", "yes", "on") if value.strip() else usual
    return value if isinstance(value, bool) else usual
