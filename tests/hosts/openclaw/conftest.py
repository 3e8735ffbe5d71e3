"""One gateway for all tests of a file: it takes half a minute to start."""

import pytest

from hosts.openclaw.between import Between
from hosts.openclaw.running import Home, free_port, gateway, serving
from memoranda.testing.agents import AgentServer


@pytest.fixture(scope="module")
def model():
    with AgentServer() as server:
        yield server


@pytest.fixture(scope="module")
def between():
    made = Between()
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory, between):
    with serving(tmp_path_factory.mktemp("served"), also_called=f"127.0.0.1:{between.port}") as made:
        between.lead_to(made.port)
        yield made


@pytest.fixture(scope="module")
def claw(tmp_path_factory, model, server, between):
    """OpenClaw with the plugin in its slot."""
    folder = tmp_path_factory.mktemp("openclaw") / "claw"
    home = Home(folder, model_url=f"{model.url}/openai/v1", gateway_port=free_port())
    home.with_plugin(
        url=between.url,
        token=server.token,
        scope="openclaw",
        recall={"timeoutMs": 10_000},
        capture={"timeoutMs": 10_000},
        tools={"timeoutMs": 10_000},
        breaker={"failures": 2, "seconds": 20},
    )
    with gateway(home) as made:
        yield made
