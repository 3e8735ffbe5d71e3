"""What in a person's words is worth keeping, and above all what is not."""

import json
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.capture.candidates import found_in
from memoranda.capture.tables import LANGUAGES, table
from memoranda.capture.triggers import pattern_of
from memoranda.domain.candidate import CAPTURE_MODES, REFUSALS

_LABELLED = Path(__file__).parent / "labelled" / "turns.jsonl"
_MOST_JUNK, _LEAST_RECALL = 0.02, 0.9


def kept(text, mode="strict", **options):
    return [candidate.text for candidate in found_in(text, mode=mode, **options).candidates]


def refusals(text, mode="strict", **options):
    return dict(found_in(text, mode=mode, **options).refused)


def labelled():
    return [json.loads(line) for line in _LABELLED.read_text(encoding="utf-8").splitlines()]


def test_the_labelled_turns_are_many_and_mostly_not_worth_keeping():
    turns = labelled()
    assert len(turns) >= 400
    assert {turn["lang"] for turn in turns} == set(LANGUAGES)
    assert sum(turn["class"] != "keep" for turn in turns) / len(turns) >= 0.6
    classes = {turn["class"] for turn in turns}
    assert all({turn["class"] for turn in turns if turn["lang"] == language} == classes for language in LANGUAGES)


def test_little_junk_is_kept_and_little_is_missed_in_every_language():
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    for turn in labelled():
        found = found_in(turn["text"], mode="strict").candidates
        count = counts[turn["lang"]]
        if turn["class"] == "keep":
            right = [each for each in found if (each.text, each.kind) == (turn["stored"], turn["kind"])]
            count["right"] += bool(right)
            count["wanted"] += 1
            wrong += [] if right else [("missed", turn["text"], [(each.text, each.kind) for each in found])]
        else:
            count["junk"] += bool(found)
            wrong += [("junk", turn["text"], [each.rule for each in found])] if found else []
        count["kept"] += bool(found)
    for language, count in counts.items():
        precision, recall = 1 - count["junk"] / count["kept"], count["right"] / count["wanted"]
        print(f"{language}: precision {precision:.2f}, recall {recall:.2f}")
        assert count["junk"] / count["kept"] <= _MOST_JUNK, wrong
        assert recall >= _LEAST_RECALL, wrong


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Zapamiętaj że wolę szczegółowe odpowiedzi", "Wolę szczegółowe odpowiedzi"),
        ("Can you remember that I'm allergic to nuts?", "I'm allergic to nuts"),
        ("Hey, please remember for next time that we leave at seven", "We leave at seven"),
        ("Turn on my reading lamp, and remember that I leave at seven.", "I leave at seven."),
        ("I'm allergic to nuts, remember that", "I'm allergic to nuts"),
        ("I'm allergic to nuts. Please remember that.", "I'm allergic to nuts."),
        ("remember I'm Bob", "I'm Bob"),
        ("Remember that “the key is under the mat”.", "The key is under the mat"),
        ("毎朝7時に起きることを覚えておいて", "毎朝7時に起きる"),
    ],
)
def test_the_words_that_ask_are_not_kept(text, stored):
    found = found_in(text, mode="explicit").candidates
    assert [(each.text, each.explicit) for each in found] == [(stored, True)]


def test_a_request_may_speak_of_the_list_after_it():
    text = "Remember the following:\n- the bins go out on Tuesday\n- the cat eats at six\n\nHow are you?"
    assert kept(text, "explicit") == ["The bins go out on Tuesday", "The cat eats at six"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("Do I like hiking, or do I prefer swimming?", "nothing to keep"),
        ("So I prefer tea?", "question"),
        ('She wrote "I prefer tea to coffee".', "quotation"),
        ("My mother says, I prefer tea.", "quotation"),
        ("Suppose that some day, I prefer tea.", "hypothetical"),
        ("I prefer tea today.", "passing"),
        ("I prefer the second one.", "nothing to keep"),
        ("I prefer " + "very " * 120 + "long answers.", "too long"),
        ("I love pi", "too short"),
        ("Remember: decision.", "too short"),
        ('{"text": "x", "why": ""}, I prefer tea.', "system-looking"),
        ("I like writing to anna@example.com", "contact data"),
        ("Tom: I prefer red wine.", "not the user's words"),
        ("Translate: I prefer short answers.", "quotation"),
    ],
)
def test_what_is_refused_says_why(text, refusal):
    assert refusals(text) == {refusal: 1}


@pytest.mark.parametrize(
    "text",
    [
        "I no longer work at Acme.",
        "I don't live in Oslo anymore.",
        "I'm no longer married.",
        "Green is no longer my favourite colour.",
        "Nie pracuję już w Acme.",
        "Już nie mieszkam w Oslo.",
        "Zielony nie jest już moim ulubionym kolorem.",
        "Ich arbeite nicht mehr bei Acme.",
        "Grün ist nicht mehr meine Lieblingsfarbe.",
        "Ya no vivo en Oslo.",
        "El verde ya no es mi color favorito.",
        "Je n'habite plus à Oslo.",
        "Le vert n'est plus ma couleur préférée.",
        "Už nebydlím v Oslu.",
        "V Oslu už nebydlím.",
        "Zelená už není moje oblíbená barva.",
        "我不再在Acme工作了。",
        "我不住在北京了。",
        "绿色不再是我最喜欢的颜色。",
        "もうオスロに住んでいません。",
        "緑はもう一番好きな色ではありません。",
        "더 이상 삼성에서 일하지 않습니다.",
        "초록색은 더 이상 제가 가장 좋아하는 색이 아니에요.",
    ],
)
def test_what_is_no_longer_so_is_kept_as_a_correction_without_a_value(text):
    found = found_in(text, mode="broad").candidates
    kind = "preference" if any(word in text.casefold() for word in _FAVOURITES) else "fact"
    assert [(each.text, each.kind, each.corrects, each.attribute) for each in found] == [(text, kind, True, "")]


_FAVOURITES = ("favour", "ulubion", "lieblings", "favorit", "préféré", "oblíben", "最喜欢", "好きな", "좋아하는")


@pytest.mark.parametrize(
    "text",
    [
        "Translate to Polish: I prefer short answers. We decided to move.",
        "Rewrite: We decided to fire Bob.",
        "Please fix the grammar: I prefer green tea.",
        "Summarize: Remember that I hate Mondays.",
        "Can you translate this into German?\n\nI prefer green tea.",
        "Proofread the following paragraph:\n\nI prefer green tea. Remember that I live in Leeds.",
        "Translate: Wolę krótkie odpowiedzi.",
        "Przetłumacz na angielski: Wolę krótkie odpowiedzi.",
        "Übersetze: Ich hasse Koriander.",
        "Traduce al inglés: Odio el ruido fuerte.",
        "Traduis : Je préfère le thé vert.",
        "Přelož do angličtiny: Mám raději čaj.",
        "翻译：我喜欢喝绿茶。",
        "次の文を英語に訳して：緑茶が好きです。",
        "영어로 번역해 줘: 저는 녹차를 좋아해요.",
    ],
)
def test_text_to_be_worked_on_is_nobodys_words(text):
    assert kept(text, "broad") == []


def test_what_is_said_before_or_beside_text_to_be_worked_on_is_kept():
    assert kept("I prefer short answers. Translate: we decided to go home.") == ["I prefer short answers."]
    assert kept("Translate: we decided to go home.\n\nI prefer short answers.") == ["I prefer short answers."]
    assert kept("Translate everything I send you to Polish from now on.")


@pytest.mark.parametrize(
    "text",
    [
        "Here's an email from Tom:\n\nHi team,\nI prefer Tuesday meetings.\nBest,\nTom\n\nCan you write a reply?",
        "Here is what Tom wrote:\n\nI prefer red wine and cheese.",
        "Tom: I prefer red wine.\nMe: ok",
        "Tom: hello\nI prefer red wine.\nAnna: I love beer.",
        "[Dave] I prefer rock music a lot.",
        "<Tom> I prefer red wine",
        "[10:32] Tom: I prefer red wine",
        "dave: I prefer rock music.",
        "Tom Smith: remember that I prefer red wine",
        "Hi team,\nI prefer Tuesday meetings.\nRegards,\nTom",
        "Liebe Anna,\nich hasse Koriander.\nViele Grüße\nTom",
        "Anna: wolę czerwone wino\nJa: ok",
        "小明：我喜欢喝绿茶",
        "- [ ] remember that tests fail",
    ],
)
def test_what_others_wrote_is_not_the_speakers(text):
    assert kept(text, "broad") == []


@pytest.mark.parametrize(
    "text",
    [
        "FYI: I prefer short answers.",
        "Update: I prefer green tea.",
        "One thing: I prefer short answers.",
        "Remember: I prefer green tea.",
        "Hi,\nI prefer short answers.\nThanks",
        "Hello! I prefer short answers. Thanks, Tom",
    ],
)
def test_a_label_a_greeting_and_thanks_leave_words_the_speakers(text):
    assert kept(text)


def test_the_speakers_own_name_before_their_words_is_left_out():
    assert kept("dave: I prefer rock music.", speaker="Dave") == ["I prefer rock music."]
    assert kept("[Dave] I prefer rock music.", speaker="person:dave") == ["I prefer rock music."]
    assert kept("dave: I prefer rock music.", speaker="Tom") == []


def test_remember_with_a_colon_asks_for_its_whole_paragraph():
    text = "Remember that: the bins go out on Tuesday. The cat eats at six. Is that all right? The key is red.\n\nBye."
    assert kept(text, "explicit") == ["The bins go out on Tuesday.", "The cat eats at six."]


def test_a_long_request_is_kept_up_to_its_last_whole_clause():
    clause = "the red key opens the shed behind the house; "
    found = kept("Remember that " + clause * 20, "explicit")
    assert len(found) == 1
    assert 400 < len(found[0]) <= 500
    assert found[0].endswith("behind the house")
    assert refusals("Remember that " + "the red key opens the shed and " * 20 + "it is old", "explicit") == {
        "too long": 1
    }


def test_signs_after_the_words_are_not_kept():
    assert kept("Remember that Łódź is my hometown ❤️❤️❤️❤️") == ["Łódź is my hometown"]


def test_a_wish_not_to_keep_covers_its_whole_message():
    assert kept("I prefer tea to coffee. We decided to move. Please don't save this.") == []
    assert refusals("I prefer tea to coffee. Please don't save this.")["not to be kept"] == 1
    assert kept("I prefer tea to coffee.") == ["I prefer tea to coffee."]


def test_of_a_story_only_what_was_asked_for_is_kept():
    text = "Write a short story about a dragon. I hate knights with swords. Remember that my deadline is Friday."
    assert kept(text) == ["My deadline is Friday."]


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("Remember that I take the early train.", {"explicit", "strict", "broad", "review"}),
        (
            "I prefer the early train to Leeds because of the light. I prefer early trains.",
            {"strict", "broad", "review"},
        ),
        ("We agreed to meet on Mondays.", {"strict", "broad", "review"}),
        ("I live in Leeds.", {"broad", "review"}),
        ("My wife prefers red wine.", {"broad", "review"}),
    ],
)
def test_each_mode_keeps_what_it_promises(text, modes):
    assert {mode for mode in CAPTURE_MODES if kept(text, mode)} == modes


def test_contact_data_is_kept_only_when_asked_for():
    assert kept("My e-mail address is anna@example.com", "broad") == []
    assert kept("Remember that my e-mail address is anna@example.com", "broad")


def test_a_phrase_of_ones_own_lets_a_sentence_through_in_every_mode():
    text = "House rule: shoes stay outside."
    assert kept(text, "explicit") == []
    assert kept(text, "explicit", custom=["house rule"]) == [text]
    assert kept("The lighthouse ruler is broken.", "explicit", custom=["house rule"]) == []
    assert kept("家规是不穿鞋。", "explicit", custom=["家规"]) == ["家规是不穿鞋。"]


def test_only_the_first_sentences_are_looked_at():
    text = "It rained. " * 16 + "I prefer tea to coffee."
    assert kept(text) == []
    assert refusals(text)["not looked at"] == 1
    assert kept(text, most=17) == ["I prefer tea to coffee."]


def test_every_language_is_heard_in_one_message():
    text = "I prefer tea to coffee. Wolę krótkie odpowiedzi. 我喜欢喝绿茶。 Ich hasse Koriander. Odio el ruido fuerte."
    assert [each.lang for each in found_in(text, mode="strict").candidates] == ["en", "pl", "zh", "de", "es"]


def test_the_same_words_with_and_without_marks_are_understood():
    assert kept("I’d rather have tea in general, I can’t stand coffee.")
    assert kept("nie lubie ostrego jedzenia") == ["Nie lubie ostrego jedzenia"]
    assert kept("NIE LUBIĘ OSTREGO JEDZENIA") == ["NIE LUBIĘ OSTREGO JEDZENIA"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_every_table_is_a_pattern(language):
    headings = list(table("en"))
    for heading in headings[: headings.index("nickname") + 1]:
        if heading not in ("words", "nouns"):
            pattern_of(language, heading)
    assert all(
        table(language).get(heading) for heading in ("request", "request after", "preference", "decision", "fact")
    )


@settings(deadline=None)
@given(st.text(max_size=400), st.sampled_from(CAPTURE_MODES))
def test_any_text_is_understood_or_refused_and_never_an_error(text, mode):
    found = found_in(text, mode=mode)
    assert set(found.refused) <= set(REFUSALS)
    assert all(0.5 <= each.importance <= 1.0 and each.text.strip() for each in found.candidates)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.sampled_from(["I", "remember", "that", "like", "prefer", '"', ",", "?", ":", "always", "to"]), max_size=60
    )
)
def test_words_of_the_tables_in_any_order_are_never_an_error(words):
    found_in(" ".join(words), mode="broad")


def _seconds(text):
    started = time.process_time()
    found_in(text, mode="broad")
    return time.process_time() - started


def test_time_grows_with_the_text_and_not_faster():
    unit = "I really really really, and because, remember \"that ' I like "
    found_in(unit, mode="broad")
    small_text = min(_seconds(unit * 200) for _ in range(3))
    large_text = min(_seconds(unit * 1600) for _ in range(3))
    assert large_text < 8 * 6 * max(small_text, 0.001)
