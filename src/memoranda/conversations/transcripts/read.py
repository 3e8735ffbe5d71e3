"""One way to read a transcript, whichever host wrote it."""

from collections.abc import Iterator

from memoranda.conversations.transcripts.chatgpt import read_chatgpt
from memoranda.conversations.transcripts.items import FORMATS, Format, Item, Source
from memoranda.conversations.transcripts.openai import read_openai
from memoranda.conversations.transcripts.sessions import ClaudeCode, OpenClaw, read_session
from memoranda.domain.errors import InvalidInput


def read(source: Source, *, format: Format, name: str) -> Iterator[Item]:  # noqa: A002
    """What was said, in its order. `name` is the conversation's when the transcript does not tell it."""
    if format == "openai":
        return read_openai(source, name=name)
    if format == "chatgpt":
        return read_chatgpt(source, name=name)
    if format == "openclaw":
        return read_session(source, first=OpenClaw(name), second=OpenClaw(name))
    if format == "claude_code":
        return read_session(source, first=ClaudeCode(name), second=ClaudeCode(name))
    raise InvalidInput(f"{str(format)[:40]!r} is no format of a transcript", hint=f"Use one of: {', '.join(FORMATS)}.")
