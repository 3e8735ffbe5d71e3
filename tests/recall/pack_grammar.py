"""The grammar of a pack, written down once more and owing nothing to src but the words of the notice."""

import html
import json
import re
import unicodedata

from memoranda.recall.packing import NOTICE

STRING = r'"(?:[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029<>&`\[\]{}]|\\(?:["\\nt]|u[0-9a-f]{4}))*"'
_NAME = rf"(?:[0-9A-Za-z_-]{{1,40}}|{STRING})"
_ITEM = re.compile(
    rf"(?P<number>\d+)\. \[(?P<kind>{_NAME})\] (?P<text>{STRING}) \(id=(?P<id>{_NAME}), (?P<source>{_NAME})"
    rf"(?:, speaker=(?P<speaker>{STRING}))?(?:, from=(?P<source_ref>{STRING}))?(?:, about=(?P<about>{STRING}))?"
    rf", (?P<trust>{_NAME}), (?P<day>\d{{4}}-\d\d-\d\d)\)"
)
_PROFILE = re.compile(rf"(?:- )?profile: (?P<text>{STRING})")
_DOCUMENT = re.compile(
    rf"document: (?P<text>{STRING}) \(from=(?P<citation>{STRING}), (?P<trust>{_NAME})(?:, \d{{4}}-\d\d-\d\d)?\)"
)
_NONCE = "[a-z2-7]{12}"
_LINK = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|www\.|\]\(|\]:|!\[")
_INVISIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u115f\u1160\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0100-\U0010ffff]"
)


_LISTS = ("profile", "items", "documents", "left_out", "notes")


class Broken(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Broken(what)


def read(text, form):
    """(profile lines, items as dicts) by the grammar, or Broken: anything else in the text is a way out of it."""
    expect(not _LINK.search(text), "a link")
    expect(not _INVISIBLE.search(text), "hidden characters")
    return {"xml": read_xml, "markdown": read_markdown, "json": read_json}[form](text)


def read_xml(text):
    lines = text.splitlines()
    opening = re.fullmatch(rf'<relevant-memories nonce="({_NONCE})">', lines[0])
    expect(opening, "the first line is not the opening tag")
    expect(lines[-1] == f'</relevant-memories nonce="{opening[1]}">', "the last line is not the closing tag")
    expect(text.count(opening[1]) == 2, "the nonce is elsewhere, too")
    expect(lines[1].startswith(NOTICE), "no notice")
    # Also for who decodes entities or folds letters first, there is one block.
    for seen in (text, html.unescape(text), unicodedata.normalize("NFKC", text)):
        expect(seen.count("<") == seen.count(">") == 2, "a tag inside")
    return read_lines(lines[2:-1])


def read_markdown(text):
    lines = text.splitlines()
    opening = re.match(rf"> \*\*Relevant memories ({_NONCE})\*\*: ", lines[0])
    expect(opening and NOTICE in lines[0], "the first line is not the opening")
    expect(all(re.match(">(?: |$)", line) for line in lines), "a line outside the quotation")
    expect(lines[-1] == f"> **End of relevant memories {opening[1]}**", "the last line is not the end")
    expect(text.count(opening[1]) == 2, "the nonce is elsewhere, too")
    expect(lines[1] == lines[-2] == ">", "the list does not stand by itself")
    expect("`" not in text and "<" not in text, "code or a tag")
    return read_lines([line[2:] for line in lines[2:-2]])


def read_lines(lines):
    profile, items = [], []
    while lines and _DOCUMENT.fullmatch(lines[-1]):
        lines.pop()
    for line in lines:
        if not items and (found := _PROFILE.fullmatch(line)):
            profile.append(json.loads(found["text"]))
            continue
        found = _ITEM.fullmatch(line)
        expect(found, f"neither profile nor item: {line[:80]!r}")
        values = {name: value for name, value in found.groupdict().items() if value is not None}
        items.append({name: json.loads(value) if value[0] == '"' else value for name, value in values.items()})
    expect([int(item["number"]) for item in items] == list(range(1, len(items) + 1)), "numbers")
    return profile, items


def read_json(text):
    whole = json.loads(text, object_pairs_hook=_without_twins)
    expect(list(whole) == ["schema", "notice", "meta", *_LISTS], "other parts")
    expect(whole["schema"] == "memoranda.context-pack.v1", "another schema")
    expect(text.count(whole["meta"]["nonce"]) == 1, "the nonce is elsewhere, too")
    expect("<" not in text and "&" not in text and "`" not in text, "markup")
    lists = sum(bool(whole[name]) for name in _LISTS)
    entries = sum(len(whole[name]) for name in _LISTS)
    expect(len(text.splitlines()) == 6 + entries + lists, "not one line an item")
    return whole["profile"], [{name: str(value) for name, value in item.items()} for item in whole["items"]]


def _without_twins(pairs):
    expect(len(dict(pairs)) == len(pairs), "a name twice")
    return dict(pairs)
