"""Voyage AI's embeddings.

Knows the format only; who chooses the address and the key is the registry.
"""

from collections.abc import Sequence
from typing import Any

from memoranda.domain.ports import Role
from memoranda.embedding.preparation import Prefixes, fingerprint
from memoranda.embedding.remote import RemoteEmbedder, rows_by_index
from memoranda.remote import JsonClient, checked_base_url

VOYAGE_URL = "https://api.voyageai.com/v1"

_DIMENSIONS = {
    "voyage-4-large": 1024,
    "voyage-4": 1024,
    "voyage-4-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-code-3": 1024,
}


class VoyageEmbedder(RemoteEmbedder):
    """`POST {base_url}/embeddings`, with the role as `input_type`."""

    def __init__(
        self,
        model: str = "voyage-4-large",
        *,
        base_url: str = VOYAGE_URL,
        key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 60.0,
    ) -> None:
        name = f"voyage:{model}"
        base_url = checked_base_url(base_url)
        length = dimensions or _DIMENSIONS.get(model)
        self._model = model
        self._sent = dimensions
        super().__init__(
            name,
            fingerprint=fingerprint(
                name, place="" if base_url == VOYAGE_URL else base_url, prefixes=Prefixes(), dimensions=length
            ),
            dimensions=length,
            client=JsonClient(
                name,
                base_url,
                key=key,
                key_header="Authorization",
                key_variable="VOYAGE_API_KEY",
                key_needed=base_url == VOYAGE_URL,
            ),
            timeout=timeout,
        )

    def _question(self, texts: Sequence[str], role: Role) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self._model, "input": list(texts), "input_type": role}
        if self._sent is not None:
            body["output_dimension"] = self._sent
        return "/embeddings", body

    def _rows(self, answer: Any) -> list[Any]:
        return rows_by_index(answer)
