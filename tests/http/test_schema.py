"""The description of the server is true: valid OpenAPI, complete, and kept to by every answer, whatever is sent.

`MEMORANDA_SCHEMA_EXAMPLES` says how many requests are made up for each operation beside those of the coverage phase.
"""

import copy
import os

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from jsonschema import Draft202012Validator
from loopback import EVERYWHERE, loopback
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from memoranda.http import openapi
from memoranda.http.own import OWN
from memoranda.wire.doors import DOORS

EXAMPLES = int(os.environ.get("MEMORANDA_SCHEMA_EXAMPLES", "5"))
SCOPE = "home/anna"
DOCUMENT = openapi.document()


def rejects_what_is_wrong(context, response, case):
    """A body that is too large is refused before anybody looks into it."""
    if response.status_code != 413:
        checks.negative_data_rejection(context, response, case)


CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    rejects_what_is_wrong,
    checks.missing_required_header,
    checks.unsupported_method,
    checks.allow_header_conformance,
]
# What a result tells beside its fields is not read when the result is sent back, whatever it is.
TAKES_RESULTS = ("pack", "why_not")


def plain(schema):
    """Tuples as lists: the tool turns `prefixItems` into what its own validator then refuses."""
    if isinstance(schema, dict):
        found = {name: plain(part) for name, part in schema.items()}
        if "prefixItems" in found:
            found["items"] = {"anyOf": found.pop("prefixItems")}
        return found
    return [plain(each) for each in schema] if isinstance(schema, list) else schema


SCHEMA = schemathesis.openapi.from_dict(plain(copy.deepcopy(DOCUMENT)))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "boiler.md").write_text("# Boiler\nThe manual is in the blue folder.\n")
    with loopback(folder / "store.db", roots=(str(notes),)) as made:
        for number in range(30):
            made.post(f"/v1/memories?scope={SCOPE}", {"text": f"Anna keeps thing {number} in the cellar."})
        messages = [{"role": "user", "content": "Please remember that I leave at seven."}]
        made.post(f"/v1/conversations/append?scope={SCOPE}", {"conversation": "kitchen", "messages": messages})
        made.post(f"/v1/documents?scope={SCOPE}", {"path": str(notes), "name": "notes"})
        made.known = made.get(f"/v1/memories?scope={SCOPE}&limit=1").json()["memories"][0]["id"]
        yield made


@pytest.fixture(scope="module")
def session():
    with requests.Session() as made:
        yield made


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 15,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_the_description_says(case, server, session):
    _into_reach(case, server.known)
    chosen = [each for each in CHECKS if each is not rejects_what_is_wrong or _is_judged(case)]
    headers = {"authorization": f"Bearer {EVERYWHERE}"}
    case.call_and_validate(base_url=server.url, session=session, headers=headers, checks=chosen)


def _into_reach(case, known):
    """Most of what is made up would end at the scope or at the id: send it where there is something."""
    if not case.meta or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.path.startswith("/v1/") and case.path not in {each.path for each in OWN}:
        case.query = {**(case.query or {}), "scope": SCOPE}
    if "reference" in (case.path_parameters or {}) and "tokens" not in case.path:
        case.path_parameters = {"reference": known}


def _is_judged(case):
    """Whether it was made wrong in a way that is still there when it is sent: its body, not its token."""
    body = case.meta.components.get(ParameterLocation.BODY) if case.meta else None
    wrong = body is not None and body.mode is GenerationMode.NEGATIVE
    return wrong and case.operation.definition.raw.get("operationId") not in TAKES_RESULTS


def test_the_description_is_the_one_that_is_served(server):
    assert server.get("/openapi.json", token=None).json() == DOCUMENT


def test_it_is_openapi_3_1_by_the_tools_own_schema():
    assert DOCUMENT["openapi"] == "3.1.0"
    SCHEMA.validate()


def test_every_schema_is_valid_json_schema_and_every_reference_leads_somewhere():
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)

    def walk(part):
        if isinstance(part, dict):
            if "$ref" in part:
                assert part["$ref"].rpartition("/")[2] in DOCUMENT["components"]["schemas"], part
            for each in part.values():
                walk(each)
        elif isinstance(part, list):
            for each in part:
                walk(each)

    walk(DOCUMENT)


OPERATIONS = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_says_what_it_is_what_it_takes_and_how_it_fails(method, path, operation):
    assert operation["summary"].endswith(".")
    assert operation["tags"]
    responses = operation["responses"]
    good = {status for status in responses if status.startswith("2")}
    assert len(good) == 1
    assert {"400", "401", "403", "422", "429", "500", "503"} <= set(responses)
    for status, response in responses.items():
        if status == "204":
            continue
        for kind, content in response["content"].items():
            assert content["schema"], (status, kind)
            assert kind == "application/problem+json" or status in good
    for parameter in operation.get("parameters", ()):
        assert parameter["schema"] is not None
    if path in {door.path for door in DOORS} and method != "get":
        assert operation["requestBody"]["content"]


@pytest.mark.parametrize(
    "door", [each for each in DOORS if each.method != "GET" and not each.upload], ids=lambda d: d.verb
)
def test_every_example_fits_its_schema(door):
    content = DOCUMENT["paths"][door.path][door.method.lower()]["requestBody"]["content"]["application/json"]
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(content["example"])


def test_operation_ids_are_unique():
    ids = [each.values[2]["operationId"] for each in OPERATIONS]
    assert len(ids) == len(set(ids))
