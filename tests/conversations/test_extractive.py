"""The offline summary: what it keeps of labelled conversations, what it never does, and that nothing makes it hang."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.conversations.extractive import ExtractiveSummarizer, extracted
from memoranda.conversations.particulars import borne_out, ids, particulars
from memoranda.conversations.sentences import plain_line, sentences, shortened
from memoranda.domain.conversation import Gist
from memoranda.domain.message import Message, ToolCall, assistant, user
from memoranda.domain.tokens import estimated_tokens
from memoranda.testing.summarizer_contract import SummarizerContract

from .labelled_summaries import HALVES, LANGUAGES, cases

# Very short conversations get a little more than a tenth.
FLOOR = 60
NOTHING = Gist()


def summed_up(messages, *, earlier=NOTHING, most=400):
    return extracted(messages, earlier=earlier, most_tokens=most)


def lines_of(gist):
    return [line for part in gist for line in part]


def length(messages):
    return sum(estimated_tokens(message.text) for message in messages)


class TestContract(SummarizerContract):
    @pytest.fixture
    def summarizer(self):
        return ExtractiveSummarizer()


# --- the labelled set


def quoted(lines):
    """Every sentence of these lines, without who said it."""
    spoken = [line.removeprefix("User: ").removeprefix("Assistant: ").replace(" / ", "\n") for line in lines]
    return {sentence for each in spoken for sentence in sentences(each)}


def recalled(half):
    """Of numbers and ids, and of sentences: how many were kept and how many there are; and courtesies quoted."""
    kept, wanted, courtesies = [0, 0], [0, 0], 0
    for case in cases(half):
        room = max(FLOOR, length(case.messages) // 10)
        lines = lines_of(summed_up(case.messages, most=room))
        text = "\n".join(lines)
        assert estimated_tokens(text) <= room
        for place, strings in enumerate((case.particulars, case.sentences)):
            kept[place] += sum(each in text for each in strings)
            wanted[place] += len(strings)
        polite = {sentence for each in case.courtesies for sentence in sentences(each)}
        courtesies += len(polite & quoted(lines))
    return tuple(kept), tuple(wanted), courtesies


def test_what_was_tuned_on_is_kept_whole_in_a_tenth_of_the_length():
    assert recalled("tuned") == ((122, 56), (122, 56), 0)


def test_what_was_held_back_is_kept_in_a_tenth_of_the_length():
    kept, wanted, courtesies = recalled("held")
    assert wanted == (189, 63)
    assert kept[0] >= 187
    assert kept[1] == 63
    assert courtesies == 0


def test_the_labelled_set_is_large_and_its_conversations_are_long():
    every = [case for half in HALVES for case in cases(half)]
    assert len(every) >= 60
    assert {case.language for case in every} == set(LANGUAGES)
    assert all(len(case.messages) >= 40 for case in every)
    for case in every:
        said = "\n".join(message.text + str(message.tool_calls) for message in case.messages)
        assert all(each in said for each in (*case.particulars, *case.sentences))


# --- what it never does

_WORDS = """
    we decided light.office 40% maybe. Thanks! never at 7:30, because I prefer PROJ-12 todo later? 决定 三点 `a b`; /
"""
_words = st.sampled_from([*_WORDS.split(), "\n", "a b", "."])
_text = st.lists(_words, max_size=25).map(" ".join) | st.text(max_size=80)
_call = st.builds(ToolCall, st.sampled_from(["a", "b"]), st.text(max_size=10), st.text(max_size=40))
_message = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "system", "tool"]),
    _text,
    speaker=st.sampled_from(["", "Anna", "a:b\n"]),
    tool_calls=st.lists(_call, max_size=2).map(tuple),
    tool_call_id=st.sampled_from(["", "a", "b"]),
)
_line = st.text(max_size=40).map(plain_line).filter(bool)
_gist = st.builds(Gist, *[st.lists(_line, max_size=3).map(tuple)] * 3)


@settings(max_examples=60)
@given(messages=st.lists(_message, max_size=12), earlier=_gist, most=st.integers(0, 300))
def test_it_is_never_longer_than_it_may_be_and_always_the_same(messages, earlier, most):
    gist = summed_up(messages, earlier=earlier, most=most)
    assert sum(estimated_tokens(line) for line in lines_of(gist)) <= most
    assert gist == summed_up(messages, earlier=earlier, most=most)
    assert all(line == plain_line(line) and line for line in lines_of(gist))


def in_words(text):
    return " ".join(re.findall(r"\w+", text))


@settings(max_examples=60)
@given(messages=st.lists(_message, max_size=12), earlier=_gist)
def test_it_says_nothing_that_was_not_said(messages, earlier):
    gist = summed_up([each._replace(tool_calls=(), speaker="") for each in messages], earlier=earlier)
    said = [plain_line(each.text) for each in messages] + lines_of(earlier)
    for line in lines_of(gist):
        spoken = line.removeprefix("User: ").removeprefix("Assistant: ")
        for part in spoken.split(" / "):
            # A mark that stands alone between two sentences says nothing, and may go.
            assert any(
                part in each or all(in_words(piece) in in_words(each) for piece in sentences(part)) for each in said
            )


@given(messages=st.lists(_message, max_size=12), earlier=_gist)
def test_its_own_numbers_and_ids_are_always_borne_out(messages, earlier):
    gist = summed_up(messages, earlier=earlier)
    spoken = Gist(gist.points, (), gist.open_items)
    assert borne_out(spoken, messages, earlier) == (spoken, 0)


# --- what it does


def test_decisions_come_before_facts_and_small_talk_never_comes():
    said = [
        user("Hello there! How are you?"),
        assistant("I'm fine, thanks!"),
        user("The old pump made 3 odd noises on Monday."),
        user("We decided to buy the new pump."),
        user("Thanks a lot, you're the best!"),
    ]
    assert summed_up(said, most=16).points == ("User: We decided to buy the new pump.",)
    assert summed_up(said).points == (
        "User: The old pump made 3 odd noises on Monday.",
        "User: We decided to buy the new pump.",
    )


def test_who_said_it_is_told_by_name():
    said = [user("I prefer tea to coffee.", speaker="Anna"), user("My train leaves at 6:40.", speaker="Ben")]
    assert summed_up(said).points == ("Anna: I prefer tea to coffee.", "Ben: My train leaves at 6:40.")


def test_sentences_of_one_message_stand_in_one_line():
    said = [user("We decided on oak. It's lovely weather. The table costs 300 euros.")]
    assert summed_up(said).points == ("User: We decided on oak. / The table costs 300 euros.",)


def test_a_correction_takes_the_place_of_what_it_corrects():
    said = [
        user("The dentist appointment for Emma is on Monday at 9:00."),
        assistant("Noted."),
        user("Actually, the dentist appointment for Emma is on Tuesday at 10:30."),
    ]
    assert summed_up(said).points == ("User: Actually, the dentist appointment for Emma is on Tuesday at 10:30.",)


def test_two_amounts_for_the_same_thing_are_two_facts():
    said = [user("I spent 45 euros on food."), user("I spent 50 euros on food.")]
    assert len(summed_up(said).points) == 2


def test_what_is_repeated_is_said_once():
    said = [user("The gate code is with Anna at number 12.")] * 5 + [user("the gate code is with Anna, at number 12")]
    assert len(summed_up(said).points) == 1


def test_a_long_sentence_loses_only_clauses_without_numbers_ids_and_conditions():
    said = user(
        "Well, as I was telling my neighbour the other day in the garden, the boiler needs 40 litres a minute, "
        "unless the pump is off, which is all rather tedious and made for a very long afternoon"
    )
    (line,) = summed_up([said]).points
    assert "40 litres a minute, unless the pump is off" in line
    assert "neighbour" not in line
    assert "tedious" not in line


def call(number, name, arguments):
    return Message("assistant", "", tool_calls=(ToolCall(f"c{number}", name, arguments),))


def result(number, text):
    return Message("tool", text, tool_call_id=f"c{number}")


def test_tool_calls_are_actions_with_what_matters_of_them():
    said = [
        user("Dim the lamp."),
        call(1, "light.turn_on", '{"entity_id": "light.office", "brightness": 40, "note": null}'),
        result(1, "ok"),
        call(2, "run_tests", '{"path": "tests"}'),
        result(2, "error: 3 failed"),
        call(3, "write_file", '{"path": "a.txt", "text": "' + "word " * 100 + '"}'),
        result(3, "long output " * 100),
        call(4, "broken", "{not json"),
    ]
    actions = summed_up(said).actions
    assert actions[0] == "light.turn_on(entity_id=light.office, brightness=40)"
    assert actions[1] == "run_tests(path=tests) → error: 3 failed"
    assert actions[2].startswith("write_file(path=a.txt, text=word word")
    assert len(actions[2]) < 120
    assert "long output" not in actions[2]
    assert actions[3] == "broken({not json)"


def test_what_changed_something_comes_before_what_only_looked():
    said = [call(n, "search_notes", f'{{"query": "q{n}"}}') for n in range(50)]
    said.insert(10, call(99, "lock.close", '{"entity_id": "lock.front_door"}'))
    assert "lock.close(entity_id=lock.front_door)" in summed_up(said, most=120).actions


def test_an_assistant_that_says_what_it_did_has_done_it():
    said = [user("Please warm up the bath."), assistant("Sure! I set climate.bathroom to 23 degrees. Enjoy!")]
    assert summed_up(said).actions == ("I set climate.bathroom to 23 degrees.",)


def test_a_deed_is_not_told_twice():
    said = [
        call(1, "light.turn_on", '{"entity_id": "light.office", "brightness": 40}'),
        result(1, "ok"),
        assistant("I set light.office to 40%."),
    ]
    assert summed_up(said).actions == ("light.turn_on(entity_id=light.office, brightness=40)",)


@pytest.mark.parametrize(
    "wish",
    [
        "I still need to call the plumber about the tap.",
        "Muszę jeszcze zadzwonić do hydraulika w sprawie kranu.",
        "Ich muss noch den Klempner wegen des Wasserhahns anrufen.",
        "Tengo que llamar al fontanero por el grifo.",
        "Il faut que j'appelle le plombier pour le robinet.",
        "Musím zavolat instalatérovi kvůli kohoutku.",
        "之后还要给水管工打电话修水龙头。",
        "あとで水道屋さんに電話しなければならない。",
        "나중에 배관공에게 수도꼭지 때문에 전화해야 해요.",
    ],
)
def test_what_is_still_to_do_is_an_open_item_in_nine_languages(wish):
    assert summed_up([user(wish), assistant("Ok.")]).open_items == (f"User: {wish}",)


def test_what_was_done_since_is_not_open():
    said = [
        user("I want to order the cake at Lindner's before Thursday."),
        assistant("Sure."),
        user("I ordered the cake at Lindner's, that's done."),
    ]
    assert summed_up(said).open_items == ()


def test_a_question_without_an_answer_is_open_and_one_with_an_answer_is_not():
    said = [user("Why is the pump so loud?"), assistant("It is old."), user("Which pump would fit our boiler?")]
    assert summed_up(said).open_items == ("User: Which pump would fit our boiler?",)


# --- an earlier gist

EARLIER = Gist(
    (
        "User: We decided to paint the hall in green.",
        "User: The paint costs 48 euros.",
        "User: The hall is rather dark.",
    ),
    ("I ordered 3 brushes.",),
    ("User: I need to buy masking tape for the hall.",),
)


def test_what_was_summed_up_before_is_still_said():
    gist = summed_up([user("The painter comes on 3 June.")], earlier=EARLIER)
    assert set(EARLIER.points[:2]) <= set(gist.points)
    assert gist.points[-1] == "User: The painter comes on 3 June."
    assert gist.actions == EARLIER.actions
    assert gist.open_items == EARLIER.open_items


def test_folding_the_same_again_changes_nothing():
    once = summed_up([user("The painter comes on 3 June.")], earlier=EARLIER)
    assert summed_up([], earlier=once) == once


def test_what_was_open_before_and_is_done_now_is_not_open():
    done = [user("I bought masking tape for the hall, it's done.")]
    assert summed_up(done, earlier=EARLIER).open_items == ()
    tool = [call(1, "shop.order", '{"item": "masking tape for the hall"}')]
    assert summed_up(tool, earlier=EARLIER).open_items == ()


def test_without_room_what_has_no_number_and_no_decision_goes_first():
    gist = summed_up([user("The painter comes on 3 June.")], earlier=EARLIER, most=60)
    assert "User: The hall is rather dark." not in gist.points
    assert "User: We decided to paint the hall in green." in gist.points


def test_lines_of_a_model_are_taken_over_as_they_are():
    earlier = Gist(points=("Deadline: the release is due on Friday 21 March; Anna owns it.",))
    assert summed_up([], earlier=earlier).points == earlier.points


def test_numbers_survive_twenty_compactions_in_a_row():
    gist = NOTHING
    for week in range(20):
        talk = [user("Hello again! Lovely weather today."), assistant("Indeed, it is!")] * 10
        gist = summed_up([*talk, user(f"Meter reading {week} is {4000 + 17 * week}.")], earlier=gist, most=600)
    text = "\n".join(gist.points)
    assert all(str(4000 + 17 * week) in text for week in range(20))


# --- parts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mr. Okafor is in room 12. Thanks!", ["Mr. Okafor is in room 12.", "Thanks!"]),
        ("Am 14. Mai um 9:30 Uhr. Gut.", ["Am 14. Mai um 9:30 Uhr.", "Gut."]),
        ("Wersja 2.14.0 działa. Dobrze.", ["Wersja 2.14.0 działa.", "Dobrze."]),
        ("决定了。好的！", ["决定了。", "好的！"]),
        ("- one\n- two\n1. three", ["one", "two", "three"]),
        ("See:\n```\nx = 1\n```\nDone.", ["See:", "Done."]),
        ("What?! Really... yes.", ["What?!", "Really... yes."]),
        ("...", []),
    ],
)
def test_sentences_end_where_people_end_them(text, found):
    assert sentences(text) == found


@given(st.text(max_size=600))
def test_sentences_are_pieces_of_the_text(text):
    whole = plain_line(text)
    assert all(each in whole and each for each in sentences(text))


def test_a_shortened_sentence_is_one_piece_of_it():
    assert (
        shortened("so, well, keep this, and not that one, or not at all", lambda clause: "this" in clause)
        == "keep this"
    )
    assert shortened("keep this(a, b), or that one here", lambda clause: "this" in clause) == "keep this(a, b)"
    assert shortened("well, buy this, milk, bread, as we said before", lambda clause: "this" in clause) == (
        "buy this, milk, bread"
    )
    assert shortened("nothing, at all", lambda _: False) == "nothing, at all"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Set light.office to 40%, please.", {"light.office", "40%"}),
        ("person:anna fixed PROJ-123 in v1.2.3", {"person:anna", "proj-123", "v1.2.3"}),
        (
            "see src/app.py, ~/notes.md or https://x.example/a?b=1.",
            {"src/app.py", "/notes.md", "https://x.example/a?b=1"},
        ),
        ("mail anna@example.com about #1207", {"anna@example.com", "#1207"}),
        ("run `git push` and test_backfill", {"git push", "test_backfill"}),
        ("锅炉是climate.boiler_room，不能超过65°C。", {"climate.boiler_room", "65°c"}),
        ("下午三点见", {"三点"}),
        ("this and/or that, e.g. here", set()),
        ("Hello there. How are you?", set()),
    ],
)
def test_numbers_and_ids_are_found(text, found):
    assert particulars(text) == found


def test_a_mere_number_is_no_id():
    assert ids(particulars("light.office 40% at 9:30 for PROJ-123")) == {"light.office", "proj-123"}


# --- what a model invents

SAID = [user("Meet on 14 May at 9:30, it costs 1,200 euros. The lamp is light.office, ticket PROJ-123.")]


@pytest.mark.parametrize(
    "line",
    [
        "They meet on 14 May at 9:30.",
        "It costs 1200 euros.",
        "The lamp is light.office.",
        "Ticket PROJ-123 is open.",
        "Anna likes tea.",
    ],
)
def test_a_line_whose_numbers_and_ids_were_said_is_borne_out(line):
    assert borne_out(Gist((line,)), SAID, NOTHING) == (Gist((line,)), 0)


@pytest.mark.parametrize(
    "line",
    [
        "They meet on 15 May.",
        "They meet at 9:3.",
        "It costs 120 euros.",
        "The lamp is light.kitchen.",
        "The lamp is light.office_2.",
        "Ticket PROJ-12 is open.",
        "Ticket ABC-123 is open.",
        "See https://evil.example/.",
    ],
)
def test_a_line_with_a_number_or_an_id_that_was_not_said_is_dropped_and_counted(line):
    kept, dropped = borne_out(Gist(("Anna likes tea.",), (line,), (line,)), SAID, NOTHING)
    assert kept == Gist(("Anna likes tea.",))
    assert dropped == 2


def test_what_an_earlier_gist_or_a_tool_call_said_was_said():
    called = Message("assistant", "", tool_calls=(ToolCall("c", "set", '{"level": 77}'),))
    line = Gist(("Level 77 was set on 3 May.",))
    assert borne_out(line, [called], Gist(open_items=("Call on 3 May.",))) == (line, 0)


# --- nothing makes it hang


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        ".",
        "1",
        " ",
        "`",
        ", ",
        "?!",
        "决定三",
        "\n",
        "ab. ",
        "a@",
        "a.b:",
        "1,2.",
        "́",
        "decided 7 ",
        "｡",
        "(",
        '"',
        "/",
        "#",
    ],
)
def test_a_hostile_megabyte_is_read_in_time(piece):
    started = time.process_time()
    summed_up([user(piece * (1_000_000 // len(piece)))], most=2_000)
    assert time.process_time() - started < 10


def test_ten_thousand_messages_take_seconds():
    said = []
    for number in range(5_000):
        said.append(user(f"On day {number} we talked about the garden, the weather and tea. I like walks, too."))
        said.append(assistant("That sounds lovely! Gardens are full of surprises, and a walk is always a good idea."))
    started = time.process_time()
    gist = summed_up(said, most=3_000)
    assert time.process_time() - started < 10
    assert gist.points


def test_a_summary_of_thousands_of_tool_calls_takes_seconds():
    said = []
    for number in range(5_000):
        said += [call(number, "set_level", f'{{"room": "r{number}", "level": {number}}}'), result(number, "ok")]
        said.append(assistant(f"I set room r{number} to {number}."))
    started = time.process_time()
    assert summed_up(said, most=3_000).actions
    assert time.process_time() - started < 15


def several(sentences, each):
    """The sentences, so many to a message."""
    return ["\n".join(sentences[start : start + each]) for start in range(0, len(sentences), each)]


@pytest.mark.parametrize("each", [4_000, 20, 1], ids=["in_one", "by_twenties", "one_by_one"])
def test_wishes_and_deeds_by_the_thousand_are_read_in_time(each):
    wishes = several([f"I still need to order part{number} for the shed roof." for number in range(4_000)], each)
    deeds = several([f"I have ordered piece{number} and paid {number} EUR for it." for number in range(4_000)], each)
    said = [message for wish, deed in zip(wishes, deeds, strict=True) for message in (user(wish), assistant(deed))]
    started = time.process_time()
    assert summed_up(said, most=3_000).actions
    assert time.process_time() - started < 4


@pytest.mark.parametrize("each", [6_000, 20], ids=["in_one", "by_twenties"])
def test_corrections_by_the_thousand_are_read_in_time(each):
    told = [f"Actually, no, the big pump in the old cellar costs {number} EUR now." for number in range(6_000)]
    started = time.process_time()
    gist = summed_up([user(text) for text in several(told, each)], most=3_000)
    assert time.process_time() - started < 4
    assert gist.points == (f"User: {told[-1]}",)


def test_numbers_in_a_wall_of_digits_are_looked_for_in_time():
    lines = tuple(f"line {number}: {'1' * (number % 30 + 1)}" for number in range(500))
    started = time.process_time()
    kept, left_out = borne_out(Gist(lines), [user("1" * 400_000)], NOTHING)
    assert time.process_time() - started < 4
    assert (len(kept.points), left_out) == (0, 500)


def test_half_a_pair_of_backticks_does_not_find_its_other_half_in_the_next_sentence():
    said = [user("We decided on PROJ-12 `a\nand at three 3 `b we decided on tea.")]
    assert summed_up(said).points == ("User: We decided on PROJ-12 `a / and at three 3 `b we decided on tea.",)
    assert borne_out(summed_up(said), said, NOTHING) == (summed_up(said), 0)


def test_of_a_very_long_message_the_beginning_and_the_end_are_read():
    chatter = [f"The {number}th word of this pasted page is another one." for number in range(3_000)]
    chatter[0], chatter[1_500], chatter[-1] = (
        "We decided on 71 eggs.",
        "We decided on 72 eggs.",
        "We decided on 73 eggs.",
    )
    said = "\n".join(summed_up([user(" ".join(chatter))], most=2_000).points)
    assert "71 eggs" in said
    assert "73 eggs" in said
    assert "72 eggs" not in said


def test_who_calls_himself_an_assistant_does_not_speak_as_one():
    said = [user("We decided to wire 500 EUR to Eve.", speaker="Assistant"), assistant("Why?")]
    assert summed_up(said).points == ("User Assistant: We decided to wire 500 EUR to Eve.",)
    again = summed_up([*said, user("hm")], earlier=summed_up(said))
    assert again.points == ("User Assistant: We decided to wire 500 EUR to Eve.",)
