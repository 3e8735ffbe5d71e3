"""Structured memory through the facade, with a clock that stands still on a Friday evening in Warsaw."""

import pytest

from memoranda.testing.fakes import FixedClock

FRIDAY_EVENING = 1_768_590_000_000  # 2026-01-16T19:00:00Z, 20:00 in Warsaw


@pytest.fixture
def clock():
    return FixedClock(FRIDAY_EVENING)


@pytest.fixture
def memory(opened, clock):
    return opened(clock=clock, time_zone="Europe/Warsaw")


@pytest.fixture
def profile(memory):
    return memory.profile


@pytest.fixture
def facts(memory):
    return memory.facts


@pytest.fixture
def preferences(memory):
    return memory.preferences
