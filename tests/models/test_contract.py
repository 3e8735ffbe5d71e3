"""Every extractor keeps the contract."""

import pytest

from memoranda.models.openai import OpenAIExtractor
from memoranda.testing.extractor_contract import ExtractorContract
from memoranda.testing.servers import ChatServer

from .conftest import KEY

ITEM = {
    "text": "I prefer green tea.",
    "kind": "preference",
    "quote": "prefer green tea",
    "message": 0,
    "confidence": 0.9,
}


class TestOpenAI(ExtractorContract):
    @pytest.fixture(params=[(), ("json_schema",), ("temperature", "json_schema")], ids=["strict", "no schema", "old"])
    def extractor(self, request):
        with ChatServer(lambda _: [ITEM], key=KEY, unknown=request.param) as server:
            yield OpenAIExtractor("some-model", base_url=server.openai_url, key=KEY)
