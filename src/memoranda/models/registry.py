"""Models by name, for each job that one may do: a table first, then what other packages registered.

Nothing is imported before it is needed, and no call is made.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from memoranda.config import Settings, secret
from memoranda.domain.errors import ConfigError
from memoranda.domain.ports import Extractor, Summarizer
from memoranda.models.budget import Budget

OFFLINE = "extractive"
"""The summarizer that is no model: it needs no opening, and the service has it at hand."""

# Servers that speak OpenAI's protocol: on this machine, or wherever the address says.
_COMPATIBLE = ("ollama", "lmstudio", "vllm", "llamacpp", "compatible", "openai-compatible")
_USUAL_MODEL = "gpt-4o-mini"
Opener = Callable[[str, Settings], Any]


class Job(NamedTuple):
    """What a model is for. Its settings are called after it: `extractor_url`, `extractor_timeout`, ..."""

    name: str
    module: str
    speaks_openai: str
    """The class in that module which does the job by OpenAI's protocol."""
    without: str
    """What to write for no model at all."""

    def setting(self, settings: Settings, what: str) -> Any:
        return getattr(settings, f"{self.name}_{what}")

    @property
    def key(self) -> str:
        """The variable with the key of a server of one's own."""
        return f"MEMORANDA_{self.name.upper()}_KEY"

    @property
    def entry_points(self) -> str:
        return f"memoranda.{self.name}s"


EXTRACTING = Job("extractor", "memoranda.models.openai", "OpenAIExtractor", "none")
SUMMARIZING = Job("summarizer", "memoranda.models.summaries", "OpenAISummarizer", OFFLINE)


def open_extractor(name: str, settings: Settings) -> Extractor | None:
    """The extractor with this name. None for no name, for `none`, and when a daily limit is 0."""
    found: Extractor | None = _opened(EXTRACTING, name, settings)
    return found


def open_summarizer(name: str, settings: Settings) -> Summarizer | None:
    """The summarizer with this name. None for the offline one, and when a daily limit is 0."""
    found: Summarizer | None = _opened(SUMMARIZING, name, settings)
    return found


def budget_of(job: Job, settings: Settings) -> Budget:
    """The limits of a day."""
    return Budget(calls=job.setting(settings, "daily_calls"), tokens=job.setting(settings, "daily_tokens"))


def _opened(job: Job, name: str, settings: Settings) -> Any:
    if name in ("", "none", job.without) or budget_of(job, settings).off:
        return None
    provider, _, model = name.partition(":")
    if provider == "openai":
        return _openai(job, model, settings)
    if provider in _COMPATIBLE:
        return _compatible(job, provider, model, settings)
    return _registered(job, provider)(model, settings)


def _openai(job: Job, model: str, settings: Settings) -> Any:
    from memoranda.remote import OPENAI_URL

    return _class(job)(
        model or _USUAL_MODEL,
        base_url=job.setting(settings, "url") or OPENAI_URL,
        key=secret("OPENAI_API_KEY"),
        timeout=job.setting(settings, "timeout"),
    )


def _compatible(job: Job, provider: str, model: str, settings: Settings) -> Any:
    from memoranda.remote import DEFAULT_URLS

    url = job.setting(settings, "url") or DEFAULT_URLS.get(provider, "")
    if not url:
        raise ConfigError(
            f"{provider}:{model} needs the address of its server",
            hint=f"Set MEMORANDA_{job.name.upper()}_URL, for example to http://127.0.0.1:8000/v1.",
        )
    if not model:
        raise ConfigError(f"the {job.name}'s model is not named", hint=f"Write it as {provider}:qwen2.5:7b.")
    return _class(job)(
        model,
        base_url=url,
        key=secret(job.key),
        name=f"{provider}:{model}",
        key_variable=job.key,
        timeout=job.setting(settings, "timeout"),
    )


def _class(job: Job) -> Any:
    return getattr(import_module(job.module), job.speaks_openai)


def _registered(job: Job, provider: str) -> Opener:
    """One of another package: an entry point called (model, settings)."""
    from importlib.metadata import entry_points

    for found in entry_points(group=job.entry_points, name=provider):
        opener: Opener = found.load()
        return opener
    known = ", ".join(sorted(("openai", *_COMPATIBLE)))
    raise ConfigError(
        f"no {job.name} is called {provider!r}", hint=f"Use {job.without}, or one of: {known} (as name:model)."
    )
