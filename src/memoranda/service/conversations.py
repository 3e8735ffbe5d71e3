"""`memory.conversations`: what was said, word for word, and what a model should see of it now."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memoranda.conversations.window import Window, window
from memoranda.domain.clock import Moment, end_of, to_ms
from memoranda.domain.conversation import (
    LONGEST_MESSAGE,
    STATUSES,
    Appended,
    AppendReceipt,
    Compacted,
    CompactReceipt,
    Conversation,
    ConversationPage,
    KeptMessage,
    Status,
)
from memoranda.domain.errors import Conflict, InvalidInput, MemorandaError
from memoranda.domain.ids import new_id
from memoranda.domain.memory import checked_choice, checked_json
from memoranda.domain.message import Message, Role, spread
from memoranda.domain.ports import Progress, Tokenizer
from memoranda.domain.receipt import EraseReceipt
from memoranda.domain.request import checked_limit, checked_offset
from memoranda.domain.scope import Scope
from memoranda.domain.text import checked_text, content_hash
from memoranda.domain.tokens import message_tokens
from memoranda.ledger.fence import fences
from memoranda.ledger.messages import IMPORTED, NewMessage, Row
from memoranda.service.engine import Engine
from memoranda.service.screening import json_without_secrets, refuse_secret, refuse_secret_name, without_secrets

if TYPE_CHECKING:
    from memoranda.service.compacting import Compactor
    from memoranda.service.transcript_import import Imported
    from memoranda.service.transcript_search import Found

TranscriptFormat = Literal["auto", "openai", "openclaw", "claude_code", "chatgpt"]
PRIVATE = "[private]"
_BATCH = 500
_LONGEST_NAME = 512
_LONGEST_WORKING = 20_000
_MOST_AROUND = 20
_MINUTE_MS = 60_000
_LONGEST_GAP_MINUTES = 525_600


class _Prepared:
    """Messages made ready to be kept, and what was left out of them."""

    def __init__(self) -> None:
        self.messages: list[NewMessage] = []
        self.redacted = 0
        self.stripped = 0


@fences()
class Conversations:
    """The conversations of one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope

    @cached_property
    def _compactor(self) -> "Compactor":
        from memoranda.service.compacting import Compactor

        return Compactor(self._engine, self._scope)

    # -- keeping --

    def append(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        conversation: str,
        metadata: Mapping[str, Any] | None = None,
        compact: bool = True,
    ) -> Appended:
        """Keep messages at the end of a conversation, which is made when it is new. Durable when this returns.

        A message with an id of the host's own is kept once, however often it is handed over. Injected memory blocks
        and secrets are left out of what is kept. When enough has come together, older messages are summed up: at
        once offline, in the background with a model; `compact=False` leaves that to `compact` and to maintenance.
        """
        return self._append(messages, conversation=conversation, metadata=metadata, compact=compact, imported=False)

    def _append(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        conversation: str,
        metadata: Mapping[str, Any] | None,
        compact: bool,
        imported: bool,
    ) -> Appended:
        name = self._name(conversation)
        if self.is_private(name):
            return Appended(None, AppendReceipt(name, self._scope.path, 0, 0, 0, 0, stored=False))
        about = None if metadata is None else checked_json(dict(metadata), name="metadata")
        about = json_without_secrets(about, self._engine.settings)
        ready = self._prepared(spread(messages), imported=imported)
        added = known = sequence = 0
        # In batches, each whole: others may write in between, and a long history needs no long transaction.
        for start in range(0, max(len(ready.messages), 1), _BATCH):
            kept = self._engine.transcripts.append(
                name,
                ready.messages[start : start + _BATCH],
                scope=self._scope,
                actor=self._engine.actor,
                metadata=about,
                unless_private=self._engine.ledger.name_digest(name),
            )
            added, known, sequence = added + len(kept.added), known + kept.known, kept.sequence or sequence
        if added:
            self._engine.nudge()
        compaction = self._compact_if_due(kept.row) if compact and added else None
        row = kept.row if compaction is None or not compaction.done else self._row(name)
        receipt = AppendReceipt(
            conversation=name,
            scope=self._scope.path,
            added=added,
            known=known,
            tokens=row.conversation.tokens,
            sequence=sequence,
            redacted=ready.redacted,
            stripped=ready.stripped,
            compaction=compaction,
        )
        return Appended(row.conversation, receipt)

    def _prepared(self, messages: Sequence[Message], *, imported: bool) -> _Prepared:
        from memoranda.capture.stripping import is_private, without_packs, without_private

        settings = self._engine.settings
        ready = _Prepared()
        now = self._engine.clock.now()
        for place, message in enumerate(messages):
            if len(message.text) > LONGEST_MESSAGE:
                raise InvalidInput(
                    f"message {place} has {len(message.text):,} characters; the limit is {LONGEST_MESSAGE:,}",
                    hint="Cut what a tool gave before it is handed over.",
                )
            text = PRIVATE if message.role == "user" and is_private(message.text) else message.text
            shown = text if message.role == "tool" or not text else without_private(text) or PRIVATE
            own = shown if message.role == "tool" else without_packs(shown)
            ready.stripped += own != shown
            clean = without_secrets(own, settings)
            calls = tuple(
                call._replace(arguments=without_secrets(call.arguments, settings)) for call in message.tool_calls
            )
            ready.redacted += clean != own or shown != message.text or calls != message.tool_calls
            whole = message._replace(text=clean, tool_calls=calls)
            ready.messages.append(
                NewMessage(
                    id=new_id(),
                    role=message.role,
                    text=clean,
                    at=now if message.at is None else message.at,
                    tokens=message_tokens(whole),
                    speaker=without_secrets(message.speaker, settings),
                    host_id=message.id,
                    tool_calls=calls,
                    tool_call_id=message.tool_call_id,
                    content_hash=content_hash(clean),
                    metadata=IMPORTED if imported else "{}",
                )
            )
        return ready

    def _name(self, conversation: str) -> str:
        name = checked_text(conversation, name="conversation", limit=_LONGEST_NAME).strip()
        if self._engine.settings.secrets == "refuse":
            refuse_secret_name(name, "conversation")
        return name

    # -- compaction --

    def _compact_if_due(self, row: Row) -> CompactReceipt | None:
        settings = self._engine.settings
        counted, tokens = row.conversation.active, row.conversation.tokens
        # A glance first: most appends are far from any limit.
        many = bool(settings.compact_messages) and counted > settings.compact_messages
        long = bool(settings.compact_at) and tokens >= settings.compact_at * settings.conversation_budget
        if not many and not long:
            return None
        if not self._compactor.costs:
            try:
                return self._compactor.compact(row, asked=False).receipt
            except (MemorandaError, OSError) as error:
                # The messages are kept, whatever becomes of the summary: the next append, or upkeep, tries again.
                return CompactReceipt(row.conversation.name, "tokens" if long else "messages", note=str(error))
        self._engine.later(lambda: self._compactor.compact(row, asked=False))
        return CompactReceipt(row.conversation.name, "tokens" if long else "messages", later=True)

    def compact(self, conversation: str) -> Compacted:
        """Sum up all that may be summed up now, whether it is due or not."""
        self._engine.refuse_read_only()
        return self._compactor.compact(self._row(conversation), asked=True)

    # -- reading --

    def window(self, conversation: str, *, budget: int | None = None, tokenizer: Tokenizer | None = None) -> Window:
        """What a model should see now: system prompts, the summary, working memory, and the newest that fits."""
        row = self._row(conversation)
        return window(
            self._engine.transcripts.active(row),
            budget=self._engine.settings.conversation_budget if budget is None else budget,
            working=self._engine.transcripts.working(row),
            count=None if tokenizer is None else tokenizer.count,
        )

    def get(self, conversation: str) -> Conversation:
        """One conversation by its name or id, of this scope or of one above."""
        return self._row(conversation, above=True).conversation

    def list(self, *, limit: int = 20, offset: int = 0, archived: bool = False) -> ConversationPage:
        """Those that this scope sees, the one that was used last first."""
        found, total = self._engine.transcripts.listed(
            self._scope, archived=archived, limit=checked_limit(limit), offset=checked_offset(offset)
        )
        return ConversationPage(found, total)

    def messages(
        self, conversation: str, *, after: int = 0, limit: int = 200, status: Status | None = None
    ) -> tuple[KeptMessage, ...]:
        """What was said, in order, from after a place on, whatever became of it; summaries stand among it."""
        wanted = "" if status is None else checked_choice(status, STATUSES, name="status")
        row = self._row(conversation, above=True)
        page = self._engine.transcripts.page(
            row, after=checked_offset(after), limit=checked_limit(limit), status=wanted
        )
        return tuple(page)

    def between(
        self, after: Moment, before: Moment, *, conversation: str = "", limit: int = 200
    ) -> tuple[tuple[Conversation, KeptMessage], ...]:
        """What was said from then till then in all conversations of this scope and of those above, oldest first."""
        row = self._row(conversation, above=True) if conversation else None
        transcripts, scopes = self._engine.transcripts, self._scope.chain()
        fitting = transcripts.oldest_between(
            scopes=scopes,
            row=row,
            since=to_ms(after, name="after"),
            until=end_of(before, name="before"),
            limit=checked_limit(limit),
        )
        loaded = transcripts.load(list(fitting), scopes=scopes).values()
        said = [(of.conversation, message) for of, message in loaded]
        return tuple(sorted(said, key=lambda each: (each[1].at, each[1].number)))

    def expand(self, summary: str, *, deep: bool = True) -> tuple[KeptMessage, ...]:
        """The messages that a summary stands for, in order; summaries that were folded into it are expanded, too."""
        _, found = self._engine.transcripts.message(summary, scopes=self._scope.chain())
        if found.kind != "summary":
            raise InvalidInput(f"{found.id} is a message, not a summary", hint="Give the id of a summary.")
        from memoranda.service.redacting import stood_for

        return tuple(stood_for(self._engine, found) if deep else self._engine.transcripts.stood_for(found))

    def search(
        self,
        query: str,
        *,
        conversation: str = "",
        after: Moment | None = None,
        before: Moment | None = None,
        roles: Sequence[Role] = ("user", "assistant"),
        archived: bool = False,
        limit: int = 5,
        context: int = 2,
        gap_minutes: float = 10.0,
        most_chars: int = 16_000,
    ) -> "Found":
        """Passages that bear on a query, each with what was said around it, as far as the next silence.

        Looks into the conversations of this scope and of those above, or into one of them. Never a part of `recall`.
        """
        from memoranda.service.transcript_search import Wanted, searched

        text = checked_text(query, name="query", limit=LONGEST_MESSAGE, empty_ok=True)
        for role in roles:
            checked_choice(role, ("user", "assistant"), name="role")
        if not 0 <= gap_minutes <= _LONGEST_GAP_MINUTES:
            raise InvalidInput("gap_minutes is a number of minutes, at most a year", hint="10 is a good start.")
        if not 0 <= context <= _MOST_AROUND:
            raise InvalidInput(f"context is a number from 0 to {_MOST_AROUND}", hint="2 is a good start.")
        row = self._row(conversation, above=True) if conversation else None
        since = None if after is None else to_ms(after, name="after")
        until = None if before is None else end_of(before, name="before")

        def allow() -> frozenset[int] | None:
            if row is None and since is None and until is None and len(set(roles)) != 1:
                return None
            role = roles[0] if len(set(roles)) == 1 else ""
            return self._engine.transcripts.numbers_that_fit(
                scopes=self._scope.chain(), row=row, since=since, until=until, role=role
            )

        return searched(
            self._engine,
            self._scope,
            Wanted(
                text, allow, archived, checked_limit(limit), context, int(gap_minutes * _MINUTE_MS), max(most_chars, 1)
            ),
        )

    def import_transcript(
        self,
        path: str | Path,
        *,
        format: TranscriptFormat = "auto",  # noqa: A002 the word users know
        conversation: str = "",
        progress: Progress | None = None,
    ) -> "Imported":
        """Keep what was said in a transcript of another host: a file of OpenAI-style messages, a session of OpenClaw
        or Claude Code, or an export of ChatGPT. Lines that cannot be read are told by their number and skipped;
        done again, it adds only what is new. `conversation` puts all of it under one name.
        """
        from memoranda.service.transcript_import import imported

        def append(name: str, title: str, messages: list[Message]) -> Appended:
            about = {"title": title} if title else None
            return self._append(messages, conversation=name, metadata=about, compact=False, imported=True)

        name = self._name(conversation) if conversation else ""
        return imported(path, append, format=format, name=name, progress=progress)

    def _row(self, conversation: str, *, above: bool = False) -> Row:
        name = checked_text(conversation, name="conversation", limit=_LONGEST_NAME).strip()
        scopes = self._scope.chain() if above else (self._scope.path,)
        return self._engine.transcripts.find(name, scopes=scopes)

    # -- working memory, private conversations --

    def working(self, conversation: str) -> str:
        """The working memory of a conversation: one text that survives every compaction."""
        return self._engine.transcripts.working(self._row(conversation))

    def set_working(self, conversation: str, text: str) -> None:
        """Replace the working memory; an empty text clears it."""
        name = self._name(conversation)
        self._refuse_private(name)
        kept = checked_text(text, name="working memory", limit=_LONGEST_WORKING, empty_ok=True)
        if self._engine.settings.secrets == "refuse":
            refuse_secret(kept, "working memory")
        self._engine.transcripts.set_working(name, kept, scope=self._scope)

    def keep_private(self, conversation: str) -> None:
        """From now on nothing of this conversation is kept. What was kept before must be erased first."""
        name = self._name(conversation)
        self._engine.transcripts.keep_private(name, self._engine.ledger.name_digest(name), scope=self._scope)

    def is_private(self, conversation: str) -> bool:
        """Whether nothing of this conversation is kept."""
        digest = self._engine.ledger.name_digest(conversation)
        return self._engine.transcripts.is_private(digest, scope=self._scope)

    def _refuse_private(self, name: str) -> None:
        if self.is_private(name):
            raise Conflict(f"{name!r} is private: nothing of it is kept", hint="Use another conversation.")

    # -- letting go --

    def archive(self, conversation: str) -> Conversation:
        """Put a conversation away: kept, no longer listed or summed up; searched only when asked for."""
        return self._set_archived(conversation, True)

    def restore(self, conversation: str) -> Conversation:
        """Bring back what was archived."""
        return self._set_archived(conversation, False)

    def _set_archived(self, conversation: str, archived: bool) -> Conversation:
        row = self._row(conversation)
        if row.conversation.archived is archived:
            state = "archived already" if archived else "not archived"
            raise Conflict(
                f"{row.conversation.name!r} is {state}",
                hint="`memoranda conversation list --archived` shows which are.",
            )
        self._engine.transcripts.set_archived(row, archived, actor=self._engine.actor)
        self._engine.nudge()
        return self._row(row.conversation.id).conversation

    def erase(self, conversation: str) -> EraseReceipt:
        """Destroy a conversation with its summaries for good, and prove it. Memories captured from it stay."""
        from memoranda.service.erasure import Doomed, erase

        row = self._row(conversation)
        self._engine.ledger.drop_turn(row.conversation.name, scope=self._scope)
        return erase(self._engine, Doomed(conversations=[row]), actor=self._engine.actor)
