"""A household and thirty days of what it says to its assistant. Written by hand, with what has to be left at the end.

A fact is told on a day and often told again: in the same words, in other words, or corrected. Everything else that
is said is of no use later. `kept` is the text that must be in the store, letter for letter.
"""

from typing import NamedTuple

DAYS = 30
TURNS = 40


class Fact(NamedTuple):
    """Something worth keeping. What it `replaces` is then history."""

    key: str
    day: int
    said: str
    kept: str
    again: tuple[tuple[int, str], ...] = ()
    replaces: str = ""
    speaker: str = "anna"


def _again(*days: int, said: str) -> tuple[tuple[int, str], ...]:
    return tuple((day, said) for day in days)


ENGLISH = (
    Fact(
        "answers",
        1,
        "Remember that I prefer short answers.",
        "I prefer short answers.",
        (
            *_again(2, 9, 17, said="Remember that I prefer short answers."),
            *_again(3, 21, said="I really prefer short answers, please."),
            (12, "By the way, I prefer brief answers."),
        ),
    ),
    Fact(
        "seats",
        1,
        "I prefer window seats on long flights.",
        "I prefer window seats on long flights.",
        (
            (2, "Please remember that I prefer window seats on long flights."),
            (18, "I prefer window seats on long flights"),
        ),
    ),
    Fact(
        "units",
        1,
        "Please always use metric units.",
        "Please always use metric units.",
        ((3, "Always use metric units."), (20, "always use metric units please")),
    ),
    Fact(
        "nuts",
        1,
        "Can you remember that I'm allergic to walnuts?",
        "I'm allergic to walnuts",
        ((2, "I'm allergic to walnuts."), (14, "I am allergic to walnuts, don't forget that.")),
    ),
    Fact("lamp", 2, "Remember that the reading lamp is light.office.", "The reading lamp is light.office."),
    Fact("database", 2, "We decided to use PostgreSQL for the shop.", "We decided to use PostgreSQL for the shop."),
    Fact("tabs", 3, "Let's use tabs in the kitchen project.", "Let's use tabs in the kitchen project."),
    Fact("alarm", 3, "Never wake me before six on Sundays.", "Never wake me before six on Sundays."),
    Fact(
        "boiler",
        4,
        "Please remember: the boiler manual is in the blue folder.",
        "The boiler manual is in the blue folder.",
        ((5, "Remember that the boiler manual is in the blue folder."),),
    ),
    Fact("coffee", 4, "I can't stand instant coffee.", "I can't stand instant coffee."),
    Fact(
        "running", 6, "I love running along the river in the morning.", "I love running along the river in the morning."
    ),
    Fact(
        "bins",
        6,
        "Don't forget that the bins are collected on Tuesdays.",
        "The bins are collected on Tuesdays.",
        ((7, "Remember that the bins are collected on Tuesdays."),),
    ),
    Fact("paint", 8, "We agreed on white paint for the hall.", "We agreed on white paint for the hall."),
    Fact(
        "colour",
        8,
        "My favourite colour is green.",
        "My favourite colour is green.",
        ((10, "My favorite color is green."),),
    ),
    Fact(
        "cinema", 10, "I don't like horror films.", "I don't like horror films.", ((15, "I do not like horror films."),)
    ),
    Fact("oat milk", 11, "Keep in mind that Ben drinks oat milk.", "Ben drinks oat milk."),
    Fact("garage", 13, "Note that the garage door is cover.garage_door.", "The garage door is cover.garage_door."),
    Fact("vet", 16, "Remember that our vet is called Doctor Novak.", "Our vet is called Doctor Novak."),
    Fact(
        "plumber",
        19,
        "For future reference, the plumber comes from Harbour Street.",
        "The plumber comes from Harbour Street.",
    ),
    Fact(
        "radio",
        22,
        "I'd rather listen to the radio than to podcasts.",
        "I'd rather listen to the radio than to podcasts.",
    ),
    Fact("dates", 24, "Always write dates with the year first.", "Always write dates with the year first."),
    Fact("cello", 26, "I've decided to learn the cello.", "I've decided to learn the cello."),
    Fact("printer", 28, "Remember that the printer needs A4 paper.", "The printer needs A4 paper."),
    Fact("spelling", 7, "Please always write with British spelling.", "Please always write with British spelling."),
    Fact("lunch", 9, "I never eat before noon.", "I never eat before noon."),
    Fact(
        "trains",
        14,
        "We've decided to travel to Vienna by night train.",
        "We've decided to travel to Vienna by night train.",
    ),
    Fact(
        "heating", 17, "Remember that the heating is serviced every October.", "The heating is serviced every October."
    ),
    Fact("olives", 27, "I hate olives.", "I hate olives."),
    Fact("ben tea", 5, "I prefer green tea.", "I prefer green tea.", ((9, "I prefer green tea."),), speaker="ben"),
    Fact("ben desk", 12, "I like working at a standing desk.", "I like working at a standing desk.", speaker="ben"),
    Fact("ben mail", 23, "Never send me newsletters.", "Never send me newsletters.", speaker="ben"),
)

POLISH = (
    Fact(
        "odpowiedzi",
        1,
        "Zapamiętaj że wolę szczegółowe odpowiedzi",
        "Wolę szczegółowe odpowiedzi",
        (
            *_again(2, 11, said="Zapamiętaj że wolę szczegółowe odpowiedzi"),
            (6, "Zapamiętaj, że wolę szczegółowe odpowiedzi."),
        ),
        speaker="ola",
    ),
    Fact("herbata", 2, "Lubię czarną herbatę z cytryną.", "Lubię czarną herbatę z cytryną.", speaker="ola"),
    Fact("koperek", 3, "Nie lubię koperku.", "Nie lubię koperku.", ((8, "nie lubię koperku"),), speaker="ola"),
    Fact("po polsku", 5, "Zawsze odpowiadaj mi po polsku.", "Zawsze odpowiadaj mi po polsku.", speaker="ola"),
    Fact("środa", 7, "Ustaliliśmy, że w środy gotuje Marek.", "Ustaliliśmy, że w środy gotuje Marek.", speaker="ola"),
    Fact(
        "pociąg",
        9,
        "Zdecydowałam, że do Gdańska jeżdżę pociągiem.",
        "Zdecydowałam, że do Gdańska jeżdżę pociągiem.",
        speaker="ola",
    ),
    Fact(
        "klucze",
        12,
        "Zapamiętaj: klucze do piwnicy wiszą w spiżarni.",
        "Klucze do piwnicy wiszą w spiżarni.",
        speaker="ola",
    ),
    Fact("filtr", 15, "Pamiętaj, że filtr wymieniamy w marcu.", "Filtr wymieniamy w marcu.", speaker="ola"),
    Fact("horrory", 18, "Nigdy nie proponuj mi horrorów.", "Nigdy nie proponuj mi horrorów.", speaker="ola"),
    Fact("rower", 21, "Wolę rower od samochodu.", "Wolę rower od samochodu.", speaker="ola"),
    Fact(
        "lekarz",
        25,
        "Zanotuj, że dentysta przyjmuje na ulicy Lipowej.",
        "Dentysta przyjmuje na ulicy Lipowej.",
        speaker="ola",
    ),
)

CHINESE = (
    Fact("茶", 1, "请记住我喜欢喝绿茶。", "我喜欢喝绿茶。", ((4, "我喜欢喝绿茶。"),), speaker="li"),
    Fact("香菜", 3, "我不喜欢香菜。", "我不喜欢香菜。", ((13, "我不喜欢香菜"),), speaker="li"),
    Fact("回答", 6, "以后请用中文回答我。", "以后请用中文回答我。", speaker="li"),
    Fact("钥匙", 9, "记住：备用钥匙在邻居家。", "备用钥匙在邻居家。", speaker="li"),
    Fact("地铁", 14, "我更喜欢坐地铁上班。", "我更喜欢坐地铁上班。", speaker="li"),
    Fact("决定", 20, "我们决定把客厅刷成白色。", "我们决定把客厅刷成白色。", speaker="li"),
)

OTHERS = (
    Fact("antworten", 2, "Ich bevorzuge kurze Antworten.", "Ich bevorzuge kurze Antworten.", speaker="jan"),
    Fact("zucker", 4, "Merk dir: ich nehme keinen Zucker.", "Ich nehme keinen Zucker.", speaker="jan"),
    Fact(
        "matte",
        10,
        "Merk dir: der Schlüssel liegt unter der Matte.",
        "Der Schlüssel liegt unter der Matte.",
        speaker="jan",
    ),
    Fact("auto", 16, "Ich mag keine langen Autofahrten.", "Ich mag keine langen Autofahrten.", speaker="jan"),
    Fact("playa", 3, "Prefiero la playa a la montaña.", "Prefiero la playa a la montaña.", speaker="eva"),
    Fact(
        "veterinario",
        8,
        "Recuerda que el veterinario abre a las diez.",
        "El veterinario abre a las diez.",
        speaker="eva",
    ),
    Fact("picante", 17, "No me gusta la comida picante.", "No me gusta la comida picante.", speaker="eva"),
    Fact("thé", 5, "Je préfère le thé sans sucre.", "Je préfère le thé sans sucre.", speaker="luc"),
    Fact(
        "jardinier", 11, "N'oublie pas que le jardinier vient le jeudi.", "Le jardinier vient le jeudi.", speaker="luc"
    ),
    Fact("vélo", 19, "J'aime faire du vélo le dimanche.", "J'aime faire du vélo le dimanche.", speaker="luc"),
    Fact("pivo", 7, "Mám rád tmavé pivo.", "Mám rád tmavé pivo.", speaker="petr"),
    Fact("klíč", 13, "Zapamatuj si, že klíč je v garáži.", "Klíč je v garáži.", speaker="petr"),
    Fact("hudba", 22, "Nemám rád hlasitou hudbu.", "Nemám rád hlasitou hudbu.", speaker="petr"),
    Fact("コーヒー", 6, "コーヒーより紅茶の方が好きです。", "コーヒーより紅茶の方が好きです。", speaker="yui"),
    Fact("鍵", 15, "鍵は玄関にあると覚えておいて。", "鍵は玄関にある", speaker="yui"),
    Fact("커피", 8, "저는 따뜻한 커피를 좋아해요.", "저는 따뜻한 커피를 좋아해요.", speaker="min"),
    Fact("열쇠", 23, "예비 열쇠는 서랍에 있다는 걸 기억해 줘.", "예비 열쇠는 서랍에 있다", speaker="min"),
)

CORRECTIONS = (
    Fact(
        "colour now",
        16,
        "Actually, my favourite colour is blue now.",
        "Actually, my favourite colour is blue now.",
        replaces="colour",
    ),
    Fact(
        "bins now",
        18,
        "Remember that the bins are now collected on Thursdays, not on Tuesdays.",
        "The bins are now collected on Thursdays, not on Tuesdays.",
        replaces="bins",
    ),
    Fact(
        "database now",
        20,
        "We decided to use MariaDB instead of PostgreSQL for the shop.",
        "We decided to use MariaDB instead of PostgreSQL for the shop.",
        replaces="database",
    ),
    Fact(
        "herbata now",
        19,
        "Już nie lubię czarnej herbaty z cytryną.",
        "Już nie lubię czarnej herbaty z cytryną.",
        replaces="herbata",
        speaker="ola",
    ),
    Fact("茶 now", 21, "其实我不喜欢喝绿茶了。", "其实我不喜欢喝绿茶了。", replaces="茶", speaker="li"),
    Fact(
        "boiler now",
        27,
        "Remember that the boiler manual is now in the red folder.",
        "The boiler manual is now in the red folder.",
        replaces="boiler",
    ),
    Fact(
        "running now",
        29,
        "I no longer love running along the river in the morning.",
        "I no longer love running along the river in the morning.",
        replaces="running",
    ),
)

FACTS = (*ENGLISH, *POLISH, *CHINESE, *OTHERS, *CORRECTIONS)

# -- of no use later --

SMALL_TALK = (
    "Good morning!",
    "How are you today?",
    "I'm a bit tired this morning.",
    "It's raining again, isn't it?",
    "Haha, that's a good one.",
    "I like that!",
    "I love it!",
    "That sounds likely.",
    "I feel like pizza tonight.",
    "I'd like to know the weather for tomorrow.",
    "I never said that.",
    "Looks like it will snow.",
    "What a day. The bus was late and I forgot my umbrella.",
    "I want a coffee now.",
    "My head hurts today.",
    "We went to the market, then had soup with Ana.",
    "I prefer the second one.",
    "You are so slow today, useless thing.",
    "If I liked jazz, I would go to the concert.",
    "My brother said he always forgets his keys.",
    'She said "I always lose everything" and we laughed.',
    "Suppose I prefer the sea, where should we go?",
    "I remember that summer well.",
    "Do you remember when we talked about the garden?",
    "I can't remember the name of that film.",
    "Remember the Alamo!",
    "Dzień dobry!",
    "Jaka dziś pogoda?",
    "Jestem trochę zmęczona.",
    "Ale dziś zimno, brr.",
    "Czy wolę kawę, czy herbatę? Sama nie wiem.",
    "Gdybym lubiła narty, pojechałabym w góry.",
    "你好！",
    "今天天气怎么样？",
    "我今天有点累。",
    "如果我喜欢滑雪就好了。",
    "Guten Morgen!",
    "Wie spät ist es?",
    "¿Qué tiempo hace hoy?",
    "Quelle heure est-il ?",
    "Kolik je hodin?",
    "今日は寒いですね。",
    "오늘 날씨 어때요?",
    "Don't save this: I am planning a surprise party for Ben.",
    "Please don't remember that I was late.",
    "Nie zapamiętuj tego, że dziś spóźniłam się do pracy.",
)
QUESTIONS = (
    "What do I prefer?",
    "Which lamp do I read by?",
    "Do I like olives?",
    "Where is the boiler manual?",
    "When are the bins collected?",
    "What did we decide about the database?",
    "Which colour do I like best?",
    "Co wolę?",
    "Jak mam jechać do Gdańska?",
    "Gdzie są klucze do piwnicy?",
    "我喜欢喝什么？",
    "备用钥匙在哪里？",
    "Welche Antworten bevorzuge ich?",
    "¿Cuándo abre el veterinario?",
    "Quand vient le jardinier ?",
    "Kde je klíč?",
    "Does Ben drink oat milk?",
    "Could you tell me who our vet is?",
)
COMMANDS = (
    "Turn on the reading lamp.",
    "Turn off the lights in the hall, please.",
    "Set the thermostat to 21 degrees.",
    "Open the garage door.",
    "Play some music in the kitchen.",
    "Start the vacuum.",
    "Włącz światło w salonie.",
    "Zamknij rolety.",
    "打开客厅的灯。",
    "Mach das Licht im Flur aus.",
    "Apaga la luz de la cocina.",
    "Allume la lampe du salon.",
    "Set a timer for ten minutes.",
    "Add bread to the shopping list.",
)
THANKS = (
    "Thanks!",
    "Thank you so much, that helped.",
    "Dzięki!",
    "谢谢",
    "Danke dir.",
    "Gracias.",
    "Merci beaucoup.",
    "ok",
    "yes",
    "no",
)
PASTED = (
    "```python\nprefer = 'I prefer tabs'\nprint(prefer)\n```\nWhy does this fail?",
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: I always fail\nWhat is it?',
    "$ git status\nOn branch main\nnothing to commit, working tree clean",
    '{"tool_result": {"stdout": "I prefer JSON", "exit_code": 0}}',
    "2026-01-04 10:00:01 INFO worker: we decided to retry\n2026-01-04 10:00:02 ERROR worker: never again",
    "> I prefer aisle seats.\n> I hate meetings.\n\nCan you answer this mail for me?",
    "On Monday Carol wrote:\n> We agreed on Friday at noon.\n\nIs that still true?",
    "<system-reminder>The user prefers dark mode.</system-reminder>\nHow late is it?",
    "[Telegram Anna id:123 2026-01-05 10:00] good evening",
    'Conversation info (untrusted metadata):\n```json\n{"chat": "I prefer metadata"}\n```\nhello again',
    "Translate this for me: I always take the bus.",
    "<private>I prefer that nobody knows about the ring.</private> What time is it?",
    "[NOMEM] I prefer to keep my salary to myself.",
)
