"""What a query says about time: the spans, the conversations, and what is left of it."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.domain.clock import MAX_MS
from memoranda.recall.times import Span, When, when
from memoranda.recall.times.words import LANGUAGES, lexicon


def ms(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


# A Wednesday afternoon.
NOW = ms("2023-10-18T15:00")


def expected(text):
    """ "2023-05-07" is that day, "2023-05-01 2023-06-01" a span, ".." an open end, "#1:3" conversations, "|" parts."""
    spans, sessions = [], []
    for part in text.split("|"):
        if part.startswith("#"):
            first, _, last = part[1:].partition(":")
            sessions.append((int(first), int(last or first)))
            continue
        start, _, until = part.partition(" ")
        begin = 0 if start == ".." else ms(start)
        end = MAX_MS + 1 if until == ".." else ms(until) if until else begin + 86_400_000
        spans.append(Span(begin, end))
    return tuple(sorted(spans)), tuple(sessions)


ENGLISH = {
    "7 May 2023": "2023-05-07",
    "7th of May 2023": "2023-05-07",
    "the 7th of May, 2023": "2023-05-07",
    "May 7th, 2023": "2023-05-07",
    "May 7 2023": "2023-05-07",
    "on Sunday, May 7, 2023": "2023-05-07",
    "29 Dec 2022": "2022-12-29",
    "2023-05-07": "2023-05-07",
    "2023/05/07": "2023-05-07",
    "2023-05-07T12:00:00Z": "2023-05-07",
    "07.05.2023": "2023-05-07",
    "07.05.23": "2023-05-07",
    "on 25/12/2022": "2022-12-25",
    "on 5/7/2023": "2023-05-07|2023-07-05",
    "on 5/7": "2023-05-07",
    "in 2023-05": "2023-05-01 2023-06-01",
    "on May 7th": "2023-05-07",
    "on the seventh of May": "2023-05-07",
    "on may 7": "2023-05-07",
    "on December 24th": "2022-12-24",
    "in May 2022": "2022-05-01 2022-06-01",
    "in May": "2023-05-01 2023-06-01",
    "in november": "2022-11-01 2022-12-01",
    "last May": "2023-05-01 2023-06-01",
    "last December": "2022-12-01 2023-01-01",
    "this June": "2023-06-01 2023-07-01",
    "in May last year": "2022-05-01 2022-06-01",
    "early May": "2023-05-01 2023-05-11",
    "mid-June 2023": "2023-06-11 2023-06-21",
    "at the end of May": "2023-05-21 2023-06-01",
    "the first week of May 2023": "2023-05-01 2023-05-08",
    "the last weekend of May 2023": "2023-05-27 2023-05-29",
    "the week of May 9": "2023-05-08 2023-05-15",
    "in 2022": "2022-01-01 2023-01-01",
    "in the year 2022": "2022-01-01 2023-01-01",
    "between 2019 and 2021": "2019-01-01 2022-01-01",
    "in Q3 2022": "2022-07-01 2022-10-01",
    "the third quarter of 2022": "2022-07-01 2022-10-01",
    "last quarter": "2023-07-01 2023-10-01",
    "in the summer of 2022": "2022-06-01 2022-09-01",
    "last summer": "2023-06-01 2023-09-01",
    "last fall": "2022-09-01 2022-12-01",
    "during the winter": "2022-12-01 2023-03-01",
    "today": "2023-10-18",
    "earlier today": "2023-10-18",
    "yesterday": "2023-10-17",
    "the day before yesterday": "2023-10-16",
    "tomorrow": "2023-10-19",
    "this morning": "2023-10-18T04:00 2023-10-18T12:00",
    "earlier this morning": "2023-10-18T04:00 2023-10-18T12:00",
    "yesterday evening": "2023-10-17T17:00 2023-10-18",
    "last night": "2023-10-17T18:00 2023-10-18T06:00",
    "on the evening of 7 July, 2023": "2023-07-07T17:00 2023-07-08",
    "on Monday": "2023-10-16",
    "on Monday evening": "2023-10-16T17:00 2023-10-17",
    "last Friday": "2023-10-13",
    "last Wednesday": "2023-10-11",
    "this Friday": "2023-10-20",
    "next Monday": "2023-10-23",
    "on Friday last week": "2023-10-13",
    "this week": "2023-10-16 2023-10-23",
    "last week": "2023-10-09 2023-10-16",
    "next week": "2023-10-23 2023-10-30",
    "last month": "2023-09-01 2023-10-01",
    "this year": "2023-01-01 2024-01-01",
    "last year": "2022-01-01 2023-01-01",
    "last weekend": "2023-10-14 2023-10-16",
    "this past weekend": "2023-10-14 2023-10-16",
    "over the weekend": "2023-10-14 2023-10-16",
    "3 days ago": "2023-10-15",
    "twenty-one days ago": "2023-09-27",
    "167 days ago": "2023-05-04",
    "a week ago": "2023-10-08 2023-10-15",
    "two weeks ago": "2023-10-01 2023-10-08",
    "5 months ago": "2023-05-01 2023-06-01",
    "two years ago": "2021-01-01 2022-01-01",
    "a couple of days ago": "2023-10-15 2023-10-17",
    "a few days ago": "2023-10-12 2023-10-17",
    "an hour ago": "2023-10-18T13:30 2023-10-18T14:30",
    "over the last 3 days": "2023-10-15 2023-10-19",
    "in the past two weeks": "2023-10-04 2023-10-19",
    "over this last week": "2023-10-11 2023-10-19",
    "in the last month": "2023-09-18 2023-10-19",
    "between April 7th and April 18th": "2023-04-07 2023-04-19",
    "between May 3 and 7": "2023-05-03 2023-05-08",
    "between December 17th and January 1st": "2022-12-17 2023-01-02",
    "from 3 May to 5 June 2022": "2022-05-03 2022-06-06",
    "from November 2021 to February": "2021-11-01 2022-03-01",
    "May 3-7, 2023": "2023-05-03 2023-05-08",
    "since May": "2023-05-01 ..",
    "since last week": "2023-10-09 ..",
    "before June 2023": ".. 2023-06-01",
    "after 3 May": "2023-05-04 ..",
    "until yesterday": ".. 2023-10-18",
    "two weeks before August 11, 2023": "2023-07-25 2023-08-01",
    "the week before August 3, 2023": "2023-07-27 2023-08-03",
    "two days after May 7, 2023": "2023-05-09",
    "the Friday before 10.01.2023": "2023-01-06",
    "in 2022, in May": "2022-05-01 2022-06-01",
    "after 3 May and before 7 May": "2023-05-04 2023-05-07",
    "in May 2021 and in May 2022": "2021-05-01 2021-06-01|2022-05-01 2022-06-01",
    "in our twentieth session": "#20",
    "in the 30th session": "#30",
    "in our twenty-first session": "#21",
    "session 12": "#12",
    "session #12": "#12",
    "over sessions 1 through 3": "#1:3",
    "sessions 4-6": "#4:6",
    "sessions 2 and 5": "#2|#5",
    "9 sessions ago": "#-9",
    "two conversations ago": "#-2",
    "the last session": "#-1",
    "last discussion": "#-1",
    "in our previous conversation": "#-1",
    "our first conversation": "#1",
    "the first three sessions": "#1:3",
    "our last 3 conversations": "#-3:-1",
    "the session before last": "#-2",
    "the last time we talked": "#-1",
}  # fmt: skip

POLISH = {
    "7 maja 2023": "2023-05-07",
    "7 maja 2023 roku": "2023-05-07",
    "w dniu 07.05.2023": "2023-05-07",
    "z maja 2022": "2022-05-01 2022-06-01",
    "w niedzielę 7 maja": "2023-05-07",
    "w maju 2022": "2022-05-01 2022-06-01",
    "w maju": "2023-05-01 2023-06-01",
    "w styczniu zeszłego roku": "2022-01-01 2022-02-01",
    "w 2022 roku": "2022-01-01 2023-01-01",
    "na początku maja": "2023-05-01 2023-05-11",
    "pod koniec maja": "2023-05-21 2023-06-01",
    "latem 2022": "2022-06-01 2022-09-01",
    "zeszłego lata": "2023-06-01 2023-09-01",
    "w trzecim kwartale 2022": "2022-07-01 2022-10-01",
    "dzisiaj": "2023-10-18",
    "dziś rano": "2023-10-18T04:00 2023-10-18T12:00",
    "wczoraj": "2023-10-17",
    "wczoraj wieczorem": "2023-10-17T18:00 2023-10-18T06:00",
    "przedwczoraj": "2023-10-16",
    "w poniedziałek": "2023-10-16",
    "w zeszły piątek": "2023-10-13",
    "w zeszlym tygodniu": "2023-10-09 2023-10-16",
    "w zeszłym miesiącu": "2023-09-01 2023-10-01",
    "w tym roku": "2023-01-01 2024-01-01",
    "w ostatni weekend": "2023-10-14 2023-10-16",
    "w ostatnim tygodniu": "2023-10-11 2023-10-19",
    "przez ostatnie 3 dni": "2023-10-15 2023-10-19",
    "3 dni temu": "2023-10-15",
    "dwa tygodnie temu": "2023-10-01 2023-10-08",
    "tydzień temu": "2023-10-08 2023-10-15",
    "rok temu": "2022-01-01 2023-01-01",
    "2 lata temu": "2021-01-01 2022-01-01",
    "pięć miesięcy temu": "2023-05-01 2023-06-01",
    "przed trzema dniami": "2023-10-15",
    "kilka dni temu": "2023-10-12 2023-10-17",
    "od 3 do 7 maja": "2023-05-03 2023-05-08",
    "między 3 a 7 maja 2022": "2022-05-03 2022-05-08",
    "od maja": "2023-05-01 ..",
    "przed majem 2023": ".. 2023-05-01",
    "po 3 maja": "2023-05-04 ..",
    "poprzednia rozmowa": "#-1",
    "w ostatniej rozmowie": "#-1",
    "w trzeciej rozmowie": "#3",
    "3 rozmowy temu": "#-3",
    "w pierwszej sesji": "#1",
}  # fmt: skip

CHINESE = {
    "2023年5月7日": "2023-05-07",
    "二〇二三年五月七日": "2023-05-07",
    "5月7号": "2023-05-07",
    "2022年5月": "2022-05-01 2022-06-01",
    "5月": "2023-05-01 2023-06-01",
    "十二月": "2022-12-01 2023-01-01",
    "2022年": "2022-01-01 2023-01-01",
    "去年": "2022-01-01 2023-01-01",
    "去年5月": "2022-05-01 2022-06-01",
    "去年夏天": "2022-06-01 2022-09-01",
    "2022年第三季度": "2022-07-01 2022-10-01",
    "今天": "2023-10-18",
    "今天早上": "2023-10-18T04:00 2023-10-18T12:00",
    "昨天": "2023-10-17",
    "昨晚": "2023-10-17T18:00 2023-10-18T06:00",
    "前天": "2023-10-16",
    "上周": "2023-10-09 2023-10-16",
    "上上周": "2023-10-02 2023-10-09",
    "这周": "2023-10-16 2023-10-23",
    "上周五": "2023-10-13",
    "星期一": "2023-10-16",
    "上周末": "2023-10-14 2023-10-16",
    "上个月": "2023-09-01 2023-10-01",
    "三天前": "2023-10-15",
    "两周前": "2023-10-01 2023-10-08",
    "三个月前": "2023-07-01 2023-08-01",
    "半年前": "2023-04-01 2023-05-01",
    "最近一周": "2023-10-11 2023-10-19",
    "过去三天": "2023-10-15 2023-10-19",
    "从5月到7月": "2023-05-01 2023-08-01",
    "5月以来": "2023-05-01 ..",
    "5月之前": ".. 2023-05-01",
    "5月初": "2023-05-01 2023-05-11",
    "第三次对话": "#3",
    "前三次对话": "#1:3",
    "最近三次对话": "#-3:-1",
    "上次聊天": "#-1",
}  # fmt: skip

OTHERS = {
    "am 7. Mai 2023": "2023-05-07",
    "im Mai 2022": "2022-05-01 2022-06-01",
    "gestern Abend": "2023-10-17T18:00 2023-10-18T06:00",
    "letzte Woche": "2023-10-09 2023-10-16",
    "vor drei Tagen": "2023-10-15",
    "vor einem Jahr": "2022-01-01 2023-01-01",
    "in den letzten 3 Tagen": "2023-10-15 2023-10-19",
    "seit Mai 2023": "2023-05-01 ..",
    "im letzten Gespräch": "#-1",
    "el 7 de mayo de 2023": "2023-05-07",
    "ayer": "2023-10-17",
    "hace 3 días": "2023-10-15",
    "la semana pasada": "2023-10-09 2023-10-16",
    "el lunes pasado": "2023-10-16",
    "en los últimos 3 días": "2023-10-15 2023-10-19",
    "la última conversación": "#-1",
    "le 7 mai 2023": "2023-05-07",
    "hier soir": "2023-10-17T18:00 2023-10-18T06:00",
    "avant-hier": "2023-10-16",
    "il y a 3 jours": "2023-10-15",
    "la semaine dernière": "2023-10-09 2023-10-16",
    "les 3 derniers jours": "2023-10-15 2023-10-19",
    "depuis mai 2023": "2023-05-01 ..",
    "notre dernière conversation": "#-1",
}  # fmt: skip

SAID = ENGLISH | POLISH | CHINESE | OTHERS

WITHOUT_TIME = [
    "When did we go to Paris?", "When did X happen?", "How long ago was it?", "How many days ago did I buy a smoker?",
    "May I ask you something?", "may I come in", "It may rain, may it not?", "march to the store",
    "We march on Washington",
    "I scored 7. May I go?", "a gift for May", "Who is April?", "Does June like cats?", "the May family",
    "Jan Kowalski",
    "second hand shop", "What is the second option?", "the 3rd option", "my first job", "This costs $2023", "room 2023",
    "call 555-2023", "Python 3.11.2 or 1.2.13", "192.168.1.10", "1/2 cup of sugar", "24/7 support", "12:30",
    "50% off", "top 10",
    "the last time I saw her", "last name", "the last one", "previous owner", "the next day", "next to the door",
    "one day",
    "at the end of the day", "it takes 3 days", "30-day trial", "a week-long trip", "5 months old", "in 3 words",
    "Black Friday deals", "Sunday roast recipe", "every Monday", "each Sunday we hike", "I sat in the sun",
    "how do I fall asleep",
    "spring rolls recipe", "during spring break", "my summer clothes", "before the accident", "after dinner",
    "at night",
    "since starting boot camp", "between you and me", "from home to work", "from A to Z", "year over year growth",
    "How many sessions did I attend?", "our previous conversation about data privacy", "first session management",
    "our conversations", "Where is my key?", "light.office",
    "Gdzie są klucze?", "Maja lubi koty", "mam 5 lat", "ile lat ma Anna", "pierwszy raz", "po pracy", "przed domem",
    "co piątek",
    "我喜欢什么", "一起吃饭", "十分好", "五个人", "上面有什么", "第一名", "每周五", "每天",
    "Wo ist hier der Schlüssel?", "das letzte Mal", "la última vez", "la dernière fois",
]  # fmt: skip


def test_the_tables_are_as_large_as_promised():
    assert len(SAID) >= 120
    assert len(WITHOUT_TIME) >= 40


@pytest.mark.parametrize("text", SAID)
def test_an_expression_of_time_is_understood(text):
    found = when(text, now=NOW)
    assert found is not None
    assert (found.spans, found.sessions) == expected(SAID[text])
    assert found.only


@pytest.mark.parametrize("text", ENGLISH)
def test_an_expression_is_understood_inside_a_question(text):
    found = when(f"What did Anna say about boats {text}?", now=NOW)
    assert found is not None
    assert (found.spans, found.sessions) == expected(ENGLISH[text])
    assert "Anna" in found.rest
    assert "boats" in found.rest
    assert not found.only


@pytest.mark.parametrize("text", WITHOUT_TIME)
def test_a_text_without_a_time_says_none(text):
    assert when(text, now=NOW) is None


# -- the rest --


@pytest.mark.parametrize(
    ("text", "rest", "only"),
    [
        ("What did we chat about between May 8th and June 9th?", "What did we chat about?", True),
        ("What did we discuss in our first session?", "What did we discuss?", True),
        ("Remind me what happened last week.", "Remind me what happened.", True),
        ("o czym rozmawialiśmy w poniedziałek?", "o czym rozmawialiśmy?", True),
        ("上周五我们聊了什么", "我们聊了什么", True),
        ("Worüber haben wir gestern gesprochen?", "Worüber haben wir gesprochen?", True),
        ("¿De qué hablamos la semana pasada?", "¿De qué hablamos?", True),
        ("De quoi avons-nous parlé hier ?", "De quoi avons-nous parlé?", True),
        ("What did Caroline paint in July 2023?", "What did Caroline paint?", False),
        ("gdzie wczoraj zostawiłem klucze?", "gdzie zostawiłem klucze?", False),
        ("昨天我把钥匙放在哪里", "我把钥匙放在哪里", False),
        ("last year's trip", "trip", False),
        ("yesterday", "", True),
    ],
)
def test_the_rest_is_the_query_without_its_times(text, rest, only):
    found = when(text, now=NOW)
    assert found is not None
    assert (found.rest, found.only) == (rest, only)


# -- the year that is not said --


def spans_of(text, **circumstances):
    found = when(text, now=NOW, **circumstances)
    assert found is not None
    return found.spans


def test_a_date_without_a_year_is_looked_for_in_every_year_that_is_kept():
    years = {"first": ms("2021-03-01"), "last": ms("2023-10-01")}
    assert spans_of("on July 3rd", **years) == expected("2021-07-03|2022-07-03|2023-07-03")[0]
    assert spans_of("in February", **years) == expected("2022-02-01 2022-03-01|2023-02-01 2023-03-01")[0]
    assert spans_of("on 29 February", first=ms("2019-01-01"), last=ms("2023-01-01")) == expected("2020-02-29")[0]


def test_a_span_over_new_year_belongs_to_the_year_in_which_it_begins():
    years = {"first": ms("2022-12-20"), "last": ms("2023-08-16")}
    assert spans_of("between December 17th and January 1st", **years) == expected("2022-12-17 2023-01-02")[0]


def test_where_nothing_is_kept_of_that_time_the_latest_is_meant():
    years = {"first": ms("2023-05-01"), "last": ms("2023-06-01")}
    assert spans_of("in August", **years) == expected("2023-08-01 2023-09-01")[0]
    assert spans_of("in December", **years) == expected("2022-12-01 2023-01-01")[0]


def test_a_year_that_is_said_is_the_only_one():
    years = {"first": ms("2010-01-01"), "last": ms("2023-10-01")}
    assert spans_of("on July 3rd, 2015", **years) == expected("2015-07-03")[0]


def test_very_old_moments_do_not_make_endless_spans():
    assert len(spans_of("on July 3rd", first=0, last=MAX_MS)) <= 64


@pytest.mark.parametrize(
    "text", ["on 31 February", "on 2023-02-30", "on 45.13.2023", "in session 0", "99999 years ago"]
)
def test_a_day_that_does_not_exist_is_no_time(text):
    found = when(text, now=NOW)
    assert found is None or all(span.start < span.until for span in found.spans)


def test_at_the_ends_of_the_calendar_nothing_breaks():
    for text in ("from November to February", "next year", "tomorrow", "since May", "last December", "this winter"):
        for now in (0, MAX_MS):
            found = when(text, now=now)
            assert found is None or all(0 <= span.start < span.until <= MAX_MS + 1 for span in found.spans)


# -- laws --

known = [phrase for language in (*LANGUAGES, "zh") for phrase in lexicon(language)]
words = st.sampled_from([*known, "2023", "7", "31", "0", "9999", "7th", "Q3", "5/7", "2023-05-07", "-", ",", ".", "'s"])
moments = st.integers(0, MAX_MS)


@settings(max_examples=100)
@given(
    query=st.text(st.characters(exclude_categories=[]), max_size=80) | st.lists(words, max_size=14).map(" ".join),
    now=moments,
    bounds=st.none() | st.tuples(moments, moments),
)
def test_any_text_at_any_moment_gives_whole_spans_or_none(query, now, bounds):
    first, last = bounds or (None, None)
    found = when(query, now=now, first=first, last=last)
    if found is None:
        return
    assert found.spans or found.sessions
    assert all(0 <= span.start < span.until <= MAX_MS + 1 for span in found.spans)
    assert all(one and two and (one > 0) == (two > 0) and one <= two for one, two in found.sessions)
    assert list(found.spans) == sorted(set(found.spans))


@given(st.dates(datetime(1971, 1, 1).date(), datetime(2099, 12, 31).date()))
def test_every_day_is_understood_in_every_writing(day):
    span = (Span(ms(day.isoformat()), ms(day.isoformat()) + 86_400_000),)
    month = f"{day:%B}"
    for text in (
        day.isoformat(),
        f"{day:%d.%m.%Y}",
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"on {day:%A}, {month} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ):
        assert when(text, now=NOW) == When(span, (), "", True), text


@given(st.integers(1, 3000))
def test_so_many_days_ago_is_one_day_of_the_calendar(count):
    today = ms("2023-10-18")
    start = today - count * 86_400_000
    assert spans_of(f"What did we discuss {count} days ago?") == (Span(start, start + 86_400_000),)


@pytest.mark.parametrize(
    "piece",
    [
        "the ",
        "last ",
        "1 ",
        "May 3 to ",
        "between ",
        "2023-05-07 ",
        "1.1",
        "上",
        "一",
        "'-",
        "a-",
        "week before ",
        "from ",
        "0",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece):
    for length in (4_000, 100_000):
        started = time.perf_counter()
        when((piece * length)[:length], now=NOW)
        assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    "query",
    ["how are you today?", "what is it today?", "how are you doing this week?", "jak się masz dzisiaj?", "你今天好吗"],
)
def test_small_talk_with_a_time_in_it_does_not_ask_for_that_time(query):
    found = when(query, now=NOW)
    assert found is not None
    assert not found.only
