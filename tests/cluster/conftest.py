"""Servers on a PostgreSQL of the test's own."""

import pytest

from .servers import Server, start_all


@pytest.fixture
def servers(tmp_path):
    """Starts some; all are ended."""
    begun = []

    def start(address, number, **settings):
        begun.extend(Server(address, tmp_path, **settings) for _ in range(number))
        start_all(begun[-number:])
        return begun[-number:]

    yield start
    for each in begun:
        each.end()
