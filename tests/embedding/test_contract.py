"""The contract, on every provider: over real HTTP, and on a real ONNX model."""

import pytest

from memoranda.embedding.fastembed import FastembedEmbedder
from memoranda.embedding.gemini import GeminiEmbedder
from memoranda.embedding.openai import OpenAIEmbedder
from memoranda.embedding.voyage import VoyageEmbedder
from memoranda.testing.contracts import EmbedderContract

from .conftest import KEY


class _OverHttp(EmbedderContract):
    key = KEY

    @pytest.fixture(autouse=True)
    def _remember_the_server(self, server):
        self.server = server

    def calls(self):
        return len(self.server.requests)


class TestOpenAI(_OverHttp):
    @pytest.fixture
    def embedder(self, server):
        return OpenAIEmbedder("some-model", base_url=server.openai_url, key=KEY)


class TestOpenAIWithDimensions(_OverHttp):
    @pytest.fixture
    def embedder(self, server):
        return OpenAIEmbedder(
            "text-embedding-3-small", base_url=server.openai_url, key=KEY, dimensions=32, send_dimensions=True
        )


class TestOpenAIWithPrefixes(_OverHttp):
    @pytest.fixture
    def embedder(self, server):
        return OpenAIEmbedder("nomic-embed-text", base_url=server.openai_url, key=KEY, name="ollama:nomic-embed-text")


class TestGemini(_OverHttp):
    @pytest.fixture
    def embedder(self, server):
        return GeminiEmbedder(base_url=server.gemini_url, key=KEY, dimensions=32)


class TestVoyage(_OverHttp):
    @pytest.fixture
    def embedder(self, server):
        return VoyageEmbedder(base_url=server.voyage_url, key=KEY, dimensions=32)


class TestFastembed(EmbedderContract):
    @pytest.fixture
    def embedder(self, model_folder):
        return FastembedEmbedder(str(model_folder), threads=1)
