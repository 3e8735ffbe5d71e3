"""An extractor by its name, and the switches that turn it off."""

import importlib.metadata

import pytest

from memoranda.config import Settings
from memoranda.domain.errors import ConfigError
from memoranda.domain.message import assistant, user
from memoranda.models.budget import Budget
from memoranda.models.openai import OpenAIExtractor
from memoranda.models.registry import EXTRACTING, budget_of, open_extractor
from memoranda.remote import JsonClient
from memoranda.testing.servers import ChatServer

from .conftest import KEY


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("", Settings()),
        ("none", Settings()),
        ("openai:gpt-4o-mini", Settings(extractor_daily_calls=0)),
        ("openai:gpt-4o-mini", Settings(extractor_daily_tokens=0)),
        ("no-such-thing", Settings(extractor_daily_calls=0)),
    ],
)
def test_the_switch_is_off(name, settings):
    assert open_extractor(name, settings) is None


def test_no_model_is_asked_unless_one_is_named():
    assert open_extractor(Settings().extractor, Settings()) is None


@pytest.mark.parametrize("name", ["openai:gpt-4o-mini", "ollama:qwen2.5:7b", "lmstudio:m", "vllm:a/b", "llamacpp:m"])
def test_opening_one_keeps_its_name_and_makes_no_call(name, monkeypatch):
    monkeypatch.setattr(JsonClient, "_exchange", lambda *_: pytest.fail("a call was made"))
    extractor = open_extractor(name, Settings())
    assert isinstance(extractor, OpenAIExtractor)
    assert extractor.name == name


def test_openai_has_a_usual_model():
    assert open_extractor("openai", Settings()).name == "openai:gpt-4o-mini"


@pytest.mark.parametrize("name", ["compatible:mine", "openai-compatible:mine"])
def test_a_compatible_service_needs_an_address(name):
    with pytest.raises(ConfigError) as caught:
        open_extractor(name, Settings())
    assert "MEMORANDA_EXTRACTOR_URL" in caught.value.hint
    assert open_extractor(name, Settings(extractor_url="http://127.0.0.1:9/v1")).name == name


def test_a_local_service_needs_a_model():
    with pytest.raises(ConfigError, match="not named"):
        open_extractor("ollama", Settings())


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(ConfigError) as caught:
        open_extractor("openia:gpt-4o-mini", Settings())
    assert "openai" in caught.value.hint


def test_the_settings_reach_the_service(monkeypatch):
    monkeypatch.setenv("MEMORANDA_EXTRACTOR_KEY", KEY)
    with ChatServer(key=KEY) as server:
        settings = Settings(extractor_url=server.openai_url, extractor_timeout=5.0)
        extractor = open_extractor("compatible:mine", settings)
        extractor.extract([assistant("Tea?"), user("I prefer green tea")], seconds=60)
        (request,) = server.requests
    assert request.body["model"] == "mine"
    assert "green tea" in request.body["messages"][1]["content"]
    assert "Tea?" not in request.body["messages"][1]["content"]


def test_each_provider_has_its_own_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.delenv("MEMORANDA_EXTRACTOR_KEY", raising=False)
    with ChatServer() as server:
        settings = Settings(extractor_url=server.openai_url)
        for name in ("openai:a", "ollama:b"):
            open_extractor(name, settings).extract([user("I prefer green tea")], seconds=5)
        first, second = server.requests
    assert first.headers["authorization"] == "Bearer sk-of-openai"
    assert "authorization" not in second.headers


def test_limits_are_those_of_the_settings():
    assert budget_of(EXTRACTING, Settings(extractor_daily_calls=7, extractor_daily_tokens=900)) == Budget(
        calls=7, tokens=900
    )


def test_another_package_can_register_one(monkeypatch):
    class Found:
        def load(self):
            return lambda model, settings: (model, settings.extractor_timeout)

    def entry_points(*, group, name):
        assert (group, name) == ("memoranda.extractors", "theirs")
        return [Found()]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert open_extractor("theirs:big", Settings(extractor_timeout=3.0)) == ("big", 3.0)
