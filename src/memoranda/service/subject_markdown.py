"""The report on a person as a page for people. Everything in it that somebody wrote is shown as plain text."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from memoranda.domain.clock import iso
from memoranda.domain.retention import How, SubjectMemory, SubjectReport, SubjectTalk
from memoranda.domain.text import so_many

_HEADINGS = (
    ("profile", "Profile"),
    ("facts", "Facts"),
    ("preferences", "Preferences"),
    ("memories", "Memories"),
)
_HOW: dict[How, str] = {
    "about": "about them",
    "said": "said by them",
    "scope": "kept in a scope of their name",
    "mentions": "has a name of theirs in it",
}
# What begins or ends something in Markdown or HTML; and what would turn an address into a link.
_MARKS = re.compile(r"[\\`*_{}\[\]()<>#+!|~&$=@-]|:(?=//)|(?<=[wW]{3})\.")
_NUMBERED = re.compile(r"^(\d+)\.")
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def page(report: SubjectReport) -> str:
    """The whole page."""
    return "\n".join(_lines(report)) + "\n"


def plain(text: str) -> str:
    """One line that a reader of Markdown shows as it was written, and nothing that hides or reorders it."""
    shown = "".join(
        " ⏎ " if char == "\n" else f"(U+{ord(char):04X})" if unicodedata.category(char) in _HIDDEN else char
        for char in text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    )
    return _NUMBERED.sub(r"\1\\.", _MARKS.sub(r"\\\g<0>", shown.strip()))


def _lines(report: SubjectReport) -> Iterator[str]:
    yield f"# What is known of {plain(report.person)}"
    yield ""
    reach = [f"scope {plain(report.scope)}"]
    reach += ["and the scopes below it"] if report.below else []
    reach += ["and the scopes above it"] if report.above else []
    yield f"Made at {iso(report.at)} from {', '.join(reach)}, at sequence {report.sequence}."
    yield f"Looked for: {', '.join(plain(name) for name in report.names)}."
    yield "Secrets are taken out." if report.redacted else "Secrets are not taken out."
    yield ""
    for name, count in report.counts.items():
        yield f"- {name}: {count}"
    for section, heading in _HEADINGS:
        found = [each for each in report.memories if each.section == section]
        if found:
            yield from ("", f"## {heading}")
            for each in found:
                yield from _memory(each)
    if report.conversations:
        yield from ("", "## Conversations", "", "What others said is counted, not told.")
        for talk in report.conversations:
            yield from _talk(talk)
    yield from _listed("Documents that name them", report.documents)
    yield from _listed("Tokens", [f"{each['id']} {each['name']} ({each['role']})" for each in report.tokens])
    yield from _listed("Mirrored into", report.mirrors)
    yield from _listed("Backups that may hold it", report.backups)
    yield from _listed("Not looked at", report.notes)


def _memory(each: SubjectMemory) -> Iterator[str]:
    told = each.memory
    yield from ("", f"### {told['id']}", "", f"> {plain(told['text'])}", "")
    yield f"- why it is here: {', '.join(_HOW[how] for how in each.how)}"
    yield f"- {told['kind']}, {told['state']}, {told['trust']}, {told['grade']}, confidence {told['confidence']:.2f}"
    yield f"- scope {plain(told['scope'])}; source {told['source']}, {told['basis']}"
    for name in ("about", "attribute", "value", "context", "speaker", "conversation", "source_ref", "tags", "metadata"):
        if told[name] not in (None, "", [], {}):
            yield f"- {name}: {plain(_text(told[name]))}"
    times = [("kept", told["created_at"]), ("changed", told["updated_at"]), ("happened", told["occurred_at"])]
    yield f"- {', '.join(f'{name} {at}' for name, at in times if at)}"
    if each.ends:
        yield f"- ends {each.ends} ({'by the rule of its kind' if each.ends_by == 'rule' else 'as it was said'})"
    if each.erased_after:
        yield f"- will be erased after {each.erased_after}"
    for event in each.history:
        why = f": {plain(event['reason'])}" if event["reason"] else ""
        by = f" by {plain(event['actor'])}" if event["actor"] else ""
        yield f"- {event['at']} {event['action']}{by}{why}"


def _talk(talk: SubjectTalk) -> Iterator[str]:
    yield from ("", f"### {plain(talk.name)}", "", f"- scope {plain(talk.scope)}, begun {iso(talk.created_at)}")
    yield f"- {so_many(talk.by_others, 'message')} of others, {talk.mentioned_by_others} of them with a name of theirs"
    if talk.summaries:
        yield f"- {so_many(talk.summaries, 'summary')} with a name of theirs"
    for message in talk.messages:
        yield from ("", f"> {message['at']} {plain(message['text'])}")


def _listed(heading: str, items: Any) -> Iterator[str]:
    if items:
        yield from ("", f"## {heading}", "")
        for item in items:
            yield f"- {plain(item)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
