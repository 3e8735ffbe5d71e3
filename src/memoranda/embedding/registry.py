"""Embedders by name: a table first, then what other packages registered. Nothing is imported before it is asked for."""

from collections.abc import Callable

from memoranda.config import Settings, secret
from memoranda.domain.errors import ConfigError
from memoranda.domain.ports import Embedder
from memoranda.embedding.pipeline import EmbeddingPipeline

ENTRY_POINTS = "memoranda.embedders"
DEFAULT = "use:m3"

# Servers that speak OpenAI's protocol on this machine.
_LOCAL_SERVERS = ("ollama", "lmstudio", "vllm", "llamacpp")


def open_embedder(name: str, settings: Settings) -> EmbeddingPipeline | None:
    """The embedder with this name inside its pipeline; None for `none`. Makes no call and loads no model."""
    if name == "none":
        return None
    full = DEFAULT if name in ("auto", "use") else name
    provider, _, model = full.partition(":")
    opener = _PROVIDERS.get(provider) or _registered(provider)
    embedder = opener(model, settings)
    return EmbeddingPipeline(embedder, query_deadline=settings.query_timeout)


def _use(model: str, settings: Settings) -> Embedder:
    from memoranda.embedding.use import UseEmbedder

    if model != "m3":
        raise ConfigError(f"the bundled embedder is use:m3; there is no use:{model}")
    return UseEmbedder(settings.cache_folder(), limit_threads=settings.limit_threads)


def _fastembed(model: str, settings: Settings) -> Embedder:
    from memoranda.embedding.fastembed import FastembedEmbedder

    folder = settings.cache_folder()
    return FastembedEmbedder(
        _named(model, "fastembed:snowflake/snowflake-arctic-embed-s"), cache_dir=None if folder is None else str(folder)
    )


def _openai(model: str, settings: Settings) -> Embedder:
    from memoranda.embedding.openai import OpenAIEmbedder
    from memoranda.remote import OPENAI_URL

    return OpenAIEmbedder(
        model or "text-embedding-3-small",
        base_url=settings.embedder_url or OPENAI_URL,
        key=secret("OPENAI_API_KEY"),
        dimensions=settings.embedder_dimensions or None,
        timeout=settings.embedder_timeout,
    )


def _compatible(provider: str) -> Callable[[str, Settings], Embedder]:
    def opener(model: str, settings: Settings) -> Embedder:
        from memoranda.embedding.openai import OpenAIEmbedder
        from memoranda.remote import DEFAULT_URLS

        url = settings.embedder_url or DEFAULT_URLS.get(provider, "")
        if not url:
            raise ConfigError(
                f"{provider}:{model} needs the address of its server",
                hint="Set MEMORANDA_EMBEDDER_URL, for example to http://127.0.0.1:8000/v1.",
            )
        return OpenAIEmbedder(
            _named(model, f"{provider}:nomic-embed-text"),
            base_url=url,
            key=secret("MEMORANDA_EMBEDDER_KEY"),
            dimensions=settings.embedder_dimensions or None,
            name=f"{provider}:{model}",
            key_variable="MEMORANDA_EMBEDDER_KEY",
            timeout=settings.embedder_timeout,
        )

    return opener


def _gemini(model: str, settings: Settings) -> Embedder:
    from memoranda.embedding.gemini import GEMINI_URL, GeminiEmbedder

    return GeminiEmbedder(
        model or "gemini-embedding-001",
        base_url=settings.embedder_url or GEMINI_URL,
        key=secret("GEMINI_API_KEY"),
        dimensions=settings.embedder_dimensions or None,
        timeout=settings.embedder_timeout,
    )


def _voyage(model: str, settings: Settings) -> Embedder:
    from memoranda.embedding.voyage import VOYAGE_URL, VoyageEmbedder

    return VoyageEmbedder(
        model or "voyage-4-large",
        base_url=settings.embedder_url or VOYAGE_URL,
        key=secret("VOYAGE_API_KEY"),
        dimensions=settings.embedder_dimensions or None,
        timeout=settings.embedder_timeout,
    )


_PROVIDERS: dict[str, Callable[[str, Settings], Embedder]] = {
    "use": _use,
    "fastembed": _fastembed,
    "openai": _openai,
    "gemini": _gemini,
    "voyage": _voyage,
    "compatible": _compatible("compatible"),
    **{provider: _compatible(provider) for provider in _LOCAL_SERVERS},
}


def _registered(provider: str) -> Callable[[str, Settings], Embedder]:
    """An embedder of another package: an entry point called (model, settings)."""
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name=provider):
        opener: Callable[[str, Settings], Embedder] = found.load()
        return opener
    known = ", ".join(sorted(_PROVIDERS))
    raise ConfigError(
        f"no embedder is called {provider!r}", hint=f"Use auto, none, or one of: {known} (as name:model)."
    )


def _named(model: str, example: str) -> str:
    if not model:
        raise ConfigError("the embedder's model is not named", hint=f"Write it as {example}.")
    return model
