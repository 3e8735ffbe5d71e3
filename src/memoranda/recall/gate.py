"""The gate: which prompts are worth a recall at all.

Greetings, thanks, acknowledgements, emoji, slash commands and heartbeats ask for nothing that is kept. The gate knows
them by whole phrases and never by a part: one word that it does not know, and recall goes on.
"""

import re
import unicodedata
from functools import cache

NO_QUERY = "no query"
TRIVIAL = "trivial prompt"

# Cleaned and with drawn-out letters shortened; what is longer is not small talk.
_LIMIT = 64
_LONGEST = 6

_PHRASES = {
    "en": """
        hi|hey|hello|heya|hiya|howdy|yo|sup|hi there|hey there|hello there|hi again|hello again|greetings|good morning
        good afternoon|good evening|good night|good day|morning|evening|gm|gn|nighty night|sleep well|bye|goodbye
        good bye|bye bye|see you|see ya|see you later|see you soon|see you tomorrow|cya|later|take care
        have a nice day|have a good day|have a great day|have a good one|have fun|ttyl|brb|welcome|welcome back|ok
        okay|okey|okie|oki|k|kk|okay then|ok then|alright|all right|alrighty|right|sure|sure thing|of course|yes|yeah
        yep|yup|ya|yea|aye|yes please|yeah sure|no|nope|nah|no thanks|no thank you|not now|maybe|fine|that's fine
        thats fine|it's fine|i see|i know|got it|gotcha|understood|noted|roger|roger that|copy that|makes sense
        sounds good|sounds great|looks good|lgtm|good|great|cool|nice|nice one|awesome|perfect|excellent|amazing
        wonderful|brilliant|lovely|super|sweet|neat|wow|yay|well done|good job|great job|nice job|good work|great work
        exactly|correct|agreed|true|indeed|absolutely|definitely|no problem|no worries|np|my pleasure|you're welcome
        thanks|thank you|thank u|thx|thanx|tnx|tysm|tyvm|cheers|much appreciated|appreciated|i appreciate it
        many thanks|thanks a lot|thanks so much|thank you so much|thank you very much|thanks very much|thanks again
        thank you again|thanks for your help|thank you for your help|thanks for the help|thanks for that
        thanks a million|done|go on|go ahead|continue|please continue|carry on|proceed|next|please|pls|sorry|oops
        my bad|never mind|nevermind|nvm|hm|hmm|mm|mhm|uh|uh huh|um|ah|aha|oh|oh ok|oh okay|oh well|eh|huh|ha|haha
        hahaha|hehe|lol|lmao|rofl|xd|test|testing|ping|hii|heyy|okk|byee|yess|noo|thankss|happy birthday
        merry christmas|happy new year|congrats|congratulations
    """,
    "pl": """
        cześć|czesc|hej|hejka|hejo|hejka naklejka|siema|siemka|elo|witam|witaj|halo|dzień dobry|dobry wieczór|dobranoc
        dobry|dzień doberek|do widzenia|do zobaczenia|na razie|nara|pa|papa|pa pa|trzymaj się|miłego dnia
        miłego wieczoru|dzięki|dziękuję|dziękuje|dziekuję|dziękuję bardzo|bardzo dziękuję|dzięki wielkie
        wielkie dzięki|dzięks|dzieki|dziękuję ślicznie|dzięki za pomoc|dziękuję za pomoc|dzięki bardzo|dziękówka|tak
        tak jest|no tak|no|nie|nie dzięki|nie dziękuję|nie teraz|dobra|dobrze|okej|oki|spoko|spoczko|jasne
        jasna sprawa|pewnie|oczywiście|zgoda|zgadza się|rozumiem|zrozumiałem|zrozumiałam|zrozumiano|kumam|wiem|super
        świetnie|świetna robota|ekstra|fajnie|rewelacja|brawo|idealnie|znakomicie|doskonale|w porządku|wporządku
        nie ma sprawy|nie ma za co|proszę|prosze|przepraszam|sorki|sory|ups|aha|ach|ojej|no dobra|no dobrze|mhm|hmm
        haha|hehe|dokładnie|racja|właśnie|może|być może|dalej|kontynuuj|jedziemy|gotowe|zrobione|bardzo
        wszystkiego najlepszego|smacznego|na zdrowie
    """,
    "de": """
        hallo|hallo zusammen|moin|moin moin|servus|grüß gott|grüezi|guten morgen|guten tag|guten abend|gute nacht
        tschüss|tschüs|ciao|auf wiedersehen|bis bald|bis später|bis morgen|bis dann|schönen tag|schönen tag noch|danke
        danke schön|dankeschön|danke sehr|vielen dank|besten dank|herzlichen dank|danke dir|danke für die hilfe|ja|jep
        jo|jawohl|nein|nee|nö|nein danke|ja bitte|ja gerne|gerne|bitte|bitte schön|okay|alles klar|klar|na klar|gut
        sehr gut|super|toll|prima|perfekt|klasse|genau|stimmt|richtig|verstanden|verstehe|ich verstehe|passt
        in ordnung|einverstanden|kein problem|weiter|mach weiter|fertig|entschuldigung|sorry|achso|ach so|aha
        vielleicht
    """,
    "es": """
        hola|buenas|buenos días|buenas tardes|buenas noches|buen día|qué tal|adiós|chao|chau|hasta luego|hasta mañana
        hasta pronto|nos vemos|gracias|muchas gracias|mil gracias|gracias por la ayuda|muchísimas gracias|de nada
        por favor|sí|si|no|no gracias|vale|ok|bueno|bien|muy bien|está bien|de acuerdo|claro|claro que sí|por supuesto
        perfecto|genial|estupendo|excelente|entendido|entiendo|ya veo|listo|hecho|exacto|correcto|perdón|lo siento
        jaja|jajaja|continúa|sigue|tal vez|quizás|buen trabajo
    """,
    "fr": """
        bonjour|bonsoir|salut|coucou|bonne nuit|bonne journée|bonne soirée|au revoir|à bientôt|à demain|à plus
        à plus tard|merci|merci beaucoup|merci bien|mille mercis|un grand merci|merci pour ton aide
        merci pour votre aide|de rien|je vous en prie|oui|ouais|non|non merci|oui merci|d'accord|ok|bien|très bien
        c'est bon|ça marche|ça va|parfait|super|génial|excellent|bien sûr|compris|je comprends|je vois|entendu
        exactement|pardon|désolé|désolée|s'il te plaît|s'il vous plaît|peut-être|continue|continuez|bravo|bon travail
    """,
    "zh": """
        你好|您好|你好呀|大家好|嗨|哈喽|哈啰|喂|在|在吗|在么|早|早安|早上好|上午好|中午好|下午好|晚上好|晚安|午安|再见
        拜拜|拜|回见|明天见|回头见|一会儿见|谢谢|谢谢你|谢谢您|谢啦|谢了|多谢|感谢|非常感谢|太感谢|万分感谢|十分感谢
        谢|辛苦|辛苦了|不客气|不用谢|没事|没关系|没问题|好|好的|好吧|好嘞|好滴|好哒|好呀|好啊|好了|行|行吧|可以|可以的
        嗯|嗯哼|恩|哦|喔|噢|啊|呃|额|唉|哎|是|是的|是啊|对|对的|对啊|对呀|没错|不|不是|不用|不用了|不要|不行|没有|明白
        明白了|懂了|懂|了解|了解了|知道|知道了|收到|收到了|清楚|清楚了|ok|厉害|牛|赞|棒|真棒|太棒了|很棒|太好了|很好
        非常好|不错|完美|哈|哈哈|呵呵|嘿嘿|嘻嘻|嘿|哇|继续|请继续|完成|完成了|抱歉|对不起|不好意思|随便|算了|当然
        当然可以|同意|加油|恭喜|生日快乐|新年快乐|请|麻烦了|麻烦你了|謝謝|謝謝你|沒問題|對|早上好呀
    """,
    "ja": """
        こんにちは|こんばんは|おはよう|おはようございます|おやすみ|おやすみなさい|やあ|もしもし|ありがとう
        ありがとうございます|ありがとうございました|どうもありがとう|どうもありがとうございます|どうも|感謝します|はい
        うん|ええ|いいえ|いや|了解|了解です|了解しました|りょうかい|わかった|わかりました|分かりました|分かった
        承知しました|かしこまりました|なるほど|そうですね|そうです|そう|いいね|いいですね|すごい|すごいね|さすが
        素晴らしい|完璧|オッケー|オーケー|オケ|大丈夫|大丈夫です|お疲れ様|お疲れ様です|お疲れさま|さようなら|またね
        じゃあね|また明日|すみません|ごめん|ごめんなさい|お願いします|よろしく|よろしくお願いします|どういたしまして
        続けて|ですね|笑|草
    """,
    "ko": """
        안녕|안녕하세요|안녕하십니까|여보세요|좋은 아침|좋은 아침입니다|잘 자|잘 자요|안녕히 주무세요|안녕히 가세요
        안녕히 계세요|잘 가|또 봐|또 봐요|내일 봐|내일 봐요|고마워|고마워요|고맙습니다|감사|감사해요|감사합니다
        정말 감사합니다|정말 고마워|네|네네|넵|넹|예|응|어|그래|그래요|아니|아니요|아뇨|괜찮아|괜찮아요|괜찮습니다
        알겠어|알겠어요|알겠습니다|알았어|알았어요|오케이|오키|ㅇㅋ|ㅇㅇ|ㄱㅅ|ㄳ|ㅋㅋ|ㅎㅎ|좋아|좋아요|좋습니다|좋네요
        맞아|맞아요|최고|대박|멋져요|완벽해요|수고하셨습니다|수고했어|수고|죄송합니다|미안|미안해|계속|계속해 주세요
        화이팅|천만에요|부탁해요|부탁드립니다
    """,
}
# Sent by a program on its own. "Why do you answer HEARTBEAT_OK?" is a question of a person.
_HEARTBEAT = re.compile(r"\[?HEARTBEAT(?:_OK)?\]?[.!]?")
_HEARTBEAT_POLL = re.compile(
    r"(?:\[?(?:system|scheduled|cron)\]?[ :]*)?\[?heart ?beat\]?[ :]*(?:poll|check|ping|tick)(?: ok)?[.!]?",
    re.IGNORECASE,
)
_HEARTBEAT_TASK = re.compile(
    r"(?:please )?(?:read|check) HEARTBEAT\.md (?:if it exists|if present|and follow it)\b"
    r"|(?:^|[.,;:!] )(?:(?:then|just|only) )?(?:reply|respond|answer)(?: with| only| exactly| just){0,3} "
    r"[\"'`]?HEARTBEAT_OK\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"/([A-Za-z][\w:-]{0,40})(?:@\w+)?(?:[ \t][^\n]*)?")
_FOLDERS = frozenset((
    "bin", "boot", "dev", "etc", "home", "lib", "media", "mnt", "opt", "proc", "root", "sbin", "srv", "sys", "tmp",
    "users", "usr", "var", "volumes",
))  # fmt: skip
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")
_SMILEY = re.compile(r"(?<!\S)(?:[:;=xX8][-']?[()DPpdOo3*|/\\\]\[]+|<3+|[xX]D+|\^_*\^|[oO]_[oO]|[tT]_[tT])(?!\S)")
_DRAWN_OUT = re.compile(r"(.)\1{2,}", re.DOTALL)
_REPEATED = re.compile(r"(.)\1+", re.DOTALL)
_PARTING = re.compile(r"[\s,;!?…，。！？、；~]+")
_CJK = "\u1100-\u11ff\u3005-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
# What may hang on a phrase without adding to it.
_TAILS = frozenset("嗯恩哦喔噢啊呃额唉哎哈嘿哇呀啦吧哟嘞哒滴了的呢嘛ねよーわ")


def gate(query: str) -> str:
    """Why a recall is not worth it, or nothing when it should go on."""
    text = "".join(char for char in query if char.isspace() or not _is_invisible(char)).strip()
    if not text:
        return NO_QUERY
    return TRIVIAL if _is_command(text) or _is_heartbeat(text) or _is_small_talk(text) else ""


def _is_invisible(char: str) -> bool:
    """Control and format characters, and halves of characters."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs")


def _is_command(text: str) -> bool:
    """A slash and a word on one line. A second slash, a dot or the name of a folder makes it a path."""
    match = _COMMAND.fullmatch(text)
    return match is not None and match[1].lower() not in _FOLDERS


def _is_heartbeat(text: str) -> bool:
    line = " ".join(text.split())
    whole = _HEARTBEAT.fullmatch(line) or _HEARTBEAT_POLL.fullmatch(line)
    return bool(whole or ("HEARTBEAT" in line and _HEARTBEAT_TASK.search(line)))


def _is_small_talk(text: str) -> bool:
    unmarked = _SMILEY.sub(" ", _KEYCAP.sub(" ", text))
    pictureless = "".join(" " if _is_picture(char) else char for char in unmarked)
    plain = unicodedata.normalize("NFKC", pictureless).casefold().replace("’", "'")
    if not any(char.isalnum() for char in plain):
        return True
    short = _DRAWN_OUT.sub(r"\1\1\1", plain).strip()
    return len(short) <= _LIMIT and _is_row_of_phrases(_words(short))


def _is_picture(char: str) -> bool:
    return char == "\ufe0f" or unicodedata.category(char) in ("So", "Sk")


def _words(text: str) -> list[str]:
    """Words without the marks around them. A mark inside keeps a word whole: "hi-fi", "light.office"."""
    found: list[str] = []
    for part in _PARTING.split(text if text.isascii() else _unspaced()[1].sub(" ", text)):
        letters = [place for place, char in enumerate(part) if char.isalnum()]
        if letters:
            found.append(part[letters[0] : letters[-1] + 1])
    return found


@cache
def _unspaced() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A run in a script without spaces, and where it meets another. Made when first met: it takes a while."""
    return re.compile(f"[{_CJK}]+"), re.compile(f"(?<=[{_CJK}])(?=[a-z])|(?<=[a-z])(?=[{_CJK}])")


def _is_row_of_phrases(words: list[str]) -> bool:
    """Whether the words are known phrases from the first to the last."""
    reached = [True] + [False] * len(words)
    for place in range(len(words)):
        for length in range(1, min(_LONGEST, len(words) - place) + 1 if reached[place] else 0):
            if _is_phrase(words[place : place + length]):
                reached[place + length] = True
    return reached[-1]


def _is_phrase(words: list[str]) -> bool:
    phrase = " ".join(words)
    if phrase in _KNOWN or (_DRAWN_OUT.search(phrase) and _once(phrase) in _KNOWN_ONCE):
        return True
    if len(words) > 1 or phrase.isascii() or not _unspaced()[0].fullmatch(phrase):
        return False
    return _is_unspaced_row(phrase, _KNOWN) or _is_unspaced_row(_once(phrase), _KNOWN_ONCE)


def _is_unspaced_row(text: str, known: frozenset[str]) -> bool:
    """The same without spaces. One word of a single character is enough: two of them say something new."""
    reached = [{0}] + [set[int]() for _ in text]
    for place, used in enumerate(reached[:-1]):
        if not used:
            continue
        if text[place] in _TAILS:
            reached[place + 1] |= used
        elif text[place] in known and 0 in used:
            reached[place + 1].add(1)
        for end in range(place + 2, min(place + 16, len(text)) + 1):
            if text[place:end] in known:
                reached[end] |= used
    return bool(reached[-1])


def _once(phrase: str) -> str:
    """Every letter once where it stands several times in a row: "okkk", "hiii", "好好好"."""
    return _REPEATED.sub(r"\1", phrase)


_KNOWN = frozenset(
    unicodedata.normalize("NFKC", phrase.strip()).casefold()
    for phrases in _PHRASES.values()
    for line in phrases.strip().split("\n")
    for phrase in line.split("|")
)
_KNOWN_ONCE = frozenset(_once(phrase) for phrase in _KNOWN)
