"""Every adapter with the framework that it is for: its example, its checks, and the tests that LangGraph publishes."""

import os
import re

import pytest

from hosts.frameworks.conftest import INSIDE, LONGEST, SOURCES
from hosts.places import ROOT

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(LONGEST + 60)]

WHERE = {
    "langgraph": "agents",
    "openai_agents": "agents",
    "pydantic_ai": "agents",
    "agno": "agents",
    "mem0": "agents",
    "llama_index": "index",
    "google_adk": "index",
    "litellm": "index",
    "crewai": "crew",
}
EXAMPLES = {
    "langgraph_agent": ("langgraph", ["[MEM]", "borscht", "train at seven"]),
    "openai_agents_session": ("openai_agents", ["[MEM] | 2 items"]),
    "pydantic_ai_capability": ("pydantic_ai", ["[MEM]"]),
    "agno_learning": ("agno", ["[MEM]\nbob ECHO"]),
    "llama_index_memory": ("llama_index", ["[MEM]", "train at seven"]),
    "google_adk_memory": ("google_adk", ["PAST_CONVERSATIONS", "train at seven"]),
    "litellm_callback": ("litellm", ["[MEM]"]),
    "crewai_storage": ("crewai", ["Anna takes the train at seven", "['/anna', '/bob']"]),
}
SUITES = {
    "langgraph_checkpoint-4.3.1/tests/test_store.py": (112, 2),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_store.py": (84, 19),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_async_store.py": (35, 4),
    "langgraph_checkpoint_sqlite-3.1.2/tests/test_ttl.py": (8, 3),
}


def test_every_example_of_a_framework_is_run_here():
    written = {path.stem for path in (ROOT / "examples/frameworks").glob("*.py")}
    assert written == set(EXAMPLES)
    assert {path.stem.removeprefix("checks_") for path in INSIDE.glob("checks_*.py")} == set(WHERE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_remembers_from_one_conversation_to_the_next(example, run, model):
    framework, expected = EXAMPLES[example]
    printed = run(WHERE[framework], ROOT / f"examples/frameworks/{example}.py", f"{model.url}/openai/v1", "fake-1")
    for words in expected:
        assert words in printed, printed


@pytest.mark.parametrize("framework", WHERE)
def test_an_adapter_holds_what_it_promises(framework, run, served):
    checks = INSIDE / f"checks_{framework}.py"
    printed = run(WHERE[framework], "-m", "pytest", "-c", INSIDE / "pytest.ini", checks, **served)
    assert re.search(r"\d+ passed(, \d+ warnings?)? in", printed), printed


@pytest.mark.parametrize("suite", SUITES)
def test_the_tests_that_langgraph_publishes_pass_on_our_store(suite, run, frameworks):
    folder, _, file = suite.partition("/")
    paths = os.pathsep.join([str(INSIDE), ".", SOURCES])
    options = ["-c", INSIDE / "pytest.ini", "--rootdir", ".", "-p", "langgraph_suites"]
    printed = run("agents", "-m", "pytest", *options, file, folder=frameworks / "suites" / folder, PYTHONPATH=paths)
    passed, left_out = SUITES[suite]
    assert f"{passed} passed, {left_out} skipped" in printed, printed
