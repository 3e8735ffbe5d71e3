"""Attack strings through every door that takes text: no server error, no leak, no path, every answer bounded."""

import json
import os
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from tenants import BELOW, HOME, SOURCE, world

DATA = Path(os.environ.get("MEMORANDA_DATA") or Path(__file__).parents[3] / "shared" / "data")
ATTACKS = DATA / "attacks" / "cases.json"
needs_attacks = pytest.mark.skipif(not ATTACKS.exists(), reason="the attack cases are not on this machine")
SEEN = (HOME, BELOW)
LARGEST_ANSWER = 2_000_000
LONGEST_SECONDS = 20


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    with world(tmp_path_factory.mktemp("attacks")) as made:
        yield made


@pytest.fixture
def attacked(tenants):
    """Asks as an admin of one scope, and looks at every answer; nothing outside may be other than before."""
    caller = tenants.server.caller(tenants.server.token(HOME, "admin"))
    before = tenants.outside()

    def ask(method, line, body=None, **options):
        began = time.monotonic()
        answer = caller.ask(method, line, body, **options)
        assert answer.status < 500, (line, str(body)[:200], answer)
        assert time.monotonic() - began < LONGEST_SECONDS, (line, str(body)[:200])
        assert len(answer.body) < LARGEST_ANSWER
        leaks = tenants.leaks(answer.said, SEEN, f"{line} {body!r}")
        assert not leaks, (line, str(body)[:200], leaks)
        for secret in (b"Traceback", b"sqlite", b"apsw", b"root:x:0", str(tenants.server.store.path).encode()):
            assert secret not in answer.body, (line, str(body)[:200], answer)
        return answer

    yield ask
    assert tenants.outside() == before


def _expanded(given):
    """`$join`, `$repeat` and `$range` stand for texts that would be long to write."""
    if isinstance(given, str):
        return given
    if isinstance(given, dict) and "$join" in given:
        return "".join(_expanded(each) for each in given["$join"])
    if isinstance(given, dict) and "$repeat" in given:
        return given["$repeat"][0] * int(given["$repeat"][1])
    if isinstance(given, dict) and "$range" in given:
        form, count, between = given["$range"]
        return between.join(form.replace("{i}", str(each)) for each in range(count))
    return json.dumps(given)


def _cases(*classes):
    if not ATTACKS.exists():
        return []
    cases = json.loads(ATTACKS.read_text())["cases"]
    return [pytest.param(_expanded(each["input"]), id=each["id"]) for each in cases if each["class"] in classes]


def _encodable(text):
    return text.encode("utf-8", "replace").decode()


@needs_attacks
@pytest.mark.parametrize(
    "text", _cases("sql_fts", "cross_tenant", "path_traversal", "ssrf", "unicode", "delimiter_breakout", "xss_console")
)
def test_a_hostile_text_is_data_wherever_it_is_sent(attacked, text):
    scope = f"{HOME}/attacked"
    plain = quote(_encodable(text)[:2_000], safe="")
    attacked("POST", "/v1/recall", {"query": text})
    attacked("POST", "/v1/recall", {"query": "lamp", "about": text, "speaker": text, "tags": [text]})
    attacked("POST", "/v1/recall", {"query": "lamp", "fallback": [text]})
    attacked("POST", "/v1/pack", {"query": text})
    attacked("POST", "/v1/conversations/search", {"query": text})
    attacked("POST", "/v1/documents/search", {"query": text})
    attacked("POST", "/v1/facts/ask", {"question": text})
    attacked("POST", f"/v1/memories?scope={scope}", {"text": text, "about": text, "metadata": {text[:100]: text}})
    attacked("POST", f"/v1/capture?scope={scope}", {"messages": [{"role": "user", "content": text}]})
    attacked("POST", "/v1/memories/erase", {"reference": text, "mode": "preview"})
    attacked("POST", "/v1/memories/erase", {"scope": text})
    attacked("POST", "/v1/documents", {"path": text, "name": "x"})
    attacked("POST", "/v1/mirror", {"path": text})
    for line in (
        f"/v1/memories?text={plain}",
        f"/v1/memories?about={plain}&speaker={plain}&tags={plain}&order={plain}",
        f"/v1/memories/{plain}",
        f"/v1/memories?scope={plain}",
        f"/v1/memories?{plain}={plain}",
        f"/v1/documents/read?path={plain}",
        f"/v1/documents/read?path={plain}&source={SOURCE}",
        f"/v1/conversations/messages?conversation={plain}",
        f"/v1/conversations/expand?summary={plain}",
        f"/v1/facts/about?subject={plain}",
        f"/v1/timeline?actor={plain}&action={plain}",
        f"/v1/tokens?below={plain}",
    ):
        attacked("GET", line)
    attacked("GET", "/v1/stats", headers={"idempotency-key": "x", "x-request-id": plain[:200]})


@needs_attacks
@pytest.mark.parametrize("text", _cases("path_traversal"))
def test_no_path_leads_out(attacked, text):
    for body in ({"path": text, "name": "x"}, {"path": f"/{text}", "name": "x"}):
        assert attacked("POST", "/v1/documents", body).status in (403, 422)
    answer = attacked("GET", f"/v1/documents/read?path={quote(_encodable(text), safe='')}")
    assert answer.status != 200 or answer.json()["text"] == ""


@needs_attacks
@pytest.mark.parametrize("text", _cases("ssrf"))
def test_no_address_is_ever_fetched_for_a_caller(attacked, text, monkeypatch):
    """There is no door that takes an address; one that is sent as a path or as a text is neither."""
    assert attacked("POST", "/v1/documents", {"path": text, "name": "x"}).status in (403, 422)
    for name in ("base_url", "embedding_base_url", "url", "webhook"):
        assert attacked("POST", "/v1/recall", {"query": "lamp", name: text}).status == 422


@needs_attacks
@pytest.mark.parametrize("text", _cases("dos"))
def test_a_request_that_wants_much_gets_an_answer_soon(attacked, text):
    raw = text.encode("utf-8", "replace")[:1_000_000]  # what is larger is not read to the end
    assert attacked("POST", "/v1/memories", raw).status in (200, 400, 413, 422)
    body = {"messages": [{"role": "user", "content": _encodable(text)[:150_000]}], "mode": "broad"}
    assert attacked("POST", f"/v1/capture?scope={HOME}/attacked", body).status in (200, 413, 422)
    assert attacked("POST", "/v1/recall", {"query": _encodable(text)[:150_000]}).status in (200, 413, 422)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(tenants):
    caller = tenants.server.caller(tenants.server.token(HOME, "writer"))
    try:
        answer = caller.ask("POST", "/v1/memories", b'{"text": "' + b"A" * 20_000_000 + b'"}')
    except OSError:  # it was answered and closed while the rest was on its way
        return
    assert answer.status == 413


@pytest.mark.parametrize(
    "body",
    [
        {"text": "x", "tags": [f"t{each}" for each in range(20_000)]},
        {"text": "x", "metadata": {f"k{each}": each for each in range(20_000)}},
        {"text": "x" * 900_000},
        {"text": "x", "importance": 10**400},
    ],
    ids=["tags", "metadata", "text", "number"],
)
def test_what_is_too_much_for_one_memory_is_refused(attacked, body):
    assert attacked("POST", f"/v1/memories?scope={HOME}/attacked", body).status in (200, 400, 413, 422)


def test_a_packed_body_is_not_unpacked(attacked):
    answer = attacked("POST", "/v1/memories", b"\x1f\x8b\x08\x00" + b"\x00" * 100, headers={"content-encoding": "gzip"})
    assert answer.status in (400, 415, 422)


def test_a_long_address_and_many_headers_are_refused(tenants):
    for line, headers in (
        (f"/v1/memories?text={'a' * 200_000}", {}),
        ("/v1/memories", {f"x-{each}": "y" * 100 for each in range(90)}),
    ):
        caller = tenants.server.caller(tenants.server.token(HOME, "reader"))
        try:
            answer = caller.get(line, headers=headers)
        except OSError:
            continue
        assert answer.status < 500
    assert tenants.server.get("/healthz").status == 200
