"""Every adapter with the framework that it is for: what it promises, on an embedded and on a served store."""

import re

import pytest

from hosts.frameworks.conftest import INSIDE, LONGEST, WHERE

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(LONGEST + 60)]


def test_every_framework_has_its_checks():
    assert {path.stem.removeprefix("checks_") for path in INSIDE.glob("checks_*.py")} == set(WHERE)


@pytest.mark.parametrize("framework", WHERE)
def test_an_adapter_holds_what_it_promises(framework, run, served):
    checks = INSIDE / f"checks_{framework}.py"
    printed = run(WHERE[framework], "-m", "pytest", "-c", INSIDE / "pytest.ini", checks, **served)
    assert re.search(r"\d+ passed(, \d+ warnings?)? in", printed), printed
