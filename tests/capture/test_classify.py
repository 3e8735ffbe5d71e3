"""Kind, weight, subject and slot of what is kept."""

import pytest

from memoranda.capture.candidates import found_in
from memoranda.capture.classify import classified, has_contact, importance_of


def only(text, mode="broad", **options):
    found = found_in(text, mode=mode, **options)
    assert len(found.candidates) == 1, found
    return found.candidates[0]


@pytest.mark.parametrize(
    ("kind", "explicit", "expected"),
    [
        ("fact", True, 0.8),
        ("preference", True, 1.0),
        ("decision", True, 1.0),
        ("entity", True, 0.8),
        ("note", True, 0.8),
        ("preference", False, 0.6),
        ("decision", False, 0.7),
        ("fact", False, 0.5),
    ],
)
def test_importance_is_the_formula_with_a_floor_for_what_is_personal(kind, explicit, expected):
    assert importance_of(kind, explicit=explicit) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Remember that I prefer tea.", "preference"),
        ("Remember that we agreed to meet on Mondays.", "decision"),
        ("Remember that my e-mail is anna@example.com", "entity"),
        ("Remember that my phone number is +48 601 602 603", "entity"),
        ("Remember that sensor.temp_1 hangs outside.", "entity"),
        ("Remember that the boiler is old.", "fact"),
        ("Remember to buy milk.", "note"),
        ("Remember that Anna prefers red wine.", "preference"),
    ],
)
def test_the_kind_of_what_was_asked_for(text, kind):
    assert only(text, "explicit").kind == kind


@pytest.mark.parametrize(
    ("text", "about", "name"),
    [
        ("Remember that the reading lamp is light.office.", "light.office", "reading lamp"),
        ("light.office is my reading lamp", "light.office", "reading lamp"),
        ("Call light.office the reading lamp", "light.office", "reading lamp"),
        ("light.office to lampka do czytania", "light.office", "lampka do czytania"),
        ("Zapamiętaj, że lampka do czytania to light.office", "light.office", "Lampka do czytania"),
        ("阅读灯是light.office", "light.office", "阅读灯"),
        ("Die Leselampe ist light.office.", "light.office", "Leselampe"),
        ("La lámpara de lectura es light.office", "light.office", "lámpara de lectura"),
        ("La lampe de lecture est light.office", "light.office", "lampe de lecture"),
        ("Lampička na čtení je light.office", "light.office", "Lampička na čtení"),
        ("読書灯はlight.officeです", "light.office", "読書灯"),
        ("독서등은 light.office야", "light.office", "독서등"),
    ],
)
def test_a_thing_that_goes_by_a_name_has_a_nickname(text, about, name):
    found = only(text)
    assert (found.kind, found.about, found.attribute, found.value) == ("fact", about, "nickname", name)


@pytest.mark.parametrize("text", ["light.office is broken", "Remember that light.office is on the desk"])
def test_a_thing_that_is_described_has_no_nickname(text):
    found = only(text)
    assert (found.kind, found.about, found.attribute) == ("entity", "light.office", "")


def test_file_names_and_addresses_are_not_things():
    assert only("Remember that main.py needs node.js and example.com").about == ""


def test_a_known_nickname_names_the_thing():
    def known(sentence):
        return "light.office" if "reading lamp" in sentence else ""

    assert only("Remember that the reading lamp is too bright.", known=known).about == "light.office"
    assert only("Remember that the kettle is too loud.", known=known).about == ""


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My name is Anna Kowalska.", "name", "Anna Kowalska"),
        ("Please call me Robin.", "name", "Robin"),
        ("I live in Leeds, near the river.", "home", "Leeds"),
        ("I work as a nurse.", "work", "a nurse"),
        ("My birthday is on 3 May.", "birthday", "3 May"),
        ("My favorite color is blue.", "favourite colour", "blue"),
        ("Mój ulubiony kolor to niebieski.", "favourite colour", "niebieski"),
        ("Meine Lieblingsfarbe ist Blau.", "favourite colour", "Blau"),
        ("Ma couleur préférée est le bleu.", "favourite colour", "le bleu"),
        ("我最喜欢的颜色是蓝色。", "favourite colour", "蓝色"),
        ("Mieszkam w Łodzi.", "home", "Łodzi"),
        ("Nazywam się Jan Nowak", "name", "Jan Nowak"),
        ("我住在上海。", "home", "上海"),
    ],
)
def test_a_clear_fact_about_the_speaker_has_a_slot(text, attribute, value):
    found = only(text)
    assert (found.about, found.attribute, found.value) == ("", attribute, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I live in Berlin and work at Acme.", "Berlin"),
        ("I live in Gdynia now.", "Gdynia"),
        ("I work at Johnson and Johnson.", "Johnson and Johnson"),
        ("My name is Anna and I live in Leeds.", "Anna"),
        ("My favorite food is mac and cheese.", "mac and cheese"),
        ("Mieszkam w Gdyni od maja.", "Gdyni"),
        ("Ich wohne in Berlin und arbeite bei Acme.", "Berlin"),
        ("Vivo en Madrid y trabajo en Acme.", "Madrid"),
        ("J'habite à Paris et je travaille chez Acme.", "Paris"),
        ("Bydlím v Praze a pracuji v Acme.", "Praze"),
    ],
)
def test_a_value_ends_where_the_next_statement_or_a_word_of_time_begins(text, value):
    # Of the whole sentence: capture itself takes statements apart before it looks for a value.
    assert classified(text, section="fact", language="", known=lambda _: "").value == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mów do mnie Ania.", "Ania"),
        ("Od teraz mów do mnie Janek.", "Janek"),
        ("Nenn mich bitte Tom.", "Tom"),
        ("Llámame Pepe.", "Pepe"),
        ("Appelle-moi Jean-Luc.", "Jean-Luc"),
        ("Říkej mi Honzo.", "Honzo"),
        ("叫我小明就好", "小明"),
        ("请叫我阿强", "阿强"),
        ("私のことはタケシと呼んでください", "タケシ"),
        ("앞으로 민수라고 불러줘", "민수"),
        ("Call me Ishmael in your replies.", "Ishmael"),
        ("I'd rather you call me Al.", "Al"),
        ("Remember that you should call me Al.", "Al"),
    ],
)
def test_what_somebody_wants_to_be_called_is_their_name(text, name):
    found = only(text)
    assert (found.kind, found.attribute, found.value) == ("preference", "name", name)


@pytest.mark.parametrize(
    "text", ["Od teraz mów do mnie po polsku.", "Mów do mnie po polsku.", "Please call me by my first name."]
)
def test_how_somebody_wants_to_be_spoken_to_is_a_preference_and_no_name(text):
    found = only(text)
    assert (found.kind, found.attribute) == ("preference", "")


@pytest.mark.parametrize(
    "text",
    [
        "Mów do mnie głośniej.",
        "Nenn mich nicht so.",
        "Nenne mich einen Narren.",
        "Llámame un taxi.",
        "Llámame cuando llegues.",
        "Appelle-moi un taxi.",
        "Říkej mi pravdu.",
        "叫我起床",
        "叫我一声就好",
        "タクシーを呼んでください",
        "택시 불러줘",
        "Call me a taxi.",
        "Call me when you land.",
    ],
)
def test_a_call_is_no_name(text):
    assert not found_in(text, mode="broad").candidates


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Merk dir, dass Mama am 3. Juni Geburtstag hat.", "Mama hat am 3. Juni Geburtstag."),
        ("Denk daran, dass du immer Deutsch antworten sollst.", "Du sollst immer Deutsch antworten."),
        ("Merk dir, dass ich jeden Tag um sechs aufstehe.", "Dass ich jeden Tag um sechs aufstehe."),
        ("엄마 생일이 6월 3일이라는 거 기억해줘", "엄마 생일이 6월 3일이다"),
        ("내가 채식주의자라는 걸 기억해줘", "내가 채식주의자다"),
    ],
)
def test_a_clause_that_hung_on_the_request_is_made_to_stand_alone(text, stored):
    assert only(text, "explicit").text == stored


@pytest.mark.parametrize(
    "text",
    [
        "Actually, I prefer coffee.",
        "I no longer love running along the river.",
        "I no longer eat meat, remember that.",
        "Teraz wolę kawę.",
        "Zapamiętaj, że już nie jem mięsa.",
        "其实我喜欢喝咖啡。",
        "Merk dir, dass ich nicht mehr rauche.",
        "Recuerda que ya no como carne.",
        "Souviens-toi que je ne mange plus de viande.",
        "Zapamatuj si, že už nejím maso.",
        "実はコーヒーが好きです。",
        "사실은 커피를 좋아해요.",
    ],
)
def test_a_sentence_that_says_it_was_otherwise_corrects(text):
    assert only(text).corrects


@pytest.mark.parametrize("text", ["I prefer coffee.", "Wolę kawę.", "我喜欢喝咖啡。", "Ich hasse Koriander."])
def test_a_plain_statement_corrects_nothing(text):
    assert not only(text).corrects


@pytest.mark.parametrize(
    ("text", "lang"),
    [("I prefer coffee.", "en"), ("Wolę kawę.", "pl"), ("我喜欢喝咖啡。", "zh"), ("Remember: 我喜欢喝茶", "zh")],
)
def test_the_language_is_that_of_the_words(text, lang):
    assert only(text).lang == lang


def test_dates_are_not_telephone_numbers():
    assert has_contact("call +48 601 602 603")
    assert has_contact("write to a.b@example.org")
    assert not has_contact("since 2024-03-15 and until 15.03.2025")
    assert not has_contact("it costs 1500 and has 12 parts")
