"""Google's Gemini embeddings, by their own format (`batchEmbedContents`).

Knows the format only; who chooses the address and the key is the registry.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from memoranda.domain.ports import Role
from memoranda.embedding.preparation import Prefixes, fingerprint, prefixes_for
from memoranda.embedding.remote import RemoteEmbedder
from memoranda.remote import JsonClient, checked_base_url

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"

_DIMENSIONS = {"gemini-embedding-001": 3072, "gemini-embedding-2": 3072}
_TASKS: dict[Role, str] = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_MAX_ITEMS = 100  # more in one request are refused


class GeminiEmbedder(RemoteEmbedder):
    """`POST {base_url}/models/{model}:batchEmbedContents`."""

    def __init__(
        self,
        model: str = "gemini-embedding-001",
        *,
        base_url: str = GEMINI_URL,
        key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 60.0,
    ) -> None:
        model = model.removeprefix("models/")
        name = f"gemini:{model}"
        base_url = checked_base_url(base_url)
        length = dimensions or _DIMENSIONS.get(model)
        self._model = model
        self._sent = dimensions
        self._prefixes = prefixes_for(model)
        super().__init__(
            name,
            fingerprint=fingerprint(
                name, place="" if base_url == GEMINI_URL else base_url, prefixes=self._prefixes, dimensions=length
            ),
            dimensions=length,
            client=JsonClient(
                name,
                base_url,
                key=key,
                key_header="x-goog-api-key",
                key_variable="GEMINI_API_KEY",
                key_needed=base_url == GEMINI_URL,
            ),
            timeout=timeout,
            max_items=_MAX_ITEMS,
        )

    def _question(self, texts: Sequence[str], role: Role) -> tuple[str, dict[str, Any]]:
        settings: dict[str, Any] = {"model": f"models/{self._model}"}
        if self._prefixes == Prefixes():
            # A model that is told by a prefix ignores the field.
            settings["taskType"] = _TASKS[role]
        if self._sent is not None:
            settings["outputDimensionality"] = self._sent
        requests = [
            {**settings, "content": {"parts": [{"text": text}]}} for text in self._prefixes.applied(texts, role)
        ]
        return f"/models/{quote(self._model, safe='')}:batchEmbedContents", {"requests": requests}

    def _rows(self, answer: Any) -> list[Any]:
        return [item["values"] for item in answer["embeddings"]]
