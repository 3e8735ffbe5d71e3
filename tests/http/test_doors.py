"""The doors: every verb of the facade has one, and what is sent to one is understood or refused by its name."""

import inspect
import json
from urllib.parse import urlencode

import pytest
from loopback import EVERYWHERE, loopback

from memoranda.http import openapi
from memoranda.wire.doors import DOORS, MOST, NOUNS

SCOPE = "home/anna"

# Verbs without a door, and why.
WITHOUT = {
    "close": "the server closes its store",
    "within": "the scope is a parameter of every request",
    "documents.watch": "the server watches folders itself: the setting server_watch",
    "tokens.principal": "it takes the token that came with the request",
    "tokens.any_good": "asked once, when the server starts",
    "admin.sweep_if_due": "the server does it by itself",
    "admin.verify_backup": "backups lie on the machine of the server: the command looks at them there",
    "admin.compare_backup": "the same",
    "governance.write_back": "it writes into a folder of another program, on the machine where that runs",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with loopback(tmp_path_factory.mktemp("doors") / "store.db") as made:
        made.post(f"/v1/memories?scope={SCOPE}", {"text": "Anna reads by the desk lamp.", "about": "lamp"})
        yield made


def _verbs():
    for noun, cls in NOUNS.items():
        for name, member in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{noun}.{name}" if noun else name, member


def test_every_verb_has_a_door_or_a_reason():
    there = {door.verb for door in DOORS}
    assert {verb for verb, _ in _verbs()} - there == set(WITHOUT)


def test_no_two_doors_are_in_one_place_and_none_has_no_verb():
    places = [(door.method, door.path) for door in DOORS]
    assert len(places) == len(set(places))
    assert {door.verb for door in DOORS} <= {verb for verb, _ in _verbs()}


def test_what_changes_something_is_never_asked_for_with_get():
    for door in DOORS:
        looks = door.noun in ("tokens", "admin") or door.verb == "governance.audit"
        assert not (door.method == "GET" and door.writes and not looks), door.verb
    assert {door.verb for door in DOORS if door.method == "GET" and door.writes} == {
        "tokens.list",
        "governance.audit",
        "admin.index_status",
        "admin.upkeep",
        "admin.backups",
    }


def test_what_destroys_decides_or_lets_in_is_for_admins():
    admins = {door.verb for door in DOORS if door.role == "admin"}
    assert {verb for verb in (each.verb for each in DOORS) if verb.endswith("erase")} <= admins
    assert {"review.accept", "review.reject", "tokens.create", "tokens.revoke", "tokens.list"} <= admins


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/v1/memories?scope=home/anna&limit=abc", 422),
        ("/v1/memories?scope=home/anna&limit=1.5", 422),
        ("/v1/memories?scope=home/anna&limit=0", 422),
        ("/v1/memories?scope=home/anna&limit=100000", 422),
        ("/v1/memories?scope=home/anna&limit=5&limit=6", 422),
        ("/v1/memories?scope=home/anna&offset=-1", 422),
        ("/v1/memories?scope=home/anna&offset=99999999999999999999", 422),
        ("/v1/memories?scope=home/anna&here=yes", 422),
        ("/v1/memories?scope=home/anna&here=true", 200),
        ("/v1/memories?scope=home/anna&states=live&states=archived", 200),
        ("/v1/memories?scope=home/anna&states=", 200),
        ("/v1/memories?scope=home/anna&states=alive", 422),
        ("/v1/memories?scope=home/anna&kind=secret", 422),
        ("/v1/memories?scope=home/anna&as_of=yesterday-ish", 422),
        ("/v1/memories?scope=home/anna&as_of=2026-01-01T00:00:00Z", 200),
        ("/v1/memories?scope=home/anna&nonsense=1", 422),
        ("/v1/memories/?scope=home/anna", 404),
        ("/v1/memories//history?scope=home/anna", 404),
        ("/v1/memories/%2e%2e/history?scope=home/anna", 404),
        ("/v1//memories?scope=home/anna", 404),
        ("/V1/memories?scope=home/anna", 404),
        ("/v1/memories.json?scope=home/anna", 404),
        ("/v1", 404),
        ("/v1/nothing", 404),
    ],
)
def test_a_query_is_understood_or_refused(server, target, status):
    answer = server.get(target)
    assert answer.status in ({status, 422} if status == 404 else {status}), answer
    if answer.status >= 400:
        assert answer.problem["hint"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"text"', 422),
        (b"1", 422),
        (b"{}", 422),
        (b'{"text": null}', 422),
        (b'{"text": 5}', 422),
        (b'{"text": ["a"]}', 422),
        (b'{"text": ""}', 422),
        (b'{"text": "a", "unknown": 1}', 422),
        (b'{"text": "a", "scope": "other"}', 422),
        (b'{"text": "a", "importance": NaN}', 400),
        (b'{"text": "a", "importance": 1e400}', 422),
        (b'{"text": "a", "importance": 2}', 422),
        (b'{"text": "a", "importance": "0.5"}', 422),
        (b'{"text": "\xff\xfe"}', 400),
        (b'{"text": "\\ud800"}', 422),
        (b'{"text": "a", "tags": "one"}', 422),
        (b'{"text": "a", "kind": "secret"}', 422),
        (b'{"text": "a", "source": "operator"}', 200),
        (b"[" * 100_000, 400),
        (b'{"text": ' + b"[" * 100_000, 400),
        ((b'{"text": "' + "ą".encode() * 20 + b'"}'), 200),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_a_body_is_understood_or_refused(server, body, status):
    answer = server.ask("POST", f"/v1/memories?scope={SCOPE}/bodies", body)
    assert answer.status == status, answer
    if answer.status >= 400:
        assert answer.problem["hint"]


def test_only_an_admin_speaks_as_operator_or_takes_back_what_was_erased(server):
    writer = server.caller(server.token(SCOPE, "writer"))
    for body in (
        {"text": "a", "source": "operator"},
        {"text": "a", "source": "system"},
        {"text": "a", "after_erase": "allow"},
    ):
        assert writer.post("/v1/memories", body).status == 403
        assert writer.post("/v1/memories/batch", {"drafts": [{"text": "b"}, body]}).status == 403
        assert server.post(f"/v1/memories?scope={SCOPE}", body).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_another_method_is_told_which_there_are(server, method):
    answer = server.ask(method, f"/v1/memories?scope={SCOPE}", headers={"content-length": "0"})
    assert answer.status == 405
    assert {each.strip() for each in answer.headers["allow"].split(",")} == {"GET", "HEAD", "POST"}
    assert answer.problem["hint"]


def test_head_says_what_get_would_and_sends_nothing(server):
    got = server.get(f"/v1/stats?scope={SCOPE}")
    head = server.ask("HEAD", f"/v1/stats?scope={SCOPE}")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize("wanted", ["here=true", "here=true&states=&tags=", "here=true&states=live&states=archived"])
def test_pages_lead_to_the_end_and_hold_everything_once(server, wanted):
    scope = f"{SCOPE}/pages-{len(wanted)}"
    server.post(f"/v1/memories/batch?scope={scope}", {"drafts": [f"Thing number {each}." for each in range(25)]})
    if "states" in wanted:
        for each in server.get(f"/v1/memories?scope={scope}&here=true&limit=5").json()["memories"]:
            server.post(f"/v1/memories/{each['id']}/archive?scope={scope}")
    seen, target = [], f"/v1/memories?scope={scope}&limit=10&{wanted}"
    while target:
        answer = server.get(target)
        seen += [each["id"] for each in answer.json()["memories"]]
        link = answer.headers.get("link", "")
        assert not link or link.endswith('; rel="next"')
        target = link.partition(">")[0].lstrip("<")
    assert len(seen) == len(set(seen))
    assert len(seen) == 25


@pytest.mark.parametrize("target", ["/healthz", "/readyz", "/openapi.json"])
def test_whether_it_is_well_and_how_it_is_asked_is_told_to_all(server, target):
    answer = server.get(target, token=None)
    assert answer.status == 200
    assert str(server.store.path) not in answer.body.decode()


def test_health_tells_nothing_else(server):
    assert server.get("/healthz", token=None).json() == {"status": "ok"}
    assert server.get("/readyz", token=None).json() == {"status": "ready"}


def test_who_one_is(server):
    told = server.get("/v1/whoami", token=server.token(SCOPE, "reader", name="bot")).json()
    assert (told["name"], told["role"], told["scope"], told["everywhere"]) == ("bot", "reader", SCOPE, False)
    assert server.get("/v1/whoami", token=EVERYWHERE).json()["everywhere"] is True


def test_answers_are_not_to_be_kept_and_not_to_be_framed(server):
    for answer in (server.get(f"/v1/memories?scope={SCOPE}"), server.get("/v1/memories", token=None)):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "set-cookie" not in answer.headers


def test_neither_texts_nor_tokens_nor_scopes_are_logged(server):
    token = server.token(SCOPE, "writer")
    server.post("/v1/memories?scope=home/anna", {"text": "The axolotl is called Ambrose."}, token=token)
    server.post("/v1/recall", {"query": "what is the axolotl called?"}, token=token)
    server.get("/v1/memories?text=axolotl", token=token)
    log = server.log.getvalue()
    assert [json.loads(line) for line in log.splitlines()]
    for secret in ("axolotl", "Ambrose", token, token.split("_")[2], EVERYWHERE, "home/anna"):
        assert secret not in log


# -- how much at once --


@pytest.mark.parametrize(
    ("path", "name", "one", "more"),
    [
        ("/v1/memories/batch", "drafts", "A lamp.", {}),
        ("/v1/conversations/append", "messages", {"role": "user", "content": "A lamp."}, {"conversation": "talk"}),
        ("/v1/capture", "messages", {"role": "user", "content": "A lamp."}, {"conversation": "talk"}),
    ],
)
def test_one_request_does_not_keep_all_others_from_writing(server, path, name, one, more):
    before = server.store.standing()
    refused = server.post(f"{path}?scope={SCOPE}", {name: [one] * (MOST[name] + 1), **more})
    assert refused.status == 422
    assert f"{MOST[name]:,}" in refused.problem["detail"]
    assert "several requests" in refused.problem["hint"]
    assert server.store.standing() == before


def test_as_many_as_are_allowed_are_kept(server):
    texts = [f"Lamp number {number} is in the cellar." for number in range(MOST["drafts"])]
    kept = server.post("/v1/memories/batch?scope=many", {"drafts": texts})
    assert kept.status == 200
    assert len(kept.json()["items"]) == MOST["drafts"]


def test_what_may_be_sent_at_once_is_described():
    described = openapi.document()["paths"]["/v1/memories/batch"]["post"]["requestBody"]["content"]
    assert described["application/json"]["schema"]["properties"]["drafts"]["maxItems"] == MOST["drafts"]


def test_what_follows_from_the_rest_is_described_as_told_only():
    memory = openapi.document()["components"]["schemas"]["Memory"]["properties"]
    assert memory["grade"]["readOnly"] is True
    assert "readOnly" not in memory["text"]


# -- files that are sent --


def _sent(server, name, scope="files"):
    query = urlencode({"scope": scope, "format": "openai", **({} if name is None else {"filename": name})})
    body = json.dumps([{"role": "user", "content": f"This is {name}."}]).encode()
    headers = {"content-type": "application/octet-stream"}
    return server.ask("POST", f"/v1/conversations/import?{query}", body, headers=headers)


@pytest.mark.parametrize(
    ("name", "conversation"),
    [
        ("t1.json", "t1"),
        ("t2.json", "t2"),
        ("/home/anna/talks/kitchen.json", "kitchen"),
        ("C:\\talks\\attic.json", "attic"),
        ("../../etc/passwd", "passwd"),
        ("K\u00fcche am Montag.jsonl", "K\u00fcche am Montag"),
        (None, "upload"),
    ],
)
def test_a_transcript_is_named_after_its_file_as_it_is_for_who_opens_the_store(server, name, conversation):
    assert _sent(server, name).json()["conversations"] == [conversation]


@pytest.mark.parametrize("name", ["", ".", "..", "a/..", "a/", "nul\0.json", "x" * 256])
def test_a_name_that_no_file_has_is_refused(server, name):
    refused = _sent(server, name)
    assert refused.status == 422
    assert "filename" in refused.problem["detail"]
