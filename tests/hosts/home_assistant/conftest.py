"""A home for each file of tests: starting a core takes most of the time."""

import pytest

from hosts.home_assistant.core import Core
from hosts.places import installed


@pytest.fixture(scope="module")
def make_core(tmp_path_factory, model_cache):
    """Makes homes; whatever a test leaves running is ended."""
    hass = installed("home_assistant") / "env/bin/hass"
    cores = []

    def make(**environment: str) -> Core:
        cores.append(Core(hass, tmp_path_factory.mktemp("home") / "config", environment))
        return cores[-1]

    yield make
    for core in cores:
        core.kill()
