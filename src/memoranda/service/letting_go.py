"""Letting go: of one memory, or of many at once, shown first, tagged before, and one operation for undo.

Many at once is never offered to a model. What is destroyed for good is `erase`, elsewhere; here it is checked.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.domain.bulk import BULK_MODES, MAY_GO, MOST_SHOWN, BulkAction, BulkChange, BulkMode, BulkReceipt
from memoranda.domain.clock import Moment, to_ms
from memoranda.domain.draft import Reference, id_of
from memoranda.domain.errors import Conflict, InvalidInput
from memoranda.domain.ids import new_id
from memoranda.domain.looking import checked_grades
from memoranda.domain.memory import Grade, Kind, Source, State, Trust, checked_choice
from memoranda.domain.ports import Progress
from memoranda.domain.request import Request, checked_states
from memoranda.domain.results import Changed, Verification
from memoranda.domain.text import checked_text
from memoranda.ledger.bulk import AT_ONCE, Bulk, Numbered
from memoranda.ledger.fence import fences
from memoranda.ledger.ledger import Filter
from memoranda.service.looking import as_kept
from memoranda.service.nouns import Nouns
from memoranda.service.screening import checked_reason

_MOST_IDS = 10_000
_LONGEST = 512
_NARROWING = ("kind", "about", "attribute", "speaker", "conversation", "source", "source_ref", "tags", "grade", "trust")


@fences()
class LettingGo(Nouns):
    """The verbs of the facade that forget or archive, and that look again for what was erased."""

    def archive(self, reference: Reference, *, reason: str = "") -> Changed:
        """Put away: kept, not recalled, for as long as you like."""
        return self._change(reference, "archived", reason)

    def forget(self, reference: Reference, *, reason: str = "") -> Changed:
        """Hide at once. Can be restored for the grace period; then it is erased."""
        return self._change(reference, "forgotten", reason)

    def _change(self, reference: Reference, action: str, reason: str) -> Changed:
        changed = self._engine.ledger.change_state(
            id_of(reference),
            action,
            scope=self._scope,
            actor=self._engine.actor,
            reason=checked_reason(reason, self._engine.settings),
            grace_ms=self._engine.settings.grace_ms,
        )
        self._engine.nudge()
        return changed

    def verify_erasure(self, statement: Mapping[str, Any], *, public_key: str = "") -> Verification:
        """Check the signature of a statement that `erase` made, and look again in all places for what it says is gone.

        With `public_key` (hexadecimal), it must be signed with that one. Of another store's statement only the
        signature is checked.
        """
        from memoranda.service.statement import verify

        return verify(self._engine, self._scope, statement, known=public_key)

    def forget_many(
        self,
        references: Sequence[Reference] = (),
        *,
        kind: Kind | Sequence[Kind] = (),
        about: str = "",
        attribute: str = "",
        speaker: str = "",
        conversation: str = "",
        source: Source | Sequence[Source] = (),
        source_ref: str = "",
        tags: Sequence[str] = (),
        grade: Grade | Sequence[Grade] = (),
        trust: Trust | Sequence[Trust] = (),
        text: str = "",
        time_after: Moment | None = None,
        time_before: Moment | None = None,
        states: Sequence[State] = ("live",),
        below: bool = False,
        reason: str = "",
        mode: BulkMode = "preview",
        confirm: str = "",
        progress: Progress | None = None,
    ) -> BulkChange:
        """Hide all that fit, and show them first: nothing is done before `mode="now"`.

        Named by ids, or by what they are like in this very scope; several narrow one another, and `below` takes the
        scopes below along. With the `confirm` of a preview exactly what was shown goes, or nothing. An automatic tag
        is made before, `undo` takes all of it back, and each can be restored for the grace period.
        """
        return self._let_go(
            "forgotten",
            references,
            _Like(
                kind, about, attribute, speaker, conversation, source, source_ref, tags, grade, trust, text,
                time_after, time_before, states, below,
            ),
            reason=reason,
            mode=mode,
            confirm=confirm,
            progress=progress,
        )  # fmt: skip

    def archive_many(
        self,
        references: Sequence[Reference] = (),
        *,
        kind: Kind | Sequence[Kind] = (),
        about: str = "",
        attribute: str = "",
        speaker: str = "",
        conversation: str = "",
        source: Source | Sequence[Source] = (),
        source_ref: str = "",
        tags: Sequence[str] = (),
        grade: Grade | Sequence[Grade] = (),
        trust: Trust | Sequence[Trust] = (),
        text: str = "",
        time_after: Moment | None = None,
        time_before: Moment | None = None,
        states: Sequence[State] = ("live",),
        below: bool = False,
        reason: str = "",
        mode: BulkMode = "preview",
        confirm: str = "",
        progress: Progress | None = None,
    ) -> BulkChange:
        """Put away all that fit, as `forget_many` hides them: kept for as long as you like, and not recalled."""
        return self._let_go(
            "archived",
            references,
            _Like(
                kind, about, attribute, speaker, conversation, source, source_ref, tags, grade, trust, text,
                time_after, time_before, states, below,
            ),
            reason=reason,
            mode=mode,
            confirm=confirm,
            progress=progress,
        )  # fmt: skip

    def _let_go(
        self,
        action: BulkAction,
        references: Sequence[Reference],
        like: "_Like",
        *,
        reason: str,
        mode: BulkMode,
        confirm: str,
        progress: Progress | None,
    ) -> BulkChange:
        checked_choice(mode, BULK_MODES, name="mode")
        why = checked_reason(reason, self._engine.settings)
        if mode == "now":
            self._engine.refuse_read_only()
        found = self._fitting(action, references, like)
        shown = _confirmation(action, found)
        if confirm and confirm != shown:
            raise Conflict("what would go is no longer what was shown", hint="Look at the preview again, then confirm.")
        ids = tuple(memory.id for _, memory in found)
        receipt = BulkReceipt(action, self._scope.path, like.below, len(found), sequence=self._engine.ledger.sequence())
        if mode == "preview" or not found:
            first = tuple(memory for _, memory in found[:MOST_SHOWN]) if mode == "preview" else ()
            return BulkChange(mode == "preview", ids, first, shown, receipt)
        return BulkChange(False, ids, (), shown, self._done(action, found, receipt, why, progress))

    def _done(
        self, action: BulkAction, found: Sequence[Numbered], receipt: BulkReceipt, why: str, progress: Progress | None
    ) -> BulkReceipt:
        """In bites, so that others may write meanwhile; all of it is one operation."""
        from memoranda.service.travelling import tag_before

        engine = self._engine
        tag = tag_before(engine, self._scope, "forget-many" if action == "forgotten" else "archive-many").name
        batch = new_id()
        bulk = Bulk(engine.ledger)
        changed = 0
        for start in range(0, len(found), AT_ONCE):
            part = found[start : start + AT_ONCE]
            changed += bulk.change(part, action, scope=self._scope, actor=engine.actor, reason=why, batch=batch)
            if progress:
                progress(start + len(part), len(found))
        engine.nudge()
        until = engine.clock.now() + engine.settings.grace_ms if action == "forgotten" and changed else None
        return receipt._replace(
            changed=changed,
            left=len(found) - changed,
            tag=tag,
            batch=batch,
            sequence=engine.ledger.sequence(),
            erased_after=until,
        )

    def _fitting(self, action: BulkAction, references: Sequence[Reference], like: "_Like") -> list[Numbered]:
        if isinstance(references, str) or not isinstance(references, Sequence) or len(references) > _MOST_IDS:
            raise InvalidInput(f"a list of at most {_MOST_IDS:,} ids is expected", hint="Pass the ids in a list.")
        bulk = Bulk(self._engine.ledger)
        wanted = like.checked(action, alone=not references)
        if not references:
            return bulk.fitting(self._scope, wanted)
        if like.narrows:
            raise InvalidInput("ids stand alone", hint="Give ids, or say what the memories are like; not both.")
        named = bulk.named(self._scope, [id_of(each) for each in references], below=like.below)
        # Somebody named them: whatever may go does, and what is gone already is no trouble.
        return [each for each in named if each[1].state in MAY_GO[action]]


class _Like:
    """What memories are like that go together, as it was given."""

    def __init__(
        self,
        kind: Kind | Sequence[Kind],
        about: str,
        attribute: str,
        speaker: str,
        conversation: str,
        source: Source | Sequence[Source],
        source_ref: str,
        tags: Sequence[str],
        grade: Grade | Sequence[Grade],
        trust: Trust | Sequence[Trust],
        text: str,
        time_after: Moment | None,
        time_before: Moment | None,
        states: Sequence[State],
        below: bool,
    ) -> None:
        if not isinstance(below, bool):
            raise InvalidInput("below: true or false is expected", hint="Pass below=True to take the scopes below.")
        self.below = below
        asked = Request.of({"query": "", "kinds": kind, "trust": trust, "sources": source, "tags": tags})
        self._wanted = Filter(
            kinds=asked.kinds,
            sources=asked.sources,
            trust=asked.trust,
            grades=checked_grades(grade),
            about=as_kept(about, "about"),
            attribute=as_kept(attribute, "attribute"),
            speaker=as_kept(speaker, "speaker"),
            conversation=as_kept(conversation, "conversation"),
            source_ref=as_kept(source_ref, "source_ref"),
            text=checked_text(text, name="text", limit=_LONGEST, empty_ok=True).strip(),
            tags=asked.tags,
            time_after=None if time_after is None else to_ms(time_after, name="time_after"),
            time_before=None if time_before is None else to_ms(time_before, name="time_before"),
        )
        self.narrows = self._wanted != Filter()
        self._states = checked_states(states)

    def checked(self, action: BulkAction, *, alone: bool) -> Filter:
        """What is asked of the ledger, or what is wrong with it."""
        wanted = self._wanted
        if alone and not self.narrows:
            raise InvalidInput(
                "say which memories are meant",
                hint=f"Give ids, or one of: {', '.join(_NARROWING)}, text, time_after, time_before.",
            )
        after, before = wanted.time_after, wanted.time_before
        if after is not None and before is not None and before <= after:
            raise InvalidInput("time_before is not after time_after", hint="Give an end later than the beginning.")
        may = MAY_GO[action]
        if not set(self._states) <= set(may):
            raise InvalidInput(f"only what is {', '.join(may)} can be {action}", hint="Leave the other states out.")
        return wanted._replace(states=self._states or may, here=not self.below, below=self.below)


def _confirmation(action: BulkAction, found: Sequence[Numbered]) -> str:
    """What a caller brings back to let go of exactly what it was shown."""
    lines = [action, *sorted(f"{memory.id} {memory.state}" for _, memory in found)]
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
