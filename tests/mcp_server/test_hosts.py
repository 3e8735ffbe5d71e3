"""The inspector of the Model Context Protocol, which is a real client of others, on both transports."""

import json
import subprocess
import sys

import pytest

from hosts.places import installed

from .conftest import COMMAND, environment
from .test_default_tools import NAMES
from .test_streamable import free_port, serving

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="starts the script of npm"),
]


@pytest.fixture(scope="session")
def inspector():
    """The inspector, as `tests/hosts/claude_code/install` installs it."""
    return installed("claude_code") / "node_modules/.bin/mcp-inspector"


@pytest.fixture(params=["stdio", "http"])
def ask(request, inspector, path, model_cache):
    """What the inspector prints for a method, as JSON."""

    def asking(*target):
        def run(*options):
            given = [str(inspector), "--cli", *target, *options]
            done = subprocess.run(
                given, capture_output=True, text=True, timeout=100, check=False, env=environment(model_cache)
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return json.loads(done.stdout)

        return run

    if request.param == "stdio":
        yield asking(COMMAND, "mcp", "--store", str(path), "--scope", "home/anna", "--embedder", "none")
        return
    port = free_port()
    with serving(path, port):
        header = ("--header", "Authorization: Bearer anna")
        yield asking(f"http://127.0.0.1:{port}/mcp", "--transport", "http", *header)


def test_the_inspector_lists_and_calls_tools_and_reads_resources_and_prompts(ask):
    assert [tool["name"] for tool in ask("--method", "tools/list")["tools"]] == NAMES
    call = ("--method", "tools/call", "--tool-name")
    kept = ask(*call, "remember", "--tool-arg", "text=Anna reads by light.desk.")
    assert kept["structuredContent"]["trust"] == "untrusted"
    found = ask(*call, "recall", "--tool-arg", "query=what does Anna read by?", "--tool-arg", "limit=3")
    assert found["structuredContent"]["memories"][0]["id"] == kept["structuredContent"]["id"]
    (profile,) = ask("--method", "resources/list")["resources"]
    read = ask("--method", "resources/read", "--uri", profile["uri"])
    assert json.loads(read["contents"][0]["text"])["profile"]["name"] == ""
    assert len(ask("--method", "resources/templates/list")["resourceTemplates"]) == 2
    asked = ask(
        "--method", "prompts/get", "--prompt-name", "recall_before_answering", "--prompt-args",
        "question=what does Anna read by?",
    )  # fmt: skip
    assert "light.desk" in asked["messages"][0]["content"]["text"]
