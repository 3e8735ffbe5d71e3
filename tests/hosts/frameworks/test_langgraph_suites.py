"""The tests that LangGraph publishes with its own stores, on ours. The numbers are exact: nothing is skipped unseen."""

import os

import pytest

from hosts.frameworks.conftest import INSIDE, LONGEST, SOURCES

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(LONGEST + 60)]

SUITES = {
    "langgraph_checkpoint-4.3.1/tests/test_store.py": (112, 2),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_store.py": (84, 19),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_async_store.py": (35, 4),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_ttl.py": (8, 3),
}


@pytest.mark.parametrize("suite", SUITES)
def test_the_tests_that_langgraph_publishes_pass_on_our_store(suite, run, frameworks):
    folder, _, file = suite.partition("/")
    paths = os.pathsep.join([str(INSIDE), ".", SOURCES])
    options = ["-c", INSIDE / "pytest.ini", "--rootdir", ".", "-p", "langgraph_suites"]
    printed = run("agents", "-m", "pytest", *options, file, folder=frameworks / "suites" / folder, PYTHONPATH=paths)
    passed, left_out = SUITES[suite]
    assert f"{passed} passed, {left_out} skipped" in printed, printed
