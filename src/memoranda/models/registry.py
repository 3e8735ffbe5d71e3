"""Extractors by name: a table first, then what other packages registered. Nothing is imported before it is needed."""

from collections.abc import Callable

from memoranda.config import Settings, secret
from memoranda.domain.errors import ConfigError
from memoranda.domain.ports import Extractor
from memoranda.models.budget import Budget

ENTRY_POINTS = "memoranda.extractors"

# Servers that speak OpenAI's protocol: on this machine, or wherever the address says.
_COMPATIBLE = ("ollama", "lmstudio", "vllm", "llamacpp", "compatible", "openai-compatible")


def open_extractor(name: str, settings: Settings) -> Extractor | None:
    """The extractor with this name. None for no name, for `none`, and when a daily limit is 0. Makes no call."""
    if name in ("", "none") or budget_of(settings).off:
        return None
    provider, _, model = name.partition(":")
    opener = _PROVIDERS.get(provider) or _registered(provider)
    return opener(model, settings)


def budget_of(settings: Settings) -> Budget:
    """The limits of a day."""
    return Budget(calls=settings.extractor_daily_calls, tokens=settings.extractor_daily_tokens)


def _openai(model: str, settings: Settings) -> Extractor:
    from memoranda.models.openai import OpenAIExtractor
    from memoranda.remote import OPENAI_URL

    return OpenAIExtractor(
        model or "gpt-4o-mini",
        base_url=settings.extractor_url or OPENAI_URL,
        key=secret("OPENAI_API_KEY"),
        timeout=settings.extractor_timeout,
    )


def _compatible(provider: str) -> Callable[[str, Settings], Extractor]:
    def opener(model: str, settings: Settings) -> Extractor:
        from memoranda.models.openai import OpenAIExtractor
        from memoranda.remote import DEFAULT_URLS

        url = settings.extractor_url or DEFAULT_URLS.get(provider, "")
        if not url:
            raise ConfigError(
                f"{provider}:{model} needs the address of its server",
                hint="Set MEMORANDA_EXTRACTOR_URL, for example to http://127.0.0.1:8000/v1.",
            )
        if not model:
            raise ConfigError("the extractor's model is not named", hint=f"Write it as {provider}:qwen2.5:7b.")
        return OpenAIExtractor(
            model,
            base_url=url,
            key=secret("MEMORANDA_EXTRACTOR_KEY"),
            name=f"{provider}:{model}",
            key_variable="MEMORANDA_EXTRACTOR_KEY",
            timeout=settings.extractor_timeout,
        )

    return opener


_PROVIDERS: dict[str, Callable[[str, Settings], Extractor]] = {
    "openai": _openai,
    **{provider: _compatible(provider) for provider in _COMPATIBLE},
}


def _registered(provider: str) -> Callable[[str, Settings], Extractor]:
    """An extractor of another package: an entry point called (model, settings)."""
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name=provider):
        opener: Callable[[str, Settings], Extractor] = found.load()
        return opener
    known = ", ".join(sorted(_PROVIDERS))
    raise ConfigError(f"no extractor is called {provider!r}", hint=f"Use none, or one of: {known} (as name:model).")
