"""OpenAI's embeddings, and every service that speaks its format: Ollama, LM Studio, vLLM, llama.cpp, ...

Knows the format only; who chooses the address and the key is the registry.
"""

from collections.abc import Sequence
from typing import Any

from memoranda.domain.ports import Role
from memoranda.embedding.preparation import Prefixes, fingerprint, prefixes_for
from memoranda.embedding.remote import RemoteEmbedder, rows_by_index
from memoranda.remote import DEFAULT_URLS, OPENAI_URL, JsonClient, checked_base_url

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder(RemoteEmbedder):
    """`POST {base_url}/embeddings`. Without `send_dimensions`, only OpenAI itself is asked to shorten vectors."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI_URL,
        key: str | None = None,
        dimensions: int | None = None,
        send_dimensions: bool | None = None,
        prefixes: Prefixes | None = None,
        name: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
    ) -> None:
        name = name or f"openai:{model}"
        base_url = checked_base_url(base_url)
        at_openai = base_url == OPENAI_URL
        length = dimensions or _DIMENSIONS.get(model)
        self._model = model
        self._prefixes = prefixes_for(model) if prefixes is None else prefixes
        usual = DEFAULT_URLS.get(name.partition(":")[0])
        self._sent = dimensions if (at_openai if send_dimensions is None else send_dimensions) else None
        super().__init__(
            name,
            fingerprint=fingerprint(
                name,
                place="" if base_url == usual else base_url,
                prefixes=self._prefixes,
                dimensions=length,
            ),
            dimensions=length,
            client=JsonClient(
                name,
                base_url,
                key=key,
                key_header="Authorization",
                key_variable=key_variable,
                key_needed=at_openai,
            ),
            timeout=timeout,
        )

    def _question(self, texts: Sequence[str], role: Role) -> tuple[str, dict[str, Any]]:
        # Floats, and said so: with base64 some services answer a quarter of the vector.
        body: dict[str, Any] = {
            "model": self._model,
            "input": self._prefixes.applied(texts, role),
            "encoding_format": "float",
        }
        if self._sent is not None:
            body["dimensions"] = self._sent
        return "/embeddings", body

    def _rows(self, answer: Any) -> list[Any]:
        return rows_by_index(answer)
