"""What is left of a message when all is gone that its writer did not say, or said not to keep.

What is decided later is decided on this text, and this text is what is stored.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from memoranda.capture.stripped_blocks import Block, blocks
from memoranda.capture.stripped_lines import is_heartbeat, judged
from memoranda.domain.pack import CONTEXT_PACK

# What one pass takes away can lay bare something for the next. A text that is made of such shells is nobody's words.
_PASSES = 5
_MAX_EMOJI = 3

_KEPT_OUT = re.compile(r"\[\s?(?:NO[-_ ]?MEM(?:ORY)?|PRIVATE|SECRET)\s?\]", re.IGNORECASE)
_BOLD = re.compile(r"\*\*[^*\n]{1,200}\*\*")
_LIST_LINE = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,3}\.)\s", re.MULTILINE)
_EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b05-\u2b55\U0001f300-\U0001f3fa\U0001f400-\U0001faff])"
    "(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[\u2600-\u27bf\U0001f300-\U0001faff])*"
)
_ENDING = re.compile(rf"(?:{_EMOJI.pattern}|\s)+$")

# What a host writes in the place of a history that has become too long: nobody says it, and it may be out of date.
_SUMMARY = re.compile(
    r"\W{0,6}(?:(?:previous |prior |earlier |current )?(?:conversation|session|chat|context|history) summary\b"
    r"|summary of (?:the |our |this )?(?:previous |prior |earlier |whole )?(?:conversation|chat|session|discussion)\b"
    r"|this (?:session|conversation) is being continued from\b|podsumowanie (?:rozmowy|konwersacji|sesji)\b"
    r"|zusammenfassung (?:des gesprächs|der unterhaltung)|resumen de la conversación|résumé de la conversation"
    r"|shrnutí (?:konverzace|rozhovoru)|(?:对话|對話|会话|聊天)(?:摘要|总结|總結)|会話の要約|대화 요약)",
    re.IGNORECASE,
)
# A memory shown or told by an assistant, which comes back as if somebody had said it.
_ECHO = re.compile(
    r"^[ \t>*-]*(?:(?:remembered|stored memory|saved to memory|memory (?:saved|stored|updated))\b[^:\n]{0,40}:"
    r"|(?:based on|according to) (?:your|my|the|our) (?:stored |saved |long-term )?memor(?:y|ies)\b).*$",
    re.IGNORECASE | re.MULTILINE,
)
_MEMORY_HEADING = re.compile(
    r"^#{1,6}[ \t]*(?:long-term |relevant |user |session |your )?memor(?:y|ies)\b[^\n]*$(?:\n(?!#).*)*",
    re.IGNORECASE | re.MULTILINE,
)

_OF_MEMORIES = re.compile(rf"{re.escape(CONTEXT_PACK)}|relevant[-_ ]memories", re.IGNORECASE)

_ERRANDS = frozenset(
    {"cron", "cronjob", "heartbeat", "subagent", "scheduled", "schedule", "scheduler", "timer", "background", "hook"}
    | {"hooks", "webhook", "isolated", "automation"}
)
_KEY_PARTS = re.compile(r"[:/]")
# The number of one run: `cron-42`, `subagent_7f3a`.
_RUN = re.compile(r"[-_.](?=[0-9a-f-]*\d)[0-9a-f-]+$")


class Stripped(NamedTuple):
    """`removed` says how many pieces went, by the name of the refusal. `private` keeps all of it out of everything."""

    text: str
    removed: Mapping[str, int]
    private: bool


def is_private(text: str) -> bool:
    """Whether its writer said that it is to be kept nowhere."""
    return _KEPT_OUT.search(text if text.isascii() else unicodedata.normalize("NFKC", text)) is not None


def without_packs(text: str) -> str:
    """The text without packs of memories that were put into it. All else stays: somebody may want to read it again."""
    if not _OF_MEMORIES.search(text):
        return text
    packs = [
        block
        for block in blocks(text)
        if block.reason == "injected block" and _OF_MEMORIES.search(text, block.start, block.end)
    ]
    return _tidied(_cut(text, packs)) if packs else text


def without_private(text: str) -> str:
    """The text without what its writer marked as private, by a tag around it."""
    if "<" not in text and "&" not in text and text.isascii():
        return text
    private = [block for block in blocks(text) if block.reason == "private"]
    return _tidied(_cut(text, private)) if private else text


def stripped(text: str) -> Stripped:
    """The person's own words, in their paragraphs. Text of which nothing goes is left as it is."""
    if is_private(text):
        return Stripped("", MappingProxyType({"private": 1}), True)
    removed: Counter[str] = Counter()
    left = text
    for _ in range(_PASSES):
        before = removed.total()
        left = _without_system_looking(
            _without_lines(_without_blocks(_without_echoes(left, removed), removed), removed), removed
        )
        if removed.total() == before:
            return Stripped(left, MappingProxyType(dict(removed)), False)
        left = _tidied(left)
    removed["system-looking"] += 1
    return Stripped("", MappingProxyType(dict(removed)), False)


def is_conversation(kind: str, conversation: str) -> bool:
    """Whether people talk in it: not a timer, a heartbeat, a hook or another agent's errand.

    Told by the kind of session, or by the parts of a key such as `agent:main:cron:7f3`. A name that people gave a chat
    says nothing.
    """
    if _is_errand(kind):
        return False
    parts = [] if any(letter.isspace() for letter in conversation) else _KEY_PARTS.split(conversation)
    return not any(_is_errand(_RUN.sub("", part)) for part in parts)


def _is_errand(name: str) -> bool:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) in _ERRANDS


def _tidied(text: str) -> str:
    """No blanks at the ends, and one empty line between paragraphs where pieces left more."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(line for before, line in pairwise(["", *lines]) if line or before).strip()


def _without_echoes(text: str, removed: Counter[str]) -> str:
    for told in (_MEMORY_HEADING, _ECHO):
        text, number = told.subn("", text)
        removed.update(["injected block"] * number)
    return text


def _without_blocks(text: str, removed: Counter[str]) -> str:
    found = blocks(text)
    if not found:
        return text
    removed.update(block.reason for block in found)
    return _cut(text, found)


def _cut(text: str, gone: list[Block]) -> str:
    kept: list[str] = []
    place = 0
    for block in (*gone, Block(len(text), len(text), "code")):
        kept.append(text[place : block.start])
        place = block.end
    return _joined(text, kept, gone)


def _joined(text: str, kept: list[str], gone: list[Block]) -> str:
    """The pieces with a blank between those of one line, and else a line end: no word is put together by a cut."""
    parts = [kept[0]]
    for block, after in zip(gone, kept[1:], strict=True):
        parts[-1] = parts[-1].rstrip(" \t")
        parts.append("\n" if "\n" in text[block.start : block.end] else " ")
        parts.append(after.lstrip(" \t"))
    return "".join(parts)


def _without_lines(text: str, removed: Counter[str]) -> str:
    lines = text.splitlines()
    verdicts = judged(lines)
    if all(verdict.text == line for verdict, line in zip(verdicts, lines, strict=True)):
        return text
    removed.update(reason for verdict in verdicts for reason in verdict.reasons)
    return "\n".join(verdict.text for verdict in verdicts if verdict.text is not None)


def _without_system_looking(text: str, removed: Counter[str]) -> str:
    bare = text.strip()
    pasted_answer = "**" in bare and _BOLD.search(bare) and _LIST_LINE.search(bare) and bare.count("\n") >= 2
    if _SUMMARY.match(bare):
        removed["system-looking"] += 1
        return ""
    if bare and ((bare.startswith("<") and "</" in bare) or pasted_answer or is_heartbeat(bare)):
        removed["system-looking"] += 1
        return ""
    if not bare.isascii() and len(_EMOJI.findall(bare)) > _MAX_EMOJI:
        # Hearts at the end of what somebody says are theirs; a text full of pictures is a machine's.
        lines = bare.splitlines()
        kept = [line for line in lines if not _EMOJI.search(_ENDING.sub("", line))]
        removed.update(["system-looking"] * (len(kept) < len(lines)))
        return "\n".join(kept) if len(kept) < len(lines) else text
    return text
