"""The signs by which `heuristic-v1` weighs a text: what raises it, what lowers it, in words of four languages.

Only signs of what a text is about, never of what it says of itself: "this is important" is no sign.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

# Latin words stand between boundaries; a `*` at the end lets them go on. Chinese is found anywhere.
_WORDS: dict[str, tuple[str, str]] = {
    "preference": (
        """
        prefer*|favou?rite*|always|never|must|must not|mustn't|please don't|don't ever|should always|policy|policies
        rule|rules|guideline*|convention|by default|default to|require*|requirement*|not allowed|forbidden|from now on
        wolę|wolimy|woli|preferuj*|ulubion*|zawsze|nigdy|musi|muszą|nie wolno|zasad*|reguł*|wymag*|domyślnie|od teraz
        bevorzug*|lieblings*|immer|niemals|muss|müssen|darf nicht|dürfen nicht|richtlinie*|regel|regeln|vorgabe*
        standardmäßig|ab jetzt|ab sofort
        """,
        "偏好|喜欢|更喜欢|宁愿|总是|永远|从不|绝不|必须|禁止|不要|不得|规则|政策|规定|原则|默认|要求|以后都",
    ),
    "decision": (
        """
        decid*|decision*|chose|chosen|choose|agreed|agreement|settled on|will use|we use|switched to|migrat*|configur*
        set up|setup|installed|deployed|architecture|adopted|selected|approved
        zdecydowa*|decyzj*|postanowi*|wybra*|ustalili*|ustalono|uzgodni*|skonfigurowa*|konfiguracj*|zainstalowa*
        wdroży*|wdrożon*
        entschieden|entscheidung*|beschlossen|beschluss|vereinbart|gewählt|einigten|eingerichtet|konfiguriert
        konfiguration*|installiert|umgestellt
        """,
        "决定|选择了|选定|采用|确定使用|同意|批准|配置|设置为|安装|部署|架构|迁移|切换到",
    ),
    "runbook": (
        """
        runbook*|playbook*|how to|howto|step by step|step 1|steps to|procedure*|instructions|restart the|roll back
        rollback|to restore|to deploy|to recover|workflow|checklist
        instrukcj*|procedur*|krok po kroku|krok 1|jak uruchomić|jak naprawić|aby przywrócić|zrestartuj
        anleitung*|vorgehen|schritt für schritt|schritt 1|so geht|neu starten|wiederherstellen
        """,
        "步骤|操作手册|流程|如何|怎么做|教程|重启|回滚|恢复方法|第一步",
    ),
    "error": (
        """
        error*|exception*|traceback|failed|failure*|fails|bug|bugs|crash*|broken|outage|incident*|regression|timeout*
        błąd|błędu|błędy|błędów|awari*|wyjątek|zepsu*|nie działa|usterk*
        fehler*|ausnahme|abgestürzt|absturz|kaputt|ausfall|störung*|geht nicht|funktioniert nicht
        """,
        "错误|报错|异常|失败|崩溃|故障|漏洞|超时|坏了",
    ),
    "fix": (
        """
        fix|fixed|fixes|solved|solution|resolved|workaround*|root cause|patched|repaired|the remedy
        naprawi*|rozwiązan*|rozwiązał*|obejści*|poprawk*|przyczyn*
        behoben|gelöst|lösung*|repariert|ursache|umgehung*
        """,
        "修复|解决|已修|变通|根因|根本原因|补丁",
    ),
    "task": (
        """
        todo|to-do|task|tasks|action item*|need to|needs to|have to|has to|remember to|remind*|follow up|follow-up
        do zrobienia|zadanie|zadania|trzeba|muszę|musimy|pamiętaj, żeby|pamiętać o|przypomni*
        aufgabe*|zu erledigen|erledigen|ich muss noch|wir müssen noch|erinner*|nicht vergessen
        """,
        "待办|任务|需要做|要做|记得|提醒|跟进",
    ),
    "deadline": (
        """
        deadline*|due date|due on|due by|is due|by today|by tomorrow|by monday|by tuesday|by wednesday|by thursday
        by friday|by saturday|by sunday|by the end of|until monday|until friday|no later than|before monday
        before friday|by eod|asap
        termin|do jutra|do poniedziałku|do piątku|najpóźniej|do końca
        frist|fällig|bis morgen|bis montag|bis freitag|spätestens|bis ende
        """,
        "截止|期限|之前完成|最晚|到期|明天前|周五前|月底前",
    ),
    "progress": (
        """
        working on|in progress|still running|still working|almost done|nearly done|halfway|started|starting|continuing
        continue|ongoing|making progress|progress update|status update|wip|underway|checking|looking into it|done
        finished
        pracuję nad|w toku|w trakcie|prawie gotowe|zaczynam|zacząłem|zaczęłam|kontynuuję|sprawdzam|gotowe|zrobione
        arbeite an|in arbeit|läuft noch|fast fertig|angefangen|mache weiter|prüfe gerade|erledigt|fertig
        """,
        "进行中|正在处理|正在做|还在跑|快好了|差不多了|开始了|继续|进度|已完成|完成了|做完了",
    ),
    "calendar": (
        """
        meeting*|appointment*|call with|call at|standup|stand-up|sync with|lunch with|dinner with|event at|scheduled
        spotkani*|wizyta|rozmowa z|umówion*
        besprechung*|treffen|anruf mit|verabredung*
        """,
        "会议|开会|约会|预约|例会|日程",
    ),
}
_IDENTIFIERS = re.compile(
    r"""
    \bhttps?://\S
    | (?<![\w/])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+            # a path
    | \b[A-Za-z]:\\[\w.\\-]
    | (?<![\w.])[a-z][a-z_]{1,31}\.[a-z0-9_]{2,}\b             # light.office
    | \b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b                            # MEMORANDA_SCOPE
    | \b[A-Z]{2,10}-\d+\b                                      # OPS-123
    | \b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b
    | \bv?\d+\.\d+\.\d+\b
    | \b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b         # a commit
    | (?<!\w)--[a-z][\w-]+
    | [\w+]@[\w-]{1,64}\.\w                                    # an address, by the end of its name
    | \#\d{2,}\b
    """,
    re.VERBOSE,
)
# Without one of these there is no identifier: most sentences are told apart by this alone.
_COULD_IDENTIFY = re.compile(r"[/_#@\\\d]|[.:-]\w")
_COMMAND = re.compile(
    r"(?m)^[ \t]*(?:\$ |```)|`[^`\n ]+ [^`\n]+`|\b(?:sudo|systemctl|kubectl|docker|git|pip|npm|ssh) \w"
)
_CLOCK = re.compile(
    r"\b\d{1,2}:\d{2}\b|\b\d{1,2} ?(?:am|pm)\b|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:to(?:day|morrow|night))\b"
    r"|\b(?:jutro|dziś|dzisiaj|poniedziałek|wtorek|środę|czwartek|piątek|sobotę|niedzielę)\b"
    r"|\b(?:morgen|heute|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b|[今明后]天|星期|周[一二三四五六日]|点"
)
_CHATTER = re.compile(
    r"""(?:\W|\b(?:
        hi|hey|hello|yo|good|morning|evening|night|afternoon|bye|goodbye|thanks?|thx|you|so|much|very|a|lot|ok|okay|k|yes
        |yeah|yep|no|nope|sure|fine|cool|nice|great|awesome|perfect|lol|lmao|haha+|hehe+|hm+|wow|oh|ah|how|are|is|it|going
        |what's|up|welcome|please|sorry|got|i|see|right|well|all
        |cześć|hej|siema|dzień|dobry|dobranoc|dzięki|dziękuję|bardzo|tak|nie|spoko|super|fajnie|jasne|na|razie|pa
        |hallo|moin|servus|guten|tag|abend|danke|schön|vielen|dank|bitte|ja|nein|gut|klar|tschüss|alles|wie|geht's
        )\b|你好|您好|谢谢|多谢|再见|晚安|早安|早上好|好的|好吧|嗯|哦|哈|呵|嘻|是的|不客气|辛苦|了|啊|呀|啦|吧|你|您|们)+""",
    re.VERBOSE,
)
# The whole of a text: "I am working on a novel" tells of a person, "still working on it" of an afternoon.
_ONLY_PROGRESS = re.compile(
    r"""\W*(?:(?:i|we|it|this|that|everything|all|the|build|tests?|job|task|step|part|\d+)\W+)*?
        (?:(?:i'm|we're|it's|am|is|are|was|has|have|been|still|now|just|almost|nearly|currently|about|\d+\s?%)\W*)*
        (?:working\ on\ (?:it|this|that)|in\ progress|(?:progress|status)\ update|wip|ongoing|underway|running|done
          |finished|started|starting|continuing|checking|looking\ into\ (?:it|this)|making\ progress|halfway
          |pracuję\ nad\ tym|w\ toku|w\ trakcie|prawie\ gotowe|zaczynam|sprawdzam|gotowe|zrobione|kontynuuję
          |arbeite\ daran|in\ arbeit|läuft\ noch|fast\ fertig|angefangen|mache\ weiter|erledigt|fertig
          |进行中|正在(?:处理|做)|还在跑|快好了|差不多了|开始了|继续|已?完成了?|做完了)
        (?:\W+(?:now|so|far|soon|there|through|\d+|done|of)\b)*\W*""",
    re.VERBOSE,
)
_MOST_CHATTER = 80


class Signs(NamedTuple):
    """What a text shows."""

    preference: bool
    decision: bool
    identifier: bool
    runbook: bool
    error: bool
    fix: bool
    task: bool
    deadline: bool
    chatter: bool
    progress: bool
    only_progress: bool
    """Progress from the first word to the last."""
    calendar: bool


def signs_in(text: str) -> Signs:
    """Every sign that a text shows, each by itself."""
    low = text.casefold().replace("’", "'").strip()
    short = len(low) <= _MOST_CHATTER
    shown = {name: _shows(name, low) for name in _WORDS}
    return Signs(
        preference=shown["preference"],
        decision=shown["decision"],
        identifier=_COULD_IDENTIFY.search(text) is not None and _IDENTIFIERS.search(text) is not None,
        runbook=shown["runbook"] or _COMMAND.search(text) is not None,
        error=shown["error"],
        fix=shown["fix"],
        task=shown["task"],
        deadline=shown["deadline"],
        chatter=short and _CHATTER.fullmatch(low) is not None,
        progress=shown["progress"],
        only_progress=short and _ONLY_PROGRESS.fullmatch(low) is not None,
        calendar=shown["calendar"] and _CLOCK.search(low) is not None,
    )


def _shows(name: str, low: str) -> bool:
    latin, unspaced = _patterns(name)
    return latin.search(low) is not None or (not low.isascii() and unspaced.search(low) is not None)


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    latin, unspaced = _WORDS[name]
    words = [word.strip() for line in latin.strip().splitlines() for word in line.split("|")]
    # Most places are told by one letter: the words are tried only where one of them can begin.
    begins = re.escape("".join(sorted({word[0] for word in words})))
    return re.compile(rf"(?<!\w)(?=[{begins}])(?:{'|'.join(_as_pattern(words))})"), re.compile(unspaced)


def _as_pattern(words: Sequence[str]) -> list[str]:
    """Longest first; a `?` after a letter lets it be missing."""
    ordered = sorted(filter(None, words), key=len, reverse=True)
    return [
        re.escape(word).replace(r"\?", "?").removesuffix(r"\*") + ("" if word[-1] == "*" else r"\b") for word in ordered
    ]
