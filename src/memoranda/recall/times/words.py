"""The words of time, by language. Data: how they combine is said in `grammar`.

Each entry is "phrase, phrase: value". Words are written without diacritics where people leave them out; the reader
folds both sides. A phrase may stand for several atoms ("last night" is a day and a part of it).
"""

from collections.abc import Iterator

Atom = tuple[str, object]
"""A kind, one letter (see `grammar`), and what it stands for."""

_MONTHS = {
    "en": "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
    "|november nov|december dec",
    "pl": "styczen stycznia styczniu|luty lutego lutym|marzec marca marcu|kwiecien kwietnia kwietniu"
    "|maj maja maju majem|czerwiec czerwca czerwcu"
    "|lipiec lipca lipcu|sierpien sierpnia sierpniu|wrzesien wrzesnia wrzesniu"
    "|pazdziernik pazdziernika pazdzierniku|listopad listopada listopadzie|grudzien grudnia grudniu",
    "de": "januar janner|februar|marz maerz|april|mai|juni|juli|august|september|oktober|november|dezember",
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre setiembre|octubre|noviembre|diciembre",
    "fr": "janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre",
}
_WEEKDAYS = {
    "en": "monday mon|tuesday tue tues|wednesday wed|thursday thu thur thurs|friday fri|saturday sat|sunday sun",
    "pl": "poniedzialek poniedzialku|wtorek wtorku|sroda srode srody|czwartek czwartku|piatek piatku"
    "|sobota sobote soboty|niedziela niedziele niedzieli",
    "de": "montag|dienstag|mittwoch|donnerstag|freitag|samstag sonnabend|sonntag",
    "es": "lunes|martes|miercoles|jueves|viernes|sabado|domingo",
    "fr": "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
}
_SEASONS = {
    "en": "spring springtime|summer summertime|autumn fall|winter wintertime",
    "pl": "wiosna wiosny wiosne|lato lecie|jesien jesieni|zima zimy zime",
    "de": "fruhling fruhjahr|sommer|herbst|winter",
    "es": "primavera|verano|otono|invierno",
    "fr": "printemps|ete|automne|hiver",
    "zh": "春天 春季|夏天 夏季|秋天 秋季|冬天 冬季",
}
_UNITS = {
    "en": "minute minutes mins|hour hours hrs|day days|week weeks wk wks|month months|quarter quarters"
    "|year years yr yrs|weekend weekends",
    "pl": "minuty minut minutami|godziny godzin godzinami|dni dniach dniami"
    "|tygodnie tygodni tygodniu tygodnia tygodniach tygodniami|miesiace miesiecy miesiacu miesiaca miesiacach"
    " miesiacami|kwartal kwartale kwartalu kwartaly|lata lat roku latach latami r"
    "|weekend weekendu weekendzie",
    "de": "minute minuten|stunde stunden|tag tage tagen|woche wochen|monat monate monaten monats"
    "|quartal quartals|jahr jahre jahren jahres|wochenende",
    "es": "minuto minutos|hora horas|dia dias|semana semanas|mes meses|trimestre|ano anos|fin_de_semana",
    "fr": "minute minutes|heure heures|jour jours|semaine semaines|mois|trimestre|an ans annee annees|week-end weekend",
    "zh": "分钟|小时 个小时 钟头 个钟头|天|周 个星期 星期 个礼拜 礼拜|个月|季度|年|周末",
}
_UNIT_NAMES = ("minute", "hour", "day", "week", "month", "quarter", "year", "weekend")

_NUMBERS = {
    "en": "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen",
    "pl": "jeden jedna jedno jednego jednym|dwa dwie dwoch dwoma|trzy trzech trzema|cztery czterech|piec pieciu"
    "|szesc szesciu|siedem siedmiu|osiem osmiu|dziewiec dziewieciu|dziesiec dziesieciu|jedenascie|dwanascie"
    "|trzynascie|czternascie|pietnascie|szesnascie|siedemnascie|osiemnascie|dziewietnascie",
    "de": "eins|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn|elf|zwolf|dreizehn|vierzehn|funfzehn",
    "es": "uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince",
    "fr": "un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze",
}
_TENS = {
    "en": "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety",
    "pl": "dwadziescia|trzydziesci|czterdziesci|piecdziesiat|szescdziesiat|siedemdziesiat"
    "|osiemdziesiat|dziewiecdziesiat",
    "de": "zwanzig|dreissig|vierzig|funfzig|sechzig|siebzig|achtzig|neunzig",
    "es": "veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa",
    "fr": "vingt|trente|quarante|cinquante|soixante",
}
_ORDINALS = {
    "en": "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth"
    "|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth",
    "de": "erst|zweit|dritt|viert|funft|sechst|siebt|acht|neunt|zehnt|elft|zwolft",
    "pl": "pierwsz|drug|trzec|czwart|piat|szost|siodm|osm|dziewiat|dziesiat|jedenast|dwunast|trzynast|czternast"
    "|pietnast|szesnast|siedemnast|osiemnast|dziewietnast|dwudziest",
    "es": "primer primera primero|segunda segundo|tercer tercera tercero|cuarta cuarto|quinta quinto|sexta sexto"
    "|septima septimo|octava octavo|novena noveno|decima decimo",
    "fr": "premier premiere|deuxieme seconde|troisieme|quatrieme|cinquieme|sixieme|septieme|huitieme|neuvieme|dixieme",
}
_ENDINGS = {
    "pl": ("y", "a", "e", "i", "ia", "ie", "ego", "iego", "ej", "iej", "ym", "im"),
    "de": ("e", "en", "er", "es", "em"),
}
_TENTHS = "twentieth|thirtieth|fortieth|fiftieth|sixtieth|seventieth|eightieth|ninetieth"

MORNING, NOON, AFTERNOON, EVENING, NIGHT = (4, 12), (11, 14), (12, 18), (17, 24), (18, 30)
"""Hours, half-open; the night reaches into the next day."""

FEW = (2, 6)

_PHRASES: dict[str, dict[str, tuple[Atom, ...]]] = {
    "en": {
        "today": (("D", 0),), "yesterday": (("D", -1),), "tomorrow": (("D", 1),),
        "day before yesterday": (("D", -2),), "day after tomorrow": (("D", 2),),
        "last night": (("D", -1), ("P", NIGHT)), "tonight": (("D", 0), ("P", NIGHT)),
        "morning": (("P", MORNING),), "noon": (("P", NOON),), "afternoon": (("P", AFTERNOON),),
        "evening": (("P", EVENING),), "night": (("P", NIGHT),),
        "last": (("L", -1),), "previous,prior,preceding": (("H", -1),), "this,current": (("H", 0),),
        "next,coming,upcoming": (("H", 1),), "past,recent": (("R", 0),),
        "ago": (("A", 0),), "couple of,a couple of": (("w", (2, 3)),), "few,a few,several": (("w", FEW),),
        "a,an": (("o", (1, 1)),), "half a year": (("w", (6, 6)), ("U", "month")),
        "in,on,at,during,over,within,throughout,around": (("I", 0),),
        "between": (("B", 0),), "from": (("F", ""),), "and": (("n", 0),), "to,through,thru,till": (("T", ""),),
        "since": (("C", "since"),), "before,prior to": (("C", "before"),), "after": (("C", "after"),),
        "until,up to": (("C", "until"),),
        "early,beginning of,the beginning of,start of": (("E", 0),), "mid,middle of,the middle of": (("E", 1),),
        "late,end of,the end of": (("E", 2),),
        "session,sessions,conversation,conversations,chat,chats,discussion,discussions,dialogue,dialogues":
            (("G", 0),),
        "last time we talked,last time we spoke,last time we chatted,time we talked last":
            (("L", -1), ("G", 0)),
        "every,each": (("V", 0),), "the": (("t", 0),), "of,our,my,very,earlier,later,number": (("f", 0),),
    },
    "pl": {
        "dzis,dzisiaj,dzisiejszy": (("D", 0),), "wczoraj": (("D", -1),), "przedwczoraj": (("D", -2),),
        "jutro": (("D", 1),), "pojutrze": (("D", 2),),
        "wczorajszy,wczorajsza,wczorajszej,wczorajszego": (("D", -1),),
        "wczoraj wieczorem,wczoraj w nocy": (("D", -1), ("P", NIGHT)),
        "rano,ranek": (("P", MORNING),), "w poludnie": (("P", NOON),), "po poludniu": (("P", AFTERNOON),),
        "wieczorem,wieczor": (("P", EVENING),), "w nocy": (("P", NIGHT),),
        "zeszly,zeszla,zeszle,zeszlym,zeszlego,zeszlej,ubiegly,ubiegla,ubieglym,ubieglego,ubieglej,miniony,minionym,"
        "minionego,poprzedni,poprzednia,poprzednim,poprzedniej,poprzedniego": (("H", -1),),
        "ten,ta,to,tym,tego,tej,biezacym,biezacy": (("H", 0),),
        "przyszly,przyszla,przyszlym,przyszlego,nastepny,nastepna,nastepnym,nastepnego": (("H", 1),),
        "ostatni,ostatnia,ostatnie,ostatnim,ostatniej,ostatniego,ostatnich": (("L", -1),),
        "w ostatnim,w ostatnich,w ciagu ostatniego,w ciagu ostatnich,przez ostatni,przez ostatnie":
            (("I", 0), ("R", 0)),
        "temu": (("A", 0),), "kilka,kilku,pare,paru": (("w", FEW),), "pol roku": (("w", (6, 6)), ("U", "month")),
        "tydzien": (("u", "week"),), "miesiac,miesiacem": (("u", "month"),), "rok,rokiem": (("u", "year"),),
        "dzien,dniem,dnia": (("u", "day"),), "godzine,godzina": (("u", "hour"),), "minute": (("u", "minute"),),
        "tygodniem": (("u", "week"),),
        "w,we,na,dnia,w dniu,podczas,w ciagu,przez": (("I", 0),), "miedzy,pomiedzy": (("B", 0),),
        "od": (("F", "since"),), "z,ze": (("F", ""),), "a,i,oraz": (("n", 0),),
        "do": (("T", "until"),), "po": (("C", "after"),),
        "przed": (("v", "before"),), "na poczatku,poczatek,poczatkiem": (("E", 0),), "w polowie": (("E", 1),),
        "pod koniec,koniec": (("E", 2),), "latem": (("I", 0), ("S", 2)), "zima": (("I", 0), ("S", 4)),
        "zeszlego lata,ubieglego lata,ostatniego lata": (("H", -1), ("S", 2)),
        "tego lata": (("H", 0), ("S", 2)), "wiosna": (("I", 0), ("S", 1)), "jesienia": (("I", 0), ("S", 3)),
        "rozmowa,rozmowy,rozmowie,rozmow,rozmowe,rozmowach,sesja,sesji,sesje,sesjach,czat,czacie,czatu,pogawedka":
            (("G", 0),),
        "ostatnim razem rozmawialismy,ostatnio rozmawialismy": (("L", -1), ("G", 0)),
        "co,kazdy,kazda,kazdego": (("V", 0),), "naszej,nasza,nasz,naszym,naszych,nasze,numer,nr": (("f", 0),),
    },
    "de": {
        "heute": (("D", 0),), "gestern": (("D", -1),), "vorgestern": (("D", -2),), "ubermorgen": (("D", 2),),
        "morgen": (("D", 1),), "heute morgen,heute fruh": (("D", 0), ("P", MORNING)),
        "gestern abend,letzte nacht": (("D", -1), ("P", NIGHT)), "heute abend": (("D", 0), ("P", EVENING)),
        "vormittag": (("P", MORNING),), "nachmittag": (("P", AFTERNOON),), "abend": (("P", EVENING),),
        "letzte,letzten,letzter,letztes,letztem": (("L", -1),),
        "vorige,vorigen,voriges,voriger,vergangene,vergangenen,vergangenes": (("H", -1),),
        "diese,diesen,dieser,dieses,diesem": (("H", 0),), "nachste,nachsten,nachster,nachstes": (("H", 1),),
        "vor": (("v", "before"),), "einem,einer,ein,eine": (("o", (1, 1)),),
        "ein paar,einigen,einige": (("w", FEW),),
        "in,im,am,wahrend,an": (("I", 0),), "zwischen": (("B", 0),), "vom,von": (("F", ""),), "und": (("n", 0),),
        "bis,bis zum": (("T", "until"),), "seit": (("C", "since"),), "nach": (("C", "after"),),
        "anfang": (("E", 0),), "mitte": (("E", 1),), "ende": (("E", 2),),
        "gesprach,gesprache,gesprachen,sitzung,sitzungen,unterhaltung,unterhaltungen": (("G", 0),),
        "jeden,jede,jedes": (("V", 0),), "den,der,das,dem,die,unser,unsere,unserem,unserer,des": (("f", 0),),
    },
    "es": {
        "hoy": (("D", 0),), "ayer": (("D", -1),), "anteayer,antes de ayer,antier": (("D", -2),),
        "pasado manana": (("D", 2),), "anoche": (("D", -1), ("P", NIGHT)),
        "esta manana": (("D", 0), ("P", MORNING)), "por la manana,de la manana": (("P", MORNING),),
        "por la tarde": (("P", AFTERNOON),), "esta noche": (("D", 0), ("P", NIGHT)),
        "pasado,pasada,anterior": (("H", -1),), "ultimo,ultima,ultimos,ultimas": (("L", -1),),
        "este,esta": (("H", 0),), "proximo,proxima,que viene": (("H", 1),),
        "hace": (("a", 0),), "un,una": (("o", (1, 1)),), "unos,unas,pocos,algunos": (("w", FEW),),
        "fin de semana": (("U", "weekend"),),
        "en,durante": (("I", 0),), "el": (("I", 0),), "entre": (("B", 0),), "desde": (("F", "since"),),
        "y": (("n", 0),), "hasta": (("T", "until"),), "al,a": (("T", ""),), "antes de,antes del": (("C", "before"),),
        "despues de,despues del": (("C", "after"),), "a principios de": (("E", 0),), "a mediados de": (("E", 1),),
        "a finales de": (("E", 2),),
        "conversacion,conversaciones,sesion,sesiones,charla,charlas": (("G", 0),),
        "cada,todos los": (("V", 0),), "los,las,la,de,del,nuestra,nuestro": (("f", 0),),
    },
    "fr": {
        "aujourd'hui": (("D", 0),), "hier": (("D", -1),), "avant-hier": (("D", -2),), "demain": (("D", 1),),
        "hier soir": (("D", -1), ("P", NIGHT)), "ce matin": (("D", 0), ("P", MORNING)),
        "cet apres-midi": (("D", 0), ("P", AFTERNOON)), "ce soir": (("D", 0), ("P", EVENING)),
        "matin": (("P", MORNING),), "soir": (("P", EVENING),),
        "dernier,derniere,derniers,dernieres": (("L", -1),), "passe,passee,precedent,precedente": (("H", -1),),
        "ce,cet,cette": (("H", 0),), "prochain,prochaine": (("H", 1),),
        "il y a": (("a", 0),), "un,une": (("o", (1, 1)),), "quelques": (("w", FEW),),
        "en,pendant,durant,dans": (("I", 0),), "au printemps": (("I", 0), ("S", 1)),
        "le": (("I", 0),), "entre": (("B", 0),), "du": (("F", ""),),
        "depuis": (("F", "since"),), "et": (("n", 0),), "jusqu'au,jusqu'en": (("T", "until"),), "au": (("T", ""),),
        "avant": (("C", "before"),),
        "apres": (("C", "after"),), "debut": (("E", 0),), "mi": (("E", 1),), "fin": (("E", 2),),
        "conversation,conversations,seance,seances,session,sessions,discussion,discussions": (("G", 0),),
        "chaque,tous les": (("V", 0),), "les,la,de,notre,nos,des": (("f", 0),),
    },
    "zh": {
        "今天,今日": (("D", 0),), "昨天,昨日": (("D", -1),), "前天": (("D", -2),), "大前天": (("D", -3),),
        "明天": (("D", 1),), "后天": (("D", 2),),
        "今早,今天早上,今天上午": (("D", 0), ("P", MORNING)), "昨晚,昨天晚上,昨夜": (("D", -1), ("P", NIGHT)),
        "今晚,今天晚上": (("D", 0), ("P", NIGHT)), "早上,上午": (("P", MORNING),), "中午": (("P", NOON),),
        "下午": (("P", AFTERNOON),), "晚上": (("P", EVENING),),
        "去年": (("H", -1), ("U", "year")), "今年": (("H", 0), ("U", "year")), "明年": (("H", 1), ("U", "year")),
        "前年": (("H", -2), ("U", "year")), "上个,上,上一个": (("H", -1),), "这个,这,本": (("H", 0),),
        "下个,下": (("H", 1),), "上上,上上个": (("H", -2),), "最近,过去,近": (("R", 0),),
        "前": (("A", 0),), "几": (("w", FEW),), "半年": (("w", (6, 6)), ("U", "month")),
        "月": (("k", 0),), "日,号": (("j", 0),), "第": (("d", 0),),
        "在,于": (("I", 0),), "从,自": (("F", "since"),), "到,至": (("T", "until"),), "和,与": (("n", 0),),
        "之前,以前": (("c", "before"),), "之后,以后": (("c", "after"),), "以来": (("c", "since"),),
        "初": (("e", 0),), "中旬": (("e", 1),), "底,末,下旬": (("e", 2),),
        "对话,会话,聊天,谈话,交谈,聊": (("G", 0),), "上次,上一次": (("L", -1),), "每": (("V", 0),),
        "次,的,我们,我": (("f", 0),),
    },
}  # fmt: skip

AMBIGUOUS = frozenset(("may", "march", "mar", "jan", "dec", "fall", "spring", "mon", "wed", "sat", "sun"))
"""English words that are something else in small letters, unless a word of time stands beside them."""

LANGUAGES = ("en", "pl", "de", "es", "fr")


def lexicon(language: str) -> dict[str, tuple[Atom, ...]]:
    """Every phrase of a language with its atoms."""
    found: dict[str, tuple[Atom, ...]] = {}
    for phrase, number in _numbers(language):
        found.setdefault(phrase, (("w", (number, number)),))
    for phrase, number in _ordinals(language):
        found.setdefault(phrase, (("O", number),))
    for kind, table, first in (("M", _MONTHS, 1), ("W", _WEEKDAYS, 0), ("S", _SEASONS, 1)):
        for value, phrase in _places(table.get(language, "")):
            found[phrase] = ((kind, value + first),)
    for place, phrase in _places(_UNITS[language]):
        found.setdefault(phrase, (("U", _UNIT_NAMES[place]),))
    for phrases, atoms in _PHRASES[language].items():
        found.update((phrase, atoms) for phrase in phrases.split(","))
    return found


def _places(table: str) -> Iterator[tuple[int, str]]:
    for place, forms in enumerate(table.split("|")):
        for form in forms.split():
            yield place, form.replace("_", " ")


def _numbers(language: str) -> Iterator[tuple[str, int]]:
    small = [(phrase, place + 1) for place, phrase in _places(_NUMBERS.get(language, ""))]
    yield from small
    for place, ten in _places(_TENS.get(language, "")):
        yield ten, place * 10 + 20
        for phrase, number in small:
            if number < 10:
                yield f"{ten} {phrase}", place * 10 + 20 + number
                yield f"{ten}-{phrase}", place * 10 + 20 + number


def _ordinals(language: str) -> Iterator[tuple[str, int]]:
    plain = [(phrase, place + 1) for place, phrase in _places(_ORDINALS.get(language, ""))]
    endings = _ENDINGS.get(language, ("",))
    yield from ((phrase + ending, number) for phrase, number in plain for ending in endings)
    if language == "en":
        tens = [ten for _, ten in _places(_TENS["en"])]
        for place, tenth in _places(_TENTHS):
            yield tenth, place * 10 + 20
            for phrase, number in plain[:9]:
                yield f"{tens[place]} {phrase}", place * 10 + 20 + number
                yield f"{tens[place]}-{phrase}", place * 10 + 20 + number
