"""Runs checks and examples in the environments of the frameworks, beside a model and a server of this one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.places import ROOT, installed
from memoranda.testing.agents import AgentServer

HERE = Path(__file__).parent
SOURCES = str(ROOT / "src")
INSIDE = HERE / "inside"
LONGEST = 900
# Which environment a framework is installed in.
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
collect_ignore = ["inside"]  # they run where the frameworks are installed

# Nothing is told to anybody, and nothing is asked of a network.
QUIET = {
    "MEM0_TELEMETRY": "False",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_VERSION_CHECK": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "AGNO_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
}


@pytest.fixture(scope="session")
def frameworks():
    return installed("frameworks")


@pytest.fixture(scope="session")
def model():
    with AgentServer() as server:
        yield server


def clean_environment(home, model_cache):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORANDA_", "PYTEST_"))}
    return {**kept, **QUIET, "HOME": str(home), "MEMORANDA_CACHE": str(model_cache), "PYTHONPATH": SOURCES}


@pytest.fixture(scope="session")
def served(tmp_path_factory, model_cache):
    """The address and the token of a server: `memoranda serve`, as people start it."""
    folder = tmp_path_factory.mktemp("served")
    command = [
        sys.executable,
        "-m",
        "memoranda",
        "--store",
        str(folder / "served.db"),
        "serve",
        "--json",
        "--port",
        "0",
    ]
    process = subprocess.Popen(
        command,
        env=clean_environment(folder, model_cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        told = json.loads(process.stdout.readline())
        yield {"TEST_SERVER_URL": told["url"], "TEST_SERVER_TOKEN": told["token"]}
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture
def run(frameworks, tmp_path, model_cache):
    """Run Python in an environment of a framework; what it printed, when it went well."""

    def done(name, *arguments, folder=tmp_path, **more):
        environment = {**clean_environment(tmp_path, model_cache), **more}
        ended = subprocess.run(
            [frameworks / name / "bin/python", *map(str, arguments)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-6_000:] + ended.stderr[-6_000:]
        return ended.stdout

    return done
