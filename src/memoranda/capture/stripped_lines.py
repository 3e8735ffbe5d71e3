"""Lines of a message that its writer did not write: envelopes of channels, quoted mail, output of tools, forged turns.

Each line is judged by how it begins; some take the lines after them along.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memoranda.capture.folding import folded
from memoranda.domain.candidate import Refusal

# A line is known by its beginning; what follows may be of any length.
_LOOKED_AT = 400

# -- on the folded line --

_INJECTED = re.compile(
    r"[>\s]*\*\*(?:end of )?relevant memories\b"
    r"|untrusted reference data from long-term memory"
    r"|[>\s]*(?:[-*•]|\d{1,3}[.)])\s*\[(?:fact|preference|decision|entity|episode|note|memory|other|profile)\b[^\]]{0,60}\]"
    r"|(?:- )?profile: \"[^\"]{0,300}\"$"
    r"|[#*\s]*(?:the following|these|here are|below are)(?: (?:some|the|your))?(?: \w+){0,2} memor(?:y|ies)"
    r" (?:\w+ ){0,4}"
    r"(?:may|might|could|are|were|that|from)\b.{0,60}(?:relevant|helpful|useful|recall|retriev|long-term|stored)"
    r"|[#*\s]*\[[^\]\[]{0,30}\bmemor(?:y|ies)\b[^\]\[]{0,30}\]\s*$"
    r"|[#*\s]*(?:known |stored |saved )?user(?:'s)? (?:preferences?|facts?|memor(?:y|ies)|profile|details|context)"
    r"[:*]+\s*$"
    r"|[#*\s]*(?:relevant|recalled|retrieved|long-term|stored|related|saved|user) memor(?:y|ies)\b[^.!?]{0,40}[:*]+\s*$"
    r"|#{1,4} (?:\w+ ){0,2}memor(?:y|ies)\s*$"
    r"|(?:以下|相关|相關)(?:是)?(?:的)?(?:记忆|記憶)|(?:istotne|powiazane) wspomnienia\s*:"
)
_SYSTEM = re.compile(
    r"\W{0,4}(?:system|assistant|human|user|developer|ai|bot|system prompt|uzytkownik|użytkownik|asystent"
    r"|系统|系統|助手|用户|用戶|人类)\W{0,3}:(?!//)"
    r"|.{0,300}(?:<\|[a-z_ ]{1,30}\|>|\[/?inst\]|<</?sys>>|</?(?:start|end)_of_turn>)"
    r"|#{2,}\s*(?:instructions?|system|response|human|assistant|input|user)\b"
    r"|.{0,300}\"role\"\s{0,4}:\s{0,4}\"(?:system|assistant|developer|tool|user)\""
    r"|\[(?:cron|hook|heartbeat|system|scheduled|subagent)\b"
    r"|\|.{1,300}\|\s*$"
)
_HEARTBEAT = re.compile(r"\bheartbeat(?:_ok|_check|\.md|_poll)\b|^\W*heartbeat\W*$|\b(?:no_reply|silent_reply)\b")

# -- on the line as it is --

_ENVELOPE = re.compile(
    r"\s*System: \["
    r"|\s*[A-Z][A-Za-z ]{2,60} \(untrusted\b[^)]{0,80}\)"
    r"|\s*\[?Replied message\b|\s*Sent from my \w+|\s*(?:Get|Download) Outlook for \w+"
    r"|\s{0,3}>"
    r"|\s*-{2,}\s*(?:Forwarded|Original|Reply) [Mm]essage"
)
_TOOL = re.compile(
    r"\s*(?:stdout|stderr|STDOUT|STDERR)\s*[:=>|]"
    r"|\s*(?:[Pp]rocess |[Cc]ommand )?(?:[Ee]xit(?:ed)?|[Rr]eturn)(?: with)? ?(?:code|status)\s*[:=]?\s*-?\d"
    r"|\s*Traceback \(most recent|\s+File \"[^\"]{1,200}\", line \d|\s+at [\w.$<>/]{2,120}\("
    r"|\s*Caused by: |\s*Exception in thread"
    r"|\s*\w{1,40}(?:Error|Exception|Warning): |\s*(?:panicked at|Segmentation fault|npm ERR!|fatal: |error\[E\d)"
    r"|\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[^ ]{0,12}\]?\s.{0,60}"
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\s*\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?\s*[:\[(|-]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: "
    r"|\s*\$ [a-z./~]|\s*[\w.-]{1,40}@[\w.-]{1,60}:[^ $#]{0,80}[$#] "
    r"|\s*PS [A-Z]:\\|\s*[A-Z]:\\[^>]{0,80}>|\s*>>> |\s*In \[\d+\]:|\s*Out\[\d+\]:"
    r"|diff --git |index [0-9a-f]{6,40}\.\.|@@ [-+,\d ]+ @@|(?:---|\+\+\+) (?:[ab]/|/dev/null)"
    r"|\W{0,3}(?:tool|function)[_ -]?(?:call|result|use|output|response)s?(?:_id)?\W{0,3}[:=(\[{<>]"
    r"|\s*</?[A-Za-z!?][^<>]{0,200}>(?:.{0,300}</?[A-Za-z][^<>]{0,100}>)?\s*$"
    r"|[\s\[\]{}(),;]*[\[\]{}][\s\[\]{}(),;]*$"
    r"|\s*\"[^\"]{1,80}\"\s*:\s*(?:[\"\[{\d-]|true|false|null)"
)
_LINK = re.compile(r"\s*<?(?:(?:https?|ftp|file)://|www\.)\S++\s*+$")
_BRACKETS = re.compile(
    r"\[(?:media attached|message_id|attachment|attached|image|audio|video|voice|sticker|file|document"
    r"|replying to|reply to|in reply to|replied message|forwarded from|quoted message|thread)\b"
    r"\s?[:\s\d][^\]\n]{0,300}\]",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"\s*(?:\[(?:(?:Telegram|WhatsApp|Discord|Slack|Signal|iMessage|Matrix|Teams|WebChat|SMS|LINE|WeChat|QQ|Feishu|IRC)"
    r"\b[^\]\n]{0,200}"
    r"|[^\]\n]{0,80}(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d{1,2}:\d\d)[^\]\n]{0,80})\]:?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?: ?(?:Z|UTC|GMT)(?:[+-]\d{1,4})?)? -(?= |$))[ \t]*"
)
_WROTE = re.compile(
    r"\s*(?:On |W dniu |Dnia |Am |Le |El |Dne |Il |Op |在).{4,240}"
    r"(?:wrote|pisze|napisał(?:\(a\)|a)?|schrieb.{0,80}|a écrit|escribió|napsala?(?:\(a\))?|ha scritto|schreef|写道)"
    r"\s*[:：]\s*$"
)
_WROTE_START = re.compile(r"\s*(?:On |W dniu |Dnia |Am |Le |El |Dne |Il |Op |在).{0,60}\d{4}")
_HEADER = re.compile(
    r"(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID|In-Reply-To|References|Content-Type|MIME-Version|Received"
    r"|Return-Path|X-[\w-]+|Od|Do|Temat|Data|Von|An|Betreff|Datum|De|Para|Asunto|À|Objet|发件人|收件人|主题|日期)"
    r"\s?: ?\S"
)
# Without one of these it may as well be somebody's journey.
_OF_MAIL = re.compile(r"Subject|Sent|Message-ID|Temat|Betreff|Asunto|Objet|主题|.{0,200}@")
_LIST_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s")
_CODE_LIKE = re.compile(r"[{}();=<>$\\|\[\]`]|:$|^\s*(?:#|//|import |from |return |def |class )|->|\w_\w")
_YAML = re.compile(r"\s*(?:[\w'\"-]{1,60}\s?:(?:\s|$)|-\s|#|$)|\s{2,}\S")
_UNSPACED = re.compile("[\u3040-\u9fff]")
_SIGNATURE_LINES = 8
_END_OF_ALL = re.compile(
    r"\s*-{3,}\s*(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Wiadomość oryginalna|Message d'origine)",
    re.IGNORECASE,
)


class Line(NamedTuple):
    """What is left of a line; None when all of it goes. `reasons` are for the pieces that went."""

    text: str | None
    reasons: tuple[Refusal, ...] = ()


def judged(lines: Sequence[str]) -> list[Line]:
    """Each line, or what is left of it."""
    known = {line: _alone(line) for line in dict.fromkeys(lines)}
    verdicts = [known[line] for line in lines]
    for rule in _TOGETHER:
        rule(lines, verdicts)
    return verdicts


def is_heartbeat(text: str) -> bool:
    """Whether a timer speaks, not a person."""
    small = text.lower()
    return ("heartbeat" in small or "_reply" in small) and bool(_HEARTBEAT.search(small))


def _alone(line: str) -> Line:
    if not line or line.isspace():
        return Line(line)
    if reason := _reason(line):
        return Line(None, (reason,))
    if "[" not in line and not line.lstrip()[:1].isdigit():
        return Line(line)
    left, tags = _BRACKETS.subn("", line)
    prefix = _PREFIX.match(left)
    left = left[prefix.end() :] if prefix else left
    envelope: Refusal = "envelope"
    reasons = (envelope,) * (tags + bool(prefix))
    return Line(left if left.strip() or not reasons else None, reasons)


def _reason(line: str) -> Refusal | None:
    head = line[:_LOOKED_AT]
    seen = folded(head)
    if _INJECTED.match(seen):
        return "injected block"
    if _ENVELOPE.match(head):
        return "envelope"
    if _TOOL.match(head if len(line) <= _LOOKED_AT else head + "…") or _LINK.match(line) or _is_json(line):
        return "tool output"
    return "system-looking" if _SYSTEM.match(seen) else None


def _is_json(line: str) -> bool:
    bare = line.strip().rstrip(",")
    if not (bare[:1] in "{[" and bare[-1:] in "}]") or len(bare) < 2:
        return False
    try:
        json.loads(bare)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True


# -- lines that belong together --


def _drop(lines: Sequence[str], verdicts: list[Line], start: int, end: int, reason: Refusal) -> None:
    """Those not yet gone, counted as one piece."""
    first = True
    for place in range(start, end):
        if verdicts[place].text is not None and lines[place].strip():
            verdicts[place] = Line(None, (*verdicts[place].reasons, *((reason,) if first else ())))
            first = False


def _front_matter(lines: Sequence[str], verdicts: list[Line]) -> None:
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if not lines or lines[first].strip() != "---":
        return
    for place in range(first + 1, len(lines)):
        if lines[place].strip() in ("---", "..."):
            _drop(lines, verdicts, first, place + 1, "envelope")
            return
        if not _YAML.match(lines[place]):
            return


def _headers(lines: Sequence[str], verdicts: list[Line]) -> None:
    place = 0
    while place < len(lines):
        end = place
        while end < len(lines) and _HEADER.match(lines[end]):
            end += 1
        if end - place >= 2 and any(_OF_MAIL.match(line) for line in lines[place:end]):
            _drop(lines, verdicts, place, end, "envelope")
        place = end + 1


def _mail(lines: Sequence[str], verdicts: list[Line]) -> None:
    """Who wrote what is quoted; all that follows, unless the quotation is marked line by line."""
    for place, line in enumerate(lines):
        width = _wrote(lines, place)
        rest = (
            next((lines[each] for each in range(place + width, len(lines)) if lines[each].strip()), "") if width else ""
        )
        if _END_OF_ALL.match(line[:_LOOKED_AT]) or (rest and not rest.lstrip().startswith(">")):
            _drop(lines, verdicts, place, len(lines), "envelope")
            return
        _drop(lines, verdicts, place, place + width, "envelope")


def _wrote(lines: Sequence[str], place: int) -> int:
    """How many lines say who wrote what follows."""
    head = lines[place][:_LOOKED_AT]
    if _WROTE.match(head):
        return 1
    folded_over = _WROTE_START.match(head) and place + 1 < len(lines)
    return 2 if folded_over and _WROTE.match(f"{head} {lines[place + 1][:_LOOKED_AT]}") else 0


def _signature(lines: Sequence[str], verdicts: list[Line]) -> None:
    for place in range(len(lines) - 1, max(-1, len(lines) - _SIGNATURE_LINES - 2), -1):
        if lines[place] in ("-- ", "--"):
            _drop(lines, verdicts, place, len(lines), "envelope")
            return


def _followers(lines: Sequence[str], verdicts: list[Line]) -> None:
    """What a forged turn, a list of memories, a traceback or a diff takes along."""
    taking: Refusal | None = None
    goes_on: Callable[[str], object] = bool
    for place, line in enumerate(lines):
        if verdicts[place].text is None:
            taking = verdicts[place].reasons[0] if verdicts[place].reasons else None
            goes_on = _goes_on(line, taking)
        elif taking and goes_on(line):
            verdicts[place] = Line(None, ())
        else:
            taking = None


def _goes_on(line: str, reason: Refusal | None) -> Callable[[str], object]:
    if reason == "system-looking":
        return str.strip  # to the end of the paragraph
    if reason == "injected block":
        return _LIST_ITEM.match
    if reason == "tool output" and line.lstrip().startswith("Traceback"):
        return lambda each: each.startswith((" ", "\t"))
    if reason == "tool output" and line.startswith(("@@", "+++", "---")):
        return lambda each: each[:1] in tuple(" +-\\") and each
    return lambda each: False


def _tables(lines: Sequence[str], verdicts: list[Line]) -> None:
    """Two lines or more with as many separators each, and nothing that reads like a sentence."""
    columns = [_columns(line) for line in lines]
    place = 0
    while place < len(lines):
        end = place + 1
        while end < len(lines) and columns[end] and columns[end] == columns[place]:
            end += 1
        if columns[place] and end - place >= 2:
            _drop(lines, verdicts, place, end, "tool output")
        place = end


def _columns(line: str) -> tuple[str, int] | None:
    bare = re.sub(r'"[^"]*"', '""', line.strip()) if '"' in line else line.strip()
    for mark in ("\t", ","):
        cells = bare.split(mark)
        if len(cells) > 1 and not any(
            cell[:1] == " " or cell.count(" ") > 2 or _UNSPACED.search(cell) for cell in cells
        ):
            return mark, len(cells)
    return None


def _indented(lines: Sequence[str], verdicts: list[Line]) -> None:
    place = 0
    while place < len(lines):
        end = place
        while end < len(lines) and lines[end].startswith(("    ", "\t")) and lines[end].strip():
            end += 1
        after_blank = place == 0 or not lines[place - 1].strip() or verdicts[place - 1].text is None
        if end > place and after_blank and any(_CODE_LIKE.search(line[:_LOOKED_AT]) for line in lines[place:end]):
            _drop(lines, verdicts, place, end, "code")
        place = max(end, place + 1)


_TOGETHER = (_front_matter, _headers, _mail, _signature, _followers, _tables, _indented)
