"""The example of every framework runs as it stands, against a model that echoes."""

import pytest

from hosts.frameworks.conftest import LONGEST, WHERE
from hosts.places import ROOT

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(LONGEST + 60)]

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


def test_every_example_of_a_framework_is_run_here():
    written = {path.stem for path in (ROOT / "examples/frameworks").glob("*.py")}
    assert written == set(EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_remembers_from_one_conversation_to_the_next(example, run, model):
    framework, expected = EXAMPLES[example]
    printed = run(WHERE[framework], ROOT / f"examples/frameworks/{example}.py", f"{model.url}/openai/v1", "fake-1")
    for words in expected:
        assert words in printed, printed
