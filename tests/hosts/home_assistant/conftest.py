"""A home for each file of tests: starting a core takes most of the time.

MEMORANDA_NEWEST_HOME_ASSISTANT=1 runs the same tests on the newest Home Assistant, which `install-newest` installs.
"""

import os

import pytest

from hosts.home_assistant.core import Core, NewestCore
from hosts.places import HOSTS, installed


@pytest.fixture(scope="module")
def make_core(request, tmp_path_factory, model_cache):
    """Makes homes; whatever a test leaves running is ended."""
    cores = []

    def make(**environment: str) -> Core:
        if os.environ.get("MEMORANDA_NEWEST_HOME_ASSISTANT"):
            name = f"{request.module.__name__.rpartition('.')[2]}-{len(cores)}"
            cores.append(NewestCore(HOSTS / "home_assistant_newest", name, environment))
        else:
            hass = installed("home_assistant") / "env/bin/hass"
            cores.append(Core(hass, tmp_path_factory.mktemp("home") / "config", environment))
        return cores[-1]

    yield make
    for core in cores:
        core.kill()
