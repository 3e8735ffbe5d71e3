"""The real Codex with our hooks and our server of tools."""

import sys

import pytest

from hosts.places import installed

from .conftest import BIN

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="starts the scripts of npm"),
]
installed("claude_code")
LAMP = "I read by light.bedroom_lamp."


def test_a_turn_is_captured_and_given_to_the_next_and_everything_of_the_user_stays(anna, model):
    config = anna.home / ".codex/config.toml"
    config.parent.mkdir()
    own = (
        '# mine\nmodel = "gpt-5-codex"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{model.url}/openai/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    )
    config.write_text(own)
    anna.install("codex")
    assert "memoranda" in anna.run(BIN / "codex", "mcp", "list")

    assert "[MEM]" not in anna.codex(f"Remember that {LAMP}")
    assert anna.memories() == [LAMP]
    assert "[MEM]" in anna.codex("which lamp do I read by?")
    assert "light.bedroom_lamp" in model.asked[-1]

    anna.memoranda("uninstall", "codex")
    assert "memoranda" not in anna.run(BIN / "codex", "mcp", "list")
    assert config.read_text() == own
    assert not (config.parent / "hooks.json").exists()
