"""A pack: a public set with labelled evidence, in a folder of four files. Read here, never written.

`corpus.jsonl` (documents), `groups.jsonl` (which documents a question may search), `queries.jsonl`, `qrels.tsv`
(question, document, relevance). Where documents have a session, the pack is a chat: the `Name: ` before a text is
its speaker.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import Source
from memoranda.evaluation.lines import read_lines, read_objects, wrong
from memoranda.evaluation.moments import read_moment

FILES = ("corpus.jsonl", "groups.jsonl", "queries.jsonl", "qrels.tsv")
UNNAMED = "all"
"""The category of a question that has none."""

_SPEAKER = re.compile(r"([^:\n]{1,40}): (?=\S)")


class Document(NamedTuple):
    """One document as it will be remembered: its speaker is no longer in the text."""

    id: str
    text: str
    speaker: str = ""
    session: str = ""
    time: int | None = None
    tags: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        """Trust comes from the channel: what an assistant said is not a user's word."""
        return "assistant" if self.speaker == "assistant" else "user"


class Question(NamedTuple):
    """One question with the documents that answer it."""

    id: str
    group: str
    text: str
    category: str
    time: int | None
    gold: frozenset[str]


class Pack(NamedTuple):
    """A whole set. `digest` stands for everything that decides what is remembered."""

    name: str
    documents: Mapping[str, Document]
    groups: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...]
    digest: str

    @property
    def is_chat(self) -> bool:
        return any(document.session for document in self.documents.values())

    @property
    def speakers(self) -> frozenset[str]:
        return frozenset(document.speaker for document in self.documents.values() if document.speaker)

    def newest(self, group: str) -> int | None:
        """The time of the newest document of a group; None when none has a time."""
        times = [self.documents[each].time for each in self.groups[group]]
        return max((time for time in times if time is not None), default=None)

    def pooled(self) -> "Pack":
        """The same with all documents in one group."""
        everything = tuple(dict.fromkeys(each for ids in self.groups.values() for each in ids))
        questions = tuple(question._replace(group=UNNAMED) for question in self.questions)
        return self._replace(groups={UNNAMED: everything}, questions=questions, digest=self.digest + "-pooled")


def is_pack(folder: Path) -> bool:
    """Whether the four files are there."""
    return all((folder / name).is_file() for name in FILES)


def read_pack(folder: Path) -> Pack:
    """The pack in this folder, checked: every reference leads somewhere."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise NotFound(f"{folder} is not a pack: {', '.join(missing)} missing", hint="Check --data and the set's name.")
    raw = _corpus(folder / "corpus.jsonl")
    groups = _groups(folder / "groups.jsonl", raw)
    gold = _gold(folder / "qrels.tsv", raw)
    questions = _questions(folder / "queries.jsonl", groups, gold)
    if not questions:
        raise InvalidInput(f"{folder} has no question with a gold document", hint="Check queries.jsonl and qrels.tsv.")
    seen = hashlib.blake2b(digest_size=8)
    for name in ("corpus.jsonl", "groups.jsonl"):
        seen.update((folder / name).read_bytes())
    return Pack(folder.name, _carried(raw, groups), groups, questions, seen.hexdigest())


def _corpus(path: Path) -> dict[str, Document]:
    rows = list(read_objects(path))
    chat = any("session" in row for _, row in rows)
    found: dict[str, Document] = {}
    for number, row in rows:
        document = _document(path, number, row, chat=chat)
        if document.id in found:
            raise wrong(path, number, f"the document {document.id!r} is there twice")
        found[document.id] = document
    return found


def _document(path: Path, number: int, row: dict[str, Any], *, chat: bool) -> Document:
    text, name = row.get("text"), row.get("_id")
    if not isinstance(text, str) or not text.strip() or not isinstance(name, str):
        raise wrong(path, number, "a document has an _id and a text")
    speaker = str(row.get("speaker") or "")
    if chat and not speaker and (named := _SPEAKER.match(text)):
        speaker, text = named[1].strip(), text[named.end() :]
    source = row.get("source")
    return Document(
        name,
        text,
        speaker=speaker,
        session="" if row.get("session") is None else f"session-{row['session']}",
        time=read_moment(row["time"], name=f"{path}, line {number}") if row.get("time") else None,
        tags=(str(source)[:64],) if source else (),
    )


def _groups(path: Path, documents: Mapping[str, Document]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for number, row in read_objects(path):
        name, ids = row.get("group"), row.get("doc_ids")
        if not isinstance(name, str) or not isinstance(ids, list):
            raise wrong(path, number, "a group has a group and doc_ids")
        for each in ids:
            if each not in documents:
                raise wrong(path, number, f"there is no document {each!r}")
        groups[name] = tuple(ids)
    return groups


def _gold(path: Path, documents: Mapping[str, Document]) -> dict[str, set[str]]:
    gold: dict[str, set[str]] = {}
    for number, line in read_lines(path):
        cells = line.rstrip("\r").split("\t")
        if len(cells) != 3 or cells[1] not in documents:
            raise wrong(path, number, "question, document and relevance are expected, with tabs between")
        if float(cells[2]) > 0:
            gold.setdefault(cells[0], set()).add(cells[1])
    return gold


def _questions(path: Path, groups: Mapping[str, tuple[str, ...]], gold: Mapping[str, set[str]]) -> tuple[Question, ...]:
    questions = []
    for number, row in read_objects(path):
        if row.get("group") not in groups or not isinstance(row.get("text"), str) or not row.get("_id"):
            raise wrong(path, number, "a question has an _id, a text and a group that exists")
        right = frozenset(gold.get(row["_id"], ()))
        if not right:
            continue
        if not right <= set(groups[row["group"]]):
            raise wrong(path, number, "its gold documents are not all in its group")
        time = read_moment(row["time"], name=f"{path}, line {number}") if row.get("time") else None
        category = str(row.get("type") or UNNAMED)
        questions.append(Question(row["_id"], row["group"], row["text"], category, time, right))
    return tuple(questions)


def _carried(documents: Mapping[str, Document], groups: Mapping[str, tuple[str, ...]]) -> dict[str, Document]:
    """Only the first message of some sessions bears a time: those after it in the session have it, too."""
    carried = dict(documents)
    for ids in groups.values():
        times: dict[str, int] = {}
        for each in ids:
            document = carried[each]
            if document.time is not None:
                times[document.session] = document.time
            elif document.session in times:
                carried[each] = document._replace(time=times[document.session])
    return carried
