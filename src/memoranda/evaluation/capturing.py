"""What capture keeps of dialogues that nobody wrote for it: counts by set and mode, and a sample to be labelled.

Whether something was worth keeping is for a person to say: a sample is written with empty labels and read again with
labels in it. Nothing here decides that.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from memoranda.domain.candidate import CaptureMode
from memoranda.domain.errors import InvalidInput
from memoranda.domain.message import Message
from memoranda.evaluation.lines import read_objects, wrong
from memoranda.evaluation.packs import Pack
from memoranda.service.memory import LongTermMemory

# Handed over at once: fewer than capture looks at in one turn, so that every message is looked at.
_AT_ONCE = 20
Label = Literal["", "worth keeping", "junk"]
LABELS: tuple[Label, ...] = get_args(Label)


class Kept(NamedTuple):
    """One memory that capture made of an ordinary turn."""

    set: str
    mode: CaptureMode
    said: str
    text: str
    kind: str
    rule: str
    trust: str


class Counted(NamedTuple):
    """What came of the turns of one set in one mode."""

    set: str
    mode: CaptureMode
    turns: int
    kept: int
    refused: Mapping[str, int]

    @property
    def share(self) -> float:
        """Memories for each turn."""
        return self.kept / self.turns if self.turns else 0.0


class Labelled(NamedTuple):
    """A sample that somebody has labelled."""

    worth: int
    junk: int

    @property
    def precision(self) -> float:
        return self.worth / (self.worth + self.junk)


Dialogue = Sequence[Message]


def dialogues(pack: Pack) -> Iterator[Dialogue]:
    """The sessions of a pack, each as one conversation. What is no chat is one person's words, line by line."""
    for ids in pack.groups.values():
        sessions: dict[str, list[Message]] = {}
        for each in ids:
            document = pack.documents[each]
            told = document.text.splitlines() if not document.session else [document.text]
            sessions.setdefault(document.session, []).extend(
                _message(document.source, text, document.speaker) for text in told if text.strip()
            )
        yield from sessions.values()


def chats(path: Path) -> Iterator[Dialogue]:
    """Dialogues of two people, as JSON lines with `turns`: pairs of a name and a text."""
    for number, row in read_objects(path):
        turns = row.get("turns")
        if not isinstance(turns, list):
            raise wrong(path, number, "a dialogue has turns")
        yield [Message("user", str(text), str(name)) for name, text in turns if str(text).strip()]


def counted(
    memory: LongTermMemory, name: str, talks: Iterable[Dialogue], *, mode: CaptureMode
) -> tuple[Counted, list[Kept]]:
    """Capture each dialogue in a scope of its own, so that none is a duplicate of another."""
    kept: list[Kept] = []
    refused: Counter[str] = Counter()
    turns = 0
    for place, talk in enumerate(talks):
        there = memory.within(f"{memory.scope}/{name}-{mode}-{place}")
        turns += sum(message.role == "user" for message in talk)
        for start in range(0, len(talk), _AT_ONCE):
            part = talk[start : start + _AT_ONCE]
            captured = there.capture(part, conversation=str(start), mode=mode)
            refused.update(captured.receipt.refused)
            kept += [
                Kept(
                    name,
                    mode,
                    _origin(part, each.text),
                    each.text,
                    each.kind,
                    str(each.metadata.get("capture")),
                    each.trust,
                )
                for each in captured.kept
            ]
    return Counted(name, mode, turns, len(kept), dict(sorted(refused.items()))), kept


def _message(source: str, text: str, speaker: str) -> Message:
    return Message("assistant", text) if source == "assistant" else Message("user", text, speaker)


def _origin(talk: Dialogue, text: str) -> str:
    """The message that a kept text was taken from. Its first letter may have become a capital."""
    words = text[1:].casefold()
    return next((each.text for each in talk if words in each.text.casefold()), "")


# -- samples --


def write_sample(path: Path, kept: Sequence[Kept], *, size: int, seed: int) -> int:
    """So many of them, chosen by lot, each with an empty label. How many were written."""
    chosen = random.Random(seed).sample(kept, min(size, len(kept)))  # noqa: S311 a lottery, no secret
    lines = [json.dumps({**each._asdict(), "label": ""}, ensure_ascii=False) for each in chosen]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return len(chosen)


def read_labels(path: Path) -> Labelled:
    """How many of a labelled sample were worth keeping."""
    found: Counter[str] = Counter()
    for number, row in read_objects(path):
        label = row.get("label")
        if label not in LABELS[1:]:
            raise wrong(path, number, f"a label is one of: {', '.join(LABELS[1:])}")
        found[label] += 1
    if not found:
        raise InvalidInput(f"{path} has no labelled line", hint="Label a sample first.")
    return Labelled(found["worth keeping"], found["junk"])
