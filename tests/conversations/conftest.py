"""What the tests of conversations share: a small budget, and commands run in this process."""

import pytest

from cli.conftest import run as run


@pytest.fixture
def small(opened, clock):
    """A store whose conversations are summed up soon."""
    return opened(clock=clock, conversation_budget=1_200, compact_messages=0)
