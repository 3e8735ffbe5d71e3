"""Importing transcripts of other hosts: message by message, so that it can be stopped and begun again."""

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, NamedTuple

from memoranda.conversations.transcripts import FORMATS, HEAD, Bad, Format, Item, LeftOut, Spoken, detect, read
from memoranda.domain.conversation import LONGEST_MESSAGE, Appended
from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.domain.memory import checked_choice
from memoranda.domain.message import Message
from memoranda.domain.ports import Progress

_BATCH = 200
_MOST_BAD = 50
AUTO = "auto"

Append = Callable[[str, str, list[Message]], Appended]
"""Keeps messages of a conversation, given its name and title."""


class Imported(NamedTuple):
    """What came of a transcript, in counts; and the lines that could not be read."""

    format: Format
    conversations: tuple[str, ...]
    added: int
    known: int
    left_out: dict[str, int]
    bad: tuple[tuple[int, str], ...]
    """(number of the line, why), the first 50."""
    bad_total: int = 0
    private: int = 0
    """Messages of conversations of which nothing is kept."""

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "conversations": list(self.conversations),
            "bad": [{"line": number, "reason": reason} for number, reason in self.bad],
        }


class _Import:
    """Messages on their way into the store, a batch for each conversation."""

    def __init__(self, append: Append) -> None:
        self._append = append
        self._waiting: dict[str, list[Message]] = {}
        self._titles: dict[str, str] = {}
        self.names: dict[str, None] = {}
        self.added = self.known = self.private = 0

    def take(self, item: Spoken) -> None:
        if item.conversation not in self._waiting:
            self.flush_all()  # transcripts tell one conversation after the other: that one is done
        self._titles.setdefault(item.conversation, item.title)
        waiting = self._waiting.setdefault(item.conversation, [])
        waiting.append(item.message)
        if len(waiting) >= _BATCH:
            self.flush(item.conversation)

    def flush(self, conversation: str) -> None:
        messages = self._waiting.pop(conversation, [])
        if messages:
            receipt = self._append(conversation, self._titles[conversation], messages).receipt
            self.names[conversation] = None
            self.added += receipt.added
            self.known += receipt.known
            self.private += 0 if receipt.stored else len(messages)

    def flush_all(self) -> None:
        for conversation in list(self._waiting):
            self.flush(conversation)


def imported(
    path: str | Path,
    append: Append,
    *,
    format: str,  # noqa: A002 the word users know
    name: str,
    progress: Progress | None,
) -> Imported:
    """Read one file and keep what was said in it. Done again, it adds only what is new."""
    file = _file(path)
    chosen = _format(file, format)
    size = file.stat().st_size
    work = _Import(append)
    left_out: Counter[str] = Counter()
    bad: list[tuple[int, str]] = []
    bad_total = 0
    try:
        for found in read(lambda: _opened(file), format=chosen, name=file.stem):
            item = _too_long(found) or found
            if isinstance(item, Spoken):
                work.take(_moved(item, name) if name else item)
            elif isinstance(item, LeftOut):
                left_out[item.why] += item.messages
            else:
                bad_total += 1
                _note(bad, item)
            if progress:
                progress(min(item.offset, size), size)
    finally:
        work.flush_all()  # also when somebody stops it: what was read is kept
    if progress:
        progress(size, size)
    return Imported(
        chosen, tuple(work.names), work.added, work.known, dict(left_out), tuple(bad), bad_total, work.private
    )


def _too_long(item: Item) -> Bad | None:
    if not isinstance(item, Spoken) or len(item.message.text) <= LONGEST_MESSAGE:
        return None
    reason = f"a message of {len(item.message.text):,} characters; the limit is {LONGEST_MESSAGE:,}"
    return Bad(item.number, reason, item.offset)


def _moved(item: Spoken, conversation: str) -> Spoken:
    """Said in another conversation. Ids are unique in one only, so that they are made of both."""
    if item.conversation == conversation:
        return item
    made = blake2b(f"{item.conversation}\n{item.message.id}".encode(), digest_size=12).hexdigest()
    return item._replace(conversation=conversation, message=item.message._replace(id=f"moved-{made}"))


def _note(bad: list[tuple[int, str]], item: Bad) -> None:
    if len(bad) < _MOST_BAD:
        bad.append((item.number, item.reason))


def _file(path: str | Path) -> Path:
    file = Path(path).expanduser()
    try:
        if not file.exists():
            raise NotFound(f"there is no file {file}", hint="Give the path of a transcript.")
        if not file.is_file():
            raise InvalidInput(f"{file} is no file", hint="Give the path of one transcript; repeat it for others.")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"this cannot be the path of a transcript: {error}", hint="Give another path.") from error
    return file


def _opened(file: Path) -> IO[bytes]:
    try:
        return file.open("rb")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read ({error.strerror})", hint="Check its permissions.") from error


def _format(file: Path, given: str) -> Format:
    if given != AUTO:
        chosen: Any = given
        return checked_choice(chosen, FORMATS, name="format")
    with _opened(file) as head:
        try:
            return detect(head.read(HEAD))
        except InvalidInput as error:
            raise InvalidInput(f"{file.name}: {error}", hint=error.hint) from error
