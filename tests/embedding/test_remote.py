"""What goes over the wire, what comes back as which error, and where a key never shows. All over real HTTP."""

import logging
import socket
import ssl
import threading
import time
import traceback

import pytest

from memoranda import remote
from memoranda.domain.errors import ConfigError, ProviderError, ProviderRejected, ProviderUnavailable, ServiceRejected
from memoranda.embedding.gemini import GeminiEmbedder
from memoranda.embedding.openai import OpenAIEmbedder
from memoranda.embedding.pipeline import EmbeddingPipeline, Skipped
from memoranda.embedding.preparation import Prefixes
from memoranda.embedding.voyage import VoyageEmbedder
from memoranda.remote import DEFAULT_URLS
from memoranda.testing.servers import EmbeddingServer, hashed_vector

from .conftest import KEY

PROVIDERS = ("openai", "gemini", "voyage")


def make(provider, server, **settings):
    settings = {"key": KEY} | settings
    if provider == "openai":
        return OpenAIEmbedder("some-model", base_url=server.openai_url, **settings)
    if provider == "gemini":
        return GeminiEmbedder(base_url=server.gemini_url, dimensions=48, **settings)
    return VoyageEmbedder(base_url=server.voyage_url, dimensions=48, **settings)


@pytest.fixture(params=PROVIDERS)
def embedder(request, server):
    return make(request.param, server)


def failure(embedder, *texts):
    with pytest.raises(ProviderError) as caught:
        embedder.embed(list(texts) or ["hello"], "document")
    return caught.value


# --- what is sent


def test_openai_is_asked_in_its_own_words(server):
    OpenAIEmbedder("some-model", base_url=server.openai_url + "/", key=f" {KEY}\n").embed(["one", "two"], "query")
    (request,) = server.requests
    assert request.path == "/openai/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "some-model", "input": ["one", "two"], "encoding_format": "float"}


def test_dimensions_are_sent_only_where_they_are_understood(server):
    settings = {"base_url": server.openai_url, "key": KEY, "dimensions": 16}
    OpenAIEmbedder("nomic", **settings).embed(["one"], "query")
    OpenAIEmbedder("text-embedding-3-small", send_dimensions=True, **settings).embed(["one"], "query")
    assert "dimensions" not in server.requests[0].body
    assert server.requests[1].body["dimensions"] == 16


def test_gemini_is_asked_in_its_own_words(server):
    embedder = make("gemini", server)
    embedder.embed(["one"], "query")
    embedder.embed(["two"], "document")
    query, document = server.requests
    assert query.path == "/gemini/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert query.headers["x-goog-api-key"] == KEY
    assert KEY not in query.path
    assert query.body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "content": {"parts": [{"text": "one"}]},
                "taskType": "RETRIEVAL_QUERY",
                "outputDimensionality": 48,
            }
        ]
    }
    assert document.body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"


def test_gemini_is_asked_for_a_hundred_at_a_time(server):
    rows = make("gemini", server).embed([f"text {n}" for n in range(250)], "document")
    assert [len(request.body["requests"]) for request in server.requests] == [100, 100, 50]
    assert rows[210] == hashed_vector("text 210", 48)


def test_the_second_gemini_model_is_told_the_task_in_the_text(server):
    GeminiEmbedder("models/gemini-embedding-2", base_url=server.gemini_url, key=KEY).embed(["one"], "query")
    (request,) = server.requests[0].body["requests"]
    assert request == {
        "model": "models/gemini-embedding-2",
        "content": {"parts": [{"text": "task: search result | query: one"}]},
    }


def test_voyage_is_asked_in_its_own_words(server):
    make("voyage", server).embed(["one"], "query")
    (request,) = server.requests
    assert request.path == "/voyage/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "voyage-4-large",
        "input": ["one"],
        "input_type": "query",
        "output_dimension": 48,
    }


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("intfloat/Multilingual-E5-Large", "query: x", "passage: x"),
        ("snowflake-arctic-embed2", "query: x", "x"),
        ("text-embedding-3-small", "x", "x"),
    ],
)
def test_models_that_need_prefixes_get_them(server, model, query, document):
    embedder = OpenAIEmbedder(model, base_url=server.openai_url, key=KEY)
    embedder.embed(["x"], "query")
    embedder.embed(["x"], "document")
    assert [request.body["input"] for request in server.requests] == [[query], [document]]


def test_prefixes_can_be_given(server):
    prefixes = Prefixes("ask: ", "tell: ")
    OpenAIEmbedder("mine", base_url=server.openai_url, key=KEY, prefixes=prefixes).embed(["x"], "document")
    assert server.requests[0].body["input"] == ["tell: x"]


def test_text_of_any_script_arrives_whole(server, embedder):
    embedder.embed(['Zażółć 灯 😀 "quoted" \\ \n'], "document")
    assert "Zażółć 灯 😀" in str(server.requests[0].body)


def test_a_service_without_a_key_gets_no_header():
    with EmbeddingServer() as server:
        OpenAIEmbedder("nomic-embed-text", base_url=server.openai_url).embed(["one"], "query")
        assert "authorization" not in server.requests[0].headers


# --- what comes back


def test_rows_are_ordered_by_their_index(server):
    server.fail("shuffled")
    rows = make("openai", server).embed(["one", "two", "three"], "document")
    assert rows == [hashed_vector(text, 48) for text in ("one", "two", "three")]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "text",
        None,
        {},
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]},
        {"data": [{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [2.0]}]},
        {"data": ["text", "text"]},
    ],
)
def test_an_answer_of_another_shape_is_an_outage_not_a_crash(server, monkeypatch, answer):
    monkeypatch.setattr(EmbeddingServer, "_answer", lambda *_: (200, answer))
    error = failure(make("openai", server), "one", "two")
    assert isinstance(error, ProviderUnavailable)
    assert "without vectors" in str(error)


def test_a_wrong_number_of_rows_is_noticed(server, embedder):
    server.fail("wrong_rows")
    error = failure(embedder, "one", "two")
    assert isinstance(error, ProviderUnavailable)
    assert "expected 2, got 1" in str(error)


@pytest.mark.parametrize("fault", ["rate_limited", "server_error", "invalid_json"])
def test_what_may_pass_is_unavailable(server, embedder, fault):
    server.fail(fault)
    error = failure(embedder)
    assert isinstance(error, ProviderUnavailable)
    assert error.retryable
    assert embedder.embed(["hello"], "document")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_service_says_when_to_come_back(server, headers, seconds):
    server.fail("rate_limited", headers=headers)
    assert failure(make("openai", server)).retry_after == seconds


def test_a_date_to_come_back_is_read_by_the_services_clock(server):
    dates = {"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:20 GMT"}
    message = remote.Message()
    for name, value in dates.items():
        message[name] = value
    assert remote._retry_after(message) == 20
    del message["Date"]
    assert remote._retry_after(message) == 0


def test_gemini_says_it_in_the_body(server):
    server.fail("rate_limited")
    assert failure(make("gemini", server)).retry_after == 3


def test_a_text_that_is_too_long_is_rejected_with_the_services_words(server, embedder):
    server.fail("too_long")
    error = failure(embedder)
    assert isinstance(error, ProviderRejected)
    assert not isinstance(error, ServiceRejected)
    assert not error.retryable
    assert "status 400: maximum context length exceeded" in str(error)


def test_a_used_up_quota_is_not_retried(server):
    server.fail("out_of_quota")
    error = failure(make("openai", server))
    assert isinstance(error, ServiceRejected)
    assert "quota" in str(error)


def test_an_unknown_path_is_the_services_no(server):
    error = failure(OpenAIEmbedder("some-model", base_url=f"{server.url}/nowhere", key=KEY))
    assert isinstance(error, ServiceRejected)


def test_redirects_are_not_followed(server, embedder):
    server.fail("redirect")
    error = failure(embedder)
    assert isinstance(error, ServiceRejected)
    assert "redirect" in str(error)
    assert len(server.requests) == 1


def test_a_service_that_hangs_is_given_up(server):
    server.fail("hang")
    started = time.monotonic()
    error = failure(make("openai", server, timeout=0.1))
    assert isinstance(error, ProviderUnavailable)
    assert "in time" in str(error)
    assert time.monotonic() - started < 2


def test_a_service_that_drips_is_given_up_too():
    """Each byte comes before a socket's timeout; the answer as a whole does not."""
    stop = threading.Event()

    def drip(listener):
        line, _ = listener.accept()
        with line:
            line.recv(65536)
            line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not stop.wait(0.02):
                try:
                    line.sendall(b" ")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        error = failure(OpenAIEmbedder("slow", base_url=address, timeout=0.2))
        stop.set()
        thread.join()
    assert "in time" in str(error)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}", b"what?\r\n\r\n"])
def test_a_connection_that_breaks_is_unavailable(sent):
    def hang_up(listener):
        line, _ = listener.accept()
        with line:
            line.recv(65536)
            line.sendall(sent)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up, args=(listener,))
        thread.start()
        error = failure(OpenAIEmbedder("broken", base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=2))
        thread.join()
    assert isinstance(error, ProviderUnavailable)


def test_nobody_listening_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = failure(OpenAIEmbedder("gone", base_url=f"http://127.0.0.1:{port}/v1"))
    assert isinstance(error, ProviderUnavailable)
    assert "ConnectionRefusedError" in str(error)


def test_plain_http_behind_https_is_unavailable(server):
    error = failure(OpenAIEmbedder("m", base_url=server.openai_url.replace("http:", "https:"), key=KEY, timeout=2))
    assert isinstance(error, ProviderUnavailable)


def test_certificates_are_checked(server, monkeypatch):
    client = make("openai", server)._client
    client._secure = True
    context = client._connection(1)._context
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED

    def untrusted(*_):
        raise ssl.SSLCertVerificationError(1, "self-signed certificate")

    monkeypatch.setattr(remote.JsonClient, "_exchange", untrusted)
    error = failure(make("openai", server))
    assert isinstance(error, ServiceRejected)
    assert "certificate" in str(error)


def test_an_answer_that_is_too_large_is_refused(server, monkeypatch):
    embedder = make("openai", server)
    monkeypatch.setattr(embedder._client, "_max_answer", 1000)
    assert "larger than 1,000 bytes" in str(failure(embedder, "one", "two", "three"))


# --- keys and addresses


@pytest.mark.parametrize(
    ("provider", "variable"),
    [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY"), ("voyage", "VOYAGE_API_KEY")],
)
def test_a_refused_key_says_which_variable_to_set(server, provider, variable):
    error = failure(make(provider, server, key="sk-wrong-key-0000"))
    assert isinstance(error, ServiceRejected)
    assert variable in error.hint
    assert "sk-wrong" not in f"{error} {error.hint}"


@pytest.mark.parametrize(
    "embedder",
    [OpenAIEmbedder("text-embedding-3-small"), GeminiEmbedder(), VoyageEmbedder(key="  ")],
    ids=PROVIDERS,
)
def test_no_text_is_sent_to_a_service_that_needs_a_key_without_one(embedder, monkeypatch):
    monkeypatch.setattr(remote.JsonClient, "_exchange", lambda *_: pytest.fail("a call was made"))
    error = failure(embedder)
    assert isinstance(error, ServiceRejected)
    assert "_API_KEY" in error.hint


@pytest.mark.parametrize("fault", [None, "bad_key", "rate_limited", "server_error", "too_long", "redirect", "hang"])
def test_the_key_is_in_no_repr_error_or_log(server, fault, caplog):
    caplog.set_level(logging.DEBUG)
    for provider in PROVIDERS:
        embedder = make(provider, server, timeout=0.1 if fault == "hang" else 5)
        pipeline = EmbeddingPipeline(embedder, tries=1)
        if fault:
            server.fail(fault, times=2)
            error = failure(embedder)
            assert KEY not in f"{error!r} {error} {error.hint} {error.__cause__!r}"
            assert KEY not in "".join(traceback.format_exception(error))
            assert KEY not in repr(pipeline.embed(["hello"], "document"))
        assert KEY not in f"{embedder!r} {embedder} {embedder._client!r} {embedder.name} {embedder.fingerprint}"
    assert KEY not in caplog.text


def test_a_key_in_the_services_own_words_is_left_out(server, monkeypatch):
    monkeypatch.setattr(EmbeddingServer, "_answer", lambda *_: (422, {"detail": f"header {KEY} was odd"}))
    assert str(failure(make("voyage", server))).endswith("status 422: header [key] was odd")


@pytest.mark.parametrize("answer", [b"", b"\xff", b"[1]", b'{"error": "plain words"}', b'{"detail": [{"input": "x"}]}'])
def test_an_error_of_any_shape_is_read_without_a_crash(server, monkeypatch, answer):
    monkeypatch.setattr(EmbeddingServer, "reply", lambda *_: (400, {}, answer))
    assert isinstance(failure(make("openai", server)), ProviderRejected)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "klucz-ż", "nul\0"])
def test_a_key_that_is_no_key_is_refused_and_not_shown(key):
    with pytest.raises(ConfigError) as caught:
        OpenAIEmbedder("some-model", key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.openai.com/v1",
        "ftp://host/v1",
        "file:///etc/passwd",
        "https://",
        "https://anna:hunter2@host/v1",
        "https://anna@host/v1",
        "https://host/v1?key=hunter2",
        "https://host/v1#hunter2",
        "https://host/v1?",
        "https://host:port/v1",
        "https://host:99999/v1",
        "https://[::1/v1",
        "https://host/v1\r\nX: hunter2",
        "https://host/ spaced",
        "https://hóst/v1",
    ],
)
@pytest.mark.parametrize("kind", [OpenAIEmbedder, GeminiEmbedder, VoyageEmbedder])
def test_an_address_that_is_none_is_refused_and_not_shown(kind, url):
    with pytest.raises(ConfigError) as caught:
        kind("some-model", base_url=url)
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


# --- fingerprints


def test_fingerprints_name_the_space_and_nothing_private():
    assert OpenAIEmbedder("text-embedding-3-small", key=KEY).fingerprint == "openai:text-embedding-3-small|prep1|1536"
    assert GeminiEmbedder(key=KEY).fingerprint == "gemini:gemini-embedding-001|prep1|3072"
    assert VoyageEmbedder(key=KEY).fingerprint == "voyage:voyage-4-large|prep1|1024"
    elsewhere = OpenAIEmbedder("mine", base_url="https://internal.example/v1").fingerprint
    assert elsewhere.startswith("openai:mine|")
    assert elsewhere.endswith("|prep1|auto")
    assert "internal" not in elsewhere


def test_a_service_at_its_usual_address_has_no_address_in_its_fingerprint():
    embedder = OpenAIEmbedder("bge-m3", base_url=DEFAULT_URLS["ollama"], name="ollama:bge-m3")
    assert embedder.fingerprint == "ollama:bge-m3|prep1|auto"


def test_a_compatible_service_has_its_own_variable_for_the_key(server):
    settings = {"base_url": server.openai_url, "key": "wrong", "key_variable": "MEMORANDA_EMBEDDER_KEY"}
    assert "MEMORANDA_EMBEDDER_KEY" in failure(OpenAIEmbedder("m", **settings)).hint


def test_whatever_changes_the_vectors_changes_the_fingerprint():
    made = {
        embedder.fingerprint
        for embedder in (
            OpenAIEmbedder("text-embedding-3-small"),
            OpenAIEmbedder("text-embedding-3-large"),
            OpenAIEmbedder("text-embedding-3-small", dimensions=256),
            OpenAIEmbedder("text-embedding-3-small", base_url="https://one.example/v1"),
            OpenAIEmbedder("text-embedding-3-small", base_url="https://two.example/v1"),
            OpenAIEmbedder("text-embedding-3-small", prefixes=Prefixes("a", "")),
            OpenAIEmbedder("text-embedding-3-small", prefixes=Prefixes("", "a")),
        )
    }
    assert len(made) == 7
    assert OpenAIEmbedder("x", key="one").fingerprint == OpenAIEmbedder("x", key="two", timeout=1).fingerprint


# --- with the pipeline, end to end


def test_one_bad_text_in_a_batch_over_http(server, embedder):
    server.refused = {"poison"}
    texts = [f"text {n}" for n in range(15)] + ["poison"]
    *good, bad = EmbeddingPipeline(embedder).embed(texts, "document")
    assert not any(isinstance(outcome, Skipped) for outcome in good)
    assert bad.reason.endswith("status 400: maximum context length exceeded")


def test_a_rate_limit_over_http_is_waited_out(server, embedder):
    server.fail("rate_limited", times=2, headers={"Retry-After": "4"})
    slept = []
    (outcome,) = EmbeddingPipeline(embedder, sleep=slept.append).embed(["one"], "document")
    assert not isinstance(outcome, Skipped)
    assert slept == [4, 4]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("wrong_dimensions", "wrong dimensions: expected 48, got 12"),
        ("zero", "a zero vector"),
        ("not_finite", "a vector that is not finite"),
    ],
)
def test_a_spoilt_vector_over_http_is_skipped(server, embedder, fault, reason):
    pipeline = EmbeddingPipeline(embedder)
    pipeline.embed(["first"], "document")
    server.fail(fault)
    assert pipeline.embed(["one"], "document") == [Skipped(reason)]


def test_a_query_to_a_service_that_hangs_ends_at_its_deadline(server):
    server.fail("hang")
    pipeline = EmbeddingPipeline(make("openai", server), query_deadline=0.15)
    started = time.monotonic()
    assert pipeline.embed(["one"], "query")[0].reason.endswith("no answer in time")
    assert pipeline.embed(["one"], "query")[0].reason.startswith("cooling down")
    assert time.monotonic() - started < 2
    assert len(server.requests) == 1
