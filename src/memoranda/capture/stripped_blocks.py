"""Blocks in a message that its writer did not write: what hosts and memories put in, code, data, what is private.

Only finds them. Tags are also found with other letters that look the same, as entities, and with invisible
characters in them; each text is read a fixed number of times, whatever is in it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memoranda.capture.folding import IGNORED
from memoranda.domain.candidate import Refusal
from memoranda.domain.pack import CONTEXT_PACK

# A name matches whole. What says that it is private comes first: `no-memory` is no block of memories.
_TAGS: tuple[tuple[Refusal, str], ...] = (
    ("private", "private|no-?mem(?:ory)?|secret|do-not-(?:store|remember)"),
    (
        "injected block",
        "[a-z0-9-]{0,40}memor(?:y|ies)[a-z0-9-]{0,40}|mem|mem0[a-z-]*|ltm[a-z-]*|[a-z]+-ltm|supermemory[a-z-]*|hindsight[a-z-]*"
        "|context|[a-z]+-context|context-[a-z]+|system-reminder|available-skills|skills|environment-details"
        "|recalled?[a-z-]*|retrieved[a-z-]*|untrusted[a-z-]*|user-profile|user-prompt-submit-hook|summary"
        "|conversation|documents?|attached-files|knowledge(?:-base)?|profile",
    ),
    (
        "tool output",
        "tools?|tool-?(?:call|use|result|response|output|error|use-error)s?|function-?(?:call|result|response|output)s?|invoke"
        "|command-(?:name|message|args|stdout|stderr)|local-command-[a-z]+|bash-[a-z]+|stdout|stderr|exit-?code"
        "|ide-[a-z-]+|search-?results?|file-?contents?|observation|thinking|reasoning|task-notification",
    ),
    ("system-looking", "system|assistant|developer|human|instructions?|inst|system-[a-z-]+|admin|prompt|role"),
    ("envelope", "channel|metadata|message-metadata|sender|envelope|untrusted-metadata"),
)
# Also words of everyday markup: a block only when it is closed, or when a line begins with it.
_EVERYDAY = re.compile(
    "mem|memory|memories|context|skills|summary|conversation|documents?|profile|knowledge|tools?|invoke|stdout|stderr"
    "|observation|system|assistant|developer|human|instructions?|inst|admin|prompt|role|channel|metadata|sender"
)
_BRACKET = re.compile(
    "[<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u276e\u02c2]|&(?:amp;){0,4}(?:lt|#0{0,6}60|#[xX]0{0,6}3[cC]);"
)
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "60": "<", "62": ">", "34": '"', "3c": "<", "3e": ">", "22": '"'}
_UNIT = re.compile("&(?:amp;){0,4}(?:#[xX]?0{0,6})?(lt|gt|quot|60|62|34|3[cCeE]|22);|.", re.DOTALL)
_ESCAPED_QUOTE = re.compile("&(?:amp;){0,4}(?:quot|#0{0,6}34|#[xX]0{0,6}22);")
_TAG = re.compile(
    r"<\s{0,4}(?P<end>/?)\s{0,4}(?P<name>relevant memor(?:y|ies)|[a-z][a-z0-9_:-]{0,80})(?P<rest>[^<>]{0,400})>?"
)
_NONCE = re.compile(r'nonce\s{0,4}=\s{0,4}["\']?([a-z0-9-]{4,64})')
_ANGLES = {"\u2039": "<", "\u2329": "<", "\u27e8": "<", "\u3008": "<", "\u276e": "<", "\u02c2": "<"}
_ANGLES |= {"\u203a": ">", "\u232a": ">", "\u27e9": ">", "\u3009": ">", "\u276f": ">", "\u02c3": ">", "\u2010": "-"}

_FENCE = re.compile(r"`{3,}|^[ \t>]{0,12}(~{3,})", re.MULTILINE)
_JSON_START = re.compile(r'\{(?=\s{0,40}["}])|\[(?=\s{0,40}[{"])')
_JSON_TOKEN = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_OURS = re.compile(
    rf'{re.escape(CONTEXT_PACK)}|"[a-z_]*receipt[a-z_]*"|receipt\.v\d|relevant[-_ ]memories', re.IGNORECASE
)
_TOOLS = re.compile(
    r'"(?:tool(?:_?(?:name|call|calls|use|result|results|use_id|call_id|input|output))?|function|arguments|role|exit_?code|stdout'
    r'|stderr|status_code|jsonrpc|traceback|message_id|sender_id|chat_id|conversation_label)"\s{0,9}:',
    re.IGNORECASE,
)
_QUOTE = "(?:>|&(?:amp;){0,4}gt;)"
_MARKDOWN_PACK = re.compile(rf"(?:{_QUOTE} ?)?\*\*Relevant memories ([0-9A-Za-z]{{4,64}})\*\*[^\n]*")
_QUOTED_LINES = re.compile(rf"(?:\n[ \t]{{0,3}}{_QUOTE}[^\n]*)*")
_RECEIPT = re.compile(r"\b[A-Z][a-z]{2,20}Receipt\([^\n]*")

# What may stand between the beginning of a line and a block.
_INDENT = 40


class Block(NamedTuple):
    """From where to where in the text, and why it goes."""

    start: int
    end: int
    reason: Refusal


def blocks(text: str) -> list[Block]:
    """Blocks that do not overlap, in their order. The first that begins wins."""
    found = [*_tagged(text), *_fenced(text), *_data(text), *_packs(text), *_receipts(text)]
    kept: list[Block] = []
    for block in sorted(found, key=lambda block: (block.start, -block.end)):
        if not kept or block.start >= kept[-1].end:
            kept.append(block)
        elif block.reason == "injected block":
            # What is wrapped in code is told by what it is.
            kept[-1] = kept[-1]._replace(reason=block.reason)
    return kept


# -- tags and comments --


class _Open(NamedTuple):
    name: str
    start: int
    reason: Refusal
    nonce: str


def _tagged(text: str) -> Iterator[Block]:
    if not _BRACKET.search(text):
        return
    seen, places = _seen(text)
    yield from (Block(places[start], places[end], reason) for start, end, reason in _comments(seen))
    tags = [(tag, name, reason) for tag in _TAG.finditer(seen) if (reason := _reason(name := _name(tag)))]
    last_end = {name: tag.start() for tag, name, _ in tags if tag["end"]}
    opened: _Open | None = None
    depth = 0
    for tag, name, reason in tags:
        if opened is None:
            if tag["end"] or tag["rest"].endswith("/"):
                yield Block(places[tag.start()], places[tag.end()], reason)
            elif (
                not _EVERYDAY.fullmatch(name) or last_end.get(name, -1) > tag.start() or _begins_line(seen, tag.start())
            ):
                nonce = _NONCE.search(tag["rest"])
                opened, depth = _Open(name, tag.start(), reason, nonce[1] if nonce else ""), 1
        elif name == opened.name and opened.nonce in tag["rest"]:
            depth += -1 if tag["end"] else 1
            if depth == 0:
                yield Block(places[opened.start], places[tag.end()], opened.reason)
                opened = None
    if opened:
        yield Block(places[opened.start], len(text), opened.reason)


def _comments(seen: str) -> Iterator[tuple[int, int, Refusal]]:
    start = seen.find("<!--")
    while start >= 0:
        closing = seen.find("-->", start + 4)
        end = closing + 3 if closing >= 0 else len(seen)
        reason: Refusal = "injected block" if re.search("receipt|memor", seen[start:end]) else "system-looking"
        yield start, end, reason
        start = seen.find("<!--", end)


def _name(tag: re.Match[str]) -> str:
    return tag["name"].replace("_", "-").replace(" ", "-").rpartition(":")[2].strip("-")


@lru_cache(maxsize=512)
def _reason(name: str) -> Refusal | None:
    return next((reason for reason, names in _TAGS if re.fullmatch(names, name)), None)


def _begins_line(seen: str, place: int) -> bool:
    before = seen[max(0, place - _INDENT) : place]
    return (place <= _INDENT or "\n" in before) and not before.rpartition("\n")[2].strip(" \t>")


def _seen(text: str) -> tuple[str, Sequence[int]]:
    """Small letters, entities decoded, nothing invisible; and where each of them stands in the text."""
    if text.isascii() and "&" not in text:
        return text.lower(), range(len(text) + 1)
    letters: list[str] = []
    places: list[int] = []
    for unit in _UNIT.finditer(text):
        shown = _ENTITIES[unit[1].lower()] if unit[1] else _shown(unit[0])
        letters.append(shown)
        places.extend([unit.start()] * len(shown))
    return "".join(letters), [*places, len(text)]


@lru_cache(maxsize=4096)
def _shown(letter: str) -> str:
    if IGNORED.fullmatch(letter):
        return ""
    plain = unicodedata.normalize("NFKC", letter)
    return _ANGLES.get(plain, plain.lower()) if len(plain) == 1 else letter


# -- code and data --


def _fenced(text: str) -> Iterator[Block]:
    opened: tuple[int, str] | None = None
    for fence in _FENCE.finditer(text):
        mark = fence[1] or fence[0]
        if opened is None:
            opened = fence.start(), mark
        elif mark.startswith(opened[1]):
            yield Block(opened[0], fence.end(), "code")
            opened = None
    if opened:
        yield Block(opened[0], len(text), "code")


def _data(text: str) -> Iterator[Block]:
    """Objects and lists of JSON, also with their quotation marks as entities."""
    if not _ESCAPED_QUOTE.search(text):
        yield from _objects(text)
        return
    seen, places = _seen(text)
    yield from (Block(places[start], places[end], reason) for start, end, reason in _objects(seen))


def _objects(text: str) -> Iterator[Block]:
    """Those of packs, receipts and tools anywhere, others where lines are nothing else."""
    place = 0
    while start := _JSON_START.search(text, place):
        end = _json_end(text, start.start())
        span = text[start.start() : end or len(text)]
        reason: Refusal | None = None
        if _OURS.search(span):
            reason = "injected block"
        elif end and (_TOOLS.search(span) or (_begins_line(text, start.start()) and _ends_line(text, end))):
            reason = "tool output"
        if reason:
            yield Block(start.start(), end or len(text), reason)
        if not end:
            return
        place = end


def _json_end(text: str, start: int) -> int | None:
    depth = 0
    quoted = False
    for token in _JSON_TOKEN.finditer(text, start):
        if token[0] == '"':
            quoted = not quoted
        elif not quoted and token[0] in "{[":
            depth += 1
        elif not quoted and token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _ends_line(text: str, place: int) -> bool:
    after = text[place : place + _INDENT]
    return (place + _INDENT >= len(text) or "\n" in after) and not after.partition("\n")[0].strip(" \t\r,;`")


def _packs(text: str) -> Iterator[Block]:
    """Packs in the form of a quotation: to the line with the same nonce, or as far as the quotation goes."""
    place = 0
    while start := _MARKDOWN_PACK.search(text, place):
        last = f"**End of relevant memories {start[1]}**"
        closing = text.find(last, start.end())
        quoted = _QUOTED_LINES.match(text, start.end())
        place = closing + len(last) if closing >= 0 else quoted.end() if quoted else start.end()
        yield Block(start.start(), place, "injected block")


def _receipts(text: str) -> Iterator[Block]:
    if "Receipt(" in text:
        yield from (Block(*found.span(), "injected block") for found in _RECEIPT.finditer(text))
