"""What every test here shares: none of them reads the settings of whoever runs it."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def plain_settings():
    """Nobody's environment decides how a server under test is set up."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [each for each in os.environ if each.startswith("MEMORANDA_SERVER_")]:
            patch.delenv(name)
        yield
