"""Summarizers by name: a table first, then what other packages registered. Nothing is imported before it is needed.

The offline one, `extractive`, is not among them: it needs no opening, and the service has it at hand.
"""

from collections.abc import Callable

from memoranda.config import Settings, secret
from memoranda.domain.errors import ConfigError
from memoranda.domain.ports import Summarizer
from memoranda.models.budget import Budget

ENTRY_POINTS = "memoranda.summarizers"
OFFLINE = "extractive"

# Servers that speak OpenAI's protocol: on this machine, or wherever the address says.
_COMPATIBLE = ("ollama", "lmstudio", "vllm", "llamacpp", "compatible", "openai-compatible")
_KEY = "MEMORANDA_SUMMARIZER_KEY"


def open_summarizer(name: str, settings: Settings) -> Summarizer | None:
    """The summarizer with this name. None for the offline one, and when a daily limit is 0. Makes no call."""
    if name in ("", "none", OFFLINE) or summarizer_budget(settings).off:
        return None
    provider, _, model = name.partition(":")
    opener = _PROVIDERS.get(provider) or _registered(provider)
    return opener(model, settings)


def summarizer_budget(settings: Settings) -> Budget:
    """The limits of a day."""
    return Budget(calls=settings.summarizer_daily_calls, tokens=settings.summarizer_daily_tokens)


def _openai(model: str, settings: Settings) -> Summarizer:
    from memoranda.models.summaries import OpenAISummarizer
    from memoranda.remote import OPENAI_URL

    return OpenAISummarizer(
        model or "gpt-4o-mini",
        base_url=settings.summarizer_url or OPENAI_URL,
        key=secret(_KEY) or secret("OPENAI_API_KEY"),
        timeout=settings.summarizer_timeout,
    )


def _compatible(provider: str) -> Callable[[str, Settings], Summarizer]:
    def opener(model: str, settings: Settings) -> Summarizer:
        from memoranda.models.summaries import OpenAISummarizer
        from memoranda.remote import DEFAULT_URLS

        url = settings.summarizer_url or DEFAULT_URLS.get(provider, "")
        if not url:
            raise ConfigError(
                f"{provider}:{model} needs the address of its server",
                hint="Set MEMORANDA_SUMMARIZER_URL, for example to http://127.0.0.1:8000/v1.",
            )
        if not model:
            raise ConfigError("the summarizer's model is not named", hint=f"Write it as {provider}:qwen2.5:7b.")
        return OpenAISummarizer(
            model,
            base_url=url,
            key=secret(_KEY),
            name=f"{provider}:{model}",
            key_variable=_KEY,
            timeout=settings.summarizer_timeout,
        )

    return opener


_PROVIDERS: dict[str, Callable[[str, Settings], Summarizer]] = {
    "openai": _openai,
    **{provider: _compatible(provider) for provider in _COMPATIBLE},
}


def _registered(provider: str) -> Callable[[str, Settings], Summarizer]:
    """A summarizer of another package: an entry point called (model, settings)."""
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name=provider):
        opener: Callable[[str, Settings], Summarizer] = found.load()
        return opener
    known = ", ".join(sorted(_PROVIDERS))
    raise ConfigError(
        f"no summarizer is called {provider!r}", hint=f"Use {OFFLINE}, or one of: {known} (as name:model)."
    )
