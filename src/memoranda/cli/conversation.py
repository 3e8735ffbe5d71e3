"""The command `conversation`: what was said, what a model should see of it now, and how it is let go of."""

import argparse
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from memoranda.cli.actions import Action, add_actions, show
from memoranda.cli.conversation_keeping import add_append, add_import, append, import_files
from memoranda.cli.conversation_lines import (
    Line,
    compaction_line,
    heading,
    passages_lines,
    say,
    transcript,
    window_lines,
)
from memoranda.cli.output import SHORT_ID, Output, proof_of, said_yes
from memoranda.cli.store import open_memory, read_text
from memoranda.domain.clock import iso
from memoranda.domain.conversation import Conversation, ConversationPage, KeptMessage
from memoranda.domain.errors import InvalidInput, Refused
from memoranda.domain.message import Role
from memoranda.domain.moments import last_moment, moment
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda import LongTermMemory
    from memoranda.domain.receipt import EraseReceipt

_SEARCHED: tuple[Role, ...] = ("user", "assistant")
_PAGE = 1_000
_MINUTE_MS = 60_000
_NOT_ERASED, _NOT_PROVEN = 4, 6
# `--after -7d` is a value, and no option.
_LIKE_A_NUMBER = re.compile(r"-\d")


# -- options --


def _add_name(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="of a conversation, or its id")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--archived", action="store_true", help="those that were put away")
    command.add_argument("--limit", type=int, default=20)
    command.add_argument("--offset", type=int, default=0)


def _add_show(command: argparse.ArgumentParser) -> None:
    _add_name(command)
    command.add_argument("--after", type=int, metavar="N", help="from after place #N on (default: the newest)")
    command.add_argument("--limit", type=int, default=50, help="so many messages (default 50)")
    command.add_argument("--all", action="store_true", help="all of it")


def _add_window(command: argparse.ArgumentParser) -> None:
    _add_name(command)
    command.add_argument("--budget", type=int, metavar="TOKENS", help="default: conversation_budget")


def _add_expand(command: argparse.ArgumentParser) -> None:
    command.add_argument("summary", metavar="SUMMARY_ID", help="an id, or its first characters")
    command.add_argument("--shallow", action="store_true", help="leave earlier summaries as they are")


def _add_search(command: argparse.ArgumentParser) -> None:
    command._negative_number_matcher = _LIKE_A_NUMBER
    command.add_argument("query", metavar="QUERY", help="what was said; - reads standard input")
    command.add_argument("--in", dest="name", metavar="NAME", default="", help="only in this conversation")
    command.add_argument("--after", metavar="DATE", help="said then or later: 2026-03-01, or -7d (m, h, d, w)")
    command.add_argument("--before", metavar="DATE", help="said then or earlier")
    command.add_argument("--role", choices=_SEARCHED, help="only what they said")
    command.add_argument("--context", type=int, default=2, help="messages around a hit (default 2)")
    command.add_argument("--gap-minutes", type=float, default=10.0, help="a pause that ends a passage (default 10)")
    command.add_argument("--limit", type=int, default=5, help="so many passages (default 5)")
    command.add_argument("--archived", action="store_true", help="also what was put away")


def _add_working(command: argparse.ArgumentParser) -> None:
    _add_name(command)
    command.add_argument("text", metavar="TEXT", nargs="?", help="what it becomes; - reads standard input")
    command.add_argument("--clear", action="store_true", help="empty it")


def _add_erase(command: argparse.ArgumentParser) -> None:
    _add_name(command)
    command.add_argument("--yes", action="store_true", help="do not ask")


# -- compaction --


def _compact(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        compacted = memory.conversations.compact(arguments.name)
    show(output, compacted.as_json(), [compaction_line(compacted.receipt)])


# -- reading --


def _list(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        page = memory.conversations.list(limit=arguments.limit, offset=arguments.offset, archived=arguments.archived)
    show(output, page.as_json(), _listed(page, archived=arguments.archived))
    if not output.as_json and page.total:
        output.note(f"{len(page.conversations)} of {page.total}")


def _listed(page: ConversationPage, *, archived: bool) -> Iterator[str]:
    for each in page.conversations:
        yield f"{each.id[:SHORT_ID]}  {iso(each.updated_at)}  {heading(each)}{_title(each)}"
    if not page.conversations:
        yield "(nothing is archived)" if archived else "(no conversations)"


def _title(conversation: Conversation) -> str:
    title = conversation.metadata.get("title")
    return f", {title!r}" if isinstance(title, str) and title else ""


def _show(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        conversation = memory.conversations.get(arguments.name)
        after: int = arguments.after or 0
        if arguments.after is None and not arguments.all:
            # What was said last is what people look for.
            after = max(0, conversation.messages - arguments.limit)
        if arguments.all:
            messages = _every(memory, conversation.id, after)
        else:
            messages = iter(memory.conversations.messages(conversation.id, after=after, limit=arguments.limit))
        if output.as_json:
            shown = {"conversation": conversation.as_json(), "messages": [each.as_json() for each in messages]}
            show(output, shown, ())
            return
        say(output, [Line(heading(conversation))])
        say(output, transcript(messages))
    if after := min(after, conversation.messages):
        output.note(f"{so_many(after, 'earlier message is', 'earlier messages are')} not shown; --all shows them")


def _every(memory: "LongTermMemory", conversation: str, after: int) -> Iterator[KeptMessage]:
    while page := memory.conversations.messages(conversation, after=after, limit=_PAGE):
        yield from page
        after = page[-1].place


def _window(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        shown = memory.conversations.window(arguments.name, budget=arguments.budget)
    if not output.as_json:
        say(
            output,
            window_lines(
                shown.messages,
                working=shown.working,
                tokens=shown.tokens,
                dropped=shown.dropped,
                truncated=shown.truncated,
            ),
        )
        return
    value = {
        "messages": shown.for_model(),
        "tokens": shown.tokens,
        "dropped": shown.dropped,
        "truncated": shown.truncated,
        "summary": "" if shown.summary is None else shown.summary.id,
    }
    show(output, value, ())


def _expand(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        messages = memory.conversations.expand(arguments.summary, deep=not arguments.shallow)
    if output.as_json:
        show(output, {"messages": [each.as_json() for each in messages]}, ())
    else:
        say(output, transcript(messages))


def _search(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        now = memory.now
        found = memory.conversations.search(
            read_text(arguments.query),
            conversation=arguments.name,
            after=None if arguments.after is None else moment(arguments.after, now=now, name="--after"),
            before=None if arguments.before is None else last_moment(arguments.before, now=now, name="--before"),
            roles=_SEARCHED if arguments.role is None else (arguments.role,),
            archived=arguments.archived,
            limit=arguments.limit,
            context=arguments.context,
            gap_minutes=arguments.gap_minutes,
        )
        if output.as_json:
            show(output, found.as_json(), ())
            return
        put_away = memory.conversations.list(archived=True, limit=1).total
        gap_ms = int(arguments.gap_minutes * _MINUTE_MS)
        lines = passages_lines(found, memory.conversations.get, context=arguments.context, gap_ms=gap_ms)
        say(output, lines)
    if not found:
        output.line(f"(nothing: {found.receipt.abstained})")
        if not arguments.archived and put_away:
            output.note("what is archived was not looked at; --archived does")
    for trouble in found.receipt.degraded:
        output.note(trouble)


# -- working memory, private conversations --


def _working(arguments: argparse.Namespace, output: Output) -> None:
    if arguments.clear and arguments.text is not None:
        raise InvalidInput("both a text and --clear were given", hint="Give one of them.")
    changes = arguments.clear or arguments.text is not None
    with open_memory(arguments, create=changes) as memory:
        if changes:
            memory.conversations.set_working(arguments.name, "" if arguments.clear else read_text(arguments.text))
        text = memory.conversations.working(arguments.name)
    if output.as_json:
        show(output, {"conversation": arguments.name, "working": text}, ())
    elif changes:
        output.line("cleared" if not text else f"kept {len(text):,} characters")
    else:
        say(output, [Line(line) for line in text.splitlines()] or [Line("(empty)")])


def _private(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments, create=True) as memory:
        memory.conversations.keep_private(arguments.name)
    show(output, {"private": True}, [f"from now on nothing of {arguments.name} is kept"])


# -- letting go --


def _archive(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        conversation = memory.conversations.archive(arguments.name)
    show(output, conversation.as_json(), [f"archived {conversation.name}; `conversation restore` brings it back"])


def _restore(arguments: argparse.Namespace, output: Output) -> None:
    with open_memory(arguments) as memory:
        conversation = memory.conversations.restore(arguments.name)
    show(output, conversation.as_json(), [f"restored {conversation.name}"])


def _erase(arguments: argparse.Namespace, output: Output) -> int:
    with open_memory(arguments) as memory:
        conversation = memory.conversations.get(arguments.name)
        if conversation.scope != memory.scope:
            what = f"{conversation.name!r} belongs to {conversation.scope}"
            raise Refused(what, hint=f"Run it with --scope {conversation.scope}.")
        if not arguments.yes:
            show(
                output,
                {"would_erase": conversation.as_json()},
                [f"This would erase for good: {heading(conversation)}", "Memories captured from it stay."],
            )
            if not said_yes("Erase this conversation for good?"):
                output.note("nothing was erased; to erase without being asked, run it again with --yes")
                return _NOT_ERASED
        receipt = memory.conversations.erase(arguments.name)
    purged = receipt.state == "purged"
    erased = {"erased": conversation.id, "purged": purged, "receipt": receipt.as_json()}
    show(output, erased, _erased(receipt))
    if receipt.pending and not output.as_json:
        output.note(f"not proven yet: {receipt.pending}")
    return 0 if purged else _NOT_PROVEN


def _erased(receipt: "EraseReceipt") -> Iterator[str]:
    yield f"erased {so_many(receipt.messages, 'message or summary', 'messages and summaries')}; {receipt.state}"
    yield proof_of(receipt)


_ACTIONS = {
    "list": Action("conversations, the one that was used last first", _add_list, _list),
    "append": Action("keep messages: --text, or JSON on standard input", add_append, append),
    "show": Action("what was said, with the summaries among it", _add_show, _show),
    "window": Action("what a model should see now; --json gives messages for it", _add_window, _window),
    "compact": Action("sum up what may be summed up now", _add_name, _compact),
    "expand": Action("the messages that a summary stands for", _add_expand, _expand),
    "search": Action("what was said about something, with what stood around it", _add_search, _search),
    "working": Action("the working memory, which no compaction touches", _add_working, _working),
    "private": Action("keep nothing of a conversation from now on", _add_name, _private),
    "archive": Action("put a conversation away", _add_name, _archive),
    "restore": Action("bring back what was archived", _add_name, _restore),
    "erase": Action("destroy a conversation with its summaries, and prove it", _add_erase, _erase),
    "import": Action(
        "keep the transcripts of other hosts",
        add_import,
        import_files,
        "Lines that cannot be read are told by number and skipped; the exit code is 0 all the same, and 2 when "
        "nothing of a file could be read. Stopped and begun again, it adds only what is new.",
    ),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "conversation": (
        "what was said: append, show, window, compact, search, import, erase ...",
        lambda command: add_actions(command, _ACTIONS),
    ),
}
