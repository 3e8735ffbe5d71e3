"""The gate: small talk is not worth a recall, and no real question is ever taken for it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.gate import gate

_HEARTBEAT = (
    "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly. Do not repeat old tasks. "
    "If nothing needs attention, reply HEARTBEAT_OK."
)

SMALL_TALK = [
    # greetings and goodbyes
    "hi", "Hello!", "hey there!!", "hi～", "good morning ☀️", "Dzień dobry", "cześć", "hej :)", "早上好", "你好呀",
    "晚安",
    "Guten Morgen", "hola", "bonjour", "こんにちは", "おはようございます", "안녕하세요", "see you later",
    "do widzenia", "再见",
    # acknowledgements
    "ok", "OK.", "ok👍", "ok?", "okkk", "okay okay okay", "k", "sounds good", "got it", "jasne", "spoko", "好的👌",
    "好的", "好好好",
    "收到!!", "嗯嗯", "嗯好的", "哦哦好的", "对对对", "没问题", "了解です", "네, 알겠습니다", "alles klar",
    "d'accord", "d’accord", "vale",
    "好的ok", "ok好的", "noooo", "yes please", "never mind", "no problem",
    # thanks
    "thanks", "thank you so much", "Thanks :)", "thx", "dzięki!", "super, dzięki", "谢谢", "谢谢你啊", "danke schön!",
    "gracias 🙏",
    "sí, gracias", "merci beaucoup", "ありがとうございます！", "감사합니다", "👍 thanks 👍", "Ok, thanks!",
    "Dziekuję bardzo!",
    # pictures and marks
    "👍", "👍🏽", "👨‍👩‍👧‍👦", "🇵🇱", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "？", "…", "!!!", "¿?", ":)", "xD", "<3", "^^",
    "。。。", "ㅋㅋㅋㅋ", "哈哈哈哈哈哈", "\U0001f600" * 300,
    # commands and heartbeats
    "/help", "/new foo", "/status@bot", "/Reset", "/model gpt x", "HEARTBEAT", "HEARTBEAT_OK", "[HEARTBEAT]",
    "heartbeat poll",
    "Heartbeat check", _HEARTBEAT, "  hiii  ", "hellooooo", "h\u200bi", "ok\u200d", "\u202ehi",
]  # fmt: skip

QUESTIONS = [
    # a word that is not small talk, before or behind
    "hi, where is my key?", "ok so when do I leave?", "hej, kiedy mam dentystę?", "好的，那我的车停在哪",
    "sure, which lamp?",
    "thanks to whom?", "no idea where my key is", "dzięki czemu działa?", "hello world program", "谢谢, 钥匙在哪",
    "안녕, 열쇠 어디",
    # a question word is a question
    "who?", "why", "where", "kiedy", "gdzie", "什么", "在哪", "是谁", "was?", "qui", "なぜ",
    # names, things, numbers
    "Hi-Fi", "OK Go", "Hey Jude", "ok computer", "Good Omens", "Thanksgiving plans", "Anna", "light.office", "E1234",
    "42", "1", "€5",
    "C++", "X", "god", "col", "Yoo", "Ty", "Git", "谢霆锋", "好人", "早饭", "行李", "可乐", "喂牛", "不在家", "5 👍",
    "no. 5", "tak.txt",
    # paths and lines that only look like commands
    "/etc/hosts is where?", "/home/anna/notes.md", "/tmp", "/Users", "/new\nwhere is my key?", "/notes.md", "~/x",
    "//x",
    # heartbeats that people ask about
    "what does HEARTBEAT_OK mean?", "why do you always reply HEARTBEAT_OK?", "my heartbeat", "heartbeat",
    "show HEARTBEAT.md",
    # right to left
    "أين مفتاحي؟", "איפה המפתח", "שלום, איפה המפתח",
]  # fmt: skip


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_is_not_looked_up(text):
    assert gate(text) == "trivial prompt"


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_real_question_always_passes(text):
    assert gate(text) == ""


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\0", "\u200b\u2060", "\ud800", "\x01 \x02", "\u3000"])
def test_nothing_visible_is_no_query(text):
    assert gate(text) == "no query"


@pytest.mark.parametrize("text", ["ok", "dzięki", "好的", "merci", "got it"])
@pytest.mark.parametrize("around", ["{}!!!", "{} 👍🏽", "👨‍👩‍👧 {}", "{}…", "¡{}!", " {}\n", "{}🇵🇱🇵🇱", "“{}”", "{}~"])
def test_marks_and_pictures_around_small_talk_change_nothing(text, around):
    assert gate(around.format(text)) == "trivial prompt"


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_gets_one_of_three_answers(text):
    assert gate(text) in ("", "no query", "trivial prompt")


unknown = st.sampled_from(
    ["key", "klucz", "dentystę", "lamp", "Kraków", "钥匙", "車", "Schlüssel", "clé", "열쇠", "light.office", "B52"]
)


@given(st.lists(st.sampled_from(["ok", "hi", "thanks", "dzięki", "好的", "👍", "!!"]), max_size=8), unknown, st.data())
def test_one_unknown_word_opens_the_gate(row, word, data):
    place = data.draw(st.integers(0, len(row)))
    assert gate(" ".join([*row[:place], word, *row[place:]])) == ""


@given(st.lists(st.sampled_from(["ok", "hi", "thanks", "dzięki", "👍", "!!", "😂", "嗯嗯"]), min_size=1, max_size=9))
def test_any_row_of_small_talk_is_small_talk(row):
    assert gate(" ".join(row)) == "trivial prompt"


@pytest.mark.parametrize(
    "piece",
    ["a", "ok ", "👍", "好", "/", "\0", "\ud800", ", reply ", "HEARTBEAT ", "[", ":) ", "x D", "ـ", "\u0301", "/a"],
)
def test_a_long_text_is_judged_in_linear_time(piece):
    long = (piece * 100_000)[:100_000]
    started = time.perf_counter()
    gate(long)
    assert time.perf_counter() - started < 2
