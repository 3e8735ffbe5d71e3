"""Who may speak to the server at all: Host, Origin, Sec-Fetch-Site, content types, and headers of every answer."""

import asyncio

import pytest
from asgi_driving import ask, asked, hello
from hypothesis import given
from hypothesis import strategies as st

from memoranda.http.guards import Host, HostGuard, is_loopback, is_private_path

GUARD = HostGuard(hello, host="127.0.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_the_servers_own_names_are_let_in(host):
    assert ask(GUARD, asked(headers=[("host", host)])).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "127.0.0.1:8766",
        "127.0.0.1.evil.example:8765",
        "127.0.0.1:8765@evil.example",
        "127.0.0.1:8765.evil.example",
        "localhost.evil.example:8765",
        "localhost:8765 evil.example",
        "[::1]evil:8765",
        "[evil]:8765",
        "2130706433:8765",
        "0.0.0.0:8765",
        "localhost:",
        "localhost:٨٧٦٥".encode().decode("latin-1"),
        ":8765",
        "localhost:08765" + "0" * 5_000,
        "localhost:" + "1" * 5_000,
        "",
    ],
)
def test_any_other_name_is_turned_away(host):
    answer = ask(GUARD, asked(headers=[("host", host)]))
    assert (answer.status, answer.problem["type"]) == (421, "urn:memoranda:not-our-host")


def test_two_hosts_or_none_are_turned_away():
    two = asked(headers=[("host", "127.0.0.1:8765"), ("host", "127.0.0.1:8765")])
    none = asked()
    none["headers"] = []
    assert [ask(GUARD, two).status, ask(GUARD, none).status] == [421, 421]


def test_an_ordinary_port_need_not_be_named():
    plain = asked(headers=[("host", "localhost")], server=("127.0.0.1", 80))
    tls = asked(headers=[("host", "localhost")], server=("127.0.0.1", 443), scheme="https")
    mixed = asked(headers=[("host", "localhost")], server=("127.0.0.1", 443))
    assert [ask(GUARD, scope).status for scope in (plain, tls, mixed)] == [200, 200, 421]


def test_a_server_on_every_address_is_called_by_the_one_that_was_reached():
    guard = HostGuard(hello, host="0.0.0.0")
    reached = {"server": ("192.0.2.7", 8765)}
    assert ask(guard, asked(headers=[("host", "192.0.2.7:8765")], **reached)).status == 200
    assert ask(guard, asked(headers=[("host", "192.0.2.8:8765")], **reached)).status == 421
    assert ask(guard, asked(headers=[("host", "evil.example:8765")], **reached)).status == 421


def test_names_of_a_proxy_are_let_in_with_their_port_or_with_any():
    guard = HostGuard(hello, host="127.0.0.1", hosts=["Memory.example.org", "other.example.org:8443"])
    let_in = ["memory.example.org", "memory.example.org:8765", "other.example.org:8443"]
    turned_away = ["other.example.org", "other.example.org:8765", "xmemory.example.org", "example.org"]
    assert {ask(guard, asked(headers=[("host", host)])).status for host in let_in} == {200}
    assert {ask(guard, asked(headers=[("host", host)])).status for host in turned_away} == {421}


def test_a_socket_in_the_file_system_has_no_port():
    assert ask(GUARD, asked(headers=[("host", "localhost")], server=("/run/memoranda.sock", None))).status == 200
    assert ask(GUARD, asked(headers=[("host", "evil")], server=("/run/memoranda.sock", None))).status == 421


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:3000",
        "http://localhost:8765",
        "ftp://127.0.0.1:8765",
        "http://127.0.0.1:8765.evil.example",
        "127.0.0.1:8765",
        "http://127.0.0.1:" + "8" * 5_000,
        "",
    ],
)
def test_a_page_of_another_origin_is_turned_away_whatever_it_does(method, origin):
    answer = ask(GUARD, asked(method, headers=[("origin", origin)]))
    assert answer.status == 403
    assert not any(name.startswith("access-control-") for name in answer.headers)


def test_the_servers_own_page_is_let_in():
    assert ask(GUARD, asked(headers=[("origin", "http://127.0.0.1:8765")])).status == 200
    behind = HostGuard(hello, host="127.0.0.1", hosts=["memory.example.org"])
    headers = [("host", "memory.example.org"), ("origin", "https://memory.example.org")]
    assert ask(behind, asked(headers=headers)).status == 200
    plain = [("host", "memory.example.org"), ("origin", "http://memory.example.org")]
    assert ask(behind, asked(headers=plain, scheme="https")).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something new"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_that_another_site_caused_is_turned_away(site, method):
    assert ask(GUARD, asked(method, "/", headers=[("sec-fetch-site", site)])).status == 403


def test_a_link_that_somebody_follows_leads_to_the_console_and_to_nothing_else():
    followed = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    framed = [*followed[:2], ("sec-fetch-dest", "iframe")]
    assert ask(GUARD, asked("GET", "/", headers=followed)).status == 200
    assert ask(GUARD, asked("GET", "/", headers=framed)).status == 403
    assert ask(GUARD, asked("POST", "/", headers=followed)).status == 403
    assert ask(GUARD, asked("GET", "/v1/stats", headers=followed)).status == 403
    assert ask(GUARD, asked("GET", "/mcp", headers=followed)).status == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_console_and_a_typed_address_are_let_in(site):
    assert ask(GUARD, asked(headers=[("sec-fetch-site", site)])).status == 200


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json; charset="utf-8"', 200),
        ("application/json; charset=utf-16", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415),
        ("application/octet-stream", 415),
        ("text/plain;application/json", 415),
        ("", 415),
    ],
)
def test_a_body_is_json_and_says_so(kind, status):
    headers = [("content-type", kind), ("content-length", "2")]
    answer = ask(GUARD, asked("POST", "/v1/recall", headers=headers), [b"{}"])
    assert answer.status == status


def test_a_body_without_a_type_is_turned_away_and_no_body_needs_none():
    with_length = asked("POST", "/v1/recall", headers=[("content-length", "2")])
    in_chunks = asked("POST", "/v1/recall", headers=[("transfer-encoding", "chunked")])
    nothing = asked("POST", "/v1/admin/verify", headers=[("content-length", "0")])
    statuses = [ask(GUARD, scope).status for scope in (with_length, in_chunks, nothing, asked("POST", "/v1/recall"))]
    assert statuses == [415, 415, 200, 200]


def test_only_the_door_for_files_takes_files():
    for kind in ("application/octet-stream", "application/x-ndjson", "application/json"):
        headers = [("content-type", kind), ("content-length", "2")]
        assert ask(GUARD, asked("POST", "/v1/conversations/import", headers=headers), [b"{}"]).status == 200
    headers = [("content-type", "text/plain"), ("content-length", "2")]
    assert ask(GUARD, asked("POST", "/v1/conversations/import", headers=headers), [b"{}"]).status == 415


@pytest.mark.parametrize(("path", "host"), [("/", "127.0.0.1:8765"), ("/v1/stats", "127.0.0.1:8765"), ("/", "evil")])
def test_every_answer_has_the_headers_that_keep_a_page_in_its_place(path, host):
    headers = ask(GUARD, asked("GET", path, headers=[("host", host)])).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert "require-trusted-types-for 'script'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert ("no-store" in headers.get("cache-control", "")) == (path == "/v1/stats")


def test_what_the_application_says_of_these_headers_does_not_count():
    async def lax(scope, receive, send):
        headers = [(b"Content-Security-Policy", b"*"), (b"cache-control", b"public"), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    answer = ask(HostGuard(lax, host="127.0.0.1"), asked())
    assert answer.headers["content-security-policy"] != "*"
    assert (answer.headers["cache-control"], answer.headers["etag"]) == ("no-store", "1")


def test_a_websocket_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(GUARD({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/openapi.json", "/console/app.js"])
def test_what_holds_no_memories_needs_no_token(path):
    assert not is_private_path(path)


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/recall", "/v1", "/mcp", "/mcp/openclaw", "/metrics", "/v2/recall", "/V1/recall", "//v1/recall", ""),
        *("/mcp\n", "/metrics\n", "/v1/stats\n", "/healthz\n", "/healthz/x", "/console", "/consolex", "/\n"),
    ],
)
def test_everything_else_needs_one(path):
    assert is_private_path(path)


@pytest.mark.parametrize(
    "path", ["/mcp\n", "/v1/stats\r", "/\0", "/v1/memories/a\x1fb", "/console/app.js\x7f", "/\x85"]
)
def test_a_path_with_what_does_not_show_is_turned_away(path):
    answer = ask(GUARD, asked("GET", path))
    assert (answer.status, answer.problem["type"]) == (400, "urn:memoranda:bad-path")


@given(st.text(max_size=40))
def test_a_host_is_read_or_refused_and_never_fails(text):
    found = Host.of(text)
    assert found is None or (found.name == found.name.lower() and (found.port is None or 0 <= found.port < 65_536))


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((own, True) for own in ("127.0.0.1", "127.9.9.9", "::1", "localhost")),
        *((other, False) for other in ("0.0.0.0", "::", "192.168.1.2", "memory.example.org", "localhost.evil", "")),
    ],
)
def test_a_loopback_address_is_told_from_others(host, own):
    assert is_loopback(host) is own
