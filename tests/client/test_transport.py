"""Asking a server: what is tried again and what is not, what is waited for, and what is told when nothing helps."""

import json
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memoranda
from memoranda import ConfigError, InvalidInput, LedgerError, MemorandaError, NotFound, ProviderUnavailable, Refused
from memoranda.client.address import Address
from memoranda.client.events import Event, TooLarge, events
from memoranda.client.trying import Tries

from .answers import HANG_UP, HELLO, NOTHING, answer, busy, problem, stream

SECRET = "mem_abcdefgh_" + "x" * 43


def connected(server, **options):
    url = server.url if not isinstance(server, list) else [each.url for each in server]
    return memoranda.connect(url, SECRET, **{"timeout": 5.0, **options})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("http://127.0.0.1:8765/", "http://127.0.0.1:8765"),
        ("https://memory.example.org/team", "https://memory.example.org/team"),
        ("http://[::1]:8765", "http://[::1]:8765"),
        ("unix:/run/memoranda.sock", "unix:/run/memoranda.sock"),
        ("unix:///run/memoranda.sock", "unix:/run/memoranda.sock"),
    ],
)
def test_an_address_is_read(url, shown):
    assert str(Address.of(url)) == shown


@pytest.mark.parametrize(
    "url",
    [
        "", "home.db", "ftp://host", "http://", "http://host:0", "http://host:99999", "http://anna:hunter2@host",
        "http://host?token=hunter2", "http://host#hunter2", "http://ho st", "http://host\r\nX: y", "unix:", "unix:rel",
        "unix:/" + "x" * 200, "unix:/a\0b", None, 7,
    ],
)  # fmt: skip
def test_a_bad_address_is_refused_and_not_shown(url):
    with pytest.raises(ConfigError) as refused:
        memoranda.connect(url, SECRET, scope="home")
    assert "hunter2" not in str(refused.value) + refused.value.hint
    assert "http://127.0.0.1:8765" in refused.value.hint


@pytest.mark.parametrize("token", ["two words", "żółw", "a\nb", "a\r\nX-Evil: 1"])
def test_a_token_that_cannot_be_one_is_refused_and_not_shown(token):
    with pytest.raises(ConfigError) as refused:
        memoranda.connect("http://127.0.0.1:1", token, scope="home")
    assert token not in str(refused.value)


@pytest.mark.parametrize("timeout", [0, -1, True, "5", None, float("nan"), 10**9])
def test_a_bad_timeout_is_refused(timeout):
    with pytest.raises(ConfigError):
        memoranda.connect("http://127.0.0.1:1", SECRET, scope="home", timeout=timeout)


def test_a_server_that_is_not_there_is_told_with_what_to_do():
    with pytest.raises(ProviderUnavailable, match=r"http://127\.0\.0\.1:1: no connection") as refused:
        memoranda.connect("http://127.0.0.1:1", SECRET, scope="home")
    assert "memoranda serve" in refused.value.hint


def test_a_socket_that_is_not_there_is_told_alike(tmp_path):
    with pytest.raises(ProviderUnavailable, match="FileNotFoundError"):
        memoranda.connect(f"unix:{tmp_path}/none.sock", SECRET, scope="home")


def test_a_name_that_nobody_knows_is_told_as_such():
    with pytest.raises(ProviderUnavailable, match=r"the name nowhere\.invalid is not known") as refused:
        memoranda.connect("http://nowhere.invalid:8765", SECRET, scope="home")
    assert "name" in refused.value.hint


@pytest.mark.parametrize(
    "said",
    [
        answer(b"<html>It works!</html>", kind="text/html"),
        answer({"hello": "world"}),
        answer(b"[1]"),
        answer(b"not found", status="404 Not Found", kind="text/plain"),
        answer(b"{", status="500 Oh"),
    ],
)
def test_what_is_no_memory_is_told_as_such(scripted, said):
    with pytest.raises(ConfigError, match="no server of Memoranda") as refused:
        connected(scripted(said))
    assert "address" in refused.value.hint


def test_redirects_are_not_followed(scripted):
    other = scripted(HELLO)
    server = scripted(answer(b"", status="307 Elsewhere", headers=[f"Location: {other.url}/v1/whoami"]))
    with pytest.raises(ConfigError, match="redirects are not followed"):
        connected(server)
    assert not other.asked, "the token goes to nobody else"


def test_a_refused_token_is_told_with_what_to_do_and_is_not_shown(scripted):
    server = scripted(problem(401, "not-signed-in"))
    with pytest.raises(Refused) as refused:
        connected(server)
    assert "memoranda token create" in refused.value.hint
    assert SECRET not in str(refused.value) + refused.value.hint + repr(refused.value)


def test_the_token_is_in_one_header_and_in_no_repr(scripted):
    server = scripted(HELLO)
    with connected(server) as memory:
        assert server.asked[0][1]["authorization"] == f"Bearer {SECRET}"
        shown = repr(memory) + repr(memory._caller) + repr(memory._caller.transport) + str(vars(memory))
        assert SECRET not in shown
        assert repr(memory) == f"<RemoteMemory {server.url} at home/anna>"


def test_the_token_is_read_from_the_environment(scripted, monkeypatch):
    monkeypatch.setenv("MEMORANDA_TOKEN", SECRET)
    server = scripted(HELLO)
    memoranda.connect(server.url).close()
    assert server.asked[0][1]["authorization"] == f"Bearer {SECRET}"


def test_without_a_token_no_header_is_sent(scripted, monkeypatch):
    monkeypatch.delenv("MEMORANDA_TOKEN", raising=False)
    server = scripted(HELLO)
    memoranda.connect(server.url).close()
    assert "authorization" not in server.asked[0][1]


def test_a_connection_is_used_again(scripted):
    server = scripted(HELLO, NOTHING, NOTHING)
    with connected(server) as memory:
        memory.conversations.set_working("talk", "a")
        memory.conversations.set_working("talk", "b")
    assert server.connections == 1
    assert [first.split()[0] for first, *_ in server.asked] == ["GET", "PUT", "PUT"]


def test_a_write_is_sent_again_with_its_key_when_the_connection_breaks(scripted):
    server = scripted(HELLO, HANG_UP, HANG_UP, NOTHING)
    with connected(server) as memory:
        memory.conversations.set_working("talk", "a")
    keys = [headers["idempotency-key"] for _, headers, _ in server.asked[1:]]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_each_write_has_a_key_of_its_own_and_a_question_has_none(scripted):
    server = scripted(HELLO, NOTHING, NOTHING, answer({"value": "text"}))
    with connected(server) as memory:
        memory.conversations.set_working("talk", "a")
        memory.conversations.set_working("talk", "a")
        memory.conversations.working("talk")
    keys = [headers.get("idempotency-key") for _, headers, _ in server.asked[1:]]
    assert keys[0] != keys[1]
    assert keys[2] is None


def test_when_patience_ends_it_is_told_that_it_may_have_been_done(scripted):
    server = scripted(HELLO, *[HANG_UP] * 50)
    with (
        connected(server, patience=0.5) as memory,
        pytest.raises(ProviderUnavailable, match="the connection broke") as refused,
    ):
        memory.conversations.set_working("talk", "a")
    assert "may have been done" in refused.value.hint
    assert 3 <= len(server.asked) <= 10
    assert len({headers["idempotency-key"] for _, headers, _ in server.asked[1:]}) == 1


def test_who_has_no_patience_asks_once(scripted):
    server = scripted(HELLO, HANG_UP, NOTHING)
    with connected(server, patience=0) as memory, pytest.raises(ProviderUnavailable, match="the connection broke"):
        memory.conversations.set_working("talk", "a")
    assert len(server.asked) == 2


@pytest.mark.parametrize("patience", [-1, True, "5", None, float("nan"), 10**9])
def test_a_bad_patience_is_refused(patience):
    with pytest.raises(ConfigError, match="patience"):
        memoranda.connect("http://127.0.0.1:1", SECRET, scope="home", patience=patience)


# -- servers that come and go --


def test_a_server_that_went_and_comes_back_is_waited_for(scripted):
    server = scripted(HELLO)
    with connected(server, patience=4.0) as memory:
        server.close()
        back = threading.Timer(0.5, lambda: again.append(scripted(NOTHING, port=server.port)))
        again = []
        back.start()
        memory.conversations.set_working("talk", "a")
        back.join()
    assert len(again[0].asked) == 1


def test_a_server_that_does_not_come_back_is_told_with_what_to_do(scripted):
    server = scripted(HELLO)
    with connected(server, patience=0.4) as memory:
        server.close()
        begun = time.monotonic()
        with pytest.raises(ProviderUnavailable, match=r"no connection|broke"):
            memory.conversations.working("talk")
        assert time.monotonic() - begun < 4


@pytest.mark.parametrize("joined", [False, True])
def test_when_one_is_not_there_the_next_is_asked_at_once(scripted, joined):
    gone, here = scripted(), scripted(HELLO, NOTHING)
    gone.close()
    urls = [gone.url, here.url]
    with memoranda.connect(",".join(urls) if joined else urls, SECRET, timeout=5.0) as memory:
        begun = time.monotonic()
        memory.conversations.set_working("talk", "a")
        assert time.monotonic() - begun < 1
    assert len(here.asked) == 2


def test_a_write_that_broke_goes_to_the_next_with_its_key(scripted):
    first, second = scripted(HELLO, HANG_UP), scripted(NOTHING, NOTHING)
    with connected([first, second]) as memory:
        memory.conversations.set_working("talk", "a")
        memory.conversations.set_working("talk", "b")
    keys = [each.asked[at][1]["idempotency-key"] for each, at in ((first, 1), (second, 0), (second, 1))]
    assert keys[0] == keys[1] != keys[2], "and it stays with the one that answers"


def test_one_that_is_stopping_is_left_for_the_next(scripted):
    first, second = scripted(HELLO, busy(503, 5)), scripted(NOTHING)
    with connected([first, second]) as memory:
        begun = time.monotonic()
        memory.conversations.set_working("talk", "a")
        assert time.monotonic() - begun < 2
    assert len(second.asked) == 1


def test_what_goes_out_once_is_not_given_to_a_second_server(scripted):
    first, second = scripted(HELLO, HANG_UP), scripted(NOTHING)
    with connected([first, second]) as memory, pytest.raises(ProviderUnavailable, match="broke"):
        memory.tokens.create(role="writer", scope="home/anna")
    assert not second.asked


def test_when_all_are_away_it_is_told_how_many_there_are(scripted):
    servers = [scripted(), scripted(), scripted()]
    for each in servers:
        each.close()
    with pytest.raises(ProviderUnavailable, match="so it is with 2 more"):
        connected(servers)


@pytest.mark.parametrize("status", [502, 504])
def test_what_a_proxy_could_not_pass_on_is_sent_again_with_its_key(scripted, status):
    bad = answer(b"<html>Bad gateway</html>", status=f"{status} Bad", kind="text/html")
    server = scripted(HELLO, bad, bad, NOTHING)
    with connected(server) as memory:
        memory.conversations.set_working("talk", "a")
    assert len({headers["idempotency-key"] for _, headers, _ in server.asked[1:]}) == 1


@pytest.mark.parametrize("urls", [[], (), ["http://127.0.0.1:1", 7], ["http://a"] * 65, {"http://a"}])
def test_what_is_no_list_of_addresses_is_refused(urls):
    with pytest.raises(ConfigError) as refused:
        memoranda.connect(urls, SECRET, scope="home")
    assert "http://127.0.0.1:8765" in refused.value.hint


@settings(max_examples=200, deadline=None)
@given(
    servers=st.integers(1, 5),
    patience=st.floats(0, 60),
    asked=st.lists(st.tuples(st.booleans(), st.floats(0, 5)), max_size=300),
)
def test_tries_end_within_the_patience_and_every_server_has_its_turn(servers, patience, asked):
    moment = [0.0]
    tries = Tries(servers, now=lambda: moment[0])
    in_a_row = 0
    for away, after in asked:
        pause = tries.away(patience, after=after) if away else tries.busy(patience, after=after)
        in_a_row = in_a_row + 1 if away else in_a_row
        if pause is None:
            assert not away or in_a_row >= servers, "the others were not asked"
            return
        assert pause >= 0
        moment[0] += pause
        assert moment[0] <= patience or pause == 0


def test_a_token_is_asked_for_once_even_when_the_connection_breaks(scripted):
    server = scripted(HELLO, HANG_UP, NOTHING)
    with connected(server) as memory, pytest.raises(ProviderUnavailable, match="the connection broke") as refused:
        memory.tokens.create(role="writer", scope="home/anna")
    assert "may have been done" in refused.value.hint
    assert len(server.asked) == 2, "two would have been made"
    assert "idempotency-key" not in server.asked[1][1]


def test_who_lists_tokens_asks_again_when_the_connection_breaks(scripted):
    server = scripted(HELLO, HANG_UP, answer({"items": []}))
    with connected(server) as memory:
        assert memory.tokens.list() == ()


def test_half_an_answer_is_none(scripted):
    whole = answer({"value": "text"})[0]
    server = scripted(HELLO, [whole[:-3], None], [whole])
    with connected(server) as memory:
        assert memory.conversations.working("talk") == "text"


@pytest.mark.parametrize("status", [409, 429, 503])
def test_who_is_told_to_wait_a_little_waits(scripted, status):
    server = scripted(HELLO, busy(status, 0.2), NOTHING)
    with connected(server) as memory:
        begun = time.monotonic()
        memory.conversations.set_working("talk", "a")
        assert time.monotonic() - begun >= 0.2
    assert len({headers["idempotency-key"] for _, headers, _ in server.asked[1:]}) == 1


def test_who_is_told_to_wait_long_is_told_so(scripted):
    server = scripted(HELLO, busy(429, 60))
    with connected(server) as memory, pytest.raises(ProviderUnavailable) as refused:
        memory.conversations.set_working("talk", "a")
    assert refused.value.retry_after == 60


def test_a_server_that_stays_busy_is_not_asked_for_ever(scripted):
    server = scripted(HELLO, *[busy(503, 0)] * 50)
    with connected(server, patience=1.0) as memory, pytest.raises(ProviderUnavailable):
        memory.conversations.set_working("talk", "a")
    assert len(server.asked) < 10


def test_a_silent_server_is_not_waited_for_longer_than_said(scripted):
    server = scripted(HELLO, [30.0])
    with connected(server, timeout=0.5) as memory:
        begun = time.monotonic()
        with pytest.raises(ProviderUnavailable, match=r"no answer within 0\.5 seconds"):
            memory.conversations.working("talk")
        assert time.monotonic() - begun < 5


def test_a_server_that_drips_is_not_waited_for_either(scripted):
    server = scripted(HELLO, [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", *[b"x", 0.1] * 40])
    with connected(server, timeout=0.5) as memory, pytest.raises(ProviderUnavailable, match="no answer within"):
        memory.conversations.working("talk")


def test_an_answer_that_is_too_large_is_not_read(scripted, monkeypatch):
    monkeypatch.setattr("memoranda.client.transport.MOST_ANSWERED", 1_000)
    server = scripted(HELLO, answer({"value": "x" * 2_000}))
    with connected(server) as memory, pytest.raises(MemorandaError, match="more than 1,000 bytes"):
        memory.conversations.working("talk")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"items": 3}', b'{"value": 3}', b"null", b"[" * 100_000])
def test_an_answer_that_makes_no_sense_is_told_as_such(scripted, body):
    server = scripted(HELLO, answer(body))
    with connected(server) as memory, pytest.raises(ConfigError, match="no server of Memoranda"):
        memory.conversations.working("talk")


def test_a_proxy_that_speaks_for_the_server_is_an_outage(scripted):
    bad = answer(b"<html>Bad gateway</html>", status="502 Bad Gateway", kind="text/html")
    server = scripted(HELLO, *[bad] * 20)
    with connected(server, patience=0.3) as memory, pytest.raises(ProviderUnavailable, match="status 502"):
        memory.conversations.working("talk")


def test_a_closed_memory_says_so(scripted):
    server = scripted(HELLO)
    memory = connected(server)
    memory.close()
    memory.close()
    with pytest.raises(LedgerError, match="closed") as refused:
        memory.stats()
    assert "memoranda.connect" in refused.value.hint


def test_what_within_returned_does_not_close_the_connection(scripted):
    server = scripted(HELLO, answer({"value": "text"}))
    with connected(server) as memory:
        memory.within("home/anna/diary").close()
        assert memory.conversations.working("talk") == "text"


# -- progress --


def test_progress_is_told_as_it_comes(scripted):
    told = {"type": "urn:memoranda:not-found", "status": 404, "detail": "gone", "hint": "Look."}
    server = scripted(
        HELLO,
        stream(
            b'event: progress\ndata: {"done": 1, "total": 2}\n\n',
            b": still at it\n\n",
            b'event: progress\ndata: {"done": 2, "total": 2}\n\n',
            b"event: problem\ndata: " + json.dumps(told).encode() + b"\n\n",
        ),
    )
    seen = []
    with connected(server) as memory, pytest.raises(NotFound, match="gone") as refused:
        memory.admin.rebuild(lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert refused.value.hint == "Look."
    assert "text/event-stream" in server.asked[1][1]["accept"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, TimeoutError, ConnectionError, ValueError])
def test_what_progress_raises_ends_the_call_and_the_connection(scripted, error):
    server = scripted(HELLO, [stream(b'event: progress\ndata: {"done": 1, "total": 2}\n\n')[0], 20.0], HELLO)

    def stop(done, total):
        raise error("stop")

    with connected(server) as memory:
        with pytest.raises(error, match="stop"):
            memory.admin.rebuild(stop)
        assert not memory._caller.transport._servers[0].connections._idle
    assert len(server.asked) == 2, "it is not asked again"


def test_a_stream_that_breaks_is_begun_again_with_its_key(scripted):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = {"type": "urn:memoranda:not-found", "status": 404, "detail": "gone", "hint": "Look."}
    whole = stream(b"event: problem\ndata: " + json.dumps(told).encode() + b"\n\n")
    server = scripted(HELLO, [head + b"1\r\n:\r\n", None], whole)
    with connected(server) as memory, pytest.raises(NotFound, match="gone"):
        memory.admin.rebuild()
    assert len({headers["idempotency-key"] for _, headers, _ in server.asked[1:]}) == 1


def test_long_work_that_could_not_be_begun_is_asked_for_again(scripted):
    busy_now = {"type": "urn:memoranda:busy", "status": 503, "detail": "busy", "hint": "Wait.", "retry_after": 0.1}
    gone = {"type": "urn:memoranda:not-found", "status": 404, "detail": "gone", "hint": "Look."}
    told = [stream(b"event: problem\ndata: " + json.dumps(each).encode() + b"\n\n") for each in (busy_now, gone)]
    server = scripted(HELLO, *told)
    with connected(server) as memory, pytest.raises(NotFound, match="gone"):
        memory.admin.rebuild()
    assert len(server.asked) == 3


def test_events_are_read_whatever_the_line_ends():
    lines = [
        b"event: a\r\n",
        b"data: 1\r\n",
        b"data:2\r\n",
        b"\r\n",
        b": comment\n",
        b"\n",
        b"data: 3\n",
        b"\n",
        b"data",
    ]
    assert list(events(lines, most=100)) == [Event("a", "1\n2"), Event("message", "3")]
    with pytest.raises(TooLarge):
        list(events([b"data: " + b"x" * 100 + b"\n"], most=50))


# -- threads --


def test_many_threads_share_at_most_eight_connections(scripted):
    server = scripted(HELLO, *[[0.02, *answer({"value": "text"})]] * 60)
    with connected(server, timeout=30.0) as memory:
        found = []
        threads = [
            threading.Thread(target=lambda: found.extend(memory.conversations.working("talk") for _ in range(3)))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["text"] * 60
    assert server.connections <= 8


def test_a_wrong_call_is_told_as_python_tells_it_and_nothing_is_sent(scripted):
    server = scripted(HELLO)
    with connected(server) as memory:
        with pytest.raises(TypeError):
            memory.remember()
        with pytest.raises(TypeError):
            memory.remember("a", colour="red")
        with pytest.raises(InvalidInput):
            memory.remember("a", value=float("nan"))
    assert len(server.asked) == 1
