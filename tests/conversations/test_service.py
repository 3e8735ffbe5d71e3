"""`memory.conversations` through the facade: what is kept, what a model sees, what a summary stands for."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memoranda
from memoranda import Settings, assistant, user
from memoranda.domain.clock import DAY_MS
from memoranda.domain.conversation import SUMMARY_IS_DATA
from memoranda.domain.errors import Conflict, InvalidInput, NotFound, Refused
from memoranda.domain.tokens import message_tokens
from memoranda.testing.fakes import FixedClock
from memoranda.testing.servers import ChatServer
from support import SCOPE, occurrences, open_store

FACTS = "The boiler in cellar {0} runs at {1} degrees and its entity is sensor.boiler_{0}."
SECRET = "sk-proj-" + "Zx81Qm44Lp20Vn63" * 3


def talk(turns, *, start=0):
    """Turns of a user and an assistant, each with a host's id and facts of its own."""
    for turn in range(start, start + turns):
        yield {"role": "user", "id": f"u{turn}", "content": FACTS.format(turn, 40 + turn % 50)}
        yield {"role": "assistant", "id": f"a{turn}", "content": f"I noted {turn}, and we decided to check it weekly."}


def tool_turn(nth):
    """A question, a call of a tool, its result, and the answer."""
    call = {"id": f"call{nth}", "type": "function", "function": {"name": "read_meter", "arguments": f'{{"n": {nth}}}'}}
    return [
        {"role": "user", "id": f"q{nth}", "content": f"What does meter {nth} show?"},
        {"role": "assistant", "id": f"c{nth}", "content": "", "tool_calls": [call]},
        {"role": "tool", "id": f"r{nth}", "tool_call_id": f"call{nth}", "content": f"meter {nth}: {nth * 7} kWh"},
        {"role": "assistant", "id": f"s{nth}", "content": f"Meter {nth} shows {nth * 7} kWh."},
    ]


def every(conversations, name):
    """Everything that was ever kept of a conversation, in order."""
    found, after = [], 0
    while page := conversations.messages(name, after=after, limit=50):
        found += page
        after = page[-1].place
    return found


def texts(messages):
    return [message.text for message in messages]


# --- appending


def test_messages_are_kept_in_the_order_in_which_they_came(memory):
    conversations = memory.conversations
    conversations.append([user("one"), assistant("two")], conversation="c")
    conversations.append([user("three")], conversation="c")
    kept = conversations.messages("c")
    assert texts(kept) == ["one", "two", "three"]
    assert [message.place for message in kept] == [1, 2, 3]
    assert [message.status for message in kept] == ["active"] * 3


def test_a_message_with_a_hosts_id_is_kept_once_however_often_it_is_handed_over(memory):
    history = list(talk(3))
    first = memory.conversations.append(history, conversation="c").receipt
    again = memory.conversations.append([*history, *talk(1, start=3)], conversation="c").receipt
    assert (first.added, first.known) == (6, 0)
    assert (again.added, again.known) == (2, 6)
    assert memory.conversations.get("c").messages == 8


def test_the_same_id_in_another_conversation_is_another_message(memory):
    for name in ("one", "two"):
        assert memory.conversations.append(talk(1), conversation=name).receipt.added == 2


def test_messages_without_an_id_are_kept_each_time(memory):
    for _ in range(2):
        memory.conversations.append([user("yes")], conversation="c")
    assert texts(memory.conversations.messages("c")) == ["yes", "yes"]


def test_a_long_history_is_kept_whole_and_in_order(memory):
    receipt = memory.conversations.append(talk(600), conversation="c", compact=False).receipt
    assert receipt.added == 1_200
    kept = every(memory.conversations, "c")
    assert [message.host_id for message in kept] == [each["id"] for each in talk(600)]


def test_the_tokens_of_a_conversation_are_those_of_its_active_messages(memory):
    appended = memory.conversations.append(talk(4), conversation="c")
    kept = memory.conversations.messages("c")
    assert all(message.tokens == message_tokens(message.message) for message in kept)
    assert appended.receipt.tokens == appended.conversation.tokens == sum(message.tokens for message in kept)


def test_roles_speakers_times_calls_and_results_are_kept(memory):
    memory.conversations.append(
        [{"role": "system", "content": "Be brief."}, user("hi", speaker="anna", at="2026-05-01"), *tool_turn(1)],
        conversation="c",
    )
    system, hello, _, call, result, _ = memory.conversations.messages("c")
    assert (system.role, hello.speaker, hello.as_json()["at"]) == ("system", "anna", "2026-05-01T00:00:00.000Z")
    assert (call.tool_calls[0].id, call.tool_calls[0].name) == ("call1", "read_meter")
    assert (result.role, result.tool_call_id) == ("tool", "call1")


def test_secrets_are_left_out_of_texts_calls_and_results_and_out_of_every_file(memory, path):
    call = {"id": "k", "type": "function", "function": {"name": "login", "arguments": f'{{"key": "{SECRET}"}}'}}
    receipt = memory.conversations.append(
        [
            user(f"my key is {SECRET}, keep it"),
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "k", "content": f"logged in with {SECRET}"},
        ],
        conversation="c",
    ).receipt
    assert receipt.redacted == 3
    assert receipt.added == 3
    memory.conversations.search("key")
    memory.close()
    assert not occurrences(path, SECRET)


def test_secrets_are_in_no_name_metadata_or_working_memory(memory):
    conversations = memory.conversations
    with pytest.raises(Refused):
        conversations.append([user("hi")], conversation=f"about {SECRET}")
    with pytest.raises(Refused):
        conversations.set_working("c", f"the key is {SECRET}")
    conversations.append([user("hi")], conversation="c", metadata={"title": f"key {SECRET}"})
    assert SECRET not in str(conversations.get("c").as_json())


def test_a_pack_that_was_put_into_the_prompt_is_stripped(memory):
    memory.remember("Anna prefers short answers.", kind="preference")
    pack = memory.pack("how long should answers be?").text
    assert pack
    receipt = memory.conversations.append([user(f"{pack}\nWhat is the time?")], conversation="c").receipt
    assert receipt.stripped == 1
    assert texts(memory.conversations.messages("c")) == ["What is the time?"]


def test_private_words_in_a_message_are_not_kept(memory, path):
    memory.conversations.append([user("[NOMEM] the wobbly plinthmarker is mine")], conversation="c")
    assert texts(memory.conversations.messages("c")) == ["[private]"]
    memory.close()
    assert not occurrences(path, "plinthmarker")


@pytest.mark.parametrize("name", ["", "   ", "x" * 600, 3, None])
def test_a_conversation_needs_a_name(memory, name):
    with pytest.raises(InvalidInput):
        memory.conversations.append([user("hi")], conversation=name)


def test_metadata_is_joined(memory):
    memory.conversations.append([user("hi")], conversation="c", metadata={"title": "Hi", "host": "x"})
    memory.conversations.append([user("ho")], conversation="c", metadata={"title": "Ho"})
    assert dict(memory.conversations.get("c").metadata) == {"title": "Ho", "host": "x"}


# --- windows


def test_a_window_has_everything_while_it_fits(memory):
    memory.conversations.append(talk(3), conversation="c")
    window = memory.conversations.window("c")
    assert [each["content"] for each in window.for_model()] == [each["content"] for each in talk(3)]
    assert window.dropped == 0


def test_a_window_keeps_within_its_budget_and_shows_the_newest(memory):
    memory.conversations.append(talk(40), conversation="c", compact=False)
    window = memory.conversations.window("c", budget=300)
    assert window.tokens <= 300
    assert window.messages[-1].host_id == "a39"
    assert window.dropped > 60


def test_a_call_is_never_separated_from_its_result(memory):
    memory.conversations.append(
        [message for nth in range(20) for message in tool_turn(nth)], conversation="c", compact=False
    )
    for budget in range(64, 800, 37):
        shown = memory.conversations.window("c", budget=budget).messages
        called = {call.id for message in shown for call in message.tool_calls}
        answered = {message.tool_call_id for message in shown if message.role == "tool"}
        assert called == answered


def test_a_system_prompt_stands_first_in_every_window(memory):
    memory.conversations.append([{"role": "system", "content": "Be brief."}, *talk(40)], conversation="c")
    memory.conversations.compact("c")
    assert memory.conversations.window("c", budget=400).for_model()[0] == {"role": "system", "content": "Be brief."}


def test_another_tokenizer_counts_anew(memory):
    class Letters:
        name = "letters"

        def count(self, text):
            return len(text)

    memory.conversations.append(talk(5), conversation="c")
    window = memory.conversations.window("c", budget=400, tokenizer=Letters())
    assert window.dropped > 0
    assert memory.conversations.window("c", budget=400).dropped == 0


# --- compaction


def test_appending_more_than_the_budget_sums_up_what_is_older(small):
    appended = small.conversations.append(talk(30), conversation="c")
    compaction = appended.receipt.compaction
    assert compaction.done
    assert compaction.trigger == "tokens"
    assert compaction.tokens_after < compaction.tokens_before
    assert appended.receipt.tokens == compaction.tokens_after == appended.conversation.tokens
    active = small.conversations.messages("c", status="active")
    assert [message.kind for message in active].count("summary") == 1
    assert texts(active)[-10:] == [each["content"] for each in list(talk(30))[-10:]]


def test_many_messages_are_a_reason_too(opened, clock):
    memory = opened(clock=clock, compact_messages=20)
    assert memory.conversations.append(talk(8), conversation="c").receipt.compaction is None
    assert memory.conversations.append(talk(8, start=8), conversation="c").receipt.compaction.trigger == "messages"


def test_compaction_can_be_left_for_later(small):
    assert small.conversations.append(talk(30), conversation="c", compact=False).receipt.compaction is None
    done = small.conversations.compact("c").receipt
    assert (done.trigger, done.done) == ("asked", True)


def test_a_summary_has_the_form_that_was_agreed_and_speaks_as_data(small):
    small.conversations.append(talk(30), conversation="c")
    window = small.conversations.window("c")
    assert window.summary.text.startswith("[Conversation Summary - ")
    assert "Key points discussed:" in window.summary.text
    shown = next(each for each in window.for_model() if "[Conversation Summary" in each["content"])
    assert shown["role"] == "system"
    assert shown["content"].startswith(SUMMARY_IS_DATA)


def test_exactly_one_summary_is_active_after_many_compactions_and_the_earlier_is_folded_into_it(small):
    earlier = ""
    for start in range(0, 200, 25):
        receipt = small.conversations.append(talk(25, start=start), conversation="c").receipt.compaction
        assert receipt.done
        assert receipt.earlier == earlier
        earlier = receipt.summary
    summaries = [message for message in every(small.conversations, "c") if message.kind == "summary"]
    assert [message.id for message in summaries if message.status == "active"] == [earlier]
    assert len(summaries) == 8


def test_a_summary_expands_to_every_message_that_it_stands_for(small):
    for start in range(0, 100, 25):
        small.conversations.append(talk(25, start=start), conversation="c")
    summary = small.conversations.window("c").summary
    folded = [message.host_id for message in small.conversations.expand(summary.id)]
    active = [each.host_id for each in small.conversations.messages("c", status="active") if each.kind == "message"]
    assert folded + active == [each["id"] for each in talk(100)]
    shallow = small.conversations.expand(summary.id, deep=False)
    assert [message.kind for message in shallow].count("summary") == 1


def test_compacting_twice_does_nothing_the_second_time(small):
    small.conversations.append(talk(30), conversation="c", compact=False)
    done = small.conversations.compact("c")
    again = small.conversations.compact("c")
    assert done.summary is not None
    assert again.summary is None
    assert again.receipt.note
    assert small.conversations.window("c").summary.id == done.summary.id


def test_a_compaction_tears_no_call_from_its_result(small):
    for nth in range(60):
        small.conversations.append(tool_turn(nth), conversation="c")
    active = small.conversations.messages("c", status="active")
    assert any(message.kind == "summary" for message in active)
    called = {call.id for message in active for call in message.tool_calls}
    assert called == {message.tool_call_id for message in active if message.role == "tool"}


def test_what_a_message_said_is_untouched_by_compaction(small):
    small.conversations.append(talk(30), conversation="c")
    kept = [message for message in every(small.conversations, "c") if message.kind == "message"]
    assert [(message.host_id, message.text) for message in kept] == [(each["id"], each["content"]) for each in talk(30)]


def test_a_message_is_no_summary(small):
    small.conversations.append(talk(2), conversation="c")
    with pytest.raises(InvalidInput, match="not a summary"):
        small.conversations.expand(small.conversations.messages("c")[0].id)
    with pytest.raises(NotFound):
        small.conversations.expand("nothing-of-this-id")


def test_before_messages_are_summed_up_a_stated_preference_is_kept_as_a_memory(small):
    said = [user("I prefer tea without sugar in the morning.", id="p"), assistant("Noted.", id="n")]
    receipt = small.conversations.append([*said, *talk(30)], conversation="c").receipt.compaction
    assert receipt.captured >= 1
    assert "I prefer tea without sugar in the morning." in [each.text for each in small.list(limit=100)]


SCRIPTS = st.lists(
    st.one_of(
        st.tuples(st.just("talk"), st.integers(1, 14)),
        st.tuples(st.just("tool"), st.integers(1, 5)),
        st.tuples(st.just("again"), st.integers(1, 6)),
        st.just(("compact", 0)),
        st.just(("archive", 0)),
    ),
    min_size=1,
    max_size=10,
)


@given(SCRIPTS)
@settings(max_examples=20)
def test_whatever_happens_every_message_is_active_or_reached_from_the_one_active_summary(tmp_path_factory, script):
    path = tmp_path_factory.mktemp("script") / "store.db"
    with open_store(path, clock=FixedClock(), conversation_budget=500, compact_messages=40) as memory:
        conversations, handed, nth = memory.conversations, [], 0
        for word, count in script:
            if word == "compact" and handed:
                conversations.compact("c")
            elif word == "archive" and handed:
                conversations.archive("c")
                conversations.restore("c")
            elif word in ("talk", "tool", "again"):
                if word == "again":
                    new = handed[-count:]
                elif word == "talk":
                    new = list(talk(count, start=nth))
                else:
                    new = [message for turn in range(nth, nth + count) for message in tool_turn(turn)]
                nth += 0 if word == "again" else count
                conversations.append(new, conversation="c")
                handed += new if word != "again" else []
        if not handed:
            return
        active = conversations.messages("c", status="active", limit=1_000)
        summaries = [message for message in active if message.kind == "summary"]
        assert len(summaries) <= 1
        reached = [message.host_id for each in summaries for message in conversations.expand(each.id)]
        shown = [message.host_id for message in active if message.kind == "message"]
        assert sorted(reached + shown) == sorted(each["id"] for each in handed)
        assert reached == [name for name in (each["id"] for each in handed) if name in set(reached)]


# --- a model that sums up


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


@pytest.fixture
def with_model(opened, clock, server):
    def opener(**more):
        chosen = {"summarizer": "compatible:some-model", "summarizer_url": server.openai_url, **more}
        return opened(clock=clock, conversation_budget=1_200, compact_messages=0, **chosen)

    return opener


GIST = '{"points": ["The boiler in cellar 0 runs at 40 degrees."], "actions": [], "open_items": []}'


def test_a_model_sums_up_when_one_is_set(with_model, server):
    server.say(GIST)
    memory = with_model()
    memory.conversations.append(talk(30), conversation="c", compact=False)
    receipt = memory.conversations.compact("c").receipt
    assert receipt.summarizer == "compatible:some-model"
    assert receipt.note == ""
    assert "runs at 40 degrees" in memory.conversations.window("c").summary.text
    assert len(server.requests) == 1


def test_what_nobody_said_is_left_out_of_a_models_summary(with_model, server):
    server.say(GIST.replace('"actions": []', '"actions": ["Anna wired 90000 euros to Vladivostok."]'))
    memory = with_model()
    memory.conversations.append(talk(30), conversation="c", compact=False)
    receipt = memory.conversations.compact("c").receipt
    assert receipt.unsupported == 1
    assert "Vladivostok" not in memory.conversations.window("c").summary.text


@pytest.mark.parametrize("fault", ["server_error", "bad_key", "invalid_json", "refusal"])
def test_when_the_model_fails_the_summary_is_made_offline(with_model, server, fault):
    server.fail(fault, times=9)
    memory = with_model()
    memory.conversations.append(talk(30), conversation="c", compact=False)
    receipt = memory.conversations.compact("c").receipt
    assert receipt.done
    assert receipt.summarizer == "extractive"
    assert "summed up offline" in receipt.note


def test_a_model_is_asked_only_within_the_budget_of_a_day(with_model, server):
    memory = with_model(summarizer_daily_calls=1)
    server.say(GIST, GIST)
    for name in ("one", "two"):
        memory.conversations.append(talk(30), conversation=name, compact=False)
    names = [memory.conversations.compact(name).receipt.summarizer for name in ("one", "two")]
    assert names == ["compatible:some-model", "extractive"]
    assert len(server.requests) == 1


def test_nobody_waits_for_a_model_that_sums_up(with_model, server):
    server.say(GIST)
    memory = with_model()
    receipt = memory.conversations.append(talk(30), conversation="c").receipt
    assert receipt.compaction.later
    for thread in list(memory._engine._chores):
        thread.join(timeout=20)
    assert memory.conversations.window("c").summary.metadata["summarizer"] == "compatible:some-model"


def test_no_secret_is_sent_to_a_model(with_model, server):
    server.say(GIST)
    memory = with_model()
    memory.conversations.append([user(f"the key is {SECRET}"), *talk(30)], conversation="c", compact=False)
    memory.conversations.compact("c")
    assert SECRET not in str(server.requests[0].body)


# --- search


def test_what_was_said_is_found_with_what_stood_around_it_and_only_in_transcripts(memory):
    memory.conversations.append(talk(5), conversation="c")
    found = memory.conversations.search("boiler in cellar 3", limit=1)
    assert found[0].messages[-1].place > found[0].messages[0].place
    assert any("cellar 3" in message.text for message in found[0].messages if message.number in found[0].hits)
    assert not memory.recall("boiler in cellar 3")


def test_a_silence_ends_a_passage(memory):
    said = [
        user("The piano tuner comes on Friday.", at=0),
        assistant("Noted.", at=1_000),
        user("Unrelated talk an hour later.", at=3_600_000),
    ]
    memory.conversations.append(said, conversation="c")
    assert [len(each.messages) for each in memory.conversations.search("piano tuner")] == [2]
    assert [len(each.messages) for each in memory.conversations.search("piano tuner", gap_minutes=120)] == [3]


def test_a_search_is_narrowed_by_conversation_time_and_role(memory):
    for day, name in enumerate(("one", "two")):
        memory.conversations.append(
            [user(f"the walrus of {name}", at=day * DAY_MS), assistant(f"a walrus for {name}", at=day * DAY_MS)],
            conversation=name,
        )

    def where(**more):
        found = memory.conversations.search("walrus", context=0, **more)
        return {found.names[each.conversation] for each in found}

    assert where() == {"one", "two"}
    assert where(conversation="two") == {"two"}
    assert where(before="1970-01-01") == {"one"}
    assert where(after="1970-01-02") == {"two"}
    hits = memory.conversations.search("walrus", roles=["assistant"], context=0)
    assert {message.role for each in hits for message in each.messages} == {"assistant"}


def test_compacted_messages_are_found_and_summaries_are_not(small):
    small.conversations.append(talk(30), conversation="c")
    found = small.conversations.search("boiler in cellar 0", limit=1)
    assert found[0].messages[0].status == "compacted"
    assert all(message.kind == "message" for each in small.conversations.search("boiler") for message in each.messages)


def test_a_span_of_time_is_read_over_all_conversations_oldest_first(memory):
    for day, name in enumerate(("one", "two", "one")):
        memory.conversations.append([user(f"day {day}", at=day * DAY_MS)], conversation=name)
    found = memory.conversations.between("1970-01-01", "1970-01-02")
    assert [(conversation.name, message.text) for conversation, message in found] == [
        ("one", "day 0"),
        ("two", "day 1"),
    ]


# --- working memory, private conversations, archived ones


def test_working_memory_survives_compaction_and_stands_in_every_window(small):
    small.conversations.set_working("c", "We are moving the boiler.")
    small.conversations.append(talk(30), conversation="c")
    assert small.conversations.window("c").summary is not None
    assert small.conversations.working("c") == "We are moving the boiler."
    assert any("We are moving the boiler." in each["content"] for each in small.conversations.window("c").for_model())
    small.conversations.set_working("c", "")
    assert small.conversations.working("c") == ""


def test_nothing_of_a_private_conversation_is_in_any_file(memory, path):
    memory.conversations.append([user("hello")], conversation="open")
    memory.conversations.keep_private("quietnamedroom")
    receipt = memory.conversations.append([user("I prefer zebrafinchmarkers.")], conversation="quietnamedroom").receipt
    assert not receipt.stored
    assert memory.conversations.is_private("quietnamedroom")
    assert not memory.capture([user("I prefer zebrafinchmarkers.")], conversation="quietnamedroom").kept
    with pytest.raises(Conflict):
        memory.conversations.set_working("quietnamedroom", "zebrafinchmarkers")
    with pytest.raises(NotFound):
        memory.conversations.window("quietnamedroom")
    memory.conversations.search("zebrafinchmarkers")
    memory.close()
    assert not occurrences(path, "zebrafinchmarkers", "quietnamedroom")
    assert occurrences(path, "hello")


def test_what_was_kept_before_must_be_erased_before_a_conversation_is_private(memory):
    memory.conversations.append([user("hello")], conversation="c")
    with pytest.raises(Conflict):
        memory.conversations.keep_private("c")
    memory.conversations.erase("c")
    memory.conversations.keep_private("c")
    assert not memory.conversations.append([user("hello")], conversation="c").receipt.stored


def test_what_is_archived_is_not_listed_and_found_only_when_asked_for(memory):
    memory.conversations.append([user("the walrus is old")], conversation="c")
    assert memory.conversations.archive("c").archived
    assert memory.conversations.list().total == 0
    assert memory.conversations.list(archived=True).total == 1
    assert not memory.conversations.search("walrus")
    assert memory.conversations.search("walrus", archived=True)
    with pytest.raises(Conflict):
        memory.conversations.archive("c")
    memory.conversations.restore("c")
    assert memory.conversations.search("walrus")
    with pytest.raises(Conflict):
        memory.conversations.restore("c")


def test_a_conversation_with_summaries_can_be_archived_gone_on_with_and_restored(small):
    conversations = small.conversations
    for start in (0, 30):
        conversations.append(talk(30, start=start), conversation="c")
        conversations.archive("c")
    conversations.append(talk(30, start=60), conversation="c")
    conversations.archive("c")
    conversations.restore("c")
    active = conversations.messages("c", status="active", limit=1_000)
    assert sum(message.kind == "summary" for message in active) <= 1
    kept = [message.host_id for message in every(conversations, "c") if message.kind == "message"]
    assert kept == [each["id"] for each in talk(90)]


# --- scopes


@pytest.fixture
def siblings(opened, clock):
    """A conversation with a summary in home/anna, and the same store as home/ben and as home sees it."""
    anna = opened(clock=clock, conversation_budget=1_200, compact_messages=0)
    anna.conversations.append([user("the walrus is Anna's"), *talk(30)], conversation="hers")
    anna.conversations.set_working("hers", "walrus plans")
    return anna, opened("home/ben", clock=clock), opened("home", clock=clock)


@pytest.mark.parametrize("archived", [False, True])
def test_a_sibling_scope_cannot_see_read_expand_search_or_erase(siblings, archived):
    anna, ben, _ = siblings
    own = anna.conversations.get("hers")
    summary = anna.conversations.window("hers").summary
    message = anna.conversations.messages("hers")[0]
    if archived:
        anna.conversations.archive("hers")
    assert ben.conversations.list(archived=archived).total == 0
    assert not ben.conversations.search("walrus", archived=True)
    assert not ben.conversations.between(0, "2030-01-01")
    for name in ("hers", own.id):
        for verb in ("get", "window", "compact", "messages", "working", "archive", "restore", "erase"):
            with pytest.raises(NotFound):
                getattr(ben.conversations, verb)(name)
        with pytest.raises(NotFound):
            ben.conversations.search("walrus", conversation=name)
    for name in (summary.id, summary.id[:8], message.id):
        with pytest.raises(NotFound):
            ben.conversations.expand(name)
    ben.conversations.append([user("ben's own")], conversation="hers")
    ben.conversations.set_working("hers", "ben's plans")
    assert anna.conversations.working("hers") == "walrus plans"
    assert len(ben.conversations.messages("hers")) == 1


def test_a_scope_above_does_not_see_what_is_said_below(siblings):
    _, _, home = siblings
    assert home.conversations.list().total == 0
    assert not home.conversations.search("walrus")


def test_a_scope_reads_what_was_said_above_it_and_changes_nothing_there(siblings):
    anna, _, home = siblings
    home.conversations.append([user("the household's walrus")], conversation="shared")
    assert texts(anna.conversations.messages("shared")) == ["the household's walrus"]
    assert anna.conversations.search("household")
    for verb in ("archive", "erase", "compact", "window"):
        with pytest.raises(NotFound):
            getattr(anna.conversations, verb)("shared")
    anna.conversations.append([user("mine")], conversation="shared")
    assert texts(home.conversations.messages("shared")) == ["the household's walrus"]


# --- several at once


def test_two_threads_append_and_nothing_is_lost(small):
    def write(part):
        for start in range(0, 40, 4):
            messages = [{**each, "id": f"{part}-{each['id']}"} for each in talk(4, start=start)]
            small.conversations.append(messages, conversation="c")

    threads = [threading.Thread(target=write, args=(part,)) for part in ("x", "y")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [message.host_id for message in every(small.conversations, "c") if message.kind == "message"]
    assert len(kept) == len(set(kept)) == 160
    for part in ("x", "y"):
        own = [name for name in kept if name.startswith(part)]
        assert own == [f"{part}-{each['id']}" for each in talk(40)]
    active = small.conversations.messages("c", status="active", limit=1_000)
    assert sum(message.kind == "summary" for message in active) == 1


def test_the_async_face_does_the_same(path, clock):
    async def story():
        chosen = Settings(embedder="none", follow=False, conversation_budget=1_200, compact_messages=0)
        async with memoranda.aio.open(path, scope=SCOPE, settings=chosen, clock=clock) as memory:
            conversations = memory.conversations
            appended = await conversations.append(talk(30), conversation="c")
            window = await conversations.window("c")
            expanded = await conversations.expand(window.summary.id)
            found = await conversations.search("boiler in cellar 29")
            receipt = await conversations.erase("c")
            return appended, expanded, found, receipt, await conversations.list()

    appended, expanded, found, receipt, page = asyncio.run(story())
    assert appended.receipt.added == 60
    assert len(expanded) == appended.receipt.compaction.folded
    assert found
    assert receipt.state == "purged"
    assert page.total == 0
