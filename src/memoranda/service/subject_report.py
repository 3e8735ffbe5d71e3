"""Everything that is known of a person: gathered from every part of the store, and written as one file.

Nothing is recalled or ranked here: what fits is in it, whatever its state and trust.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.clock import iso, to_ms
from memoranda.domain.conversation import KeptMessage
from memoranda.domain.document import Source
from memoranda.domain.errors import Conflict, InvalidInput, MemorandaError
from memoranda.domain.fact import NAMES, name_in
from memoranda.domain.lasting import ends_by_rule
from memoranda.domain.memory import Memory, checked_choice
from memoranda.domain.profile import SUBJECT, entry_of, field_of, is_entry
from memoranda.domain.results import Revision
from memoranda.domain.retention import (
    SUBJECT_FORMATS,
    How,
    SubjectFormat,
    SubjectMemory,
    SubjectReport,
    SubjectTalk,
)
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text, normal_form
from memoranda.ledger.messages import Row
from memoranda.ledger.retaining import Retaining
from memoranda.service.engine import Engine
from memoranda.service.screening import json_without_secrets
from memoranda.service.structured import checked_type

_PERSON = "person:"
_SHORTEST_NAME = 2
"""A shorter name is in half of all texts: there, only what is about or by the person counts."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PAGE = 2_000
_MOST_CITATIONS = 1_000
_AT_ONCE = 500
_SAID = ("text", "about", "attribute", "value", "context", "source_ref", "tags", "metadata")
"""What of a memory people have written."""
_TOLD = ("state", "trust", "confidence", "importance", "kind", "valid_from", "valid_until", "superseded_by")
"""What of a memory may change in its life."""
Clean = Callable[[Any], Any]


class _Person(NamedTuple):
    """By what somebody is known here."""

    names: tuple[str, ...]
    """In their normal form; the one that was given first."""
    pattern: re.Pattern[str] | None

    def is_named(self, text: str) -> bool:
        """Whether this is a name of theirs, however it is written, with or without `person:`."""
        return _bare(text) in self.names

    def is_subject(self, about: str) -> bool:
        return self.is_named(about) or normal_form(about).removeprefix(f"{SUBJECT}:") in self.names

    def owns(self, scope: str) -> bool:
        """Whether a scope has their name, or lies below one that has it."""
        return any(map(self.is_named, scope.split("/")))

    def is_in(self, text: str) -> bool:
        """Whether a text has a name of theirs in it, as a whole word."""
        return self.pattern is not None and self.pattern.search(normal_form(text)) is not None


def reported(
    engine: Engine, scope: Scope, person: str, *, below: bool, include_above: bool, redact: bool
) -> SubjectReport:
    """The report, in an order that is always the same."""
    name = checked_text(person, name="person", limit=512).strip()
    for value, called in ((below, "below"), (include_above, "include_above"), (redact, "redact")):
        checked_type(value, bool, name=called, hint=f"Pass {called}=True or {called}=False.")
    scopes = scope.chain() if include_above else (scope.path,)
    retaining = Retaining(engine.ledger.database)
    known = _known_as(name, retaining.everything(scopes, below=scope if below else None))
    clean: Clean = _redacting(engine) if redact else lambda value: value
    memories = _memories(engine, retaining, known, retaining.everything(scopes, below=scope if below else None), clean)
    talks = tuple(_talks(engine, known, _rows(engine, scope, scopes, below=below), clean))
    citations, notes = _documents(engine, known, scope, scopes, below=below)
    tokens = _tokens(engine, known, scope, below=below)
    mirrors, more = _mirrors(engine, scope, below=below)
    held = [each.created_at for each in talks] + [
        to_ms(each.memory["created_at"], name="created_at") for each in memories
    ]
    backups, beside = _backups(engine, scope, min(held)) if held else ((), ())
    return SubjectReport(
        person=name,
        names=known.names,
        scope=scope.path,
        below=below,
        above=include_above,
        redacted=redact,
        at=engine.clock.now(),
        sequence=engine.ledger.sequence(),
        memories=memories,
        conversations=talks,
        documents=citations,
        tokens=tokens,
        mirrors=mirrors if held else (),
        backups=backups,
        notes=(*notes, *(more if held else ()), *beside),
    )


def written(report: SubjectReport, path: str | Path, format: SubjectFormat) -> SubjectReport:  # noqa: A002
    """The report as a new file, which only its owner may read. Nothing that is there is written over."""
    checked_choice(format, SUBJECT_FORMATS, name="format")
    if not isinstance(path, str | Path) or not str(path).strip() or "\0" in str(path):
        raise InvalidInput("path: the path of a file is expected", hint="Pass path='anna.json'.")
    target = Path(os.path.abspath(Path(path).expanduser()))
    if format == "markdown":
        from memoranda.service.subject_markdown import page

        content = page(report)
    else:
        content = json.dumps(report.as_json(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    try:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content.encode())
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        raise Conflict(f"{target} is there already", hint="Give a new name; nothing is written over.") from error
    except OSError as error:
        raise InvalidInput(
            f"{target} cannot be written: {error.strerror}", hint="Give a file in a folder that you may write to."
        ) from error
    return report._replace(path=str(target))


# -- who is meant --


def _known_as(person: str, everything: Iterable[tuple[int, Memory]]) -> _Person:
    """The name that was given, and those that trusted memories give to the same person."""
    bare = _bare(person)
    if not bare:
        raise InvalidInput("a person is needed", hint="Give a name, such as anna or person:anna.")
    given = _Person((bare,), None)
    names = {bare: None}
    for _, memory in everything:
        if memory.trust != "trusted" or memory.state != "live" or not given.is_subject(memory.about):
            continue
        if is_entry(memory) and field_of(memory) == "name":
            names[normal_form(entry_of(memory))] = None
        elif memory.attribute in NAMES:
            called = memory.value if isinstance(memory.value, str) else name_in(memory.text)
            names[normal_form(called or bare)] = None
    ordered = (bare, *sorted(name for name in names if name not in ("", bare)))
    parts = [_as_pattern(name) for name in ordered if len(name) >= _SHORTEST_NAME]
    return _Person(ordered, re.compile("|".join(parts)) if parts else None)


def _bare(name: str) -> str:
    return normal_form(name).removeprefix(_PERSON).strip()


def _as_pattern(name: str) -> str:
    literal = re.escape(name)
    return literal if _UNSPACED.search(name) else rf"(?<!\w){literal}(?!\w)"


def _redacting(engine: Engine) -> Clean:
    """Secrets are taken out, also where the store may keep them."""
    strict = engine.settings._replace(secrets="refuse")
    return lambda value: json_without_secrets(value, strict)


# -- memories --


def _memories(
    engine: Engine, retaining: Retaining, person: _Person, everything: Iterable[tuple[int, Memory]], clean: Clean
) -> tuple[SubjectMemory, ...]:
    found = [(number, memory, how) for number, memory in everything if (how := _how(person, memory))]
    histories = retaining.histories([number for number, _, _ in found])
    grace = engine.settings.grace_ms
    return tuple(_as_told(memory, how, histories[number], grace, clean) for number, memory, how in found)


def _how(person: _Person, memory: Memory) -> tuple[How, ...]:
    how: list[How] = []
    if person.is_subject(memory.about):
        how.append("about")
    if person.is_named(memory.speaker):
        how.append("said")
    if person.owns(memory.scope):
        how.append("scope")
    if not how and person.is_in(_letters(memory)):
        how.append("mentions")
    return tuple(how)


def _letters(memory: Memory) -> str:
    structured = [each for each in (memory.value, list(memory.tags), dict(memory.metadata)) if each]
    parts = [memory.text, memory.about, memory.context, *(json.dumps(each, ensure_ascii=False) for each in structured)]
    return "\n".join(parts)


def _as_told(
    memory: Memory, how: tuple[How, ...], history: Sequence[Revision], grace_ms: int, clean: Clean
) -> SubjectMemory:
    shown = memory.as_json()
    for name in _SAID:
        shown[name] = clean(shown[name])
    until = memory.valid_until
    gone = memory.updated_at + grace_ms if memory.state == "forgotten" else None
    return SubjectMemory(
        section=_section(memory),
        how=how,
        memory=shown,
        ends=None if until is None else iso(until),
        ends_by="" if until is None else "rule" if ends_by_rule(memory) else "said",
        erased_after=None if gone is None else iso(gone),
        history=tuple(_event(each, clean) for each in history),
    )


def _section(memory: Memory) -> str:
    if is_entry(memory):
        return "profile"
    if memory.kind == "preference":
        return "preferences"
    return "facts" if memory.about and memory.attribute else "memories"


def _event(revision: Revision, clean: Clean) -> dict[str, Any]:
    event = revision.event.as_json()
    event["reason"] = clean(event["reason"])
    after = revision.memory.as_json()
    return {**event, "after": {name: after[name] for name in _TOLD}}


# -- what was said --


def _rows(engine: Engine, scope: Scope, scopes: Sequence[str], *, below: bool) -> list[Row]:
    rows = [*engine.transcripts.of_scopes(scopes), *(engine.transcripts.below(scope) if below else ())]
    unique = {row.number: row for row in rows}
    return sorted(unique.values(), key=lambda row: (row.conversation.scope, row.conversation.name))


def _talks(engine: Engine, person: _Person, rows: Iterable[Row], clean: Clean) -> Iterator[SubjectTalk]:
    for row in rows:
        talk = row.conversation
        own: list[dict[str, Any]] = []
        others = mentioned = summaries = 0
        for message in _messages(engine, row):
            if message.kind == "summary":
                summaries += person.is_in(message.text)
            elif _is_theirs(person, message, talk.scope):
                told = {"id": message.id, "at": iso(message.at), "role": message.role, "text": clean(message.text)}
                own.append({**told, "speaker": message.speaker, "status": message.status})
            else:
                others += 1
                mentioned += person.is_in(message.text)
        if own or mentioned or summaries:
            yield SubjectTalk(talk.id, talk.name, talk.scope, talk.created_at, tuple(own), others, mentioned, summaries)


def _is_theirs(person: _Person, message: KeptMessage, scope: str) -> bool:
    """Said by them; or by nobody in particular, where nobody else speaks."""
    if message.speaker:
        return person.is_named(message.speaker)
    return message.role == "user" and person.owns(scope)


def _messages(engine: Engine, row: Row) -> Iterator[KeptMessage]:
    place = 0
    while page := engine.transcripts.page(row, after=place, limit=_PAGE):
        yield from page
        place = page[-1].place


# -- where else --


def _documents(
    engine: Engine, person: _Person, scope: Scope, scopes: Sequence[str], *, below: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Citations of the lines that name them, and what there is to say about it."""
    sources = [
        source
        for source in engine.sources.everywhere()
        if source.scope in scopes or (below and scope.contains(source.scope))
    ]
    if not sources or person.pattern is None:
        return (), ()
    try:
        engine.library().freshen(sources)
        found = tuple(dict.fromkeys(_cited(engine, person, sources)))
    except (MemorandaError, OSError) as error:
        return (), (f"documents were not looked at: {error}",)
    if len(found) > _MOST_CITATIONS:
        return found[:_MOST_CITATIONS], (f"{len(found) - _MOST_CITATIONS} more lines of documents name them",)
    return found, ()


def _cited(engine: Engine, person: _Person, sources: Sequence[Source]) -> Iterator[str]:
    catalogue = engine.library().serving().catalogue
    for source in sorted(sources, key=lambda each: (each.scope, each.name)):
        numbers = sorted(catalogue.numbers(source.scope, source.name))
        for start in range(0, len(numbers), _AT_ONCE):
            found = catalogue.passages(numbers[start : start + _AT_ONCE]).values()
            for passage in sorted(found, key=lambda each: (each.seen.path, each.chunk.start_line)):
                file = os.path.join(source.root, *passage.seen.path.split("/"))
                for place, line in enumerate(passage.chunk.text.split("\n"), passage.chunk.start_line):
                    if person.is_in(line):
                        yield f"{file}#L{place}"


def _tokens(engine: Engine, person: _Person, scope: Scope, *, below: bool) -> tuple[dict[str, Any], ...]:
    from memoranda.ledger.tokens import Tokens

    listed = Tokens(engine.ledger.database, engine.clock).listed(scope.path)
    return tuple(
        token.as_json() for token in listed if (below or token.scope == scope.path) and person.is_in(token.name)
    )


def _mirrors(engine: Engine, scope: Scope, *, below: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Folders that this is mirrored into. Those of a scope above are counted, as far as it is seen from here."""
    paths, above = [], 0
    for path in engine.mirrors.paths():
        of = engine.mirrors.scope_of(path)
        if of is None:
            continue
        if of.path == scope.path or (below and scope.contains(of.path)):
            paths.append(path)
        elif scope.sees(of.path):
            above += 1
    return tuple(paths), (f"{above} mirrors of scopes above may say it, too",) if above else ()


def _backups(engine: Engine, scope: Scope, since: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Backups in the folder for them that were made after the first of it was kept: each holds what was there then.

    They are of the whole store: whoever was let into a part of it is told how many there are, and no names.
    """
    from memoranda.service.backing_up import backups

    try:
        found = backups(engine)
    except (MemorandaError, OSError):
        return (), ()
    held = [each for each in found if each.manifest is None or each.manifest.made_at >= since]
    if held and scope.top:
        return (), (f"{len(held)} backups of the store may hold it, too",)
    return tuple(sorted(os.path.basename(each.path) for each in held)), ()
