"""A model beside capture: what it adds, what it may not do, and what is left when it fails."""

import pytest

import memoranda
from memoranda.testing.servers import ChatServer

SAID = "My sister Ola plays the cello in Kraków and I drive her there on Fridays."
ITEM = {
    "text": "My sister Ola plays the cello.", "kind": "fact", "quote": "My sister Ola plays the cello", "message": 0,
    "confidence": 1.0,
}  # fmt: skip


@pytest.fixture
def server():
    with ChatServer(lambda _: [ITEM]) as running:
        yield running


@pytest.fixture
def with_model(opened, clock, server):
    def opener(**settings):
        chosen = {"extractor": "compatible:some-model", "extractor_url": server.openai_url, **settings}
        return opened(clock=clock, **chosen)

    return opener


def capture(memory, text=SAID, **more):
    return memory.capture([memoranda.user(text)], **more)


def test_what_a_model_finds_is_kept_inferred_and_never_trusted(with_model, server):
    memory = with_model()
    captured = capture(memory)
    assert [each.text for each in captured.kept] == ["My sister Ola plays the cello."]
    kept = captured.kept[0]
    assert (kept.source, kept.basis, kept.trust) == ("assistant", "inferred", "untrusted")
    assert kept.confidence < 1.0
    assert captured.receipt.model == "compatible:some-model"
    assert not memory.pack("does Ola play the cello?").items


def test_it_is_asked_only_of_what_is_new(with_model, server):
    memory = with_model()
    capture(memory, conversation="c")
    capture(memory, conversation="c")
    assert len(server.requests) == 1


def test_a_claim_that_no_message_bears_out_is_not_kept(with_model, server):
    captured = capture(with_model(), "We talked about the weather and the garden for a while.")
    assert not captured.remembered
    assert captured.receipt.refused["unsupported"] == 1


def test_what_is_plain_is_kept_though_the_model_fails(with_model, server):
    server.fail("server_error", times=9)
    captured = capture(with_model(), "I prefer window seats on long flights.")
    assert [each.trust for each in captured.kept] == ["trusted"]
    assert any("extractor" in note for note in captured.receipt.degraded)


def test_a_secret_does_not_leave_the_machine(with_model, server):
    password = "Blue-Kettle-" + "77!x"
    capture(with_model(), f"My wifi password is {password} and I drive to Kraków on Fridays.")
    assert server.requests
    assert all(password not in str(request.body) for request in server.requests)


def test_private_words_are_not_sent(with_model, server):
    capture(with_model(), "[PRIVATE] I drive to Kraków on Fridays.")
    assert not server.requests


@pytest.mark.parametrize("mode", ["off", "explicit"])
def test_who_wants_only_requests_kept_has_no_model_asked(with_model, server, mode):
    capture(with_model(), mode=mode)
    assert not server.requests


@pytest.mark.parametrize(
    "switch", [{"extractor": ""}, {"extractor": "none"}, {"extractor_daily_calls": 0}, {"extractor_daily_tokens": 0}]
)
def test_it_can_be_switched_off(with_model, server, switch):
    capture(with_model(**switch))
    assert not server.requests


def test_the_budget_of_a_day_is_hard_and_the_next_day_is_another(with_model, server, clock):
    memory = with_model(extractor_daily_calls=2)
    for number in range(4):
        last = capture(memory, f"{SAID} It was day number {number}.", conversation=f"c{number}")
    assert len(server.requests) == 2
    assert any("budget" in note for note in last.receipt.degraded)
    clock.advance(days=1)
    capture(memory, f"{SAID} Once more.", conversation="next")
    assert len(server.requests) == 3


def test_the_budget_counts_tokens_before_they_are_spent(with_model, server):
    capture(with_model(extractor_daily_tokens=50))
    assert not server.requests


def test_in_review_what_a_model_finds_waits_too(with_model):
    memory = with_model()
    captured = capture(memory, mode="review")
    assert not captured.kept
    assert "My sister Ola plays the cello." in [each.text for each in memory.review.list()]


@pytest.mark.parametrize(
    "said", ["Don't save this: my sister Ola plays the cello.", f"{SAID} Please do not remember that."]
)
def test_what_is_not_to_be_kept_is_not_sent(with_model, server, said):
    capture(with_model(), said)
    assert not server.requests


def test_contact_data_that_nobody_asked_for_is_not_kept(with_model):
    said = "My sister Ola plays the cello and her address is ola@clinic.example for now."
    with ChatServer(lambda _: [{**ITEM, "text": "Ola's address is ola@clinic.example.", "quote": said[:-1]}]) as server:
        captured = capture(with_model(extractor_url=server.openai_url), said)
        assert server.requests
    assert not captured.remembered


def test_the_words_of_a_service_are_in_no_receipt(with_model, server):
    server.fail("too_long", times=5)
    captured = capture(with_model(), SAID)
    assert captured.receipt.degraded == ("the extractor gave nothing (RequestRejected)",)


def test_a_model_that_failed_is_left_alone_for_a_while(with_model, server):
    server.fail("server_error", times=9)
    memory = with_model()
    capture(memory, f"{SAID} One.", conversation="a")
    asked = len(server.requests)
    last = capture(memory, f"{SAID} Two.", conversation="b")
    assert len(server.requests) == asked
    assert any("left alone" in note for note in last.receipt.degraded)
