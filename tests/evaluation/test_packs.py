"""Packs as they are read: times, speakers, groups, and what is wrong with a file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.evaluation.moments import MINUTE_MS, NO_TIME_MS, asked_at, read_moment
from memoranda.evaluation.packs import read_pack
from memoranda.evaluation.parts import split
from memoranda.evaluation.precision import without_names, wrong_group
from memoranda.evaluation.stores import scope_of
from memoranda.evaluation.suites import choose

from .conftest import CHAT, GROUPS, QUESTIONS, write_pack


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00.000Z"),
        ("12:05 am on 18 January, 2024", "2024-01-18T00:05:00.000Z"),
        ("11:01:03 AM on Saturday 17 December, 2022", "2022-12-17T11:01:03.000Z"),
        ("29.12.2023, 22:42:04", "2023-12-29T22:42:04.000Z"),
        ("2023/06/28 (Wed) 00:03", "2023-06-28T00:03:00.000Z"),
        ("2022-12-13", "2022-12-13T00:00:00.000Z"),
        ("March-15-2024", "2024-03-15T00:00:00.000Z"),
        ("2023-11-30 21:31:00.000000000Z", "2023-11-30T21:31:00.000Z"),
    ],
)
def test_each_form_of_a_date_is_read(written, meant):
    assert iso(read_moment(written, name="time")) == meant


def test_an_unknown_form_of_a_date_is_told():
    with pytest.raises(InvalidInput, match="corpus: 'once upon a time' is not a date"):
        read_moment("once upon a time", name="corpus")


def test_a_question_is_asked_at_its_own_time_or_a_minute_after_the_newest_document():
    assert asked_at(5, 10) == 5
    assert asked_at(None, 10) == 10 + MINUTE_MS
    assert asked_at(None, None) == NO_TIME_MS


def test_the_speaker_of_a_chat_is_taken_off_the_text(data):
    pack = read_pack(data / "chat")
    assert pack.documents["a1"].speaker == "Anna"
    assert pack.documents["a1"].text == "The boiler manual is in the blue folder."
    assert pack.documents["a3"].session == "session-2"
    assert iso(pack.newest("first")) == "2023-06-02T09:00:00.000Z"
    assert pack.questions[1].gold == {"a2", "a3"}
    assert pack.is_chat


def test_without_sessions_a_colon_is_part_of_the_text(tmp_path):
    corpus = [{"_id": "a", "text": "Note: bread", "source": "The Times"}]
    groups = [{"group": "all", "doc_ids": ["a"]}]
    questions = [{"_id": "q", "group": "all", "text": "bread?"}]
    pack = read_pack(write_pack(tmp_path / "p", corpus=corpus, groups=groups, questions=questions, gold=[("q", "a")]))
    assert (pack.documents["a"].speaker, pack.documents["a"].text) == ("", "Note: bread")
    assert pack.documents["a"].tags == ("The Times",)
    assert not pack.is_chat


def test_the_time_of_a_session_is_that_of_its_first_message(tmp_path):
    corpus = [
        {"_id": "a", "text": "user: one", "time": "March-15-2024", "session": 1},
        {"_id": "b", "text": "assistant: two", "time": None, "session": 1},
    ]
    groups = [{"group": "all", "doc_ids": ["a", "b"]}]
    questions = [{"_id": "q", "group": "all", "text": "one?"}]
    pack = read_pack(write_pack(tmp_path / "p", corpus=corpus, groups=groups, questions=questions, gold=[("q", "a")]))
    assert pack.documents["b"].time == pack.documents["a"].time
    assert [pack.documents[each].source for each in "ab"] == ["user", "assistant"]


def test_pooled_all_documents_are_in_one_group(data):
    pack = read_pack(data / "chat")
    pooled = pack.pooled()
    assert list(pooled.groups.values()) == [("a1", "a2", "a3", "b1", "b2")]
    assert {question.group for question in pooled.questions} == set(pooled.groups)
    assert pooled.digest != pack.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": [*CHAT, CHAT[0]]}, "corpus.jsonl, line 6: the document 'a1' is there twice"),
        ({"corpus": [*CHAT, {"_id": "x"}]}, "corpus.jsonl, line 6: a document has an _id and a text"),
        ({"groups": [*GROUPS, {"group": "g", "doc_ids": ["zz"]}]}, "groups.jsonl, line 3: there is no document 'zz'"),
        ({"questions": [{**QUESTIONS[0], "group": "?"}]}, "queries.jsonl, line 1: a question has"),
        ({"gold": [("q1", "zz")]}, "qrels.tsv, line 1"),
        ({"gold": [("q1", "b1")]}, "line 1: its gold documents are not all in its group"),
        ({"gold": [("q9", "b1")]}, "has no question with a gold document"),
    ],
)
def test_what_is_wrong_with_a_pack_is_told_with_its_line(tmp_path, changes, message):
    with pytest.raises(InvalidInput, match=message):
        read_pack(write_pack(tmp_path / "p", **changes))


def test_a_folder_that_is_no_pack_is_told(tmp_path):
    with pytest.raises(NotFound, match=r"corpus.jsonl, groups.jsonl"):
        read_pack(tmp_path)


def test_names_choose_folders_and_suites(tmp_path):
    for name in ("beam_1", "beam_2", "locomo", "mine"):
        write_pack(tmp_path / name)
    (tmp_path / "no-pack").mkdir()
    names = lambda found: [folder.name for folder in found]  # noqa: E731 short is clear here
    assert names(choose(["beam", "mine"], tmp_path).packs) == ["beam_1", "beam_2", "mine"]
    assert names(choose(["all"], tmp_path).packs) == ["beam_1", "beam_2", "locomo", "mine"]
    assert names(choose(["precision"], tmp_path).precision) == ["locomo"]
    assert choose(["precision"], tmp_path).packs == ()
    with pytest.raises(InvalidInput, match="'nothing' is neither") as refused:
        choose(["nothing"], tmp_path)
    known = re.findall(r"[\w-]+", refused.value.hint)
    assert {"locomo", "precision", "all", "mine"} <= set(known)
    assert len(known) == len(set(known)), "each name once, also of a pack that is called like a suite"
    with pytest.raises(NotFound):
        choose(["all"], tmp_path / "nowhere")


def test_a_scope_is_made_for_any_name_of_a_group():
    assert scope_of("conv-26") == "bench/conv-26"
    assert scope_of("two words") != scope_of("two_words") != scope_of("zwei Wörter")
    assert scope_of("two words").startswith("bench/group-")


def test_the_wrong_group_is_the_next_without_the_answer(data):
    pack = read_pack(data / "chat")
    assert wrong_group(pack, pack.questions[0]) == "second"
    assert wrong_group(pack, pack.questions[2]) == "first"
    assert wrong_group(pack.pooled(), pack.pooled().questions[0]) is None


def test_names_are_stripped_with_their_possessive_and_other_words_are_not():
    speakers = {"Anna", "elise", "user"}
    assert without_names("Where is Anna's manual?", speakers) == "Where is manual?"
    assert without_names("Did Elise call Annabel?", speakers) == "Did call Annabel?"
    assert without_names("What does the user want?", speakers) == "What does the user want?"


@given(st.text(min_size=1, max_size=400), st.integers(20, 100))
def test_parts_are_short_and_lose_nothing_but_space(text, size):
    parts = split(text, whole=size, part=size)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert parts == [text] if len(text) <= size else all(len(part) <= size for part in parts)


def test_a_long_text_is_cut_where_a_paragraph_ends():
    text = "a" * 60 + "\n\n" + "b" * 60
    assert split(text, whole=100, part=100) == ["a" * 60, "b" * 60]
    assert split(text, whole=200, part=100) == [text]
